//! The loop: the network says what happens next, endpoints and applications answer.

use tidegate_core::net::{Dropped, Event, Network, Owner, Run, Step};
use tidegate_core::plan::{CohortPlan, FlowPlan, Limits, Plan, RecordLevel};
use tidegate_core::unit::Unit;
use tidegate_core::units::Time;

use crate::alarms::Alarm;
use crate::checks::Checks;
use crate::cohort_threads::CohortThreads;
use crate::flow::Flow;
use crate::host::Makes;
use crate::known::fits;
use crate::stopped::{Limit, RunError};
use crate::watch::Watch;
use crate::wire::Wire;

/// The flows of a plan that come to an end by themselves.
pub(crate) fn ending(plan: &Plan) -> impl Iterator<Item = usize> {
    plan.flows.iter().enumerate().filter(|(_, flow)| flow.ends()).map(|(number, _)| number)
}

/// A run under way.
pub(crate) struct Simulation {
    pub(crate) limits: Limits,
    /// Bytes that it held when it began, about.
    pub(crate) begun_with: u64,
    /// [`Plan::exact`].
    exact: bool,
    cohorts: CohortPlan,
    level: RecordLevel,
    /// The flows whose ends end the run.
    awaited: Vec<usize>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) wire: Wire<Network>,
    /// The threads that handle the units of many flows.
    pub(crate) cohort_threads: Option<Box<CohortThreads>>,
    /// How many threads `cohort_threads` may have.
    threads: usize,
    pub(crate) drops: Vec<Dropped>,
    /// Units that the network has handed out together; empty between its events.
    run: Run,
    pub(crate) checks: Checks,
    /// A policed sender asks cell gates for their drops before it acts.
    finds_drops: bool,
    /// It has flows of hosts, or finds drops.
    attends: bool,
}

impl Simulation {
    /// The simulation of a plan, on at most `threads` threads.
    ///
    /// A flow for which `hosts` returns hosts has those as its ends.
    ///
    /// # Errors
    /// [`RunError::Host`] for a flow with requests that has hosts, [`RunError::NotHere`] for one that needs hosts and
    /// has none.
    pub(crate) fn with_hosts(plan: &Plan, threads: usize, hosts: Makes<'_>) -> Result<Simulation, RunError> {
        // A user's classes may share state: one thread runs them.
        let own = plan.flows.iter().any(FlowPlan::has_own_code);
        let flows: Vec<Flow> = (0..plan.flows.len())
            .map(|index| {
                let hosts = hosts(index);
                fits(&plan.flows[index], hosts.as_ref())?;
                Ok(Flow::new(plan, index, hosts))
            })
            .collect::<Result<_, RunError>>()?;
        let wire = Wire::new(plan);
        let begun_with = plan.start_bytes();
        let left = plan.limits.memory_bytes.map_or(u64::MAX, |memory| memory.saturating_sub(begun_with));
        let finds_drops = wire.network.has_sections() && flows.iter().any(Flow::is_policed);
        let attends = finds_drops || flows.iter().any(|flow| flow.hosted.is_some());
        Ok(Simulation {
            limits: plan.limits,
            begun_with,
            exact: plan.exact,
            cohorts: plan.cohorts,
            level: plan.record.level,
            awaited: if plan.until_done { ending(plan).collect() } else { Vec::new() },
            flows,
            wire,
            cohort_threads: None,
            threads: if own { 1 } else { threads },
            drops: Vec::new(),
            run: Run::default(),
            checks: Checks::new(plan.flows.len() + plan.gates.len(), left),
            finds_drops,
            attends,
        })
    }

    pub(crate) fn start(&mut self) {
        // A limit needs both ends at one instant.
        self.start_where(self.limits.events.is_none() && !self.exact);
    }

    /// No endpoint runs ahead of an instant at which it is looked at.
    pub(crate) fn start_in_order(&mut self) {
        self.start_where(false);
    }

    fn start_where(&mut self, may_run_ahead: bool) {
        let alarms = self.wire.alarms;
        let network = &mut self.wire.network;
        let mut all_ahead = true;
        for (index, flow) in self.flows.iter_mut().enumerate() {
            flow.style.entries = [index * 2, index * 2 + 1].map(|route| network.entry(route));
            let alone = may_run_ahead && flow.lets_ends_part() && self.wire.packets.is_none();
            let policed = flow.policed.is_some();
            // A policed sender must know of the drop of what it repairs.
            let data = alone && (!policed || network.is_certain_at_once(index * 2));
            let data = data && network.deliver_ahead(index * 2);
            let back = alone && (!policed || data) && network.deliver_ahead(index * 2 + 1);
            all_ahead &= data && back && !policed;
            network.set_alarm(alarms.application(index), flow.start);
        }
        for flow in &mut self.flows {
            flow.style.together = self.wire.carries_at_once(flow);
        }
        if all_ahead {
            let flows = &self.flows;
            let direction = |alarm| alarms.direction(alarm, |flow| flows[flow].dialogue.is_some());
            if self.wire.network.alternate(direction) && flows.len() >= self.cohorts.from_flows {
                self.cohort_threads =
                    Some(Box::new(CohortThreads::new(self.threads, flows.len(), self.cohorts, &self.wire)));
            }
        }
    }

    /// Handles all that happens before `to`, or returns the limit that was reached. A run until all flows are done
    /// goes a little beyond that at most.
    pub(crate) fn drive(&mut self, to: Time, watch: &mut dyn Watch) -> Result<Option<Limit>, RunError> {
        loop {
            let mut steps = self.steps_to_review();
            let enough = self.wire.ahead + self.checks.steps();
            while steps > 0 {
                steps -= 1;
                let network = &mut self.wire.network;
                if let Some(dropped) = network.poll_drop() {
                    self.drop(dropped);
                    continue;
                }
                let taken = network.poll_run(to, &mut self.run);
                if taken > 0 {
                    steps = steps.saturating_sub(taken as u64 - 1);
                    self.deliver_run();
                    continue;
                }
                match network.poll_event(to) {
                    Some(Event::Line { at, source, line }) => {
                        if let Some((at, route, unit)) = network.handle_line(at, source, line) {
                            self.deliver(at, route, unit);
                            self.deliver_rest();
                        }
                    }
                    Some(Event::Arrival { at, unit }) => self.arrive(at, unit),
                    Some(Event::Wakeup { at, source }) => {
                        if let Some(step) = network.handle_wakeup(at, source) {
                            self.handle(step);
                        }
                    }
                    None => return self.fault().map_or(Ok(None), |fault| Err(RunError::Host(fault))),
                }
                if self.wire.ahead >= enough {
                    break;
                }
            }
            self.wire.network.review_alternation();
            if let Some(packets) = &mut self.wire.packets {
                watch.packets(packets);
            }
            if !watch.go_on(self.wire.network.now()) {
                return Err(RunError::Interrupted);
            }
            if let Some(fault) = self.fault() {
                return Err(RunError::Host(fault));
            }
            if let Some(limit) = self.limit() {
                return Ok(Some(limit));
            }
            if self.done_at().is_some() {
                return Ok(None);
            }
        }
    }

    /// A unit comes to where several inputs meet, or to the end of its route ([`Event::Arrival`]).
    #[inline(never)]
    fn arrive(&mut self, at: Time, unit: Unit) {
        if let Some((at, route, unit)) = self.wire.network.handle_arrival(at, unit) {
            self.deliver(at, route, unit);
            self.deliver_rest();
        }
    }

    pub(crate) fn handle(&mut self, step: Step) {
        match step {
            Step::Deliver { at, route, unit } => {
                self.deliver(at, route, unit);
                self.deliver_rest();
            }
            Step::Alarm { at, alarm } => self.alarm(at, alarm),
            Step::Drop(dropped) => self.drop(dropped),
            // Endpoints do not use what gates publish.
            Step::Signal { .. } => {}
            // Nor do hosts.
            Step::Departed { flow, .. } if self.flows[flow].hosted.is_some() => {}
            Step::Departed { at, flow: index } => {
                let flow = &mut self.flows[index];
                flow.before_sender(at);
                flow.sender.handle_departure(at);
                self.wire.pump_sender(at, index, flow);
                self.wire.run_ahead(index, flow);
            }
        }
    }

    /// Deliveries that are certain beside the one that an event reported.
    fn deliver_rest(&mut self) {
        while let Some((at, route, unit)) = self.wire.network.poll_delivery() {
            self.deliver(at, route, unit);
        }
    }

    /// When the last of the awaited flows was done; `None` while one is not, or if none is awaited.
    pub(crate) fn done_at(&self) -> Option<Time> {
        let each = self.awaited.iter().map(|flow| self.flows[*flow].done_at());
        each.collect::<Option<Vec<Time>>>()?.into_iter().max()
    }

    /// The simulated time that it has reached.
    pub(crate) fn reached(&self) -> Time {
        self.wire.network.now()
    }

    /// Units of many flows come to the ends of their routes.
    #[inline(never)]
    fn deliver_run(&mut self) {
        let Simulation { run, flows, wire, cohort_threads, .. } = self;
        match cohort_threads {
            None => {
                debug_assert!(!run.is_parted(), "there are threads where there are cohorts");
                wire.deliver_units(run.units(), flows, 0);
            }
            Some(cohort_threads) if run.is_parted() => cohort_threads.deliver_run(run, wire, flows),
            Some(cohort_threads) => {
                for (at, unit) in run.units() {
                    cohort_threads.turn_to(unit.stretch as usize / 2, &mut wire.segments);
                    wire.deliver_units(&[(*at, *unit)], flows, 0);
                }
            }
        }
        wire.network.end_run(run);
    }

    /// Makes the headers of the flow's cohort those of the wire ([`CohortThreads::turn_to`]).
    #[inline(always)]
    fn turn_to(&mut self, flow: usize) {
        if let Some(cohort_threads) = &mut self.cohort_threads {
            cohort_threads.turn_to(flow, &mut self.wire.segments);
        }
    }

    #[inline(always)]
    fn deliver(&mut self, at: Time, route: usize, unit: Unit) {
        let index = route / 2;
        if self.attends && self.attend_delivery(at, route, unit) {
            return;
        }
        self.turn_to(index);
        let flow = &mut self.flows[index];
        if route.is_multiple_of(2) {
            self.wire.receive(index, flow, &[(at, unit)]);
        } else {
            self.wire.acknowledge(index, flow, &[(at, unit)]);
        }
        self.wire.run_ahead(index, flow);
    }

    fn alarm(&mut self, at: Time, alarm: usize) {
        let alarm = self.wire.alarms.of(alarm);
        if self.attends && self.attend_alarm(at, alarm) {
            return;
        }
        let index = match alarm {
            Alarm::Server(server) => return self.wire.serve(at, server, &mut self.flows),
            Alarm::Sender(index) | Alarm::Receiver(index) | Alarm::Application(index) => index,
        };
        self.turn_to(index);
        self.wire.ring(at, alarm, index, &mut self.flows[index]);
    }

    /// A policed sender is about to act: reports to it what its policer has dropped by now.
    #[cold]
    pub(crate) fn find_drops(&mut self, index: usize) {
        if !self.finds_drops || !self.flows[index].is_policed() {
            return;
        }
        // An ACK may be dealt with ahead of its time; what is then unknown of a cell gate is no drop of its flow's.
        self.wire.network.find_drops(self.wire.network.now());
        while let Some(dropped) = self.wire.network.poll_drop() {
            self.drop(dropped);
        }
    }

    pub(crate) fn drop(&mut self, dropped: Dropped) {
        if self.attends
            && let Owner::Data(index) | Owner::Back(index) = dropped.owner
            && self.attend_drop(&dropped, index)
        {
            return self.record_drop(dropped);
        }
        if let Owner::Data(index) | Owner::Back(index) = dropped.owner {
            self.turn_to(index);
        }
        if let Owner::Data(flow) = dropped.owner {
            let Flow { policed, sender, style, .. } = &mut self.flows[flow];
            if let Some(policed) = policed
                && let Some(number) = self.wire.segments.first_byte(dropped.unit, style.connection)
            {
                policed.note_drop(&dropped, number, sender);
            }
        }
        if let Owner::Data(index) | Owner::Back(index) = dropped.owner {
            self.wire.segments.forget(dropped.unit);
            let flow = &mut self.flows[index];
            if flow.watched_closely {
                self.wire.lose(self.wire.network.now(), dropped.at, index, flow);
            }
        }
        self.record_drop(dropped);
    }

    fn record_drop(&mut self, dropped: Dropped) {
        if self.level != RecordLevel::Summary {
            self.drops.push(dropped);
        }
    }
}
