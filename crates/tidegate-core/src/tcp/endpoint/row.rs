//! What comes to an end in a row, and who hears what it does with each.

use super::Endpoint;
use crate::tcp::outgoing::Outgoing;
use crate::tcp::report::{Counters, Shown};
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
