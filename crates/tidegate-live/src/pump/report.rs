//! What a run of the pump brought, and what bends it.

use std::time::Duration;

use tidegate_core::net::{Dropped, Network};
use tidegate_core::unit::{Cause, Ecn};
use tidegate_core::units::{Span, Time};

use super::lateness::Lateness;
use super::stalls::Stalls;
use super::transfers::Word;
use crate::lab::Side;
use crate::limits::HarmlessStall;

/// A packet that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When it was read.
    pub at: Time,
    /// Twice the flow's number for data, one more for the way back.
    pub route: u32,
    /// IP bytes.
    pub bytes: u32,
    /// Its codepoint of ECN.
    pub ecn: Ecn,
    /// Its codepoint of DiffServ.
    pub codepoint: u8,
}

/// A packet that left the last gate of its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When it was due at its edge.
    pub due: Time,
    /// Its place among the arrivals.
    pub arrival: u32,
    /// Its route.
    pub route: u32,
    /// What it waited for.
    pub cause: Cause,
    /// It left with a mark (CE).
    pub marked: bool,
    /// The codepoint of DiffServ that it left with.
    pub codepoint: u8,
}

/// What a run of the pump brought.
#[derive(Debug)]
pub struct PumpReport {
    /// The network after the run, finished: gates with their counters and histories.
    pub network: Network,
    /// When the run ended: the plan's duration, or earlier if it was stopped.
    pub ended: Time,
    /// Every packet that came in, in order.
    pub arrivals: Vec<Arrival>,
    /// Every packet that left, in order.
    pub departures: Vec<Departure>,
    /// Every packet that a gate dropped, its `unit.handle` being its place among the arrivals.
    pub drops: Vec<Dropped>,
    /// The reports of transfers to circuits, in order.
    pub words: Vec<Word>,
    /// The first bytes of every arrival, each [`PumpReport::capture_bytes`] long (zeros where the packet is shorter).
    pub capture: Vec<u8>,
    /// Bytes kept of each packet.
    pub capture_bytes: u32,
    /// Packets of no flow, at each edge; they were not passed on.
    pub strays: [u64; 2],
    /// Packets that the devices dropped before the engine saw them.
    pub device_drops: [u64; 2],
    /// How late packets were written.
    pub lateness: Lateness,
    /// When the engine was kept from working for longer than is harmless.
    pub stalls: Stalls,
    /// CPU time of the thread.
    pub cpu: Duration,
    /// How the thread ran, for the manifest: priority, memory, backend.
    pub notes: Vec<String>,
    /// What bends the result.
    pub warnings: Vec<String>,
}

impl PumpReport {
    /// The edge that a route's packets come in at.
    #[must_use]
    pub fn entry(route: u32) -> Side {
        if route.is_multiple_of(2) { Side::Sender } else { Side::Receiver }
    }

    /// Says what bends the result.
    pub(super) fn judge(&mut self, tolerable: Span, harmless: &HarmlessStall) {
        if let Some(p99) = self.lateness.quantile_s(0.99)
            && p99 > tolerable.as_secs_f64()
        {
            self.warnings.push(format!(
                "1% of the packets were written {:.0} us late or more, which distorts the result (up to {tolerable} is \
                 harmless): the machine was too busy",
                p99 * 1e6
            ));
        }
        self.warnings.extend(self.stalls.warning(harmless));
        let lost: u64 = self.device_drops.iter().sum();
        if lost > 0 {
            self.warnings.push(format!(
                "{lost} packets were lost between the kernel and the engine, which no gate dropped"
            ));
        }
        let strays: u64 = self.strays.iter().sum();
        if strays > 0 {
            self.warnings.push(format!("{strays} packets belonged to no flow and were not passed on"));
        }
    }
}
