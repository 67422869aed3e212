//! Real TCP through gates.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a test says what it measured")]

#[macro_use]
mod common;

use std::time::Duration;

use common::{Bulk, lab, plan, pump_options};
use tidegate_core::plan::Plan;
use tidegate_core::units::{Span, Time};
use tidegate_live::replay::replay;
use tidegate_live::{Backend, Classifier, LiveError, Pump, PumpOptions, PumpReport};

const LINK: &str = r#"
duration = "2 s"
[gate.link]
rate = "12 Mbit/s"
queue = "50 packets"
delay = "10 ms"
[flow.bulk]
path = ["link"]
rtt = "20 ms"
app = "bulk"
"#;

/// Everything that lies between the edges: cells that several circuits share, rates that follow
/// what comes and what is fed back, losses, background traffic, a way back with a queue of its own.
const MUCH: &str = r#"
duration = "2 s"
[gate.host]
per = "flow"
framing = "aal5"
rate = "40 Mbit/s"
[gate.sender]
rate.follow.gate = "radio"
rate.follow.every = "20 ms"
rate.follow.initial = "5 Mbit/s"
rate.follow.peak = "9 Mbit/s"
[gate.spacer]
framing = "aal5"
rate.steps = [["0 s", "15 Mbit/s"], ["1 s", "5 Mbit/s"]]
queue = "600 cells"
delay = "0.9 ms"
[gate.radio]
rate.markov.rates = ["10 Mbit/s", "4 Mbit/s"]
rate.markov.mean_holding = ["100 ms", "50 ms"]
queue = "60 packets"
loss = 0.002
delay = "3 ms"
[gate.channel]
rate.dtm.slot = "512 kbit/s"
rate.dtm.initial = "10 Mbit/s"
rate.dtm.measure = "20 ms"
rate.dtm.update = "200 ms"
queue = "40 packets"
[gate.return]
rate = "1 Mbit/s"
delay = "2 ms"
[flow.bulk]
count = 3
path = ["host", "spacer", "sender", "radio", "channel"]
back = ["return"]
app = "bulk"
[traffic.cross]
path = ["radio"]
source.constant = { rate = "1 Mbit/s", packet = "700 B" }
[record]
every = "10 ms"
"#;

/// Runs bulk flows; bytes received, the report, the plan.
fn run(toml: &str, backend: Backend) -> Option<(u64, PumpReport, Plan)> {
    let plan = plan(toml);
    let mut lab = lab(&plan, backend)?;
    let flows = plan.flows.len();
    let ports = Classifier::Ports { flows: flows as u16 };
    let pump = Pump::start(&mut lab, &plan, ports, &pump_options()).unwrap();
    let flows: Vec<Bulk> = (0..flows).map(|flow| Bulk::start(&lab, flow)).collect();
    pump.clock().sleep_until(plan.duration);
    let bytes = flows.into_iter().map(Bulk::stop).sum();
    let report = pump.stop().unwrap();
    eprintln!("{bytes} bytes, {:?}, CPU {:?}", report.lateness.summary(), report.cpu);
    eprintln!("{:?}, {:?}", report.notes, report.warnings);
    Some((bytes, report, plan))
}

/// A replay of the arrivals in virtual time gives the same departures to the picosecond.
fn assert_replays(report: &mut PumpReport, plan: &Plan) {
    let mut again = replay(plan, &report.arrivals, &report.words, report.ended);
    assert_eq!(again.departures, report.departures);
    assert_eq!(again.drops, report.drops);
    for (live, virtual_) in report.network.gates_mut().iter_mut().zip(again.network.gates_mut()) {
        assert_eq!(format!("{:?}", live.counters()), format!("{:?}", virtual_.counters()));
        assert_eq!(format!("{:?}", live.take_history()), format!("{:?}", virtual_.take_history()));
    }
}

fn assert_fills_the_link(backend: Backend) {
    let Some((bytes, mut report, plan)) = run(LINK, backend) else { return };
    let goodput = bytes as f64 * 8.0 / 2.0;
    assert!((8e6..12e6 * 1448.0 / 1500.0).contains(&goodput), "{goodput} bit/s");
    assert_eq!((report.strays, report.device_drops), ([0, 0], [0, 0]));
    assert_eq!(report.ended, plan.duration);
    assert_replays(&mut report, &plan);
}

both_ways!(a_connection_fills_a_link, fills_the_link);

fn fills_the_link() {
    assert_fills_the_link(Backend::Auto);
}

/// Without root it is always packet sockets.
#[test]
fn packet_sockets_do_the_same() {
    assert_fills_the_link(Backend::Packet);
}

both_ways!(whatever_lies_between_the_edges_replays, replays);

fn replays() {
    let Some((bytes, mut report, plan)) = run(MUCH, Backend::Auto) else { return };
    assert!(bytes > 200_000, "{bytes} bytes");
    assert!(!report.drops.is_empty(), "gates drop");
    assert!(
        (0..6).all(|route| report.departures.iter().any(|gone| gone.route == route)),
        "every way is used"
    );
    assert_replays(&mut report, &plan);
}

both_ways!(each_flow_has_its_own_path, own_paths);

fn own_paths() {
    let link = |number: u32| {
        format!(
            "[gate.link{number}]\nrate = \"{} Mbit/s\"\ndelay = \"2 ms\"\nqueue = \"20 packets\"\n\
             [flow.bulk{number}]\npath = [\"link{number}\"]\napp = \"bulk\"\n",
            2 * number
        )
    };
    let toml = format!("duration = \"2 s\"\n{}", (1..=6).map(link).collect::<String>());
    let Some((_, mut report, plan)) = run(&toml, Backend::Auto) else { return };
    for flow in 0..6 {
        let gone = report.departures.iter().filter(|gone| gone.route == flow * 2);
        let bytes: u64 = gone.map(|gone| u64::from(report.arrivals[gone.arrival as usize].bytes)).sum();
        let mbit = bytes as f64 * 8.0 / 2.0 / 1e6;
        let rate = f64::from(2 * (flow + 1));
        assert!((0.6 * rate..=rate).contains(&mbit), "flow {flow}: {mbit} of {rate} Mbit/s");
    }
    assert_replays(&mut report, &plan);
}

/// Throughput counts: the receiver's kernel works on other processors, where there are any.
const FAST: &str = r#"
duration = "500 ms"
[gate.link]
rate = "1 Gbit/s"
queue = "400 packets"
[flow.bulk]
path = ["link"]
rtt = "1 ms"
app = "bulk"
"#;

fn assert_fast_replays(backend: Backend) {
    let Some((bytes, mut report, _)) = run(FAST, backend) else { return };
    assert!(bytes > 1_000_000, "{bytes} bytes");
    let many = "high packet rate";
    assert!(report.notes.iter().any(|note| note.starts_with(many)), "{:?}", report.notes);
    assert!(report.notes.iter().any(|note| note == "idle processors may halt"), "{:?}", report.notes);
    // A machine that stops the thread for long may lose some, and says so.
    let said = report.warnings.iter().any(|words| words.contains("lost between the kernel and the engine"));
    assert_eq!(report.device_drops != [0, 0], said, "{:?}", report.warnings);
    assert_replays(&mut report, &plan(FAST));
}

#[test]
fn many_packets_on_several_processors_replay() {
    assert_fast_replays(Backend::Auto);
}

#[test]
fn many_packets_over_packet_sockets_replay() {
    assert_fast_replays(Backend::Packet);
}

both_ways!(a_run_that_is_stopped_says_when, stopped);

fn stopped() {
    let plan = plan(LINK);
    let Some(mut lab) = lab(&plan, Backend::Auto) else { return };
    let ports = Classifier::Ports { flows: 1 };
    let pump = Pump::start(&mut lab, &plan, ports, &pump_options()).unwrap();
    let clock = pump.clock();
    let bulk = Bulk::start(&lab, 0);
    clock.sleep_until(Time::ZERO.saturating_add(Span::from_millis(200)));
    assert!(pump.is_running());
    bulk.stop();
    let asked = clock.now();
    let mut report = pump.stop().unwrap();
    assert!(report.ended >= asked && report.ended < plan.duration, "{}", report.ended);
    assert_replays(&mut report, &plan);
    // A second run would need a second lab.
    let second = Pump::start(&mut lab, &plan, ports, &pump_options()).unwrap_err();
    assert!(matches!(second, LiveError::Beyond(_)), "{second}");
}

both_ways!(falling_behind_ends_the_run_in_words, behind);

fn behind() {
    let plan = plan(LINK);
    let Some(mut lab) = lab(&plan, Backend::Auto) else { return };
    // No machine writes every packet within a nanosecond.
    let options = PumpOptions { fail_behind: Some(Duration::from_nanos(1)), ..PumpOptions::default() };
    let pump = Pump::start(&mut lab, &plan, Classifier::Ports { flows: 1 }, &options).unwrap();
    let clock = pump.clock();
    let socket = lab.sender().run(|| std::net::UdpSocket::bind("0.0.0.0:0")).unwrap().unwrap();
    while pump.is_running() && clock.now() < plan.duration {
        socket.send_to(&[0; 100], lab.flow_addresses(0).receiver).unwrap();
        clock.sleep_until(clock.now().saturating_add(Span::from_millis(5)));
    }
    let error = pump.stop().unwrap_err();
    assert!(matches!(error, LiveError::FellBehind(_)), "{error}");
    assert!(error.to_string().contains("fell behind real time"), "{error}");
}

both_ways!(what_belongs_to_no_flow_is_counted, strays);

fn strays() {
    let plan = plan(LINK);
    let Some(mut lab) = lab(&plan, Backend::Auto) else { return };
    let ports = Classifier::Ports { flows: 1 };
    let pump = Pump::start(&mut lab, &plan, ports, &pump_options()).unwrap();
    let socket = lab.sender().run(|| std::net::UdpSocket::bind("0.0.0.0:0")).unwrap().unwrap();
    socket.send_to(&[0; 100], (lab.receiver().address(), 9)).unwrap();
    pump.clock().sleep_until(Time::ZERO.saturating_add(Span::from_millis(20)));
    let report = pump.stop().unwrap();
    assert_eq!((report.strays, report.arrivals.len()), ([1, 0], 0));
    assert!(report.warnings.iter().any(|words| words.contains("1 packets belonged to no flow")));
}
