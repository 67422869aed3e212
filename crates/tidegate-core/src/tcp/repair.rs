//! How a sender that accounts for ACKs repairs losses: the reduction, the time-out, and what is sent meanwhile.

use super::accounts::{Accounts, Repeats};
use super::leaving::AnyData;
use super::outgoing::Outgoing;
use super::scoreboard::{GOES_ON, RESENT, Resend};
use super::sender::{Mode, Sender};
use super::timers::Purpose;
use crate::cc::LossKind;
use crate::unit::HeldBy;
use crate::units::Time;

impl Sender {
    /// `tcp_enter_recovery`.
    #[cold]
    pub(super) fn begin_reduction(&mut self, accounts: &mut Accounts, now: Time) {
        self.counters.fast_retransmits += 1;
        self.forget_first_copy(accounts);
        let goes_on = self.takes_over(accounts);
        if goes_on {
            self.begin_undo(accounts, None);
        } else {
            let before = self.segments(self.controller.window());
            self.prepare_undo(accounts);
            if self.marks.as_ref().is_some_and(|marks| marks.is_reading_mark()) {
                accounts.undo.keep_reduction();
            }
            self.report_loss(now, self.outstanding(), LossKind::DupAck);
            accounts.prr.begin(before, self.segments(self.controller.window()));
            self.recover = self.max;
        }
        if !(goes_on && accounts.linux_windows) {
            // `tcp_init_cwnd_reduction`.
            accounts.probe.forget();
        }
        self.timed_end = 0;
        self.mode = Mode::Sack;
        if !accounts.by_time {
            self.rescue = self.board.oldest().map_or(self.una, |oldest| oldest.start + u64::from(oldest.len));
        }
    }

    /// The timer expired without an ACK since (RFC 6298 §5.4 to §5.6, `tcp_enter_loss`).
    #[cold]
    pub(super) fn handle_timeout_accounted(&mut self, accounts: &mut Accounts, now: Time) {
        self.counters.timeouts += 1;
        self.ready = true;
        let reduced = match self.mode {
            Mode::Open => accounts.yields && self.una < self.recover,
            Mode::Loss => accounts.timeouts > 0 && self.una < self.recover,
            Mode::Sack | Mode::Fast => self.una < self.recover,
        };
        // RFC 5682 §3.1 step 1: not while another loss is repaired, but again for the same segment (§3.2).
        accounts.frto = self.config.rules.frto && (self.mode == Mode::Open || accounts.timeouts > 0);
        accounts.repeats = Repeats::Lost;
        accounts.timeouts += 1;
        if self.mode == Mode::Open && !accounts.yields {
            accounts.rack.handle_timeout(accounts.sacked);
        }
        accounts.usage.handle_window_set(now);
        accounts.yields = false;
        if accounts.by_time {
            let rack = &accounts.rack;
            self.board.lose_overdue(|sent| rack.is_overdue(sent, now));
        } else {
            self.board.lose_all(false);
        }
        if !reduced {
            self.prepare_undo(accounts);
        }
        self.report_loss(now, self.outstanding(), LossKind::Timeout { again: reduced });
        self.estimator.back_off();
        self.mode = Mode::Loss;
        self.recover = self.max;
        self.dupacks = 0;
        self.timed_end = 0;
        accounts.probe.forget();
        self.timers.set(Purpose::TimeOut, self.estimator.expiry(now));
    }

    /// What leaves while a loss is repaired: what is lost, then new data, as far as the window allows.
    pub(super) fn poll_mending_accounted(&mut self, accounts: &mut Accounts, now: Time) -> Option<Outgoing> {
        let window = self.window_with(accounts);
        if accounts.repeats == Repeats::AfterNew {
            let new = self.poll_new_mending(accounts, now, window);
            if new.is_some() || self.max > self.recover {
                return new;
            }
            (accounts.repeats, accounts.frto) = (Repeats::Lost, false);
            // That no new data may leave does not hold for what is lost.
            self.ready = true;
        }
        if matches!(accounts.repeats, Repeats::Lost | Repeats::LostAlone)
            && self.more_lost_than_copies(accounts)
            && let Some(mut lost) = self.board.next_lost()
        {
            if !self.window_allows(lost.len, window) {
                self.stopped_by_window();
                return None;
            }
            if !self.is_within_window(lost) {
                // The attempt counts as a copy (`tcp_retransmit_skb`).
                accounts.undo.handle_copies(now, self.packet_from(lost.number));
                self.held = HeldBy::ReceiverWindow;
                return None;
            }
            // One packet again where it was one before (`tcp_xmit_retransmit_queue`).
            let goes_on = accounts
                .copied
                .is_some_and(|last| last + 1 == lost.number && self.board.slot(last).marked(GOES_ON));
            if !goes_on {
                self.end_copied_packet(accounts);
                if lost.number > self.board.first {
                    self.board.end_packet(lost.number - 1);
                }
                if !self.may_begin_packet(accounts, now) {
                    return None;
                }
            }
            lost = self.fit(accounts, lost, goes_on);
            accounts.copied = Some(lost.number);
            let sent = self.resend(now, lost, RESENT);
            self.note_resent(accounts, now, lost.number);
            return Some(sent);
        }
        if accounts.repeats == Repeats::LostAlone {
            return None;
        }
        let new = self.poll_new_mending(accounts, now, window);
        if new.is_none() && self.mode == Mode::Sack && !accounts.by_time {
            let last = self.poll_last_resort(now);
            if let Some(sent) = last {
                accounts.prr.handle_sent();
                accounts.undo.handle_copies(now, 1);
                let number = self.board.find(sent.start());
                self.stamp(accounts, now, number);
            }
            return last;
        }
        new
    }

    /// Whether more is lost than copies are on their way, of which some may be of what is not taken for lost any more
    /// (`tcp_xmit_retransmit_queue`, `retrans_out` and `lost_out`).
    fn more_lost_than_copies(&self, accounts: &Accounts) -> bool {
        !(accounts.linux_windows && accounts.by_time)
            || self.board.next - self.board.first > accounts.sacked + self.segments_in_flight()
    }

    /// Whether a segment may be sent again: not where the other side's window has shrunk so far, unless it is the oldest
    /// (`__tcp_retransmit_skb`).
    pub(super) fn is_within_window(&self, segment: Resend) -> bool {
        segment.start < self.una.saturating_add(self.peer_window) || segment.start == self.una
    }

    /// Segments of the packet of which record `number` is the first that is to be sent again.
    fn packet_from(&self, number: u64) -> u64 {
        let more = (number..self.board.next - 1).take_while(|each| self.board.slot(*each).marked(GOES_ON));
        1 + more.count() as u64
    }

    /// New data while a loss is repaired: no part of a packet that was sent again.
    fn poll_new_mending(&mut self, accounts: &mut Accounts, now: Time, window: u64) -> Option<Outgoing> {
        if self.end_copied_packet(accounts) && !self.may_begin_packet(accounts, now) {
            return None;
        }
        self.poll_new::<AnyData>(now, window).or_else(|| self.poll_piece(accounts, now))
    }

    /// What was sent again last ends a packet; whether there was anything.
    pub(super) fn end_copied_packet(&mut self, accounts: &mut Accounts) -> bool {
        let Some(last) = accounts.copied.take() else { return false };
        self.board.end_packet(last);
        true
    }
}
