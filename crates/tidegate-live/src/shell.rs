//! Any program across the gates: everything that comes to it and goes from it passes the first
//! flow's two ways.

use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tidegate_core::plan::{Plan, RecordLevel, TransportPlan};
use tidegate_core::units::{Span, Time};

use crate::lab::{Backend, Lab, LabOptions, Nat, Side, address_of};
use crate::pump::{Arrival, Classifier, Idle, LatenessSummary, Pump, PumpOptions, PumpReport, RunningPump};
use crate::{LiveError, capture, segment, userns};

/// How often the program is looked at.
const REVIEW: Duration = Duration::from_millis(20);
/// Bytes of an IPv4 header without options (RFC 791 §3.1).
const IPV4_HEADER: u32 = 20;
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
    /// Keep the headers of every packet, for [`ShellReport::write_pcap`].
    pub packets: bool,
}

/// What became of a shell.
#[derive(Debug)]
pub struct ShellReport {
    /// How the program ended.
    pub status: ExitStatus,
    /// How late packets were written.
    pub lateness: LatenessSummary,
    /// Packets that the gates dropped.
    pub dropped: u64,
    /// Packets of the program for hosts beyond the other end, which went nowhere: there is no [`ShellOptions::nat`].
    pub astray: u64,
    /// Every packet, with when it came, left or was dropped.
    pub report: PumpReport,
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
    let rootless = userns::has_entered();
    if rootless && options.nat {
        return Err(LiveError::Beyond("without root there is no way to this machine's network".to_owned()));
    }
    let outside = (options.peer.is_none() && !rootless).then_some(inside.other());
    let lab_options = LabOptions { outside, ..LabOptions::default() };
    let backend = if outside.is_some() { Backend::Tun } else { Backend::Auto };
    let plan = lasting(plan);
    let mut lab = Lab::new(&plan, backend, &lab_options)?;
    lab.side(inside).set_default_route()?;
    if options.nat && outside.is_none() {
        return Err(LiveError::Beyond("with a peer at the other end there is no world behind it".to_owned()));
    }
    let nat = options.nat.then(|| Nat::new(lab.side(inside.other()), address_of(inside))).transpose()?;
    // It may last for hours, mostly idle.
    let pump_options = PumpOptions {
        lead: Duration::ZERO,
        fail_behind: None,
        idle: Idle::Halts,
        capture_bytes: if options.packets { segment::ENOUGH } else { IPV4_HEADER },
        ..PumpOptions::default()
    };
    let pump = Pump::start(&mut lab, &plan, Classifier::Everything { flow: 0 }, &pump_options)?;
    let ended = work(&lab, inside, options, &pump, go_on);
    drop(nat);
    let report = pump.stop()?;
    let world = options.nat || options.peer.is_some();
    let astray = if world { 0 } else { beyond(&report, inside) };
    Ok(told(ended?, report, astray))
}

/// The plan without an end and without recordings. Whatever transport its flows name, the program brings its own.
fn lasting(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    for flow in &mut plan.flows {
        flow.transport = TransportPlan::Tcp;
    }
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
        // A group of its own: what the shell starts ends with it, and Ctrl-C is the program's.
        command.arg("-c").arg(text).stdin(Stdio::null()).process_group(0);
        peer = Some(EndedGroup(start(lab, inside.other(), command, text)?));
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

/// A process that does not outlive its owner, with every process of the group that it leads.
struct EndedGroup(Child);

impl Drop for EndedGroup {
    fn drop(&mut self) {
        // None may be left; then there is nothing to do.
        let _ = killpg(Pid::from_raw(self.0.id() as i32), Signal::SIGKILL);
        let _ = self.0.wait();
    }
}

fn told(status: ExitStatus, report: PumpReport, astray: u64) -> ShellReport {
    ShellReport {
        status,
        lateness: report.lateness.summary(),
        dropped: report.drops.len() as u64,
        warnings: report.warnings.clone(),
        astray,
        report,
    }
}

/// Packets that came from `inside` for another host than the other end (RFC 791 §3.1: where the addresses stand); what
/// is for many hosts counts for none.
fn beyond(report: &PumpReport, inside: Side) -> u64 {
    let stride = report.capture_bytes as usize;
    let there = address_of(inside.other());
    let counts = |(number, arrival): (usize, &Arrival)| {
        let packet = &report.capture[number * stride..][..stride];
        let is_ipv4 = packet[0] >> 4 == 4;
        let to = Ipv4Addr::new(packet[16], packet[17], packet[18], packet[19]);
        let is_own = to == there || to.is_multicast() || to.is_broadcast();
        PumpReport::entry(arrival.route) == inside && is_ipv4 && !is_own
    };
    report.arrivals.iter().enumerate().filter(|one| counts(*one)).count() as u64
}

impl ShellReport {
    /// Writes every packet that the program's edge saw as a pcap file, if they were kept.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_pcap(&self, seen: Side, out: impl std::io::Write) -> std::io::Result<()> {
        capture::write(&self.report, seen, out)
    }
}
