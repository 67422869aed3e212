//! A whole run: lab, engine, endpoints, and the same result as the simulator's.

use std::time::Duration;

use serde::Serialize;
use tidegate_core::net::{Dropped, seed, start_time};
use tidegate_core::plan::{Plan, RecordLevel};
use tidegate_core::units::{Span, Time};
use tidegate_result::{RunResult, class_histories, not_done, slot_bps};

use crate::endpoints::{self, EndReport, Endpoints, Heard, Stack};
use crate::lab::{Backend, Lab, LabOptions, Work};
use crate::progress::Progress;
use crate::pump::{Classifier, Pump, PumpOptions, PumpReport};
use crate::rows::{self, States};
use crate::verify::{self, Verified};
use crate::{LiveError, capture, limits, segment, until_done, userns, wire};

/// How often the caller is asked whether to go on.
const REVIEW: Duration = Duration::from_millis(20);
/// The state of senders is read so often at most and at least.
const SAMPLES: [Span; 2] = [Span::from_millis(1), Span::from_millis(10)];
/// Reading the state of one sender, generously: a thread that reads them all must keep up.
const READING: Span = Span::from_micros(10);

/// Choices of a run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// How packets come out of the kernel.
    pub backend: Backend,
    /// Which processor does what.
    pub work: Work,
    /// See [`PumpOptions`]; `capture_bytes` and `progress` are chosen by the run.
    pub pump: PumpOptions,
    /// Where rows are told while the run lasts.
    pub progress: Option<Progress>,
}

/// What a live run gives.
#[derive(Debug)]
pub struct LiveRun {
    /// As the simulator gives it.
    pub result: RunResult,
    /// What only a live run has, for the manifest.
    pub details: Details,
    /// The engine's own report, for replays and captures; its network has given away its histories.
    pub report: PumpReport,
}

/// What only a live run has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Details {
    /// The kernel's release.
    pub kernel: String,
    /// How the engine ran.
    pub notes: Vec<String>,
    /// How late packets were written.
    pub lateness: Late,
    /// CPU time of the engine's thread.
    pub engine_cpu_s: f64,
    /// Packets of no flow that the engine saw, at the sender's and the receiver's edge.
    pub strays: [u64; 2],
    /// The time between two readings of the senders' state, and the share of readings that were made.
    pub sample_every_ms: f64,
    /// See `sample_every_ms`.
    pub samples_made: f64,
    /// What was set and found in force, by flow.
    pub verified: Vec<Verified>,
}

/// Lateness of packets in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Late {
    /// Packets written.
    pub packets: u64,
    /// Median.
    pub p50_us: Option<f64>,
    /// 99th percentile.
    pub p99_us: Option<f64>,
    /// 99.9th percentile.
    pub p999_us: Option<f64>,
    /// The latest.
    pub max_us: Option<f64>,
    /// How often the engine was kept from working for longer than is harmless, and what is harmless.
    pub stalls: u32,
    /// See `stalls`.
    pub harmless_stall_us: f64,
}

/// Runs a plan in real time with the kernel's TCP. `go_on` is asked every few milliseconds;
/// when it says no the run ends without a result.
///
/// # Errors
/// [`LiveError::Beyond`] for a plan that the engine cannot honour, [`LiveError::NotPermitted`],
/// [`LiveError::Interrupted`] when `go_on` says no, and what goes wrong on the way.
pub fn run(
    plan: &Plan,
    options: &RunOptions,
    go_on: &mut dyn FnMut(Time) -> bool,
) -> Result<LiveRun, LiveError> {
    if plan.flows.is_empty() {
        return Err(LiveError::Beyond("the scenario has no flow, and the live engine needs one".to_owned()));
    }
    userns::check()?;
    let stack = Stack::new(plan, &endpoints::usable, &endpoints::available()?)?;
    let lab_options =
        LabOptions { gso_segments: stack.gso_segments, work: options.work, ..LabOptions::default() };
    let mut lab = Lab::new(plan, options.backend, &lab_options)?;
    let prepared = endpoints::prepare(&lab, plan, stack)?;
    let every = sampling(plan);
    let mut telling = options.progress.clone().map(|progress| rows::TellingFlows::new(progress, plan, every));
    let heard: Heard = Box::new(move |sample, delivered| {
        if let Some(telling) = &mut telling {
            telling.tell(sample, delivered);
        }
    });
    let progress = options.progress.clone();
    let pump_options = PumpOptions { capture_bytes: segment::ENOUGH, progress, ..options.pump.clone() };
    let classifier = Classifier::Ports { flows: plan.flows.len() as u16 };
    let pump = Pump::start(&mut lab, plan, classifier, &pump_options)?;
    let clock = pump.clock();
    let ends = Endpoints::start(&lab, plan, prepared, (clock, pump.owed()), (every, heard))?;
    let is_done = || plan.until_done && ends.open(plan) == 0;
    while pump.is_running() && ends.are_running() && !is_done() {
        std::thread::sleep(REVIEW);
        if !go_on(clock.now()) {
            ends.stop()?;
            pump.stop()?;
            return Err(LiveError::Interrupted);
        }
    }
    let open = ends.open(plan);
    let done = is_done();
    let seen = ends.stop()?;
    let report = pump.stop()?;
    if done {
        let (shorter, seen, report) = until_done::cut(plan, seen, report);
        return Ok(assemble(&shorter, seen, report, every));
    }
    if report.ended < plan.duration {
        return Err(LiveError::FellBehind(format!("the run ended at {} of {}", report.ended, plan.duration)));
    }
    let mut run = assemble(plan, seen, report, every);
    if plan.until_done {
        run.result.summary.warnings.push(not_done(plan, open));
    }
    Ok(run)
}

/// How often the state of senders is read: as often as rows are asked for, within bounds.
fn sampling(plan: &Plan) -> Span {
    let [least, most] = SAMPLES;
    let all = READING.saturating_mul(plan.flows.len() as u64);
    let asked = match plan.record.level {
        RecordLevel::Events => least,
        RecordLevel::Summary => most,
        RecordLevel::Every(every) => {
            let parts = every.picos().div_ceil(most.picos()).max(1);
            Span::from_picos(every.picos() / parts)
        }
    };
    asked.max(least).max(all)
}

fn assemble(plan: &Plan, seen: EndReport, mut report: PumpReport, every: Span) -> LiveRun {
    let root = seed(plan);
    let starts: Vec<Time> = plan
        .flows
        .iter()
        .map(|flow| start_time(root, &format!("flow.{}/start", flow.name), flow.start))
        .collect();
    let states = States::new(&seen, plan);
    let flows = wire::read(plan, &report, &starts, &|flow, at| states.held_by(flow, at));
    let rows = rows::summaries(plan, (&seen, &flows), &states, &starts, &kernel());
    let events = report.network.events_handled();
    let mut summary = tidegate_result::summarise(
        "live",
        plan,
        &report.network,
        rows,
        rows::requests(plan, &seen, &starts),
        events,
    );
    let verified = verify::verify(plan, &seen, &flows);
    summary.warnings.extend(seen.stack.warnings.iter().cloned());
    summary.warnings.extend(verified.iter().flat_map(|flow| flow.warnings.iter().cloned()));
    summary.warnings.extend(report.warnings.iter().cloned());
    summary.warnings.extend(rows::sampling_warning(plan, every));
    let recorded = plan.record.level != RecordLevel::Summary;
    let until = plan.duration;
    let mut drops: Vec<Dropped> = if recorded { report.drops.clone() } else { Vec::new() };
    drops.retain(|dropped| dropped.at < until);
    drops.sort_by_key(Dropped::place);
    let classes = class_histories(plan, report.network.gates_mut());
    let gates = report.network.gates_mut().iter_mut();
    let gates = gates.map(|gate| gate.take_history().unwrap_or_default()).collect();
    let result = RunResult {
        groups: vec![],
        summary,
        gates,
        classes,
        slot_bps: plan.gates.iter().map(slot_bps).collect(),
        flows: rows::histories(plan, &flows, &states, every),
        drops,
        marks: if recorded { states.marks() } else { Vec::new() },
        advice: None,
        segments: if recorded { rows::segments(plan, &seen, &starts) } else { Vec::new() },
        requests: if recorded { seen.requests.clone() } else { vec![Vec::new(); plan.flows.len()] },
        packets: Vec::new(),
    };
    let late = report.lateness.summary();
    let micros = |seconds: Option<f64>| seconds.map(|seconds| seconds * 1e6);
    let details = Details {
        kernel: kernel(),
        notes: report.notes.clone(),
        lateness: Late {
            packets: late.packets,
            p50_us: micros(late.p50_s),
            p99_us: micros(late.p99_s),
            p999_us: micros(late.p999_s),
            max_us: micros(late.max_s),
            stalls: report.stalls.count,
            harmless_stall_us: limits::harmless_stall(plan).span.as_secs_f64() * 1e6,
        },
        engine_cpu_s: report.cpu.as_secs_f64(),
        strays: report.strays,
        sample_every_ms: every.as_secs_f64() * 1e3,
        samples_made: samples_made(&seen, plan, every),
        verified,
    };
    LiveRun { result, details, report }
}

/// Ticks that were not slept through, of those since the first one of any flow.
fn samples_made(seen: &EndReport, plan: &Plan, every: Span) -> f64 {
    let mut ticks: Vec<u64> = seen.samples.iter().map(|sample| sample.tick).collect();
    ticks.dedup();
    let Some(first) = ticks.first() else { return 0.0 };
    let all = (plan.duration.picos().saturating_sub(1) / every.picos().max(1)).saturating_sub(first - 1);
    if all == 0 { 1.0 } else { ticks.len() as f64 / all as f64 }
}

fn kernel() -> String {
    nix::sys::utsname::uname()
        .map_or_else(|_| "unknown".to_owned(), |name| name.release().to_string_lossy().into_owned())
}

impl LiveRun {
    /// Writes every packet that one edge saw as a pcap file: the kernel's own headers, cut off
    /// after them.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_pcap(&self, seen: crate::Side, out: impl std::io::Write) -> std::io::Result<()> {
        capture::write(&self.report, seen, out)
    }
}
