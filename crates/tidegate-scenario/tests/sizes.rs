//! Sizes that are written as a time or in bandwidth–delay products.

mod reading;

use proptest::prelude::*;
use tidegate_core::plan::{Discipline, Plan, QueueLimit, RatePlan, StepThreshold};
use tidegate_scenario::Scenario;

use reading::{load, plan, small};

fn limit(plan: &Plan) -> QueueLimit {
    plan.gates[0].queue.limit
}

#[test]
fn a_product_is_the_rate_times_the_round_trip() {
    // 20 Mbit/s × (15 ms + 25 ms) = 100 kB.
    let gate = |queue: &str| format!("rate = \"20 Mbit/s\"\ndelay = \"15 ms\"\nqueue = \"{queue}\"");
    for (written, bytes) in
        [("1 BDP", 100_000), ("0.5 bdp", 50_000), ("2Bdp", 200_000), ("40 ms", 100_000), ("1 s", 2_500_000)]
    {
        let made = small(&gate(written), "rtt = \"40 ms\"");
        assert_eq!(limit(&made), QueueLimit::Bytes(bytes), "{written}");
    }
}

#[test]
fn the_longest_round_trip_counts_in_either_direction() {
    let text = |per: &str| {
        format!(
            "duration = \"1 s\"\n[gate.link]\nrate = \"8 Mbit/s\"\nqueue = \"1 BDP\"\nduplex = true\n{per}\n\
             [flow.near]\npath = [\"link\"]\nrtt = \"10 ms\"\n[gate.far]\ndelay = \"50 ms\"\n[flow.up]\npath = [\"far\"]\n\
             back = [\"link\"]\nrtt = \"100 ms\"\n"
        )
    };
    for per in ["", "per = \"flow\""] {
        let scenario = load(&text(per));
        let made = scenario.plan(None, 0);
        let links: Vec<_> = made.gates.iter().filter(|gate| gate.name.starts_with("link")).collect();
        assert!(links.len() > 1);
        assert!(links.iter().all(|gate| gate.queue.limit == QueueLimit::Bytes(100_000)));
        let [size] = scenario.computed_sizes().try_into().expect("one size");
        assert_eq!((size.key.as_str(), size.written.as_str()), ("gate.link.queue", "1 BDP"));
        assert_eq!(size.size, "100 kB");
        assert_eq!(size.from, "8 Mbit/s × 100 ms, the round trip of up, the longest");
    }
}

#[test]
fn a_rate_that_varies_counts_with_its_mean() {
    let steps = "rate.steps = [[\"0 s\", \"10 Mbit/s\"], [\"5 s\", \"6 Mbit/s\"]]\nqueue = \"100 ms\"";
    assert_eq!(limit(&small(steps, "")), QueueLimit::Bytes(100_000));
    let recorded = "rate.trace = { file = \"bad_input/traces/good.drp\" }\nqueue = \"100 ms\"";
    let made = small(recorded, "");
    let RatePlan::RateTrace { trace, .. } = &made.gates[0].rate else { panic!("a trace") };
    assert_eq!(limit(&made), QueueLimit::Bytes(trace.mean().bps() / 80));
    let chain = "rate.markov = { rates = [\"1 Mbit/s\", \"4 Mbit/s\"], mean_holding = [\"2 s\", \"1 s\"] }\nqueue = \"1 s\"";
    assert_eq!(limit(&small(chain, "")), QueueLimit::Bytes(250_000));
}

#[test]
fn a_queue_is_counted_in_what_its_gate_passes() {
    let cells = "rate = \"42.4 Mbit/s\"\nframing = \"aal5\"\nqueue = \"10 ms\"";
    assert_eq!(limit(&small(cells, "")), QueueLimit::Cells(1000));
    let packets = "rate = \"5000 packets/s\"\nqueue = \"10 ms\"";
    assert_eq!(limit(&small(packets, "")), QueueLimit::Packets(50));
}

#[test]
fn bursts_count_at_their_own_rates() {
    let made = small(
        "rate.token_bucket = { rate = \"4 Mbit/s\", burst = \"1 BDP\", peak = \"8 Mbit/s\", peak_burst = \"10 ms\" }",
        "rtt = \"40 ms\"",
    );
    let RatePlan::TokenBucket { burst_bytes, peak_burst_bytes, .. } = made.gates[0].rate else {
        panic!("a bucket")
    };
    assert_eq!((burst_bytes, peak_burst_bytes), (20_000, Some(10_000)));
    for (written, same) in [
        ("{ rate = \"5 Mbit/s\", burst = \"1 BDP\" }", "{ rate = \"5 Mbit/s\", burst = \"25 kB\" }"),
        (
            "{ cir = \"5 Mbit/s\", cbs = \"100 ms\", pir = \"8 Mbit/s\", pbs = \"10 ms\" }",
            "{ cir = \"5 Mbit/s\", cbs = \"62500 B\", pir = \"8 Mbit/s\", pbs = \"10 kB\" }",
        ),
        (
            "{ pcr = \"8 Mbit/s\", burst = \"10 ms\", scr = \"5 Mbit/s\", mbs = \"100 ms\" }",
            "{ pcr = \"8 Mbit/s\", burst = \"10 kB\", scr = \"5 Mbit/s\", mbs = \"62500 B\" }",
        ),
        (
            "{ srtcm = { cir = \"5 Mbit/s\", cbs = \"1 BDP\", ebs = \"2 BDP\" } }",
            "{ srtcm = { cir = \"5 Mbit/s\", cbs = \"25 kB\", ebs = \"50 kB\" } }",
        ),
        (
            "{ trtcm = { cir = \"5 Mbit/s\", cbs = \"1 BDP\", pir = \"8 Mbit/s\", pbs = \"1 BDP\" } }",
            "{ trtcm = { cir = \"5 Mbit/s\", cbs = \"25 kB\", pir = \"8 Mbit/s\", pbs = \"40 kB\" } }",
        ),
        (
            "{ rate = \"5 Mbit/s\", burst = \"1 BDP\", per_flow = { rate = \"2 Mbit/s\", burst = \"1 BDP\" } }",
            "{ rate = \"5 Mbit/s\", burst = \"25 kB\", per_flow = { rate = \"2 Mbit/s\", burst = \"10 kB\" } }",
        ),
    ] {
        let of = |police: &str| small(&format!("rate = \"1 Gbit/s\"\npolice = {police}"), "rtt = \"40 ms\"");
        assert_eq!(of(written).gates, of(same).gates, "{written}");
    }
}

#[test]
fn thresholds_and_classes_have_them_too() {
    let gate = |queue: &str| format!("rate = \"8 Mbit/s\"\nqueue = {queue}");
    let of = |queue: &str| small(&gate(queue), "rtt = \"40 ms\"").gates;
    let step = &of("{ limit = \"1 BDP\", aqm = { step = \"0.5 BDP\" } }")[0].queue;
    assert_eq!(step.limit, QueueLimit::Bytes(40_000));
    assert_eq!(step.discipline, Discipline::Step(StepThreshold::Bytes(20_000)));
    for (written, same) in [
        (
            "{ aqm.red = { min = \"10 ms\", max = \"1 BDP\" } }",
            "{ aqm.red = { min = \"10 kB\", max = \"40 kB\" } }",
        ),
        ("{ aqm.fq_codel = { limit = \"1 BDP\" } }", "{ aqm.fq_codel = { limit = \"40 kB\" } }"),
    ] {
        assert_eq!(of(written), of(same), "{written}");
    }
    let classed = |queue: &str, burst: &str| {
        let with_class = format!(
            "rate = \"8 Mbit/s\"\nscheduler = \"htb\"\nclasses = {{ a = {{ members = [\"bulk\"], queue = \"{queue}\", htb = \
             {{ rate = \"4 Mbit/s\", burst = \"{burst}\" }} }} }}"
        );
        small(&with_class, "rtt = \"40 ms\"").gates
    };
    assert_eq!(classed("1 BDP", "1 BDP"), classed("40 kB", "20 kB"));
}

#[test]
fn a_receive_window_counts_at_the_lowest_rate_of_the_path() {
    let text = |window: &str| {
        format!(
            "duration = \"1 s\"\n[gate.a]\nrate = \"100 Mbit/s\"\n[gate.b]\nrate = \"50 Mbit/s\"\npolice = {{ rate = \"8 \
             Mbit/s\", burst = \"15 kB\" }}\n[tcp.mine]\nwindow = \"2 BDP\"\n[flow.x]\npath = [\"a\", \"b\"]\nrtt = \"40 ms\"\n\
             {window}\n"
        )
    };
    let of = |window: &str| plan(&text(window)).flows[0].tcp.window;
    assert_eq!(of("tcp.window = \"1 BDP\""), Some(40_000));
    assert_eq!(of("tcp.window = \"100 ms\""), Some(100_000));
    assert_eq!(of("tcp.use = \"mine\""), Some(80_000));
    assert_eq!(of(""), None);
}

#[test]
fn explanations_and_edits_know_them() {
    let text = "duration = \"1 s\"\n[gate.link]\nrate = \"20 Mbit/s\"\nqueue = \"50 packets\"\n[flow.x]\npath = [\"link\"]\nrtt \
                = \"40 ms\"\n[[sweep]]\n\"gate.link.queue\" = [\"0.5 BDP\", \"1 BDP\"]\n";
    let scenario = load(text);
    assert!(scenario.computed_sizes().is_empty());
    let point = scenario.point(&["gate.link.queue=0.5 BDP".to_owned()]).expect("a point");
    assert_eq!(limit(&point.plan(None, 0)), QueueLimit::Bytes(50_000));
    let line = "queue.limit   50 kB (0.5 BDP = 0.5 × 20 Mbit/s × 40 ms)";
    assert!(point.explain().contains(line), "{}", point.explain());
    assert!(point.to_toml().contains("queue = \"0.5 BDP\""));
    let wrong =
        Scenario::from_toml(text, "x", None, &["gate.link.rate=unlimited".to_owned()]).expect("a warning");
    assert!(wrong.warnings()[1].message.ends_with("gate link has no rate"), "{:?}", wrong.warnings());
}

proptest! {
    /// A time is the size that the same number of bytes would be, and a product the time of its round trip.
    #[test]
    fn products_are_times(bps in 8_u64..10_000_000_000, millis in 1_u64..2000, percent in 1_u64..400) {
        let of = |queue: String| {
            let gate = format!("rate = \"{bps} bit/s\"\nqueue = \"{queue}\"");
            limit(&small(&gate, &format!("rtt = \"{millis} ms\"")))
        };
        let bytes = u128::from(bps) * u128::from(millis) * u128::from(percent) / 800_000;
        let product = of(format!("{}.{:02} BDP", percent / 100, percent % 100));
        prop_assert_eq!(product, QueueLimit::Bytes(bytes as u64));
        prop_assert_eq!(of(format!("{} us", millis * percent * 10)), product);
    }
}
