//! The one real-time thread between the devices.

mod awake;
mod classify;
mod engine;
mod lateness;
mod options;
mod pace;
mod realtime;
mod record;
mod report;
mod slab;
mod stalls;
mod transfers;
mod waiter;

use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::eventfd::{EfdFlags, EventFd};
use tidegate_core::plan::Plan;
use tidegate_core::units::Span;

use crate::lab::{Edge, Lab, Namespace};
use crate::limits::HarmlessStall;
use crate::{Clock, LiveError, limits};
pub use awake::Awake;
pub use classify::Classifier;
use engine::Engine;
pub(crate) use engine::tell;
pub use lateness::{Lateness, LatenessSummary};
pub use options::{Idle, PumpOptions};
use realtime::Wishes;
pub use report::{Arrival, Departure, PumpReport};
pub use stalls::Stalls;
pub use transfers::{Owed, Word};
use waiter::Waiter;

const THREAD: &str = "tidegate-pump";

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
        let tolerable = (limits::tolerable_lateness(plan), limits::harmless_stall(plan));
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
    notes.push(format!("at the end timers woke the thread {} early", engine.ahead.now()));
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
        stalls: engine.stalls,
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
    tolerable: (Span, HarmlessStall),
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
        report.judge(self.tolerable.0, &self.tolerable.1);
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
