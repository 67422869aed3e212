//! Any program across the gates: everything that comes to it and goes from it passes the first
//! flow's two ways.

use std::ffi::OsString;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use tidegate_core::plan::{Plan, RecordLevel};
use tidegate_core::units::{Span, Time};

use crate::LiveError;
use crate::lab::{Backend, Lab, LabOptions, Nat, Side};
use crate::pump::{Classifier, Idle, LatenessSummary, Pump, PumpOptions, PumpReport, RunningPump};

/// How often the program is looked at.
const REVIEW: Duration = Duration::from_millis(20);
/// The duration of a shell's plan: longer than any shell is used.
const FOR_EVER: Span = Span::from_secs(30 * 86_400);

/// Choices of a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellOptions {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// A command for `sh` at the other end, which then is a namespace of its own and not the
    /// machine; ended when the program ends.
    pub peer: Option<String>,
    /// The program is the flow's sender; otherwise it is the receiver, and what it receives
    /// passes the flow's `path`.
    pub uploads: bool,
    /// This machine sends the program's packets on into the world, under its own address.
    pub nat: bool,
}

/// What became of a shell.
#[derive(Clone, Debug)]
pub struct ShellReport {
    /// How the program ended.
    pub status: ExitStatus,
    /// How late packets were written.
    pub lateness: LatenessSummary,
    /// Packets that the gates dropped.
    pub dropped: u64,
    /// What bends what the program saw.
    pub warnings: Vec<String>,
}

/// Runs a program across the gates of the plan's first flow, until it ends. `go_on` is asked every
/// few milliseconds; when it says no the program is ended.
///
/// # Errors
/// As [`crate::run`]; [`LiveError::Kernel`] where the program cannot be started.
pub fn shell(
    plan: &Plan,
    options: &ShellOptions,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<ShellReport, LiveError> {
    if plan.flows.is_empty() {
        return Err(LiveError::Beyond(
            "the scenario has no flow whose gates the program could pass".to_owned(),
        ));
    }
    let inside = if options.uploads { Side::Sender } else { Side::Receiver };
    let outside = options.peer.is_none().then_some(inside.other());
    let lab_options = LabOptions { outside, ..LabOptions::default() };
    let backend = if outside.is_some() { Backend::Tun } else { Backend::Auto };
    let plan = lasting(plan);
    let mut lab = Lab::new(&plan, backend, &lab_options)?;
    lab.side(inside).set_default_route()?;
    if options.nat && outside.is_none() {
        return Err(LiveError::Beyond("with a peer at the other end there is no world behind it".to_owned()));
    }
    let nat = options.nat.then(|| Nat::new(lab.side(inside.other()), inside.address())).transpose()?;
    // It may last for hours, mostly idle.
    let pump_options =
        PumpOptions { lead: Duration::ZERO, fail_behind: None, idle: Idle::Halts, ..PumpOptions::default() };
    let pump = Pump::start(&mut lab, &plan, Classifier::Everything { flow: 0 }, &pump_options)?;
    let ended = work(&lab, inside, options, &pump, go_on);
    drop(nat);
    let report = pump.stop()?;
    Ok(told(ended?, &report))
}

/// The plan without an end and without recordings.
fn lasting(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.duration = Time::ZERO.saturating_add(FOR_EVER);
    plan.warmup = Time::ZERO;
    plan.record.level = RecordLevel::Summary;
    plan.record.packets = false;
    plan
}

fn work(
    lab: &Lab,
    inside: Side,
    options: &ShellOptions,
    pump: &RunningPump,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<ExitStatus, LiveError> {
    let mut peer = None;
    if let Some(text) = &options.peer {
        let mut command = Command::new("sh");
        command.arg("-c").arg(text).stdin(Stdio::null());
        peer = Some(Ended(start(lab, inside.other(), command, text)?));
    }
    let (program, arguments) = options
        .command
        .split_first()
        .ok_or_else(|| LiveError::Beyond("there is no program to run".to_owned()))?;
    let mut command = Command::new(program);
    command.args(arguments);
    let mut child = Ended(start(lab, inside, command, &program.to_string_lossy())?);
    let status = loop {
        let looked = child.0.try_wait().map_err(|error| LiveError::kernel("wait for the program", error))?;
        if let Some(status) = looked {
            break status;
        }
        if !go_on() {
            return Err(LiveError::Interrupted);
        }
        if !pump.is_running() {
            return Err(LiveError::FellBehind("the engine ended before the program".to_owned()));
        }
        std::thread::sleep(REVIEW);
    };
    drop(peer);
    Ok(status)
}

fn start(lab: &Lab, side: Side, mut command: Command, name: &str) -> Result<Child, LiveError> {
    lab.side(side).place(&mut command);
    command.spawn().map_err(|error| LiveError::kernel(format!("start \"{name}\""), error))
}

/// A process that does not outlive its owner.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn told(status: ExitStatus, report: &PumpReport) -> ShellReport {
    ShellReport {
        status,
        lateness: report.lateness.summary(),
        dropped: report.drops.len() as u64,
        warnings: report.warnings.clone(),
    }
}
