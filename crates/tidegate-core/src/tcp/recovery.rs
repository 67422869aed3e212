//! Losses: how mending them begins, goes on and ends, and what is sent again.

use super::leaving::AnyData;
use super::outgoing::Outgoing;
use super::scoreboard::{RESENT, Resend};
use super::sender::{Mode, Sender};
use crate::cc::{LossKind, Lost, Recovered, Recovery};
use crate::units::Time;

impl Sender {
    /// Duplicate ACKs say that the oldest segment is lost.
    #[cold]
    pub(super) fn enter_recovery(&mut self, now: Time) {
        self.counters.fast_retransmits += 1;
        // RFC 5681 §3.2 step 2: what Limited Transmit sent does not count.
        let in_flight = match self.mode {
            // What was given up at the last time-out is not in flight.
            Mode::Loss => self.pipe(),
            _ => self.before_dupacks - self.una,
        };
        self.report_loss(now, in_flight, LossKind::DupAck);
        // The segment being timed may be the lost one (Karn).
        self.timed_end = 0;
        let before = (self.mode == Mode::Loss).then_some(self.recover);
        self.recover = self.max;
        self.inflation = 0;
        match self.controller.recovery() {
            Recovery::SlowStart => self.enter_slow_start(before),
            Recovery::UntilNewAck | Recovery::UntilAllAcked if self.config.sack => self.enter_sack(),
            Recovery::UntilNewAck | Recovery::UntilAllAcked => {
                self.mode = Mode::Fast;
                // One fast retransmit per window of data (RFC 6582 §3.2 step 2). DEVIATION: for
                // Reno too, as in ns-2; RFC 5681 does not say.
                self.set_guard();
                self.resend_oldest = true;
                self.first_partial = true;
                // RFC 5681 §3.2 step 3: the segments that have left the network.
                self.inflation = i64::from(self.config.dupthresh) * i64::from(self.config.mss);
            }
        }
        // DEVIATION: RFC 6298 does not restart the timer here. BSD, Linux and ns-2 do, and without it
        // a queue that doubles the round trip turns every fast retransmit into a time-out.
        self.timers.move_to(self.estimator.expiry(now));
    }

    /// RFC 6675 §5 step 4.
    fn enter_sack(&mut self) {
        self.mode = Mode::Sack;
        self.resend_oldest = true;
        self.board.rewind();
        self.rescue = self.board.oldest().map_or(self.una, |oldest| oldest.start + u64::from(oldest.len));
    }

    /// Tahoe's answer to duplicate ACKs. `before`: where the repair ends that it interrupts.
    fn enter_slow_start(&mut self, before: Option<u64>) {
        self.mode = Mode::Loss;
        if self.config.go_back_n {
            self.board.lose_all(true);
            self.set_guard();
            return;
        }
        self.board.lose_first();
        self.resend_oldest = true;
        if !self.config.sack
            && let Some(oldest) = self.board.oldest()
        {
            self.recover = before.unwrap_or(oldest.start + u64::from(oldest.len));
        }
    }

    /// No fast retransmit until all that was sent before is acknowledged.
    fn set_guard(&mut self) {
        if self.config.guard {
            self.guard = self.max;
        }
    }

    /// Tells the controller of a loss; `in_flight` is FlightSize.
    pub(super) fn report_loss(&mut self, now: Time, in_flight: u64, kind: LossKind) {
        let Some(kind) = self.note_reduction(kind) else { return };
        let window = self.controller.window().min(self.peer_window);
        let (remaining, max, total_lost) = (self.pipe(), self.max, self.board.lost_total);
        self.controller.handle_lost(&Lost { at: now, in_flight, window, kind, remaining, total_lost, max });
    }

    /// New data were acknowledged while a loss is being mended; `true`: the window may grow.
    #[cold]
    pub(super) fn mending_grows(&mut self, bytes: u64, timer_before: Time) -> bool {
        let all = self.una >= self.recover;
        match self.mode {
            Mode::Fast => {
                match self.controller.recovery() {
                    Recovery::UntilAllAcked if !all => self.handle_partial(bytes, timer_before),
                    Recovery::UntilAllAcked => {
                        self.leave();
                        let recovered = Recovered { in_flight: self.outstanding() };
                        self.controller.handle_recovered(&recovered);
                    }
                    // RFC 5681 §3.2 step 6.
                    Recovery::UntilNewAck | Recovery::SlowStart => self.leave(),
                }
                false
            }
            Mode::Sack | Mode::Loss => {
                let slow_start = self.mode == Mode::Loss;
                if slow_start {
                    self.dupacks = 0;
                    self.inflation = 0;
                }
                if all {
                    self.leave();
                }
                slow_start
            }
            Mode::Open => true,
        }
    }

    fn leave(&mut self) {
        // Without a guard a fast recovery may interrupt what follows a time-out, which then goes on.
        self.mode =
            if self.mode == Mode::Fast && self.board.next_lost().is_some() { Mode::Loss } else { Mode::Open };
        self.dupacks = 0;
        self.inflation = 0;
        self.resend_oldest = false;
    }

    /// RFC 6582 §3.2 step 3, partial acknowledgments.
    fn handle_partial(&mut self, bytes: u64, timer_before: Time) {
        self.resend_oldest = true;
        self.inflation -= bytes.cast_signed();
        if bytes >= u64::from(self.config.mss) {
            self.inflation += i64::from(self.config.mss);
        }
        // Only the first partial ACK restarts the timer (the Impatient variant, RFC 6582 §3.2 step 3).
        if !self.first_partial {
            self.timers.move_to(timer_before);
        }
        self.first_partial = false;
    }

    /// The retransmission timer expired with data outstanding.
    #[cold]
    pub(super) fn handle_timeout(&mut self, now: Time) {
        self.counters.timeouts += 1;
        self.ready = true;
        let again = self.timed_out_at == self.una;
        self.timed_out_at = self.una;
        let in_flight = match self.mode {
            Mode::Open if self.dupacks > 0 => self.before_dupacks - self.una,
            Mode::Open => self.outstanding(),
            // DEVIATION: RFC 5681 §3.1 says FlightSize, which here still counts what duplicate
            // ACKs have reported gone and would set the threshold above the window; recovery
            // has kept what is in flight to the window (RFC 6582 §3.2, RFC 6675 §5).
            Mode::Fast | Mode::Sack => self.outstanding().min(self.controller.window()),
            // What was given up at the last time-out is not in flight.
            Mode::Loss => self.pipe(),
        };
        self.report_loss(now, in_flight, LossKind::Timeout { again });
        self.estimator.back_off();
        self.leave();
        self.mode = Mode::Loss;
        self.timed_end = 0;
        self.recover = self.max;
        // RFC 6582 §3.2 step 4 and §4.
        self.set_guard();
        // DEVIATION: RFC 2018 §8 forgets SACK information at a time-out because a receiver may
        // renege. Ours never does, so it is kept (RFC 6675 §5.1 makes use of what it has); with
        // `go_back_n` it is forgotten.
        self.board.lose_all(self.config.go_back_n);
        // RFC 6298 §5.6.
        self.timers.move_to(self.estimator.expiry(now));
    }

    /// What leaves now while a loss is being mended.
    #[inline(always)]
    pub(super) fn poll_mending(&mut self, now: Time) -> Option<Outgoing> {
        if self.resend_oldest {
            self.resend_oldest = false;
            let oldest = self.board.oldest()?;
            // In fast recovery without SACK a copy does not count in FlightSize, unless the segment had
            // been taken out of it at a time-out.
            let mark = if self.mode == Mode::Fast && !self.board.oldest_is_lost() { 0 } else { RESENT };
            return Some(self.resend(now, oldest, mark));
        }
        if let Some(lost) = self.board.next_lost() {
            // RFC 6675 §4 NextSeg rule 1; after a time-out, whatever is missing.
            if !self.window_allows(lost.len, self.controller.window()) {
                self.stopped_by_window();
                return None;
            }
            return Some(self.resend(now, lost, RESENT));
        }
        // NextSeg rule 2.
        let window = self.controller.window();
        let new = self.poll_new::<AnyData>(now, window);
        if self.mode != Mode::Sack {
            // Nothing is to be sent again, so whether this was the last for now is known already.
            self.ready = new.is_some() && self.allowed::<AnyData>(window).is_some();
        } else if new.is_none() {
            return self.poll_last_resort(now);
        }
        new
    }

    pub(super) fn resend(&mut self, now: Time, segment: Resend, mark: u32) -> Outgoing {
        self.counters.segments_retransmitted += 1;
        self.board.resend(segment, now, mark);
        self.note_sent(now, segment.len);
        Outgoing::new(segment.start, segment.len).again()
    }

    /// There is room in the pipe and nothing new may be sent: RFC 6675 §4 NextSeg rules 3 and 4.
    pub(super) fn poll_last_resort(&mut self, now: Time) -> Option<Outgoing> {
        if !self.window_allows(self.config.mss, self.controller.window()) {
            return None;
        }
        if let Some(doubtful) = self.board.next_doubtful() {
            return Some(self.resend(now, doubtful, RESENT));
        }
        // HighACK > RescueRxt: once for each entry into recovery.
        if self.una > self.rescue {
            self.rescue = self.recover;
            let newest = self.board.newest_missing()?;
            return Some(self.resend(now, newest, RESENT));
        }
        None
    }
}
