//! Cells one by one before a slot-synchronous multiplexer: the naive way, in which each cell has a place in
//! a line and a step of its own.
//!
//! Each input's next cell stands in a ring of slots, a bit in the slot's word. When its slot comes, it is taken,
//! and the input's next cell finds its place.

use super::slots::put_in_order;
use super::{Cell, CellGate, Frame, Input, Section, Server, To};
use crate::cells::slotted::Slotted;
use crate::cells::train::{Beat, Exact, Train};
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
    frame: u32,
    marks: u32,
}

const BEGINS: u32 = 1;
const ENDS: u32 = 2;
const TAGGED: u32 = 4;

impl Single {
    #[inline]
    fn new(at: u64, Cell { frame, begins, ends, tagged }: Cell) -> Single {
        let mark = |is: bool, mark: u32| if is { mark } else { 0 };
        Single { at, frame, marks: mark(begins, BEGINS) | mark(ends, ENDS) | mark(tagged, TAGGED) }
    }

    #[inline]
    fn cell(self) -> Cell {
        let Single { frame, marks, .. } = self;
        Cell { frame, begins: marks & BEGINS != 0, ends: marks & ENDS != 0, tagged: marks & TAGGED != 0 }
    }
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
    /// The cells of that slot, each with its input.
    due: Vec<(u32, Single)>,
}

/// The cells of an input.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// Those that have passed come first.
    cells: Vec<Single>,
    next: usize,
    /// The slot of the next one, where that stands in the ring.
    slot: u64,
}

/// A line forgets what has passed when that is half of it, and so much.
const FORGETS: usize = 1024;

impl Line {
    /// A cell comes at an instant in picoseconds.
    #[inline]
    pub(super) fn push(&mut self, at: u64, cell: Cell) {
        self.cells.push(Single::new(at, cell));
    }

    fn forget_passed(&mut self) {
        if self.next == self.cells.len() || self.next > FORGETS.max(self.cells.len() / 2) {
            self.cells.drain(..self.next);
            self.next = 0;
        }
    }
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
        Singles { lines: vec![], ring: Box::new([0; RING as usize]), placed: 0, slot: 0, due: vec![] }
    }

    pub(super) fn add_line(&mut self) {
        self.lines.push(Line::default());
    }

    /// Where the cells of an input stand in line.
    pub(super) fn line(&mut self, input: usize) -> &mut Line {
        &mut self.lines[input]
    }

    /// Cells come together.
    pub(super) fn push_train(&mut self, input: usize, train: Train) {
        let Train { frame, tagged, .. } = train;
        let mut rest = train;
        while rest.left > 0 {
            let at = rest.next.at.picos();
            let (begins, ends) = rest.take();
            self.lines[input].push(at, Cell { frame, begins, ends, tagged });
        }
    }

    /// Places the next cell of every line that has none in the ring.
    fn place_new(&mut self, finder: &Finder, slotted: &Slotted) {
        for (input, line) in self.lines.iter_mut().enumerate() {
            line.forget_passed();
            if self.placed >> input & 1 == 0
                && let Some(next) = line.cells.get(line.next)
            {
                line.slot = finder.slot_of(next.at, slotted);
                let place = line.slot.min(self.slot + RING - 1);
                self.ring[(place % RING) as usize] |= 1 << input;
                self.placed |= 1 << input;
            }
        }
    }

    /// Takes the cells of a slot; their marks.
    #[inline]
    fn take_slot(&mut self, slot: u64, inputs: u64, finder: &Finder, slotted: &Slotted) -> u32 {
        let mut marks = 0;
        let mut rest = inputs;
        self.ring[(slot % RING) as usize] = 0;
        while rest != 0 {
            let input = rest.trailing_zeros();
            rest &= rest - 1;
            let Some(line) = self.lines.get_mut(input as usize) else { break };
            while line.slot == slot {
                let Some(single) = line.cells.get(line.next) else { break };
                marks |= single.marks;
                self.due.push((input, *single));
                line.next += 1;
                line.slot = line.cells.get(line.next).map_or(u64::MAX, |next| finder.slot_of(next.at, slotted));
            }
            if line.slot == u64::MAX {
                self.placed &= !(1 << input);
            } else {
                // One that is far ahead is looked at again when the ring has gone round.
                let place = line.slot.min(slot + RING - 1) % RING;
                self.ring[place as usize] |= 1 << input;
            }
        }
        marks
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
    /// they go to the section's end. `true`: the cells of one that is not so stand in `due`, in order, or
    /// packets are to be settled.
    fn run_plain_singles(&mut self, gate: usize, singles: &mut Singles, finder: &Finder, end: u64) -> bool {
        let CellGate { server: Server::Slotted(slotted), plain_slots, .. } = &mut self.gates[gate] else {
            return false;
        };
        let (mut free, mut slot) = (slotted.free(), singles.slot);
        let mut stops = false;
        while slot < end && singles.placed != 0 {
            let inputs = singles.ring[(slot % RING) as usize];
            if inputs == 0 {
                slot += 1;
                continue;
            }
            let marks = singles.take_slot(slot, inputs, finder, slotted);
            let cells = singles.due.len() as u64;
            if marks & ENDS != 0 || !*plain_slots || !slotted.would_count(slot, free, cells) {
                slotted.set_free(free);
                slotted.stand_at(slot);
                self.due.extend(singles.due.drain(..).map(|(input, single)| (input, single.cell())));
                put_in_order(slotted, &mut self.due);
                free = slotted.free();
                stops = true;
            }
            for (_, single) in singles.due.drain(..) {
                let start = free.max(slot + 1);
                free = start + 1;
                slotted.note(start - slot - 1);
                let frame: &mut Frame = &mut self.frames[single.frame as usize];
                frame.arrived += 1;
                frame.left -= 1;
                if frame.left == 0 {
                    // A packet whose last cell was lost before.
                    self.settled.push(single.frame);
                    stops = true;
                }
            }
            // More of a single circuit's cells may come in the slot of the last.
            slot += u64::from(end < u64::MAX || singles.placed != 0);
            if stops {
                break;
            }
        }
        singles.slot = if stops || end == u64::MAX { slot } else { end };
        slotted.set_free(free);
        stops
    }

    /// Cells that come together through a paced server, one after the other, to a multiplexer where they wait in
    /// line; not the packet's last, nor those that find no room.
    pub(super) fn pass_each(&mut self, gate: usize, input: usize, gates: &mut [Gate]) {
        let (upstream, downstream) = self.gates.split_at_mut(gate + 1);
        let CellGate { server: Server::Paced(paced), inputs, next, number, discards, delay, .. } =
            &mut upstream[gate]
        else {
            return;
        };
        let Input { head, to: To::Gate { gate: to_gate, input: to_input }, .. } = &mut inputs[input] else {
            return;
        };
        let target = downstream.get_mut((*to_gate as usize).wrapping_sub(gate + 1));
        let Some(CellGate { singles: Some(singles), inputs: others, .. }) = target else { return };
        let most = head.left - u32::from(head.ends);
        if head.beat != Beat::NONE || *discards || most == 0 || others.len() == 1 {
            return;
        }
        let Train { frame, tagged, begins, next: Exact { at, .. }, .. } = *head;
        let line = singles.line(*to_input as usize);
        let mut cell = Cell { frame, begins, ends: false, tagged };
        let served = paced.serve_each(at, most, gates[*number].counters_mut(), self.window, |end| {
            line.push(end.saturating_add(*delay).picos(), cell);
            cell.begins = false;
        });
        head.skip(served);
        if head.left == 0 {
            inputs[input].refill();
        }
        next[input] = inputs[input].next();
    }
}
