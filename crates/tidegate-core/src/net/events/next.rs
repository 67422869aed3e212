//! The next event, as the event queue returns it.

use crate::net::sources::EventSource;
use crate::unit::Unit;
use crate::units::Time;

/// The next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::net) enum Next {
    /// A source wakes.
    Source(Time, EventSource),
    /// A unit comes that [`super::EventQueue::send`] was given.
    Arrival(Time, Unit),
}
