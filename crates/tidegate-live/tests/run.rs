//! Whole live runs: the kernel's TCP as a scenario asks for it.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a skipped test says why, the others what they measured")]

#[macro_use]
mod common;

use common::{live, plan};
use tidegate_core::units::Time;
use tidegate_live::LiveRun;

const LINK: &str = r#"
title = "link"
duration = "3 s"
warmup = "1 s"
[gate.link]
rate = "12 Mbit/s"
queue = "50 packets"
delay = "10 ms"
[flow.bulk]
path = ["link"]
rtt = "20 ms"
tcp.base = "linux"
tcp.cc = "reno"
[record]
every = "10 ms"
"#;

both_ways!(a_bulk_flow_fills_a_link_and_is_measured_like_in_the_simulator, bulk);

fn bulk() {
    let plan = plan(LINK);
    let Some(done) = live(&plan) else { return };
    let summary = &done.result.summary;
    let flow = &summary.flows[0];
    let ideal = 12e6 * 1448.0 / 1500.0;
    let goodput = flow.goodput_bps.expect("it was measured");
    assert!((0.9 * ideal..=ideal * 1.001).contains(&goodput), "{goodput}");
    assert_eq!(flow.cc, "reno");
    assert!(flow.rtt_p50_ms.unwrap() > 20.0 && flow.rtt_p99_ms.unwrap() < 75.0);
    assert!(flow.limited_by["gate.link"] > 0.9, "{:?}", flow.limited_by);
    assert!(done.result.flows[0].len() > 150 && !done.result.gates[0].is_empty());
    // What the gate delivered is what reached the receiver, plus at most one packet at the edges.
    let delivered = summary.gates[0].delivered_bytes as f64 * 8.0 / 2.0;
    let throughput = flow.throughput_bps.expect("it was measured");
    assert!((delivered - throughput).abs() < 0.02 * delivered);
    let verified = &done.details.verified[0];
    for told in ["tcp.cc = reno", "tcp.mss = 1448", "tcp.sack = true", "tcp.timestamps = true"] {
        assert!(verified.in_force.iter().any(|line| line == told), "{told}: {verified:?}");
    }
}

/// One flow that writes and one that asks, both from time zero on.
const AT_ONCE: &str = r#"
title = "from time zero on"
duration = "1 s"
[gate.link]
rate = "20 Mbit/s"
delay = "20 ms"
[flow.bulk]
path = ["link"]
rtt = "40 ms"
tcp.base = "linux"
tcp.window = "20 segments"
[flow.asks]
path = ["link"]
rtt = "40 ms"
app.request = { size = "300 B", response = "2 kB", think = "100 ms" }
[record]
every = "10 ms"
"#;

both_ways!(nothing_is_sent_before_time_zero, from_time_zero);

fn from_time_zero() {
    let plan = plan(AT_ONCE);
    let Some(done) = live(&plan) else { return };
    for route in [0, 3] {
        let syn = done.report.arrivals.iter().find(|arrival| arrival.route == route).unwrap();
        // Packets that come while the clock has not begun are stamped with zero itself.
        assert!(
            syn.at > Time::ZERO && syn.at < Time::from_picos(20_000_000_000),
            "route {route}: {}",
            syn.at
        );
    }
    // The handshake of a path of 40 ms: the kernel counts from the SYN, and adds 200 ms to it.
    let first = done.result.flows[0].iter().find(|row| row.srtt_ms > 0.0).unwrap();
    assert!((39.0..60.0).contains(&first.srtt_ms) && first.rto_ms < 300.0, "{first:?}");
}

/// A queue that stays short, and a loss in each hundred packets.
const LOSSY: &str = r#"
title = "lossy"
duration = "4 s"
[gate.link]
rate = "50 Mbit/s"
queue = "100 packets"
delay = "20 ms"
loss = 0.01
[flow.bulk]
path = ["link"]
rtt = "40 ms"
tcp.base = "linux"
tcp.cc = "reno"
[record]
every = "10 ms"
"#;

both_ways!(a_round_trip_is_no_wait_for_a_hole, lossy);

fn lossy() {
    let plan = plan(LOSSY);
    let Some(done) = live(&plan) else { return };
    let flow = &done.result.summary.flows[0];
    assert!(flow.segments_retransmitted > 10, "{flow:?}");
    // What waited for the repair of a loss would have taken two round trips of 40 ms, and there are some of these for each loss.
    assert!(flow.rtt_p50_ms.unwrap() > 40.0 && flow.rtt_p99_ms.unwrap() < 70.0, "{flow:?}");
}

/// A window behind a slower server with the stack of the nineties (what the cell spacer needs).
const OLD: &str = r#"
title = "old stack"
duration = "4 s"
[gate.host]
rate = "33.92 Mbit/s"
framing = "aal5"
[gate.spacer]
rate = "15.264 Mbit/s"
framing = "aal5"
delay = "1.8 ms"
[gate.away]
rate = "33.92 Mbit/s"
framing = "aal5"
delay = "1.8 ms"
[flow.bulk]
path = ["host", "spacer"]
back = ["away"]
tcp.base = "bsd44"
tcp.mss = "1476 B"
tcp.window = "41 segments"
[record]
every = "1 ms"
"#;

both_ways!(the_old_stack_is_in_force_and_its_window_holds, old_stack);

fn old_stack() {
    let plan = plan(OLD);
    let Some(done) = live(&plan) else { return };
    let verified = &done.details.verified[0];
    for told in [
        "tcp.cc = reno",
        "tcp.mss = 1476",
        "tcp.sack = false",
        "tcp.timestamps = false",
        "window scaling = false",
        "tcp.initial_window (segments) = 1",
        "tcp.window = 60516 B: 60516 B (41 segments) in flight at most, 60516 B announced",
    ] {
        assert!(verified.in_force.iter().any(|line| line == told), "{told}: {verified:?}");
    }
    let flow = &done.result.summary.flows[0];
    assert_eq!((flow.segments_retransmitted, flow.timeouts), (0, 0));
    assert!(flow.limited_by["gate.spacer"] > 0.9);
    assert!(segmentation(&done).starts_with("tcp.segmentation = \"off\""));
}

fn segmentation(done: &LiveRun) -> &str {
    done.details.notes.iter().find(|note| note.starts_with("tcp.segmentation")).unwrap()
}

both_ways!(segmentation_is_said_and_can_be_switched_off, bursts);

fn bursts() {
    for word in ["kernel", "off"] {
        let short = LINK.replace("3 s", "500 ms").replace("1 s", "100 ms");
        let asked = short.replace("tcp.cc = \"reno\"", &format!("tcp.segmentation = \"{word}\""));
        let Some(done) = live(&plan(&asked)) else { return };
        assert!(segmentation(&done).starts_with(&format!("tcp.segmentation = \"{word}\"")));
    }
}

/// Two clients of one server over one link, in a closed loop.
const WEB: &str = r#"
title = "requests"
duration = "3 s"
[gate.link]
rate = "8 Mbit/s"
delay = "10 ms"
[server.shop]
rate = "80 Mbit/s"
[flow.a]
path = ["link"]
rtt = "40 ms"
app.request = { server = "shop", size = "300 B", response = "20 kB", think = "50 ms" }
[flow.b]
path = ["link"]
rtt = "40 ms"
app.request = { size = "300 B", response = "5 kB", think = "20 ms" }
[record]
every = "10 ms"
"#;

both_ways!(requests_are_answered_by_the_kernels_tcp, requests);

fn requests() {
    let plan = plan(WEB);
    let Some(done) = live(&plan) else { return };
    let rows = &done.result.summary.requests;
    assert_eq!(rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["a", "b", "all"]);
    let (a, b) = (&rows[0], &rows[1]);
    // A round trip, the response's own time on the link and the server's 2 ms at least.
    let (least_a, least_b) = (0.040 + 20_000.0 * 8.0 / 8e6 + 0.002, 0.040 + 5_000.0 * 8.0 / 8e6);
    assert!(a.response_p50_s.unwrap() > least_a && a.response_p50_s.unwrap() < 0.25, "{a:?}");
    assert!(b.response_p50_s.unwrap() > least_b && b.response_p50_s.unwrap() < 0.15, "{b:?}");
    assert!(a.server_mean_s.unwrap() >= 0.002 && b.server_mean_s.unwrap() < 0.001);
    // A closed loop asks again a think time after each response.
    assert!(a.finished > 10 && a.unfinished <= 1);
    let flow = &done.result.summary.flows[0];
    let brought = (flow.goodput_bps.unwrap_or_default() * 3.0 / 8.0 / 20_000.0).floor();
    assert!((brought - a.finished as f64).abs() <= 1.0, "{brought} responses of {}", a.finished);
    assert_eq!(done.result.requests[0].len() as u64, a.asked);
}

/// A player over a link that carries the middle of three bitrates.
const VIDEO: &str = r#"
title = "video"
duration = "6 s"
[gate.link]
rate = "3 Mbit/s"
delay = "10 ms"
[flow.player]
path = ["link"]
rtt = "40 ms"
[flow.player.app.video]
ladder = ["500 kbit/s", "1 Mbit/s", "4 Mbit/s"]
segment = "500 ms"
buffer = "2 s"
[record]
every = "10 ms"
"#;

both_ways!(a_player_chooses_what_the_link_carries, video);

fn video() {
    let plan = plan(VIDEO);
    let Some(done) = live(&plan) else { return };
    let row = &done.result.summary.videos[0];
    let segments = &done.result.segments[0];
    assert!(row.segments >= 10 && row.stalls == 0 && row.join_s.unwrap() < 1.0, "{row:?}");
    assert_eq!((segments[0].rung, segments[5].rung), (0, 1), "{segments:?}");
    assert!(segments.iter().all(|each| each.buffered <= tidegate_core::units::Span::from_secs(2)));
}

both_ways!(each_request_has_a_connection_of_its_own, new_connections);

fn new_connections() {
    let anew = WEB.replace("think = \"50 ms\"", "think = \"50 ms\", connection = \"new\"");
    let plan = plan(&anew.replace("[record]", "tcp.cc = \"reno\"\n[record]"));
    let Some(done) = live(&plan) else { return };
    let rows = &done.result.summary.requests;
    let (a, b) = (&rows[0], &rows[1]);
    // One more round trip than over a connection that is there: a handshake.
    let least = 0.080 + 20_000.0 * 8.0 / 8e6 + 0.002;
    assert!(a.response_p50_s.unwrap() > least && a.response_p50_s.unwrap() < 0.3, "{a:?}");
    assert!(b.response_p50_s.unwrap() < 0.15, "{b:?}");
    assert!(a.finished > 8 && a.unfinished <= 1 && b.finished > 20, "{a:?} {b:?}");
    // As many connections as requests, all told apart, and every byte of them in its place.
    assert_eq!(done.details.strays, [0, 0]);
    let flow = &done.result.summary.flows[0];
    let brought = (flow.goodput_bps.unwrap_or_default() * 3.0 / 8.0 / 20_000.0).floor();
    assert!((brought - a.finished as f64).abs() <= 1.0, "{brought} responses of {}", a.finished);
    assert_eq!((flow.segments_retransmitted, flow.timeouts), (0, 0), "{flow:?}");
    let [syns, fins] = [0x02_u8, 0x01].map(|flag| of_the_servers(&done, flag));
    for (many, what) in [(syns, "beginnings"), (fins, "ends")] {
        assert!((a.finished..=a.asked).contains(&many), "{many} {what} of connections: {a:?}");
    }
    // Rows go on between connections, and bytes are counted on.
    let states = &done.result.flows[0];
    assert!(states.len() > 200, "{} rows", states.len());
    assert!(states.windows(2).all(|two| two[0].delivered_bytes <= two[1].delivered_bytes));
    assert!(states.last().unwrap().delivered_bytes >= 20_000 * a.finished);
}

both_ways!(lost_beginnings_and_ends_are_made_again, new_connections_with_losses);

/// A request that begins before the connection of the one before has said goodbye is not answered over that.
fn new_connections_with_losses() {
    let anew = "response = \"5 kB\", think = \"20 ms\", connection = \"new\"";
    let lossy = WEB
        .replace("response = \"5 kB\", think = \"20 ms\"", anew)
        .replace("rtt = \"40 ms\"", "back = [\"link\"]");
    let plan = plan(&lossy.replace("delay = \"10 ms\"", "delay = \"10 ms\"\nloss = 0.05\nduplex = true"));
    let Some(done) = live(&plan) else { return };
    let summary = &done.result.summary;
    assert!(summary.gates.iter().all(|gate| gate.dropped_packets > 0), "{:?}", summary.gates);
    let failed = summary.warnings.iter().find(|words| words.contains("failed") || words.contains("ended"));
    assert_eq!((failed, done.details.strays), (None, [0, 0]));
    assert!(summary.requests[1].finished >= 3, "{:?}", summary.requests);
}

/// Packets of the first flow's server with a flag of TCP.
fn of_the_servers(done: &LiveRun, flag: u8) -> u64 {
    let stride = done.report.capture_bytes as usize;
    let kept = done.report.capture.chunks(stride).zip(&done.report.arrivals);
    kept.filter(|(packet, arrival)| arrival.route == 0 && packet[33] & flag != 0).count() as u64
}
