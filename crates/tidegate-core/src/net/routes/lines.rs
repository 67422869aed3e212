//! Which places of which routes share a delay line, and in which order the lines come at one instant.

use std::collections::{BTreeMap, BTreeSet};

use crate::net::map::Owner;
use crate::net::routes::drafts::{Draft, GateKinds};
use crate::units::Span;

/// A line's place in the order at one instant: data before the other direction, then by the
/// gate that it leads to (or the end), then by the gate that it comes from (or the route).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LineKey {
    back: bool,
    to: usize,
    from: usize,
}

/// The numbers of all lines.
pub(super) struct LineNumbers {
    numbers: BTreeMap<LineKey, u32>,
    /// How many gates there are: keys from here on are ends.
    ends: usize,
}

impl LineNumbers {
    pub(super) fn new(drafts: &[Draft], gates: &GateKinds) -> LineNumbers {
        let mut keys = BTreeSet::new();
        for (route, draft) in drafts.iter().enumerate() {
            keys.extend((0..=draft.gates.len()).filter_map(|place| key(draft, route, place, gates)));
        }
        LineNumbers { numbers: keys.into_iter().zip(0..).collect(), ends: gates.rank.len() }
    }

    pub(super) fn count(&self) -> usize {
        self.numbers.len()
    }

    /// The line before a place of a route; `None`: units come there at once.
    pub(super) fn before(&self, draft: &Draft, route: usize, place: usize, gates: &GateKinds) -> Option<u32> {
        let key = key(draft, route, place, gates)?;
        // A line used in both directions counts as data.
        let as_data = self.numbers.get(&LineKey { back: false, ..key }).filter(|_| key.to < self.ends);
        as_data.or_else(|| self.numbers.get(&key)).copied()
    }
}

/// The line before a place of a route.
fn key(draft: &Draft, route: usize, place: usize, gates: &GateKinds) -> Option<LineKey> {
    let GateKinds { steps, cells, meeting, rank, .. } = gates;
    let ends = rank.len();
    let back = matches!(draft.owner, Owner::Back(_));
    let before = place.checked_sub(1).map(|before| draft.gates[before]);
    match (draft.gates.get(place), before) {
        (Some(_), None) => None,
        (Some(&gate), Some(before)) => {
            let inside_section = cells[gate] && cells[before];
            let apart = meeting[gate] || [gate, before].iter().any(|gate| steps[*gate] || cells[*gate]);
            (apart && !inside_section).then(|| LineKey { back, to: rank[gate], from: rank[before] })
        }
        // Units that leave one gate for their receivers do so in order.
        (None, Some(before)) if draft.extra == Span::ZERO => {
            Some(LineKey { back, to: ends, from: rank[before] })
        }
        (None, _) => Some(LineKey { back, to: ends, from: ends + route }),
    }
}
