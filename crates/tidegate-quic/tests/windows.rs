//! Windows of this program's controllers over QUIC: segments are the largest packets, and something always goes.

use tidegate_core::plan::RecordLevel;
use tidegate_core::units::{Span, Time};
use tidegate_quic::hosts;
use tidegate_scenario::Scenario;
use tidegate_sim::{FlowSummary, RunResult, run_hosted};

/// A run whose one flow has these keys.
fn run(gate: &str, keys: &str) -> RunResult {
    let text = format!(
        "duration = \"20 s\"\ngate.link = {{ rate = \"20 Mbit/s\", queue = \"100 packets\"{gate} }}\n\
         [flow.quic]\ntransport = \"quic\"\npath = [\"link\"]\nrtt = \"40 ms\"\nquic.cc = \"tcp\"\n{keys}"
    );
    let scenario = Scenario::from_toml(&text, "window.toml", None, &[]).expect("the scenario is good");
    let mut plan = scenario.plan(Some(7), 0);
    plan.record.level = RecordLevel::Every(Span::from_millis(5));
    run_hosted(&plan, &mut hosts(&plan, None), &mut |_| true).expect("it behaves")
}

fn alone(keys: &str) -> FlowSummary {
    run("", keys).summary.flows.swap_remove(0)
}

fn goodput(flow: &FlowSummary) -> f64 {
    flow.goodput_bps.expect("it was measured")
}

#[test]
fn a_flow_grows_from_the_smallest_initial_windows() {
    for cc in ["reno", "cubic", "vegas", "westwood", "copa", "tahoe", "bbr", "bbr3"] {
        for window in ["1 segment", "2 segments", "1500 B"] {
            let flow = alone(&format!("tcp = {{ cc = {cc:?}, initial_window = {window:?} }}"));
            assert!(goodput(&flow) > 16.5e6, "{cc} {window}: {flow:?}");
            // Tahoe's are of its losses later.
            assert!(flow.timeouts == 0 || cc == "tahoe", "{cc} {window}: {flow:?}");
        }
    }
}

#[test]
fn a_window_of_segments_is_so_many_of_the_largest_packets() {
    for segments in [1_u32, 2, 5, 10] {
        for (mtu, payload) in [("", 1452), ("1228 B", 1200), ("1400 B", 1372), ("9000 B", 8972)] {
            let mtu = if mtu.is_empty() { String::new() } else { format!("quic.mtu = {mtu:?}\n") };
            let keys = format!("{mtu}tcp = {{ cc = \"fixed\", window = \"{segments} segments\" }}");
            let result = run("", &keys);
            let flow = &result.summary.flows[0];
            // Behind the handshake and the search for the largest packet.
            let rows = result.flows[0].iter().filter(|row| row.at > Time::from_picos(2_000_000_000_000));
            let most = rows.map(|row| row.in_flight_segments).fold(0.0, f64::max);
            assert!((most - f64::from(segments)).abs() < 0.01, "{keys}: {most}");
            // A round trip is of 40 ms, the time of the packets, and at most 25 ms by which an ACK is late.
            let user = f64::from(segments * 8 * payload);
            assert!((0.9 * user / 0.067..user / 0.0405).contains(&goodput(flow)), "{keys}: {flow:?}");
            assert_eq!((flow.timeouts, flow.losses.dropped_packets), (0, 0), "{keys}: {flow:?}");
        }
    }
}

#[test]
fn requests_end_whose_ends_have_a_window_of_one_packet() {
    let keys = "app.request = { size = \"20 kB\", response = \"20 kB\", think = \"100 ms\", count = 5 }\n\
                tcp = { cc = \"fixed\", window = \"1 segment\" }";
    let result = run("", keys);
    let row = &result.summary.requests[0];
    assert_eq!((row.finished, row.unfinished), (5, 0), "{row:?}");
    // 15 packets there, 15 back, each in a round trip and the 25 ms by which its ACK is late.
    assert!(row.response_mean_s.is_some_and(|mean| (1.5..2.1).contains(&mean)), "{row:?}");
}

#[test]
fn a_lossy_handshake_ends_with_a_window_of_one_packet() {
    let keys = "app.transfer = \"20 kB\"\ntcp = { cc = \"fixed\", window = \"1 segment\" }";
    for loss in ["10%", "30%"] {
        let result = run(&format!(", loss = {loss:?}"), keys);
        let flow = &result.summary.flows[0];
        assert!(flow.completion_s.is_some(), "{loss}: {flow:?}");
    }
}
