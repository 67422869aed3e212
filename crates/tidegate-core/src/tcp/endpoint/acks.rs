//! ACKs in a row ([`super::row`]).

use super::Endpoint;
use super::row::Row;
use crate::tcp::accounts::Accounts;
use crate::tcp::ack::{InOrder, Known, SelfClocked};
use crate::tcp::header::Header;
use crate::tcp::leaving::{FillsWindow, WindowAlone};
use crate::tcp::outgoing::Outgoing;
use crate::tcp::sender::Mode;
use crate::units::Time;

/// What answers ACKs: a sender in the order of the RFCs, or one in the kernel's order, whose accounts are outside it as long as it answers.
trait StepOrder {
    /// As many ACKs as take the fast path, with all that they let go; what comes then.
    fn answer_fast<R: Row>(&mut self, end: &mut Endpoint, row: &mut R) -> Then;
    /// Takes the steps of an ACK.
    fn handle(&mut self, end: &mut Endpoint, now: Time, ack: Header);
    /// The first of what an ACK lets go.
    fn release(&mut self, end: &mut Endpoint, now: Time) -> Outgoing;
    /// When the pacer wakes the sender before the next ACK of `row`; it is woken.
    fn wake<R: Row>(&mut self, end: &mut Endpoint, row: &mut R) -> Option<Time>;
    /// The next of what leaves.
    fn poll(&mut self, end: &mut Endpoint, now: Time) -> Outgoing;
    /// The congestion window.
    fn window(&self, end: &Endpoint) -> u64;
}

/// What follows the ACKs that took the fast path.
enum Then {
    /// No ACK by the next wake-up.
    Nothing,
    /// One that takes the general steps.
    AnyAck,
    /// One came at this time and its steps have been taken; [`StepOrder::release`] has what it lets go.
    Taken(Time),
}

/// The order of the RFCs: there are no accounts.
struct NoAccounts;

impl StepOrder for NoAccounts {
    #[inline(always)]
    fn answer_fast<R: Row>(&mut self, end: &mut Endpoint, row: &mut R) -> Then {
        end.answer_oldest(row)
    }

    #[inline(always)]
    fn handle(&mut self, end: &mut Endpoint, now: Time, ack: Header) {
        let (window, segment) = end.read_header(&ack);
        if !end.sender.handle_ack(now, ack.number, window, segment.as_ref()) {
            end.receiver.demand_ack();
        }
    }

    #[inline(always)]
    fn release(&mut self, end: &mut Endpoint, now: Time) -> Outgoing {
        if end.sender.ready { self.poll(end, now) } else { Outgoing::NOTHING }
    }

    /// Without accounts nothing is paced.
    #[inline(always)]
    fn wake<R: Row>(&mut self, _end: &mut Endpoint, _row: &mut R) -> Option<Time> {
        None
    }

    #[inline(always)]
    fn poll(&mut self, end: &mut Endpoint, now: Time) -> Outgoing {
        let held = end.sender.held;
        let sent = end.sender.poll(now);
        end.release(now, sent, held)
    }

    #[inline(always)]
    fn window(&self, end: &Endpoint) -> u64 {
        end.sender.controller.window()
    }
}

impl StepOrder for Accounts {
    #[inline(always)]
    fn answer_fast<R: Row>(&mut self, end: &mut Endpoint, row: &mut R) -> Then {
        end.answer_self_clocked(self, row)
    }

    #[inline(always)]
    fn handle(&mut self, end: &mut Endpoint, now: Time, ack: Header) {
        if !end.handle_next_header::<InOrder>(self, now, &ack) {
            end.account_header(self, now, ack);
        }
    }

    #[inline(always)]
    fn release(&mut self, end: &mut Endpoint, now: Time) -> Outgoing {
        let held = end.sender.held;
        let sent = if end.sender.ready { end.sender.poll_with(self, now) } else { None };
        end.release(now, sent, held)
    }

    #[inline(always)]
    fn wake<R: Row>(&mut self, end: &mut Endpoint, row: &mut R) -> Option<Time> {
        let due = end.sender.timers.paced_alone().filter(|due| *due < end.receiver.wakeup())?;
        if !row.wakes(due) {
            return None;
        }
        end.sender.ready = end.sender.timers.take_paced(due);
        Some(due)
    }

    #[inline(always)]
    fn poll(&mut self, end: &mut Endpoint, now: Time) -> Outgoing {
        end.poll_with(self, now)
    }

    #[inline(always)]
    fn window(&self, end: &Endpoint) -> u64 {
        end.sender.window_with(self)
    }
}

impl Endpoint {
    /// Answers ACKs.
    #[inline(always)]
    pub(super) fn answer_acks<R: Row>(&mut self, row: &mut R) {
        if !(self.numbers_suffice || self.headers_suffice) {
            self.answer_any(row);
        } else if let Some(mut accounts) = self.sender.accounts.take() {
            self.answer_each(&mut *accounts, row);
            self.sender.put_back(accounts);
        } else {
            self.answer_each(&mut NoAccounts, row);
        }
    }

    /// Answers ACKs by the general steps: before the handshake is over, with ECN, or where fast paths are off.
    #[inline(never)]
    fn answer_any<R: Row>(&mut self, row: &mut R) {
        loop {
            let (at, ack, _) = row.next();
            row.take();
            self.handle_any(at, &self.segment_of_ack(&ack));
            if let Some(rtt) = self.take_rtt_sample() {
                row.sampled(at, rtt);
            }
            while let Some(sent) = self.poll(at) {
                row.sent(at, sent, self);
            }
            row.answered(at, self.congestion_window(), self.next_expiry());
            row.counted(at, self);
            if !row.goes_on(self.next_wakeup()) {
                return;
            }
        }
    }

    #[inline(always)]
    fn answer_each<R: Row>(&mut self, order: &mut impl StepOrder, row: &mut R) {
        loop {
            let mut at = match order.answer_fast(self, row) {
                Then::Nothing => return,
                Then::Taken(at) => at,
                Then::AnyAck => {
                    let (at, ack, _) = row.next();
                    row.take();
                    order.handle(self, at, ack);
                    at
                }
            };
            let mut next = order.release(self, at).get();
            loop {
                if let Some(rtt) = self.take_rtt_sample() {
                    row.sampled(at, rtt);
                }
                while let Some(sent) = next.or_else(|| self.poll_ack(at)) {
                    row.sent(at, sent, self);
                    next = if self.sender.ready { order.poll(self, at).get() } else { None };
                }
                row.answered(at, order.window(self), self.next_expiry());
                row.counted(at, self);
                if row.goes_on(self.next_wakeup()) {
                    break;
                }
                let Some(woken) = order.wake(self, row) else { return };
                at = woken;
                next = order.poll(self, at).get();
            }
        }
    }

    /// Fast path in the order of the RFCs: ACKs of the oldest segment, whole and sent once, at a sender in which nothing is repaired,
    /// reported or in doubt, and whose congestion window alone says what leaves. Takes the steps of [`crate::tcp::ack`], known to be in
    /// order, and sends full segments; it skips SACK, recovery, and the questions to application and receiver. For how many ACKs these
    /// conditions hold is looked up once ([`crate::tcp::window_alone`]) and remembered until anything else happens at this end.
    #[inline(always)]
    fn answer_oldest<R: Row>(&mut self, row: &mut R) -> Then {
        loop {
            if self.sender.undisturbed.acks == 0
                && (self.sender.mode != Mode::Open || !self.look_for_window_alone())
            {
                return Then::AnyAck;
            }
            debug_assert!(self.acks_of_window_alone() > 0, "something happened unnoticed");
            let (at, ack, _) = row.next();
            let Some(rtt) = self.sender.handle_oldest_acked(at, ack.number) else { return Then::AnyAck };
            self.sender.undisturbed.acks -= 1;
            row.take();
            row.sampled(at, rtt);
            let (held, window) = (self.sender.held, self.sender.controller.window());
            while let Some(sent) = self.sender.poll_new::<WindowAlone>(at, window) {
                row.sent(at, sent.held_back_by(held), self);
            }
            let expires = self.sender.timers.next();
            row.answered(at, window, expires);
            if !row.goes_on(expires) {
                return Then::Nothing;
            }
        }
    }

    /// Looks up how many of the next ACKs take that fast path; whether there are any.
    #[inline(never)]
    fn look_for_window_alone(&mut self) -> bool {
        self.sender.undisturbed.acks = self.acks_of_window_alone() as u32;
        self.sender.undisturbed.acks > 0
    }

    fn acks_of_window_alone(&self) -> u64 {
        if self.numbers_suffice && self.sender.accounts.is_none() && self.is_quiet() {
            self.sender.acks_of_window_alone()
        } else {
            0
        }
    }

    /// Fast path in the kernel's order: ACKs in order at a sender that ACKs alone clock, each of which lets one or two segments go that
    /// fill the window ([`crate::tcp::fast_departure`]). It skips what only disorder, pacing and sampling controllers need.
    ///
    /// The conditions checked before the loop are invariant under ACKs and transmissions: ACKs without data leave the receiving half
    /// as it is, and what disturbs a sender makes it forget that it is undisturbed, which is checked after each ACK.
    #[inline(always)]
    fn answer_self_clocked<R: Row>(&mut self, accounts: &mut Accounts, row: &mut R) -> Then {
        if !(accounts.self_clocked && accounts.cached.is_known() && self.is_silent()) {
            return Then::AnyAck;
        }
        loop {
            let (at, ack, _) = row.next();
            if !self.handle_next_header::<SelfClocked>(accounts, at, &ack) {
                return Then::AnyAck;
            }
            row.take();
            if !accounts.cached.undisturbed || accounts.offload.left > 0 {
                return Then::Taken(at);
            }
            let window = self.sender.controller.window();
            let Some(fills) = self.sender.fills_window(accounts, at, window, true) else {
                return Then::Taken(at);
            };
            if let Some(rtt) = self.take_rtt_sample() {
                row.sampled(at, rtt);
            }
            let held = self.sender.held;
            let segments = fills.segments();
            if fills.goes_on() {
                let sent = self.sender.send_full::<FillsWindow>(accounts, at, window, segments, true);
                row.sent(at, sent.held_back_by(held), self);
            }
            let sent = self.sender.send_full::<FillsWindow>(accounts, at, window, segments, false);
            row.sent(at, sent.held_back_by(held), self);
            let wakeup = self.next_wakeup();
            row.answered(at, self.sender.controller.window(), wakeup);
            if !row.goes_on(wakeup) {
                return Then::Nothing;
            }
        }
    }

    /// The window that an ACK says, and the segment that it is where its timestamps may be asked for; TS.Recent is updated.
    #[inline(always)]
    fn read_header(&mut self, ack: &Header) -> (u32, Option<crate::tcp::Segment>) {
        let window = ack.window_or(self.sender.raw_window);
        if !self.sender.config.timestamps {
            return (window, None);
        }
        self.read_timestamp(self.acknowledgement_number(), ack.ts_val);
        (window, Some(self.segment_of_ack(ack)))
    }

    /// Takes the steps of an ACK in order that moves SND.UNA, at a sender that accounts for ACKs; `false`: it is another one, and nothing
    /// has been done but to TS.Recent.
    #[inline(always)]
    fn handle_next_header<K: Known>(&mut self, accounts: &mut Accounts, now: Time, ack: &Header) -> bool {
        if self.sender.config.timestamps {
            self.read_timestamp(self.acknowledgement_number(), ack.ts_val);
        }
        let window = ack.window_or(self.sender.raw_window);
        self.sender.handle_next_number::<K>(accounts, now, ack.number, window)
    }

    /// Takes the steps of any ACK at a sender that accounts for ACKs.
    #[inline(never)]
    fn account_header(&mut self, accounts: &mut Accounts, now: Time, ack: Header) {
        let (window, segment) = self.read_header(&ack);
        if !self.sender.handle_ack_with(accounts, now, ack.number, window, segment.as_ref()) {
            self.receiver.demand_ack();
        }
    }
}
