//! What an endpoint tells of itself.

use super::{Endpoint, Role, State};
use crate::tcp::accounts::Accounts;
use crate::tcp::report::{Counters, Phase, Shown, Snapshot};
use crate::tcp::sender::Mode;
use crate::units::{Span, Time};

impl Endpoint {
    /// When to come back at the latest. It may move with every call.
    #[inline]
    #[must_use]
    pub fn next_wakeup(&self) -> Time {
        self.sender.timers.next().min(self.receiver.wakeup())
    }

    /// When a timer of either half expires; the pacer's instant is none.
    #[inline]
    #[must_use]
    pub fn next_expiry(&self) -> Time {
        self.sender.timers.expires().min(self.receiver.wakeup())
    }

    /// When the timer of the sending half expires, whatever it is set for; [`Time::NEVER`]: it is off.
    #[inline]
    #[must_use]
    pub fn timer(&self) -> Time {
        self.sender.timers.expires()
    }

    /// The exact round trip of a segment that was sent once: the newest that the last ACK was the first to report, by its
    /// number or by SACK. Where that number covers a segment that was sent again, only SACK counts, because the others
    /// may have waited for it. Each is handed out once.
    #[inline]
    pub fn take_rtt_sample(&mut self) -> Option<Span> {
        self.sender.measured.take()
    }

    /// Probes of a closed window since the other end was heard last.
    #[must_use]
    pub fn window_probes(&self) -> u16 {
        self.sender.persist.unanswered
    }

    /// The receive window of this end in bytes, as it said it last, less what has come since; `None`: no limit.
    #[must_use]
    pub fn receive_window(&self) -> Option<u64> {
        let fixed = self.sender.config.advertised;
        self.receiver.window_left().or((fixed != u32::MAX).then_some(u64::from(fixed)))
    }

    /// User bytes received in order that the application has not read, where it does not read at once.
    #[must_use]
    pub fn unread_bytes(&self) -> u64 {
        self.receiver.unread()
    }

    /// The other end's receive window in bytes, as it was believed last.
    #[must_use]
    pub fn peer_window(&self) -> u64 {
        self.sender.peer_window
    }

    /// Whether it asks for ECN.
    #[must_use]
    pub fn uses_ecn(&self) -> bool {
        self.sender.marks.is_some()
    }

    /// Totals.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.sender.counters
    }

    /// The sequence number of the oldest byte that has not been acknowledged (SND.UNA).
    #[must_use]
    pub fn oldest_unacknowledged(&self) -> u32 {
        self.sender.numbering.wire(self.sender.una)
    }

    /// User bytes received in order since the connection began: what the application could read.
    #[inline]
    #[must_use]
    pub fn in_order_bytes(&self) -> u64 {
        self.receiver.next() - u64::from(self.receiver.has_ended())
    }

    /// Whether all that was written has been sent.
    #[must_use]
    pub fn all_sent(&self) -> bool {
        self.sender.max >= self.sender.written
    }

    /// Whether all that was written has been acknowledged.
    #[must_use]
    pub fn all_acknowledged(&self) -> bool {
        self.sender.una >= self.sender.written
    }

    /// The congestion window in whole bytes.
    #[inline]
    #[must_use]
    pub fn congestion_window(&self) -> u64 {
        self.sender.window()
    }

    /// The state of the connection.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Which end began.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The state that plots show.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let Shown { cwnd, ssthresh, in_flight, srtt, rto, phase, held_by, .. } = self.shown();
        Snapshot {
            cwnd,
            ssthresh,
            in_flight,
            outstanding: self.sender.outstanding() - u64::from(self.sender.fin_is_out()),
            srtt,
            rto,
            phase,
            held_by,
            pacing_rate: self.sender.pace(),
            detail: self.sender.controller.detail(),
        }
    }

    /// What a row shows of its sender.
    #[inline]
    #[must_use]
    pub fn shown(&self) -> Shown {
        self.shown_with(self.sender.accounts.as_deref())
    }

    /// What a row of a recording shows, where `accounts` were taken out of the sender.
    #[inline(always)]
    pub(super) fn shown_with(&self, accounts: Option<&Accounts>) -> Shown {
        let controller = self.sender.controller.snapshot();
        let srtt = self.sender.estimator.smoothed();
        let reduced = accounts.filter(|accounts| self.sender.reduces_with(accounts));
        Shown {
            cwnd: reduced.map_or(controller.window, |reduced| self.sender.window_with(reduced) as f64),
            ssthresh: controller.ssthresh,
            in_flight: self.sender.pipe().saturating_sub(u64::from(self.sender.fin_is_out())),
            srtt: (srtt != Span::ZERO).then_some(srtt),
            rto: self.sender.estimator.rto(),
            phase: match self.sender.mode {
                Mode::Fast | Mode::Sack => Phase::Recovery,
                Mode::Loss => Phase::Loss,
                Mode::Open if controller.slow_start => Phase::SlowStart,
                Mode::Open => Phase::CongestionAvoidance,
            },
            held_by: self.sender.held,
            segments_retransmitted: self.sender.counters.segments_retransmitted,
        }
    }
}
