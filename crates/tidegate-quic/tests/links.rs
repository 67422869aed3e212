//! quinn over links of Tidegate: it fills them, obeys marks, does the same again, and ends.

use std::sync::{Arc, Mutex};

use tidegate_core::plan::{AppPlan, Plan, SizePlan};
use tidegate_quic::hosts;
use tidegate_scenario::Scenario;
use tidegate_sim::host::{Ecn, Host, Outgoing, Packet, Report, Time};
use tidegate_sim::{FlowSummary, RequestSummary, RunResult, run_hosted};

fn planned(text: &str, seed: u64) -> Plan {
    Scenario::from_toml(text, "link.toml", None, &[]).expect("the scenario is good").plan(Some(seed), 0)
}

fn run(text: &str) -> RunResult {
    let plan = planned(text, 7);
    run_hosted(&plan, &mut hosts(&plan, None), &mut |_| true).expect("it behaves")
}

/// The one flow of the link, with these keys.
fn alone(keys: &str) -> FlowSummary {
    run(&format!("{LINK}{keys}")).summary.flows.swap_remove(0)
}

fn goodput(flow: &FlowSummary) -> f64 {
    flow.goodput_bps.expect("it was measured")
}

const LINK: &str = r#"
duration = "30 s"
gate.link = { rate = "20 Mbit/s", queue = "100 packets" }
[flow.quic]
transport = "quic"
path = ["link"]
rtt = "40 ms"
"#;

#[test]
fn it_fills_a_link() {
    for cc in ["cubic", "newreno", "bbr"] {
        let flow = alone(&format!("quic.cc = {cc:?}"));
        assert_eq!(flow.tcp, format!("{cc}, quinn 0.11"));
        assert!((17e6..20e6).contains(&goodput(&flow)), "{cc}: {flow:?}");
        // The path's own, and a queue that is seldom empty.
        assert!(flow.rtt_mean_ms.is_some_and(|ms| (50.0..105.0).contains(&ms)), "{flow:?}");
        assert!(flow.losses.dropped_packets > 0 && flow.segments_retransmitted > 0, "{flow:?}");
    }
}

/// An end, and everything that left it: when, and all its bytes.
struct Taped(Box<dyn Host>, Arc<Mutex<Vec<(Time, Outgoing)>>>);

#[rustfmt::skip]
impl Host for Taped {
    fn open(&mut self, now: Time) { self.0.open(now); }
    fn handle_packet(&mut self, now: Time, ecn: Ecn, packet: Packet) { self.0.handle_packet(now, ecn, packet); }
    fn handle_wakeup(&mut self, now: Time) { self.0.handle_wakeup(now); }
    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        let out = self.0.poll_transmit(now)?;
        self.1.lock().expect("one thread").push((now, out.clone()));
        Some(out)
    }
    fn next_wakeup(&mut self) -> Time { self.0.next_wakeup() }
    fn report(&self) -> Report { self.0.report() }
}

/// All packets of a run, and what it gives.
fn taped(text: &str, seed: u64) -> (Vec<(Time, Outgoing)>, String) {
    let tape = Arc::new(Mutex::new(Vec::new()));
    let plan = planned(text, seed);
    let mut made = hosts(&plan, None);
    let mut taping = |flow: usize| {
        tape.lock().expect("one thread").clear();
        made(flow).map(|ends| ends.map(|end| Box::new(Taped(end, Arc::clone(&tape))) as Box<dyn Host>))
    };
    let result = run_hosted(&plan, &mut taping, &mut |_| true).expect("it behaves");
    let packets = std::mem::take(&mut *tape.lock().expect("one thread"));
    (packets, format!("{:?}", (result.summary, result.gates, result.flows)))
}

#[test]
fn the_same_seed_gives_the_same_packets_byte_for_byte() {
    let (once, result) = taped(LINK, 7);
    assert!(once.len() > 50_000);
    assert_eq!((&once, &result), (&taped(LINK, 7).0, &taped(LINK, 7).1));
    assert_ne!(once, taped(LINK, 8).0);
}

/// The mean number of data packets to a packet of the receiver.
fn packets_to_an_ack(text: &str) -> f64 {
    let (packets, _) = taped(text, 7);
    let data = packets.iter().filter(|(_, out)| out.data).count();
    data as f64 / (packets.len() - data) as f64
}

#[test]
fn acks_are_as_many_as_it_asks_for() {
    let (usual, rare) = (packets_to_an_ack(LINK), packets_to_an_ack(&format!("{LINK}quic.ack_every = 10")));
    assert!((1.8..2.1).contains(&usual), "{usual}");
    assert!((7.0..10.1).contains(&rare), "{rare}");
}

#[test]
fn it_obeys_marks_if_it_can_send_them() {
    let codel =
        LINK.replace("queue = \"100 packets\"", "queue = { limit = \"1000 packets\", aqm = \"codel\" }");
    let flow = &run(&codel).summary.flows[0];
    assert_eq!(flow.losses.dropped_packets, 0, "{flow:?}");
    assert!(flow.ecn_reductions.is_some_and(|times| times > 3) && goodput(flow) > 15e6, "{flow:?}");
    let deaf = &run(&format!("{codel}quic.ecn = false")).summary.flows[0];
    assert!(deaf.losses.dropped_packets > 3 && deaf.ecn_reductions.is_none(), "{deaf:?}");
}

/// A step marks each packet above it: one round trip has many marks, and one reduction.
#[test]
fn a_round_trip_of_marks_is_one_reduction() {
    let step =
        LINK.replace("queue = \"100 packets\"", "queue = { limit = \"1000 packets\", aqm = \"step\" }");
    let outcome = run(&step);
    let flow = &outcome.summary.flows[0];
    let marked = outcome.summary.gates[0].marked_packets.expect("it marks");
    let times = flow.ecn_reductions.expect("it obeys marks");
    assert!(times > 3 && 3 * times < marked, "{times} for {marked} marks");
}

#[test]
fn nothing_is_deemed_lost_but_what_is_dropped() {
    // Packets keep their order, so what is missing behind three that came is lost (RFC 9002 §6.1.1), and nothing is received twice.
    let flow = alone("");
    let (dropped, deemed_lost) = (flow.losses.dropped_packets, flow.segments_retransmitted);
    assert!(dropped > 100 && deemed_lost.abs_diff(dropped) * 50 < dropped, "{flow:?}");
    assert_eq!(flow.segments_received, flow.segments_delivered, "{flow:?}");
    // A second of silence loses nothing: quinn's probes are pings where the receive window leaves no room for new bytes.
    let silence = LINK.replace(
        r#"rate = "20 Mbit/s""#,
        r#"rate = { steps = [["0 s", "20 Mbit/s"], ["10 s", "0 bit/s"], ["11 s", "20 Mbit/s"]] }"#,
    );
    let held = &run(&format!("{silence}quic.window = \"100 kB\"")).summary.flows[0];
    assert_eq!((held.losses.dropped_packets, held.segments_retransmitted), (0, 0), "{held:?}");
    assert!(held.timeouts > 1 && held.segments_received == held.segments_delivered, "{held:?}");
}

/// quinn's BBR keeps two bandwidth-delay products in flight: quinn paces by the window, not at BBR's rate. What the path and a queue of
/// a fifth of the product do not hold is lost.
#[test]
fn bbr_of_quinn_loses_what_a_short_queue_does_not_hold() {
    let shallow = LINK.replace("100 packets", "20 kB");
    let flow = &run(&format!("{shallow}quic.cc = \"bbr\"")).summary.flows[0];
    let expected = 1.0 - (1.0 + 0.2) / 2.0;
    let sent = flow.losses.dropped_packets + flow.segments_received;
    let lost = flow.losses.dropped_packets as f64 / sent as f64;
    assert!((lost - expected).abs() < 0.02, "{lost}");
    assert!(goodput(flow) > 18e6, "{flow:?}");
}

#[test]
fn a_transfer_ends_in_one_stream_or_in_many() {
    for streams in [1, 7] {
        let flow = alone(&format!("app.transfer = \"3 MB\"\nquic.streams = {streams}"));
        let took = flow.completion_s.expect("it ends");
        assert!((1.2..3.0).contains(&took), "{took}");
        assert!((goodput(&flow) * took - 24e6).abs() < 1e4, "{flow:?}");
    }
}

#[test]
fn a_small_window_is_what_limits_it() {
    let flow = alone("quic.window = \"20 kB\"");
    // A window in a round trip, and the time of a packet.
    assert!((3.2e6..4.1e6).contains(&goodput(&flow)), "{flow:?}");
    assert!(flow.limited_by["receiver window"] > 0.8, "{:?}", flow.limited_by);
}

#[test]
fn before_the_handshake_is_over_the_application_has_nothing_to_send() {
    let far = LINK.replace("40 ms", "100 s");
    for keys in ["", "quic.cc = \"tcp\"", "app.transfer = \"3 MB\""] {
        let flow = &run(&format!("{far}{keys}")).summary.flows[0];
        assert_eq!(flow.limited_by["application"], 1.0, "{keys}: {:?}", flow.limited_by);
    }
}

#[test]
fn the_largest_packet_is_as_large_as_the_file_says() {
    for (mtu, most) in [
        ("", 1480),
        ("1300 B", 1300),
        ("1600 B", 1600),
        ("9000 B", 9000),
        ("14800 B", 14_800),
        ("16384 B", 16_384),
    ] {
        for cc in ["cubic", "newreno", "bbr", "tcp"] {
            let keys = if mtu.is_empty() { String::new() } else { format!("quic.mtu = {mtu:?}\n") };
            let short = LINK.replace("30 s", "5 s");
            let (packets, _) = taped(&format!("{short}{keys}quic.cc = {cc:?}"), 7);
            let data: Vec<u32> =
                packets.iter().filter(|(_, out)| out.data).map(|(_, out)| out.ip_bytes).collect();
            assert_eq!(data.iter().max(), Some(&most), "{keys}{cc}");
            // They are the usual ones.
            let full = data.iter().filter(|bytes| **bytes == most).count();
            assert!(full > 500 && full * 10 > data.len() * 9, "{keys}{cc}: {full} of {}", data.len());
        }
    }
}

#[test]
fn an_application_writes_what_it_does_over_tcp() {
    let keys = "app.on_off = { rate = \"4 Mbit/s\", on = { exponential = \"1 s\" }, off = { exponential = \"1 s\" } }";
    let quic = alone(keys);
    let over_tcp = run(&LINK.replace("\"quic\"", "\"tcp\"").replace("rtt =", &format!("{keys}\nrtt =")))
        .summary
        .flows
        .swap_remove(0);
    let difference = (goodput(&quic) - goodput(&over_tcp)).abs();
    assert!(difference < 0.01 * goodput(&quic), "{} {}", goodput(&quic), goodput(&over_tcp));
}

#[test]
fn beside_our_tcp_nobody_starves() {
    let text = format!("{LINK}\n[flow.tcp]\npath = [\"link\"]\nrtt = \"40 ms\"\n");
    let flows = run(&text).summary.flows;
    assert!(flows.iter().all(|flow| goodput(flow) > 2e6), "{flows:?}");
}

#[test]
fn the_first_probe_waits_for_the_round_trip_that_is_assumed() {
    // Nothing comes back for 2 s.
    let dead = LINK
        .replace("rate = \"20 Mbit/s\"", "rate.steps = [[\"0 s\", \"0 bit/s\"], [\"2 s\", \"20 Mbit/s\"]]");
    for (keys, least) in [("", 999), ("quic.initial_rtt = \"100 ms\"", 300)] {
        let (packets, _) = taped(&format!("{dead}{keys}"), 7);
        // The second packet is a probe: three assumed round trips after the first (RFC 9002 §6.2.1, kGranularity aside).
        let after = packets[1].0.saturating_since(packets[0].0);
        assert_eq!(after.picos() / 1_000_000_000, least, "{keys}");
    }
}

#[test]
fn what_is_wrong_of_quic_is_said() {
    let problems = |keys: &str| {
        let text = format!("{LINK}{keys}");
        Scenario::from_toml(&text, "link.toml", None, &[]).expect_err("it is wrong").to_string()
    };
    assert!(problems("quic.mtu = \"1227 B\"").contains("1228 B"));
    assert!(problems("quic.mtu = \"70 kB\"").contains("16384"));
    assert!(problems("app.read = \"1 Mbit/s\"").contains("reads at once"));
    let anew = "app.request = { response = \"1 kB\", think = \"1 s\", connection = \"new\" }";
    assert!(problems(anew).contains("share a connection"));
    assert!(problems("quic.datagrams = true").contains("needs streams"));
    assert!(problems("quic.cc = \"vegas\"").contains("newreno"));
    assert!(problems("quic.cc = \"tcp\"\ntcp.cc = \"dctcp\"").contains("how much was marked"));
}

#[test]
fn probe_time_outs_are_counted() {
    // Dark from 10 s to 12 s. The probes of a round trip of 40 ms and some queue, each twice as long as the one before: about four.
    let dark = LINK.replace(
        "rate = \"20 Mbit/s\"",
        "rate.steps = [[\"0 s\", \"20 Mbit/s\"], [\"10 s\", \"0 bit/s\"], [\"12 s\", \"20 Mbit/s\"]]",
    );
    let timeouts = |text: &str| run(text).summary.flows[0].timeouts;
    assert!((3..=5).contains(&timeouts(&dark)), "{}", timeouts(&dark));
    assert_eq!(timeouts(LINK), 0);
}

/// A flow over a link with a controller of ours, over QUIC and over TCP.
fn both_ways(gate: &str, cc: &str) -> [FlowSummary; 2] {
    let text = LINK.replace(r#"rate = "20 Mbit/s", queue = "100 packets""#, gate);
    let over_quic = run(&format!("{text}quic.cc = \"tcp\"\ntcp.cc = {cc:?}\n"));
    let over_tcp = run(&format!("{}tcp.cc = {cc:?}\n", text.replace("\"quic\"", "\"tcp\"")));
    [over_quic, over_tcp].map(|mut result| result.summary.flows.swap_remove(0))
}

#[test]
fn our_controllers_run_over_quic_as_over_tcp() {
    for gate in [
        r#"rate = "20 Mbit/s", queue = "100 packets""#,
        r#"rate = "20 Mbit/s", queue = "400 packets""#,
        r#"rate = "1 Gbit/s", police = { rate = "20 Mbit/s", burst = "100 kB" }"#,
    ] {
        for cc in ["newreno", "cubic", "bbr", "bbr3", "copa", "vegas", "westwood", "ledbat++"] {
            let [quic, tcp] = both_ways(gate, cc);
            assert_eq!(quic.tcp, format!("{cc}, linux-6.18, quinn 0.11"));
            let ratio = goodput(&quic) / goodput(&tcp);
            assert!((0.93..1.07).contains(&ratio), "{gate} {cc}: {quic:?} {tcp:?}");
        }
        // Those that measure their path keep the queue as short.
        for cc in ["bbr", "bbr3"] {
            let [quic, tcp] = both_ways(gate, cc).map(|flow| flow.rtt_mean_ms.expect("it has samples"));
            assert!((quic - tcp).abs() < 3.0, "{gate} {cc}: {quic} {tcp} ms");
        }
    }
}

#[test]
fn a_window_that_losses_keep_small_is_as_large_over_quic_as_over_tcp() {
    let lossy = r#"rate = "20 Mbit/s", queue = "100 packets", loss = "1%""#;
    for cc in ["newreno", "cubic"] {
        let means = (0..2).map(|transport| {
            let windows = (1..=8).map(|seed| {
                let text = LINK.replace(r#"rate = "20 Mbit/s", queue = "100 packets""#, lossy);
                let text = if transport == 0 { text } else { text.replace("\"quic\"", "\"tcp\"") };
                let keys = if transport == 0 { "quic.cc = \"tcp\"\n" } else { "" };
                let plan = planned(&format!("{text}{keys}tcp.cc = {cc:?}\n"), seed);
                let result = run_hosted(&plan, &mut hosts(&plan, None), &mut |_| true).expect("it behaves");
                result.summary.flows[0].cwnd_mean_segments.expect("it tells its window")
            });
            windows.sum::<f64>() / 8.0
        });
        let [over_quic, over_tcp] = means.collect::<Vec<_>>()[..] else { panic!("two transports") };
        // Eight runs of 30 s scatter by 3% at most.
        assert!((over_quic / over_tcp - 1.0).abs() < 0.08, "{cc}: {over_quic} {over_tcp}");
    }
}

#[test]
fn a_fixed_rate_is_kept_over_quic() {
    // The rate is of user bytes, whatever else packets hold.
    for keys in ["", "quic.mtu = \"1228 B\"\n", "quic.streams = 7\n"] {
        let text = format!("warmup = \"10 s\"\n{LINK}{keys}quic.cc = \"tcp\"\n");
        let flow = run(&format!("{text}tcp = {{ cc = \"fixed_rate\", rate = \"5 Mbit/s\" }}"));
        let flow = &flow.summary.flows[0];
        assert!((goodput(flow) / 5e6 - 1.0).abs() < 0.001, "{keys}: {flow:?}");
        assert_eq!(flow.losses.dropped_packets, 0, "{flow:?}");
    }
}

/// Requests over a link, with these keys beside their own.
fn requests(transport: &str, keys: &str) -> Plan {
    planned(
        &format!(
            r#"
duration = "60 s"
gate.down = {{ rate = "8 Mbit/s", queue = "100 packets" }}
gate.up = {{ rate = "1 Mbit/s", queue = "100 packets" }}
server.origin = {{ rate = "80 Mbit/s" }}
[flow.web]
transport = "{transport}"
path = ["down"]
back = ["up"]
rtt = "40 ms"
{keys}
"#
        ),
        7,
    )
}

/// The row of its requests.
fn answered(plan: &Plan) -> RequestSummary {
    let result = run_hosted(plan, &mut hosts(plan, None), &mut |_| true).expect("it behaves");
    result.summary.requests[0].clone()
}

#[test]
fn requests_take_a_round_trip_and_their_bytes() {
    let keys = r#"app.request = { server = "origin", size = "200 B", response = "10 kB", think = "500 ms" }"#;
    let [quic, tcp] = ["quic", "tcp"].map(|transport| answered(&requests(transport, keys)));
    // 40 ms of path, 1 ms at the server, 200 B at 1 Mbit/s, 10 kB at 8 Mbit/s: 53 ms and headers.
    let mean = quic.response_mean_s.expect("they end");
    assert!((0.053..0.060).contains(&mean), "{quic:?}");
    assert!((mean - tcp.response_mean_s.expect("they end")).abs() < 0.005, "{quic:?} {tcp:?}");
    assert!((106..=109).contains(&quic.asked) && quic.unfinished <= 1, "{quic:?}");
}

#[test]
fn a_path_may_take_no_time() {
    // What the bucket holds takes no time, what it does not hold takes some: the smoothed round trip falls below a nanosecond again and again.
    let text = r#"
duration = "10 s"
gate.g.rate.token_bucket = { rate = "10 Mbit/s", burst = "3 kB" }
[flow.f]
path = ["g"]
transport = "quic"
app.request = { size = { lognormal = { median = "3 kB", sigma = 2 } }, response = "1 B", think = "1 ms" }
"#;
    for seed in 1..=2 {
        let [quic, tcp] = ["quic", "tcp"]
            .map(|transport| answered(&planned(&text.replace("\"quic\"", &format!("{transport:?}")), seed)));
        // Nearly all that is asked takes the think time.
        assert!(quic.finished > 8000 && quic.unfinished <= 1, "{seed}: {quic:?}");
        assert!(quic.finished * 10 > tcp.finished * 9, "{seed}: {quic:?} {tcp:?}");
    }
}

#[test]
fn a_short_response_does_not_wait_for_a_long_one_before_it() {
    // Four, a millisecond after each other; over TCP the short ones come behind the long ones before them.
    let keys = r#"app.request = { response = "1 B", think = ["3 s", "1 ms", "1 ms", "1 ms"], loop = "open", outstanding = 10 }"#;
    let [quic, tcp] = ["quic", "tcp"].map(|transport| {
        let mut plan = requests(transport, keys);
        let AppPlan::Request(asked) = &mut plan.flows[0].app else { panic!("it has requests") };
        asked.response = SizePlan::List(vec![500_000, 2_000, 2_000, 2_000].into());
        answered(&plan)
    });
    let mean = |row: &RequestSummary| row.response_mean_s.expect("they end");
    assert!(mean(&quic) < 0.8 * mean(&tcp), "{quic:?} {tcp:?}");
    assert_eq!((quic.asked, quic.unfinished), (tcp.asked, tcp.unfinished));
}

#[test]
fn datagrams_are_lost_and_not_sent_again() {
    let keys = "app.constant = { rate = \"800 kbit/s\", write = \"1000 B\" }\nquic.datagrams = true";
    let lossy = LINK.replace("queue = \"100 packets\"", "queue = \"100 packets\", loss = \"5%\"");
    let clean = alone(keys);
    assert!((0.79e6..0.81e6).contains(&goodput(&clean)), "{clean:?}");
    let flow = run(&format!("{lossy}{keys}")).summary.flows.swap_remove(0);
    let share = goodput(&flow) / goodput(&clean);
    assert!((0.93..0.97).contains(&share), "{flow:?}");
    let streams = run(&format!("{lossy}{}", keys.replace("true", "false"))).summary.flows.swap_remove(0);
    assert!(goodput(&streams) > 0.985 * goodput(&clean), "{streams:?}");
}
