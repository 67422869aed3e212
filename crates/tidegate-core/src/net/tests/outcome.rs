//! All visible results of a run, to compare two ways of driving it.

use super::*;
use crate::unit::Ecn;

/// Everything that can be seen of a network.
#[derive(Debug, PartialEq)]
pub(super) struct Outcome {
    /// When, on which route, which packet, and what it waited for.
    pub(super) delivered: Vec<(Time, usize, u32, Blame, Ecn)>,
    pub(super) dropped: Vec<(Time, usize, u32, u8)>,
    pub(super) departed: Vec<(Time, usize)>,
    pub(super) signals: Vec<(Time, usize, u64)>,
    pub(super) counters: Vec<String>,
    pub(super) allocated: Vec<Option<Allocated>>,
    pub(super) histories: Vec<Option<Vec<String>>>,
    pub(super) traffic: Vec<TrafficCounts>,
    pub(super) calls: Vec<String>,
}

/// The first difference between two stories, by name and number.
pub(super) fn first_difference(one: &Outcome, other: &Outcome) -> Option<String> {
    fn lists<T: PartialEq + std::fmt::Debug>(name: &str, one: &[T], other: &[T]) -> Option<String> {
        let place = (0..one.len().max(other.len())).find(|place| one.get(*place) != other.get(*place))?;
        Some(format!("{name}[{place}]: {:?} and {:?}", one.get(place), other.get(place)))
    }
    lists("delivered", &one.delivered, &other.delivered)
        .or_else(|| lists("dropped", &one.dropped, &other.dropped))
        .or_else(|| lists("departed", &one.departed, &other.departed))
        .or_else(|| lists("signals", &one.signals, &other.signals))
        .or_else(|| lists("counters", &one.counters, &other.counters))
        .or_else(|| lists("allocated", &one.allocated, &other.allocated))
        .or_else(|| lists("histories", &one.histories, &other.histories))
        .or_else(|| lists("traffic", &one.traffic, &other.traffic))
        .or_else(|| lists("calls", &one.calls, &other.calls))
}

/// How a driver wakes: it handles what is due only at multiples of `grain` (late), and also
/// whenever `early` says so (early).
#[derive(Clone, Copy, Debug)]
pub(super) struct Waking {
    pub(super) grain: u64,
    pub(super) early: bool,
}

/// The first difference between what `plan` tells where it is woken on time and where it is woken as `waking` says.
pub(super) fn difference_when_woken(
    plan: &Plan,
    entries: &[(u64, usize, u32)],
    waking: Waking,
) -> Option<String> {
    first_difference(&outcome_of(plan, entries, None), &outcome_of(plan, entries, Some(waking)))
}

/// Sends packets into the network as `entries` say and answers each data packet with an ACK,
/// as endpoints would.
pub(super) fn outcome_of(plan: &Plan, entries: &[(u64, usize, u32)], waking: Option<Waking>) -> Outcome {
    let mut network = Network::new(plan, 1);
    let mut outcome = Outcome {
        delivered: vec![],
        dropped: vec![],
        departed: vec![],
        signals: vec![],
        counters: vec![],
        allocated: vec![],
        histories: vec![],
        traffic: vec![],
        calls: vec![],
    };
    let mut at = Time::ZERO;
    for (handle, (gap, route, bytes)) in (0..).zip(entries) {
        let next = at.saturating_add(Span::from_picos(*gap));
        if let Some(Waking { grain, early }) = waking {
            let mut now = at.picos() / grain * grain + grain;
            while now < next.min(plan.duration).picos() {
                drain(&mut network, Time::from_picos(now), &mut outcome);
                if early {
                    drain(&mut network, Time::from_picos(now), &mut outcome);
                }
                now += grain;
            }
        }
        at = next.min(plan.duration);
        drain(&mut network, at, &mut outcome);
        if next >= plan.duration {
            break;
        }
        let unit = &mut Unit::new(*bytes, handle, HeldBy::Application);
        unit.set_ecn(Ecn::from_bits(handle as u8));
        let route = route % (plan.flows.len() * 2);
        assert_eq!(network.handle_unit(at, route, unit), None);
        match handle % 4 {
            0 => network.handle_transfer_begin(at, route / 2),
            1 => network.handle_transfer_end(at, route / 2),
            _ => {}
        }
    }
    (0..plan.flows.len()).for_each(|flow| network.handle_transfer_end(at, flow));
    drain(&mut network, plan.duration, &mut outcome);
    network.finish();
    while let Some(dropped) = network.poll_drop() {
        outcome.dropped.push((dropped.at, dropped.gate, dropped.unit.handle, dropped.reason as u8));
    }
    outcome.dropped.retain(|(time, ..)| *time < plan.duration);
    outcome.dropped.sort_unstable();
    // Flows that hear at one instant, in any order.
    outcome.departed.sort_unstable();
    outcome.counters = network.gates().iter().map(|gate| format!("{:?}", gate.counters())).collect();
    outcome.counters.extend(network.gates().iter().map(|gate| format!("{:?}", gate.class_counters())));
    outcome.counters.extend((0..plan.gates.len()).map(|gate| format!("{:?}", network.cell_counts(gate))));
    outcome.allocated = network.gates().iter().map(Gate::allocated).collect();
    let rows = |rows: Vec<GateRow>| rows.iter().map(|row| format!("{row:?}")).collect();
    outcome.histories = network.gates_mut().iter_mut().map(|gate| gate.take_history().map(rows)).collect();
    outcome.traffic = network.traffic_counts().collect();
    outcome.counters.extend((0..plan.traffic.len()).filter_map(|source| transit(&network, source)));
    outcome.calls = random_calls::outcomes(plan, &network);
    outcome
}

pub(super) fn drain(network: &mut Network, until: Time, outcome: &mut Outcome) {
    while let Some(step) = network.poll_step(until) {
        match step {
            Step::Deliver { at, route, unit } => {
                outcome.delivered.push((at, route, unit.handle, unit.blame, unit.ecn()));
                if route % 2 == 0 {
                    let ack = &mut Unit::new(40, unit.handle + 1_000_000, HeldBy::Application);
                    assert_eq!(network.handle_unit(at, route + 1, ack), None);
                }
            }
            Step::Drop(dropped) => {
                outcome.dropped.push((dropped.at, dropped.gate, dropped.unit.handle, dropped.reason as u8));
            }
            Step::Departed { at, flow } => outcome.departed.push((at, flow)),
            Step::Signal { at, signal, value } => outcome.signals.push((at, signal, value)),
            Step::Alarm { .. } => {}
        }
    }
}

/// What is measured of a background source's packets.
fn transit(network: &Network, source: usize) -> Option<String> {
    let transit = network.transit(source)?;
    let (lost, delays, jitter) = (transit.lost(), transit.delays(), transit.jitter());
    let frames =
        transit.frames().map(|f| format!("{} {} {:?} {:?}", f.sent(), f.lost(), f.late(), f.delays()));
    Some(format!("{lost} lost, {delays:?} {jitter:?} {frames:?}"))
}
