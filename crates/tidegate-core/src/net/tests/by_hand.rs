//! Channels, followers and signals, computed by hand.

use super::*;

/// A channel of 1 Mbit/s at first, in slots of 100 kbit/s, measured every 10 ms and changed
/// every 20; the estimate is what was measured, with one slot above it. Three packets wait.
fn channel() -> Plan {
    let ms = Span::from_millis;
    let settings = Settings {
        slot: Rate::from_bps(100_000),
        shift_inc: 0,
        shift_dec: 0,
        margin: Slots::whole(1),
        corridor: Slots::whole(0),
        ..Settings::default()
    };
    let mut gate = GatePlan::open("channel");
    gate.rate = RatePlan::Dtm(DtmPlan {
        settings,
        initial: Rate::from_bps(1_000_000),
        measure: ms(10),
        update_every: 2,
        estimators: Estimators::Channel,
        pool: None,
    });
    gate.queue.limit = QueueLimit::Packets(3);
    let mut plan = Plan::empty(Time::ZERO + ms(100));
    plan.gates.push(gate);
    plan.flows.push(flow("flow".to_owned(), vec![0], vec![], Span::ZERO, false));
    plan
}

/// By hand. Five packets of 1000 bytes come at 0: one is served, three wait, the fifth is
/// dropped. Two come in the second interval, at 10 and 15 ms; the second finds the queue full.
/// That is 1.6 Mbit/s, the dropped one included: from 20 ms on there are 1.7. Nothing comes in
/// the third; a packet exactly at its end counts in the fourth, 0.8 Mbit/s: from 40 ms on there
/// are 0.9. From 60 ms on there is one slot.
#[test]
fn a_channel_follows_what_arrives() {
    let times = [0, 0, 0, 0, 0, 10, 5, 15];
    let entries = times.map(|gap: u64| (gap * 1_000_000_000, 0, 1000));
    let outcome = |plan: &Plan| {
        let outcome = outcome_of(plan, &entries, None);
        let delivered = outcome.delivered.iter().filter(|(_, route, ..)| *route == 0);
        let at: Vec<u64> = delivered.map(|(at, ..)| at.picos()).collect();
        (
            at,
            outcome.dropped.iter().map(|(_, _, handle, _)| *handle).collect::<Vec<_>>(),
            outcome.allocated[0],
        )
    };
    let plan = channel();
    let (at, dropped, allocated) = outcome(&plan);
    // 8 ms each at first; the third packet is on its way at 20 ms and keeps its speed. The next
    // ones take 8000/1.7 us, 4705.88…, one after the other.
    let n_faster = |n: u64| 24_000_000_000 + n * 80_000_000_000 / 17;
    assert_eq!(at, [8_000_000_000, 16_000_000_000, 24_000_000_000, n_faster(1), n_faster(2), n_faster(3)]);
    assert_eq!(dropped, [4, 6]);
    let allocated = allocated.expect("it is a channel");
    assert_eq!((allocated.least.bps(), allocated.most.bps(), allocated.changes), (100_000, 1_700_000, 3));
    // 20 ms at 1, 20 at 1.7, 20 at 0.9 and 40 at 0.1 Mbit/s.
    assert_eq!(allocated.offered, 76_000 * 1_000_000_000_000);
    let exact = Plan { exact: true, ..plan.clone() };
    assert_eq!(outcome(&exact), (at.clone(), dropped.clone(), Some(allocated)));
    // With "rescale" 4 of its 8 ms are left to the third packet at 20 ms.
    let mut rescaled = plan;
    rescaled.gates[0].on_change = OnChange::Rescale;
    assert_eq!(outcome(&rescaled).0[2], 20_000_000_000 + 4_000_000 * 1_000_000 / 1700);
}

/// By hand. One flow sends 1.6 Mbit/s in the first interval, the other in the second. Estimates
/// rise at once and halve when they fall. One estimate of both is 1.6 Mbit/s at 20 ms; one for
/// each is 0.8 and 1.6. Two intervals later there is a quarter left of either.
#[test]
fn one_estimate_or_one_for_each_flow() {
    let entries = [(0, 0, 1000), (0, 0, 1000), (10_000_000_000, 2, 1000), (0, 2, 1000)];
    let offered = |estimators: Estimators| {
        let mut plan = channel();
        plan.flows.push(flow("other".to_owned(), vec![0], vec![], Span::ZERO, false));
        plan.gates[0].queue.limit = QueueLimit::Unlimited;
        let RatePlan::Dtm(dtm) = &mut plan.gates[0].rate else { panic!("it is a channel") };
        dtm.settings.shift_dec = 1;
        dtm.estimators = estimators;
        let outcome = outcome_of(&plan, &entries, None);
        outcome.allocated[0].expect("it is a channel").offered / u128::from(crate::units::PICOS_PER_SECOND)
    };
    // 20 ms each at 1 Mbit/s and at what was estimated with one slot more.
    assert_eq!(offered(Estimators::Channel), 20 * (1000 + 1700 + 500 + 200 + 125));
    assert_eq!(offered(Estimators::Flow), 20_000 + 50_000 + 14_000 + 5_000 + 2_750);
}

/// By hand. Two channels of 1 Mbit/s have 2 between them. The second is silent: at 20 ms it
/// gives back 0.9, and the first, which measured 1.6 Mbit/s, gets 1.7 at the same instant. Of the
/// 3.3 that it asks for at 40 ms it gets the 1.9 that are left; so again at 60 and 80 ms.
#[test]
fn what_one_channel_gives_back_the_other_gets_at_once() {
    let mut plan = channel();
    plan.gates.push(GatePlan { name: "silent".to_owned(), ..plan.gates[0].clone() });
    for gate in &mut plan.gates {
        let RatePlan::Dtm(dtm) = &mut gate.rate else { panic!("it is a channel") };
        dtm.pool = Some(0);
    }
    plan.pools.push(PoolPlan {
        name: "pool".to_owned(),
        capacity: Rate::from_bps(2_000_000),
        order: PoolOrder::Asked,
    });
    plan.flows.push(flow("other".to_owned(), vec![1], vec![], Span::ZERO, false));
    let mut entries = vec![(10_000_000_000, 0, 1000), (0, 0, 1000), (20_000_000_000, 0, 1000)];
    entries.extend([(0, 0, 1000); 3]);
    entries.extend([(20_000_000_000, 0, 2000), (0, 0, 2000), (20_000_000_000, 0, 2000), (0, 0, 2000)]);
    let outcome = outcome_of(&plan, &entries, None);
    let [first, silent] = [0, 1].map(|gate: usize| outcome.allocated[gate].expect("it is a channel"));
    assert_eq!((first.most.bps(), first.changes), (1_900_000, 2));
    assert_eq!((silent.least.bps(), silent.changes), (100_000, 1));
    let bits = |given: Allocated| given.offered / u128::from(crate::units::PICOS_PER_SECOND);
    assert_eq!(bits(first), 20 * (1000 + 1700) + 60 * 1900);
    assert_eq!(bits(silent), 20 * 1000 + 80 * 100);
}

/// A source of 1 Mbit/s at first that takes half of what a link offers: 4 Mbit/s, and 1 from 15 ms
/// on. Slots of 10 ms; their values come 7 ms later: half of 4, of 2.5 and of 1 Mbit/s at 17, 27
/// and 37 ms.
fn follower() -> Plan {
    let ms = Span::from_millis;
    let mbps = |mbps: u64| Rate::from_bps(mbps * 1_000_000);
    let mut link = GatePlan::open("link");
    link.rate = RatePlan::Steps {
        steps: vec![(Time::ZERO, Speed::Bits(mbps(4))), (Time::ZERO + ms(15), Speed::Bits(mbps(1)))],
        repeat: None,
    };
    let mut source = GatePlan::open("source");
    source.host = true;
    source.rate = RatePlan::Follow(FollowPlan {
        gate: 0,
        every: ms(10),
        lag: ms(7),
        blocks: Blocks::INSTCAP,
        share: Share::from_parts(500_000_000_000),
        initial: mbps(1),
        min: Rate::ZERO,
        peak: None,
    });
    let mut plan = Plan::empty(Time::ZERO + ms(100));
    plan.gates = vec![link, source];
    plan.flows.push(flow("flow".to_owned(), vec![1], vec![], Span::ZERO, true));
    plan
}

/// When packets of 1000 bytes leave the source that come so many microseconds after each other.
fn departures(plan: &Plan, gaps: &[u64]) -> Vec<u64> {
    let entries: Vec<(u64, usize, u32)> = gaps.iter().map(|gap| (gap * 1_000_000, 0, 1000)).collect();
    let ahead = outcome_of(plan, &entries, None);
    let exact = outcome_of(&Plan { exact: true, ..plan.clone() }, &entries, None);
    assert_eq!(first_difference(&ahead, &exact), None);
    let data: Vec<Time> =
        ahead.delivered.iter().filter(|(_, route, ..)| *route == 0).map(|(at, ..)| *at).collect();
    // TCP hears each of them.
    assert_eq!(ahead.departed.iter().map(|(at, _)| *at).collect::<Vec<_>>(), data);
    data.iter().map(|at| at.picos() / 1_000_000).collect()
}

/// By hand. Three packets at 0 take 8 ms each at 1 Mbit/s; the third begins at 16 ms and keeps its
/// speed, so the fourth, at 2 Mbit/s from 17 ms on, takes 4: 28 ms; it began at 24 ms. At 27 ms the
/// rate is 1.25 Mbit/s: the fifth takes 6.4 ms. At 37 ms it is 0.5.
#[test]
fn a_source_takes_its_share_of_what_comes_back() {
    let plan = follower();
    assert_eq!(departures(&plan, &[0, 0, 0, 0, 0]), [8000, 16000, 24000, 28000, 34400]);
    // What begins at the very instant that a value comes has the new rate: 4 ms from 17 ms on,
    // 16 ms from 37 ms on; a microsecond earlier it has the old one.
    assert_eq!(departures(&plan, &[17_000, 20_000]), [21_000, 53_000]);
    assert_eq!(departures(&plan, &[36_999]), [43_399]);
}

/// With nothing to begin with, what waits begins when the first value comes. With EFFCAP of two
/// means over two values: 4 alone at 17 ms, then 3.25, 1.75 and 1 Mbit/s, and half of that.
#[test]
fn a_source_that_knows_nothing_sends_nothing() {
    let mut plan = follower();
    let RatePlan::Follow(follow) = &mut plan.gates[1].rate else { panic!("it follows") };
    follow.initial = Rate::ZERO;
    follow.blocks = Blocks { samples: 2, blocks: 2 };
    assert_eq!(departures(&plan, &[0, 0, 5000]), [21_000, 25_000, 29_000]);
    // Half of 3.25 Mbit/s at 27 ms, of 1.75 at 37 ms.
    let at = departures(&plan, &[27_000, 10_000, 10_000]);
    assert_eq!(at, [27_000 + 64_000 / 13, 37_000 + 64_000 / 7, 47_000 + 16_000]);
}

/// Gates that follow each other, and one that follows itself, come to rest.
#[test]
fn a_circle_of_followers_does_no_harm() {
    let mut plan = follower();
    let RatePlan::Follow(follow) = &plan.gates[1].rate else { panic!("it follows") };
    let follow = *follow;
    let mut other = plan.gates[1].clone();
    other.rate = RatePlan::Follow(FollowPlan { gate: 1, ..follow });
    plan.gates[0] = other;
    let RatePlan::Follow(first) = &mut plan.gates[1].rate else { panic!("it follows") };
    first.gate = 0;
    plan.duration = Time::ZERO + Span::from_secs(1);
    let outcome = outcome_of(&plan, &[(0, 0, 1000)], None);
    for allocated in &outcome.allocated {
        let allocated = allocated.expect("it follows");
        // Half of half: after a second nothing is left.
        assert_eq!((allocated.most.bps(), allocated.least.bps()), (1_000_000, 0));
    }
}

/// A follower that sends cells: a packet of 88 bytes is two, 424 bits each. What is in the source's
/// buffer goes at the rate in force when each cell begins.
#[test]
fn cells_begin_at_the_rate_in_force() {
    let mut plan = follower();
    plan.gates[1].framing = Framing::Aal5 { llc: false };
    plan.gates[1].rate = match &plan.gates[1].rate {
        // 42.4 kbit/s: a cell takes 10 ms; then half of 84.8 and of 42.4 kbit/s.
        RatePlan::Follow(follow) => {
            // Values come at 20 and 30 ms, when cells begin.
            let lag = Span::from_millis(10);
            RatePlan::Follow(FollowPlan { initial: Rate::from_bps(42_400), lag, ..*follow })
        }
        other => other.clone(),
    };
    plan.gates[0].rate = RatePlan::Steps {
        steps: vec![
            (Time::ZERO, Speed::Bits(Rate::from_bps(169_600))),
            (Time::ZERO + Span::from_millis(10), Speed::Bits(Rate::from_bps(84_800))),
        ],
        repeat: None,
    };
    let entries = [(0, 0, 88), (0, 0, 88), (0, 0, 40)];
    let outcome = outcome_of(&plan, &entries, None);
    let at: Vec<u64> = outcome.departed.iter().map(|(at, _)| at.picos() / 1_000_000_000).collect();
    // Cells begin at 0 and 10 ms at 42.4 kbit/s, at 20 and 25 ms at 84.8, and at 30 ms at 42.4.
    assert_eq!(at, [20, 30, 40]);
    let delivered: Vec<u64> =
        outcome.delivered.iter().filter(|row| row.1 == 0).map(|row| row.0.picos() / 1_000_000_000).collect();
    assert_eq!(delivered, at);
}

/// One gate of 1 Mbit/s, 2 Mbit/s from 15 ms on; two packets wait at most.
fn published(kind: SignalKind) -> Vec<(Time, u64)> {
    let ms = Span::from_millis;
    let mut plan = Plan::empty(Time::ZERO + ms(100));
    let mut gate = GatePlan::open("gate");
    gate.rate = RatePlan::Steps {
        steps: vec![
            (Time::ZERO, Speed::Bits(Rate::from_bps(1_000_000))),
            (Time::ZERO + ms(15), Speed::Bits(Rate::from_bps(2_000_000))),
        ],
        repeat: None,
    };
    gate.queue.limit = QueueLimit::Packets(2);
    plan.gates.push(gate);
    plan.flows.push(flow("flow".to_owned(), vec![0], vec![], Span::ZERO, false));
    plan.signals.push(SignalPlan { gate: 0, kind, every: ms(10), lag: ms(7) });
    // Four at once: the last is dropped. One more exactly at the end of the first slot.
    let entries = [(0, 0, 1000), (0, 0, 1000), (0, 0, 1000), (0, 0, 1000), (10_000_000_000, 0, 500)];
    let outcome = outcome_of(&plan, &entries, None);
    outcome.signals.iter().take(3).map(|(at, _, value)| (*at, *value)).collect()
}

#[test]
fn a_gate_publishes_its_slots() {
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    let expect = |values: [u64; 3]| [(at(17), values[0]), (at(27), values[1]), (at(37), values[2])];
    assert_eq!(published(SignalKind::Capacity), expect([1_000_000, 1_500_000, 2_000_000]));
    // What comes at the end of a slot belongs to the next.
    assert_eq!(published(SignalKind::Arrivals), expect([4000, 500, 0]));
    assert_eq!(published(SignalKind::Drops), expect([1, 0, 0]));
}
