//! A cell gate whose rate is set from outside, or whose cells are of classes: the end of a service is not known at the arrival, so
//! its [`Gate`] is driven step by step, cell by cell. Its cells move on when their services end, at the latest when the end of a packet
//! is due.
//!
//! Cells of one input leave in the order in which they came, those of several in the order that the gate chooses; a cell's
//! unit has the number of its input as its handle.

use std::collections::VecDeque;

use super::{Cell, CellServer, NEVER, Output, Section};
use crate::aal5::{CELL_BITS, CELL_BYTES};
use crate::gate::{Departure, DropReason, Gate};
use crate::serial::span_of;
use crate::units::{Span, Time};

/// The cells that the gate holds: in one queue, that in service first, or by input, where the gate has classes.
#[derive(Debug)]
pub(super) struct Held {
    by_input: bool,
    queues: Vec<HeldQueue>,
}

/// Cells that leave in the order in which they came.
#[derive(Debug, Default)]
struct HeldQueue {
    cells: VecDeque<Cell>,
    /// Cells that have ever come.
    came: u64,
    /// How many came before each that ends a packet.
    ends: VecDeque<u64>,
}

impl Held {
    pub(super) fn new(by_input: bool) -> Held {
        Held { by_input, queues: vec![HeldQueue::default()] }
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        let bytes = |queue: &HeldQueue| {
            queue.cells.capacity() * size_of::<Cell>() + queue.ends.capacity() * size_of::<u64>()
        };
        self.queues.iter().map(bytes).sum::<usize>() as u64
    }

    fn push(&mut self, input: usize, cell: Cell) {
        let number = if self.by_input { input } else { 0 };
        if self.queues.len() <= number {
            self.queues.resize_with(number + 1, HeldQueue::default);
        }
        let queue = &mut self.queues[number];
        if cell.ends {
            queue.ends.push_back(queue.came);
        }
        queue.came += 1;
        queue.cells.push_back(cell);
    }

    /// Takes the cell of an input that is served first.
    fn pop(&mut self, input: usize) -> Option<Cell> {
        let queue = self.queues.get_mut(if self.by_input { input } else { 0 })?;
        let cell = queue.cells.pop_front()?;
        if cell.ends {
            queue.ends.pop_front();
        }
        Some(cell)
    }

    /// How many services end, at the least, before that of a cell that ends a packet; where none is held, of the last.
    fn before_end(&self) -> u64 {
        let first = |queue: &HeldQueue| {
            let gone = queue.came - queue.cells.len() as u64;
            queue.ends.front().map(|before| before - gone)
        };
        let all = || self.queues.iter().map(|queue| queue.cells.len() as u64).sum::<u64>();
        self.queues.iter().filter_map(first).min().unwrap_or_else(|| all().saturating_sub(1))
    }
}

impl Section {
    /// Arrivals before `arrivals` and ends of services before `ends`, by time; at one instant a
    /// cell leaves before another comes.
    pub(super) fn run_steps(&mut self, gate: usize, arrivals: Time, ends: Time, gates: &mut [Gate]) {
        loop {
            let row = &self.gates[gate];
            let end = gates[row.number].next_wakeup().unwrap_or(Time::NEVER);
            let (comes, input) = row.next.first();
            if end < ends && end.picos() <= comes {
                self.end_step(gate, gates);
            } else if comes < arrivals.picos() {
                self.begin_step(gate, input, gates);
            } else {
                return;
            }
        }
    }

    /// A cell arrives at the gate.
    fn begin_step(&mut self, gate: usize, input: usize, gates: &mut [Gate]) {
        let mut cell = self.take(gate, input);
        let at = cell.at;
        if self.gates[gate].policed && !self.police(gate, input, &mut cell, at, gates) {
            return;
        }
        let row = &mut self.gates[gate];
        let server = &mut gates[row.number];
        let frame = &mut self.frames[cell.frame as usize];
        if cell.ends {
            // From now on the gate says when to wake.
            frame.due = Time::NEVER;
            let crossing = frame.crossing as usize;
            if self.crossings[crossing].open.front() == Some(&cell.frame) {
                self.dues.set(crossing, NEVER);
            }
        }
        let mut unit = frame.unit;
        unit.bytes = CELL_BYTES;
        unit.handle = input as u32;
        unit.set_tagged(cell.tagged);
        if row.discards && !Self::admits(row, input, cell, server.backlog_found(at, &unit).units) {
            server.note_refused_of_class(at, &unit, DropReason::Discarded);
            server.refuse_cell(at);
            return self.lose(gate, input, cell, at, DropReason::Discarded);
        }
        server.spread_next(row.spreads[input]);
        match server.handle_unit(at, unit) {
            Ok(()) => {
                if let CellServer::Steps(held) = &mut row.server {
                    held.push(input, cell);
                }
            }
            Err(drop) => self.lose(gate, input, cell, drop.at, drop.reason),
        }
    }

    /// The service of a cell ends, or the next one begins.
    fn end_step(&mut self, gate: usize, gates: &mut [Gate]) {
        let row = &mut self.gates[gate];
        let CellServer::Steps(held) = &mut row.server else { return };
        let server = &mut gates[row.number];
        let came = server.serving();
        if let (Some(rm_cells), Some((_, service))) = (&mut row.rm_cells, came) {
            rm_cells.count();
            self.outputs.push_back(Output::Served { at: service.end, gate: row.number });
        }
        server.handle_wakeup();
        let Some(Departure { unit, fate }) = server.poll_departure() else { return };
        let input = unit.handle as usize;
        let Some(mut cell) = held.pop(input) else { return };
        let out = match fate {
            Ok(out) => out,
            Err(drop) => return self.lose(gate, input, cell, drop.at, drop.reason),
        };
        cell.tagged = unit.tagged();
        if cell.ends {
            self.frames[cell.frame as usize].unit.set_tagged(unit.tagged());
        }
        if let Some((at, service)) = came {
            let wait = row.excess(input, cell, at, service);
            self.leave(gate, cell, wait, service.end);
        }
        self.deliver(gate, input, cell, out, gates);
    }

    /// No packet's end leaves the gate before this, if the rate stays as it is. Where a gate further on must know of each cell
    /// when it comes, no cell does.
    pub(super) fn steps_wakeup(&self, gate: usize, gates: &[Gate]) -> Time {
        let row = &self.gates[gate];
        let CellServer::Steps(held) = &row.server else {
            let comes = if row.before_prompt { row.next.first().0 } else { NEVER };
            let slot = match &row.server {
                CellServer::Slotted(slotted) => slotted.slot.span(),
                _ => Span::ZERO,
            };
            return Time::from_picos(comes).saturating_add(slot).saturating_add(Span::from_picos(1));
        };
        let server = &gates[row.number];
        let Some(end) = server.next_wakeup() else {
            return Time::from_picos(row.next.first().0).saturating_add(Span::from_picos(1));
        };
        let is_prompt = row.before_prompt;
        // While the gate waits to begin a service, a cell of another class may be served sooner, or let the one that waits begin.
        let may_begin = !server.is_serving() && (is_prompt || row.rm_cells.is_some() || row.hastened);
        let comes = if may_begin { row.next.first().0 } else { NEVER };
        let end = end.min(Time::from_picos(comes).saturating_add(Span::from_picos(1)));
        if is_prompt {
            return end;
        }
        let each = match server.rate_set() {
            Some(rate) if rate.bps() > 0 => span_of(CELL_BITS, rate.bps()).0,
            Some(_) => 0,
            None => row.cell_time.picos(),
        };
        let mut after = held.before_end();
        if let Some(rm_cells) = row.rm_cells {
            after = after.min(u64::from(rm_cells.left - 1));
        }
        let at_full_rate = end.saturating_add(Span::from_picos(each.saturating_mul(after)));
        // The cell in service has been charged to the contract.
        match after.checked_sub(u64::from(server.is_serving())) {
            Some(others) => at_full_rate.max(server.earliest_end_behind(others)),
            None => at_full_rate,
        }
    }
}
