//! Cells one by one before a slot-synchronous multiplexer: the naive way, in which each cell has a place in
//! a line and steps of its own. It finds its slot when it comes, its place among the cells of the slot when
//! that is near, and how long it waits when the slot is over.

use super::own::Own;
use super::slots::put_in_order;
use super::{Cell, CellGate, Frame, Input, Section, Server, To};
use crate::cells::slotted::Slotted;
use crate::cells::train::{Beat, Exact, Train};
use crate::gate::Gate;
use crate::units::Time;

/// Slots that are looked at together.
const SLOTS: usize = 64;
/// Places for the cells of each.
const PLACES: usize = 32;

/// Inputs at most.
pub(super) const MOST_SINGLES: usize = 64;

/// In so many picoseconds a product of [`Singles::slot_of`] is off by no more than this.
const FAR: u64 = 1 << 42;

/// A cell in a word: its packet, three marks, its input, and of a packet's last the slots that it would wait for
/// its packet's own cells, which are fewer than 2048.
type Word = u64;
const BEGINS: Word = 1 << 32;
const ENDS: Word = 1 << 33;
const TAGGED: Word = 1 << 34;
const INPUT: u32 = 40;
const OWN: u32 = 46;

/// The cells of an input: in which slot each comes. Those that have passed come first.
#[derive(Debug)]
struct Line {
    cells: Vec<(u64, Word)>,
    next: usize,
    /// Before this one all are placed.
    placed: usize,
    own: Own,
}

/// A line forgets what has passed when that is half of it, and so much.
const FORGETS: usize = 1024;

/// What comes next.
enum Next {
    Nothing,
    /// So many slots, whose cells are placed.
    Slots(usize),
    /// Somewhere more cells come in a slot than there are places.
    Crowded,
}

/// A cell and its input.
#[inline]
fn cell_of(word: Word) -> (u32, Cell) {
    let is = |mark: Word| word & mark != 0;
    let (frame, own) = (word as u32, (word >> OWN) as u32);
    let cell = Cell { frame, begins: is(BEGINS), ends: is(ENDS), tagged: is(TAGGED), own };
    ((word >> INPUT) as u32 % MOST_SINGLES as u32, cell)
}

/// The cells before a gate.
#[derive(Debug)]
pub(super) struct Singles {
    lines: Vec<Line>,
    /// 2⁶⁴ times the slots in a picosecond.
    slots: u64,
    /// Cells of the slots from `base` on, how many in each, and a bit for each that holds a packet's last.
    places: Box<[[Word; PLACES]; SLOTS]>,
    counts: [u8; SLOTS],
    /// A bit for each slot that has cells.
    used: u64,
    ends: u64,
    base: u64,
}

impl Singles {
    pub(super) fn new(slotted: &Slotted, inputs: usize) -> Singles {
        let slot = slotted.beat();
        let parts = u128::from(slot.picos) * u128::from(slot.whole) + u128::from(slot.part);
        let slots = (u128::from(slot.whole) << 64) / parts.max(1);
        Singles {
            lines: (0..inputs).map(|_| Line { cells: vec![], next: 0, placed: 0, own: Own::new() }).collect(),
            slots: u64::try_from(slots).unwrap_or(u64::MAX),
            places: Box::new([[0; PLACES]; SLOTS]),
            counts: [0; SLOTS],
            used: 0,
            ends: 0,
            base: 0,
        }
    }

    /// The slot of an instant in picoseconds, `begin` being when the present one begins.
    #[inline]
    fn slot_of(slots: u64, begin: u64, at: u64, slotted: &Slotted) -> u64 {
        // What lies less than a picosecond after an instant is the same instant.
        let ahead = (at + 1).wrapping_sub(begin);
        let product = u128::from(ahead) * u128::from(slots);
        // So near to where a slot begins that what that is rounded down by may matter, or this product.
        let near = (product as u64).wrapping_add(FAR) < slots.saturating_add(FAR).saturating_mul(2);
        if near || ahead > FAR {
            return slotted.slot_of(Time::from_picos(at));
        }
        slotted.number() + (product >> 64) as u64
    }

    /// Cells of one packet come at instants in picoseconds, in order.
    #[inline]
    fn push(&mut self, input: usize, cell: Cell, slotted: &Slotted, instants: impl Iterator<Item = u64>) {
        let Cell { frame, begins, ends, tagged, .. } = cell;
        let mark = |is: bool, mark: Word| if is { mark } else { 0 };
        let word = u64::from(frame) | mark(tagged, TAGGED) | (input as u64) << INPUT;
        let (slots, begin) = (self.slots, slotted.begin().at.picos());
        let Line { cells, own, .. } = &mut self.lines[input];
        let first = cells.len();
        cells.extend(instants.map(|at| (Singles::slot_of(slots, begin, at, slotted), word)));
        let waits = own.slots_of_last(cells[first..].iter().map(|(slot, _)| *slot), begins);
        if let [first, ..] = &mut cells[first..] {
            first.1 |= mark(begins, BEGINS);
        }
        if let [.., last] = &mut cells[first..] {
            last.1 |= mark(ends, ENDS) | u64::from(waits) << OWN;
        }
    }

    /// The cells of a train.
    pub(super) fn push_train(&mut self, input: usize, train: Train, slotted: &Slotted) {
        let Train { frame, begins, ends, tagged, .. } = train;
        let mut rest = train;
        let instants = std::iter::from_fn(|| {
            let at = rest.next.at.picos();
            (rest.left > 0).then(|| rest.take()).map(|_| at)
        });
        self.push(input, Cell { frame, begins, ends, tagged, own: 0 }, slotted, instants);
    }

    /// Places the cells of the next slots before `end`, from the first on that has any: how many slots.
    fn place_next(&mut self, end: u64) -> Next {
        crate::work::step();
        let mut next = end;
        for line in &mut self.lines {
            if line.next == line.cells.len() || line.next > FORGETS.max(line.cells.len() / 2) {
                line.cells.drain(..line.next);
                line.next = 0;
            }
            next = next.min(line.cells.get(line.next).map_or(end, |(slot, _)| *slot));
        }
        if next == end {
            return Next::Nothing;
        }
        (self.base, self.counts) = (next, [0; SLOTS]);
        let slots = (end - next).min(SLOTS as u64);
        let (places, counts) = (&mut *self.places, &mut self.counts);
        let (mut used, mut ends) = (0_u64, 0_u64);
        for line in &mut self.lines {
            let first = line.next;
            line.placed = line.cells.len();
            for (place, (slot, word)) in line.cells[first..].iter().enumerate() {
                let ahead = slot - next;
                if ahead >= slots {
                    line.placed = first + place;
                    break;
                }
                let ahead = ahead as usize % SLOTS;
                let count = usize::from(counts[ahead]);
                if count == PLACES {
                    return Next::Crowded;
                }
                places[ahead][count % PLACES] = *word;
                counts[ahead] += 1;
                used |= 1 << ahead;
                ends |= (word >> ENDS.trailing_zeros() & 1) << ahead;
            }
        }
        (self.used, self.ends) = (used, ends);
        self.lines.iter_mut().for_each(|line| line.next = line.placed);
        Next::Slots(slots as usize)
    }

    /// The cells of one of the slots that were placed, each with its input.
    fn placed_in(&self, ahead: usize) -> impl Iterator<Item = (u32, Cell)> {
        let count = self.counts.get(ahead).map_or(0, |count| usize::from(*count));
        let words = self.places.get(ahead).map_or(&[][..], |words| &words[..count]);
        words.iter().map(|word| cell_of(*word))
    }

    /// Takes the cells of the next slot, where more come than there are places.
    fn take_crowd(&mut self, due: &mut Vec<(u32, Cell)>) {
        for line in &mut self.lines {
            while let Some((_, word)) = line.cells.get(line.next).filter(|(slot, _)| *slot == self.base) {
                due.push(cell_of(*word));
                line.next += 1;
            }
        }
    }

    /// Bytes held, about.
    pub(super) fn memory_bytes(&self) -> u64 {
        let cells: usize = self.lines.iter().map(|line| line.cells.capacity()).sum();
        (cells * size_of::<(u64, Word)>()) as u64
    }
}

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
        if head.beat != Beat::NONE || *discards || most == 0 || singles.lines.len() == 1 {
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
        next[input] = inputs[input].next();
    }
}
