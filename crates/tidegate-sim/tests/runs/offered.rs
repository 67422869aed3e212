//! Goodput against what arrived, and throughput against what gates offered.

use proptest::prelude::*;
use tidegate_core::gate::{Gate, GateContext, Precision};
use tidegate_core::net::seed;
use tidegate_core::plan::{JitterPlan, Plan, RatePlan, RecordLevel};
use tidegate_core::units::{Measured, Span, Time};
use tidegate_sim::{RunResult, Side};

/// Data segments that came to a flow's receiver: when, and so many IP bytes.
pub(crate) fn received(result: &RunResult, flow: usize) -> Vec<(Time, u64)> {
    let data = result.packets.iter().filter(|packet| {
        packet.flow as usize == flow
            && packet.seen == Side::Receiver
            && packet.from == Side::Sender
            && packet.segment.len > 0
    });
    data.map(|packet| (packet.at, u64::from(packet.bytes))).collect()
}

/// How many, and how many IP bytes, came up to an instant.
pub(crate) fn up_to(segments: &[(Time, u64)], at: Time) -> (u64, u64) {
    let come = &segments[..segments.partition_point(|(came, _)| *came <= at)];
    (come.len() as u64, come.iter().map(|(_, bytes)| bytes).sum())
}

/// The work that a gate's rate law offered up to `at`, from the scenario alone; `None`: nothing limits.
pub(crate) fn offered(plan: &Plan, gate: usize, at: Time) -> Option<f64> {
    let row = &plan.gates[gate];
    let measured = Measured { from: Time::ZERO, until: at };
    let context = GateContext {
        index: gate,
        seed: seed(plan),
        measured,
        precision: Precision::Coarse,
        record: RecordLevel::Summary,
    };
    let capacity = Gate::new(row, context).capacity(row, seed(plan), measured)?;
    let ahead = match &row.rate {
        // A shaper's first cell leaves at once, and a tolerance lets more of them leave early.
        RatePlan::Gcra(gcra) => {
            let early = gcra.limit.tolerance() as f64 * gcra.bits_per_second() as f64 / 1e12;
            424.0 * 2.0 + early
        }
        _ => 0.0,
    };
    Some(capacity.offered as f64 / 1e12 + ahead)
}

/// The work of so many segments at a gate, without framing: at most what the gate did for them.
pub(crate) fn work(plan: &Plan, gate: usize, (packets, bytes): (u64, u64)) -> f64 {
    if plan.gates[gate].rate.counts_packets() { packets as f64 * 1e6 } else { bytes as f64 * 8.0 }
}

/// The largest packet of any flow at a gate: 1000 B of payload and headers, in cells 23 of 53 B.
pub(crate) fn largest_packet(plan: &Plan, gate: usize) -> f64 {
    if plan.gates[gate].rate.counts_packets() { 1e6 } else { 23.0 * 424.0 }
}

/// Goodput is at most throughput less headers, flow by flow, in every interval of the history and in the summary.
pub(crate) fn goodput_is_received(plan: &Plan, result: &RunResult) -> Result<(), TestCaseError> {
    for (n, (flow, row)) in plan.flows.iter().zip(&result.summary.flows).enumerate() {
        prop_assert!(row.goodput_bps <= row.throughput_bps, "{row:?}");
        let came = received(result, n);
        let payload = |at| {
            let (packets, bytes) = up_to(&came, at);
            bytes - packets * u64::from(flow.tcp.headers)
        };
        let (mut before, mut delivered, mut in_order) = (0, 0, 0);
        for state in &result.flows[n] {
            let now = payload(state.at);
            prop_assert!(state.delivered_bytes - delivered <= now - before, "{} at {}", row.name, state.at);
            prop_assert!(in_order <= state.in_order_bytes && state.in_order_bytes <= state.delivered_bytes);
            (before, delivered, in_order) = (now, state.delivered_bytes, state.in_order_bytes);
        }
        // Rates are over the measured time, of a transfer that is done over its own part of it.
        let done = row.start_s.zip(row.completion_s).map(|(start, took)| (start, start + took));
        let (begin, end) = done.unwrap_or((0.0, plan.duration.as_secs_f64()));
        let span = end - begin.max(plan.warmup.as_secs_f64());
        let uncounted = begun_before(plan.warmup, begin, &came);
        // A copy that comes at the very instant at which the transfer is done, but behind what completes it, is not counted.
        let [least, most] = [end - 5e-13, end + 5e-13].map(|last| {
            let inside = |at: Time| at >= plan.warmup && at.as_secs_f64() <= last;
            let measured = came.iter().filter(|(at, _)| inside(*at)).map(|(_, bytes)| bytes).sum::<u64>();
            let counted = measured as f64 - if done.is_some() { uncounted } else { 0.0 };
            if measured == 0 { 0.0 } else { counted * 8.0 / span }
        });
        let Some(rate) = row.throughput_bps else {
            prop_assert!(
                done.is_some_and(|(_, last)| last <= plan.warmup.as_secs_f64())
                    || came.is_empty()
                    || flow.ends()
            );
            continue;
        };
        prop_assert!(least - 1e-3 < rate && rate < most + 1e-3, "{least} to {most} and {row:?}");
    }
    Ok(())
}

/// Of what came first in the measured time the bytes that belong to the time before, if the flow began at `begin`.
fn begun_before(warmup: Time, begin: f64, came: &[(Time, u64)]) -> f64 {
    let place = came.partition_point(|(at, _)| *at < warmup);
    let Some((first, _)) = came.get(place) else { return 0.0 };
    let before = place.checked_sub(1).map_or(begin, |last| came[last].0.as_secs_f64());
    let bytes: u64 = came[place..].iter().take_while(|(at, _)| at == first).map(|(_, bytes)| bytes).sum();
    let (edge, first) = (warmup.as_secs_f64(), first.as_secs_f64());
    if before < edge { bytes as f64 * (edge - before) / (first - before) } else { 0.0 }
}

/// Throughput is at most what the rate law of every gate on the path offered, all flows of the gate together.
///
/// A segment that arrives at t left a gate by t less the delays from there on. So what arrived since the start is
/// at most what the gate offered up to then. In an interval that begins later, what the gate had let through
/// before may still stand at gates behind it; so this is asked of the flows whose last gate it is, and one packet
/// may be more, whose service had begun before the interval. Where a packet is delayed at random behind the gate it
/// arrives at most that much later than the constant delays say: there it is asked since the start alone.
pub(crate) fn throughput_was_offered(plan: &Plan, result: &RunResult) -> Result<(), TestCaseError> {
    let came: Vec<_> = (0..plan.flows.len()).map(|flow| received(result, flow)).collect();
    let instants: Vec<Time> = (0..=24)
        .map(|n| Time::ZERO + Span::from_millis(50 * n))
        .take_while(|at| *at <= plan.duration)
        .collect();
    for gate in 0..plan.gates.len() {
        // Each flow's delay from this gate on.
        let delays = plan.flows.iter().map(|flow| {
            let place = flow.path.iter().rposition(|passed| *passed == gate)?;
            let behind = || flow.path[place..].iter().map(|n| &plan.gates[*n]);
            let delay: u64 = behind().map(|passed| passed.delay.picos()).sum();
            let constant = behind().all(|passed| passed.jitter == JitterPlan::None);
            Some((Span::from_picos(delay), constant && place + 1 == flow.path.len()))
        });
        let delays: Vec<_> = delays.collect();
        let total = |at: Time, last_only: bool| {
            let flows = came.iter().zip(&delays).filter_map(|(came, delay)| Some((came, (*delay)?)));
            let flows = flows.filter(|(_, (_, last))| *last || !last_only);
            flows.fold((0, 0), |(packets, bytes), (arrived, (delay, _))| {
                let (more, size) = up_to(arrived, at.saturating_add(delay));
                (packets + more, bytes + size)
            })
        };
        let bucket = match &plan.gates[gate].rate {
            RatePlan::TokenBucket { burst_bytes, .. } => *burst_bytes as f64 * 8.0,
            _ => 0.0,
        };
        let mut before: Option<(f64, f64)> = None;
        for at in &instants {
            let Some(offered) = offered(plan, gate, *at) else { break };
            let all = work(plan, gate, total(*at, false));
            prop_assert!(all <= offered + 1e-3, "gate {gate} at {at}: {all} of {offered}");
            let last = work(plan, gate, total(*at, true));
            if let Some((offered_before, last_before)) = before {
                // Tokens that were not used before the interval may be used in it.
                let most = offered - offered_before + bucket + largest_packet(plan, gate) + 1e-3;
                prop_assert!(last - last_before <= most, "gate {gate} up to {at}: above {most}");
            }
            before = Some((offered, last));
        }
    }
    Ok(())
}
