mod advice;
pub(crate) mod classed;
mod judged;
mod never;
mod rows;
mod spaced;

use proptest::prelude::*;

use super::*;
use crate::aal5::CELL_BYTES;
use crate::gcra::{Conformance, Interval, Limit};
use crate::plan::{
    AtEnd, CoDelPlan, CobaltPlan, ColourAction, Discipline, DualPi2Plan, FqCoDelPlan, Framing, Isolation,
    JitterPlan, LinkLayer, LossPlan, MarkerPlan, MeterPlan, OpportunityTrace, PiePlan, PolicePlan,
    QueueCounts, QueueLimit, QueuePlan, RatePlan, RedAdaptivePlan, RedCurve, RedPlan, ShapedBytes,
    StepThreshold, TinPlan,
};
use crate::unit::{Colour, Ecn, HeldBy, Limiter};
use crate::units::{PICOS_PER_SECOND, Rate, Speed};

const MEASURED: Measured =
    Measured { from: Time::from_picos(1_000_000_000), until: Time::from_picos(150_000_000_000) };

fn context(record: RecordLevel) -> GateContext {
    GateContext {
        index: 0,
        seed: Seed { seed: 1, replication: 0 },
        measured: MEASURED,
        precision: Precision::Fine,
        record,
    }
}

fn link(bps: u64, limit: QueueLimit) -> GatePlan {
    GatePlan {
        rate: RatePlan::Constant(Speed::Bits(Rate::from_bps(bps))),
        queue: QueuePlan { limit, ..QueuePlan::UNLIMITED },
        ..GatePlan::open("link")
    }
}

fn unit(bytes: u32, handle: u32) -> Unit {
    let mut unit = Unit::new(bytes, handle, HeldBy::Application);
    unit.set_ecn(Ecn::from_bits(handle as u8));
    unit
}

/// Policers of one or two rates, of some Mbit/s or thousands of cells a second; bursts of
/// about `burst` units.
pub(crate) fn any_police(burst: u64) -> impl Strategy<Value = PolicePlan> {
    let conformance = prop_oneof![Just(Conformance::Vbr1), Just(Conformance::Vbr2), Just(Conformance::Vbr3)];
    let sustained = prop::option::of((1..burst, conformance));
    (1u64..10, 1..burst, any::<bool>(), sustained).prop_map(move |(rate, peak_burst, tags, sustained)| {
        let speed = rate * if burst > 1000 { 1_000_000 } else { 5_000_000 };
        let work = if burst > 1000 { 8 } else { 424 };
        let limit = |per_second, units| {
            let increment = Interval::at_rate(work, Rate::from_bps(per_second)).expect("a rate");
            Limit::tokens(increment, units).expect("a burst")
        };
        PolicePlan {
            peak: limit(speed, peak_burst),
            sustained: sustained.map(|(units, which)| (limit(speed / 2, units), which)),
            tags,
            per_flow: None,
        }
    })
}

/// None mostly; else some milliseconds.
pub(crate) fn any_jitter() -> impl Strategy<Value = JitterPlan> {
    let micros = 0u64..5_000;
    prop_oneof![
        4 => Just(JitterPlan::None),
        1 => micros.clone().prop_map(|most| JitterPlan::Uniform { most: Span::from_micros(most) }),
        1 => micros.clone().prop_map(|mean| JitterPlan::Exponential { mean: Span::from_micros(mean) }),
        1 => (micros.clone(), micros).prop_map(|(latency, pause)| {
            JitterPlan::Wakeup { latency: Span::from_micros(latency), pause: Span::from_micros(pause) }
        }),
    ]
}

/// What becomes of packets of 1000 bytes that come after so many milliseconds: when they leave, in microseconds, both
/// ways of driving.
fn departures(plan: &GatePlan, millis: &[u64], tagged: bool) -> Vec<Option<u64>> {
    let arrivals = millis.iter().map(|at| Time::ZERO + Span::from_millis(*at));
    let mut ahead = Gate::new(plan, context(RecordLevel::Summary));
    let mut stepped = Gate::new(plan, context(RecordLevel::Summary));
    let mut left = vec![];
    let mut ahead_out = vec![];
    for (n, at) in arrivals.enumerate() {
        let mut unit = unit(1000, n as u32);
        unit.set_tagged(tagged);
        while stepped.next_wakeup().is_some_and(|end| end <= at) {
            left.extend(next_departure(&mut stepped).1.ok());
        }
        let _ = stepped.handle_unit(at, unit);
        ahead_out.push(ahead.pass(at, &mut unit, &MEASURED));
    }
    while stepped.next_wakeup().is_some() {
        left.extend(next_departure(&mut stepped).1.ok());
    }
    assert_eq!(left, ahead_out.iter().flatten().copied().collect::<Vec<_>>());
    ahead_out.iter().map(|out| out.map(|out| out.picos() / 1_000_000)).collect()
}

/// A queue of zero holds nothing back, whatever the law: what cannot begin when it comes is dropped.
#[test]
fn a_queue_of_nothing() {
    let of = |rate: RatePlan, limit: QueueLimit| GatePlan { rate, ..link(1, limit) };
    let mbps = |mbps: u64| Rate::from_bps(mbps * 1_000_000);
    for limit in [QueueLimit::Packets(0), QueueLimit::Bytes(0), QueueLimit::Bytes(999)] {
        // A millisecond each. The second comes while the first is in service, the third when that ends.
        let constant = of(RatePlan::Constant(Speed::Bits(mbps(8))), limit);
        assert_eq!(departures(&constant, &[0, 0, 1, 5], false), [Some(1000), None, Some(2000), Some(6000)]);
        // Two packets' tokens, and one more each millisecond. The third finds none, though nothing is in service.
        let bucket = RatePlan::TokenBucket {
            rate: mbps(8),
            burst_bytes: 2000,
            initial_bytes: None,
            peak: None,
            peak_burst_bytes: None,
        };
        let conform = [Some(0), Some(0), None, Some(1000), None];
        assert_eq!(departures(&of(bucket, limit), &[0, 0, 0, 1, 1], false), conform);
        // No rate from 2 ms to 4 ms.
        let steps = [(0, 8), (2, 0), (4, 8)]
            .map(|(at, rate)| (Time::ZERO + Span::from_millis(at), Speed::Bits(mbps(rate))));
        let steps = RatePlan::Steps { steps: steps.to_vec(), repeat: None };
        let left = [Some(1000), Some(2000), None, None, Some(5000)];
        assert_eq!(departures(&of(steps, limit), &[0, 1, 2, 3, 4], false), left);
        assert_eq!(departures(&of(RatePlan::Unlimited, limit), &[0, 0], false), [Some(0), Some(0)]);
        // Whatever comes waits for an opportunity.
        let at = vec![Time::ZERO + Span::from_millis(3)];
        let trace = OpportunityTrace { at, period: Span::from_millis(3), bytes: 1500 };
        let trace = RatePlan::Opportunities { trace: trace.into(), at_end: AtEnd::Repeat };
        assert_eq!(departures(&of(trace, limit), &[0, 4], false), [None, None]);
    }
}

/// A threshold of zero: no tagged packet finds fewer waiting.
#[test]
fn a_threshold_of_nothing_drops_all_that_is_tagged() {
    let mut plan = link(8_000_000, QueueLimit::Packets(5));
    for (threshold, left) in [(0, [None, None, None]), (1, [Some(1000), Some(2000), None])] {
        plan.queue.tagged = Some(threshold);
        assert_eq!(departures(&plan, &[0, 0, 0], true), left);
        assert_eq!(departures(&plan, &[0, 0, 0], false), [Some(1000), Some(2000), Some(3000)]);
    }
}

#[test]
fn the_last_to_come_is_dropped() {
    let mut gate = Gate::new(&link(8_000_000, QueueLimit::Packets(2)), context(RecordLevel::Summary));
    // One in service, two waiting, the fourth finds the queue full; at 1 ms one has left.
    let passages: Vec<bool> =
        (0..4).map(|n| gate.pass(Time::ZERO, &mut unit(1000, n), &MEASURED).is_some()).collect();
    assert_eq!(passages, [true, true, true, false]);
    let later = gate.pass(Time::from_picos(1_000_000_000), &mut unit(1000, 4), &MEASURED);
    assert_eq!(later, Some(Time::from_picos(4_000_000_000)));
}

#[test]
fn a_queue_in_bytes_is_filled_to_the_last_byte() {
    for (counts, fates) in [
        // Two of 1000 bytes wait behind the one in service, or one with it.
        (QueueCounts::Waiting, [true, true, true, false]),
        (QueueCounts::All, [true, true, false, false]),
    ] {
        let plan = |limit| GatePlan {
            queue: QueuePlan { limit: QueueLimit::Bytes(limit), counts, ..QueuePlan::UNLIMITED },
            ..link(8_000_000, QueueLimit::Unlimited)
        };
        let offered = |limit| {
            let mut gate = Gate::new(&plan(limit), context(RecordLevel::Summary));
            (0..4)
                .map(|n| gate.pass(Time::ZERO, &mut unit(1000, n), &MEASURED).is_some())
                .collect::<Vec<bool>>()
        };
        assert_eq!(offered(2000), fates);
        // One byte less is room for one packet less.
        let passed = |list: &[bool]| list.iter().filter(|passes| **passes).count();
        assert_eq!(passed(&offered(1999)) + 1, passed(&fates));
        // Driven step by step it is the same queue.
        let mut stepped = Gate::new(&plan(2000), context(RecordLevel::Summary));
        let admitted: Vec<bool> =
            (0..4).map(|n| stepped.handle_unit(Time::ZERO, unit(1000, n)).is_ok()).collect();
        assert_eq!(admitted, fates);
    }
}

#[test]
fn a_packet_leaves_the_queue_at_the_instant_its_service_begins() {
    let mut gate = Gate::new(&link(8_000_000, QueueLimit::Bytes(1000)), context(RecordLevel::Summary));
    // One is in service until 1 ms, one waits; a picosecond before, there is no room.
    let millisecond = 1_000_000_000;
    for (at, passes) in [(0, true), (0, true), (millisecond - 1, false), (millisecond, true)] {
        let out = gate.pass(Time::from_picos(at), &mut unit(1000, 0), &MEASURED);
        assert_eq!(out.is_some(), passes, "at {at} ps");
    }
}

#[test]
fn equal_rates_in_series_never_queue() {
    for bps in [7u64, 33_920_000, 48_000_001, 622_000_000] {
        let mut gates: Vec<Gate> = (0..4)
            .map(|_| Gate::new(&link(bps, QueueLimit::Unlimited), context(RecordLevel::Summary)))
            .collect();
        for n in 0..1000 {
            let mut at = Time::ZERO;
            for (index, gate) in gates.iter_mut().enumerate() {
                let mut unit = unit(1500, n);
                let out = gate.pass(at, &mut unit, &MEASURED).expect("no drops");
                if index > 0 {
                    let limiter = unit.cause().limiter();
                    assert_eq!(limiter, Limiter::Sender(HeldBy::Application), "waited at {index}");
                }
                at = out;
            }
        }
    }
}

/// A packet that finds more than one waiting is marked, or dropped if it may not be; one that is marked is no new mark.
#[test]
fn a_step_marks_what_finds_more_than_its_threshold() {
    let mut plan = link(8_000_000, QueueLimit::Unlimited);
    plan.queue.discipline = Discipline::Step(StepThreshold::Packets(1));
    let mut gate = Gate::new(&plan, context(RecordLevel::Events));
    // One in service, two waiting, then one of each codepoint: Not-ECT, ECT(1), ECT(0), CE.
    let mut seen = vec![];
    for n in [2, 2, 2, 0, 1, 2, 3] {
        let mut unit = unit(1000, n);
        let passes = gate.pass(Time::ZERO, &mut unit, &MEASURED).is_some();
        seen.push((passes, unit.ecn()));
    }
    let plain = (true, Ecn::Ect0);
    let marked = (true, Ecn::Ce);
    assert_eq!(seen, [plain, plain, plain, (false, Ecn::NotEct), marked, marked, marked]);
    assert_eq!(gate.last_drop().map(|drop| drop.reason), Some(DropReason::Early));
    let counters = gate.counters();
    assert_eq!((counters.marked().total().packets, counters.refused().total().packets), (2, 1));
    assert_eq!(gate.take_history().and_then(|rows| Some(rows.last()?.marked_packets)), Some(2));
}

/// A marker colours, a plain gate passes the colours on, and a queue keeps more room for green packets.
#[test]
fn colours_are_carried_from_gate_to_gate() {
    let mbps = |mbps: u64| Rate::from_bps(mbps * 1_000_000);
    let marker = |colour_aware| MarkerPlan {
        meter: MeterPlan::TwoRate { cir: mbps(8), cbs: 2000, pir: mbps(8), pbs: 4000 },
        colour_aware,
        actions: [ColourAction::Remark; 3],
        codepoints: [None; 3],
    };
    let edge = GatePlan { marker: Some(marker(false)), ..link(8_000_000_000, QueueLimit::Unlimited) };
    let mut core = GatePlan { marker: Some(marker(true)), ..link(8_000_000, QueueLimit::Unlimited) };
    core.queue.colours = [QueueLimit::Packets(3), QueueLimit::Packets(2), QueueLimit::Bytes(0)];
    let mut gates = [edge, link(8_000_000_000, QueueLimit::Unlimited), core]
        .map(|plan| Gate::new(&plan, context(RecordLevel::Summary)));
    let start = Time::from_picos(2_000_000_000);
    let mut seen = vec![];
    // 2000 bytes are green, 2000 yellow, the rest is red; a byte each microsecond comes to both buckets.
    for (n, after) in [0, 0, 0, 0, 0, 1000].into_iter().enumerate() {
        let (mut at, mut unit) = (start + Span::from_micros(after), unit(1000, n as u32));
        let mut fates = vec![];
        for gate in &mut gates {
            let out = gate.pass(at, &mut unit, &MEASURED);
            fates.push(out.is_some());
            let Some(out) = out else { break };
            at = out;
        }
        seen.push((unit.colour(), fates.len() == 3 && fates[2]));
    }
    let [green, yellow, red] = [Colour::Green, Colour::Yellow, Colour::Red];
    // The first is in service; the second and the third wait, so the fourth finds no room for yellow; red has none ever.
    assert_eq!(
        seen,
        [(green, true), (green, true), (yellow, true), (yellow, false), (red, false), (green, true)]
    );
    let counted = |gate: &Gate| {
        [green, yellow, red].map(|colour| gate.marker().expect("it marks").coloured(colour).packets)
    };
    assert_eq!((counted(&gates[0]), counted(&gates[2])), ([3, 2, 1], [3, 2, 1]));
    assert_eq!(gates[2].last_drop().map(|drop| drop.reason), Some(DropReason::QueueFull));
}

/// Disciplines that decide when a unit would be served.
pub(crate) fn any_judge() -> impl Strategy<Value = Discipline> {
    let codel = (1u64..5_000, 1u64..20, prop::option::weighted(0.3, 1u64..5_000)).prop_map(
        |(target, interval, threshold)| CoDelPlan {
            target: Span::from_micros(target),
            interval: Span::from_millis(interval),
            ce_threshold: threshold.map(Span::from_micros),
        },
    );
    let codel = codel.boxed();
    let fq = (codel.clone(), 1u32..6, 40u32..3000, 0u64..30, 0u64..40_000).prop_map(
        |(codel, queues, quantum, limit, memory)| FqCoDelPlan { codel, queues, quantum, limit, memory },
    );
    let dual = (1u64..20_000, 1u64..20_000, (0u32..2_000_000, 0u32..20_000_000), 0u64..3_000, 0u64..1_000)
        .prop_map(|(target, update, (alpha, beta), step, range)| DualPi2Plan {
            target: Span::from_micros(target),
            update: Span::from_micros(update),
            alpha,
            beta,
            step: Span::from_micros(step),
            range: Span::from_micros(range),
            ..DualPi2Plan::DEFAULT
        });
    let pie =
        (1u64..20_000, 1u64..20_000, (0u32..20_000_000, 0u32..200_000_000), 0u64..30, any::<[bool; 2]>())
            .prop_map(|(target, update, (alpha, beta), burst, [derandomize, cap])| PiePlan {
                target: Span::from_micros(target),
                update: Span::from_micros(update),
                alpha,
                beta,
                max_burst: Span::from_millis(burst),
                derandomize,
                cap,
                ..PiePlan::DEFAULT
            });
    prop_oneof![
        any_tin().prop_map(Discipline::Cake),
        codel.prop_map(Discipline::CoDel),
        pie.prop_map(Discipline::Pie),
        fq.prop_map(Discipline::FqCoDel),
        dual.prop_map(Discipline::DualPi2)
    ]
}

/// Gates whose discipline decides when a unit would be served.
fn any_judged_gate() -> impl Strategy<Value = GatePlan> {
    (any_gate(), any_judge()).prop_map(|(mut gate, judge)| {
        gate.queue.discipline = judge;
        gate
    })
}

/// Flow queues of CAKE with few queues and short times.
pub(crate) fn any_tin() -> BoxedStrategy<TinPlan> {
    let isolation = prop_oneof![
        Just(Isolation::Triple),
        Just(Isolation::Flows),
        Just(Isolation::HostPairs),
        Just(Isolation::DualDestination)
    ];
    let times = (1u64..5_000, 1u64..20_000, 0u64..2_000);
    let blue = (0u64..500, 0u64..100);
    (isolation, times, blue, 1u32..6, 40u32..3000, -40i32..60)
        .prop_map(|(isolation, (target, interval, packet_time), (up, down), queues, quantum, overhead)| {
            TinPlan {
                cobalt: CobaltPlan {
                    target: Span::from_micros(target),
                    interval: Span::from_micros(interval),
                    packet_time: Span::from_micros(packet_time),
                    increment: up * 1_000_000_000_000_000,
                    decrement: down * 1_000_000_000_000_000,
                },
                isolation,
                queues,
                quantum,
                bytes: ShapedBytes::Beyond { overhead, least: 64, link: LinkLayer::Atm },
            }
        })
        .boxed()
}

/// RED with short thresholds and quick averages.
fn any_red() -> impl Strategy<Value = Discipline> {
    let thresholds = (any::<bool>(), 0u64..4, 1u64..6);
    let shares = (0u64..=100, prop_oneof![Just(1_000_000_000u32), 1u32..1_000_000_000], 1u64..5_000);
    let adaptive = prop::option::of(1u64..20);
    (thresholds, shares, prop::option::of(100u32..1500), any::<[bool; 3]>(), adaptive).prop_map(
        |((in_bytes, min, more), (percent, weight, micros), by_size, [gentle, wait, hard_drop], adaptive)| {
            let each = if in_bytes { 1000 } else { 1 };
            Discipline::Red(RedPlan {
                in_bytes,
                min: min * each,
                max: (min + more) * each,
                max_p: percent * 10_000_000_000_000_000,
                weight,
                packet_time: Span::from_micros(micros),
                by_size,
                gentle,
                wait,
                hard_drop,
                // Green units have the thresholds above, the others sometimes their own.
                colours: if wait {
                    let curve =
                        |part: u64| RedCurve { min, max: min + part * each, max_p: 400_000_000_000_000_000 };
                    [None, Some(curve(2)), Some(curve(1))]
                } else {
                    [None; 3]
                },
                adaptive: adaptive.map(|interval| RedAdaptivePlan {
                    interval: Span::from_millis(interval),
                    ..RedAdaptivePlan::DEFAULT
                }),
            })
        },
    )
}

/// Markers of some Mbit/s with bursts of a few packets.
fn any_marker() -> impl Strategy<Value = MarkerPlan> {
    let action =
        || prop_oneof![Just(ColourAction::Remark), Just(ColourAction::Pass), Just(ColourAction::Drop)];
    let numbers = (1u64..10, 1u64..4000, 0u64..4000, 0u64..10);
    let codepoint = || prop::option::of(0u8..64);
    let codepoints = [codepoint(), codepoint(), codepoint()];
    (any::<[bool; 2]>(), numbers, [action(), action(), action()], codepoints).prop_map(
        |([two, colour_aware], (mbps, cbs, more, faster), actions, codepoints)| {
            let cir = Rate::from_bps(mbps * 1_000_000);
            let pir = Rate::from_bps((mbps + faster) * 1_000_000);
            let meter = if two {
                MeterPlan::TwoRate { cir, cbs, pir, pbs: cbs + more }
            } else {
                MeterPlan::SingleRate { cir, cbs, ebs: more }
            };
            MarkerPlan { meter, colour_aware, actions, codepoints }
        },
    )
}

/// What today's gates have beside the others: random early detection, a marker and limits by colour, a policer of each
/// flow, a bucket of the peak rate. Some of each.
#[derive(Clone, Debug)]
pub(crate) struct Extras {
    red: Option<Discipline>,
    marker: Option<MarkerPlan>,
    colours: [Option<u64>; 3],
    per_flow: Option<u64>,
    peak_burst: Option<u64>,
}

pub(crate) fn any_extras() -> impl Strategy<Value = Extras> {
    let colour = || prop::option::weighted(0.2, 0u64..6);
    (
        prop::option::weighted(0.4, any_red()),
        prop::option::weighted(0.4, any_marker()),
        [colour(), colour(), colour()],
        prop::option::weighted(0.4, 1500u64..4000),
        prop::option::weighted(0.6, 1500u64..4000),
    )
        .prop_map(|(red, marker, colours, per_flow, peak_burst)| Extras {
            red,
            marker,
            colours,
            per_flow,
            peak_burst,
        })
}

impl Extras {
    /// A gate of packets with them.
    pub(crate) fn given_to(self, gate: &mut GatePlan) {
        if gate.is_cell_gate() {
            return;
        }
        gate.queue.discipline = self.red.unwrap_or(gate.queue.discipline);
        gate.queue.colours =
            self.colours.map(|limit| limit.map_or(QueueLimit::Unlimited, QueueLimit::Packets));
        gate.marker = self.marker;
        if let (Some(police), Some(burst)) = (&mut gate.police, self.per_flow) {
            let increment = Interval::at_rate(8, Rate::from_bps(2_000_000)).expect("a rate");
            police.per_flow = Some(Limit::tokens(increment, burst).expect("a burst"));
        }
        if let RatePlan::TokenBucket { rate, peak, peak_burst_bytes, .. } = &mut gate.rate {
            *peak = peak.map(|peak| peak.max(*rate));
            *peak_burst_bytes = peak.and(self.peak_burst);
        }
    }
}

fn any_gate_with_extras() -> impl Strategy<Value = GatePlan> {
    (any_gate(), any_extras()).prop_map(|(mut gate, extras)| {
        extras.given_to(&mut gate);
        gate
    })
}

fn any_loss() -> impl Strategy<Value = LossPlan> {
    prop_oneof![
        Just(LossPlan::None),
        Just(LossPlan::Independent { probability: 0.2 }),
        Just(LossPlan::GilbertElliott { good_to_bad: 0.1, bad_to_good: 0.3, loss_good: 0.01, loss_bad: 0.6 }),
        Just(LossPlan::Every { units: 4 }),
    ]
}

pub(crate) fn any_gate() -> BoxedStrategy<GatePlan> {
    let limit = prop_oneof![
        Just(QueueLimit::Unlimited),
        (0u64..6).prop_map(QueueLimit::Packets),
        (0u64..6000).prop_map(QueueLimit::Bytes),
    ];
    let framing = prop_oneof![Just(Framing::Ip), Just(Framing::Overhead { overhead: 38, minimum: 84 })];
    let police = prop::option::weighted(0.2, any_police(3_000));
    let tagged = prop::option::weighted(0.2, 0u64..4);
    let discipline = prop_oneof![
        3 => Just(Discipline::DropTail),
        1 => (0u64..6).prop_map(|packets| Discipline::Step(StepThreshold::Packets(packets))),
        1 => (0u64..6000).prop_map(|bytes| Discipline::Step(StepThreshold::Bytes(bytes))),
    ];
    let queue =
        (limit, any::<bool>(), tagged, discipline).prop_map(|(limit, all, tagged, discipline)| QueuePlan {
            discipline,
            limit,
            counts: if all { QueueCounts::All } else { QueueCounts::Waiting },
            tagged,
            ..QueuePlan::UNLIMITED
        });
    (rate::tests::any_plan(), queue, any_loss(), framing, (0u64..5, any_jitter()), police)
        .prop_map(|(rate, queue, loss, framing, (delay, jitter), police)| GatePlan {
            rate,
            queue,
            police,
            loss,
            jitter,
            framing,
            delay: Span::from_millis(delay),
            ..GatePlan::open("gate")
        })
        .boxed()
}

/// What became of a unit: when it left, or how it was dropped.
pub(super) type Fate = Result<Time, GateDrop>;

/// Ends the present service of a gate driven step by step: which unit left, and its fate.
fn next_departure(gate: &mut Gate) -> (u32, Fate) {
    gate.handle_wakeup();
    let Departure { unit, fate } = gate.poll_departure().expect("a unit leaves");
    assert_eq!(gate.poll_departure(), None);
    (unit.handle, fate)
}

/// The fates of all units at a gate driven step by step.
fn drive_steps(gate: &mut Gate, arrivals: &[(Time, u32)]) -> Vec<(u32, Fate)> {
    let mut passages = Vec::new();
    for (handle, (at, bytes)) in arrivals.iter().enumerate() {
        while gate.next_wakeup().is_some_and(|end| end <= *at) {
            passages.push(next_departure(gate));
        }
        if let Err(drop) = gate.handle_unit(*at, unit(*bytes, handle as u32)) {
            passages.push((handle as u32, Err(drop)));
        }
    }
    while gate.next_wakeup().is_some() {
        passages.push(next_departure(gate));
    }
    passages.sort_by_key(|(handle, _)| *handle);
    passages
}

/// The fates of all units at a gate that takes them in rows.
fn pass_in_rows(gate: &mut Gate, arrivals: &[(Time, u32)]) -> Vec<(u32, Fate)> {
    let numbered = arrivals.iter().enumerate();
    let mut units: Vec<(Time, Unit)> =
        numbered.map(|(handle, (at, bytes))| (*at, unit(*bytes, handle as u32))).collect();
    let mut fates = Vec::new();
    while fates.len() < units.len() {
        let row = &mut units[fates.len()..];
        let passed = gate.pass_row(row, &MEASURED);
        fates.extend(row[..passed].iter().map(|(out, unit)| (unit.handle, Ok(*out))));
        if let Some((_, dropped)) = row.get(passed) {
            fates.push((dropped.handle, Err(gate.last_drop().expect("a drop"))));
        }
    }
    fates
}

/// Stated at the arrival, one by one or in rows, or step by step: the same units leave at the same instants, the
/// same are dropped, and every count and row is equal.
fn check_agreement(
    plan: &GatePlan,
    arrivals: &[(Time, u32)],
    record: RecordLevel,
) -> Result<(), TestCaseError> {
    let mut ahead = Gate::new(plan, context(record));
    let mut state = |n: usize, at: Time, bytes: u32| {
        let out = ahead.pass(at, &mut unit(bytes, n as u32), &MEASURED);
        (n as u32, out.ok_or_else(|| ahead.last_drop().expect("a drop")))
    };
    let stated: Vec<(u32, Fate)> =
        arrivals.iter().enumerate().map(|(n, (at, bytes))| state(n, *at, *bytes)).collect();
    let mut stepped = Gate::new(plan, context(record));
    let happened = drive_steps(&mut stepped, arrivals);
    prop_assert_eq!(&stated, &happened);
    prop_assert_eq!(format!("{:?}", ahead.counters()), format!("{:?}", stepped.counters()));
    let mut rows = Gate::new(plan, context(record));
    prop_assert_eq!(&stated, &pass_in_rows(&mut rows, arrivals));
    prop_assert_eq!(format!("{:?}", ahead.counters()), format!("{:?}", rows.counters()));
    let held = ahead.counters().held();
    prop_assert!(held.packets <= arrivals.len() as u64);
    let history = format!("{:?}", ahead.take_history());
    prop_assert_eq!(&history, &format!("{:?}", stepped.take_history()));
    prop_assert_eq!(&history, &format!("{:?}", rows.take_history()));
    // In order, and conserved.
    let mut last = Time::ZERO;
    for (_, fate) in &stated {
        if let Ok(out) = fate {
            prop_assert!(*out >= last);
            last = *out;
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn ahead_and_step_by_step_agree(
        plan in prop_oneof![2 => any_gate(), 3 => any_gate_with_extras()],
        gaps in prop::collection::vec((0u64..3_000_000_000, 40u32..1500), 1..200),
        record in prop_oneof![
            Just(RecordLevel::Summary),
            Just(RecordLevel::Every(Span::from_millis(1))),
            Just(RecordLevel::Events),
        ],
    ) {
        let arrivals: Vec<(Time, u32)> = gaps.iter().scan(Time::ZERO, |at, (gap, bytes)| {
            *at += Span::from_picos(gap / 1000 * 1000);
            Some((*at, *bytes))
        }).collect();
        check_agreement(&plan, &arrivals, record)?;
    }

    /// A plain gate whose units come together, as the service before ends, a picosecond sooner or later, or at any time, mostly
    /// of one size: some of which wait, and others among them; some may be lost. With rows more often than services end, and more
    /// seldom.
    #[test]
    fn units_that_wait_alone_are_counted_as_others(
        bps in prop_oneof![Just(7_000_000u64), Just(1_000_000_000), 1_000_000u64..20_000_000],
        limit in prop_oneof![Just(QueueLimit::Unlimited), (0u64..4).prop_map(QueueLimit::Packets),
            (0u64..4000).prop_map(QueueLimit::Bytes)],
        loss in any_loss(),
        rows in prop::collection::vec((0usize..6, 0u64..2000, prop::sample::select(vec![1500u32, 1500, 1500, 40])), 1..300),
        record in prop_oneof![
            Just(RecordLevel::Summary),
            prop::sample::select(vec![100, 700, 5_000, 40_000])
                .prop_map(|micros| RecordLevel::Every(Span::from_micros(micros))),
            Just(RecordLevel::Events),
        ],
    ) {
        let plan = GatePlan { loss, ..link(bps, limit) };
        let (mut at, mut free) = (Time::ZERO, Time::ZERO);
        let mut arrivals = Vec::new();
        for (kind, thousandths, bytes) in rows {
            let service = Span::from_picos(u64::from(bytes) * 8 * 1_000_000_000_000 / bps);
            let any = Span::from_picos(service.picos() / 1000 * thousandths);
            let picosecond = Span::from_picos(1);
            at = at.max(match kind {
                0 => at,
                1 => free,
                2 => Time::from_picos(free.picos().saturating_sub(1)),
                3 => free + picosecond,
                4 => Time::from_picos(free.picos().saturating_sub(any.picos())),
                _ => at + any,
            });
            // Without what is left over of a picosecond: near enough.
            free = free.max(at) + service;
            arrivals.push((at, bytes));
        }
        check_agreement(&plan, &arrivals, record)?;
    }
}
