//! Circuits that the kernel's TCP asks for.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a skipped test says why, the others what they measured")]

#[macro_use]
mod common;

use common::{live, plan};
use tidegate_core::plan::Plan;
use tidegate_live::LiveRun;
use tidegate_live::replay::replay;
use tidegate_result::CircuitSummary;

/// The recorded packets and words in virtual time tell the same story to the picosecond.
fn assert_replays(done: &LiveRun, plan: &Plan) {
    let report = &done.report;
    let again = replay(plan, &report.arrivals, &report.words, report.ended);
    assert_eq!(again.departures, report.departures);
    assert_eq!(again.drops, report.drops);
    for (live, virtual_) in report.network.gates().iter().zip(again.network.gates()) {
        assert_eq!(format!("{:?}", live.counters()), format!("{:?}", virtual_.counters()));
    }
    for pool in 0..plan.pools.len() {
        let [live, virtual_] =
            [&report.network, &again.network].map(|network| format!("{:?}", network.pool_use(pool)));
        assert_eq!(live, virtual_);
    }
}

/// Three bursts of a second each want a circuit, and two fit; calls without packets come and go.
const BURSTS: &str = r#"
title = "bursts"
duration = "4 s"
[pool.vp]
capacity = "25 Mbit/s"
[gate.vc]
per = "flow"
duplex = true
framing = "aal5"
rate.reserve = { pool = "vp", rate = "10 Mbit/s", setup = "10 ms", hold = "50 ms" }
delay = "5 ms"
[flow.client]
count = 3
path = ["vc"]
back = ["vc"]
tcp.cc = "reno"
app.transfer = "1 MB"
[calls.others]
pool = "vp"
rate = "2 Mbit/s"
every = { exponential = "300 ms" }
hold = { exponential = "300 ms" }
blocked = "refuse"
[record]
every = "10 ms"
"#;

both_ways!(transfers_wait_for_circuits_of_a_pool, bursts);

fn bursts() {
    let plan = plan(BURSTS);
    let Some(done) = live(&plan) else { return };
    let summary = &done.result.summary;
    // 1 MB takes 0.9 s at 10 Mbit/s of cells, so the third is served after the first two.
    let mut ends: Vec<f64> = summary.flows.iter().map(|flow| flow.completion_s.unwrap()).collect();
    ends.sort_by(f64::total_cmp);
    assert!(ends[1] > 0.9 && ends[1] < 1.5 && ends[2] > 1.8 && ends[2] < 3.5, "{ends:?}");
    // One call each: a circuit stays open over the round trips in which nothing is in it.
    assert_eq!(calls(&done), [(1, 1), (1, 1), (1, 1)]);
    let waited: u64 = circuits(&done).map(|circuit| circuit.calls.calls_waited).sum();
    assert_eq!(waited, 2, "the third, in both directions");
    assert_eq!(summary.calls.len(), 1);
    assert!(summary.calls[0].calls.calls_offered > 3, "{:?}", summary.calls);
    assert_replays(&done, &plan);
}

/// Clients whose requests each need their server's circuit, over a connection that stays and over new ones.
const PAGES: &str = r#"
title = "pages"
duration = "3 s"
[pool.vp]
capacity = "20 Mbit/s"
[gate.vc]
per = "flow"
duplex = true
rate.reserve = { pool = "vp", rate = "10 Mbit/s", hold = "5 ms" }
delay = "10 ms"
[flow.stays]
path = ["vc"]
back = ["vc"]
tcp.cc = "reno"
app.request = { size = "300 B", response = "60 kB", think = "150 ms" }
[flow.anew]
path = ["vc"]
back = ["vc"]
tcp.cc = "reno"
app.request = { size = "300 B", response = "60 kB", think = "150 ms", connection = "new" }
"#;

both_ways!(each_request_is_a_transfer, pages);

fn pages() {
    let plan = plan(PAGES);
    let Some(done) = live(&plan) else { return };
    let rows = &done.result.summary.requests;
    let [stays, anew] = calls(&done)[..] else { panic!("two circuits") };
    assert!(rows[0].finished >= 8 && rows[1].finished >= 6, "{rows:?}");
    // The circuit is given back while the user thinks; its round trips, longer than hold, are one call.
    // The handshake, before the first request, is one call more.
    assert!((rows[0].asked..=rows[0].asked + 3).contains(&stays.0), "{stays:?} {rows:?}");
    // A FIN that the kernel sends after the last ACK has come may ask once more.
    assert!((rows[1].asked..=2 * rows[1].asked).contains(&anew.0), "{anew:?} {rows:?}");
    assert_replays(&done, &plan);
}

fn circuits(done: &LiveRun) -> impl Iterator<Item = &CircuitSummary> {
    done.result.summary.gates.iter().filter_map(|gate| gate.circuit.as_ref())
}

/// Calls that were made and carried, by circuit: both directions of one are one.
fn calls(done: &LiveRun) -> Vec<(u64, u64)> {
    let all: Vec<_> =
        circuits(done).map(|circuit| (circuit.calls.calls_offered, circuit.calls.calls_carried)).collect();
    all.chunks(2).map(|both| both[0]).collect()
}
