//! Random paths and random plans: everything arrives once and in order, and nothing stalls.
//! [`Pair`] checks windows and timers at every step.

use proptest::collection::vec;
use proptest::prelude::*;

use super::pair::{Fate, Pair};
use super::plans::{delayed, plain};
use super::twin::Twin;
use crate::plan::{
    AckRule, Arithmetic, CongestionPlan, DelayedAckPlan, EcnPlan, Increase, LeastRto, LossDetection,
    Reduction, RtoPlan, RtoRestart, RttTiming, Segmentation, SlowStart, SsthreshRounding, TcpPlan, TcpRules,
};
use crate::tcp::{AccEcn, Counters, MOST_BLOCKS, Role, Segment, State, flags};
use crate::unit::Ecn;
use crate::units::{PICOS_PER_SECOND, Rate, Span, Time};

/// Those of the golden tables, which keep their draws.
fn golden_controllers() -> impl Strategy<Value = CongestionPlan> {
    prop_oneof![
        Just(CongestionPlan::Tahoe { fast_retransmit: true }),
        Just(CongestionPlan::Tahoe { fast_retransmit: false }),
        Just(CongestionPlan::Reno),
        Just(CongestionPlan::NewReno),
        Just(CongestionPlan::Cubic),
        Just(CongestionPlan::Fixed { window: 10_000 }),
        Just(CongestionPlan::FixedRate { rate: Rate::from_bps(2_000_000), window: 40_000 }),
        Just(CongestionPlan::Bbr),
        Just(CongestionPlan::Bbr3),
    ]
}

fn controllers() -> impl Strategy<Value = CongestionPlan> {
    prop_oneof![
        3 => golden_controllers(),
        1 => prop_oneof![
            Just(CongestionPlan::Westwood),
            Just(CongestionPlan::Vegas),
            Just(CongestionPlan::Copa),
        ],
        1 => prop_oneof![
            Just(CongestionPlan::Ledbat),
            Just(CongestionPlan::Dctcp),
            Just(CongestionPlan::Prague),
        ],
    ]
}

fn timers() -> BoxedStrategy<RtoPlan> {
    let estimated = |min, initial, tick| RtoPlan::Estimated {
        min: Span::from_millis(min),
        max: Span::from_secs(60),
        initial: Span::from_millis(initial),
        tick: Span::from_millis(tick),
    };
    let fixed = |restart| RtoPlan::Fixed { rto: Span::from_millis(480), restart };
    prop_oneof![
        Just(estimated(1000, 1000, 0)),
        Just(estimated(200, 3000, 10)),
        Just(estimated(1000, 6000, 500)),
        Just(fixed(RtoRestart::Ack)),
        Just(fixed(RtoRestart::Departure)),
    ]
    .boxed()
}

fn ack_delays() -> BoxedStrategy<Option<DelayedAckPlan>> {
    let tick = Span::from_millis(200);
    prop_oneof![
        Just(None),
        Just(Some(delayed())),
        Just(Some(DelayedAckPlan { every: 2, timeout: None, tick: Span::ZERO })),
        Just(Some(DelayedAckPlan { every: 2, timeout: Some(tick), tick })),
    ]
    .boxed()
}

prop_compose! {
    fn plans_with(controllers: BoxedStrategy<CongestionPlan>)(
        cc in controllers,
        rto in timers(),
        delayed_ack in ack_delays(),
        (sack, limited_transmit, go_back_n, guard, handshake, timestamps, idle_restart) in any::<(bool, bool, bool, bool, bool, bool, bool)>(),
        window in prop_oneof![Just(None), (1_500_u64..40_000).prop_map(Some)],
        dupthresh in prop_oneof![Just(None), Just(Some(2)), Just(Some(3))],
        segments in 1_u64..12,
        ssthresh_rounding in prop_oneof![Just(SsthreshRounding::Exact), Just(SsthreshRounding::Down), Just(SsthreshRounding::Up), Just(SsthreshRounding::Ns2)],
        increase in prop_oneof![Just(Increase::PerAck), Just(Increase::PerWindow), Just(Increase::Random)],
        rtt_timing in prop_oneof![Just(RttTiming::Every), Just(RttTiming::One)],
        quick_acks in 0_u32..4,
        (ecn, abe) in (prop_oneof![Just(EcnPlan::Off), Just(EcnPlan::Classic), Just(EcnPlan::Accurate)], any::<bool>()),
    ) -> TcpPlan {
        TcpPlan {
            cc, rto, delayed_ack, sack, limited_transmit, go_back_n, guard, handshake, timestamps, idle_restart,
            window, dupthresh, ssthresh_rounding, increase, rtt_timing, quick_acks,
            initial_window: segments * 1460,
            ecn,
            abe,
            ..plain()
        }
    }
}

/// Plans of the golden tables.
pub(super) fn golden_plans() -> impl Strategy<Value = TcpPlan> {
    plans_with(golden_controllers().boxed())
}

fn plans() -> impl Strategy<Value = TcpPlan> {
    plans_with(controllers().boxed())
}

fn rules() -> impl Strategy<Value = TcpRules> {
    let slow_starts =
        prop_oneof![Just(SlowStart::Standard), Just(SlowStart::HyStart), Just(SlowStart::HyStartPlusPlus)];
    let choices = (slow_starts, any::<[bool; 5]>(), any::<[bool; 5]>());
    choices.prop_map(
        |(
            slow_start,
            [arithmetic, loss, reduction, least_rto, accecn_option],
            [acks, dsack, undo, frto, paces],
        )| TcpRules {
            arithmetic: if arithmetic { Arithmetic::Linux } else { Arithmetic::Rfc },
            slow_start,
            loss: if loss { LossDetection::Rack } else { LossDetection::Sack },
            reduction: if reduction { Reduction::Prr } else { Reduction::Pipe },
            least_rto: if least_rto { LeastRto::Variance } else { LeastRto::TimeOut },
            acks: if acks { AckRule::WhileBufferGrows } else { AckRule::Delayed },
            dsack,
            undo,
            frto,
            paces,
            obeys_advice: false,
            accecn_option,
            segmentation: Segmentation::Kernel,
        },
    )
}

/// Half of them by the RFCs' rules, half by any mixture with Linux's.
pub(super) fn any_plans() -> impl Strategy<Value = TcpPlan> {
    prop_oneof![plans(), (plans(), rules()).prop_map(|(plan, rules)| TcpPlan { rules, sack: true, ..plan }),]
}

pub(super) fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = prop_oneof![
        6 => Just(Fate::Deliver),
        2 => Just(Fate::Drop),
        1 => (1_u64..200).prop_map(|ms| Fate::Delay(Span::from_millis(ms))),
    ];
    vec(fate, 0..120)
}

/// Numbers of a segment, its length, its flags, what it says was received out of order, and milliseconds before it comes.
type Odd = ([u16; 4], u32, u8, [(u16, u16); 3], u64);

pub(super) fn odd_segments() -> impl Strategy<Value = Vec<Odd>> {
    vec((any::<[u16; 4]>(), 0_u32..3000, any::<u8>(), any::<[(u16, u16); 3]>(), 0_u64..500), 1..100)
}

/// Any combination of ECN's flags: ends without ECN take no notice of them.
fn ecn_flags(ack: u32, ts: u32) -> u16 {
    flags::of_ace(ack ^ ts)
}

pub(super) fn odd_segment(numbers: &[u16; 4], len: u32, bits: u8, sack: &[(u16, u16); 3]) -> Segment {
    let [seq, ack, window, ts] = numbers.map(u32::from);
    let mut blocks = [(0, 0); MOST_BLOCKS];
    blocks
        .iter_mut()
        .zip(sack)
        .for_each(|(block, (left, right))| *block = (u32::from(*left), u32::from(*right)));
    Segment {
        seq,
        ack,
        len,
        window: window.max(1),
        flags: u16::from(bits) & (flags::SYN | flags::ACK | flags::FIN) | ecn_flags(ack, ts),
        ecn: Ecn::from_bits(ts as u8),
        sack_count: bits >> 6,
        retransmission: false,
        connection: 0,
        sent_at: Time::ZERO,
        ts_val: ts,
        ts_ecr: seq,
        sack: blocks,
        accecn: None,
    }
}

fn run(plan: &TcpPlan, isn: u32, bytes: u64, there: &[Fate], back: &[Fate], restless: bool) -> Pair {
    let mut pair = Pair::numbered(plan, isn);
    pair.restless = restless;
    let judge =
        |fates: Vec<Fate>| move |n: u64, _: &Segment| fates.get(n as usize).copied().unwrap_or(Fate::Deliver);
    // So that two runs mark the same ones.
    pair.mark_every = bytes % 7;
    pair.judge = Box::new(judge(there.to_vec()));
    pair.judge_back = Box::new(judge(back.to_vec()));
    pair.open_and_write(bytes);
    pair.drive_bounded(100_000, Time::from_picos(1_000_000 * PICOS_PER_SECOND));
    pair
}

fn outcome(pair: &Pair) -> (Counters, Counters, Time) {
    (*pair.a.counters(), *pair.b.counters(), pair.now)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_arrives_once(plan in any_plans(), bytes in 1_u64..200_000, there in fates(), back in fates()) {
        let pair = run(&plan, 7, bytes, &there, &back, false);
        let (sender, receiver, _) = outcome(&pair);
        prop_assert_eq!(pair.a.state(), State::Established);
        prop_assert_eq!((receiver.delivered_bytes, pair.b.in_order_bytes()), (bytes, bytes));
        prop_assert_eq!(sender.acked_bytes, bytes);
        let mss = u64::from(plan.mss).min(plan.window.unwrap_or(u64::MAX));
        prop_assert_eq!(receiver.delivered_segments, sender.segments_sent - sender.segments_retransmitted);
        // A packet of Linux's ends where the other side's window does, within a segment or not; one that grows is no number of segments.
        let grows = plan.rules.acks == AckRule::WhileBufferGrows;
        let cuts = plan.rules.arithmetic == Arithmetic::Linux
            && plan.window.map_or(grows, |window| window % mss > 0);
        prop_assert!(cuts || receiver.delivered_segments == bytes.div_ceil(mss));
        prop_assert!(receiver.delivered_segments >= bytes.div_ceil(mss));
        prop_assert_eq!(receiver.outside_window, 0);
        prop_assert_eq!(pair.a.snapshot().in_flight, 0);
        // No more marks than ECN-capable segments; a window shrinks for a mark only where there is one.
        prop_assert!(receiver.ce_received <= pair.marked && pair.marked <= sender.segments_sent);
        // By the counter a reduction may be for marks that lost ACKs could have reported.
        let counted = plan.ecn == EcnPlan::Accurate || plan.cc == CongestionPlan::Prague;
        prop_assert!(counted || sender.ecn_reductions == 0 || receiver.ce_received > 0);
        // DCTCP and Prague have ECN whatever the plan says.
        prop_assert!(pair.a.uses_ecn() || pair.marked == 0);
        prop_assert_eq!(pair.a.next_wakeup(), Time::NEVER);
    }

    /// The initial sequence number changes nothing, not even across the wrap.
    #[test]
    fn numbers_wrap_unnoticed(plan in any_plans(), there in fates(), back in fates(), before in 0_u32..100_000) {
        let low = run(&plan, 7, 100_000, &there, &back, false);
        let high = run(&plan, u32::MAX - before, 100_000, &there, &back, false);
        prop_assert_eq!(outcome(&low), outcome(&high));
    }

    /// Waking early changes nothing.
    #[test]
    fn waking_early_changes_nothing(plan in any_plans(), there in fates(), back in fates()) {
        let calm = run(&plan, 7, 100_000, &there, &back, false);
        let restless = run(&plan, 7, 100_000, &there, &back, true);
        prop_assert_eq!(outcome(&calm), outcome(&restless));
    }

    /// Whatever arrives, an endpoint neither panics nor sends beyond what was written.
    #[test]
    fn any_segment_can_be_handled(
        plan in any_plans(),
        segments in odd_segments(),
    ) {
        for role in [Role::Active, Role::Passive] {
            let rng = Some(crate::random::Seed { seed: 1, replication: 0 }.stream("test"));
            let mut end = Twin::new(&plan, role, 30_000, rng);
            let mut now = Time::ZERO;
            end.open(now);
            end.write(now, 50_000);
            for (numbers, len, bits, sack, wait) in &segments {
                now += Span::from_millis(*wait);
                let mut segment = odd_segment(numbers, *len, *bits, sack);
                let counters = [segment.ack, segment.seq, segment.ts_val];
                segment.accecn = (bits & 0x20 != 0).then(|| AccEcn::new(counters, bits >> 6, bits >> 4 & 1));
                end.handle_wakeup(now);
                end.handle_segment(now, &segment);
                let mut sent = 0;
                while let Some((answer, _)) = end.poll_transmit(now) {
                    sent += 1;
                    prop_assert!(sent < 1000, "no end of segments: {:?}", answer);
                }
                prop_assert!(end.counters().acked_bytes <= 50_000);
                prop_assert!(end.congestion_window() >= u64::from(plan.mss));
            }
        }
    }
}
