//! Cell gates between segmentation and reassembly, brought forward in time together.

mod steps;

use std::collections::VecDeque;

use self::steps::Held;
use super::paced::Paced;
use super::slotted::Slotted;
use super::train::{Beat, Exact, Train};
use super::{CELL_BITS, CELL_BYTES, cells_of, padding_of};
use crate::gate::rate::Window;
use crate::gate::{DropReason, Gate};
use crate::plan::{CellPlan, Framing, GatePlan, LossPlan, QueueCounts, QueueLimit, RatePlan, Reassembly};
use crate::random::Stream;
use crate::unit::Unit;
use crate::units::{Span, Speed, Time};

/// What a section tells the network.
#[derive(Clone, Copy, Debug)]
pub enum Output {
    /// A packet was reassembled; it arrives at what comes next at `at`.
    Deliver {
        /// When.
        at: Time,
        /// The packet.
        unit: Unit,
    },
    /// A packet lost its first cell, or could not be told from the one before.
    Drop {
        /// When.
        at: Time,
        /// At which gate.
        gate: usize,
        /// Why.
        reason: DropReason,
        /// The packet.
        unit: Unit,
    },
    /// The last cell of a packet left a gate of its sending machine.
    Departed {
        /// When.
        at: Time,
        /// Which gate.
        gate: usize,
        /// The packet.
        unit: Unit,
    },
}

/// What a cell gate counts beside cells, inside the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellCounts {
    /// Packets that were segmented before this gate.
    pub segmented: u64,
    /// Padding bytes in their cells.
    pub padding_bytes: u64,
    /// Packets reassembled after this gate.
    pub reassembled: u64,
    /// Packets that lost their first cell here, or failed after this gate because of a lost
    /// last cell.
    pub failed: u64,
    /// Cells that came to reassembly after this gate for nothing.
    pub wasted: u64,
}

/// A gate of the section.
#[derive(Debug)]
struct CellGate {
    /// Its number in the network.
    number: usize,
    server: Server,
    inputs: Vec<Input>,
    /// Arrival of each input's next cell in picoseconds; [`NEVER`]: none is known.
    next: Vec<u64>,
    delay: Span,
    host: bool,
    observed: bool,
    /// How long the gate before takes for a cell, by input.
    spreads: Vec<Span>,
    epd: Option<u64>,
    ppd: bool,
    /// One of the two.
    discards: bool,
    /// A tagged cell that finds as many waiting is dropped.
    tagged: Option<u64>,
    /// Slotted, without anything that looks at single cells, before the section's end.
    plain_slots: bool,
    counts: CellCounts,
}

const NEVER: u64 = u64::MAX;

#[derive(Debug)]
enum Server {
    Paced(Box<Paced>),
    Slotted(Box<Slotted>),
    /// [`Gate::pass`], cell by cell.
    Any,
    /// [`Gate::arrive`] and [`Gate::complete`]: its rate is set from outside.
    Steps(Box<Held>),
}

/// The cells of one circuit before a gate.
#[derive(Debug)]
struct Input {
    /// The train whose cells come next; none where nothing is left of it.
    head: Train,
    /// Those after it.
    trains: VecDeque<Train>,
    to: To,
    discard: Discard,
}

impl Input {
    fn new(to: To) -> Input {
        Input { head: Train::NONE, trains: VecDeque::new(), to, discard: Discard::Nothing }
    }

    /// Arrival of the next cell in picoseconds.
    #[inline]
    fn next(&self) -> u64 {
        if self.head.left > 0 { self.head.next.at.picos() } else { NEVER }
    }

    fn push(&mut self, train: Train) {
        if self.head.left == 0 { self.head = train } else { self.trains.push_back(train) }
    }

    /// Goes on to the next train when the head is used up.
    #[inline]
    fn refill(&mut self) {
        if self.head.left == 0
            && let Some(train) = self.trains.pop_front()
        {
            self.head = train;
        }
    }

    /// Takes the next cell off.
    #[inline]
    fn take(&mut self) -> Cell {
        let Train { frame, tagged, .. } = self.head;
        let (begins, ends) = self.head.take();
        self.refill();
        Cell { frame, begins, ends, tagged }
    }
}

/// Where cells go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum To {
    Gate { gate: u32, input: u32 },
    End,
}

/// What is thrown away of the packet whose cells are coming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Discard {
    Nothing,
    /// All but the last cell (partial packet discard).
    Rest,
    /// Every cell (early packet discard).
    All,
}

/// One route's way through the section.
#[derive(Debug)]
struct Circuit {
    /// First gate, and the input there.
    entry: (u32, u32),
    /// The section's last gate for it.
    exit: u32,
    llc: bool,
    rule: Reassembly,
    hears_departures: bool,
    /// Cells of packets without an end stand before the next packet.
    joined: bool,
    /// Packets whose last cell has neither arrived nor been lost.
    open: VecDeque<u32>,
}

/// A packet that has cells in the section.
#[derive(Clone, Copy, Debug)]
struct Frame {
    unit: Unit,
    circuit: u32,
    /// Cells whose fate is not known.
    left: u32,
    arrived: u32,
    failed: bool,
    /// Its last cell was lost.
    endless: bool,
    /// Its last cell is not known to leave before this.
    due: Time,
}

/// A cell on its way out of a gate.
#[derive(Clone, Copy, Debug)]
struct Cell {
    frame: u32,
    begins: bool,
    ends: bool,
    tagged: bool,
}

/// What a route is to a section.
#[derive(Clone, Debug)]
pub struct CircuitPlan {
    /// Its gates there, numbers of the network.
    pub gates: Vec<usize>,
    /// Its TCP hears departures.
    pub hears_departures: bool,
}

/// Cell gates that share circuits.
#[derive(Debug)]
pub struct Section {
    /// Upstream first.
    gates: Vec<CellGate>,
    circuits: Vec<Circuit>,
    frames: Vec<Frame>,
    free_frames: Vec<u32>,
    /// Every cell is a train of its own.
    one_by_one: bool,
    window: Window,
    outputs: VecDeque<Output>,
    /// The cells of one slot by circuit.
    due: Vec<(u32, Cell)>,
    /// The next arrival of each circuit that has one soon, the earliest last.
    soon: Vec<(u64, u32)>,
}

impl Section {
    /// A section of the gates `numbers` (upstream first) of a network of `plans`. Every cell of
    /// a gate that is `observed` is told to it, and `stream` gives a gate's stream for the
    /// order inside its slots.
    #[must_use]
    pub fn new(
        numbers: &[usize],
        circuits: &[CircuitPlan],
        plans: &[GatePlan],
        one_by_one: bool,
        observed: &dyn Fn(usize) -> bool,
        stream: &dyn Fn(usize) -> Stream,
        window: Window,
    ) -> Section {
        let gate = |number: &usize| {
            let plan = &plans[*number];
            let CellPlan { slotted, epd, ppd, .. } = plan.cells;
            let observed = observed(*number);
            CellGate {
                number: *number,
                server: if !plan.rate.is_known_ahead() {
                    Server::Steps(Box::default())
                } else if slotted {
                    Server::Slotted(Box::new(slotted_server(plan, stream(*number), window)))
                } else if one_by_one || observed {
                    Server::Any
                } else {
                    paced_server(plan).map_or(Server::Any, |paced| Server::Paced(Box::new(paced)))
                },
                inputs: vec![],
                next: vec![],
                delay: plan.delay,
                spreads: vec![],
                host: plan.host,
                observed,
                epd,
                ppd,
                discards: epd.is_some() || ppd,
                tagged: plan.queue.tagged,
                plain_slots: slotted && !ppd && epd.is_none() && plan.queue.tagged.is_none() && !observed,
                counts: CellCounts::default(),
            }
        };
        let mut section = Section {
            gates: numbers.iter().map(gate).collect(),
            circuits: vec![],
            frames: vec![],
            free_frames: vec![],
            one_by_one,
            window,
            outputs: VecDeque::new(),
            due: vec![],
            soon: vec![],
        };
        for circuit in circuits {
            section.add(circuit, plans);
        }
        section
    }

    fn add(&mut self, plan: &CircuitPlan, plans: &[GatePlan]) {
        let place = |number: &usize| self.gates.iter().position(|gate| gate.number == *number);
        let places: Vec<usize> = plan.gates.iter().filter_map(place).collect();
        let mut to = To::End;
        for (n, gate) in places.iter().enumerate().rev() {
            let CellGate { inputs, next, plain_slots, spreads, .. } = &mut self.gates[*gate];
            spreads.push(n.checked_sub(1).map_or(Span::ZERO, |before| plans[plan.gates[before]].cell_time()));
            inputs.push(Input::new(to));
            next.push(NEVER);
            *plain_slots &= to == To::End;
            to = To::Gate { gate: *gate as u32, input: inputs.len() as u32 - 1 };
        }
        let (To::Gate { gate, input }, Some(exit)) = (to, places.last()) else { return };
        let Framing::Aal5 { llc } = plans[plan.gates[0]].framing else { return };
        self.circuits.push(Circuit {
            entry: (gate, input),
            exit: *exit as u32,
            llc,
            rule: plans[plan.gates[places.len() - 1]].cells.reassembly,
            hears_departures: plan.hears_departures,
            joined: false,
            open: VecDeque::new(),
        });
    }

    /// A packet comes at `at`, never before the last call's.
    pub fn enter(&mut self, at: Time, circuit: usize, unit: Unit, gates: &mut [Gate]) {
        self.advance(at, gates);
        let Circuit { entry: (gate, input), llc, .. } = self.circuits[circuit];
        let cells = cells_of(unit.bytes, llc);
        if self.window.from <= at && at < self.window.until {
            let counts = &mut self.gates[gate as usize].counts;
            counts.segmented += 1;
            counts.padding_bytes += u64::from(padding_of(unit.bytes, llc));
        }
        let frame = self.open_frame(Frame {
            unit,
            circuit: circuit as u32,
            left: cells,
            arrived: 0,
            failed: false,
            endless: false,
            due: at,
        });
        self.circuits[circuit].open.push_back(frame);
        let whole = Train {
            next: Exact::whole(at),
            beat: Beat::NONE,
            left: cells,
            frame,
            begins: true,
            ends: true,
            tagged: unit.tagged,
        };
        if self.one_by_one {
            for n in 0..cells {
                let single = Train { left: 1, begins: n == 0, ends: n + 1 == cells, ..whole };
                self.push(gate, input, single, gates);
            }
        } else {
            self.push(gate, input, whole, gates);
        }
    }

    fn open_frame(&mut self, frame: Frame) -> u32 {
        match self.free_frames.pop() {
            Some(place) => {
                self.frames[place as usize] = frame;
                place
            }
            None => {
                self.frames.push(frame);
                self.frames.len() as u32 - 1
            }
        }
    }

    /// No packet leaves before this, and none that is certain to is kept back then.
    #[must_use]
    pub fn next_wakeup(&self, gates: &[Gate]) -> Time {
        let open = self.circuits.iter().filter_map(|circuit| circuit.open.front());
        let due = open.map(|frame| self.frames[*frame as usize].due).min().unwrap_or(Time::NEVER);
        let steps = (0..self.gates.len()).map(|gate| self.steps_wakeup(gate, gates)).min();
        due.min(steps.unwrap_or(Time::NEVER))
    }

    /// The next thing to tell.
    pub fn take_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Handles every cell that comes to a gate before `until`, and where a rate is set from
    /// outside every service that ends by then.
    pub fn advance(&mut self, until: Time, gates: &mut [Gate]) {
        self.advance_both(until, until.saturating_add(Span::from_picos(1)), gates);
    }

    /// The same before a rate is set at `at`: a service that ends at that instant is followed
    /// by one of the new rate.
    pub fn advance_before(&mut self, at: Time, gates: &mut [Gate]) {
        self.advance_both(at, at, gates);
    }

    fn advance_both(&mut self, arrivals: Time, ends: Time, gates: &mut [Gate]) {
        for gate in 0..self.gates.len() {
            match self.gates[gate].server {
                Server::Steps(_) => self.run_steps(gate, arrivals, ends, gates),
                _ if self.gates[gate].inputs.len() <= 1 => {}
                Server::Slotted(_) => self.run_slots(gate, arrivals, gates),
                _ => self.merge(gate, arrivals, gates),
            }
        }
    }

    /// Cells come to a gate. A gate with one input handles them at once: nothing can come
    /// between them.
    fn push(&mut self, gate: u32, input: u32, train: Train, gates: &mut [Gate]) {
        let CellGate { inputs, next, server, .. } = &mut self.gates[gate as usize];
        if train.ends {
            // Not before every other cell that may come with it is known.
            let slot = if let Server::Slotted(slotted) = server { slotted.beat().span() } else { Span::ZERO };
            self.frames[train.frame as usize].due =
                train.last().saturating_add(slot).saturating_add(Span::from_picos(1));
        }
        inputs[input as usize].push(train);
        next[input as usize] = inputs[input as usize].next();
        if inputs.len() == 1 {
            match server {
                Server::Slotted(_) => self.run_slots(gate as usize, Time::NEVER, gates),
                Server::Steps(_) => {}
                _ => self.run(gate as usize, 0, NEVER, gates),
            }
        }
    }

    /// Cells of several circuits, by time, at one instant by circuit.
    fn merge(&mut self, gate: usize, until: Time, gates: &mut [Gate]) {
        loop {
            let (mut first, mut from, mut second, mut second_from) = (NEVER, 0, NEVER, 0);
            for (input, at) in self.gates[gate].next.iter().enumerate() {
                if *at < first {
                    (second, second_from) = (first, from);
                    (first, from) = (*at, input);
                } else if *at < second {
                    (second, second_from) = (*at, input);
                }
            }
            if first >= until.picos() {
                return;
            }
            let before = second.saturating_add(u64::from(from < second_from));
            self.run(gate, from, before.min(until.picos()), gates);
        }
    }

    /// Takes the cells of one input that come before `before`.
    fn run(&mut self, gate: usize, input: usize, before: u64, gates: &mut [Gate]) {
        while self.gates[gate].next[input] < before {
            match self.gates[gate].server {
                Server::Paced(_) => self.run_paced(gate, input, before, gates),
                _ => self.run_any(gate, input, gates),
            }
        }
    }

    /// Takes the next cell off an input: when it came, and what it is.
    #[inline]
    fn take(&mut self, gate: usize, input: usize) -> (Time, Cell) {
        let CellGate { inputs, next, .. } = &mut self.gates[gate];
        let at = inputs[input].head.next.at;
        let cell = inputs[input].take();
        next[input] = inputs[input].next();
        (at, cell)
    }

    /// Whether packet discard lets a cell in where so many wait.
    #[inline]
    fn admits(gate: &mut CellGate, input: usize, cell: Cell, waiting: u64) -> bool {
        if !gate.discards {
            return true;
        }
        let discard = &mut gate.inputs[input].discard;
        if cell.begins {
            let early = gate.epd.is_some_and(|threshold| waiting >= threshold);
            *discard = if early { Discard::All } else { Discard::Nothing };
        }
        match discard {
            Discard::Nothing => true,
            Discard::Rest => cell.ends,
            Discard::All => false,
        }
    }

    /// Why a cell is not let in where so many wait; `full`: where it would have to wait, there
    /// is no room.
    #[inline]
    fn refuses(
        gate: &mut CellGate,
        input: usize,
        cell: Cell,
        waiting: u64,
        full: bool,
    ) -> Option<DropReason> {
        let late = cell.tagged && gate.tagged.is_some_and(|threshold| waiting >= threshold);
        if !Self::admits(gate, input, cell, waiting) {
            Some(DropReason::Discarded)
        } else if full || late {
            Some(DropReason::QueueFull)
        } else {
            None
        }
    }

    /// One cell through a gate of any kind.
    fn run_any(&mut self, gate: usize, input: usize, gates: &mut [Gate]) {
        let (at, mut cell) = self.take(gate, input);
        let CellGate { number, .. } = self.gates[gate];
        let server = &mut gates[number];
        let waiting = server.queue_now(at);
        if !Self::admits(&mut self.gates[gate], input, cell, waiting) {
            server.refuse_cell(at);
            return self.lose(gate, input, cell, at, DropReason::Discarded);
        }
        let frame = &mut self.frames[cell.frame as usize];
        let mut unit = frame.unit;
        (unit.bytes, unit.tagged) = (CELL_BYTES, cell.tagged);
        server.spread_next(self.gates[gate].spreads[input]);
        match server.pass(at, &mut unit, &self.window) {
            Some(out) => {
                cell.tagged = unit.tagged;
                if cell.ends {
                    unit.bytes = frame.unit.bytes;
                    frame.unit = unit;
                    let end = server.end_before(out);
                    self.leave(gate, cell, Span::ZERO, end);
                }
                self.deliver(gate, input, cell, out, gates);
            }
            None => {
                let (at, reason) =
                    server.last_drop().map_or((at, DropReason::QueueFull), |drop| (drop.at, drop.reason));
                self.lose(gate, input, cell, at, reason);
            }
        }
    }

    /// Cells of the first train of an input through a paced server.
    fn run_paced(&mut self, gate: usize, input: usize, before: u64, gates: &mut [Gate]) {
        let window = self.window;
        let CellGate { server, inputs, next, number, discards, .. } = &mut self.gates[gate];
        let Server::Paced(paced) = server else { return };
        let Input { head: train, to, .. } = &mut inputs[input];
        if train.beat == Beat::NONE && train.left > 1 && !*discards {
            return self.run_together(gate, input, gates);
        }
        if *to != To::End || *discards {
            return self.run_paced_cell(gate, input, gates);
        }
        // Cells that only have to be counted: all but the packet's last, as long as there is room.
        let counters = gates[*number].counters_mut();
        let frame = &mut self.frames[train.frame as usize];
        let least = u32::from(train.ends);
        let mut row = *train;
        let mut unwaited = 0;
        while row.left > least && row.next.at.picos() < before {
            let at = row.next.at;
            paced.waiting_at(at);
            if paced.is_full(at) {
                break;
            }
            let passage = paced.serve(at);
            if passage.start.at == at && at >= window.from && passage.end.at < window.until {
                unwaited += 1;
            } else {
                passage.count(counters, at);
            }
            row.left -= 1;
            row.next = row.next.plus(row.beat);
        }
        let taken = train.left - row.left;
        counters.pass_many(unwaited, u64::from(CELL_BYTES));
        frame.arrived += taken;
        frame.left -= taken;
        row.begins &= taken == 0;
        *train = row;
        inputs[input].refill();
        next[input] = inputs[input].next();
        if row.left == 0 && taken > 0 {
            // A part of a packet whose other cells went another way, or were lost.
            return self.settle_frame(row.frame);
        }
        if row.left > 0 && row.next.at.picos() < before {
            self.run_paced_cell(gate, input, gates);
        }
    }

    /// One cell through a paced server.
    fn run_paced_cell(&mut self, gate: usize, input: usize, gates: &mut [Gate]) {
        let (at, cell) = self.take(gate, input);
        let row = &mut self.gates[gate];
        let (number, delay) = (row.number, row.delay);
        let (waiting, full) = match &mut row.server {
            Server::Paced(paced) => (paced.waiting_at(at), paced.is_full(at)),
            _ => return,
        };
        if let Some(reason) = Self::refuses(row, input, cell, waiting, full) {
            gates[number].refuse_cell(at);
            return self.lose(gate, input, cell, at, reason);
        }
        let Server::Paced(paced) = &mut row.server else { return };
        let passage = paced.serve(at);
        passage.count(gates[number].counters_mut(), at);
        self.leave(gate, cell, passage.start.at.saturating_since(at), passage.end.at);
        self.deliver(gate, input, cell, passage.end.at.saturating_add(delay), gates);
    }

    /// Cells that come together, as a packet's do where it is segmented.
    fn run_together(&mut self, gate: usize, input: usize, gates: &mut [Gate]) {
        let CellGate { server, inputs, next, delay, number, .. } = &mut self.gates[gate];
        let Server::Paced(paced) = server else { return };
        let train = std::mem::replace(&mut inputs[input].head, Train::NONE);
        inputs[input].refill();
        next[input] = inputs[input].next();
        let (at, to, number, delay, beat) = (train.next.at, inputs[input].to, *number, *delay, paced.beat());
        let cells = u64::from(train.left).min(paced.room(at)) as u32;
        let lost = train.left - cells;
        if cells > 0 {
            let (first, last) = paced.serve_together(at, cells, gates[number].counters_mut(), self.window);
            let ends = train.ends && lost == 0;
            if ends {
                let cell = Cell { frame: train.frame, begins: false, ends, tagged: train.tagged };
                self.leave(gate, cell, last.start.at.saturating_since(at), last.end.at);
            }
            let out = Exact { at: first.end.at.saturating_add(delay), ..first.end };
            self.deliver_train(gate, to, Train { next: out, beat, left: cells, ends, ..train }, gates);
        }
        for n in cells..train.left {
            gates[number].refuse_cell(at);
            let cell = Cell {
                frame: train.frame,
                begins: n == 0 && train.begins,
                ends: train.ends && n + 1 == train.left,
                tagged: train.tagged,
            };
            self.lose(gate, input, cell, at, DropReason::QueueFull);
        }
    }

    /// Cells slot by slot, at random inside a slot.
    fn run_slots(&mut self, gate: usize, until: Time, gates: &mut [Gate]) {
        while self.run_plain_slots(gate, until.picos(), gates) {
            let mut due = std::mem::take(&mut self.due);
            for (input, cell) in due.drain(..) {
                self.serve_slotted(gate, input as usize, cell, gates);
            }
            self.due = due;
        }
    }

    /// Slots whose cells only have to be counted: none is a packet's last, all find room, and
    /// they go to the section's end. `true`: the cells of another slot stand in `due`.
    fn run_plain_slots(&mut self, gate: usize, until: u64, gates: &mut [Gate]) -> bool {
        let CellGate { inputs, next, server: Server::Slotted(slotted), plain_slots, number, .. } =
            &mut self.gates[gate]
        else {
            return false;
        };
        let (due, soon) = (&mut self.due, &mut self.soon);
        soon.clear();
        for (circuit, at) in next.iter().enumerate() {
            insert(soon, (*at, circuit as u32), until);
        }
        loop {
            // Slots are gone through in order: none before an arrival that may still come.
            let Some(&(first, _)) = soon.last() else { return false };
            let end = slotted.seek(Time::from_picos(first)).picos();
            if end > until {
                return false;
            }
            let mut plain = *plain_slots;
            let mut repeated = false;
            while let Some(&(at, circuit)) = soon.last()
                && at < end
            {
                soon.pop();
                let input = &mut inputs[circuit as usize];
                let cell = input.take();
                let after = input.next();
                next[circuit as usize] = after;
                insert(soon, (after, circuit), until);
                plain &= !cell.ends;
                repeated |= after < end;
                due.push((circuit, cell));
            }
            if due.len() > 1 && inputs.len() > 1 {
                let before = if repeated { due.clone() } else { Vec::new() };
                slotted.shuffle(due);
                if repeated {
                    restore_order_of_circuits(due, &before);
                }
            }
            if !plain || !slotted.has_room_for(due.len() as u64) {
                return true;
            }
            for (_, cell) in &*due {
                let waits = slotted.serve();
                if slotted.counts_all() {
                    slotted.note(waits);
                } else {
                    gates[*number].book_cell(slotted.boundary(), slotted.passage(waits).service(), waits);
                }
                let frame = &mut self.frames[cell.frame as usize];
                frame.arrived += 1;
                frame.left -= 1;
            }
            due.clear();
        }
    }

    /// One cell of the present slot.
    fn serve_slotted(&mut self, gate: usize, input: usize, cell: Cell, gates: &mut [Gate]) {
        let row = &mut self.gates[gate];
        let number = row.number;
        let (waiting, full, at) = match &row.server {
            Server::Slotted(slotted) => (slotted.waiting(), slotted.is_full(), slotted.boundary()),
            _ => return,
        };
        if let Some(reason) = Self::refuses(row, input, cell, waiting, full) {
            gates[number].refuse_cell(at);
            return self.lose(gate, input, cell, at, reason);
        }
        let Server::Slotted(slotted) = &mut row.server else { return };
        let waits = slotted.serve();
        let passage = slotted.passage(waits);
        if slotted.counts_all() && !row.observed {
            slotted.note(waits);
        } else {
            gates[number].spread_next(row.spreads[input]);
            gates[number].book_cell(at, passage.service(), waits);
        }
        let delay = row.delay;
        self.leave(gate, cell, passage.start.at.saturating_since(at), passage.end.at);
        self.deliver(gate, input, cell, passage.end.at.saturating_add(delay), gates);
    }

    /// The last cell of a packet has waited so long and left at `end`.
    fn leave(&mut self, gate: usize, cell: Cell, wait: Span, end: Time) {
        if !cell.ends {
            return;
        }
        let CellGate { number, host, .. } = self.gates[gate];
        let frame = &mut self.frames[cell.frame as usize];
        if wait > Span::ZERO {
            frame.unit.note_wait(wait, number);
        }
        if host && self.circuits[frame.circuit as usize].hears_departures {
            self.outputs.push_back(Output::Departed { at: end, gate: number, unit: frame.unit });
        }
    }

    /// A cell goes on to what comes next, where it arrives at `at`.
    #[inline]
    fn deliver(&mut self, gate: usize, input: usize, cell: Cell, at: Time, gates: &mut [Gate]) {
        let to = self.gates[gate].inputs[input].to;
        let Cell { frame, begins, ends, tagged } = cell;
        let single = Train { next: Exact::whole(at), beat: Beat::NONE, left: 1, frame, begins, ends, tagged };
        self.deliver_train(gate, to, single, gates);
    }

    fn deliver_train(&mut self, gate: usize, to: To, train: Train, gates: &mut [Gate]) {
        match to {
            To::Gate { gate: next, input } => self.push(next, input, train, gates),
            To::End => {
                let frame = &mut self.frames[train.frame as usize];
                frame.arrived += train.left;
                frame.left -= train.left;
                if train.ends {
                    self.reassemble(gate, train.frame, train.last());
                }
                self.settle_frame(train.frame);
            }
        }
    }

    /// The last cell of a packet has come to the end of the section.
    fn reassemble(&mut self, gate: usize, place: u32, at: Time) {
        let frame = self.frames[place as usize];
        let circuit = &mut self.circuits[frame.circuit as usize];
        circuit.close(place);
        let joined = std::mem::take(&mut circuit.joined) && circuit.rule == Reassembly::Aal5;
        let counts = &mut self.gates[gate].counts;
        let inside = self.window.from <= at && at < self.window.until;
        if frame.failed || joined {
            counts.wasted += u64::from(frame.arrived) * u64::from(inside);
        } else {
            counts.reassembled += u64::from(inside);
            self.outputs.push_back(Output::Deliver { at, unit: frame.unit });
        }
        if joined && !frame.failed {
            counts.failed += u64::from(inside);
            let gate = self.gates[gate].number;
            self.outputs.push_back(Output::Drop {
                at,
                gate,
                reason: DropReason::Reassembly,
                unit: frame.unit,
            });
        }
    }

    /// A cell was lost at `at`.
    #[cold]
    fn lose(&mut self, gate: usize, input: usize, cell: Cell, at: Time, reason: DropReason) {
        let inside = self.window.from <= at && at < self.window.until;
        let CellGate { number, counts, inputs, ppd, .. } = &mut self.gates[gate];
        // What is lost after the server the door does not know of.
        if *ppd && reason != DropReason::Loss && !cell.ends && inputs[input].discard == Discard::Nothing {
            inputs[input].discard = Discard::Rest;
        }
        let frame = &mut self.frames[cell.frame as usize];
        frame.left -= 1;
        if !frame.failed {
            frame.failed = true;
            counts.failed += u64::from(inside);
            self.outputs.push_back(Output::Drop { at, gate: *number, reason, unit: frame.unit });
        }
        if cell.ends {
            frame.endless = true;
            self.circuits[frame.circuit as usize].close(cell.frame);
        }
        self.settle_frame(cell.frame);
    }

    /// Forgets a packet when the fate of all its cells is known.
    #[inline]
    fn settle_frame(&mut self, place: u32) {
        let frame = self.frames[place as usize];
        if frame.left > 0 {
            return;
        }
        self.free_frames.push(place);
        if frame.endless && frame.arrived > 0 {
            let circuit = &mut self.circuits[frame.circuit as usize];
            circuit.joined = true;
            let exit = circuit.exit as usize;
            // Told of at the run's end too, so the window does not matter more than a packet.
            self.gates[exit].counts.wasted += u64::from(frame.arrived);
        }
    }

    /// The run is over at `until`.
    pub fn finish(&mut self, until: Time, gates: &mut [Gate]) {
        self.advance(until, gates);
        for gate in &mut self.gates {
            if let Server::Slotted(slotted) = &mut gate.server {
                slotted.tell(gates[gate.number].counters_mut());
            }
        }
    }

    /// What a gate of the network counted beside cells, if it is one of the section's.
    #[must_use]
    pub fn counts(&self, number: usize) -> Option<CellCounts> {
        self.gates.iter().find(|gate| gate.number == number).map(|gate| gate.counts)
    }

    /// Bytes held, about.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let trains: usize =
            self.gates.iter().flat_map(|gate| &gate.inputs).map(|input| input.trains.capacity() + 1).sum();
        let held = |gate: &CellGate| match &gate.server {
            Server::Steps(held) => held.memory_bytes(),
            _ => 0,
        };
        let held: u64 = self.gates.iter().map(held).sum();
        held + (trains * size_of::<Train>() + self.frames.capacity() * size_of::<Frame>()) as u64
    }
}

impl Circuit {
    /// The fate of a packet's last cell is known: nearly always that of the oldest packet.
    fn close(&mut self, frame: u32) {
        if let Some(place) = self.open.iter().position(|open| *open == frame) {
            self.open.remove(place);
        }
    }
}

/// Puts an arrival before `until` where it belongs, the earliest last.
#[inline]
fn insert(soon: &mut Vec<(u64, u32)>, arrival: (u64, u32), until: u64) {
    if arrival.0 < until {
        soon.push(arrival);
        let mut place = soon.len() - 1;
        while place > 0 && soon[place - 1] < arrival {
            soon[place] = soon[place - 1];
            place -= 1;
        }
        soon[place] = arrival;
    }
}

/// Cells of one circuit never overtake each other: they share the places that they drew in
/// the order that they came.
#[cold]
fn restore_order_of_circuits(cells: &mut [(u32, Cell)], before: &[(u32, Cell)]) {
    let mut taken = vec![false; before.len()];
    for place in cells {
        if let Some(first) = (0..before.len()).find(|n| !taken[*n] && before[*n].0 == place.0) {
            taken[first] = true;
            *place = before[first];
        }
    }
}

/// A server for cells at a constant distance, where `plan` allows one.
fn paced_server(plan: &GatePlan) -> Option<Paced> {
    let limit = limit(plan)?;
    if plan.loss != LossPlan::None || plan.police.is_some() || plan.queue.tagged.is_some() {
        return None;
    }
    match &plan.rate {
        RatePlan::Constant(Speed::Bits(rate)) => {
            Some(Paced::new(Beat::of(CELL_BITS, rate.bps()), None, limit))
        }
        RatePlan::Gcra(gcra) if gcra.limit.tolerance() == 0 && limit > 0 => {
            let hold = Beat::of(CELL_BITS, gcra.link.bps()).span();
            Some(Paced::new(Beat::from(gcra.limit.increment()), Some(hold), limit))
        }
        _ => None,
    }
}

fn slotted_server(plan: &GatePlan, order: Stream, window: Window) -> Slotted {
    let slot = match &plan.rate {
        RatePlan::Constant(Speed::Bits(rate)) => Beat::of(CELL_BITS, rate.bps()),
        _ => unreachable!("the scenario's checks let slots be of one rate only"),
    };
    Slotted::new(slot, limit(plan).unwrap_or(u64::MAX), order, window)
}

/// Cells that may wait; `None` where something else is counted.
fn limit(plan: &GatePlan) -> Option<u64> {
    match (plan.queue.limit, plan.queue.counts) {
        (QueueLimit::Unlimited, QueueCounts::Waiting) => Some(u64::MAX),
        (QueueLimit::Cells(cells), QueueCounts::Waiting) => Some(cells),
        _ => None,
    }
}
