//! Many flows on several threads: who takes which cohort of flows while a run of units is under way.
//!
//! The network parts a run of units among cohorts of flows ([`Network::part_run`]). Each worker takes one cohort after the other until
//! none is left. What happens to a flow does not depend on who takes it: a cohort has its own gates and headers, and what workers
//! count together is summed up when the simulation is over.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};

use tidegate_core::net::{Cohort, Network, Run};
use tidegate_core::plan::CohortPlan;
use tidegate_core::unit::Unit;
use tidegate_core::units::Time;

use crate::alarms::Alarms;
use crate::flow::Flow;
use crate::groups::Groups;
use crate::segments::Segments;
use crate::wire::{Departed, Wire};

/// The threads that take the cohorts of a run, and what each of them needs.
pub(crate) struct CohortThreads {
    plan: CohortPlan,
    /// Those beside the caller's thread.
    workers: Vec<Worker>,
    caller: Worker,
    /// The headers of each cohort's segments, but of the one that is at hand.
    segments: Vec<Segments>,
    /// The alarms of each cohort that ring in a run; empty between runs.
    ringing: Vec<Vec<(Time, usize)>>,
    /// The cohort whose headers [`Wire::segments`] has.
    at_hand: usize,
}

/// What a thread needs beside the cohort that it takes.
struct Worker {
    until: Time,
    alarms: Alarms,
    groups: Groups,
    departed: [Departed; 2],
    row: Vec<(Time, Unit)>,
    ahead: u64,
}

/// A cohort with what belongs to it.
struct Job<'a> {
    cohort: Cohort<'a>,
    /// The number of its first flow.
    first: usize,
    flows: &'a mut [Flow],
    segments: &'a mut Segments,
    /// Its alarms that ring in the run.
    ringing: &'a mut Vec<(Time, usize)>,
}

impl CohortThreads {
    /// So many threads take so many flows. Nothing has happened yet on the wire.
    pub(crate) fn new(threads: usize, flows: usize, plan: CohortPlan, wire: &Wire<Network>) -> CohortThreads {
        let (until, alarms) = (wire.until, wire.alarms);
        let worker = |groups| Worker {
            until,
            alarms,
            groups,
            departed: Default::default(),
            row: Vec::new(),
            ahead: 0,
        };
        let cohorts = flows.div_ceil(plan.size());
        CohortThreads {
            plan,
            workers: (1..threads.min(cohorts)).map(|_| worker(wire.groups.clone())).collect(),
            caller: worker(Groups::default()),
            segments: (0..cohorts).map(|_| Segments::default()).collect(),
            ringing: vec![Vec::new(); cohorts],
            at_hand: 0,
        }
    }

    /// Makes the headers of a flow's cohort those of the wire, `at_hand`, and keeps those of the last cohort here.
    #[inline]
    pub(crate) fn turn_to(&mut self, flow: usize, at_hand: &mut Segments) {
        let cohort = self.plan.of(flow);
        if cohort != self.at_hand {
            std::mem::swap(at_hand, &mut self.segments[self.at_hand]);
            std::mem::swap(at_hand, &mut self.segments[cohort]);
            self.at_hand = cohort;
        }
    }

    /// The units of a parted run come to the ends of their routes, and its alarms ring.
    #[inline(never)]
    pub(crate) fn deliver_run(&mut self, run: &mut Run, wire: &mut Wire<Network>, flows: &mut [Flow]) {
        while let Some((at, alarm)) = wire.network.poll_alarm(run) {
            self.ringing[self.plan.of(wire.alarms.flow_of(alarm))].push((at, alarm));
        }
        std::mem::swap(&mut wire.segments, &mut self.segments[self.at_hand]);
        std::mem::swap(&mut wire.groups, &mut self.caller.groups);
        let own = flows.chunks_mut(self.plan.size()).zip(&mut self.segments).zip(&mut self.ringing);
        let each = wire.network.part_run(run).into_iter().zip(own).enumerate();
        let jobs = each.map(|(number, (cohort, ((own_flows, segments), ringing)))| Job {
            cohort,
            first: number * self.plan.size(),
            flows: own_flows,
            segments,
            ringing,
        });
        let jobs: Vec<Job<'_>> =
            jobs.filter(|job| !job.cohort.is_empty() || !job.ringing.is_empty()).collect();
        let others = self.workers.iter_mut().take(jobs.len().saturating_sub(1));
        let waiting = Mutex::new(jobs.into_iter());
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
        thread::scope(|scope| {
            // Where the system gives no thread, the others do its work.
            let start = |worker| Builder::new().spawn_scoped(scope, || Worker::take_all(worker, next)).ok();
            let started: Vec<_> = others.filter_map(start).collect();
            self.caller.take_all(next);
            started.into_iter().for_each(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        });
        let workers = self.workers.iter_mut().chain([&mut self.caller]);
        wire.ahead += workers.map(|worker| std::mem::take(&mut worker.ahead)).sum::<u64>();
        std::mem::swap(&mut wire.groups, &mut self.caller.groups);
        std::mem::swap(&mut wire.segments, &mut self.segments[self.at_hand]);
    }

    /// Adds what the others have counted of groups to what the caller has.
    pub(crate) fn sum_up(&mut self, groups: &mut Groups) {
        for worker in self.workers.drain(..) {
            groups.add(&worker.groups);
        }
    }

    /// Bytes of the headers that are not at hand.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.segments.iter().map(Segments::memory_bytes).sum()
    }
}

impl Worker {
    /// Takes cohorts until there are no more.
    fn take_all<'a>(&mut self, next: impl Fn() -> Option<Job<'a>>) {
        while let Some(job) = next() {
            self.take(job);
        }
    }

    fn take(&mut self, Job { mut cohort, first, flows, segments, ringing }: Job<'_>) {
        let Worker { until, alarms, .. } = *self;
        let units = cohort.take_units();
        let mut wire = Wire {
            until,
            network: cohort,
            servers: Vec::new(),
            alarms,
            segments: std::mem::take(segments),
            packets: None,
            groups: std::mem::take(&mut self.groups),
            ahead: 0,
            departed: std::mem::take(&mut self.departed),
            row: std::mem::take(&mut self.row),
        };
        ringing.sort_unstable_by_key(|(_, alarm)| alarms.flow_of(*alarm));
        wire.take_flows(units, ringing, flows, first);
        ringing.clear();
        *segments = wire.segments;
        self.groups = wire.groups;
        self.ahead += wire.ahead;
        self.departed = wire.departed;
        self.row = wire.row;
    }
}

impl Wire<Cohort<'_>> {
    /// Units come to the ends of their routes and alarms ring, flow by flow, the units of a flow before its alarms.
    fn take_flows(
        &mut self,
        mut units: &[(Time, Unit)],
        mut ringing: &[(Time, usize)],
        flows: &mut [Flow],
        first: usize,
    ) {
        let alarms = self.alarms;
        let of_unit = |(_, unit): &(Time, Unit)| unit.stretch as usize / 2;
        let of_alarm = |(_, alarm): &(Time, usize)| alarms.flow_of(*alarm);
        while let Some(index) =
            units.first().map(of_unit).into_iter().chain(ringing.first().map(of_alarm)).min()
        {
            let flow = &mut flows[index - first];
            let set = self.network.alarms_set();
            let own_units = take_first(&mut units, |unit| of_unit(unit) == index);
            self.deliver_units(own_units, std::slice::from_mut(flow), index);
            let own_alarms = take_first(&mut ringing, |alarm| of_alarm(alarm) == index);
            if !own_alarms.is_empty() || self.network.alarms_set() > set {
                self.ring_all(own_alarms, set, index, flow);
            }
        }
    }

    /// Alarms of a flow ring in order of time, and those that are set meanwhile. `set`: how many alarms were set before the flow's
    /// first event.
    fn ring_all(&mut self, ringing: &[(Time, usize)], set: usize, index: usize, flow: &mut Flow) {
        let alarms = self.alarms;
        // By the part of the flow that an alarm wakes.
        let mut due = [Time::NEVER; 3];
        let note = |times: &mut [Time; 3], at: Time, alarm| {
            let time = &mut times[alarms.part_of(alarm)];
            *time = at.min(*time);
        };
        ringing.iter().for_each(|(at, alarm)| note(&mut due, *at, *alarm));
        loop {
            self.network.take_alarms(set, |at, alarm| note(&mut due, at, alarm));
            let Some((part, at)) = due.iter().copied().enumerate().min_by_key(|(_, at)| *at) else { return };
            if at == Time::NEVER {
                return;
            }
            due[part] = Time::NEVER;
            self.ring(at, Alarms::of_part(part, index), index, flow);
            self.ahead += 1;
        }
    }
}

/// Takes the first items off a list, as long as they belong together.
fn take_first<'a, T>(list: &mut &'a [T], belongs: impl Fn(&T) -> bool) -> &'a [T] {
    let count = list.iter().take_while(|item| belongs(item)).count();
    list.split_off(..count).unwrap_or_default()
}
