//! Many usual ACKs in a row: what [`Endpoint::answer_usual_ack`] and [`Endpoint::poll`] do for one, in one loop.

use super::Endpoint;
use super::heading::Heading;
use crate::tcp::accounts::Accounts;
use crate::tcp::outgoing::Outgoing;
use crate::tcp::report::{Counters, Shown};
use crate::tcp::sender::{Mode, Undisturbed};
use crate::tcp::short::ShortHeader;
use crate::units::{Span, Time};

/// Usual ACKs ([`Outgoing::is_usual`]) or short ones ([`Outgoing::is_short`]) in the order of time, and who hears what a
/// sender does with each.
pub trait AckStream {
    /// What each ACK says, and each segment that it lets go: a number, or a short header.
    type Header: Copy;
    /// The next one, where it comes at `wakeup` at the latest: when it comes and what it says. It is taken by [`AckStream::take`].
    /// `shown` is what a row shows of the sender, to which nothing happens before.
    fn next_before(&mut self, wakeup: Time, shown: impl FnOnce() -> Shown) -> Option<(Time, Self::Header)>;
    /// The next one is dealt with.
    fn take(&mut self);
    /// Whether `wakeup` is before the next one, and the sender may be woken then: the pacer lets its next data go. `shown` as above.
    fn wakes(&mut self, wakeup: Time, shown: impl FnOnce() -> Shown) -> bool;
    /// It gave a sample of the round trip ([`Endpoint::take_rtt_sample`]).
    fn sampled(&mut self, at: Time, rtt: Span);
    /// It lets a segment with data go, which says `header`.
    fn sent(&mut self, at: Time, sent: Outgoing, header: Self::Header);
    /// All has left that may: the congestion window, and when the sender's timer expires ([`Endpoint::next_expiry`]).
    fn answered(&mut self, at: Time, window: u64, expires: Time);
    /// What the sender has counted by then. It is left out after an ACK with which no time-out and no fast retransmit is counted.
    fn counted(&mut self, _at: Time, _counters: &Counters) {}
}

/// Usual or short segments with data in the order of time, for an end that has no data, and who hears what it does with each.
pub trait DataStream {
    /// What each of them says, and each ACK: a number, or a short header.
    type Header: Copy;
    /// The next one, where it comes at `wakeup` at the latest: when it comes, what it says and its length. `end` takes it, to which
    /// nothing happens before.
    fn next_before(&mut self, wakeup: Time, end: &Endpoint) -> Option<(Time, Self::Header, u32)>;
    /// An ACK that says `header` leaves.
    fn acknowledged(&mut self, at: Time, header: Self::Header);
    /// All has left that may: the bytes in order so far, and when the receiver wants to be woken.
    fn taken(&mut self, at: Time, in_order: u64, wakeup: Time);
}

/// What accounts a sender keeps, outside the sender as long as it answers.
trait Keeps {
    /// As many ACKs as take the shortest way, with all that they let go. Then perhaps one more of which [`Keeps::release`] has
    /// what it lets go: when it came.
    fn answer_clocked<H: Heading>(
        &mut self,
        end: &mut Endpoint,
        stream: &mut impl AckStream<Header = H>,
    ) -> Option<Time>;
    /// An ACK, and the first of what it lets go.
    fn answer(&mut self, end: &mut Endpoint, now: Time, ack: impl Heading) -> Outgoing;
    /// The first of what an ACK lets go that has been dealt with.
    fn release(&mut self, end: &mut Endpoint, now: Time) -> Outgoing;
    /// When the pacer wakes the sender before the next ACK of `stream`; it is woken.
    fn wake(&mut self, end: &mut Endpoint, stream: &mut impl AckStream) -> Option<Time>;
    /// What leaves besides.
    fn poll(&mut self, end: &mut Endpoint, now: Time) -> Outgoing;
    /// The congestion window.
    fn window(&self, end: &Endpoint) -> u64;
    /// What a row shows of the sender.
    fn shown(&self, end: &Endpoint) -> Shown;
}

/// None.
struct NoAccounts;

impl Keeps for NoAccounts {
    #[inline(always)]
    fn answer_clocked<H: Heading>(
        &mut self,
        _end: &mut Endpoint,
        _stream: &mut impl AckStream<Header = H>,
    ) -> Option<Time> {
        None
    }

    #[inline(always)]
    fn release(&mut self, end: &mut Endpoint, now: Time) -> Outgoing {
        end.release_alone(now)
    }

    /// Without accounts nothing is paced.
    #[inline(always)]
    fn wake(&mut self, _end: &mut Endpoint, _stream: &mut impl AckStream) -> Option<Time> {
        None
    }

    #[inline(always)]
    fn answer(&mut self, end: &mut Endpoint, now: Time, ack: impl Heading) -> Outgoing {
        ack.answer(end, now)
    }

    #[inline(always)]
    fn poll(&mut self, end: &mut Endpoint, now: Time) -> Outgoing {
        let held = end.sender.held;
        let sent = end.sender.poll(now);
        end.release(sent, held)
    }

    #[inline(always)]
    fn window(&self, end: &Endpoint) -> u64 {
        end.sender.controller.window()
    }

    #[inline(always)]
    fn shown(&self, end: &Endpoint) -> Shown {
        end.shown_with(None)
    }
}

impl Keeps for Accounts {
    #[inline(always)]
    fn answer_clocked<H: Heading>(
        &mut self,
        end: &mut Endpoint,
        stream: &mut impl AckStream<Header = H>,
    ) -> Option<Time> {
        end.answer_clocked(self, stream)
    }

    #[inline(always)]
    fn release(&mut self, end: &mut Endpoint, now: Time) -> Outgoing {
        end.release_with(self, now)
    }

    #[inline(always)]
    fn wake(&mut self, end: &mut Endpoint, stream: &mut impl AckStream) -> Option<Time> {
        let due = end.sender.timers.paced_alone().filter(|due| *due < end.receiver.wakeup())?;
        if !stream.wakes(due, || end.shown_with(Some(self))) {
            return None;
        }
        end.sender.ready = end.sender.timers.take_paced(due);
        Some(due)
    }

    #[inline(always)]
    fn answer(&mut self, end: &mut Endpoint, now: Time, ack: impl Heading) -> Outgoing {
        if !ack.is_next::<false>(end, self, now) {
            ack.account(end, self, now);
        }
        end.release_with(self, now)
    }

    #[inline(always)]
    fn poll(&mut self, end: &mut Endpoint, now: Time) -> Outgoing {
        end.poll_with(self, now)
    }

    #[inline(always)]
    fn window(&self, end: &Endpoint) -> u64 {
        end.sender.window_with(self)
    }

    #[inline(always)]
    fn shown(&self, end: &Endpoint) -> Shown {
        end.shown_with(Some(self))
    }
}

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
        stream: &mut impl AckStream<Header = ShortHeader>,
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

    /// A full segment that a congestion window of `window` bytes lets go after [`Endpoint::answer_oldest_acked`], with its sequence
    /// number.
    #[inline(always)]
    pub fn poll_steadily(&mut self, now: Time, window: u64) -> Option<(Outgoing, u32)> {
        let held = self.sender.held;
        if !self.sender.lets_one_more(window) {
            return None;
        }
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
            while self.sender.lets_one_more(window) {
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
        stream: &mut impl DataStream<Header = ShortHeader>,
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
