//! Many usual ACKs in a row: what [`Endpoint::answer_usual_ack`] and [`Endpoint::poll`] do for one, in one loop.

use super::Endpoint;
use crate::tcp::accounts::Accounts;
use crate::tcp::outgoing::Outgoing;
use crate::units::{Span, Time};

/// Usual ACKs ([`Outgoing::is_usual`]) in the order of time, and who hears what a sender does with each.
pub trait AckStream {
    /// The next one, where it comes at `wakeup` at the latest: when it comes and its number. It is taken by [`AckStream::take`].
    fn next_before(&mut self, wakeup: Time) -> Option<(Time, u32)>;
    /// The next one is dealt with.
    fn take(&mut self);
    /// It gave a sample of the round trip ([`Endpoint::take_rtt_sample`]).
    fn sampled(&mut self, at: Time, rtt: Span);
    /// It lets a usual segment with data go, whose sequence number is `number`.
    fn sent(&mut self, at: Time, sent: Outgoing, number: u32);
    /// All has left that may: the congestion window, and when the sender wants to be woken.
    fn answered(&mut self, at: Time, window: u64, wakeup: Time);
}

/// Usual segments with data in the order of time, for an end that has no data, and who hears what it does with each.
pub trait DataStream {
    /// The next one, where it comes at `wakeup` at the latest: when it comes, the number of its first byte and its length.
    fn next_before(&mut self, wakeup: Time) -> Option<(Time, u32, u32)>;
    /// A usual ACK of that number leaves.
    fn acknowledged(&mut self, at: Time, number: u32);
    /// All has left that may: the bytes in order so far, and when the receiver wants to be woken.
    fn taken(&mut self, at: Time, in_order: u64, wakeup: Time);
}

/// What accounts a sender keeps, outside the sender as long as it answers.
trait Keeps {
    /// An ACK of that number, and what it lets go.
    fn answer(&mut self, end: &mut Endpoint, now: Time, number: u32) -> Outgoing;
    /// What leaves besides.
    fn poll(&mut self, end: &mut Endpoint, now: Time) -> Outgoing;
    /// The congestion window.
    fn window(&self, end: &Endpoint) -> u64;
}

/// None.
struct NoAccounts;

impl Keeps for NoAccounts {
    #[inline(always)]
    fn answer(&mut self, end: &mut Endpoint, now: Time, number: u32) -> Outgoing {
        end.answer_ack_here(now, number)
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
}

impl Keeps for Accounts {
    #[inline(always)]
    fn answer(&mut self, end: &mut Endpoint, now: Time, number: u32) -> Outgoing {
        end.answer_with(self, now, number)
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
    /// Answers usual ACKs until there is none that comes before the next wake-up, or a segment leaves that is not a usual one with data:
    /// that one is returned with its time, before [`Endpoint::poll`] was asked for more.
    #[inline(always)]
    pub fn answer_usual_acks(&mut self, stream: &mut impl AckStream) -> Option<(Time, Outgoing)> {
        if !self.plain {
            return None;
        }
        if let Some(mut accounts) = self.sender.accounts.take() {
            let unusual = self.answer_each(&mut *accounts, stream);
            self.sender.put_back(accounts);
            unusual
        } else {
            while self.answer_steadily(stream) {}
            self.answer_each(&mut NoAccounts, stream)
        }
    }

    /// Answers usual ACKs as long as neither they nor the sender is in any disorder, some at a time; whether it may be asked again.
    #[inline(always)]
    fn answer_steadily(&mut self, stream: &mut impl AckStream) -> bool {
        let most = if self.is_quiet() { self.sender.steady_acks() } else { 0 };
        for _ in 0..most {
            let Some((at, number)) = stream.next_before(self.sender.timers.next()) else { return false };
            let Some(rtt) = self.sender.handle_oldest_acked(at, number) else { return false };
            stream.take();
            stream.sampled(at, rtt);
            let (held, window) = (self.sender.held, self.sender.controller.window());
            while self.sender.lets_one_more(window) {
                let sent = self.sender.push_full(at).held_back_by(held);
                stream.sent(at, sent, self.sequence_number(sent));
            }
            stream.answered(at, window, self.sender.timers.next());
        }
        most > 0
    }

    #[inline(always)]
    fn answer_each(
        &mut self,
        accounts: &mut impl Keeps,
        stream: &mut impl AckStream,
    ) -> Option<(Time, Outgoing)> {
        let mut wakeup = self.next_wakeup();
        while let Some((at, number)) = stream.next_before(wakeup) {
            stream.take();
            let mut next = accounts.answer(self, at, number).get();
            if let Some(rtt) = self.take_rtt_sample() {
                stream.sampled(at, rtt);
            }
            while let Some(sent) = next.or_else(|| self.poll_ack()) {
                if !sent.is_usual() || sent.is_empty() {
                    return Some((at, sent));
                }
                stream.sent(at, sent, self.sequence_number(sent));
                next = if self.sender.ready { accounts.poll(self, at).get() } else { None };
            }
            wakeup = self.next_wakeup();
            stream.answered(at, accounts.window(self), wakeup);
        }
        None
    }

    /// Takes usual segments until there is none that comes before the next wake-up, or a segment leaves that is not a usual ACK: that one
    /// is returned with its time, before [`Endpoint::poll`] was asked for more.
    #[inline(always)]
    pub fn take_usual_data(&mut self, stream: &mut impl DataStream) -> Option<(Time, Outgoing)> {
        let mut wakeup = self.next_wakeup();
        while let Some((at, number, len)) = stream.next_before(wakeup) {
            self.handle_usual_data(at, number, len);
            if self.poll_usual_ack() {
                stream.acknowledged(at, self.acknowledgement_number());
            }
            while let Some(sent) = if self.sender.ready { self.poll(at) } else { self.poll_ack() } {
                if !sent.is_usual() || !sent.is_empty() {
                    return Some((at, sent));
                }
                stream.acknowledged(at, self.acknowledgement_number());
            }
            wakeup = self.next_wakeup();
            stream.taken(at, self.in_order_bytes(), wakeup);
        }
        None
    }
}
