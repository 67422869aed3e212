//! What the loops over many ACKs ask of a sender, with its accounts at hand or without any.

use super::Endpoint;
use super::heading::Heading;
use super::row::AckStream;
use crate::tcp::accounts::Accounts;
use crate::tcp::ack::InOrder;
use crate::tcp::outgoing::Outgoing;
use crate::tcp::report::Shown;
use crate::units::Time;

/// What accounts a sender keeps, outside the sender as long as it answers.
pub(super) trait Keeps {
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
pub(super) struct NoAccounts;

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
        if !ack.is_next::<InOrder>(end, self, now) {
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
