//! Small changes that nobody can know of a real network: the same scenario, and a little luck.
//!
//! | what | by how much |
//! |---|---|
//! | start of a flow or of a traffic source | later, by less than one round trip of its path |
//! | delay of a gate, and after a flow's last gate | ±1% |
//! | jitter of a gate that has none, packets in order | up to 100 µs, and at most 1% of the shortest round trip through it |
//! | jitter of a gate that has some | as large as written, drawn anew |
//!
//! A round trip is the constant delay there and back; of traffic, which nothing answers, twice that of its path. Sizes
//! that the file gives by a delay are not computed anew. Left as they are: cell gates, but for their delay, because
//! their contracts are about jitter; gates inside a sender; calls; rates and traces.

use rand::RngExt as _;

use super::{GateIndex, GatePlan, JitterPlan, Plan, StartPlan};
use crate::random::{Seed, Stream};
use crate::units::{Span, Time};

/// What a small change is, in words.
pub const SMALL_CHANGES: [&str; 3] = [
    "each flow and source starts later by less than one round trip",
    "each delay differs by up to 1%",
    "gates have up to 100 µs of jitter, at most 1% of the round trip; packets keep their order",
];
/// The longest jitter of a small change.
const JITTER: Span = Span::from_micros(100);
/// What a change is at most, as a part of a delay or of a round trip: 1%.
const PART: u64 = 100;

impl Plan {
    /// The plan with small change `number`; 0 is the plan as it is.
    ///
    /// Draws are from the plan's seed and replication by the names of its elements. Two plans that have an element in
    /// common, as variants have, see it changed by the same parts of its delays.
    #[must_use]
    pub fn perturbed(mut self, number: u64) -> Plan {
        if number == 0 {
            return self;
        }
        let luck = Luck { seed: Seed { seed: self.seed, replication: self.replication }, number };
        // Of the plan as it is written: what is drawn for one element changes nothing of another.
        let trips = self.shortest_trips();
        let gates = self.gates.clone();
        for flow in &mut self.flows {
            let trip = flow.round_trip_delay(&gates);
            let name = format!("flow.{}", flow.name);
            flow.start = luck.later(&name, flow.start, trip, self.duration);
            flow.back_delay = luck.nearly(&name, flow.back_delay);
        }
        for traffic in &mut self.traffic {
            let trip = twice(delay_of(&gates, &traffic.path));
            traffic.start =
                luck.later(&format!("traffic.{}", traffic.name), traffic.start, trip, self.duration);
        }
        for (gate, trip) in self.gates.iter_mut().zip(trips) {
            gate.delay = luck.nearly(&format!("gate.{}", gate.name), gate.delay);
            jitter(gate, trip.unwrap_or(Span::ZERO), number);
        }
        self
    }

    /// By gate the shortest constant round trip of what passes it; `None`: nothing does.
    fn shortest_trips(&self) -> Vec<Option<Span>> {
        let mut shortest: Vec<Option<Span>> = vec![None; self.gates.len()];
        let mut note = |way: &mut dyn Iterator<Item = &GateIndex>, trip: Span| {
            for gate in way {
                let known = &mut shortest[*gate];
                *known = Some(known.map_or(trip, |known| known.min(trip)));
            }
        };
        for flow in &self.flows {
            note(&mut flow.path.iter().chain(&flow.back), flow.round_trip_delay(&self.gates));
        }
        for traffic in &self.traffic {
            note(&mut traffic.path.iter(), twice(delay_of(&self.gates, &traffic.path)));
        }
        shortest
    }
}

fn delay_of(gates: &[GatePlan], path: &[GateIndex]) -> Span {
    path.iter().fold(Span::ZERO, |sum, gate| sum + gates[*gate].delay)
}

fn twice(span: Span) -> Span {
    span.saturating_mul(2)
}

fn jitter(gate: &mut GatePlan, trip: Span, number: u64) {
    if gate.is_cell_gate() || gate.host {
        return;
    }
    gate.jitter_draw = number;
    if gate.jitter == JitterPlan::None {
        let most = JITTER.min(Span::from_picos(trip.picos() / PART));
        if most > Span::ZERO {
            gate.jitter = JitterPlan::Uniform { most };
        }
    }
}

/// What one small change is drawn from.
struct Luck {
    seed: Seed,
    number: u64,
}

impl Luck {
    /// A share of 2^32, below 2^32, so that what is drawn does not depend on how long a delay is.
    fn share(&self, element: &str, what: &str) -> u64 {
        let mut stream: Stream = self.seed.stream(&format!("{element}/change.{}.{what}", self.number));
        u64::from(stream.random::<u32>())
    }

    /// A delay between 99 and 101% of this one.
    fn nearly(&self, element: &str, delay: Span) -> Span {
        let part = delay.picos() / PART;
        let drawn = scaled(part.saturating_mul(2), self.share(element, "delay"));
        Span::from_picos((delay.picos() - part).saturating_add(drawn))
    }

    /// A start that is later by less than `trip`; as it is where that would be after the end of the run.
    fn later(&self, element: &str, start: StartPlan, trip: Span, end: Time) -> StartPlan {
        let by = Span::from_picos(scaled(trip.picos(), self.share(element, "start")));
        let last = match start {
            StartPlan::At(at) => at,
            StartPlan::Uniform(_, to) => to,
        };
        if last.saturating_add(by) >= end {
            return start;
        }
        match start {
            StartPlan::At(at) => StartPlan::At(at + by),
            StartPlan::Uniform(from, to) => StartPlan::Uniform(from + by, to + by),
        }
    }
}

/// `share` of 2^32 parts of `whole`.
fn scaled(whole: u64, share: u64) -> u64 {
    ((u128::from(whole) * u128::from(share)) >> 32) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Framing, SourcePlan, TrafficPlan};
    use crate::units::Rate;

    fn source(name: &str, path: Vec<GateIndex>) -> TrafficPlan {
        TrafficPlan {
            name: name.to_owned(),
            group: name.to_owned(),
            path,
            start: StartPlan::At(Time::from_picos(7)),
            source: SourcePlan::Poisson { rate: Rate::from_bps(1_000_000), bytes: 500 },
            delays: false,
        }
    }

    /// A gate of 20 ms, one of cells, one inside a sender, one with jitter of its own, one that nothing passes.
    fn plan() -> Plan {
        let gate = |name: &str| GatePlan { delay: Span::from_millis(20), ..GatePlan::open(name) };
        let own = JitterPlan::Uniform { most: Span::from_millis(3) };
        let gates = vec![
            gate("link"),
            GatePlan { framing: Framing::Aal5 { llc: false }, ..gate("cells") },
            GatePlan { host: true, ..gate("host") },
            GatePlan { jitter: own, ..gate("radio") },
            gate("idle"),
        ];
        let traffic = vec![source("far", vec![0, 1, 2, 3]), source("near", vec![0])];
        Plan { gates, traffic, ..Plan::empty(Time::from_picos(1_000_000_000_000)) }
    }

    #[test]
    fn number_0_is_the_plan_as_it_is() {
        assert_eq!(plan().perturbed(0), plan());
        assert_eq!(plan().perturbed(3), plan().perturbed(3));
        assert_ne!(plan().perturbed(3), plan().perturbed(4));
        let other = Plan { replication: 1, ..plan() };
        assert_ne!(other.perturbed(3).gates[0].delay, plan().perturbed(3).gates[0].delay);
    }

    #[test]
    fn every_draw_is_within_its_bounds() {
        let (low, high) = (Span::from_micros(19_800), Span::from_micros(20_200));
        let mut delays = Vec::new();
        for number in 1..=200 {
            let changed = plan().perturbed(number);
            for gate in &changed.gates {
                assert!(low <= gate.delay && gate.delay <= high, "{} {:?}", gate.name, gate.delay);
            }
            delays.push(changed.gates[0].delay);
            for (traffic, trip) in changed.traffic.iter().zip([160, 40].map(Span::from_millis)) {
                let StartPlan::At(at) = traffic.start else { panic!("an instant") };
                let by = at.saturating_since(Time::from_picos(7));
                assert!(by < trip, "{} {by:?}", traffic.name);
            }
        }
        // They fill the whole width.
        assert!(delays.iter().any(|delay| *delay < Span::from_micros(19_820)));
        assert!(delays.iter().any(|delay| *delay > Span::from_micros(20_180)));
    }

    #[test]
    fn jitter_goes_where_none_is_and_is_small_beside_the_round_trip() {
        let changed = plan().perturbed(5);
        let of = |name: &str| changed.gates.iter().find(|gate| gate.name == name).expect("a gate");
        assert_eq!(of("link").jitter, JitterPlan::Uniform { most: Span::from_micros(100) });
        assert_eq!((of("radio").jitter, of("radio").jitter_draw), (plan().gates[3].jitter, 5));
        for kept in ["cells", "host", "idle"] {
            assert_eq!(of(kept).jitter, JitterPlan::None, "{kept}");
        }
        // A round trip of 100 µs has 1 µs of jitter.
        let mut short = plan();
        short.gates[0].delay = Span::from_micros(50);
        assert_eq!(short.perturbed(5).gates[0].jitter, JitterPlan::Uniform { most: Span::from_micros(1) });
    }

    #[test]
    fn an_element_in_common_is_changed_by_the_same_part() {
        let mut twice_as_far = plan();
        twice_as_far.gates[0].delay = Span::from_millis(40);
        let (one, two) = (plan().perturbed(9), twice_as_far.perturbed(9));
        assert_eq!(two.gates[0].delay.picos() / 2, one.gates[0].delay.picos());
        assert_eq!(one.gates[1..], two.gates[1..]);
        // A source that starts so late that it would not start any more starts as written.
        let mut late = plan();
        late.traffic[0].start = StartPlan::At(Time::from_picos(999_999_999_999));
        assert_eq!(late.clone().perturbed(1).traffic[0].start, late.traffic[0].start);
    }
}
