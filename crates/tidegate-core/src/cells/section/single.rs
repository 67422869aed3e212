//! Cells one by one before a slot-synchronous multiplexer: the naive way, in which each cell has a place in
//! a line and a step of its own.
//!
//! Each input's next cell stands in a ring of slots, a bit in the slot's word. When its slot comes, it is taken,
//! and the input's next cell finds its place.

use std::collections::VecDeque;

use super::slots::put_in_order;
use super::{Cell, CellGate, Frame, Section, Server};
use crate::cells::slotted::Slotted;
use crate::cells::train::Train;
use crate::gate::Gate;
use crate::units::Time;

/// Slots of the ring, a power of two.
const RING: u64 = 256;

/// Inputs that a word has bits for.
pub(super) const MOST_SINGLES: usize = 64;

/// In so many picoseconds a product of [`Finder`] is off by no more than this.
const FAR: u64 = 1 << 42;

/// A cell that comes at an instant in picoseconds.
#[derive(Clone, Copy, Debug)]
struct Single {
    at: u64,
    cell: Cell,
}

/// The cells before a gate.
#[derive(Debug)]
pub(super) struct Singles {
    lines: Vec<Line>,
    ring: Box<[u64; RING as usize]>,
    /// Inputs whose next cell stands in the ring.
    placed: u64,
    /// The first slot that is not over.
    slot: u64,
}

#[derive(Debug, Default)]
struct Line {
    cells: VecDeque<Single>,
    /// The slot of the next one, where that stands in the ring.
    slot: u64,
}

/// Finds the slots of instants.
#[derive(Clone, Copy)]
struct Finder {
    /// The slot that it counts from, and when that begins.
    base: u64,
    begin: u64,
    /// 2⁶⁴ times the slots in a picosecond.
    slots: u64,
}

impl Finder {
    fn new(slotted: &Slotted) -> Finder {
        let slot = slotted.beat();
        let parts = u128::from(slot.picos) * u128::from(slot.whole) + u128::from(slot.part);
        let slots = (u128::from(slot.whole) << 64) / parts.max(1);
        let slots = u64::try_from(slots).unwrap_or(u64::MAX);
        Finder { base: slotted.number(), begin: slotted.begin().at.picos(), slots }
    }

    /// The slot of an instant.
    #[inline]
    fn slot_of(&self, at: u64, slotted: &Slotted) -> u64 {
        // What lies less than a picosecond after an instant is the same instant.
        let ahead = (at + 1).wrapping_sub(self.begin);
        let product = u128::from(ahead) * u128::from(self.slots);
        // So near to where a slot begins that what that is rounded down by may matter, or this product.
        let near = (product as u64).wrapping_add(FAR) < (self.slots + FAR).saturating_mul(2);
        if near || ahead > FAR {
            return slotted.slot_of(Time::from_picos(at));
        }
        self.base + (product >> 64) as u64
    }
}

impl Singles {
    pub(super) fn new() -> Singles {
        Singles { lines: vec![], ring: Box::new([0; RING as usize]), placed: 0, slot: 0 }
    }

    pub(super) fn add_line(&mut self) {
        self.lines.push(Line::default());
    }

    /// A cell comes at an instant in picoseconds.
    #[inline]
    pub(super) fn push(&mut self, input: usize, at: u64, cell: Cell) {
        self.lines[input].cells.push_back(Single { at, cell });
    }

    /// Cells come together.
    pub(super) fn push_train(&mut self, input: usize, train: Train) {
        let Train { frame, tagged, .. } = train;
        let mut rest = train;
        while rest.left > 0 {
            let at = rest.next.at.picos();
            let (begins, ends) = rest.take();
            self.push(input, at, Cell { frame, begins, ends, tagged });
        }
    }

    /// Places the next cell of every line that has none in the ring.
    fn place_new(&mut self, finder: &Finder, slotted: &Slotted) {
        for (input, line) in self.lines.iter_mut().enumerate() {
            if self.placed >> input & 1 == 0
                && let Some(next) = line.cells.front()
            {
                line.slot = finder.slot_of(next.at, slotted);
                let place = line.slot.min(self.slot + RING - 1);
                self.ring[(place % RING) as usize] |= 1 << input;
                self.placed |= 1 << input;
            }
        }
    }

    /// Takes the cells of the present slot.
    #[inline]
    fn take_slot(&mut self, finder: &Finder, slotted: &Slotted, due: &mut Vec<(u32, Cell)>) {
        let place = (self.slot % RING) as usize;
        let mut inputs = std::mem::take(&mut self.ring[place]);
        while inputs != 0 {
            let input = inputs.trailing_zeros();
            inputs &= inputs - 1;
            let Some(line) = self.lines.get_mut(input as usize) else { return };
            loop {
                if line.slot != self.slot {
                    // One that is far ahead is looked at again when the ring has gone round.
                    let next = line.slot.min(self.slot + RING - 1);
                    self.ring[(next % RING) as usize] |= 1 << input;
                    break;
                }
                if let Some(single) = line.cells.pop_front() {
                    due.push((input, single.cell));
                }
                let Some(next) = line.cells.front() else {
                    self.placed &= !(1 << input);
                    break;
                };
                line.slot = finder.slot_of(next.at, slotted);
            }
        }
    }

    /// Bytes held, about.
    pub(super) fn memory_bytes(&self) -> u64 {
        let cells: usize = self.lines.iter().map(|line| line.cells.capacity()).sum();
        (cells * size_of::<Single>()) as u64
    }
}

impl Section {
    /// Slots that end by `until`, one after the other.
    pub(super) fn run_singles(&mut self, gate: usize, until: Time, gates: &mut [Gate]) {
        let Some(mut singles) = self.gates[gate].singles.take() else { return };
        if let Server::Slotted(slotted) = &mut self.gates[gate].server {
            slotted.stand_at(singles.slot);
            let finder = Finder::new(slotted);
            singles.place_new(&finder, slotted);
            let end = match until {
                // What has come may not be all of its last slot.
                Time::NEVER => u64::MAX,
                _ => slotted.number() + slotted.slots_until(until, u64::MAX),
            };
            while self.run_plain_singles(gate, &mut singles, &finder, end) {
                while let Some(frame) = self.settled.pop() {
                    self.settle_frame(frame);
                }
                self.serve_due(gate, gates);
            }
        }
        self.gates[gate].singles = Some(singles);
    }

    /// Slots before another whose cells only have to be counted: none is a packet's last, all find room, and
    /// they go to the section's end. `true`: the cells of one that is not so stand in `due`, in order.
    fn run_plain_singles(&mut self, gate: usize, singles: &mut Singles, finder: &Finder, end: u64) -> bool {
        let CellGate { server: Server::Slotted(slotted), plain_slots, .. } = &mut self.gates[gate] else {
            return false;
        };
        let due = &mut self.due;
        let mut free = slotted.free();
        while singles.slot < end {
            let slot = singles.slot;
            if singles.ring[(slot % RING) as usize] == 0 {
                if singles.placed == 0 {
                    singles.slot = if end == u64::MAX { slot } else { end };
                    break;
                }
                singles.slot += 1;
                continue;
            }
            singles.take_slot(finder, slotted, due);
            let plain = *plain_slots
                && due.iter().all(|(_, cell)| !cell.ends)
                && slotted.would_count(slot, free, due.len() as u64);
            if !plain {
                slotted.set_free(free);
                slotted.stand_at(slot);
                put_in_order(slotted, due);
                // A packet's other cells may come in its slot.
                singles.slot += u64::from(end < u64::MAX || singles.placed > 0);
                return true;
            }
            for (_, cell) in due.drain(..) {
                let start = free.max(slot + 1);
                free = start + 1;
                slotted.note(start - slot - 1);
                let frame: &mut Frame = &mut self.frames[cell.frame as usize];
                frame.arrived += 1;
                frame.left -= 1;
                if frame.left == 0 {
                    // A packet whose last cell was lost before.
                    self.settled.push(cell.frame);
                }
            }
            singles.slot += u64::from(end < u64::MAX || singles.placed > 0);
            if !self.settled.is_empty() {
                slotted.set_free(free);
                return true;
            }
        }
        slotted.set_free(free);
        false
    }
}
