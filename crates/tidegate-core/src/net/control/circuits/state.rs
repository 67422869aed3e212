//! The states of a circuit: asked for, set up, open, held, given back.

use super::Circuits;
use crate::gate::Gate;
use crate::net::control::admission::Answer;
use crate::plan::{Blocked, ReservationPlan};
use crate::units::{Span, Time};

/// What is to be done at a time of its own. At one instant capacity is first given back,
/// then circuits open, then calls whose patience is over stop waiting, then refused calls are made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Task {
    /// A circuit was idle for long enough.
    Release(u32),
    /// A call without packets is over.
    End { by: u32, call: u64 },
    /// A circuit is set up.
    Open(u32),
    /// The patience of a call without packets is over.
    Leave { by: u32, call: u64 },
    /// A refused call is made again.
    Retry(u32),
    /// A refused call without packets is made again.
    Again { by: u32, call: u64 },
}

/// The circuits that one call opens.
#[derive(Debug)]
pub(super) struct Reservation {
    plan: ReservationPlan,
    pub(super) gates: Vec<usize>,
    state: State,
    /// The one task it waits for.
    pub(super) task: Option<(Time, Task)>,
    /// Flows with a transfer under way.
    transfers: u32,
    /// A packet is about to enter one of the gates.
    pub(super) arriving: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    /// Its call waits for capacity.
    Asking,
    /// To be asked for again.
    Refused,
    /// It has its capacity; packets still wait.
    SettingUp,
    Open,
    /// Open and idle.
    Held,
}

impl Reservation {
    /// Closed, and without gates as yet.
    pub(super) fn new(plan: &ReservationPlan) -> Reservation {
        Reservation {
            gates: vec![],
            plan: plan.clone(),
            state: State::Closed,
            task: None,
            transfers: 0,
            arriving: false,
        }
    }
}

impl Circuits {
    /// A packet is about to enter a circuit at `at`; says whether it may, or is to be thrown away.
    pub(super) fn open_for_packet(&mut self, at: Time, gate: usize, gates: &mut [Gate]) -> bool {
        let reservation = self.of_gate[gate] as usize;
        self.reservations[reservation].arriving = true;
        match self.reservations[reservation].state {
            State::Closed => self.ask(at, reservation, gates),
            State::Held => {
                self.reservations[reservation].state = State::Open;
                self.forget_task(reservation);
            }
            State::Asking | State::Refused | State::SettingUp | State::Open => {}
        }
        self.reservations[reservation].state != State::Closed
    }

    /// A transfer of a flow begins.
    pub(super) fn begin_transfer(&mut self, flow: usize) {
        if !std::mem::replace(&mut self.transferring[flow], true) {
            let reservation = self.of_flow[flow] as usize;
            self.reservations[reservation].transfers += 1;
            if self.reservations[reservation].state == State::Held {
                self.reservations[reservation].state = State::Open;
                self.forget_task(reservation);
            }
        }
    }

    /// The transfer of a flow is over.
    pub(super) fn end_transfer(&mut self, at: Time, flow: usize, gates: &mut [Gate]) {
        if !std::mem::replace(&mut self.transferring[flow], false) {
            return;
        }
        let reservation = self.of_flow[flow] as usize;
        self.reservations[reservation].transfers -= 1;
        self.hold_if_idle(at, reservation, gates);
    }

    /// Asks for a reservation's capacity. It stays closed if the call is lost.
    pub(super) fn ask(&mut self, at: Time, reservation: usize, gates: &mut [Gate]) {
        self.reservations[reservation].task = None;
        let answer = self.admission.ask(at, reservation, 0);
        match (answer, self.reservations[reservation].plan.blocked) {
            (Answer::Granted, _) => self.set_up(at, reservation, gates),
            (Answer::Waits, _) => self.reservations[reservation].state = State::Asking,
            (Answer::Refused, Blocked::Retry(after)) => {
                self.reservations[reservation].state = State::Refused;
                self.wait_for(at.saturating_add(after), reservation, Task::Retry);
            }
            (Answer::Refused, _) => self.reservations[reservation].state = State::Closed,
        }
    }

    /// The call has been granted.
    pub(super) fn set_up(&mut self, at: Time, reservation: usize, gates: &mut [Gate]) {
        let setup = self.reservations[reservation].plan.setup;
        self.reservations[reservation].state = State::SettingUp;
        if setup == Span::ZERO {
            self.open(at, reservation, gates);
        } else {
            self.wait_for(at.saturating_add(setup), reservation, Task::Open);
        }
    }

    /// The circuits can be used from now on.
    pub(super) fn open(&mut self, at: Time, reservation: usize, gates: &mut [Gate]) {
        let row = &mut self.reservations[reservation];
        (row.state, row.task) = (State::Open, None);
        for gate in &row.gates {
            gates[*gate].open_circuit(at);
            self.opened.push(*gate);
        }
        self.hold_if_idle(at, reservation, gates);
    }

    /// A reservation without a transfer and without a packet is held for a while; one that has
    /// nothing to ask for any more does not ask.
    pub(super) fn hold_if_idle(&mut self, at: Time, reservation: usize, gates: &mut [Gate]) {
        let row = &mut self.reservations[reservation];
        if row.arriving || row.transfers > 0 || !row.gates.iter().all(|gate| gates[*gate].is_empty()) {
            return;
        }
        match row.state {
            State::Open => {
                row.state = State::Held;
                match row.plan.hold {
                    None => {}
                    Some(Span::ZERO) => self.release(at, reservation, gates),
                    Some(hold) => {
                        self.wait_for(at.saturating_add(hold), reservation, Task::Release);
                    }
                }
            }
            State::Asking => {
                row.state = State::Closed;
                self.admission.withdraw(at, reservation, 0);
            }
            State::Refused => {
                row.state = State::Closed;
                self.forget_task(reservation);
            }
            State::Closed | State::SettingUp | State::Held => {}
        }
    }

    /// Closes the circuits, and gives their capacity back.
    pub(super) fn release(&mut self, at: Time, reservation: usize, gates: &mut [Gate]) {
        let row = &mut self.reservations[reservation];
        (row.state, row.task) = (State::Closed, None);
        for gate in &row.gates {
            gates[*gate].close_circuit(at);
        }
        self.admission.give_back(at, reservation);
    }

    fn wait_for(&mut self, at: Time, reservation: usize, task: fn(u32) -> Task) {
        let task = task(reservation as u32);
        self.reservations[reservation].task = Some((at, task));
        self.tasks.insert((at, task));
    }

    fn forget_task(&mut self, reservation: usize) {
        if let Some(task) = self.reservations[reservation].task.take() {
            self.tasks.remove(&task);
        }
    }
}
