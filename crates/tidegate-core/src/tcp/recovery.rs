//! Losses: how a repair begins, goes on and ends, and what is sent again.

use super::config::Config;
use super::report::Counters;
use super::scoreboard::RESENT;
use super::segment::HeldBy;
use super::sender::{Mode, Outgoing, Sender};
use crate::cc::{Controller, LossKind, Lost, Recovered, Recovery};
use crate::units::Time;

impl Sender {
    /// Duplicate ACKs say that the oldest segment is lost.
    pub(super) fn enter_recovery(
        &mut self,
        now: Time,
        config: &Config,
        controller: &mut Controller,
        counters: &mut Counters,
    ) {
        counters.fast_retransmits += 1;
        // RFC 5681 §3.2 step 2: what Limited Transmit sent does not count.
        let in_flight = self.before_dupacks - self.una;
        self.report_loss(now, in_flight, LossKind::DupAck, controller);
        // The segment being timed may be the lost one (Karn).
        self.timed_end = 0;
        self.recover = self.max;
        self.inflation = 0;
        match controller.recovery() {
            Recovery::SlowStart => self.enter_slow_start(config),
            Recovery::UntilNewAck | Recovery::UntilAllAcked => {
                self.mode = Mode::Fast;
                self.resend_oldest = true;
                self.first_partial = true;
                // RFC 5681 §3.2 step 3: the segments that have left the network.
                self.inflation = i64::from(config.dupthresh) * i64::from(config.mss);
            }
        }
        // DEVIATION: RFC 6298 does not restart the timer here. BSD, Linux and ns-2 do, and
        // without it a queue that doubles the round trip turns every fast retransmit into a time-out.
        self.rto_at = self.estimator.expiry(now);
    }

    /// Tahoe's answer to duplicate ACKs.
    fn enter_slow_start(&mut self, config: &Config) {
        self.mode = Mode::Loss;
        if config.go_back_n {
            self.board.lose_all(true);
            self.guard = self.max;
        } else {
            self.board.lose_first();
            if let Some(oldest) = self.board.oldest() {
                self.recover = oldest.start + u64::from(oldest.len);
            }
        }
    }

    fn report_loss(&self, now: Time, in_flight: u64, kind: LossKind, controller: &mut Controller) {
        let window = controller.window().min(self.peer_window);
        controller.handle_lost(&Lost { at: now, in_flight, window, kind });
    }

    /// New data were acknowledged during a repair; `true`: the window may grow with them.
    #[cold]
    pub(super) fn repair_goes_on(
        &mut self,
        bytes: u64,
        timer_before: Time,
        config: &Config,
        controller: &mut Controller,
    ) -> bool {
        let all = self.una >= self.recover;
        match self.mode {
            Mode::Fast => {
                if all || controller.recovery() == Recovery::UntilNewAck {
                    self.leave_fast(all, controller);
                } else {
                    self.handle_partial(bytes, timer_before, config);
                }
                false
            }
            Mode::Sack => {
                if all {
                    self.leave();
                }
                false
            }
            Mode::Loss => {
                if all {
                    self.leave();
                }
                true
            }
            Mode::Open => true,
        }
    }

    fn leave(&mut self) {
        self.mode = Mode::Open;
        self.dupacks = 0;
        self.inflation = 0;
        self.resend_oldest = false;
    }

    fn leave_fast(&mut self, all: bool, controller: &mut Controller) {
        self.leave();
        if controller.recovery() == Recovery::UntilAllAcked {
            controller.handle_recovered(&Recovered { in_flight: self.outstanding() });
            debug_assert!(all);
            self.guard = self.recover;
        }
    }

    /// RFC 6582 §3.2 step 3, partial acknowledgments.
    fn handle_partial(&mut self, bytes: u64, timer_before: Time, config: &Config) {
        self.resend_oldest = true;
        self.inflation -= bytes.cast_signed();
        if bytes >= u64::from(config.mss) {
            self.inflation += i64::from(config.mss);
        }
        // Only the first partial ACK restarts the timer (the Impatient variant, RFC 6582 §4).
        if !self.first_partial {
            self.rto_at = timer_before;
        }
        self.first_partial = false;
    }

    /// The retransmission timer expired with data outstanding.
    #[cold]
    pub(super) fn handle_timeout(
        &mut self,
        now: Time,
        config: &Config,
        controller: &mut Controller,
        counters: &mut Counters,
    ) {
        counters.timeouts += 1;
        let again = self.timed_out_at == Some(self.una);
        self.timed_out_at = Some(self.una);
        let in_flight = match self.mode {
            Mode::Open if self.dupacks > 0 => self.before_dupacks - self.una,
            Mode::Open | Mode::Fast | Mode::Sack => self.outstanding(),
            Mode::Loss => self.pipe(),
        };
        self.report_loss(now, in_flight, LossKind::Timeout { again }, controller);
        self.estimator.back_off();
        self.leave();
        self.mode = Mode::Loss;
        self.timed_end = 0;
        self.recover = self.max;
        // RFC 6582 §4: no fast retransmit until all that was sent before the time-out is
        // acknowledged.
        self.guard = self.max;
        // DEVIATION: RFC 2018 §8 forgets SACK information at a time-out because a receiver may
        // renege. Ours never does, so it is kept (RFC 6675 §5.1 makes use of what it has); with
        // `go_back_n` it is forgotten.
        self.board.lose_all(config.go_back_n);
        // RFC 6298 §5.6.
        self.rto_at = self.estimator.expiry(now);
    }

    /// What is to be sent again now.
    #[cold]
    pub(super) fn poll_repair(
        &mut self,
        now: Time,
        config: &Config,
        controller: &Controller,
    ) -> Option<Outgoing> {
        let _ = config;
        if self.resend_oldest {
            self.resend_oldest = false;
            let oldest = self.board.oldest()?;
            self.board.resend(oldest, now, 0);
            return Some(Outgoing { start: oldest.start, len: oldest.len, retransmission: true });
        }
        if self.mode == Mode::Fast {
            return None;
        }
        let lost = self.board.next_lost()?;
        if !self.window_allows(lost.len, controller.window()) {
            self.held = HeldBy::CongestionWindow;
            self.limited_end = self.max;
            return None;
        }
        self.board.resend(lost, now, RESENT);
        Some(Outgoing { start: lost.start, len: lost.len, retransmission: true })
    }

    pub(super) fn poll_last_resort(
        &mut self,
        _now: Time,
        _config: &Config,
        _controller: &Controller,
    ) -> Option<Outgoing> {
        None
    }
}
