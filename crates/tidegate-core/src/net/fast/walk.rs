//! The walk of units through stretches: from gate to gate without an event.
//!
//! A single unit takes [`Walk::enter`]; units of a run pass stage by stage ([`Walk::pass_gate`], [`Walk::pass_rest`]). The
//! whole network and, in a run on several threads, each cohort of flows take units through stretches by these functions; they differ in
//! where they find gates, and in where they put drops and units that go on.
//!
//! *Computes* what gates compute that are passed one after the other ([`Gate::pass`]). *Condition* of the fast path at the beginning of
//! [`Walk::enter`] and [`Walk::pass_rest`]: directions alternate, one plain gate is idle, and the unit's service lies inside the measured
//! time. *Skips* the list of gates, and saturating sums.

use crate::gate::{Gate, GateDrop};
use crate::net::drops::Dropped;
use crate::net::fast::directions::Direction;
use crate::net::fast::pieces::Pieces;
use crate::net::fast::stretch::FastStretch;
use crate::net::map::{NONE, RouteMap, Stretch};
use crate::unit::Unit;
use crate::units::{Measured, Time};

/// A unit that was dropped, and its route.
pub(in crate::net) type Lost = (Dropped, u32);

/// Gates that can be found by their numbers.
pub(in crate::net) trait Gates {
    /// The gate of a number.
    fn at(&mut self, number: u32) -> &mut Gate;

    /// The gate of a number; `None` of number [`NONE`].
    fn get(&mut self, number: u32) -> Option<&mut Gate>;
}

impl Gates for [Gate] {
    #[inline(always)]
    fn at(&mut self, number: u32) -> &mut Gate {
        &mut self[number as usize]
    }

    #[inline(always)]
    fn get(&mut self, number: u32) -> Option<&mut Gate> {
        // `NONE` is beyond all gates.
        self.get_mut(number as usize)
    }
}

impl Gates for Pieces<'_, Gate> {
    #[inline(always)]
    fn at(&mut self, number: u32) -> &mut Gate {
        Pieces::at(self, number)
    }

    #[inline(always)]
    fn get(&mut self, number: u32) -> Option<&mut Gate> {
        (number != NONE).then(|| Pieces::at(self, number))
    }
}

/// Who takes units through stretches: the whole network, or a cohort of flows.
pub(in crate::net) trait Walk {
    /// The gates that units pass.
    type Gates: Gates + ?Sized;

    /// The routes of units.
    fn map(&self) -> &RouteMap;

    /// What is known of each stretch while directions alternate ([`FastPaths`](super::FastPaths)); else empty.
    fn stretches(&self) -> &[FastStretch];

    /// [`Walk::stretches`], and the gates.
    fn stretches_and_gates(&mut self) -> (&[FastStretch], &mut Self::Gates);

    /// The time that summaries count.
    fn measured(&self) -> Measured;

    /// A unit of a route was dropped.
    fn note_drop(&mut self, dropped: Dropped, route: u32);

    /// A unit comes to the next stretch of its route at `at`, in a direction of all connections.
    fn send_in_direction(&mut self, direction: Direction, at: Time, unit: Unit);

    /// A unit has left the last gate of a stretch at `at`, and waits for its next stretch on a line.
    fn send_to_line(&mut self, at: Time, unit: Unit, line: u32);

    /// A unit that enters a stretch of the slow path ([`Stretch::slow_path`]): whether events take it through.
    fn leave_to_events(&mut self, at: Time, unit: &Unit) -> bool;

    /// A unit leaves a gate of a route whose TCP hears of departures, and arrives at what comes next at `out`.
    fn note_departure(&mut self, gate: u32, route: u32, out: Time);

    /// The gate of a number.
    #[inline(always)]
    fn gate(&mut self, number: u32) -> &mut Gate {
        self.stretches_and_gates().1.at(number)
    }

    /// A unit begins its stretch. Returns when it comes to the end of its route, if that is reported ahead of its time.
    #[inline(always)]
    fn enter(&mut self, at: Time, unit: &mut Unit) -> Option<Time> {
        if let Some(stretch) = self.stretches().get(unit.stretch as usize)
            && let Some(direction) = stretch.sends_to
        {
            let (gate, delay, measured) = (stretch.gate, stretch.delay, self.measured());
            if let Some(out) = self.gate(gate).pass_idle(at, unit, &measured) {
                self.send_in_direction(direction, out + delay, *unit);
                return None;
            }
            return self.enter_any(at, *unit);
        }
        self.enter_stretch(at, unit)
    }

    /// [`Walk::enter_stretch`] while directions alternate: apart, so that the unit may stay in registers before.
    #[inline(never)]
    fn enter_any(&mut self, at: Time, mut unit: Unit) -> Option<Time> {
        self.enter_stretch(at, &mut unit)
    }

    /// A unit begins any stretch.
    #[inline(always)]
    fn enter_stretch(&mut self, at: Time, unit: &mut Unit) -> Option<Time> {
        if self.map().stretches[unit.stretch as usize].slow_path && self.leave_to_events(at, unit) {
            return None;
        }
        let at = self.pass_gates(0, at, unit)?;
        let &Stretch { ahead, delay, line, .. } = &self.map().stretches[unit.stretch as usize];
        if ahead {
            return Some(at.saturating_add(delay));
        }
        match self.stretches().get(unit.stretch as usize).and_then(|fast| fast.direction) {
            Some(direction) => self.send_in_direction(direction, at.saturating_add(delay), *unit),
            None => self.send_to_line(at, *unit, line),
        }
        None
    }

    /// A unit passes the gates of its stretch from this one on. `None`: one of them drops it.
    #[inline(always)]
    fn pass_gates(&mut self, from: u32, mut at: Time, unit: &mut Unit) -> Option<Time> {
        let measured = self.measured();
        let &Stretch { first, end, notify, route, .. } = &self.map().stretches[unit.stretch as usize];
        for place in first + from..end {
            let gate = self.map().gates[place as usize];
            let Some(out) = self.gate(gate).pass(at, unit, &measured) else {
                self.drop_ahead(gate, *unit);
                return None;
            };
            if notify {
                self.note_departure(gate, route, out);
            }
            at = out;
        }
        Some(at)
    }

    /// Units pass a gate, in order. Returns whether any was dropped: such units get the stretch [`NONE`].
    fn pass_gate(&mut self, gate: u32, units: &mut [(Time, Unit)]) -> bool {
        let measured = self.measured();
        let (mut taken, mut dropped) = (0, false);
        loop {
            taken += self.gate(gate).pass_row(&mut units[taken..], &measured);
            let Some((_, unit)) = units.get_mut(taken) else { return dropped };
            self.drop_ahead(gate, *unit);
            unit.stretch = NONE;
            (taken, dropped) = (taken + 1, true);
        }
    }

    /// Units that are all carried to the end of their route at once pass a stretch gate by gate. Those that are not dropped stay, with
    /// the times at which they come to that end.
    fn pass_stretch(&mut self, number: u32, units: &mut Vec<(Time, Unit)>) {
        let &Stretch { first, end, delay, .. } = &self.map().stretches[number as usize];
        units.iter_mut().for_each(|(_, unit)| unit.stretch = number);
        for place in first..end {
            if self.pass_gate(self.map().gates[place as usize], units) {
                units.retain(|(_, unit)| unit.stretch != NONE);
            }
        }
        units.iter_mut().for_each(|(at, _)| *at = at.saturating_add(delay));
    }

    /// Units that have passed the first gates of their last stretches pass the others and the delay behind them, and get the number of
    /// their route as [`Unit::stretch`]. Those that are not dropped come first from now on; returns their number.
    #[inline(never)]
    fn pass_rest(&mut self, units: &mut [(Time, Unit)]) -> usize {
        let (mut passed, mut dropped) = (0, false);
        loop {
            passed += self.pass_idle_rest(&mut units[passed..]);
            let Some((at, unit)) = units.get_mut(passed) else { break };
            dropped |= !self.pass_any_rest(at, unit);
            passed += 1;
        }
        if dropped { keep(units) } else { units.len() }
    }

    /// [`Walk::pass_rest`] for the first of `units`, as long as each meets one idle plain gate or none. Returns their number.
    #[inline(always)]
    fn pass_idle_rest(&mut self, units: &mut [(Time, Unit)]) -> usize {
        let measured = self.measured();
        let (stretches, gates) = self.stretches_and_gates();
        let mut passed = 0;
        for (at, unit) in units {
            let Some(stretch) = stretches.get(unit.stretch as usize) else { break };
            let out = match gates.get(stretch.own) {
                Some(gate) => gate.pass_idle(*at, unit, &measured),
                // An instant at which a unit leaves a gate is not bounded as those of idle gates are.
                None => Some(*at).filter(|at| stretch.whole && *at < measured.until),
            };
            let Some(out) = out else { break };
            *at = out + stretch.delay;
            unit.stretch = stretch.route;
            passed += 1;
        }
        passed
    }

    /// [`Walk::pass_rest`] for a unit that meets other gates. `false`: it is dropped, or was before.
    #[inline(never)]
    fn pass_any_rest(&mut self, at: &mut Time, unit: &mut Unit) -> bool {
        let Some(&Stretch { delay, route, .. }) = self.map().stretches.get(unit.stretch as usize) else {
            return false;
        };
        let Some(out) = self.pass_gates(1, *at, unit) else {
            unit.stretch = NONE;
            return false;
        };
        *at = out.saturating_add(delay);
        unit.stretch = route;
        true
    }

    /// A gate driven ahead has dropped a unit.
    #[cold]
    fn drop_ahead(&mut self, gate: u32, unit: Unit) {
        if let Some(drop) = self.gate(gate).last_drop() {
            self.drop(gate, drop, unit);
        }
    }

    /// A gate has dropped a unit.
    #[cold]
    fn drop(&mut self, gate: u32, GateDrop { at, reason }: GateDrop, unit: Unit) {
        let route = self.map().stretches[unit.stretch as usize].route;
        let owner = self.map().owner(route);
        self.note_drop(Dropped { at, gate: gate as usize, owner, reason, unit }, route);
    }
}

/// Moves the units that were not dropped to the front, in their order. Returns their number.
#[cold]
pub(super) fn keep(units: &mut [(Time, Unit)]) -> usize {
    let mut kept = 0;
    for place in 0..units.len() {
        if units[place].1.stretch != NONE {
            units[kept] = units[place];
            kept += 1;
        }
    }
    kept
}
