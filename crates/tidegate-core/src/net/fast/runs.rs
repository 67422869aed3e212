//! Runs: many units that come one after the other to gates that flows share, while directions alternate ([`super::directions`]).
//!
//! The units of an open bucket are in order, and nothing else happens in their direction before the next event of its
//! calendar. So they pass stage by stage, each stage a loop of its own: first the gates that flows share, which keep what
//! changes from unit to unit in registers; then the gates that only one flow passes, and the delay behind them. The engine
//! then takes all of them at its endpoints. No stage can tell the difference from one unit at a time: each gate and each
//! endpoint sees its units in the same order, and what an endpoint does in answer comes to these gates after the batch.
//!
//! With many flows ([`crate::plan::CohortPlan`]) a run goes beyond alarms and is handed out flow by flow, mostly to [`super::cohorts`]
//! (`docs/design/event-queue.md`).

use std::ops::Range;

use crate::net::Network;
use crate::net::fast::alternation::FastPaths;
use crate::net::fast::cohorts::{Cohort, Cohorts, Common, Left};
use crate::net::fast::deal::deal;
use crate::net::fast::directions::Direction;
use crate::net::fast::stretch::FastStretch;
use crate::net::fast::walk::{Walk, keep};
use crate::net::map::NONE;
use crate::net::sources::SourceKind;
use crate::unit::Unit;
use crate::units::Time;

/// A run with fewer units than one for so many flows is not grouped by them: counting would take longer than it saves.
const FLOWS_TO_A_UNIT: usize = 8;

/// Units that have reached the ends of their routes, each with its time and with the number of its route as [`Unit::stretch`].
/// Sorted by the time of their last events, or grouped by flow and sorted within each flow.
#[derive(Debug, Default)]
pub struct Run {
    /// The open bucket, which is lent while a run is under way; else empty.
    bucket: Vec<(Time, Unit)>,
    /// The places of the run's units in it.
    places: Range<usize>,
    /// Room for them while they are grouped, and for a number for each flow.
    by_flow: Vec<(Time, Unit)>,
    counts: Vec<u32>,
    /// They have passed the gates that flows share, and each cohort takes its own.
    is_parted: bool,
    /// Alarms of the same direction that are due before this ring in a parted run.
    until: Time,
}

impl Run {
    /// The units.
    #[inline]
    #[must_use]
    pub fn units(&self) -> &[(Time, Unit)] {
        &self.bucket[self.places.clone()]
    }

    /// Whether cohorts take the units ([`Network::part_run`]), in place of one who takes all of them.
    #[must_use]
    pub fn is_parted(&self) -> bool {
        self.is_parted
    }

    /// Groups the units by flow. The endpoints of many flows do not fit the caches; grouped, each is fetched once, in the order in which
    /// they lie in memory.
    #[inline(never)]
    fn group(&mut self, flows: usize) {
        let units = &mut self.bucket[self.places.clone()];
        let flow = |(_, unit): &(Time, Unit)| unit.stretch as usize / 2;
        deal(units, (flows, flow), &mut self.counts, &mut self.by_flow);
        units.copy_from_slice(&self.by_flow);
    }
}

impl Network {
    /// The next events before `until`, where they are units of flows that go on to the ends of their routes at once. Those that
    /// are not dropped are put into `run`. Answers with how many events they were; 0: the next event is no such unit, and
    /// [`Network::poll_event`] has it. When the engine has taken them, it calls [`Network::end_run`].
    #[inline(always)]
    pub fn poll_run(&mut self, until: Time, run: &mut Run) -> usize {
        let Some(directions) = self.schedule.queue.directions() else { return 0 };
        let (pass_alarms, alarms_from) = (directions.runs_pass_alarms, directions.alarms_from());
        let (units, before) = directions.next_units(until);
        let is_next =
            |(at, unit): &(Time, Unit)| *at < before && first_gate(&self.fast.stretches, unit) != NONE;
        let Some(first) = units.first().filter(|first| is_next(first)).map(|(at, _)| *at) else { return 0 };
        let come = if units.last().is_some_and(|(at, _)| *at < before) {
            units.len()
        } else {
            units.partition_point(|(at, _)| *at < before)
        };
        let place = directions.lend_units(first, &mut run.bucket);
        let (taken, last) = self.pass_shared(&mut run.bucket[place..place + come]);
        let grouped = pass_alarms && taken >= self.map.flows() / FLOWS_TO_A_UNIT;
        run.is_parted = grouped && self.fast.cohorts.is_some();
        let passed = &mut run.bucket[place..place + taken];
        let kept =
            if run.is_parted { name_routes(&self.fast.stretches, passed) } else { self.pass_rest(passed) };
        run.places = place..place + kept;
        if let Some(taking) = self.schedule.queue.directions() {
            taking.remove_lent(taken);
            if run.is_parted {
                let next = run.bucket.get(place + taken).map_or(Time::NEVER, |(at, _)| *at);
                run.until = taking.alarms_before(until.min(next));
            }
        }
        (self.schedule.now, self.schedule.run_ends) = (first, last);
        if pass_alarms {
            self.schedule.now = first.min(alarms_from);
        }
        if grouped {
            run.group(self.map.flows());
        }
        self.schedule.handled += taken as u64;
        taken
    }

    /// Units pass the first gates of their last stretches, in order, as long as they are on such a stretch.
    /// Returns their number, and when the last of them came. Those that are dropped get the stretch [`NONE`].
    #[inline(never)]
    fn pass_shared(&mut self, units: &mut [(Time, Unit)]) -> (usize, Time) {
        let (mut rest, mut taken, mut last) = (units, 0, Time::ZERO);
        while let Some(gate) =
            rest.first().map(|(_, unit)| first_gate(&self.fast.stretches, unit)).filter(|gate| *gate != NONE)
        {
            let alike =
                rest.iter().take_while(|(_, unit)| first_gate(&self.fast.stretches, unit) == gate).count();
            let (first, others) = rest.split_at_mut(alike);
            (taken, last) = (taken + alike, first[alike - 1].0);
            self.pass_gate(gate, first);
            rest = others;
        }
        (taken, last)
    }

    /// The next alarm that rings in a parted run, behind the units of its flow: when, and its number. It is left to the engine to do
    /// what is due then.
    #[inline]
    pub fn poll_alarm(&mut self, run: &Run) -> Option<(Time, usize)> {
        let (at, source) = self.schedule.queue.pop_alarm(run.until)?;
        Some((at, self.schedule.sources.index_of(SourceKind::Alarm, source)?))
    }

    /// The cohorts of a parted run, each to be taken by any thread. The alarms that ring in the run have been polled.
    pub fn part_run<'a>(&'a mut self, run: &'a mut Run) -> Vec<Cohort<'a>> {
        let Network { schedule, gates, map, fast: FastPaths { stretches, cohorts }, reports, .. } = self;
        let alarms = schedule.numbers(SourceKind::Alarm);
        let (due, directions) = schedule.queue.sources();
        let Some((running, directions)) = directions else { return Vec::new() };
        let alarms = alarms.start as usize..alarms.end as usize;
        let (due, directions) = (&due[alarms.clone()], &directions[alarms]);
        let common =
            Common { map, stretches, measured: reports.measured, due, directions, running, until: run.until };
        let units = &mut run.bucket[run.places.clone()];
        match cohorts {
            Some(cohorts) => cohorts.part(units, gates, common),
            None => Vec::new(),
        }
    }

    /// Ends a run whose units the engine has taken: [`Network::now`] is then the time of the last of their events.
    #[inline]
    pub fn end_run(&mut self, run: &mut Run) {
        if run.is_parted {
            self.take_what_is_left();
        }
        self.schedule.now = self.schedule.run_ends;
        if let Some(directions) = self.schedule.queue.directions() {
            directions.give_back(&mut run.bucket);
        }
    }

    /// Puts the effects that cohorts have kept in the queues.
    #[inline(never)]
    fn take_what_is_left(&mut self) {
        let Network { schedule, reports, fast, .. } = self;
        for Left { sent, alarms, lost } in fast.cohorts.iter_mut().flat_map(Cohorts::left) {
            for (direction, units) in [Direction::Data, Direction::Back].into_iter().zip(sent) {
                units.drain(..).for_each(|(at, unit)| schedule.queue.send(direction, at, unit));
            }
            alarms.drain(..).for_each(|(alarm, at)| schedule.wake(SourceKind::Alarm, alarm, at));
            lost.drain(..).for_each(|(dropped, route)| reports.note_drop(dropped, route));
        }
    }
}

/// The first gate of a unit's stretch; [`NONE`]: it has none, or needs an event.
#[inline(always)]
fn first_gate(stretches: &[FastStretch], unit: &Unit) -> u32 {
    stretches[unit.stretch as usize].gate
}

/// Units that have passed shared gates get the number of their route as [`Unit::stretch`]. Those that were not dropped come first from
/// now on; answers with how many.
fn name_routes(stretches: &[FastStretch], units: &mut [(Time, Unit)]) -> usize {
    let mut dropped = false;
    for (_, unit) in &mut *units {
        match stretches.get(unit.stretch as usize) {
            Some(stretch) => unit.stretch = stretch.route,
            None => dropped = true,
        }
    }
    if dropped { keep(units) } else { units.len() }
}
