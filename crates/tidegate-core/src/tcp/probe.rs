//! The timer of a sender that accounts for ACKs: one instant with three meanings, as in Linux, and the tail loss probe
//! (RFC 8985 §7).

use super::accounts::{Accounts, Owed, Probe, Repeats};
use super::dsack::Report;
use super::leaving::AnyData;
use super::outgoing::Outgoing;
use super::prr::Progress;
use super::sender::{Mode, Sender};
use super::timers::{LATE, Purpose, on_ticks};
use crate::cc::LossKind;
use crate::units::{Span, Time};

/// RFC 8985 §7.2: with one segment in flight its ACK may be delayed (`tcp_rto_min`).
const ONE_IN_FLIGHT: Span = Span::from_millis(200);

impl Sender {
    /// The timer expired.
    #[cold]
    pub(super) fn handle_timer(&mut self, now: Time) {
        if self.persists() {
            return self.handle_persist();
        }
        let Some(mut accounts) = self.accounts.take() else {
            return self.handle_timeout(now);
        };
        match self.timers.purpose() {
            Purpose::TimeOut => self.handle_timeout_accounted(&mut accounts, now),
            Purpose::Probe => {
                // RFC 8985 §7.3: at most one probe is out.
                accounts.probe.due = accounts.probe.end == 0;
                self.ready |= accounts.probe.due;
                self.start_timeout(now);
            }
            Purpose::Reorder => {
                let (srtt, recovering) = (self.estimator.smoothed(), self.mode != Mode::Open);
                let found = accounts.rack.look(now, &mut self.board, recovering, accounts.sacked, srtt);
                if found.lost > 0 && self.mode != Mode::Sack {
                    self.begin_reduction(&mut accounts, now);
                    // What the timer has found counts as an arrival, so that one segment leaves at least.
                    let in_flight = self.segments_in_flight();
                    accounts.prr.handle_ack(Progress { delivered: 1, safe: false, in_flight });
                }
                accounts.repeats = Repeats::LostAlone;
                // Where nothing was lost nothing leaves.
                self.ready |= found.lost > 0 || found.lost_retransmission;
                self.start_timeout(now);
            }
            Purpose::Persist => {}
        }
        accounts.timer_rang = self.ready;
        accounts.cached.forget();
        self.accounts = Some(accounts);
    }

    /// `tcp_rearm_rto`: from the last transmission of the oldest segment where another timer was set, else from now.
    #[inline(never)]
    fn start_timeout(&mut self, now: Time) {
        let before = self.timers.purpose();
        let expires = if self.outstanding() == 0 {
            Time::NEVER
        } else if before == Purpose::TimeOut {
            self.estimator.expiry(now)
        } else {
            // Where it is past, as soon as a timer can ring.
            self.oldest_expiry().max(now + on_ticks(Span::ZERO))
        };
        self.timers.set(Purpose::TimeOut, expires);
    }

    /// When the oldest segment times out.
    #[inline(always)]
    fn oldest_expiry(&self) -> Time {
        self.board.slot(self.board.first).at().saturating_add(self.estimator.rto())
    }

    /// `tcp_set_xmit_timer`.
    #[inline(always)]
    pub(super) fn set_timer(&mut self, accounts: &mut Accounts, now: Time) {
        // The ACK would start the time-out again.
        let expiry = self.estimator.expiry(now);
        if !self.set_probe(accounts, now, expiry) {
            self.start_timeout(now);
        }
    }

    /// Sets the timer after an ACK in order, where nothing is in disorder.
    #[inline(always)]
    pub(super) fn restart_timer(&mut self, accounts: &mut Accounts, now: Time) {
        if accounts.cached.is_known() && self.outstanding() > 0 {
            let expiry = self.estimator.expiry(now);
            self.start_probe(now, expiry);
        } else {
            self.set_timer(accounts, now);
        }
    }

    /// What is owed to the timer is done: nothing more leaves now.
    #[inline(always)]
    pub(super) fn settle_timer(&mut self, accounts: &mut Accounts, now: Time) {
        match accounts.owed {
            Owed::Nothing => return,
            Owed::Restart => self.set_timer(accounts, now),
            Owed::Probe => self.start_probe(now, self.oldest_expiry()),
        }
        accounts.owed = Owed::Nothing;
    }

    /// RFC 8985 §7.2, `tcp_schedule_loss_probe`: two round trips from now, if nothing is being repaired, and not after
    /// the time-out would expire.
    #[inline(always)]
    fn set_probe(&mut self, accounts: &mut Accounts, now: Time, expiry: Time) -> bool {
        // While marks reduce the window there are probes whatever is SACKed (`TCP_CA_CWR`).
        let disorder = self.mode != Mode::Open || (accounts.disordered && !accounts.yields);
        if disorder || self.outstanding() == 0 || !self.probes(accounts) {
            return false;
        }
        self.start_probe(now, expiry);
        true
    }

    /// Whether there are probes where nothing is in disorder.
    #[inline(always)]
    pub(super) fn probes(&self, accounts: &Accounts) -> bool {
        accounts.by_time && self.estimator.smoothed() != Span::ZERO
    }

    #[inline(always)]
    fn start_probe(&mut self, now: Time, expiry: Time) {
        let srtt = self.estimator.smoothed();
        let one_out = self.board.next - self.board.first == 1;
        let wait = srtt.saturating_mul(2) + if one_out { ONE_IN_FLIGHT } else { LATE };
        let at = now.saturating_add(wait);
        self.timers.set(Purpose::Probe, if expiry > now { at.min(expiry) } else { at });
    }

    /// A segment of new data left: the timer, if it is that of a probe, which does not depend on what it was before. `false`:
    /// [`Sender::time_sent`] says what it is.
    #[inline(always)]
    pub(super) fn time_next(&mut self, accounts: &mut Accounts, now: Time) -> bool {
        if accounts.cached.is_known() {
            // The last of those that leave now sets it for all.
            accounts.owed = Owed::Probe;
            return true;
        }
        self.settle_timer(accounts, now);
        // The probe itself starts none (`tcp_send_loss_probe`).
        accounts.probe.end != self.max && self.set_probe(accounts, now, self.oldest_expiry())
    }

    /// A segment of new data left for which no probe is set, or one again: the timer.
    #[inline(never)]
    pub(super) fn time_sent(&mut self, now: Time, sent: Outgoing, none_out: bool) {
        let (again, purpose) = (sent.is_retransmission(), self.timers.purpose());
        let anew = if again { sent.start() <= self.una && purpose != Purpose::Reorder } else { none_out };
        if anew {
            self.timers.set(Purpose::TimeOut, self.estimator.expiry(now));
        } else if !again && purpose == Purpose::Probe {
            self.start_timeout(now);
        }
        if self.timers.is_off() {
            self.start_timeout(now);
        }
    }

    /// The probe (RFC 8985 §7.3): new data if the receiver's window takes them, else the newest segment again.
    pub(super) fn poll_probe(&mut self, accounts: &mut Accounts, now: Time) -> Option<Outgoing> {
        accounts.probe.due = false;
        let new = self.poll_new::<AnyData>(now, u64::MAX >> 2);
        let sent = match new {
            Some(sent) => sent,
            None => {
                let newest = self.board.newest_missing().filter(|newest| self.is_within_window(*newest))?;
                if newest.number > self.board.first {
                    self.board.end_packet(newest.number - 1);
                }
                let newest = self.fit(accounts, newest, false);
                self.note_copy(accounts, now, newest.number);
                // As in Linux it does not count as in flight: the original may still arrive.
                let sent = self.resend(now, newest, 0);
                self.stamp(accounts, now, newest.number);
                sent
            }
        };
        accounts.probe = Probe { end: self.max, repeats: new.is_none(), due: false };
        self.timers.set(Purpose::TimeOut, self.estimator.expiry(now));
        Some(sent)
    }

    /// What an ACK says of the probe (RFC 8985 §7.4, `tcp_process_tlp_ack`).
    pub(super) fn account_probe(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        report: Report,
        duplicate: bool,
    ) {
        let probe = accounts.probe;
        if probe.end == 0 || self.una < probe.end {
            return;
        }
        if !probe.repeats || report.of_probe || (duplicate && self.una == probe.end) {
            // New data were the probe, or original and probe have both arrived.
            accounts.probe.end = 0;
        } else if self.una > probe.end {
            // The probe repaired a loss that nothing else has shown: the window is reduced at once.
            accounts.probe.end = 0;
            if self.mode == Mode::Open {
                accounts.undo.give_back(self.controller.window());
                self.report_loss(now, self.outstanding(), LossKind::DupAck);
            }
        }
    }
}
