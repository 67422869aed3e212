//! Runs: many units that come one after the other to gates that flows share, while halves take turns ([`super::halves`]).
//!
//! The units of an open bucket are in order, and nothing else happens at their half before the next event of its
//! calendar. So they pass stage by stage, each stage a loop of its own: first the gates that flows share, which keep what
//! changes from unit to unit in registers; then the gates that each flow has alone, and the delay behind them. The engine
//! then takes all of them at its endpoints. No stage can tell the difference from one unit at a time: each gate and each
//! endpoint sees its units in the same order, and what an endpoint does in answer comes to these gates after the turn.
//!
//! With [`MANY_FLOWS`] or more, a run goes beyond alarms and is handed out flow by flow (`docs/design/event-queue.md`).

use std::ops::Range;

use crate::gate::{Gate, GateDrop};
use crate::net::Network;
use crate::net::drops::Dropped;
use crate::net::fast::Cascade;
use crate::net::fast::deal::deal;
use crate::net::map::{NONE, RouteMap, ShortStretch};
use crate::net::reports::Reports;
use crate::unit::Unit;
use crate::units::Time;

/// With so many flows, some alarm is always near, and what belongs to them fits in no cache.
pub(super) const MANY_FLOWS: usize = 4096;
/// A run with fewer units than one for so many flows is not grouped by them: counting would take longer than it saves.
const FLOWS_TO_A_UNIT: usize = 8;

/// What units pass.
struct Way<'a> {
    map: &'a RouteMap,
    gates: &'a mut [Gate],
    cascades: &'a mut [Cascade],
    reports: &'a mut Reports,
}

/// Units that have come to the ends of their routes, each with when it did, and with the number of its route as [`Unit::chain`]:
/// in order of their last events, or flow by flow, those of each flow in that order.
#[derive(Debug, Default)]
pub struct Run {
    /// The open bucket, which is lent while a run is under way; else empty.
    bucket: Vec<(Time, Unit)>,
    /// The places of the run's units in it.
    places: Range<usize>,
    /// Room for them while they are grouped, and for a number for each flow.
    by_flow: Vec<(Time, Unit)>,
    counts: Vec<u32>,
}

impl Run {
    /// The units.
    #[inline]
    #[must_use]
    pub fn units(&self) -> &[(Time, Unit)] {
        &self.bucket[self.places.clone()]
    }

    /// Groups the units flow by flow, if that is worth it: what belongs to the ends of many flows is in no cache, and so each flow is
    /// fetched once, in the order in which flows lie in memory.
    #[inline(never)]
    fn group(&mut self, flows: usize) {
        let units = &mut self.bucket[self.places.clone()];
        if units.len() >= flows / FLOWS_TO_A_UNIT {
            let flow = |(_, unit): &(Time, Unit)| unit.chain as usize / 2;
            deal(units, (flows, flow), &mut self.counts, &mut self.by_flow);
            units.copy_from_slice(&self.by_flow);
        }
    }
}

impl Network {
    /// The next events before `until`, where they are units of flows that go on to the ends of their routes at once. Those that
    /// are not dropped are put into `run`. Answers with how many events they were; 0: the next event is no such unit, and
    /// [`Network::poll_event`] has it. When the engine has taken them, it calls [`Network::end_run`].
    #[inline(always)]
    pub fn poll_run(&mut self, until: Time, run: &mut Run) -> usize {
        let Network { schedule, gates, map, cascades, reports, .. } = self;
        let Some(halves) = schedule.queue.halves() else { return 0 };
        let (units, before) = halves.next_units(until);
        let Some(first) = units.first().map(|(at, _)| *at).filter(|at| *at < before) else { return 0 };
        let mut way = Way { map, gates, cascades, reports };
        let come = if units.last().is_some_and(|(at, _)| *at < before) {
            units.len()
        } else {
            units.partition_point(|(at, _)| *at < before)
        };
        let (taken, last) = way.pass_shared(&mut units[..come]);
        if taken == 0 {
            return 0;
        }
        let kept = way.pass_rest(&mut units[..taken]);
        let place = halves.lend_units(taken, first, &mut run.bucket);
        run.places = place..place + kept;
        (schedule.now, schedule.run_ends) = (first, last);
        if halves.runs_pass_alarms {
            schedule.now = first.min(halves.alarms_from());
            run.group(way.map.flows());
        }
        schedule.handled += taken as u64;
        taken
    }

    /// The engine has taken the units of a run: [`Network::now`] is when the last of their events happened.
    #[inline]
    pub fn end_run(&mut self, run: &mut Run) {
        self.schedule.now = self.schedule.run_ends;
        if let Some(halves) = self.schedule.queue.halves() {
            halves.give_back(&mut run.bucket);
        }
    }
}

impl Way<'_> {
    /// Units pass the first gates of their last stretches, in order, as long as they are on such a stretch.
    /// Answers with how many, and when the last of them came. Those that are dropped get the stretch [`NONE`].
    #[inline(never)]
    fn pass_shared(&mut self, units: &mut [(Time, Unit)]) -> (usize, Time) {
        let (mut taken, mut last) = (0, Time::ZERO);
        while let Some((_, unit)) = units.get(taken) {
            let gate = self.map.shorts[unit.chain as usize].gate;
            if gate == NONE {
                break;
            }
            let (passed, reached) = self.pass_alike::<false>(gate, unit.bytes, &mut units[taken..]);
            (taken, last) = (taken + passed, last.max(reached));
            if let Some((at, next)) = units.get_mut(taken)
                && self.map.shorts[next.chain as usize].gate == gate
            {
                last = *at;
                self.pass_one(gate, at, next);
                taken += 1;
            }
        }
        (taken, last)
    }

    /// A unit passes a gate.
    #[inline(always)]
    fn pass_one(&mut self, gate: u32, at: &mut Time, unit: &mut Unit) {
        match self.gates[gate as usize].pass(*at, unit, &self.reports.measured) {
            Some(out) => *at = out,
            None => {
                self.drop(gate, *unit);
                unit.chain = NONE;
            }
        }
    }

    /// Units of one size pass one gate as long as that needs nothing unusual. Answers with how many, and when the last of them came.
    #[inline(never)]
    fn pass_alike<const RECORDED: bool>(
        &mut self,
        gate: u32,
        bytes: u32,
        units: &mut [(Time, Unit)],
    ) -> (usize, Time) {
        let shorts = self.map.shorts.as_slice();
        let alike = |unit: &Unit| unit.bytes == bytes && shorts[unit.chain as usize].gate == gate;
        let (mut passed, mut last) = (0, Time::ZERO);
        let Some((first, _)) = units.first().filter(|(_, unit)| alike(unit)) else { return (passed, last) };
        let server = &mut self.gates[gate as usize];
        let Some(mut busy) = server.stay_busy::<RECORDED>(bytes, *first, &self.reports.measured) else {
            let another = !RECORDED && server.is_plain_and_recorded();
            return if another { self.pass_alike::<true>(gate, bytes, units) } else { (passed, last) };
        };
        while let Some((at, unit)) = units.get_mut(passed).filter(|(_, unit)| alike(unit)) {
            let came = *at;
            if let Some(turn) = busy.next(came) {
                unit.blame = busy.take(came, &turn, unit.blame);
                *at = turn.out;
                (passed, last) = (passed + 1, came);
            } else {
                let (more, reached) = busy.take_idle_ones(&mut units[passed..], alike);
                if more == 0 {
                    break;
                }
                (passed, last) = (passed + more, reached);
            }
        }
        busy.end();
        (passed, last)
    }

    /// Units that have passed the first gates of their stretches pass the others and the delay behind them. Those that are not
    /// dropped come first from now on; answers with how many.
    #[inline(never)]
    fn pass_rest(&mut self, units: &mut [(Time, Unit)]) -> usize {
        let measured = self.reports.measured;
        let mut dropped = false;
        for (at, unit) in &mut *units {
            let passed = self.map.shorts.get(unit.chain as usize).and_then(|stretch| {
                let out = match self.gates.get_mut(stretch.own as usize) {
                    Some(gate) => gate.pass_idle_unrecorded(*at, unit.bytes, &measured),
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

    /// The same for a unit that does not find one gate idle, or that has none or several to pass. Answers with `false` if it is dropped
    /// or was before.
    #[inline(never)]
    fn passes_slowly(&mut self, at: &mut Time, unit: &mut Unit) -> bool {
        let Some(stretch) = self.map.shorts.get(unit.chain as usize) else { return false };
        let ShortStretch { route, own, whole, delay, .. } = *stretch;
        if own != NONE {
            self.pass_one(own, at, unit);
        }
        if !whole && unit.chain != NONE {
            self.pass_further(at, unit);
        }
        if unit.chain == NONE {
            return false;
        }
        unit.chain = route;
        *at = at.saturating_add(delay);
        true
    }

    /// A unit passes all gates of its stretch but the first, where they are several or a series.
    fn pass_further(&mut self, at: &mut Time, unit: &mut Unit) {
        let chain = self.map.chains[unit.chain as usize];
        for place in chain.first + 1..chain.end {
            self.pass_one(self.map.gates[place as usize], at, unit);
            if unit.chain == NONE {
                return;
            }
        }
        if chain.series == NONE {
            return;
        }
        match self.cascades[chain.series as usize].pass(*at, unit, self.gates) {
            Ok(out) => *at = out,
            Err(gate) => {
                self.drop(gate, *unit);
                unit.chain = NONE;
            }
        }
    }

    /// A gate has dropped a unit.
    #[cold]
    fn drop(&mut self, gate: u32, unit: Unit) {
        let Some(GateDrop { at, reason }) = self.gates[gate as usize].last_drop() else { return };
        let route = self.map.chains[unit.chain as usize].route;
        let owner = self.map.owner(route);
        self.reports.note_drop(Dropped { at, gate: gate as usize, owner, reason, unit }, route);
    }
}

/// Moves the units that were not dropped to the front, in their order. Answers with how many they are.
#[cold]
fn keep(units: &mut [(Time, Unit)]) -> usize {
    let mut kept = 0;
    for place in 0..units.len() {
        if units[place].1.chain != NONE {
            units[kept] = units[place];
            kept += 1;
        }
    }
    kept
}
