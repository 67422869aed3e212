//! Cells one by one before a slot-synchronous multiplexer, for runs with `cells_one_by_one`.
//!
//! This is a second way through a section beside the trains, and it exists to be compared with them: the tests
//! prove trains equal to it, and the benchmark of cells states what trains save against it.
//! It has a queue of its own because the comparison is fair only if the way one by one is itself as fast as
//! cells one by one can be, which the general path ([`super::slots`]) is not.
//! Each cell is put in a list with its slot when it comes, among the cells of that slot when the slot is near,
//! and served when the slot is over.

use super::input::Cell;
use super::own::Own;
use crate::cells::slotted::Slotted;
use crate::cells::train::Train;
use crate::units::Time;

/// Slots that are looked at together.
pub(super) const SLOTS: usize = 64;
/// Places for the cells of each.
pub(super) const PLACES: usize = 32;

/// Inputs at most.
pub(super) const MOST_SINGLES: usize = 64;

/// In so many picoseconds a product of [`Singles::slot_of`] is off by no more than this.
const FAR: u64 = 1 << 42;

/// A cell in a word: its packet, three marks, its input, and of a packet's last the slots that it would wait for
/// its packet's own cells, which are fewer than 2048.
pub(super) type Word = u64;
const BEGINS: Word = 1 << 32;
const ENDS: Word = 1 << 33;
const TAGGED: Word = 1 << 34;
const INPUT: u32 = 40;
const OWN: u32 = 46;

/// The cells of an input: in which slot each comes. Those that have passed come first.
#[derive(Debug)]
pub(super) struct InputCells {
    cells: Vec<(u64, Word)>,
    next: usize,
    /// Before this one all are placed.
    placed: usize,
    own: Own,
}

/// An input forgets what has passed when that is half of it, and so much.
const FORGETS: usize = 1024;

/// What comes next.
pub(super) enum Next {
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
    pub(super) inputs: Vec<InputCells>,
    /// 2⁶⁴ times the slots in a picosecond.
    slots: u64,
    /// Cells of the slots from `base` on, how many in each, and a bit for each that holds a packet's last.
    pub(super) places: Box<[[Word; PLACES]; SLOTS]>,
    pub(super) counts: [u8; SLOTS],
    /// A bit for each slot that has cells.
    pub(super) used: u64,
    pub(super) ends: u64,
    pub(super) base: u64,
}

impl Singles {
    pub(super) fn new(slotted: &Slotted, inputs: usize) -> Singles {
        let slot = slotted.beat();
        let parts = u128::from(slot.picos) * u128::from(slot.whole) + u128::from(slot.part);
        let slots = (u128::from(slot.whole) << 64) / parts.max(1);
        Singles {
            inputs: (0..inputs)
                .map(|_| InputCells { cells: vec![], next: 0, placed: 0, own: Own::new() })
                .collect(),
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
    pub(super) fn push(
        &mut self,
        input: usize,
        cell: Cell,
        slotted: &Slotted,
        instants: impl Iterator<Item = u64>,
    ) {
        let Cell { frame, begins, ends, tagged, .. } = cell;
        let mark = |is: bool, mark: Word| if is { mark } else { 0 };
        let word = u64::from(frame) | mark(tagged, TAGGED) | (input as u64) << INPUT;
        let (slots, begin) = (self.slots, slotted.begin().at.picos());
        let InputCells { cells, own, .. } = &mut self.inputs[input];
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
    pub(super) fn place_next(&mut self, end: u64) -> Next {
        crate::work::step();
        let mut next = end;
        for input in &mut self.inputs {
            if input.next == input.cells.len() || input.next > FORGETS.max(input.cells.len() / 2) {
                input.cells.drain(..input.next);
                input.next = 0;
            }
            next = next.min(input.cells.get(input.next).map_or(end, |(slot, _)| *slot));
        }
        if next == end {
            return Next::Nothing;
        }
        (self.base, self.counts) = (next, [0; SLOTS]);
        let slots = (end - next).min(SLOTS as u64);
        let (places, counts) = (&mut *self.places, &mut self.counts);
        let (mut used, mut ends) = (0_u64, 0_u64);
        for input in &mut self.inputs {
            let first = input.next;
            input.placed = input.cells.len();
            for (place, (slot, word)) in input.cells[first..].iter().enumerate() {
                let ahead = slot - next;
                if ahead >= slots {
                    input.placed = first + place;
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
        self.inputs.iter_mut().for_each(|input| input.next = input.placed);
        Next::Slots(slots as usize)
    }

    /// The cells of one of the slots that were placed, each with its input.
    pub(super) fn placed_in(&self, ahead: usize) -> impl Iterator<Item = (u32, Cell)> {
        let count = self.counts.get(ahead).map_or(0, |count| usize::from(*count));
        let words = self.places.get(ahead).map_or(&[][..], |words| &words[..count]);
        words.iter().map(|word| cell_of(*word))
    }

    /// Takes the cells of the next slot, where more come than there are places.
    pub(super) fn take_crowd(&mut self, due: &mut Vec<(u32, Cell)>) {
        for input in &mut self.inputs {
            while let Some((_, word)) = input.cells.get(input.next).filter(|(slot, _)| *slot == self.base) {
                due.push(cell_of(*word));
                input.next += 1;
            }
        }
    }

    /// Bytes held, about.
    pub(super) fn memory_bytes(&self) -> u64 {
        let cells: usize = self.inputs.iter().map(|input| input.cells.capacity()).sum();
        (cells * size_of::<(u64, Word)>()) as u64
    }
}
