//! Packets of one flow that carry different codepoints are of different classes.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a test says what it measured")]

#[macro_use]
mod common;

use std::net::UdpSocket;

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::Ipv4Tos;

use common::{lab, plan, pump_options};
use tidegate_core::units::{Span, Time};
use tidegate_live::replay::replay;
use tidegate_live::{Backend, Classifier, Pump};

/// A packet of 528 bytes takes 4.2 ms. The flow itself has the codepoint DF.
const CLASSES: &str = r#"
duration = "2 s"
[gate.link]
rate = "1 Mbit/s"
classes.voice = { dscp = ["EF"], queue = "50 packets" }
classes.rest = { queue = "50 packets" }
[gate.back]
rate = "100 Mbit/s"
queue.aqm = "cake"
[flow.mixed]
path = ["link", "back"]
rtt = "2 ms"
"#;
const EACH: u64 = 20;

both_ways!(classes_by_the_codepoint_of_each_packet, codepoints);

fn codepoints() {
    let plan = plan(CLASSES);
    let Some(mut lab) = lab(&plan, Backend::Auto) else { return };
    let pump = Pump::start(&mut lab, &plan, Classifier::Ports { flows: 1 }, &pump_options()).unwrap();
    let bind = || UdpSocket::bind("0.0.0.0:0").unwrap();
    let [plain, voice] = [0, 46].map(|codepoint: i32| {
        let socket = lab.sender().run(bind).unwrap();
        setsockopt(&socket, Ipv4Tos, &(codepoint << 2)).unwrap();
        socket
    });
    let to = lab.flow_addresses(0).receiver;
    // What is urgent comes last.
    for socket in [&plain, &voice] {
        for _ in 0..EACH {
            socket.send_to(&[0; 500], to).unwrap();
        }
    }
    pump.clock().sleep_until(Time::ZERO.saturating_add(Span::from_millis(500)));
    let report = pump.stop().unwrap();
    let classes = report.network.gates()[0].class_counters();
    let offered: Vec<u64> = classes.iter().map(|class| class.counters.offered().total().packets).collect();
    assert_eq!(offered, [EACH, EACH]);
    // The tin of voice of CAKE, whose tins are best effort, bulk and voice.
    let tins = report.network.gates()[1].class_counters();
    let delivered: Vec<u64> = tins.iter().map(|tin| tin.counters.delivered().total().packets).collect();
    assert_eq!(delivered, [EACH, 0, EACH]);
    let left: Vec<u8> =
        report.departures.iter().map(|gone| report.arrivals[gone.arrival as usize].codepoint).collect();
    let last_voice = left.iter().rposition(|codepoint| *codepoint == 46).expect("voice left");
    let plain_before = left[..last_voice].iter().filter(|codepoint| **codepoint == 0).count();
    eprintln!("{plain_before} of {EACH} plain packets left before the last of voice");
    assert!(plain_before < EACH as usize / 2, "voice goes first: {left:?}");
    let again = replay(&plan, &report.arrivals, &report.words, report.ended);
    assert_eq!(again.departures, report.departures);
}
