//! What a network gives to its engine.

use crate::net::drops::Dropped;
use crate::net::sources::EventSource;
use crate::unit::Unit;
use crate::units::Time;

/// Something that the network reports to its engine, see [`crate::net::Network::poll_step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A unit was delivered at the end of its route, or is certain to be.
    Deliver {
        /// When it is due there; not before now, later where it is reported ahead of its time.
        at: Time,
        /// Whose route: twice the flow's number for data, one more for the way back.
        route: usize,
        /// The unit.
        unit: Unit,
    },
    /// A unit was dropped; run-ahead may report it before its time.
    Drop(Dropped),
    /// A data unit left a gate of its sending machine, and the flow's TCP must be informed. Of
    /// several flows with a departure at one instant any may be first.
    Departed {
        /// End of its service.
        at: Time,
        /// The flow.
        flow: usize,
    },
    /// A value that a gate published has arrived.
    Signal {
        /// When.
        at: Time,
        /// Index of the signal in the plan.
        signal: usize,
        /// The value.
        value: u64,
    },
    /// An alarm of the engine's.
    Alarm {
        /// The instant it was set for.
        at: Time,
        /// Its number.
        alarm: usize,
    },
}

/// An event, see [`crate::net::Network::poll_event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A unit comes to where several inputs meet, or to the end of its route: for
    /// [`crate::net::Network::handle_arrival`].
    Arrival {
        /// When.
        at: Time,
        /// The unit.
        unit: Unit,
    },
    /// The first unit of a line comes there: for [`crate::net::Network::handle_line`].
    Line {
        /// When.
        at: Time,
        /// The event source of the line.
        source: EventSource,
        /// The number of the line.
        line: usize,
    },
    /// Anything else: for [`crate::net::Network::handle_wakeup`].
    Wakeup {
        /// When.
        at: Time,
        /// The event source that wakes.
        source: EventSource,
    },
}
