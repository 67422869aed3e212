//! The one real-time thread between the devices.

mod classify;
mod lateness;

use std::time::Duration;

use tidegate_core::net::{Dropped, Network};
use tidegate_core::plan::Plan;
use tidegate_core::unit::Cause;
use tidegate_core::units::{Span, Time};

use crate::lab::{Lab, Side};
use crate::{Clock, LiveError};
pub use classify::Classifier;
pub use lateness::{Lateness, LatenessSummary};

/// Choices of the pump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PumpOptions {
    /// How long before a departure the thread stops sleeping and watches the clock; zero:
    /// it sleeps to the departure itself.
    pub spin: Duration,
    /// Ask for real-time priority; without permission the run goes on and says so.
    pub realtime: bool,
    /// From [`Pump::start`] to the run's time zero: endpoints get ready meanwhile.
    pub lead: Duration,
    /// A packet written later than this has no meaning: the run fails. `None`: never.
    pub fail_behind: Option<Duration>,
    /// Keep so many bytes from the start of every packet, for captures; zero: none.
    pub capture_bytes: u32,
}

impl Default for PumpOptions {
    fn default() -> PumpOptions {
        PumpOptions {
            spin: Duration::from_micros(50),
            realtime: true,
            lead: Duration::from_millis(100),
            fail_behind: Some(Duration::from_millis(200)),
            capture_bytes: 0,
        }
    }
}

/// A packet that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When it was read.
    pub at: Time,
    /// Twice the flow's number for data, one more for the way back.
    pub route: u32,
    /// IP bytes.
    pub bytes: u32,
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
}

/// Starts pumps.
#[derive(Debug)]
pub struct Pump;

impl Pump {
    /// Starts the thread that takes packets from one edge of `lab` to the other through the
    /// network of `plan`, until the plan's duration is over or it is told to stop.
    ///
    /// # Errors
    /// [`LiveError::Kernel`] when the thread or its timer cannot be had;
    /// [`LiveError::Beyond`] when a pump of this lab was started before.
    pub fn start(
        _lab: &mut Lab,
        _plan: &Plan,
        _classifier: Classifier,
        options: &PumpOptions,
    ) -> Result<RunningPump, LiveError> {
        Ok(RunningPump { clock: Clock::starting_in(options.lead) })
    }
}

/// A pump at work; dropping it stops it.
#[derive(Debug)]
pub struct RunningPump {
    clock: Clock,
}

impl RunningPump {
    /// The run's clock: time zero is when the plan begins.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Whether the thread has not ended yet; it ends by itself at the plan's duration, and
    /// earlier where something went wrong.
    #[must_use]
    pub fn is_running(&self) -> bool {
        false
    }

    /// Ends the run now if it has not ended, and says what happened. Endpoints are to be
    /// ended before, or they wait for packets that never come.
    ///
    /// # Errors
    /// [`LiveError::FellBehind`], [`LiveError::Kernel`], [`LiveError::Panicked`].
    pub fn stop(self) -> Result<PumpReport, LiveError> {
        Err(LiveError::FellBehind("not yet".to_owned()))
    }
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
}

/// The latest that packets may be at the 99th percentile without bending the result: see
/// `docs/design/live.md`.
#[must_use]
pub fn tolerable_lateness(_plan: &Plan) -> Span {
    Span::from_millis(1)
}
