//! The one real-time thread between the devices.

mod awake;
mod classify;
mod engine;
mod lateness;
mod pace;
mod realtime;
mod record;
mod slab;
mod transfers;
mod waiter;

use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::eventfd::{EfdFlags, EventFd};
use tidegate_core::net::{Dropped, Network};
use tidegate_core::plan::Plan;
use tidegate_core::unit::Cause;
use tidegate_core::units::{Span, Time};

use crate::lab::{Edge, Lab, Namespace, Side};
use crate::{Clock, LiveError, limits};
pub use awake::Awake;
pub use classify::Classifier;
use engine::Engine;
pub(crate) use engine::tell;
pub use lateness::{Lateness, LatenessSummary};
use realtime::Wishes;
pub use transfers::{Owed, Word};
use waiter::Waiter;

const THREAD: &str = "tidegate-pump";

/// Whether idle processors of the machine may halt while a run lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Idle {
    /// [`Idle::Awake`], but [`Idle::Halts`] where the plan's packets are so many that the engine
    /// hardly sleeps ([`limits::is_fast`]): there a processor that waits awake takes from its
    /// neighbour and nobody waits for it.
    #[default]
    Auto,
    /// They wait awake, where this process may ask for it: timers and programs wake up sooner,
    /// and the machine takes the power of one that works.
    Awake,
    /// As the system likes.
    Halts,
}

/// Choices of the pump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PumpOptions {
    /// How long before a departure the thread stops sleeping and watches the clock, at the
    /// least; zero: no tail.
    pub spin: Duration,
    /// The longest that it may become where the machine's timers wake the thread later than
    /// that.
    pub spin_most: Duration,
    /// Without a spin tail: the most that the thread has itself woken early, by as much as this
    /// machine's timers are late every other time; zero: it sleeps to the departure itself.
    pub lead_most: Duration,
    /// Whether idle processors may halt.
    pub idle: Idle,
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
            spin: Duration::from_micros(30),
            spin_most: Duration::from_micros(200),
            lead_most: Duration::from_micros(50),
            idle: Idle::Auto,
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
        lab: &mut Lab,
        plan: &Plan,
        classifier: Classifier,
        options: &PumpOptions,
    ) -> Result<RunningPump, LiveError> {
        let mut warnings = limits::check(plan)?;
        let edges = lab.edges.take().ok_or_else(|| {
            LiveError::Beyond("a lab serves one run: make a new one for the next".to_owned())
        })?;
        let stop = Arc::new(
            EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)
                .map_err(|error| LiveError::kernel("make a way to stop the engine", error))?,
        );
        let waiter = Waiter::new([edges[0].as_fd(), edges[1].as_fd()], stop.clone())?;
        let clock = Clock::starting_in(options.lead);
        let engine = Engine::new(plan, edges, lab.mtu(), (clock, waiter), classifier, options);
        let owed = engine.transfers.owed();
        let wishes = Wishes {
            realtime: options.realtime,
            awake: match options.idle {
                Idle::Auto => !limits::is_fast(plan),
                Idle::Awake => true,
                Idle::Halts => false,
            },
            division: lab.division.clone(),
        };
        let mut notes = vec![format!("backend {}, MTU {} B", lab.backend(), lab.mtu())];
        notes.push(match options.spin {
            Duration::ZERO => format!("no spin tail, a lead of {} us at most", options.lead_most.as_micros()),
            spin if spin >= options.spin_most => format!("a spin tail of {} us", spin.as_micros()),
            spin => format!("a spin tail of {} to {} us", spin.as_micros(), options.spin_most.as_micros()),
        });
        notes.append(&mut lab.notes);
        let thread = std::thread::Builder::new()
            .name(THREAD.to_owned())
            .spawn(move || work(engine, &wishes, (notes, std::mem::take(&mut warnings))))
            .map_err(|error| LiveError::kernel("start the engine's thread", error))?;
        let namespaces = [lab.sender().clone(), lab.receiver().clone()];
        let tolerable = limits::tolerable_lateness(plan);
        Ok(RunningPump { clock, stop, thread: Some(thread), namespaces, tolerable, owed })
    }
}

type Words = (Vec<String>, Vec<String>);
/// The edges outlive the thread: with them go the devices and their counters.
type Outcome = (Result<PumpReport, LiveError>, [Edge; 2]);

/// The thread's whole life.
fn work(mut engine: Engine, wishes: &Wishes, (mut notes, mut warnings): Words) -> Outcome {
    let granted = realtime::ask(wishes);
    notes.extend(granted.notes.iter().cloned());
    warnings.extend(granted.warnings.iter().cloned());
    let before = realtime::cpu_time();
    let run = engine.run();
    let cpu = realtime::cpu_time().saturating_sub(before);
    engine.network.finish();
    let report = run.map(|ended| PumpReport {
        network: engine.network,
        ended,
        arrivals: engine.recording.arrivals,
        departures: engine.recording.departures,
        drops: engine.recording.drops,
        words: engine.recording.words,
        capture: engine.recording.capture,
        capture_bytes: engine.recording.capture_bytes,
        strays: engine.strays,
        device_drops: [0; 2],
        lateness: engine.lateness,
        cpu,
        notes,
        warnings,
    });
    (report, engine.edges)
}

/// A pump at work; dropping it stops it.
#[derive(Debug)]
pub struct RunningPump {
    clock: Clock,
    stop: Arc<EventFd>,
    thread: Option<JoinHandle<Outcome>>,
    namespaces: [Namespace; 2],
    tolerable: Span,
    owed: Arc<Owed>,
}

impl RunningPump {
    /// The run's clock: time zero is when the plan begins.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Where the ends say what they owe each other, which circuits depend on. Where nobody
    /// does, a circuit is only ever opened by packets, and held as its plan says.
    #[must_use]
    pub fn owed(&self) -> Arc<Owed> {
        Arc::clone(&self.owed)
    }

    /// Whether the thread has not ended yet; it ends by itself at the plan's duration, and
    /// earlier where something went wrong.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Ends the run now if it has not ended, and says what happened. Endpoints are to be
    /// ended before, or they wait for packets that never come.
    ///
    /// # Errors
    /// [`LiveError::FellBehind`], [`LiveError::Kernel`], [`LiveError::Panicked`].
    pub fn stop(mut self) -> Result<PumpReport, LiveError> {
        self.tell_to_stop();
        self.report()
    }

    /// Waits for the end of the plan and says what happened.
    ///
    /// # Errors
    /// As [`RunningPump::stop`].
    pub fn wait(mut self) -> Result<PumpReport, LiveError> {
        self.report()
    }

    fn tell_to_stop(&self) {
        // It can only fail when it has been told 2^64 - 2 times before.
        let _ = self.stop.write(1);
    }

    fn report(&mut self) -> Result<PumpReport, LiveError> {
        let panicked = || LiveError::Panicked(THREAD.to_owned());
        let thread = self.thread.take().ok_or_else(panicked)?;
        let (report, edges) = thread.join().map_err(|_panic| panicked())?;
        let mut report = report?;
        let ends = edges.iter().zip(&self.namespaces);
        for (drops, (edge, namespace)) in report.device_drops.iter_mut().zip(ends) {
            let lost = edge.lost().map_err(|error| LiveError::kernel("count lost packets", error))?;
            *drops = namespace.device_drops()? + lost;
        }
        drop(edges);
        report.judge(self.tolerable);
        Ok(report)
    }
}

impl Drop for RunningPump {
    fn drop(&mut self) {
        self.tell_to_stop();
        if let Some(thread) = self.thread.take() {
            // Whoever drops it does not want to know.
            let _ = thread.join();
        }
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
    /// What circuits were told of transfers, in order.
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
    fn judge(&mut self, tolerable: Span) {
        if let Some(p99) = self.lateness.quantile_s(0.99)
            && p99 > tolerable.as_secs_f64()
        {
            self.warnings.push(format!(
                "1% of the packets were written {:.0} us late or later, which bends the result (up to {tolerable} does \
                 not); the machine was too busy",
                p99 * 1e6
            ));
        }
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
