//! quinn's congestion controllers beside ours, each alone on four links: `cargo run --release -p tidegate-quic --example beside`.

#![allow(clippy::print_stdout, reason = "a program that prints its result")]

use tidegate_quic::hosts;
use tidegate_scenario::Scenario;
use tidegate_sim::run_hosted;

const LINKS: [(&str, &str); 4] = [
    ("plain", r#"rate = "20 Mbit/s", queue = "100 packets""#),
    ("policer", r#"rate = "1 Gbit/s", police = { rate = "20 Mbit/s", burst = "50 kB" }"#),
    ("1% lost", r#"rate = "20 Mbit/s", queue = "100 packets", loss = "1%""#),
    ("CoDel, ECN", r#"rate = "20 Mbit/s", queue.limit = "1000 packets", queue.aqm = "codel""#),
];

fn main() {
    println!("{:<12} {:<22} {:>8} {:>7} {:>9}", "link", "sender", "Mbit/s", "lost %", "RTT in ms");
    for (link, gate) in LINKS {
        for transport in [
            "transport = \"quic\", quic.cc = \"cubic\"",
            "transport = \"quic\", quic.cc = \"newreno\"",
            "tcp.base = \"linux\", tcp.ecn = \"classic\"",
        ] {
            let text = format!(
                "duration = \"60 s\"\ngate.link = {{ {gate} }}\n\
                 flow.x = {{ path = [\"link\"], rtt = \"40 ms\", {transport} }}\n"
            );
            let plan =
                Scenario::from_toml(&text, link, None, &[]).expect("the scenario is good").plan(None, 0);
            let summary =
                run_hosted(&plan, &mut hosts(&plan, None), &mut |_| true).expect("it behaves").summary;
            let flow = &summary.flows[0];
            let lost = flow.losses.dropped_packets as f64 / flow.segments_sent as f64;
            let rtt = flow.rtt_mean_ms.unwrap_or(f64::NAN);
            println!(
                "{link:<12} {:<22} {:>8.2} {:>7.2} {rtt:>9.1}",
                flow.tcp,
                flow.goodput_bps.unwrap_or_default() / 1e6,
                lost * 100.0
            );
        }
    }
}
