//! Segments in a row: how an engine hands over one or many, and hears what an end does with each.

use super::Endpoint;
use crate::tcp::header::Header;
use crate::tcp::outgoing::Outgoing;
use crate::units::{Span, Time};

/// One or many segments in the order of time that a [`Header`] describes ([`Outgoing::fits_header`]), for
/// [`Endpoint::handle_row`]. They are all ACKs, or all data for an end that sends none.
pub trait Row {
    /// Whether they bring data.
    const DATA: bool;
    /// When the next one comes, what its header says and its user bytes. The end takes it by [`Row::take`].
    fn next(&self) -> (Time, Header, u32);
    /// The end has taken the next one.
    fn take(&mut self);
    /// Whether there is another one, and it comes by `wakeup`.
    fn goes_on(&self, wakeup: Time) -> bool;
    /// Whether `wakeup` is before the next one, and the pacer may let data go then.
    fn wakes(&self, _wakeup: Time) -> bool {
        false
    }
    /// An ACK gave a sample of the round trip ([`Endpoint::take_rtt_sample`]).
    fn sampled(&mut self, _at: Time, _rtt: Span) {}
    /// A segment leaves `end`, which nothing has happened to since.
    fn sent(&mut self, at: Time, sent: Outgoing, end: &Endpoint);
    /// All has left that an ACK lets go: the congestion window, and when the sender's timer expires ([`Endpoint::next_expiry`]).
    fn answered(&mut self, _at: Time, _window: u64, _expires: Time) {}
    /// All has left that an ACK lets go, and `end` may have counted a time-out or a fast retransmit. It is left out where it cannot have.
    fn counted(&mut self, _at: Time, _end: &Endpoint) {}
    /// All has left that data ask for: the bytes in order so far, and when the end wants to be woken.
    fn received(&mut self, _at: Time, _in_order: u64, _wakeup: Time) {}
}

impl Endpoint {
    /// Handles the segments of a row up to the first one that does not come by [`Endpoint::next_wakeup`], with all that leaves. There is
    /// one, and the first comes by then.
    #[inline(always)]
    pub fn handle_row<R: Row>(&mut self, row: &mut R) {
        if R::DATA {
            self.take_data(row);
        } else {
            self.answer_acks(row);
        }
    }
}
