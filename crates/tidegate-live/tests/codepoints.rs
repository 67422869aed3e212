//! Packets of one flow that carry different codepoints are of different classes.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a test says what it measured")]

#[macro_use]
mod common;

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use nix::sys::socket::sockopt::{IpRecvTos, Ipv4Tos};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt};

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
both_ways!(a_marker_rewrites_codepoints, remarking);

/// The first three packets of 528 bytes fit into the bucket of `cir`, the next three into that of `ebs`.
const MARKER: &str = r#"
duration = "2 s"
[gate.edge]
rate = "100 Mbit/s"
[gate.edge.police.srtcm]
cir = "8 bit/s"
cbs = "1600 B"
ebs = "1600 B"
red = "remark"
dscp = { green = "AF11", yellow = "AF12" }
[gate.core]
rate = "1 Mbit/s"
classes.gold = { dscp = ["AF11"] }
classes.silver = { dscp = ["AF12"] }
classes.rest = {}
[flow.marked]
path = ["edge", "core"]
rtt = "2 ms"
"#;

/// What arrives has the codepoint of its colour, and its checksum is right, or the kernel would not take it.
fn remarking() {
    let plan = plan(MARKER);
    let Some(mut lab) = lab(&plan, Backend::Auto) else { return };
    let pump = Pump::start(&mut lab, &plan, Classifier::Ports { flows: 1 }, &pump_options()).unwrap();
    let address = lab.flow_addresses(0).receiver;
    let receiver = lab.receiver().run(move || UdpSocket::bind(address).unwrap()).unwrap();
    setsockopt(&receiver, IpRecvTos, &true).unwrap();
    let sender = lab.sender().run(|| UdpSocket::bind("0.0.0.0:0").unwrap()).unwrap();
    setsockopt(&sender, Ipv4Tos, &(46 << 2)).unwrap();
    for _ in 0..8 {
        sender.send_to(&[0; 500], address).unwrap();
    }
    pump.clock().sleep_until(Time::ZERO.saturating_add(Span::from_millis(500)));
    let report = pump.stop().unwrap();
    let left: Vec<u8> = report.departures.iter().map(|gone| gone.codepoint).collect();
    assert_eq!(left, [10, 10, 10, 12, 12, 12, 46, 46]);
    let received: Vec<u8> = left.iter().map(|_| codepoint_received(&receiver)).collect();
    assert_eq!(received, left);
    let classes = report.network.gates()[1].class_counters();
    let offered: Vec<u64> = classes.iter().map(|class| class.counters.arrived().total().packets).collect();
    assert_eq!(offered, [3, 3, 2]);
    let again = replay(&plan, &report.arrivals, &report.words, report.ended);
    assert_eq!(again.departures, report.departures);
}

/// The codepoint of the next datagram at a socket.
fn codepoint_received(socket: &UdpSocket) -> u8 {
    let (mut bytes, mut room) = ([0; 600], nix::cmsg_space!(u8));
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let message =
        recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut room), MsgFlags::MSG_DONTWAIT).unwrap();
    let tos = message.cmsgs().unwrap().find_map(|told| match told {
        ControlMessageOwned::Ipv4Tos(tos) => Some(tos),
        _ => None,
    });
    tos.expect("the kernel tells it") >> 2
}

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
    let offered: Vec<u64> = classes.iter().map(|class| class.counters.arrived().total().packets).collect();
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
