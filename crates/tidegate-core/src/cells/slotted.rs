//! A slot-synchronous multiplexer: time is cut into slots of one cell each, from 0 on. Cells
//! that come during a slot are put in random order at its end and join the queue then; in
//! each slot one cell leaves. A cell served at once starts in the slot after its arrival.

use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::SplitMix64;

use super::paced::CellService;
use super::standing::Standing;
use super::train::{Exact, Spacing};
use crate::aal5::CELL_BYTES;
use crate::gate::{Counters, ExactPicos, Progression, Together};
use crate::random::Stream;
use crate::units::{Measured, Time};

/// By how much the state of [`SplitMix64`] grows from word to word: 2⁶⁴ divided by the golden ratio (Steele, Lea and
/// Flood, "Fast splittable pseudorandom number generators", 2014). With it any word can be drawn without those before.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The multiplexer. Slot n is `[n·slot, (n+1)·slot)`, its ends rounded down.
#[derive(Clone, Debug)]
pub(super) struct Slotted {
    pub(super) slot: Spacing,
    /// Cells that may wait; one more is in service.
    pub(super) limit: u64,
    /// The first slot that is not taken.
    free: u64,
    /// The slot looked at last, and its beginning.
    pub(super) number: u64,
    pub(super) begin: Exact,
    end: Exact,
    /// Key of the random order inside each slot.
    key: u64,
    /// Cells by the length of the queue that each finds at the end of its slot, itself included: at length n it
    /// waits n − 1 slots.
    waits: Standing,
    /// Cells of slots from this number on come inside the measured time.
    from: u64,
    /// Cells that start in slots before this leave inside it.
    until: u64,
}

impl Slotted {
    pub(super) fn new(slot: Spacing, limit: u64, mut order: Stream, measured: Measured) -> Slotted {
        let begin = Exact::whole(Time::ZERO);
        let end = begin.plus(slot);
        let mut slotted = Slotted {
            slot,
            limit,
            free: 0,
            number: 0,
            begin,
            end,
            key: order.next_u64(),
            waits: Standing::new(),
            from: 0,
            until: 0,
        };
        // A slot's cells count at its end, and slot n ends where n + 1 begins.
        let from = slotted.slot_of(measured.from);
        let until = slotted.slot_of(measured.until);
        (slotted.from, slotted.until) = (from, until);
        slotted
    }

    /// The slot that an instant lies in, not before the present one.
    pub(super) fn slot_of(&self, at: Time) -> u64 {
        let span = at.picos().saturating_sub(self.begin.at.picos());
        // At least so many, because each may be a picosecond longer.
        let mut ahead = span / (self.slot.picos + 1);
        while self.begin_after(ahead + 1) <= at {
            ahead += 1;
        }
        self.number + ahead
    }

    /// When the slot begins that is `slots` after the present one.
    #[inline]
    pub(super) fn begin_after(&self, slots: u64) -> Time {
        self.begin.plus_times(self.slot, slots).at
    }

    /// When a slot begins, the present one, a later or an earlier one.
    pub(super) fn begin_of(&self, number: u64) -> Exact {
        Exact::whole(Time::ZERO).plus_times(self.slot, number)
    }

    /// `cells` cells that came in `slot` and are served in the slots from `start` on, one in each.
    pub(super) fn together(&self, slot: u64, start: u64, cells: u64) -> Together {
        let first = self.begin_of(start);
        Together {
            arrival: self.begin_of(slot + 1).at,
            starts: Progression {
                first: ExactPicos { whole: first.at.picos(), part: first.carry },
                gap: ExactPicos { whole: self.slot.picos, part: self.slot.part },
                parts: self.slot.whole,
                terms: cells,
            },
            each: None,
            bytes: CELL_BYTES,
        }
    }

    /// How many slots from the present one on end by `until`, at most `most`.
    pub(super) fn slots_until(&self, until: Time, most: u64) -> u64 {
        // At least so many, because each may be a picosecond longer.
        let span = until.picos().saturating_sub(self.begin.at.picos());
        let mut slots = (span / (self.slot.picos + 1)).min(most);
        while slots < most && self.begin_after(slots + 1) <= until {
            slots += 1;
        }
        slots
    }

    /// Cells that stand before one of the present slot.
    pub(super) fn backlog(&self) -> u64 {
        self.free.saturating_sub(self.number + 1)
    }

    /// Whether all cells that come from the present slot on, and leave in the slots taken by now or the `slots`
    /// after them, lie inside the measured time.
    pub(super) fn counts_ahead(&self, slots: u64) -> bool {
        self.number >= self.from && self.free.max(self.number) + slots + 1 < self.until
    }

    /// Makes room for counting so many more cells.
    pub(super) fn make_room(&mut self, cells: u64) {
        self.waits.make_room((self.backlog() + cells) as usize + 2);
    }

    /// Counts the cells of slots, a byte for each, from number `from` on, as long as every cell finds room. Returns the
    /// first slot that is not counted, and the backlog then.
    ///
    /// In place of the wait of each cell it counts the queue's length at each slot's beginning: a queue falls below
    /// a length as often as it rises above it, but for the last time ([`Slotted::go_past`] corrects that).
    #[inline]
    pub(super) fn count_slots(&mut self, cells: &[u8], from: usize, backlog: u64) -> (usize, u64) {
        crate::work::step();
        self.waits.pass(cells, from, backlog, self.limit.saturating_add(1))
    }

    /// Counts the cells of one slot, at whose end the queue has `standing` cells. Returns the next slot's backlog.
    pub(super) fn count_slot(&mut self, standing: u64) -> u64 {
        self.waits.note(standing)
    }

    /// Moves on by `slots` slots that were counted; `first` and `last`: the backlog before and after them.
    pub(super) fn go_past(&mut self, slots: u64, first: u64, last: u64) {
        // The queue passed each length between the two backlogs once more in one direction than in the other.
        self.waits.correct(first, last);
        self.number += slots;
        self.begin = self.begin.plus_times(self.slot, slots);
        self.end = self.begin.plus(self.slot);
        self.free = self.number + 1 + last;
    }

    /// Moves to the slot that holds `at`; says when it ends. Never back.
    #[inline]
    pub(super) fn seek(&mut self, at: Time) -> Time {
        for _ in 0..4 {
            if at < self.end.at {
                return self.end.at;
            }
            self.go_on();
        }
        if at >= self.end.at {
            self.jump(at);
        }
        self.end.at
    }

    #[inline]
    fn go_on(&mut self) {
        crate::work::step();
        self.number += 1;
        self.begin = self.end;
        self.end = self.end.plus(self.slot);
    }

    #[inline(never)]
    fn jump(&mut self, at: Time) {
        crate::work::step();
        // At least so many slots lie before it, because each may be a picosecond longer.
        let ahead = (at.picos() - self.begin.at.picos()) / (self.slot.picos + 1);
        self.number += ahead;
        self.begin = self.begin.plus_times(self.slot, ahead);
        self.end = self.begin.plus(self.slot);
        while at >= self.end.at {
            self.go_on();
        }
    }

    /// Puts the cells of one slot, listed by crossing, in random order. The order is a function of the key and the
    /// slot's number, so it need not be drawn where nothing depends on it.
    #[inline]
    pub(super) fn shuffle<T>(&self, slot: u64, cells: &mut [T]) {
        let word_of = |state| SplitMix64::seed_from_u64(state).next_u64();
        let mut word = word_of(self.key.wrapping_add(slot.wrapping_sub(1).wrapping_mul(GOLDEN)));
        for last in (1..cells.len()).rev() {
            // The upper half of a product with a random word is below the other factor.
            let place = (u128::from(word) * (last as u128 + 1)) >> 64;
            cells.swap(place as usize, last);
            // A generator of its own: the words that follow are the next slots'.
            word = word_of(word);
        }
    }

    /// Whether so many cells of the present slot find room.
    #[inline]
    pub(super) fn has_room_for(&self, cells: u64) -> bool {
        self.waiting() + cells <= self.limit
    }

    /// Cells that wait at the end of the present slot, without the one whose service begins then.
    #[inline]
    pub(super) fn waiting(&self) -> u64 {
        self.free.saturating_sub(self.number + 2)
    }

    /// Whether a cell of the present slot finds no room.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.free > self.number + 1 && self.waiting() >= self.limit
    }

    /// Takes a cell of the present slot: how many slots it waits after the slot's end.
    #[inline]
    pub(super) fn serve(&mut self) -> u64 {
        let next = self.number + 1;
        let start = self.free.max(next);
        self.free = start + 1;
        start - next
    }

    /// The end of the present slot.
    pub(super) fn boundary(&self) -> Time {
        self.end.at
    }

    /// The service of a cell that waits so many slots after the present one's end.
    pub(super) fn cell_service(&self, waits: u64) -> CellService {
        let start = self.end.plus_times(self.slot, waits);
        CellService { start, end: start.plus(self.slot), waiting: waits }
    }

    /// Whether every cell of the present slot comes and leaves inside the measured time.
    #[inline]
    pub(super) fn counts_all(&self) -> bool {
        self.number >= self.from && self.free < self.until
    }

    /// Counts a cell that waits so long, all inside the measured time.
    #[inline]
    pub(super) fn note(&mut self, waits: u64) {
        crate::work::step();
        self.waits.note(waits + 1);
    }

    /// Adds all cells counted here to `counters`.
    pub(super) fn tell(&mut self, counters: &mut Counters) {
        for (standing, cells) in self.waits.take() {
            let slots = standing - 1;
            let wait = Exact::whole(Time::ZERO).plus_times(self.slot, slots).at;
            counters.pass_alike(cells, u64::from(CELL_BYTES), wait.saturating_since(Time::ZERO), slots);
        }
    }
}
