//! The interface of a section: the crossings and options that it is made with, and the [`Output`] that the network takes from it.

use crate::gate::{Count, DropReason};
use crate::unit::Unit;
use crate::units::Time;

/// What a section tells the network.
#[derive(Clone, Copy, Debug)]
pub enum Output {
    /// A packet was reassembled; it arrives at what comes next at `at`.
    Deliver {
        /// When.
        at: Time,
        /// The packet.
        unit: Unit,
    },
    /// Packets were reassembled that nobody waits for; they arrived at the end of their way.
    Counted {
        /// When, or at another instant that counts alike.
        at: Time,
        /// Where they are on their route ([`Unit::stretch`]).
        stretch: u32,
        /// How many.
        count: Count,
    },
    /// A packet lost a cell and the fate of all is known, or it could not be told apart from the one before.
    Drop {
        /// When it lost the first, by time.
        at: Time,
        /// At which gate.
        gate: usize,
        /// Why.
        reason: DropReason,
        /// The packet.
        unit: Unit,
    },
    /// A cell left an ABR source.
    Served {
        /// When.
        at: Time,
        /// Which gate.
        gate: usize,
    },
    /// The last cell of a packet left a gate of its sending machine.
    Departed {
        /// When.
        at: Time,
        /// Which gate.
        gate: usize,
        /// The packet.
        unit: Unit,
    },
}

/// What a cell gate counts beside cells, inside the measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellCounts {
    /// Packets that were segmented before this gate.
    pub segmented: u64,
    /// Padding bytes in their cells.
    pub padding_bytes: u64,
    /// Packets reassembled after this gate.
    pub reassembled: u64,
    /// Packets that lost their first cell here, or failed after this gate because of a lost
    /// last cell.
    pub failed: u64,
    /// Cells that came to reassembly after this gate for nothing.
    pub wasted: u64,
    /// Cells lost here, by the code of the reason.
    pub lost: [u64; DropReason::LOSSES],
}

/// Who looks at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// Nobody during the run.
    Not,
    /// Rows show it at fixed times.
    Sampled,
    /// An ABR switch counts what comes to it in slots, before whose ends it brings the section forward; rows may show it too.
    Counted,
    /// Each cell is reported to it when it comes.
    Each,
}

/// How a section works.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Each cell is handled for itself: slower, with equal results.
    pub one_by_one: bool,
    /// Report each loss as soon as it is known, instead of with the next delivery.
    pub report_losses_early: bool,
}

/// What a route is to a section.
#[derive(Clone, Debug)]
pub struct CrossingPlan {
    /// Its gates there, numbers of the network.
    pub gates: Vec<usize>,
    /// Its TCP hears departures.
    pub hears_departures: bool,
    /// Its packets leave the network at the end of the section, where they are only counted.
    pub ends_in_background: bool,
    /// Of each packet it is asked when it comes to the end of the section.
    pub asks_when: bool,
}
