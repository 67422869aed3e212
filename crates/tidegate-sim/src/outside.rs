//! A run whose hosts are answered from outside, one thing that happens after the other: for a caller that is no [`Host`], such as a
//! program in another language.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidegate_core::plan::Plan;
use tidegate_core::units::{Span, Time};
use tidegate_result::{RunResult, Side};

use crate::checks::FIRST_REVIEW;
use crate::host::{Ecn, Ends, Host, Lost, Makes, Outgoing, Packet, Report};
use crate::known::only_known_controllers;
use crate::simulation::Simulation;
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
}

/// Something that happens to a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// When.
    pub at: Time,
    /// The flow's number.
    pub flow: usize,
    /// Which of its ends; of a packet that is lost the end that had sent it.
    pub side: Side,
    /// What.
    pub what: Happened,
}

/// What happens to a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// The flow begins, told to its sender.
    Begins,
    /// A packet comes, with its codepoint as it arrived.
    Packet(Packet, Ecn),
    /// The instant of its wake-up has come.
    Wakeup,
    /// A gate drops a packet that it had sent.
    Lost(Lost),
}

/// What lies between the caller and the hosts of the run.
#[derive(Default)]
struct Desk {
    turns: VecDeque<Turn>,
    /// Losses that are known ahead of their time, in the order of times.
    losses: BTreeMap<(Time, u64), Turn>,
    ends: BTreeMap<(usize, bool), Drawer>,
}

/// What the caller has for one end.
#[derive(Default)]
struct Drawer {
    leaving: VecDeque<Outgoing>,
    wakeup: Option<Time>,
    report: Report,
    rtt: Option<Span>,
}

/// One end, answered from the desk.
struct Outsider {
    desk: Arc<Mutex<Desk>>,
    flow: usize,
    side: Side,
}

fn locked(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Desk {
    fn drawer(&mut self, flow: usize, side: Side) -> &mut Drawer {
        self.ends.entry((flow, side == Side::Receiver)).or_default()
    }
}

impl Outsider {
    fn happens(&self, at: Time, what: Happened) {
        let Outsider { flow, side, .. } = *self;
        locked(&self.desk).turns.push_back(Turn { at, flow, side, what });
    }

    fn drawer<T>(&self, what: impl FnOnce(&mut Drawer) -> T) -> T {
        what(locked(&self.desk).drawer(self.flow, self.side))
    }
}

impl Host for Outsider {
    fn open(&mut self, now: Time) {
        if self.side == Side::Sender {
            self.happens(now, Happened::Begins);
        }
    }

    fn handle_packet(&mut self, now: Time, ecn: Ecn, packet: Packet) {
        self.happens(now, Happened::Packet(packet, ecn));
    }

    fn handle_wakeup(&mut self, now: Time) {
        if self.drawer(|drawer| drawer.wakeup.take_if(|at| *at <= now)).is_some() {
            self.happens(now, Happened::Wakeup);
        }
    }

    fn poll_transmit(&mut self, _now: Time) -> Option<Outgoing> {
        self.drawer(|drawer| drawer.leaving.pop_front())
    }

    fn next_wakeup(&mut self) -> Time {
        self.drawer(|drawer| drawer.wakeup.unwrap_or(Time::NEVER))
    }

    fn report(&self) -> Report {
        self.drawer(|drawer| drawer.report)
    }

    fn take_rtt_sample(&mut self) -> Option<Span> {
        self.drawer(|drawer| drawer.rtt.take())
    }

    fn handle_loss(&mut self, lost: Lost) {
        let (flow, side, at) = (self.flow, self.side, lost.at);
        let mut desk = locked(&self.desk);
        let number = desk.losses.last_key_value().map_or(0, |((_, number), _)| number + 1);
        desk.losses.insert((at, number), Turn { at, flow, side, what: Happened::Lost(lost) });
    }
}

impl HostedRun {
    /// A run at time 0, in which the flows of these numbers are answered from outside; `hosts` makes the hosts of the others that have any,
    /// as in [`crate::run_hosted`].
    ///
    /// # Errors
    /// [`RunError::Limit`] for a run until all is done, [`RunError::Host`] for a flow with requests, [`RunError::NotHere`] as [`crate::run_hosted`].
    pub fn new(plan: Plan, hosted: &[usize], hosts: Makes<'_>) -> Result<HostedRun, RunError> {
        if plan.until_done {
            let what = "duration: a run that is answered from outside needs a length, such as \"60 s\"; this one has \"until done\"";
            return Err(RunError::Limit(what.to_owned()));
        }
        only_known_controllers(&plan)?;
        let desk = Arc::new(Mutex::new(Desk::default()));
        let mut either = |flow: usize| -> Option<Ends> {
            let end = |side| -> Box<dyn Host> { Box::new(Outsider { desk: Arc::clone(&desk), flow, side }) };
            if hosted.contains(&flow) { Some([end(Side::Sender), end(Side::Receiver)]) } else { hosts(flow) }
        };
        let mut simulation = Simulation::with_hosts(&plan, 1, &mut either)?;
        // With hosts the directions never alternate, so that steps can be taken one by one.
        if hosted.is_empty() {
            simulation.start_in_order()
        } else {
            simulation.start()
        }
        Ok(HostedRun { plan, simulation, desk, now: Time::ZERO, left: FIRST_REVIEW })
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
        locked(&self.desk).drawer(flow, side).leaving.push_back(out);
        self.simulation.touch_host(self.now, flow, side).map_err(RunError::Host)
    }

    /// An end wants to be woken then, and at no other instant; `None`: not at all.
    ///
    /// # Errors
    /// As [`HostedRun::send`].
    pub fn wake(&mut self, flow: usize, side: Side, at: Option<Time>) -> Result<(), RunError> {
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
            if let Some(turn) = self.take_turn() {
                self.now = self.now.max(turn.at);
                return Ok(Some(turn));
            }
            if !self.simulation.take_step(self.plan.duration) {
                self.review(go_on)?;
                // A packet may be dropped by the last step.
                return Ok(self.take_turn());
            }
            self.left -= 1;
            if self.left == 0 {
                self.review(go_on)?;
            }
        }
    }

    /// The next thing that has happened, or a loss that nothing comes before.
    fn take_turn(&mut self) -> Option<Turn> {
        let mut desk = locked(&self.desk);
        let next = desk.turns.front().map_or_else(|| self.simulation.next_event(), |turn| turn.at);
        let lost = desk.losses.first_entry().filter(|entry| entry.key().0 <= next.min(self.plan.duration));
        match lost {
            Some(entry) => Some(entry.remove()),
            None => desk.turns.pop_front(),
        }
    }

    fn review(&mut self, go_on: &mut dyn FnMut(Time) -> bool) -> Result<(), RunError> {
        self.left = FIRST_REVIEW;
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
        let result = self.simulation.finish(&self.plan);
        Ok((self.plan, result))
    }
}
