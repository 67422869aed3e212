//! A slot-synchronous multiplexer serves its cells one by one ([`super::single`]).

use super::input::{Cell, Input, To};
use super::single::{Next, PLACES, SLOTS, Singles};
use super::slots::put_in_order;
use super::{CellGate, Frame, Section, Server};
use crate::cells::train::{Beat, Exact, Train};
use crate::gate::Gate;
use crate::units::Time;

impl Section {
    /// Slots that end by `until`, one after the other.
    pub(super) fn run_singles(&mut self, gate: usize, until: Time, gates: &mut [Gate]) {
        let Some(mut singles) = self.gates[gate].singles.take() else { return };
        let Server::Slotted(slotted) = &self.gates[gate].server else { return };
        let end = match until {
            Time::NEVER => u64::MAX,
            _ => slotted.number() + slotted.slots_until(until, u64::MAX),
        };
        loop {
            match singles.place_next(end) {
                Next::Nothing => break,
                Next::Slots(slots) => {
                    let mut ahead = 0;
                    while ahead < slots {
                        ahead = self.run_plain_singles(gate, &singles, ahead, slots);
                        if !self.settled.is_empty() {
                            while let Some(frame) = self.settled.pop() {
                                self.settle_frame(frame);
                            }
                            continue;
                        }
                        self.due.extend(singles.placed_in(ahead));
                        if !self.due.is_empty() {
                            self.serve_crowd(gate, singles.base + ahead as u64, gates);
                        }
                        ahead += 1;
                    }
                }
                Next::Crowded => {
                    singles.take_crowd(&mut self.due);
                    self.serve_crowd(gate, singles.base, gates);
                }
            }
        }
        self.gates[gate].singles = Some(singles);
    }

    /// The cells of a slot that stand in `due`, looked at closely.
    fn serve_crowd(&mut self, gate: usize, slot: u64, gates: &mut [Gate]) {
        crate::work::step();
        if let Server::Slotted(slotted) = &mut self.gates[gate].server {
            slotted.stand_at(slot);
            put_in_order(slotted, &mut self.due);
        }
        self.serve_due(gate, gates);
    }

    /// Slots from one on whose cells only have to be counted: none is a packet's last, all find room, and they go to
    /// the section's end. The first that is another, or one where a packet is to be settled before.
    fn run_plain_singles(&mut self, gate: usize, singles: &Singles, from: usize, slots: usize) -> usize {
        crate::work::step();
        let CellGate { server: Server::Slotted(slotted), plain_slots: true, .. } = &mut self.gates[gate]
        else {
            return from;
        };
        let Singles { places, counts, used, ends, base, .. } = singles;
        let before = slots.min(from + (ends >> from).trailing_zeros() as usize);
        if before == from {
            return from;
        }
        let most: u64 = counts[from..before].iter().map(|count| u64::from(*count)).sum();
        let mut free = slotted.free();
        let easy = slotted.would_count(base + from as u64, free, most)
            && slotted.would_count(base + before as u64, free, most);
        slotted.make_room(most);
        let frames = &mut self.frames[..];
        let mut rest = used >> from << from & u64::MAX >> (SLOTS - before);
        while rest != 0 {
            let ahead = rest.trailing_zeros() as usize % SLOTS;
            rest &= rest - 1;
            let cells = &places[ahead][..usize::from(counts[ahead]).min(PLACES)];
            let next = base + ahead as u64 + 1;
            if !easy && !slotted.would_count(next - 1, free, cells.len() as u64) {
                slotted.set_free(free);
                return ahead;
            }
            free = free.max(next);
            let mut settles = false;
            for word in cells {
                slotted.note_in_room(free - next);
                free += 1;
                let frame: &mut Frame = &mut frames[*word as u32 as usize];
                frame.arrived += 1;
                frame.left -= 1;
                settles |= frame.left == 0;
            }
            if settles {
                // A packet whose last cell was lost before.
                slotted.set_free(free);
                let over = cells.iter().map(|word| *word as u32);
                self.settled.extend(over.filter(|frame| frames[*frame as usize].left == 0));
                self.settled.dedup();
                return ahead + 1;
            }
        }
        slotted.set_free(free);
        before
    }

    /// Cells that come together through a paced server, one after the other, to a multiplexer where they wait in
    /// line; not the packet's last, nor those that find no room.
    pub(super) fn pass_each(&mut self, gate: usize, input: usize, gates: &mut [Gate]) {
        crate::work::step();
        let (upstream, downstream) = self.gates.split_at_mut(gate + 1);
        let CellGate { server: Server::Paced(paced), inputs, next, number, discards, delay, .. } =
            &mut upstream[gate]
        else {
            return;
        };
        let Input { head, own, to: To::Gate { gate: to_gate, input: to_input }, .. } = &mut inputs[input]
        else {
            return;
        };
        let target = downstream.get_mut((*to_gate as usize).wrapping_sub(gate + 1));
        let Some(CellGate { singles: Some(singles), server: Server::Slotted(slotted), .. }) = target else {
            return;
        };
        let most = head.left - u32::from(head.ends);
        if head.beat != Beat::NONE || *discards || most == 0 || singles.inputs.len() == 1 {
            return;
        }
        let Train { frame, tagged, begins, next: Exact { at, .. }, .. } = *head;
        self.ends.clear();
        let served = paced.serve_each(at, most, gates[*number].counters_mut(), self.measured, &mut self.ends);
        let cell = Cell { frame, begins, ends: false, tagged, own: 0 };
        let instants = self.ends.iter().map(|end| end.saturating_add(delay.picos()));
        singles.push(*to_input as usize, cell, slotted, instants);
        if served > 0 {
            own.start_of_last(paced.beat(), head, served);
        }
        head.skip(served);
        if head.left == 0 {
            inputs[input].refill();
        }
        next.set(input, inputs[input].next());
    }
}
