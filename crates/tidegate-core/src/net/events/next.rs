//! What comes out of the event queue.

use crate::net::sources::EventSource;
use crate::unit::Unit;
use crate::units::Time;

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::net) enum Next {
    /// A source wakes.
    Source(Time, EventSource),
    /// A unit comes that [`super::EventQueue::send`] was given.
    Arrival(Time, Unit),
}
