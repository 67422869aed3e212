//! The loop: the network says what happens next, endpoints and applications answer.

use tidegate_core::net::{Dropped, Event, Owner, Run, Step};
use tidegate_core::plan::{Limits, Plan, RecordLevel};
use tidegate_core::unit::Unit;
use tidegate_core::units::Time;

use crate::alarms::Alarm;
use crate::checks::{Checks, REVIEW};
use crate::flow::Flow;
use crate::stopped::{Limit, RunError};
use crate::watch::Watch;
use crate::ways::Watched;
use crate::wire::Wire;

/// The flows of a plan that come to an end by themselves.
pub(crate) fn ending(plan: &Plan) -> impl Iterator<Item = usize> {
    plan.flows.iter().enumerate().filter(|(_, flow)| flow.ends()).map(|(number, _)| number)
}

/// A run under way.
pub(crate) struct Simulation {
    pub(crate) limits: Limits,
    level: RecordLevel,
    /// The flows whose ends end the run.
    awaited: Vec<usize>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) wire: Wire,
    pub(crate) drops: Vec<Dropped>,
    /// Units that the network has handed out together; empty between its events.
    run: Run,
    pub(crate) checks: Checks,
    /// A policed sender asks cell gates for their drops before it acts.
    finds_drops: bool,
}

impl Simulation {
    pub(crate) fn new(plan: &Plan) -> Simulation {
        let flows: Vec<Flow> = (0..plan.flows.len()).map(|index| Flow::new(plan, index)).collect();
        let wire = Wire::new(plan);
        let finds_drops = wire.network.has_sections() && flows.iter().any(|flow| flow.policed.is_some());
        Simulation {
            limits: plan.limits,
            level: plan.record.level,
            awaited: if plan.until_done { ending(plan).collect() } else { Vec::new() },
            flows,
            wire,
            drops: Vec::new(),
            run: Run::default(),
            checks: Checks::new(plan.flows.len() + plan.gates.len()),
            finds_drops,
        }
    }

    pub(crate) fn start(&mut self) {
        // A limit needs both ends at one instant.
        self.start_where(self.limits.events.is_none());
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
            flow.entries = [index * 2, index * 2 + 1].map(|route| network.entry(route));
            let alone = may_run_ahead && flow.lets_ends_part() && self.wire.packets.is_none();
            let ahead = [index * 2, index * 2 + 1].map(|route| alone && network.deliver_ahead(route));
            all_ahead &= ahead == [true; 2];
            network.set_alarm(alarms.application(index), flow.start);
        }
        for flow in &mut self.flows {
            flow.runs_laps = self.wire.runs_laps(flow);
        }
        if all_ahead {
            let flows = &self.flows;
            self.wire.network.take_turns(|alarm| alarms.half(alarm, |flow| flows[flow].dialogue.is_some()));
        }
    }

    /// Does all that happens before `to`, or says which limit was reached. Of a run until all is done it does no more
    /// than a little beyond that.
    pub(crate) fn drive(&mut self, to: Time, watch: &mut dyn Watch) -> Result<Option<Limit>, RunError> {
        loop {
            let enough = self.wire.ahead + REVIEW;
            let mut steps = self.steps_to_review();
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
                    Some(Event::Arrival { at, unit }) => {
                        if let Some((at, route, unit)) = network.handle_arrival(at, unit) {
                            self.deliver(at, route, unit);
                        }
                    }
                    Some(Event::Wakeup { at, source }) => {
                        if let Some(step) = network.handle_wakeup(at, source) {
                            self.handle(step);
                        }
                    }
                    None => return Ok(None),
                }
                if self.wire.ahead >= enough {
                    break;
                }
            }
            self.wire.network.review_turns();
            if let Some(packets) = &mut self.wire.packets {
                watch.packets(packets);
            }
            if !watch.go_on(self.wire.network.now()) {
                return Err(RunError::Interrupted);
            }
            if let Some(limit) = self.limit() {
                return Ok(Some(limit));
            }
            if self.done_at().is_some() {
                return Ok(None);
            }
        }
    }

    fn handle(&mut self, step: Step) {
        match step {
            Step::Deliver { at, route, unit } => {
                self.deliver(at, route, unit);
                self.deliver_rest();
            }
            Step::Alarm { at, alarm } => self.alarm(at, alarm),
            Step::Drop(dropped) => self.drop(dropped),
            // Endpoints do not listen to gates.
            Step::Signal { .. } => {}
            Step::Departed { at, flow: index } => {
                let flow = &mut self.flows[index];
                flow.before_sender(at);
                flow.sender.handle_departure(at);
                self.wire.pump_sender(at, index, flow);
            }
        }
    }

    /// Deliveries that are certain beside the one that an event reported.
    fn deliver_rest(&mut self) {
        while let Some((at, route, unit)) = self.wire.network.poll_delivery() {
            self.deliver(at, route, unit);
        }
    }

    /// When the last of the flows was done whose ends end the run; `None` while one is not, or without such flows.
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
        let Simulation { run, flows, wire, .. } = self;
        // All of them come to the same end of their flows. No flow is policed where halves take turns.
        if run.units().first().is_some_and(|(_, unit)| unit.chain.is_multiple_of(2)) {
            for (at, unit) in run.units() {
                let index = unit.chain as usize / 2;
                let flow = &mut flows[index];
                wire.receive(*at, index, flow, unit);
                wire.run_ahead(index, flow);
            }
        } else {
            for (at, unit) in run.units() {
                let index = unit.chain as usize / 2;
                let flow = &mut flows[index];
                wire.acknowledge(*at, index, flow, unit);
                wire.run_ahead(index, flow);
            }
        }
        wire.network.end_run(run);
    }

    #[inline(always)]
    fn deliver(&mut self, at: Time, route: usize, unit: Unit) {
        let index = route / 2;
        if self.finds_drops {
            self.find_drops(at, index);
        }
        let flow = &mut self.flows[index];
        if route.is_multiple_of(2) {
            self.wire.receive(at, index, flow, &unit);
        } else {
            self.wire.acknowledge(at, index, flow, &unit);
        }
        self.wire.run_ahead(index, flow);
    }

    fn alarm(&mut self, at: Time, alarm: usize) {
        let (index, flow) = match self.wire.alarms.of(alarm) {
            Alarm::Server(server) => return self.wire.serve(at, server, &mut self.flows),
            Alarm::Sender(index) => {
                self.find_drops(at, index);
                let flow = &mut self.flows[index];
                self.wire.wake_sender(at, index, flow);
                (index, flow)
            }
            Alarm::Receiver(index) => {
                let flow = &mut self.flows[index];
                self.wire.wake_receiver(at, index, flow);
                (index, flow)
            }
            Alarm::Application(index) => {
                let flow = &mut self.flows[index];
                if flow.dialogue.is_some() {
                    self.wire.wake_client(at, index, flow);
                } else {
                    self.wire.wake_app(at, index, flow);
                    self.wire.network.set_alarm(alarm, flow.app.next_wakeup());
                }
                (index, flow)
            }
        };
        self.wire.run_ahead(index, flow);
    }

    /// A policed sender is about to act: what its policer has dropped is known now.
    #[cold]
    fn find_drops(&mut self, at: Time, index: usize) {
        if !self.finds_drops || self.flows[index].policed.is_none() {
            return;
        }
        self.wire.network.find_drops(at);
        while let Some(dropped) = self.wire.network.poll_drop() {
            self.drop(dropped);
        }
    }

    pub(crate) fn drop(&mut self, dropped: Dropped) {
        if let Owner::Data(flow) = dropped.owner {
            let Flow { policed, sender, connection, .. } = &mut self.flows[flow];
            if let Some(policed) = policed {
                let number = if dropped.unit.is_compact() {
                    Some(dropped.unit.handle)
                } else {
                    let segment = self.wire.segments.look_at(dropped.unit);
                    (segment.connection == *connection && segment.len > 0).then_some(segment.seq)
                };
                if let Some(number) = number {
                    policed.note_drop(&dropped, number, sender);
                }
            }
        }
        if let Owner::Data(index) | Owner::Back(index) = dropped.owner {
            self.wire.segments.forget(dropped.unit);
            let flow = &mut self.flows[index];
            if flow.watched == Watched::Closely {
                flow.in_network -= 1;
                self.wire.tell_circuits(dropped.at, index, flow);
            }
        }
        if self.level != RecordLevel::Summary {
            self.drops.push(dropped);
        }
    }
}
