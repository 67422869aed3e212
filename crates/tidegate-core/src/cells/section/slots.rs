//! Service of cells at a slot-synchronous multiplexer: block of slots by block of slots ([`super::block`]), or slot by slot where
//! order inside a slot matters.

use super::{Cell, CellGate, CellServer, Input, MOST_INPUTS, NEVER, Observed, Section};
use crate::cells::slotted::Slotted;
use crate::gate::Gate;
use crate::units::Time;

impl Section {
    /// Cells slot by slot, at random inside a slot.
    pub(super) fn run_slots(&mut self, gate: usize, until: Time, gates: &mut [Gate]) {
        let CellGate { inputs, plain_slots, observed, .. } = &self.gates[gate];
        // Of a single crossing, all is reported when a packet comes: more may come in its last slot.
        let many = (2..=MOST_INPUTS).contains(&inputs.len()) && until < Time::NEVER;
        if !self.one_by_one && *plain_slots && *observed != Observed::Each && many {
            self.run_blocks(gate, until, gates);
        } else {
            self.run_each_slot(gate, until, gates);
        }
    }

    /// Runs a multiplexer to `until` one slot after the other.
    pub(super) fn run_each_slot(&mut self, gate: usize, until: Time, gates: &mut [Gate]) {
        crate::work::step();
        while self.run_plain_slots(gate, until.picos(), gates) {
            while let Some(frame) = self.settled.pop() {
                self.settle_frame(frame);
            }
            if self.gates[gate].policed {
                self.police_due(gate, gates);
            }
            self.serve_due(gate, gates);
        }
    }

    /// The cells of the present slot pass a policer as they come, those of one instant by crossing; what is left of
    /// them is put in order. What is thrown away counts at the slot's end, as all that comes in it.
    fn police_due(&mut self, gate: usize, gates: &mut [Gate]) {
        let end = match &self.gates[gate].server {
            CellServer::Slotted(slotted) => slotted.boundary(),
            _ => return,
        };
        let mut due = std::mem::take(&mut self.due);
        due.sort_by_key(|(_, cell)| cell.at);
        // Of a single crossing a slot may be looked at several times: each cell meets all there is in turn.
        let is_only = self.gates[gate].inputs.len() == 1;
        due.retain_mut(|(input, cell)| {
            let passes = self.police(gate, *input as usize, cell, end, gates);
            if passes && is_only {
                self.serve_slotted(gate, *input as usize, *cell, gates);
            }
            passes && !is_only
        });
        due.sort_by_key(|(crossing, _)| *crossing);
        if let CellServer::Slotted(slotted) = &self.gates[gate].server {
            put_in_order(slotted, &mut due);
        }
        self.due = due;
    }

    /// The cells of the present slot, put in order.
    pub(super) fn serve_due(&mut self, gate: usize, gates: &mut [Gate]) {
        crate::work::step();
        let mut due = std::mem::take(&mut self.due);
        for (input, cell) in due.drain(..) {
            self.serve_slotted(gate, input as usize, cell, gates);
        }
        self.due = due;
    }

    /// Slots whose cells only have to be counted: none is a packet's last, all find room, and
    /// they go to the section's end. `true`: the cells of another slot stand in `due`, in order but for a policer's.
    fn run_plain_slots(&mut self, gate: usize, until: u64, gates: &mut [Gate]) -> bool {
        crate::work::step();
        let CellGate {
            inputs,
            next,
            server: CellServer::Slotted(slotted),
            plain_slots,
            policed,
            number,
            observed,
            spreads,
            ..
        } = &mut self.gates[gate]
        else {
            return false;
        };
        let due = &mut self.due;
        let mut soonest = next.first().0;
        loop {
            // Slots are gone through in order: none before an arrival that may still come.
            if soonest >= until {
                return false;
            }
            let end = slotted.seek(Time::from_picos(soonest)).picos();
            if end > until {
                return false;
            }
            let mut plain = *plain_slots;
            let mut take = |crossing: usize, input: &mut Input, mut at: u64| {
                while at < end {
                    let mut cell = input.take();
                    cell.own = input.own.slots(slotted.number, cell.begins, cell.ends);
                    at = input.next();
                    plain &= !cell.ends;
                    due.push((crossing as u32, cell));
                }
                at
            };
            if let Some(next) = next.few() {
                soonest = NEVER;
                for (crossing, (at, input)) in next.iter_mut().zip(&mut *inputs).enumerate() {
                    *at = take(crossing, input, *at);
                    soonest = soonest.min(*at);
                }
            } else {
                while let (at, crossing) = next.first()
                    && at < end
                {
                    next.set(crossing, take(crossing, &mut inputs[crossing], at));
                }
                soonest = next.first().0;
                due.sort_by_key(|(crossing, _)| *crossing);
            }
            if !plain || !slotted.has_room_for(due.len() as u64) {
                if !*policed {
                    put_in_order(slotted, due);
                }
                return true;
            }
            for (input, cell) in due.iter() {
                let waits = slotted.serve();
                if *observed == Observed::Sampled {
                    let service = slotted.cell_service(waits).service();
                    gates[*number].record_cell(slotted.boundary(), spreads[*input as usize], service);
                }
                // By cell: whatever comes together, the same are counted to the picosecond.
                if slotted.counts_all() {
                    slotted.note(waits);
                } else {
                    gates[*number].count_cell(
                        slotted.boundary(),
                        slotted.cell_service(waits).service(),
                        waits,
                    );
                }
                let frame = &mut self.frames[cell.frame as usize];
                frame.arrived += 1;
                frame.left -= 1;
                if frame.left == 0 {
                    // A packet whose last cell was lost before.
                    self.settled.push(cell.frame);
                }
            }
            due.clear();
            if !self.settled.is_empty() {
                return true;
            }
        }
    }

    /// One cell of the present slot.
    fn serve_slotted(&mut self, gate: usize, input: usize, cell: Cell, gates: &mut [Gate]) {
        crate::work::step();
        let row = &mut self.gates[gate];
        let number = row.number;
        let (waiting, full, at) = match &row.server {
            CellServer::Slotted(slotted) => (slotted.waiting(), slotted.is_full(), slotted.boundary()),
            _ => return,
        };
        if let Some(reason) = Self::refuses(row, input, cell, waiting, full) {
            gates[number].refuse_cell(at);
            return self.lose(gate, input, cell, at, reason);
        }
        let CellServer::Slotted(slotted) = &mut row.server else { return };
        let waits = slotted.serve();
        let cell_service = slotted.cell_service(waits);
        // When it would have started, if no other packet came.
        let own = slotted.cell_service(u64::from(cell.own)).start.at;
        // A wait that is counted here is that of its slots, recorded or not.
        let counted = slotted.counts_all();
        if counted {
            slotted.note(waits);
        }
        if row.observed != Observed::Not {
            gates[number].record_cell(at, row.spreads[input], cell_service.service());
        }
        if !counted {
            gates[number].count_cell(at, cell_service.service(), waits);
        }
        let out = gates[number].out_after(cell_service.end.at);
        let wait = cell_service.start.at.saturating_since(own);
        self.leave(gate, cell, wait, cell_service.end.at);
        self.deliver(gate, input, cell, out, gates);
    }
}

/// Random order for the cells of the present slot, given by crossing. Cells of one crossing never
/// overtake each other: they share the places that they drew in the order that they came.
pub(super) fn put_in_order(slotted: &Slotted, cells: &mut [(u32, Cell)]) {
    let repeated = cells.windows(2).any(|pair| pair[0].0 == pair[1].0);
    let before = if repeated { cells.to_vec() } else { vec![] };
    slotted.shuffle(slotted.number, cells);
    if repeated {
        restore_order_of_circuits(cells, &before);
    }
}

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
