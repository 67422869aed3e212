//! A receive window too small to send: the persist timer and its probes (RFC 9293 §3.8.6.1, RFC 1122 §4.2.2.17;
//! `tcp_probe_timer`, `tcp_write_wakeup` and `tcp_may_update_window` of Linux 6.18). Their state is in
//! [`super::persist`].

use super::accounts::Accounts;
use super::outgoing::Outgoing;
use super::persist::PersistRule;
use super::rate::With;
use super::sender::Sender;
use super::timers::Purpose;
use crate::unit::HeldBy;
use crate::units::{Span, Time};

/// How often a probe of a closed window is sent again, and its wait doubled, at most (`tcp_retries2`).
pub(super) const RETRIES: u8 = 15;
/// What one of Linux's buffers holds of an application's data at most (`tcp_xmit_size_goal`), and no more than half the
/// largest window.
const BUFFER: u64 = 65_000;

impl Sender {
    /// The largest window that the other end has advertised.
    pub(super) fn largest_window(&self) -> u64 {
        u64::from(self.persist.largest_said.max(self.raw_window))
    }

    /// Whether the timer is the persist timer now.
    #[inline]
    pub(super) fn persists(&self) -> bool {
        self.timers.purpose() == Purpose::Persist
    }

    /// Whether a probe of the window is to be sent.
    #[inline]
    pub(super) fn window_probe_is_due(&self) -> bool {
        self.persist.due
    }

    /// The receive window lets nothing more go: a probe of it, if one is due. While nothing is outstanding, no ACK can
    /// bring a larger window, so the persist timer is set (`tcp_check_probe_timer`).
    #[cold]
    pub(super) fn poll_closed(&mut self, now: Time) -> Option<Outgoing> {
        if self.persist.due {
            return self.poll_persist(now);
        }
        if self.outstanding() == 0 && self.timers.is_off() && self.written > self.max {
            self.persist.doublings = 0;
            self.timers.set(Purpose::Persist, now.saturating_add(self.persist_wait()));
            if self.config.persist == PersistRule::Linux {
                // From the second probe on, the doublings by time-outs and earlier probes count too
                // (`icsk_backoff`).
                self.persist.doublings = self.estimator.doublings().saturating_add_signed(self.persist.kept);
            }
        }
        None
    }

    /// `tcp_probe0_when`.
    fn persist_wait(&self) -> Span {
        let (least, most) = self.config.persist.bounds();
        let doubled = self.estimator.rto().max(least).saturating_mul(1 << self.persist.doublings);
        doubled.min(most).min(self.estimator.most().max(least))
    }

    /// The persist timer expired.
    pub(super) fn handle_persist(&mut self) {
        self.timers.set(Purpose::Persist, Time::NEVER);
        self.persist.due = true;
        self.ready = true;
        if let Some(accounts) = &mut self.accounts {
            accounts.probe.due = true;
            accounts.cached.forget();
        }
    }

    /// The probe: as much of a segment as the window has room for, or nothing that counts as sent.
    fn poll_persist(&mut self, now: Time) -> Option<Outgoing> {
        self.persist.due = false;
        self.ready = false;
        self.held = HeldBy::ReceiverWindow;
        let unsent = self.written - self.max;
        // Nothing is outstanding, so all of the window is free.
        let len = self.peer_window.min(unsent).min(u64::from(self.config.mss));
        if len > 0 {
            self.forget_probes();
            let sent = self.push_new(now, len as u32, false);
            if len < u64::from(self.config.mss) {
                self.board.note_short();
            }
            self.timers.set(Purpose::TimeOut, self.estimator.expiry(now));
            return Some(sent.push_if(true));
        }
        self.persist.unanswered = self.persist.unanswered.saturating_add(1);
        self.persist.doublings = (self.persist.doublings + 1).min(RETRIES);
        self.timers.set(Purpose::Persist, now.saturating_add(self.persist_wait()));
        if self.config.persist == PersistRule::Linux {
            self.persist.kept = (self.persist.doublings as i8) - (self.estimator.doublings() as i8);
            return Some(Outgoing::new(self.una.wrapping_sub(1), 0));
        }
        self.persist.octet = now;
        self.counters.segments_sent += 1;
        self.counters.bytes_sent += 1;
        Some(Outgoing::new(self.max, 1))
    }

    /// The receive window is open, as far as is known: probes begin anew next time.
    fn forget_probes(&mut self) {
        (self.persist.unanswered, self.persist.doublings) = (0, 0);
        if self.config.persist == PersistRule::Linux {
            self.persist.kept = -(self.estimator.doublings() as i8);
        }
    }

    /// [`Sender::poll_persist`] of a sender that accounts for ACKs.
    #[cold]
    pub(super) fn poll_persist_accounted(&mut self, accounts: &mut Accounts, now: Time) -> Option<Outgoing> {
        accounts.probe.due = false;
        let newest = self.board.next;
        let sent = self.poll_persist(now);
        if self.board.next > newest
            && let Some(sampler) = &mut accounts.sampler
        {
            let with =
                With { none_out: true, in_flight: self.pipe(), lost: self.board.lost_total, repeated: false };
            sampler.handle_sent(now, newest, self.board.first, with);
        }
        sent
    }

    /// An ACK came that acknowledges nothing, while nothing is outstanding (`tcp_ack_probe`).
    #[cold]
    pub(super) fn handle_probe_answer(&mut self, now: Time) {
        self.persist.unanswered = 0;
        if self.persists() && !self.timers.is_off() {
            self.timers.set(Purpose::Persist, now.saturating_add(self.persist_wait()));
        }
    }

    /// The receive window has changed: the persist timer stops if the next segment fits.
    #[cold]
    pub(super) fn end_persist(&mut self) {
        let unsent = self.written - self.max;
        let mss = u64::from(self.config.mss);
        // Linux keeps the doublings unless all data of its first buffer fit (`tcp_ack_probe`).
        let buffer = (self.largest_window() / 2).clamp(mss, BUFFER) / mss * mss;
        let linux = self.config.persist == PersistRule::Linux;
        if unsent.min(if linux { buffer } else { mss }) <= self.peer_window {
            self.forget_probes();
        }
        if unsent.min(mss) <= self.peer_window {
            self.timers.set(Purpose::TimeOut, Time::NEVER);
        }
    }

    /// An ACK covers `bytes` bytes beyond SND.NXT. If that is the one octet of a probe, the octet counts as sent after
    /// all; else the ACK is of data that were never sent: `false`.
    #[cold]
    pub(super) fn adopt_octet(&mut self, bytes: u64) -> bool {
        let sent_at = std::mem::replace(&mut self.persist.octet, Time::NEVER);
        if sent_at == Time::NEVER || self.outstanding() > 0 || bytes != 1 || self.written == self.max {
            return false;
        }
        self.max += 1;
        self.board.push(self.max, 1, sent_at);
        self.board.note_short();
        true
    }
}
