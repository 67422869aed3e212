//! A run that stops at instants, to be asked and steered.

use std::sync::Arc;

use tidegate_core::plan::{CongestionPlan, Plan};
use tidegate_core::tcp::{Counters, Snapshot};
use tidegate_core::units::{Rate, Time};
use tidegate_result::RunResult;

use crate::host::Makes;
use crate::known::only_known_controllers;
use crate::simulation::Simulation;
use crate::steering::{Heard, Steering};
use crate::stopped::RunError;

/// A run under way. Some of its flows are steered: their windows and paces are set between two instants, and hold through
/// losses, time-outs and idle times. They need SACK.
///
/// Its result is that of [`crate::run`] with the same windows.
pub struct Stepper {
    plan: Plan,
    simulation: Simulation,
    now: Time,
}

/// What is known of a flow at an instant.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// What its sender is doing.
    pub sender: Snapshot,
    /// What its sender has counted since the run began.
    pub counted: Counters,
    /// What a steered flow has heard since it was looked at last.
    pub heard: Heard,
    /// When its finite transfer ended.
    pub completed: Option<Time>,
}

impl Stepper {
    /// A run at time 0, in which the flows of these numbers are steered. Their windows are the initial ones until set. `hosts` makes the
    /// hosts of other flows, as in [`crate::run_hosted`].
    ///
    /// # Errors
    /// [`RunError::NotHere`] for a congestion control of the kernel's in a flow that is not steered,
    /// [`RunError::Limit`] for a run until all is done.
    pub fn new(mut plan: Plan, steered: &[usize], hosts: Makes<'_>) -> Result<Stepper, RunError> {
        if plan.until_done {
            let what =
                "duration: a run in steps needs a length, such as \"60 s\"; this one has \"until done\"";
            return Err(RunError::Limit(what.to_owned()));
        }
        for &flow in steered {
            plan.flows[flow].tcp.cc = CongestionPlan::Steered;
        }
        only_known_controllers(&plan)?;
        let mut simulation = Simulation::with_hosts(&plan, 1, hosts)?;
        for &flow in steered {
            let tcp = &plan.flows[flow].tcp;
            simulation.steer_by(flow, Steering::new(tcp.initial_window), tcp.mss);
        }
        simulation.start_in_order();
        Ok(Stepper { plan, simulation, now: Time::ZERO })
    }

    /// The instant it is at.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Where the run ends.
    #[must_use]
    pub fn until(&self) -> Time {
        self.plan.duration
    }

    /// When a flow opens its connection.
    #[must_use]
    pub fn start_of(&self, flow: usize) -> Time {
        self.simulation.start_of(flow)
    }

    /// Goes on to `to`, at most to the end: everything before that instant happens. `go_on` is asked now and then.
    ///
    /// # Errors
    /// [`RunError::Interrupted`] when `go_on` says no, [`RunError::Limit`] where the plan's limits end the run.
    pub fn advance(&mut self, to: Time, mut go_on: &mut dyn FnMut(Time) -> bool) -> Result<(), RunError> {
        let to = to.min(self.until());
        if to <= self.now {
            return Ok(());
        }
        if let Some(limit) = self.simulation.drive(to, &mut go_on)? {
            return Err(RunError::Limit(limit.words(&self.plan, self.simulation.reached())));
        }
        self.now = to;
        Ok(())
    }

    /// Sets the window in bytes (at least a segment goes) and the pace in user bits a second of a steered flow, from
    /// [`Stepper::now`] on.
    pub fn steer(&mut self, flow: usize, window: u64, pacing: Option<Rate>) {
        self.simulation.steer(self.now, flow, window, pacing);
    }

    /// What is known of a flow now.
    pub fn look(&mut self, flow: usize) -> Seen {
        self.simulation.look(flow)
    }

    /// Bytes that the run holds, about, for tests of its limit: what they need of the simulator is compiled without them.
    #[doc(hidden)]
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.simulation.memory_bytes()
    }

    /// The rest of the run, with windows as they are, and what the whole gives.
    ///
    /// # Errors
    /// As [`Stepper::advance`].
    pub fn finish(mut self, go_on: &mut dyn FnMut(Time) -> bool) -> Result<(Plan, RunResult), RunError> {
        self.advance(self.until(), go_on)?;
        let result = self.simulation.finish(&self.plan);
        Ok((self.plan, result))
    }
}

impl Simulation {
    fn steer_by(&mut self, index: usize, steering: Arc<Steering>, mss: u32) {
        self.flows[index].steer_by(steering, mss);
    }

    fn start_of(&self, index: usize) -> Time {
        self.flows[index].start
    }

    fn steer(&mut self, now: Time, index: usize, window: u64, pacing: Option<Rate>) {
        let flow = &mut self.flows[index];
        let changed = flow.steering.as_ref().is_some_and(|(steering, _)| steering.set(window, pacing));
        if changed && flow.sender.handle_window_set() {
            flow.before_sender(now);
            self.wire.pump_sender(now, index, flow);
            self.wire.run_ahead(index, flow);
        }
    }

    fn look(&mut self, index: usize) -> Seen {
        let flow = &self.flows[index];
        Seen {
            sender: flow.sender.snapshot(),
            counted: flow.counted_by_sender(),
            heard: flow.steering.as_ref().map(|(steering, _)| steering.take()).unwrap_or_default(),
            completed: flow.meter.completed,
        }
    }
}
