//! Circuits and the calls that open them: closed, asking, set up, open, held, released.
//!
//! The first packet that comes to a closed circuit asks; packets wait behind it until the
//! call has come through and is set up. A circuit falls idle when no transfer of its flows is
//! under way and no packet is in it; then it is held for a while and given back. Only idle
//! circuits are closed, so that nothing that was stated is taken back.

mod sources;

use std::collections::BTreeSet;

use crate::gate::Gate;
use crate::net::calls::{Admission, Answer, CallClass, CallCounts, Grant, PoolUse};
use crate::net::{measured, precision, seed};
use crate::plan::{Blocked, Plan, RatePlan, ReservationPlan};
use crate::units::{Rate, Span, Time};

use sources::CallSource;

/// Marks a gate or flow without a circuit.
const NONE: u32 = u32::MAX;

/// What is to be done at a time of its own. At one instant capacity is first given back,
/// then circuits open, then calls whose patience is over leave the line, then refused calls are made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    /// A circuit was idle for long enough.
    Release { line: u32 },
    /// A call without packets is over.
    End { source: u32, call: u64 },
    /// A circuit is set up.
    Open { line: u32 },
    /// The patience of a call without packets is over.
    Leave { source: u32, call: u64 },
    /// A refused call is made again.
    Retry { line: u32 },
    /// A refused call without packets is made again.
    Again { source: u32, call: u64 },
}

/// What is handled after everything else at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum News {
    /// A transfer of a flow begins or ends; in the order of telling.
    Transfer { flow: u32, told: u64, begins: bool },
    /// A call without packets is made.
    Call { source: u32, user: u32 },
}

/// The circuits that one call opens.
#[derive(Debug)]
struct Line {
    plan: ReservationPlan,
    gates: Vec<usize>,
    state: State,
    /// The one task it waits for.
    task: Option<(Time, Task)>,
    /// Flows with a transfer under way.
    transfers: u32,
    /// A packet is at the door.
    visited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    /// In line for capacity.
    Asking,
    /// To be asked for again.
    Refused,
    /// It has its capacity; packets still wait.
    SettingUp,
    Open,
    /// Open and idle.
    Held,
}

/// All circuits and calls of a network.
#[derive(Debug)]
pub(super) struct Circuits {
    /// The first classes are the circuits' calls, then come the sources.
    admission: Admission,
    lines: Vec<Line>,
    sources: Vec<CallSource>,
    of_gate: Vec<u32>,
    of_flow: Vec<u32>,
    /// Whether each flow has a transfer under way.
    transferring: Vec<bool>,
    /// The end that each flow was told to come to last, while it is news.
    ends: Vec<Option<(Time, News)>>,
    tasks: BTreeSet<(Time, Task)>,
    news: BTreeSet<(Time, News)>,
    told: u64,
    /// Gates that were opened and may be serving now.
    opened: Vec<usize>,
}

impl Circuits {
    /// `None` where there is neither a circuit nor a call.
    pub(super) fn new(plan: &Plan) -> Option<Box<Circuits>> {
        if plan.reservations.is_empty() && plan.calls.is_empty() {
            return None;
        }
        let mut of_gate = vec![NONE; plan.gates.len()];
        let line = |row: &ReservationPlan| Line {
            gates: vec![],
            plan: row.clone(),
            state: State::Closed,
            task: None,
            transfers: 0,
            visited: false,
        };
        let mut lines: Vec<Line> = plan.reservations.iter().map(line).collect();
        for (gate, row) in plan.gates.iter().enumerate() {
            if let RatePlan::Reserve(circuit) = &row.rate {
                of_gate[gate] = circuit.reservation as u32;
                lines[circuit.reservation].gates.push(gate);
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
        let of_sources = plan.calls.iter().map(|row| class(&row.demands, row.blocked));
        let classes: Vec<CallClass> = classes.chain(of_sources).collect();
        let mut circuits = Circuits {
            admission: Admission::new(&plan.pools, classes, measured(plan), precision(plan)),
            lines,
            sources: plan.calls.iter().map(|row| CallSource::new(row, seed(plan))).collect(),
            of_flow: of_flow.collect(),
            of_gate,
            transferring: vec![false; plan.flows.len()],
            ends: vec![None; plan.flows.len()],
            tasks: BTreeSet::new(),
            news: BTreeSet::new(),
            told: 0,
            opened: vec![],
        };
        for (source, row) in (0..).zip(&mut circuits.sources) {
            let first = row.first_calls().into_iter();
            circuits.news.extend(first.map(|(at, user)| (at, News::Call { source, user })));
        }
        Some(Box::new(circuits))
    }

    /// Whether a gate is a circuit.
    pub(super) fn is_circuit(&self, gate: usize) -> bool {
        self.of_gate[gate] != NONE
    }

    /// When something is to be done.
    pub(super) fn next_task(&self) -> Time {
        self.tasks.first().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// When something is to be done after all else at that instant.
    pub(super) fn next_news(&self) -> Time {
        self.news.first().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// A gate that was opened since, and may be serving now.
    pub(super) fn take_opened(&mut self) -> Option<usize> {
        self.opened.pop()
    }

    /// Does every task up to `at`.
    pub(super) fn work_until(&mut self, at: Time, gates: &mut [Gate]) {
        while let Some((due, task)) = self.tasks.first().copied()
            && due <= at
        {
            self.tasks.pop_first();
            match task {
                Task::Release { line } => {
                    self.lines[line as usize].task = None;
                    self.release(due, line as usize, gates);
                }
                Task::End { source, call } => {
                    self.admission.give_back(due, self.class_of(source));
                    self.end_call(due, source, call);
                }
                Task::Leave { source, call } => {
                    self.admission.abandon(due, self.class_of(source), call);
                    self.end_call(due, source, call);
                }
                Task::Open { line } => {
                    self.lines[line as usize].task = None;
                    self.open(due, line as usize, gates);
                }
                Task::Retry { line } => {
                    self.lines[line as usize].task = None;
                    self.ask(due, line as usize, gates);
                }
                Task::Again { source, call } => self.call(due, source, call),
            }
            self.hand_out(due, gates);
        }
    }

    /// Hears all news up to `at`.
    pub(super) fn hear_until(&mut self, at: Time, gates: &mut [Gate]) {
        while let Some((when, news)) = self.news.first().copied()
            && when <= at
        {
            self.news.pop_first();
            match news {
                News::Transfer { flow, begins: true, .. } => self.begin(flow as usize),
                News::Transfer { flow, begins: false, .. } => self.end(when, flow as usize, gates),
                News::Call { source, user } => {
                    let row = &mut self.sources[source as usize];
                    let (call, following) = (row.make(user), row.next_arrival());
                    self.news.extend(following.map(|next| (next, News::Call { source, user })));
                    self.call(when, source, call);
                }
            }
            self.hand_out(when, gates);
        }
    }

    /// Whether a flow passes a circuit.
    pub(super) fn is_used_by(&self, flow: usize) -> bool {
        self.of_flow.get(flow).is_some_and(|line| *line != NONE)
    }

    /// A flow's transfer begins or ends at `at`. A beginning takes back an end that was told for a
    /// later instant (a drop is told before its time).
    pub(super) fn tell(&mut self, at: Time, flow: usize, begins: bool) {
        if !self.is_used_by(flow) {
            return;
        }
        self.told += 1;
        let news = (at, News::Transfer { flow: flow as u32, told: self.told, begins });
        if let Some(end) = self.ends[flow].take()
            && begins
            && end.0 > at
        {
            self.news.remove(&end);
        }
        if !begins {
            self.ends[flow] = Some(news);
        }
        self.news.insert(news);
    }

    /// A packet comes to the door of a circuit at `at`; says whether it may enter, or is to be
    /// thrown away. [`Circuits::look`] follows.
    pub(super) fn knock(&mut self, at: Time, gate: usize, gates: &mut [Gate]) -> bool {
        let line = self.of_gate[gate] as usize;
        self.lines[line].visited = true;
        match self.lines[line].state {
            State::Closed => self.ask(at, line, gates),
            State::Held => {
                self.lines[line].state = State::Open;
                self.forget_task(line);
            }
            State::Asking | State::Refused | State::SettingUp | State::Open => {}
        }
        self.lines[line].state != State::Closed
    }

    /// Something happened at a circuit at `at`: it may be idle now.
    pub(super) fn look(&mut self, at: Time, gate: usize, gates: &mut [Gate]) {
        let line = self.of_gate[gate] as usize;
        self.lines[line].visited = false;
        self.rest_if_idle(at, line, gates);
        self.hand_out(at, gates);
    }

    fn class_of(&self, source: u32) -> usize {
        self.lines.len() + source as usize
    }

    fn begin(&mut self, flow: usize) {
        if !std::mem::replace(&mut self.transferring[flow], true) {
            let line = self.of_flow[flow] as usize;
            self.lines[line].transfers += 1;
            if self.lines[line].state == State::Held {
                self.lines[line].state = State::Open;
                self.forget_task(line);
            }
        }
    }

    fn end(&mut self, at: Time, flow: usize, gates: &mut [Gate]) {
        if !std::mem::replace(&mut self.transferring[flow], false) {
            return;
        }
        let line = self.of_flow[flow] as usize;
        self.lines[line].transfers -= 1;
        self.rest_if_idle(at, line, gates);
    }

    /// Asks for a line's capacity. It stays closed if the call is lost.
    fn ask(&mut self, at: Time, line: usize, gates: &mut [Gate]) {
        let answer = self.admission.ask(at, line, 0);
        match (answer, self.lines[line].plan.blocked) {
            (Answer::Granted, _) => self.set_up(at, line, gates),
            (Answer::Waits, _) => self.lines[line].state = State::Asking,
            (Answer::Refused, Blocked::Retry(after)) => {
                self.lines[line].state = State::Refused;
                self.wait_for(at.saturating_add(after), line, Task::Retry { line: line as u32 });
            }
            (Answer::Refused, _) => self.lines[line].state = State::Closed,
        }
    }

    /// Calls that waited and have come through.
    fn hand_out(&mut self, at: Time, gates: &mut [Gate]) {
        while let Some(Grant { class, caller }) = self.admission.take_granted() {
            match class.checked_sub(self.lines.len()) {
                None => self.set_up(at, class, gates),
                Some(source) => self.hold_call(at, source as u32, caller),
            }
        }
    }

    fn set_up(&mut self, at: Time, line: usize, gates: &mut [Gate]) {
        let setup = self.lines[line].plan.setup;
        self.lines[line].state = State::SettingUp;
        if setup == Span::ZERO {
            self.open(at, line, gates);
        } else {
            self.wait_for(at.saturating_add(setup), line, Task::Open { line: line as u32 });
        }
    }

    fn open(&mut self, at: Time, line: usize, gates: &mut [Gate]) {
        let row = &mut self.lines[line];
        row.state = State::Open;
        for gate in &row.gates {
            gates[*gate].open_circuit(at);
            self.opened.push(*gate);
        }
        self.rest_if_idle(at, line, gates);
    }

    /// A line without a transfer and without a packet is held for a while; one that has
    /// nothing to ask for any more does not ask.
    fn rest_if_idle(&mut self, at: Time, line: usize, gates: &mut [Gate]) {
        let row = &mut self.lines[line];
        if row.visited || row.transfers > 0 || !row.gates.iter().all(|gate| gates[*gate].is_empty()) {
            return;
        }
        match row.state {
            State::Open => {
                row.state = State::Held;
                match row.plan.hold {
                    None => {}
                    Some(Span::ZERO) => self.release(at, line, gates),
                    Some(hold) => {
                        self.wait_for(at.saturating_add(hold), line, Task::Release { line: line as u32 });
                    }
                }
            }
            State::Asking => {
                row.state = State::Closed;
                self.admission.withdraw(at, line, 0);
            }
            State::Refused => {
                row.state = State::Closed;
                self.forget_task(line);
            }
            State::Closed | State::SettingUp | State::Held => {}
        }
    }

    fn release(&mut self, at: Time, line: usize, gates: &mut [Gate]) {
        self.lines[line].state = State::Closed;
        for gate in &self.lines[line].gates {
            gates[*gate].close_circuit(at);
        }
        self.admission.give_back(at, line);
    }

    fn wait_for(&mut self, at: Time, line: usize, task: Task) {
        self.lines[line].task = Some((at, task));
        self.tasks.insert((at, task));
    }

    fn forget_task(&mut self, line: usize) {
        if let Some(task) = self.lines[line].task.take() {
            self.tasks.remove(&task);
        }
    }

    /// A call without packets is made, for the first time or again.
    fn call(&mut self, at: Time, source: u32, call: u64) {
        match self.admission.ask(at, self.class_of(source), call) {
            Answer::Granted => self.hold_call(at, source, call),
            Answer::Waits => {
                let leaves = self.sources[source as usize].wait(at, call);
                self.tasks.extend(leaves.map(|leaves| (leaves, Task::Leave { source, call })));
            }
            Answer::Refused => match self.sources[source as usize].blocked() {
                Blocked::Retry(after) => {
                    self.tasks.insert((at.saturating_add(after), Task::Again { source, call }));
                }
                Blocked::Wait | Blocked::Refuse => self.end_call(at, source, call),
            },
        }
    }

    fn hold_call(&mut self, at: Time, source: u32, call: u64) {
        let (span, leaves) = self.sources[source as usize].grant(call);
        if let Some(leaves) = leaves {
            self.tasks.remove(&(leaves, Task::Leave { source, call }));
        }
        self.tasks.insert((at.saturating_add(span), Task::End { source, call }));
    }

    /// A call without packets is over, or lost: its user is idle, and calls again.
    fn end_call(&mut self, at: Time, source: u32, call: u64) {
        let next = self.sources[source as usize].end(at, call);
        self.news.extend(next.map(|(calls_at, user)| (calls_at, News::Call { source, user })));
    }

    /// A pool inside the measured time.
    pub(super) fn pool_use(&self, pool: usize) -> (PoolUse, &CallCounts) {
        (self.admission.pool_use(pool), self.admission.pool_counts(pool))
    }

    /// What is reserved of a pool now.
    pub(super) fn reserved(&self, pool: usize) -> Rate {
        self.admission.reserved(pool)
    }

    /// The calls of a reservation.
    pub(super) fn line_counts(&self, reservation: usize) -> &CallCounts {
        self.admission.class_counts(reservation)
    }

    /// The calls of each source.
    pub(super) fn of_sources(&self) -> impl Iterator<Item = &CallCounts> {
        (0..self.sources.len() as u32).map(|source| self.admission.class_counts(self.class_of(source)))
    }

    /// Bytes held, about.
    pub(super) fn memory_bytes(&self) -> u64 {
        let calls: usize = self.sources.iter().map(CallSource::memory_bytes).sum();
        let dates =
            self.tasks.len() * size_of::<(Time, Task)>() + self.news.len() * size_of::<(Time, News)>();
        (calls + dates) as u64
    }
}
