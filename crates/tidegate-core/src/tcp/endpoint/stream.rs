//! Many usual ACKs in a row: what [`Endpoint::answer_usual_ack`] and [`Endpoint::poll`] do for one, in one loop.

use super::Endpoint;
use super::heading::Heading;
use super::keeps::{Keeps, NoAccounts};
use super::row::{AckStream, DataStream};
use crate::tcp::header::Header;
use crate::tcp::outgoing::Outgoing;
use crate::tcp::sender::{Mode, Undisturbed};
use crate::units::{Span, Time};

impl Endpoint {
    /// Answers usual ACKs until there is none that comes before the next wake-up, or a segment leaves that is not a usual one with data:
    /// that one is returned with its time, before [`Endpoint::poll`] was asked for more.
    #[inline(always)]
    pub fn answer_usual_acks(
        &mut self,
        stream: &mut impl AckStream<Header = u32>,
    ) -> Option<(Time, Outgoing)> {
        if self.sender.accounts.is_none() && self.plain {
            while self.answer_steadily(stream) {}
        }
        self.answer_in_turn(stream)
    }

    /// The same of short ACKs.
    #[inline(always)]
    pub fn answer_short_acks(
        &mut self,
        stream: &mut impl AckStream<Header = Header>,
    ) -> Option<(Time, Outgoing)> {
        self.answer_in_turn(stream)
    }

    #[inline(always)]
    fn answer_in_turn<H: Heading>(
        &mut self,
        stream: &mut impl AckStream<Header = H>,
    ) -> Option<(Time, Outgoing)> {
        if !H::is_read_by(self) {
            return None;
        }
        if let Some(mut accounts) = self.sender.accounts.take() {
            let unusual = self.answer_each(&mut *accounts, stream);
            self.sender.put_back(accounts);
            unusual
        } else {
            self.answer_each(&mut NoAccounts, stream)
        }
    }

    /// Answers one usual ACK of the oldest segment, where the sender is in no disorder and the window alone says what leaves:
    /// [`Endpoint::poll_steadily`] then has that. Answers with the round trip that the ACK has shown. `None`: it is another ACK or another
    /// sender, and nothing has been done.
    #[inline(always)]
    pub fn answer_oldest_acked(&mut self, now: Time, number: u32) -> Option<Span> {
        if self.sender.undisturbed.acks == 0
            && (self.sender.mode != Mode::Open || !self.look_for_steady_acks())
        {
            return None;
        }
        debug_assert!(self.steady_acks() > 0, "something happened that did not end steadiness");
        let rtt = self.sender.handle_oldest_acked(now, number)?;
        self.sender.undisturbed.acks -= 1;
        Some(rtt)
    }

    /// Finds how many of the next ACKs the sender will be steady for; whether there are any.
    #[inline(never)]
    fn look_for_steady_acks(&mut self) -> bool {
        self.sender.undisturbed.acks = self.steady_acks() as u32;
        self.sender.undisturbed.acks > 0
    }

    /// In how many of the next usual ACKs of the oldest segment the window alone will have a say, and nothing leaves but data.
    fn steady_acks(&self) -> u64 {
        let usual = self.plain && self.sender.accounts.is_none() && self.is_quiet();
        if usual { self.sender.steady_acks() } else { 0 }
    }

    /// The congestion window after [`Endpoint::answer_oldest_acked`].
    #[inline(always)]
    #[must_use]
    pub fn steady_window(&self) -> u64 {
        debug_assert!(self.sender.accounts.is_none(), "a steady sender accounts for none");
        self.sender.controller.window()
    }

    /// The last offset at which a full segment may begin that a congestion window of `window` bytes lets go after
    /// [`Endpoint::answer_oldest_acked`].
    #[inline(always)]
    #[must_use]
    pub fn last_steady_start(&self, window: u64) -> i64 {
        self.sender.last_start(window)
    }

    /// A full segment that may leave then ([`Endpoint::last_steady_start`]), with its sequence number.
    #[inline(always)]
    pub fn poll_steadily(&mut self, now: Time, last_start: i64) -> Option<(Outgoing, u32)> {
        if !self.sender.lets_one_more(last_start) {
            return None;
        }
        let held = self.sender.held;
        let sent = self.sender.push_full(now).held_back_by(held);
        Some((sent, self.sequence_number(sent)))
    }

    /// Answers usual ACKs as long as neither they nor the sender is in any disorder, some at a time; whether it may be asked again.
    #[inline(always)]
    fn answer_steadily(&mut self, stream: &mut impl AckStream<Header = u32>) -> bool {
        let most = self.steady_acks();
        self.sender.undisturbed = Undisturbed::default();
        let mut wakeup = self.sender.timers.next();
        for _ in 0..most {
            let next = stream.next_before(wakeup, || self.shown_with(None));
            let Some((at, number)) = next else { return false };
            let Some(rtt) = self.sender.handle_oldest_acked(at, number) else { return false };
            stream.take();
            stream.sampled(at, rtt);
            let (held, window) = (self.sender.held, self.sender.controller.window());
            let last_start = self.sender.last_start(window);
            while self.sender.lets_one_more(last_start) {
                let sent = self.sender.push_full(at).held_back_by(held);
                stream.sent(at, sent, self.sequence_number(sent));
            }
            wakeup = self.sender.timers.next();
            stream.answered(at, window, wakeup);
        }
        most > 0
    }

    #[inline(always)]
    fn answer_each<H: Heading>(
        &mut self,
        accounts: &mut impl Keeps,
        stream: &mut impl AckStream<Header = H>,
    ) -> Option<(Time, Outgoing)> {
        loop {
            let (at, mut next) = if let Some(at) = accounts.answer_clocked(self, stream) {
                (at, accounts.release(self, at).get())
            } else if let Some(at) = accounts.wake(self, stream) {
                (at, accounts.poll(self, at).get())
            } else {
                let (at, ack) = stream.next_before(self.next_wakeup(), || accounts.shown(self))?;
                stream.take();
                (at, accounts.answer(self, at, ack).get())
            };
            if let Some(rtt) = self.take_rtt_sample() {
                stream.sampled(at, rtt);
            }
            while let Some(sent) = next.or_else(|| self.poll_ack()) {
                if !H::fits(sent) || sent.is_empty() {
                    return Some((at, sent));
                }
                stream.sent(at, sent, H::of(self, at, sent));
                next = if self.sender.ready { accounts.poll(self, at).get() } else { None };
            }
            stream.answered(at, accounts.window(self), self.next_expiry());
            stream.counted(at, &self.sender.counters);
        }
    }

    /// Takes usual segments until there is none that comes before the next wake-up, or a segment leaves that is not a usual ACK: that one
    /// is returned with its time, before [`Endpoint::poll`] was asked for more.
    #[inline(always)]
    pub fn take_usual_data(
        &mut self,
        stream: &mut impl DataStream<Header = u32>,
    ) -> Option<(Time, Outgoing)> {
        loop {
            let (at, number, len) = self.take_in_order(stream)?;
            if let Some(unusual) = self.take_one(at, number, len, stream) {
                return Some((at, unusual));
            }
        }
    }

    /// The same of short segments.
    #[inline(always)]
    pub fn take_short_data(
        &mut self,
        stream: &mut impl DataStream<Header = Header>,
    ) -> Option<(Time, Outgoing)> {
        let mut wakeup = self.next_wakeup();
        while let Some((at, data, len)) = stream.next_before(wakeup, self) {
            if let Some(unusual) = self.take_one(at, data, len, stream) {
                return Some((at, unusual));
            }
            wakeup = self.next_wakeup();
        }
        None
    }

    /// Takes one segment. Answers with what leaves that is not a usual ACK.
    #[inline(always)]
    fn take_one<H: Heading>(
        &mut self,
        at: Time,
        data: H,
        len: u32,
        stream: &mut impl DataStream<Header = H>,
    ) -> Option<Outgoing> {
        data.take(self, at, len);
        if let Some(ack) = H::poll_ack(self, at) {
            stream.acknowledged(at, ack);
        }
        while (self.sender.ready || self.receiver.ack_now())
            && let Some(sent) = self.poll(at)
        {
            if !H::fits(sent) || !sent.is_empty() {
                return Some(sent);
            }
            stream.acknowledged(at, self.heading_of(at, sent));
        }
        stream.taken(at, self.in_order_bytes(), self.next_wakeup());
        None
    }

    /// What a segment says that leaves; not compiled into a loop that hardly ever asks.
    #[inline(never)]
    fn heading_of<H: Heading>(&self, now: Time, sent: Outgoing) -> H {
        H::of(self, now, sent)
    }
}
