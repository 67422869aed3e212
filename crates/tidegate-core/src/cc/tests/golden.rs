//! A golden table of drawn histories: what every controller makes of ACKs and losses.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::golden::{Digest, compare, drawn};

#[derive(Clone, Copy, Debug)]
enum Fact {
    /// So many ACKs, this many microseconds apart, over this round trip in milliseconds.
    Acks(u64, u64, u64),
    /// So many acknowledged at once, from a window that did not limit the sender.
    Idle(u64),
    /// The window, in tenths of a segment more or less, was in flight.
    Lost(LossKind, u64),
    Recovered(u64),
    Restart(u64),
}

fn controllers() -> impl Strategy<Value = CongestionPlan> {
    prop_oneof![
        1 => Just(CongestionPlan::Tahoe { fast_retransmit: true }),
        1 => Just(CongestionPlan::Reno),
        1 => Just(CongestionPlan::NewReno),
        3 => Just(CongestionPlan::Cubic),
        1 => Just(CongestionPlan::Fixed { window: 10_000 }),
    ]
}

fn facts() -> impl Strategy<Value = Vec<Fact>> {
    let kind = prop_oneof![
        3 => Just(LossKind::DupAck),
        1 => any::<bool>().prop_map(|again| LossKind::Timeout { again }),
    ];
    let fact = prop_oneof![
        6 => (1u64..60, 1u64..20_000, 5u64..300).prop_map(|(count, gap, rtt)| Fact::Acks(count, gap, rtt)),
        1 => (1u64..5).prop_map(Fact::Idle),
        2 => (kind, 1u64..20).prop_map(|(kind, tenths)| Fact::Lost(kind, tenths)),
        1 => (0u64..20).prop_map(Fact::Recovered),
        1 => (1u64..5).prop_map(Fact::Restart),
    ];
    vec(fact, 1..40)
}

type Case = (CongestionPlan, SsthreshRounding, Increase, u64, u32, Vec<Fact>);

fn cases() -> impl Strategy<Value = Case> {
    let rounding = prop_oneof![
        Just(SsthreshRounding::Exact),
        Just(SsthreshRounding::Down),
        Just(SsthreshRounding::Up),
        Just(SsthreshRounding::Ns2)
    ];
    let increase = prop_oneof![Just(Increase::PerAck), Just(Increase::PerWindow), Just(Increase::Random)];
    (controllers(), rounding, increase, 1u64..12, 200u32..1500, facts())
}

fn line((cc, rounding, increase, segments, mss, facts): &Case) -> String {
    let plan = TcpPlan {
        cc: *cc,
        ssthresh_rounding: *rounding,
        increase: *increase,
        mss: *mss,
        initial_window: segments * u64::from(*mss),
        ..plain_plan()
    };
    let rng = Seed { seed: 1, replication: 0 }.stream("test");
    let mut controller = Controller::new(&plan, Some(rng));
    let mss = u64::from(*mss);
    let (mut now, mut digest, mut losses) = (Time::ZERO, Digest::new(), 0);
    for fact in facts {
        match *fact {
            Fact::Acks(count, gap, rtt) => {
                for n in 0..count {
                    now += Span::from_picos(gap * 1_000_000);
                    let rtt = Span::from_millis(rtt);
                    let in_flight = controller.window();
                    let bytes = if n % 7 == 3 { 2 * mss } else { mss };
                    let measured = (n % 2 == 0).then_some(rtt);
                    let acked = Acked {
                        at: now,
                        bytes,
                        segments: u32::try_from(bytes / mss).unwrap_or(1),
                        in_flight,
                        rtt: measured,
                        smoothed_rtt: rtt,
                        window_limited: true,
                    };
                    controller.handle_acked(&acked);
                }
            }
            Fact::Idle(count) => {
                let rtt = Span::from_millis(50);
                let acked = Acked {
                    at: now,
                    bytes: count * mss,
                    segments: u32::try_from(count).unwrap_or(1),
                    in_flight: count * mss,
                    rtt: Some(rtt),
                    smoothed_rtt: rtt,
                    window_limited: false,
                };
                controller.handle_acked(&acked);
            }
            Fact::Lost(kind, tenths) => {
                losses += 1;
                let window = controller.window();
                let in_flight = (window * tenths / 10).max(mss);
                let window = window.min(50 * mss);
                controller.handle_lost(&Lost {
                    at: now,
                    in_flight,
                    window,
                    kind,
                    remaining: 0,
                    total_lost: 0,
                    max: 0,
                });
            }
            Fact::Recovered(count) => {
                controller.handle_recovered(&Recovered { in_flight: count * mss });
            }
            Fact::Restart(count) => controller.handle_restart(count * mss),
        }
        let seen = controller.snapshot();
        // A ten-thousandth of a byte: the last bits of a cube root are the platform's.
        let window = format!("{:.4}", seen.window);
        digest.add(&(controller.window(), window, seen.ssthresh, seen.slow_start));
    }
    let name = format!("{cc:?}");
    format!(
        "{name:32} facts {:2}, losses {losses:2}, window {:7}, digest {digest}",
        facts.len(),
        controller.window()
    )
}

#[test]
fn golden_controllers() {
    let lines: Vec<String> = drawn(cases(), 250).iter().map(line).collect();
    compare("controllers", &lines);
}
