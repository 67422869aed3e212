//! Circuits and the calls that open them: closed, asking, set up, open, held, released.
//!
//! The first packet that comes to a closed circuit asks; packets wait behind it until the
//! call has been granted and is set up. A circuit falls idle when no transfer of its flows is
//! under way and no packet is in it; then it is held for a while and given back. Only idle
//! circuits are closed, so that nothing that was stated is taken back.

mod callers;
mod calls;
mod state;

use std::collections::BTreeSet;

use crate::gate::Gate;
use crate::net::control::admission::{Admission, CallClass, CallCounts, Grant, PoolUse};
use crate::net::control::{Arrival, Control, Effect, NONE};
use crate::net::settings::{measured, precision, seed};
use crate::plan::{Blocked, Plan, RatePlan};
use crate::units::{Rate, Time};

use callers::Callers;
use state::{Reservation, Task};

/// What is handled after everything else at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LateEvent {
    /// A transfer of a flow begins or ends; in the order in which the engine said so.
    Transfer { flow: u32, number: u64, begins: bool },
    /// A call without packets is made.
    Call { by: u32, user: u32 },
}

/// All circuits and calls of a network: one group.
#[derive(Debug)]
pub(in crate::net) struct Circuits {
    /// The first classes are the circuits' calls, then come those without packets.
    admission: Admission,
    reservations: Vec<Reservation>,
    callers: Vec<Callers>,
    of_gate: Vec<u32>,
    of_flow: Vec<u32>,
    /// Whether each flow has a transfer under way.
    transferring: Vec<bool>,
    /// The latest end of each flow's transfer, as long as it is a late event to come.
    ends: Vec<Option<(Time, LateEvent)>>,
    tasks: BTreeSet<(Time, Task)>,
    late_events: BTreeSet<(Time, LateEvent)>,
    /// How many late events were transfers that begin or end.
    transfer_events: u64,
    /// Gates that were opened last and may be serving now.
    opened: Vec<usize>,
}

impl Circuits {
    /// `None` where there is neither a circuit nor a call.
    pub(in crate::net) fn new(plan: &Plan) -> Option<Box<Circuits>> {
        if plan.reservations.is_empty() && plan.calls.is_empty() {
            return None;
        }
        let mut of_gate = vec![NONE; plan.gates.len()];
        let mut reservations: Vec<Reservation> = plan.reservations.iter().map(Reservation::new).collect();
        for (gate, row) in plan.gates.iter().enumerate() {
            if let RatePlan::Reserve(circuit) = &row.rate {
                of_gate[gate] = circuit.reservation as u32;
                reservations[circuit.reservation].gates.push(gate);
            }
        }
        let of_flow = plan.flows.iter().map(|flow| {
            let passed = flow.path.iter().chain(&flow.back).map(|gate| of_gate[*gate]);
            passed.min().unwrap_or(NONE)
        });
        let class = |demands: &[_], blocked: Blocked| CallClass {
            demands: demands.to_vec(),
            waits: blocked == Blocked::Wait,
        };
        let classes = plan.reservations.iter().map(|row| class(&row.demands, row.blocked));
        let of_callers = plan.calls.iter().map(|row| class(&row.demands, row.blocked));
        let classes: Vec<CallClass> = classes.chain(of_callers).collect();
        let mut circuits = Circuits {
            admission: Admission::new(&plan.pools, classes, measured(plan), precision(plan)),
            reservations,
            callers: plan.calls.iter().map(|row| Callers::new(row, seed(plan))).collect(),
            of_flow: of_flow.collect(),
            of_gate,
            transferring: vec![false; plan.flows.len()],
            ends: vec![None; plan.flows.len()],
            tasks: BTreeSet::new(),
            late_events: BTreeSet::new(),
            transfer_events: 0,
            opened: vec![],
        };
        for (by, row) in (0..).zip(&mut circuits.callers) {
            let first = row.first_calls().into_iter();
            circuits.late_events.extend(first.map(|(at, user)| (at, LateEvent::Call { by, user })));
        }
        Some(Box::new(circuits))
    }

    /// Whether a flow passes a circuit.
    pub(in crate::net) fn is_used_by(&self, flow: usize) -> bool {
        self.of_flow.get(flow).is_some_and(|reservation| *reservation != NONE)
    }

    /// A flow's transfer begins or ends at `at`. A beginning takes back an end that was announced for a
    /// later instant (a drop is reported before its time). Answers with when the next late event is due.
    pub(in crate::net) fn note_transfer(&mut self, at: Time, flow: usize, begins: bool) -> Time {
        if !self.is_used_by(flow) {
            return self.next_late_event();
        }
        self.transfer_events += 1;
        let late = (at, LateEvent::Transfer { flow: flow as u32, number: self.transfer_events, begins });
        if let Some(end) = self.ends[flow].take()
            && begins
            && end.0 > at
        {
            self.late_events.remove(&end);
        }
        if !begins {
            self.ends[flow] = Some(late);
        }
        self.late_events.insert(late);
        self.next_late_event()
    }

    /// Handles every late event up to `at`.
    pub(in crate::net) fn handle_late_events(&mut self, at: Time, gates: &mut [Gate]) {
        self.opened.clear();
        while let Some((when, late)) = self.late_events.first().copied()
            && when <= at
        {
            self.late_events.pop_first();
            match late {
                LateEvent::Transfer { flow, begins: true, .. } => self.begin_transfer(flow as usize),
                LateEvent::Transfer { flow, begins: false, .. } => {
                    self.end_transfer(when, flow as usize, gates)
                }
                LateEvent::Call { by, user } => {
                    let row = &mut self.callers[by as usize];
                    let (call, following) = (row.make(user), row.next_arrival());
                    self.late_events.extend(following.map(|next| (next, LateEvent::Call { by, user })));
                    self.make_call(when, by, call);
                }
            }
            self.use_grants(when, gates);
        }
    }

    /// Something happened at a circuit at `at`: it may be idle now.
    fn note_change(&mut self, at: Time, gate: usize, gates: &mut [Gate]) -> Effect {
        let reservation = self.of_gate[gate] as usize;
        self.reservations[reservation].arriving = false;
        self.hold_if_idle(at, reservation, gates);
        self.use_grants(at, gates);
        Effect::Gates
    }

    fn class_of(&self, by: u32) -> usize {
        self.reservations.len() + by as usize
    }

    /// Goes on with calls that waited and have been granted.
    fn use_grants(&mut self, at: Time, gates: &mut [Gate]) {
        while let Some(Grant { class, call }) = self.admission.poll_granted() {
            match class.checked_sub(self.reservations.len()) {
                None => self.set_up(at, class, gates),
                Some(by) => self.hold_call(at, by as u32, call),
            }
        }
    }

    /// A pool inside the measured time.
    pub(in crate::net) fn pool_use(&self, pool: usize) -> (PoolUse, &CallCounts) {
        (self.admission.pool_use(pool), self.admission.pool_counts(pool))
    }

    /// The capacity of a pool that is reserved now.
    pub(in crate::net) fn reserved(&self, pool: usize) -> Rate {
        self.admission.reserved(pool)
    }

    /// The calls of a reservation.
    pub(in crate::net) fn calls_for(&self, reservation: usize) -> &CallCounts {
        self.admission.class_counts(reservation)
    }

    /// The calls of each `[calls.NAME]`.
    pub(in crate::net) fn calls_without_packets(&self) -> impl Iterator<Item = &CallCounts> {
        (0..self.callers.len() as u32).map(|by| self.admission.class_counts(self.class_of(by)))
    }

    /// Bytes held, about.
    pub(in crate::net) fn memory_bytes(&self) -> u64 {
        let calls: usize = self.callers.iter().map(Callers::memory_bytes).sum();
        let dates = self.tasks.len() * size_of::<(Time, Task)>()
            + self.late_events.len() * size_of::<(Time, LateEvent)>();
        (calls + dates) as u64
    }
}

impl Control for Circuits {
    fn groups(&self) -> usize {
        1
    }

    fn next_wakeup(&self, _group: usize) -> Time {
        self.tasks.first().map_or(Time::NEVER, |(at, _)| *at)
    }

    fn handle_wakeup(&mut self, at: Time, _group: usize, gates: &mut [Gate]) {
        self.opened.clear();
        while let Some((due, task)) = self.tasks.first().copied()
            && due <= at
        {
            self.tasks.pop_first();
            match task {
                Task::Release(reservation) => self.release(due, reservation as usize, gates),
                Task::End { by, call } => {
                    self.admission.give_back(due, self.class_of(by));
                    self.end_call(due, by, call);
                }
                Task::Leave { by, call } => {
                    self.admission.abandon(due, self.class_of(by), call);
                    self.end_call(due, by, call);
                }
                Task::Open(reservation) => self.open(due, reservation as usize, gates),
                Task::Retry(reservation) => self.ask(due, reservation as usize, gates),
                Task::Again { by, call } => self.make_call(due, by, call),
            }
            self.use_grants(due, gates);
        }
    }

    fn sets(&self, _group: usize) -> &[usize] {
        &self.opened
    }

    fn sets_rates(&self) -> bool {
        false
    }

    fn hears_arrivals(&self) -> bool {
        true
    }

    fn hears_departures(&self) -> bool {
        true
    }

    fn admits(&mut self, at: Time, gate: usize, gates: &mut [Gate]) -> bool {
        self.open_for_packet(at, gate, gates)
    }

    fn handle_arrival(&mut self, at: Time, arrival: Arrival, gates: &mut [Gate]) -> Effect {
        self.note_change(at, arrival.gate, gates)
    }

    fn handle_departure(&mut self, at: Time, gate: usize, _wire: u32, gates: &mut [Gate]) -> Effect {
        self.opened.clear();
        self.note_change(at, gate, gates)
    }

    fn next_late_event(&self) -> Time {
        self.late_events.first().map_or(Time::NEVER, |(at, _)| *at)
    }
}
