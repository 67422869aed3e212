//! A run whose hosts are answered from outside, one thing that happens after the other: for a caller that is no [`Host`], such as a
//! program in another language.

use std::sync::{Arc, Mutex};

use tidegate_core::plan::{Plan, RecordPlan};
use tidegate_core::units::{Span, Time};
use tidegate_result::{RunResult, Side, not_done};

use crate::checks::FIRST_REVIEW;
use crate::desk::{Desk, Outsider, Turn, locked};
use crate::host::{Ends, Host, Makes, Outgoing, Report};
use crate::known::only_known_controllers;
use crate::rehearsal::{Done, Rehearsal};
use crate::simulation::{Simulation, ending};
use crate::stopped::RunError;

/// A run under way whose hosts are answered from outside. Between two things that happen the caller may send packets, set wake-ups and say
/// what it knows; all of that is at [`HostedRun::now`].
///
/// Its result is that of [`crate::run_hosted`] with hosts that do the same.
pub struct HostedRun {
    plan: Plan,
    simulation: Simulation,
    desk: Arc<Mutex<Desk>>,
    now: Time,
    /// Steps of the network to the next look at the limits.
    left: u64,
    /// The flows that are answered from outside.
    hosted: Vec<usize>,
    /// In a run until all is done.
    rehearsal: Option<Box<Rehearsal>>,
}

impl HostedRun {
    /// A run at time 0, in which the flows of these numbers are answered from outside; `hosts` makes the hosts of the others that have any,
    /// as in [`crate::run_hosted`].
    ///
    /// A run until all is done (`Plan::until_done`) keeps what the caller does: once it is over, the same is done again in a run of that
    /// length, whose numbers are the result, as in [`crate::run`].
    ///
    /// # Errors
    /// [`RunError::Host`] for a flow with requests, [`RunError::NotHere`] as [`crate::run_hosted`].
    pub fn new(plan: Plan, hosted: &[usize], hosts: Makes<'_>) -> Result<HostedRun, RunError> {
        only_known_controllers(&plan)?;
        let others = |flow| if hosted.contains(&flow) { None } else { hosts(flow) };
        let rehearsal = plan
            .until_done
            .then(|| Rehearsal::new((0..plan.flows.len()).map(others).collect()))
            .map(Box::new);
        let desk = Arc::new(Mutex::new(Desk::default()));
        let mut either = |flow: usize| -> Option<Ends> {
            let end = |side| -> Box<dyn Host> { Box::new(Outsider { desk: Arc::clone(&desk), flow, side }) };
            if hosted.contains(&flow) { Some([end(Side::Sender), end(Side::Receiver)]) } else { hosts(flow) }
        };
        let mut simulation = match &rehearsal {
            None => Simulation::with_hosts(&plan, 1, &mut either)?,
            Some(_) => {
                let unrecorded = Plan { record: RecordPlan::default(), ..plan.clone() };
                Simulation::with_hosts(&unrecorded, 1, &mut either)?
            }
        };
        // With hosts the directions never alternate, so that steps can be taken one by one.
        if hosted.is_empty() {
            simulation.start_in_order()
        } else {
            simulation.start()
        }
        let (now, hosted) = (Time::ZERO, hosted.to_vec());
        let left = simulation.steps_to_review().min(FIRST_REVIEW);
        Ok(HostedRun { plan, simulation, desk, now, left, hosted, rehearsal })
    }

    /// The instant it is at.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// A packet leaves an end, now or at the instant that it names.
    ///
    /// # Errors
    /// [`RunError::Host`]: too many packets leave, or this one is no IP packet.
    pub fn send(&mut self, flow: usize, side: Side, out: Outgoing) -> Result<(), RunError> {
        if let Some(rehearsal) = &mut self.rehearsal {
            rehearsal.note(flow, side, Done::Sent(out.clone()));
        }
        locked(&self.desk).drawer(flow, side).leaving.push_back(out);
        self.simulation.touch_host(self.now, flow, side).map_err(RunError::Host)
    }

    /// An end wants to be woken then, and at no other instant; `None`: not at all.
    ///
    /// # Errors
    /// As [`HostedRun::send`].
    pub fn wake(&mut self, flow: usize, side: Side, at: Option<Time>) -> Result<(), RunError> {
        if let Some(rehearsal) = &mut self.rehearsal {
            rehearsal.note(flow, side, Done::Wakes(at));
        }
        locked(&self.desk).drawer(flow, side).wakeup = at;
        self.simulation.touch_host(self.now, flow, side).map_err(RunError::Host)
    }

    /// An end has something to say: `change` edits what it has said so far. A round trip is one that its sender has just measured.
    ///
    /// # Errors
    /// As [`HostedRun::send`].
    pub fn tell(
        &mut self,
        flow: usize,
        side: Side,
        round_trip: Option<Span>,
        change: impl FnOnce(&mut Report),
    ) -> Result<(), RunError> {
        {
            let mut desk = locked(&self.desk);
            let drawer = desk.drawer(flow, side);
            drawer.rtt = round_trip;
            change(&mut drawer.report);
            if let Some(rehearsal) = &mut self.rehearsal {
                rehearsal.note(flow, side, Done::Reported(round_trip, drawer.report));
            }
        }
        self.simulation.touch_host(self.now, flow, side).map_err(RunError::Host)
    }

    /// What happens next to a host; `None`: the run is over. `go_on` is asked now and then.
    ///
    /// # Errors
    /// [`RunError::Interrupted`] when `go_on` says no, [`RunError::Limit`] where the plan's limits end the run, [`RunError::Host`] where an
    /// end asks to be woken again and again.
    pub fn poll_turn(&mut self, go_on: &mut dyn FnMut(Time) -> bool) -> Result<Option<Turn>, RunError> {
        loop {
            let end = self.simulation.end(self.plan.duration);
            if let Some(turn) = self.take_turn(end) {
                self.now = self.now.max(turn.at);
                return Ok(Some(turn));
            }
            if !self.simulation.take_step(end) {
                self.review(go_on)?;
                // A packet may be dropped by the last step.
                return Ok(self.take_turn(end));
            }
            self.left -= 1;
            if self.left == 0 {
                self.review(go_on)?;
            }
        }
    }

    /// The next thing that has happened, or a loss that nothing comes before.
    fn take_turn(&mut self, end: Time) -> Option<Turn> {
        let mut desk = locked(&self.desk);
        let next = desk.turns.front().map_or_else(|| self.simulation.next_event(), |turn| turn.at);
        let lost = desk.losses.first_entry().filter(|entry| entry.key().0 <= next.min(end));
        let turn = match lost {
            Some(entry) => Some(entry.remove()),
            None => desk.turns.pop_front(),
        };
        if let (Some(_), Some(rehearsal)) = (&turn, &mut self.rehearsal) {
            rehearsal.note_turn();
        }
        turn
    }

    fn review(&mut self, go_on: &mut dyn FnMut(Time) -> bool) -> Result<(), RunError> {
        self.left = self.simulation.steps_to_review().min(FIRST_REVIEW);
        if let Some(fault) = self.simulation.fault() {
            return Err(RunError::Host(fault));
        }
        if !go_on(self.now) {
            return Err(RunError::Interrupted);
        }
        match self.simulation.limit() {
            Some(limit) => Err(RunError::Limit(limit.words(&self.plan, self.simulation.reached()))),
            None => Ok(()),
        }
    }

    /// The rest of the run, in which nobody answers, and what the whole gives.
    ///
    /// # Errors
    /// As [`HostedRun::poll_turn`].
    pub fn finish(mut self, go_on: &mut dyn FnMut(Time) -> bool) -> Result<(Plan, RunResult), RunError> {
        while self.poll_turn(go_on)?.is_some() {}
        if let Some(rehearsal) = self.rehearsal.take() {
            return self.again(*rehearsal, go_on);
        }
        let result = self.simulation.finish(&self.plan);
        Ok((self.plan, result))
    }

    /// The same again, in a run of the length that this one had.
    fn again(
        self,
        rehearsal: Rehearsal,
        go_on: &mut dyn FnMut(Time) -> bool,
    ) -> Result<(Plan, RunResult), RunError> {
        let duration = self.simulation.end(self.plan.duration);
        let open = ending(&self.plan).filter(|flow| self.simulation.flows[*flow].done_at().is_none()).count();
        let known = Plan { until_done: false, duration, ..self.plan.clone() };
        known.recording_fits().map_err(RunError::Recording)?;
        let Rehearsal { mut hosts, done, .. } = rehearsal;
        let mut run = HostedRun::new(known, &self.hosted, &mut |flow| hosts.get_mut(flow)?.take())?;
        let mut turns = 0;
        for (after, flow, side, what) in done {
            while turns < after {
                run.poll_turn(go_on)?;
                turns += 1;
            }
            match what {
                Done::Sent(out) => run.send(flow, side, out)?,
                Done::Wakes(at) => run.wake(flow, side, at)?,
                Done::Reported(round_trip, report) => {
                    run.tell(flow, side, round_trip, |said| *said = report)?
                }
            }
        }
        let (plan, mut result) = run.finish(go_on)?;
        if open > 0 {
            result.summary.warnings.push(not_done(&self.plan, open));
        }
        Ok((plan, result))
    }
}
