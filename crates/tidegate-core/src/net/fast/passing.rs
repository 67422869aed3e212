//! Passage of units through gates without an event, while halves take turns.

use crate::gate::{Gate, GateDrop};
use crate::net::drops::Dropped;
use crate::net::fast::pieces::Pieces;
use crate::net::map::{NONE, RouteMap, ShortStretch};
use crate::net::reports::Reports;
use crate::unit::Unit;
use crate::units::{Measured, Time};

/// A unit that was dropped, and its route.
pub(in crate::net) type Lost = (Dropped, u32);

/// Gates by number, and who hears of drops at them.
pub(super) trait Gates {
    /// The gate of a number.
    fn at(&mut self, number: u32) -> &mut Gate;

    /// The gate of a number; `None` of number [`NONE`].
    fn get(&mut self, number: u32) -> Option<&mut Gate>;

    /// A unit of a route was dropped.
    fn note_drop(&mut self, dropped: Dropped, route: u32);
}

/// The gates of a whole network.
pub(super) struct All<'a> {
    pub(super) gates: &'a mut [Gate],
    pub(super) reports: &'a mut Reports,
}

impl Gates for All<'_> {
    #[inline(always)]
    fn at(&mut self, number: u32) -> &mut Gate {
        &mut self.gates[number as usize]
    }

    #[inline(always)]
    fn get(&mut self, number: u32) -> Option<&mut Gate> {
        // `NONE` is beyond all gates.
        self.gates.get_mut(number as usize)
    }

    #[cold]
    fn note_drop(&mut self, dropped: Dropped, route: u32) {
        self.reports.note_drop(dropped, route);
    }
}

/// The gates that no flow outside a cohort passes.
#[derive(Debug)]
pub(super) struct Own<'a> {
    pub(super) gates: Pieces<'a, Gate>,
    pub(super) lost: &'a mut Vec<Lost>,
}

impl Gates for Own<'_> {
    #[inline(always)]
    fn at(&mut self, number: u32) -> &mut Gate {
        self.gates.at(number)
    }

    #[inline(always)]
    fn get(&mut self, number: u32) -> Option<&mut Gate> {
        if number == NONE { None } else { Some(self.gates.at(number)) }
    }

    #[cold]
    fn note_drop(&mut self, dropped: Dropped, route: u32) {
        self.lost.push((dropped, route));
    }
}

/// The gates and routes that units pass.
#[derive(Debug)]
pub(super) struct Passing<'a, G> {
    pub(super) map: &'a RouteMap,
    pub(super) gates: G,
    pub(super) measured: Measured,
}

impl<G: Gates> Passing<'_, G> {
    /// A unit passes a gate. One that is dropped gets the stretch [`NONE`].
    #[inline(always)]
    pub(super) fn pass_one(&mut self, gate: u32, at: &mut Time, unit: &mut Unit) {
        match self.gates.at(gate).pass_otherwise(*at, unit, &self.measured) {
            Some(out) => *at = out,
            None => {
                self.drop(gate, *unit);
                unit.chain = NONE;
            }
        }
    }

    /// Units pass a gate, in order. Returns whether any was dropped: such units get the stretch [`NONE`].
    pub(super) fn pass_gate(&mut self, gate: u32, units: &mut [(Time, Unit)]) -> bool {
        let (mut taken, mut dropped) = (0, false);
        loop {
            taken += self.gates.at(gate).pass_row(&mut units[taken..], &self.measured);
            let Some((_, unit)) = units.get_mut(taken) else { return dropped };
            self.drop(gate, *unit);
            unit.chain = NONE;
            (taken, dropped) = (taken + 1, true);
        }
    }

    /// Units that have passed the first gates of their stretches pass the others and the delay behind them. Those that are not
    /// dropped come first from now on; answers with how many.
    #[inline(never)]
    pub(super) fn pass_rest(&mut self, units: &mut [(Time, Unit)]) -> usize {
        let (shorts, measured) = (self.map.shorts.as_slice(), self.measured);
        let mut dropped = false;
        for (at, unit) in &mut *units {
            let passed = shorts.get(unit.chain as usize).and_then(|stretch| {
                let out = match self.gates.get(stretch.own) {
                    Some(gate) => gate.pass_idle(*at, unit, &measured),
                    // An instant at which a unit leaves a gate is not bounded as those of idle gates are.
                    None => Some(*at).filter(|at| stretch.whole && *at < measured.until),
                };
                Some((out?, stretch))
            });
            if let Some((out, stretch)) = passed {
                *at = out + stretch.delay;
                unit.chain = stretch.route;
            } else {
                dropped |= !self.passes_slowly(at, unit);
            }
        }
        if dropped { keep(units) } else { units.len() }
    }

    /// A unit passes the gates behind the first one of its stretch, and the delay, where they are not one idle gate. Answers with `false`
    /// if the unit is dropped or was before.
    #[inline(never)]
    fn passes_slowly(&mut self, at: &mut Time, unit: &mut Unit) -> bool {
        let Some(stretch) = self.map.shorts.get(unit.chain as usize) else { return false };
        let ShortStretch { route, own, whole, delay, .. } = *stretch;
        if own != NONE {
            self.pass_one(own, at, unit);
        }
        if !whole && unit.chain != NONE {
            self.pass_many(1, at, unit);
        }
        if unit.chain == NONE {
            return false;
        }
        unit.chain = route;
        *at = at.saturating_add(delay);
        true
    }

    /// A unit passes the gates of its stretch from this one on.
    pub(super) fn pass_many(&mut self, from: u32, at: &mut Time, unit: &mut Unit) {
        let chain = self.map.chains[unit.chain as usize];
        for place in chain.first + from..chain.end {
            self.pass_one(self.map.gates[place as usize], at, unit);
            if unit.chain == NONE {
                return;
            }
        }
    }

    /// A gate has dropped a unit.
    #[cold]
    fn drop(&mut self, gate: u32, unit: Unit) {
        let Some(GateDrop { at, reason }) = self.gates.at(gate).last_drop() else { return };
        let route = self.map.chains[unit.chain as usize].route;
        let owner = self.map.owner(route);
        self.gates.note_drop(Dropped { at, gate: gate as usize, owner, reason, unit }, route);
    }
}

/// Moves the units that were not dropped to the front, in their order. Answers with how many they are.
#[cold]
pub(super) fn keep(units: &mut [(Time, Unit)]) -> usize {
    let mut kept = 0;
    for place in 0..units.len() {
        if units[place].1.chain != NONE {
            units[kept] = units[place];
            kept += 1;
        }
    }
    kept
}
