//! The parts of the table.

#[path = "load.rs"]
mod load;

use std::time::Duration;

use tidegate_core::plan::{Plan, RecordLevel};
use tidegate_core::units::Time;
use tidegate_live::pump::{Awake, LatenessSummary};
use tidegate_live::{Backend, Classifier, Idle, Lab, LabOptions, Pump, PumpOptions, PumpReport, RunOptions};
use tidegate_scenario::Scenario;

use load::{Blast, Bulk};

type Failure = Box<dyn std::error::Error>;

/// IP bytes of a packet of the load, and of a full segment.
const PACKET: u32 = 1500;
const MEGA: f64 = 1e6;

fn tails() -> [Duration; 2] {
    [Duration::ZERO, PumpOptions::default().spin]
}

pub(super) fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let seconds: u64 = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let parts = arguments.next().unwrap_or_else(|| "floor,timing,trip,segment,samples,goodput".to_owned());
    let wanted = |part: &str| parts.split(',').any(|word| word == part);
    println!("{seconds} s each; times in us; load average {}", load_average());
    if wanted("floor") {
        println!(
            "\nthe machine's floor: how late a real-time thread is that only watches the clock; that a 1 ms timer wakes"
        );
        println!("{}", row("only watches the clock", &load::watching(Duration::from_secs(seconds))));
        println!("{}", row("timer, idle processors may halt", &load::floor(Duration::from_secs(seconds))));
        match Awake::ask() {
            Ok(_awake) => {
                println!(
                    "{}",
                    row("timer, idle processors wait awake", &load::floor(Duration::from_secs(seconds)))
                );
            }
            Err(error) => {
                println!("timer: idle processors cannot be kept awake here: /dev/cpu_dma_latency: {error}")
            }
        }
    }
    if wanted("timing") {
        println!(
            "\nhow late packets are written, internal; in brackets the gaps at a receiver against the ideal ones"
        );
        for mbit in [12, 100] {
            for backend in [Backend::Tun, Backend::Packet] {
                for spin in tails() {
                    timing(seconds, mbit, backend, spin)?;
                }
            }
        }
        println!(
            "peers at 12 Mbit/s, measured before on a machine of this kind: gaps p50 / p99 of Mahimahi's mm-link"
        );
        println!("252-259 / 689-690 (whole milliseconds by design), of rattan 3.1-4.3 / 21-59");
    }
    if wanted("trip") {
        println!("\nwhat is added to a round trip over two ways of 5 ms, one ICMP echo at a time");
        for backend in [Backend::Tun, Backend::Packet] {
            for spin in tails() {
                trip(seconds, backend, spin)?;
            }
        }
    }
    if wanted("segment") {
        println!(
            "\nCPU of the engine's thread for each data segment, ACKs and the kernel's receiving included; of all threads"
        );
        for backend in [Backend::Tun, Backend::Packet] {
            for spin in tails() {
                tcp(seconds, Some(12), backend, spin)?;
            }
        }
    }
    if wanted("samples") {
        println!(
            "\nCPU of whole runs at 12 Mbit/s by how often TCP_INFO is read: the engine's for each data segment, of all threads"
        );
        for record in ["summary", "events"] {
            samples(seconds, record)?;
        }
    }
    if wanted("goodput") {
        println!("\none direction of real TCP as fast as it goes, real-size segments, through a plain gate");
        for backend in [Backend::Tun, Backend::Packet] {
            tcp(seconds, None, backend, Duration::ZERO)?;
        }
        println!(
            "peers, measured before: mm-link 0.71 loaded, 2.0 and 2.5 quiet; rattan 1.0 loaded, 1.4 and 1.6 quiet (Gbit/s)"
        );
    }
    Ok(())
}

fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}

fn plan(seconds: u64, rate: &str) -> Result<Plan, Failure> {
    let text = format!(
        "duration = \"{seconds} s\"\n[gate.link]\nrate = \"{rate}\"\nqueue = \"400 packets\"\n\
         [flow.load]\npath = [\"link\"]\nrtt = \"0 s\"\napp = \"bulk\"\n"
    );
    Ok(Scenario::from_toml(&text, "timing.toml", None, &[])?.plan(Some(1), 0))
}

/// The third argument; what engages where packets are few unless told otherwise, here everywhere
/// where timing is measured.
fn idle() -> Idle {
    match std::env::args().nth(3).as_deref() {
        Some("awake") => Idle::Awake,
        Some("halts") => Idle::Halts,
        _ => Idle::Auto,
    }
}

fn options(spin: Duration) -> PumpOptions {
    PumpOptions { spin, idle: idle(), fail_behind: None, ..PumpOptions::default() }
}

/// Constant-rate packets at 1.25 times the link's rate.
fn timing(seconds: u64, mbit: u32, backend: Backend, spin: Duration) -> Result<(), Failure> {
    let plan = plan(seconds, &format!("{mbit} Mbit/s"))?;
    let mut lab = Lab::new(&plan, backend, &LabOptions::default())?;
    let pump = Pump::start(&mut lab, &plan, Classifier::Ports { flows: 1 }, &options(spin))?;
    let gap = f64::from(PACKET) * 8.0 / (f64::from(mbit) * MEGA);
    let blast = Blast::start(&lab, pump.clock(), Duration::from_secs_f64(gap / 1.25))?;
    pump.clock().sleep_until(plan.duration);
    let gaps = blast.stop(gap)?;
    let report = pump.stop()?;
    let name = format!("{mbit} Mbit/s, {backend}, {}", tail(spin));
    let [p50, p99] = gaps.map(|error| error * MEGA);
    println!("{} [{p50:.1} {p99:.1}] {}", row(&name, &report.lateness.summary()), cpu(&report));
    warn(&report);
    Ok(())
}

/// A packet there and back, again and again.
fn trip(seconds: u64, backend: Backend, spin: Duration) -> Result<(), Failure> {
    let text = format!(
        "duration = \"{seconds} s\"\n[gate.way]\ndelay = \"5 ms\"\n\
         [flow.echo]\npath = [\"way\"]\nrtt = \"10 ms\"\napp = \"bulk\"\n"
    );
    let plan = Scenario::from_toml(&text, "trip.toml", None, &[])?.plan(Some(1), 0);
    let mut lab = Lab::new(&plan, backend, &LabOptions::default())?;
    // Nothing bounds an echo's rate, but there is one at a time.
    let idle = if idle() == Idle::Auto { Idle::Awake } else { idle() };
    let options = PumpOptions { idle, ..options(spin) };
    let pump = Pump::start(&mut lab, &plan, Classifier::Everything { flow: 0 }, &options)?;
    let added = load::echo(&lab, pump.clock(), plan.duration, Duration::from_millis(10))?;
    pump.stop()?;
    println!("{}", row(&format!("{backend}, {}", tail(spin)), &added));
    Ok(())
}

fn tcp(seconds: u64, mbit: Option<u32>, backend: Backend, spin: Duration) -> Result<(), Failure> {
    let rate = mbit.map_or_else(|| "unlimited".to_owned(), |mbit| format!("{mbit} Mbit/s"));
    let plan = plan(seconds, &rate)?;
    let mut lab = Lab::new(&plan, backend, &LabOptions::default())?;
    lab.sender().set_sysctl("net.ipv4.tcp_congestion_control", "reno")?;
    let pump = Pump::start(&mut lab, &plan, Classifier::Ports { flows: 1 }, &options(spin))?;
    let before = load::process_cpu()?;
    let bulk = Bulk::start(&lab)?;
    pump.clock().sleep_until(plan.duration);
    let bytes = bulk.stop();
    let report = pump.stop()?;
    let all = per_data_packet(load::process_cpu()? - before, &report);
    let goodput = bytes as f64 * 8.0 / plan.duration.as_secs_f64() / 1e9;
    let name = format!("{rate}, {backend}, {}", tail(spin));
    println!("{name:36} {goodput:.4} Gbit/s, {}; {all:.1} us with both programs", cpu(&report));
    warn(&report);
    Ok(())
}

/// A whole run, as `tidegate run --engine live` makes it.
fn samples(seconds: u64, record: &str) -> Result<(), Failure> {
    let mut plan = plan(seconds, "12 Mbit/s")?;
    plan.record.level = if record == "events" { RecordLevel::Events } else { RecordLevel::Summary };
    let pump = PumpOptions { idle: idle(), ..PumpOptions::default() };
    let before = load::process_cpu()?;
    let run = tidegate_live::run(&plan, &RunOptions { pump, ..RunOptions::default() }, &mut |_| true)?;
    let all = per_data_packet(load::process_cpu()? - before, &run.report);
    let name = format!("every {} ms, record = \"{record}\"", run.details.sample_every_ms);
    println!("{name:36} {}; {all:.1} us", cpu(&run.report));
    Ok(())
}

fn tail(spin: Duration) -> String {
    let PumpOptions { spin_most, lead_most, .. } = options(spin);
    if spin.is_zero() {
        format!("no tail, lead to {} us", lead_most.as_micros())
    } else {
        format!("tail {} to {} us", spin.as_micros(), spin_most.as_micros())
    }
}

fn warn(report: &PumpReport) {
    for warning in report.warnings.iter().filter(|text| text.contains("lost") || text.contains("priority")) {
        println!("    {warning}");
    }
}

/// CPU time for each data packet that was written.
fn cpu(report: &PumpReport) -> String {
    let each = per_data_packet(report.cpu, report);
    let share = report.cpu.as_secs_f64() / report.ended.as_secs_f64() * 100.0;
    format!("{each:.1} us CPU a data packet, {share:.0}% of a core")
}

fn per_data_packet(cpu: Duration, report: &PumpReport) -> f64 {
    let data = report.departures.iter().filter(|gone| gone.route.is_multiple_of(2)).count();
    cpu.as_secs_f64() / data as f64 * MEGA
}

fn row(name: &str, late: &LatenessSummary) -> String {
    let of =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |seconds| format!("{:.1}", seconds * MEGA));
    let (p50, p99, p999, max) = (of(late.p50_s), of(late.p99_s), of(late.p999_s), of(late.max_s));
    format!("{name:36} p50 {p50:>6}  p99 {p99:>7}  p99.9 {p999:>7}  max {max:>8}")
}

/// Time zero plus a span of real time.
pub(crate) fn after(time: Time, span: Duration) -> Time {
    Time::from_picos(time.picos() + span.as_nanos() as u64 * 1000)
}
