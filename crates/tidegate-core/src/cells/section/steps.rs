//! A cell gate whose rate is set from outside: nothing can be said ahead, so its [`Gate`] is
//! driven step by step, cell by cell. Its cells move on when their services end, at the latest
//! when the end of a packet is due.

use std::collections::VecDeque;

use super::{Cell, Output, Section, Server};
use crate::aal5::{CELL_BITS, CELL_BYTES};
use crate::gate::{Departure, DropReason, Gate};
use crate::serial::span_of;
use crate::units::{Span, Time};

/// The cells that the gate holds, that in service first, each with its input.
#[derive(Debug, Default)]
pub(super) struct Held {
    cells: VecDeque<(u32, Cell)>,
}

impl Held {
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.cells.capacity() * size_of::<(u32, Cell)>()) as u64
    }
}

impl Section {
    /// Arrivals before `arrivals` and ends of services before `ends`, by time; at one instant a
    /// cell leaves before another comes.
    pub(super) fn run_steps(&mut self, gate: usize, arrivals: Time, ends: Time, gates: &mut [Gate]) {
        loop {
            let row = &self.gates[gate];
            let end = gates[row.number].next_wakeup().unwrap_or(Time::NEVER);
            let inputs = row.next.iter().zip(0..);
            let (comes, input) = inputs.min().map_or((u64::MAX, 0), |(at, input)| (*at, input));
            if end < ends && end.picos() <= comes {
                self.end_step(gate, gates);
            } else if comes < arrivals.picos() {
                self.begin_step(gate, input, gates);
            } else {
                return;
            }
        }
    }

    /// A cell comes to the door.
    fn begin_step(&mut self, gate: usize, input: usize, gates: &mut [Gate]) {
        let (at, mut cell) = self.take(gate, input);
        if !self.police(gate, input, &mut cell, (at, at), gates) {
            return;
        }
        let row = &mut self.gates[gate];
        let server = &mut gates[row.number];
        let frame = &mut self.frames[cell.frame as usize];
        if cell.ends {
            // From now on the gate says when to wake.
            frame.due = Time::NEVER;
        }
        let mut unit = frame.unit;
        unit.bytes = CELL_BYTES;
        unit.set_tagged(cell.tagged);
        if !Self::admits(row, input, cell, server.backlog_stepped(at).units) {
            server.refuse_cell(at);
            return self.lose(gate, input, cell, at, DropReason::Discarded);
        }
        server.spread_next(row.spreads[input]);
        match server.handle_unit(at, unit) {
            Ok(()) => {
                if let Server::Steps(held) = &mut row.server {
                    held.cells.push_back((input as u32, cell));
                }
            }
            Err(drop) => self.lose(gate, input, cell, drop.at, drop.reason),
        }
    }

    /// The service of the first cell ends.
    fn end_step(&mut self, gate: usize, gates: &mut [Gate]) {
        let row = &mut self.gates[gate];
        let Server::Steps(held) = &mut row.server else { return };
        let Some((input, mut cell)) = held.cells.pop_front() else { return };
        let input = input as usize;
        let server = &mut gates[row.number];
        if row.tells {
            let at = server.next_wakeup().unwrap_or(Time::NEVER);
            self.outputs.push_back(Output::Served { at, gate: row.number });
        }
        let came = server.serving();
        server.handle_wakeup();
        let Some(Departure { unit, fate }) = server.poll_departure() else { return };
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

    /// No packet's end leaves the gate before this, if the rate stays as it is. Where a gate further on tells each departure, no
    /// cell does.
    pub(super) fn steps_wakeup(&self, gate: usize, gates: &[Gate]) -> Time {
        let row = &self.gates[gate];
        let Server::Steps(held) = &row.server else {
            let comes = row.next.iter().min().filter(|_| row.before_telling);
            let slot = match &row.server {
                Server::Slotted(slotted) => slotted.beat().span(),
                _ => Span::ZERO,
            };
            let comes = comes.map_or(Time::NEVER, |at| Time::from_picos(*at));
            return comes.saturating_add(slot).saturating_add(Span::from_picos(1));
        };
        let server = &gates[row.number];
        let Some(end) = server.next_wakeup() else {
            let comes = row.next.iter().min().map_or(Time::NEVER, |at| Time::from_picos(*at));
            return comes.saturating_add(Span::from_picos(1));
        };
        if row.tells || row.before_telling {
            return end;
        }
        // Cells after the one in service, up to the first that ends a packet or the last.
        let first = held.cells.iter().position(|(_, cell)| cell.ends);
        let after = first.unwrap_or(held.cells.len().saturating_sub(1)) as u64;
        let bps = server.rate_set().map_or(0, crate::units::Rate::bps);
        let each = if bps > 0 { span_of(CELL_BITS, bps).0 } else { 0 };
        end.saturating_add(Span::from_picos(each.saturating_mul(after)))
    }
}
