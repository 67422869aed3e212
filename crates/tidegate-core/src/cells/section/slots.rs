//! Cells through a slot-synchronous multiplexer.

use super::{Cell, CellGate, Section, Server};
use crate::gate::Gate;
use crate::units::Time;

impl Section {
    /// Cells slot by slot, at random inside a slot.
    pub(super) fn run_slots(&mut self, gate: usize, until: Time, gates: &mut [Gate]) {
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
