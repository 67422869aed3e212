//! One-way delays, interarrival jitter and losses of background traffic, computed by hand.

use super::*;

fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

/// A link of 8 Mbit/s, a byte each microsecond, and 3 ms long.
fn link(duration: u64, limit: QueueLimit) -> Plan {
    let mut gate = GatePlan::open("link");
    gate.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(8_000_000)));
    gate.delay = ms(3);
    gate.queue.limit = limit;
    gate.queue.counts = QueueCounts::Waiting;
    let mut plan = Plan::empty(Time::ZERO + ms(duration));
    plan.gates.push(gate);
    plan
}

fn source(name: &str, start: Span, source: SourcePlan) -> TrafficPlan {
    TrafficPlan {
        name: name.to_owned(),
        group: name.to_owned(),
        path: vec![0],
        start: StartPlan::At(Time::ZERO + start),
        source,
        delays: true,
    }
}

fn constant(bytes: u32) -> SourcePlan {
    SourcePlan::Constant { rate: Rate::from_bps(2_000_000), bytes }
}

fn run(plan: &Plan) -> Network {
    let mut network = Network::new(plan, 0);
    while network.poll_step(plan.duration).is_some() {}
    network.finish();
    while network.poll_drop().is_some() {}
    network
}

/// Both ways of driving the gate.
fn both_ways(plan: Plan) -> [Network; 2] {
    [run(&plan), run(&Plan { exact: true, ..plan })]
}

/// A packet of 1000 bytes each 4 ms, and from 7 ms on one of 2000 bytes each 8 ms: each second packet from the third on
/// finds the other source's packet half sent, and takes 2 ms instead of 1 before the 3 ms of the link. Ten
/// packets arrive before 41 ms: 4, 4, 5, 4, 5, 4, 5, 4, 5, 4 ms. The eleventh is under way.
#[test]
fn constant_packets_behind_a_known_queue() {
    let mut plan = link(41, QueueLimit::Unlimited);
    plan.traffic = vec![source("a", Span::ZERO, constant(1000)), source("b", ms(7), constant(2000))];
    for network in both_ways(plan) {
        let a = network.transit(0).expect("it is measured");
        assert_eq!((a.delays().count(), a.lost(), a.unsettled()), (10, 0, 1));
        assert!((a.delays().mean_s().expect("some") - 0.0044).abs() < 1e-15);
        assert_eq!(a.delays().max_s(), Some(0.005));
        let median = a.delays().quantile_s(0.5).expect("some");
        assert!((median - 0.004).abs() < 0.004 / 1024.0, "{median}");
        // One difference of 0, eight of a millisecond.
        assert_eq!(a.jitter().differences(), (8 * 1_000_000_000, 9));
        // RFC 3550 A.8 on them: s ← s + d − ((s + 8) >> 4), J = s / 16.
        let scaled = (0..8).fold(0_u64, |s, _| s + 1_000_000_000 - ((s + 8) >> 4));
        assert_eq!(a.jitter().estimate_s(), Some((scaled >> 4) as f64 / 1e12));
        // The other source never waits: 2 ms of transmission, and its last packet is under way at 41 ms.
        let b = network.transit(1).expect("it is measured");
        assert_eq!((b.delays().count(), b.delays().max_s(), b.unsettled()), (4, Some(0.005), 1));
        assert_eq!(b.jitter().estimate_s(), Some(0.0));
    }
}

/// What is sent before the measured time is no part of it, wherever it arrives.
#[test]
fn what_is_sent_in_the_warm_up_does_not_count() {
    let mut plan = link(41, QueueLimit::Unlimited);
    plan.warmup = Time::ZERO + ms(10);
    plan.traffic = vec![source("a", Span::ZERO, constant(1000))];
    for network in both_ways(plan) {
        // Sent at 12, 16, … 36 ms; that of 8 ms arrives in the measured time, at 12 ms.
        assert_eq!(network.transit(0).expect("it is measured").delays().count(), 7);
        assert_eq!(network.traffic_counts().next().expect("one").delivered.packets, 8);
    }
}

fn media(spread: Span, deadline: Span) -> SourcePlan {
    SourcePlan::Media(Box::new(MediaPlan {
        frames_per_1000_s: 50_000,
        frame: SizePlan::Constant(4800),
        key_frames: None,
        packet: 1000,
        headers: 40,
        spread,
        deadline: Some(deadline),
    }))
}

/// Frames of five packets of 1000 bytes each 20 ms. Back to back the last packet waits for four others: 5 ms and 3 of
/// the link. Spread over 10 ms they come 2 ms apart, the last 8 ms after the first, and none waits.
#[test]
fn the_delay_of_a_media_frame_is_that_of_its_last_packet() {
    for (spread, deadline, delay, late) in
        [(0, 8, 0.008, 0), (0, 7, 0.008, 5), (10, 12, 0.012, 0), (10, 11, 0.012, 5)]
    {
        let mut plan = link(100, QueueLimit::Unlimited);
        plan.traffic = vec![source("video", Span::ZERO, media(ms(spread), ms(deadline)))];
        for network in both_ways(plan) {
            let frames = network.transit(0).and_then(|transit| transit.frames()).expect("media").clone();
            assert_eq!((frames.sent(), frames.lost(), frames.late()), (5, 0, Some(late)));
            assert_eq!((frames.delays().count(), frames.delays().max_s()), (5, Some(delay)));
        }
    }
}

/// Where two packets may wait, two of five that come together are dropped: every frame is lost once, and the packets that
/// arrive of it count only as packets. Spread over 10 ms none is.
#[test]
fn a_media_frame_is_lost_with_its_first_packet() {
    for (spread, lost) in [(0, 5), (10, 0)] {
        let mut plan = link(100, QueueLimit::Packets(2));
        plan.traffic = vec![source("video", Span::ZERO, media(ms(spread), ms(20)))];
        for network in both_ways(plan) {
            let transit = network.transit(0).expect("it is measured");
            let frames = transit.frames().expect("media");
            assert_eq!((frames.sent(), frames.lost(), frames.delays().count()), (5, lost, 5 - lost));
            assert_eq!((transit.lost(), transit.delays().count()), (2 * lost, 25 - 2 * lost));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A packet that was sent has arrived, was dropped, or is under way.
    #[test]
    fn every_packet_of_traffic_has_one_fate(
        plan in prop_oneof![any_network(), any_judged_network(), any_cell_network()].prop_map(followed),
        entries in entries(),
    ) {
        let mut plan = Plan { warmup: Time::ZERO, ..plan };
        plan.traffic.iter_mut().for_each(|row| row.delays = true);
        let mut network = Network::new(&plan, 1);
        let mut at = Time::ZERO;
        for (handle, (gap, route, bytes)) in (0..).zip(entries) {
            at = at.saturating_add(Span::from_picos(gap));
            while network.poll_step(at.min(plan.duration)).is_some() {}
            if at >= plan.duration {
                break;
            }
            network.handle_unit(at, route % (plan.flows.len() * 2), &mut Unit::new(bytes, handle, HeldBy::Application));
        }
        while network.poll_step(plan.duration).is_some() {}
        network.finish();
        for (source, counts) in network.traffic_counts().enumerate() {
            let transit = network.transit(source).expect("it is measured");
            prop_assert_eq!(transit.delays().count(), counts.delivered.packets);
            let known = transit.delays().count() + transit.lost();
            prop_assert_eq!(known + transit.unsettled() as u64, counts.sent.packets);
        }
    }
}
