//! How many cells of one input arrive in each slot of a block, by fixed-point arithmetic, and to which train a cell of a slot
//! belongs.

use super::Input;
use super::piece::{FRACTION, Piece};
use crate::cells::slotted::Slotted;
use crate::cells::train::{Exact, Spacing, Train};
use crate::units::Time;

/// Slots of a block at most, a power of two.
pub(super) const MOST_SLOTS: usize = 2048;

/// Inputs at most: what comes in a slot is counted in a byte.
pub(super) const MOST_INPUTS: usize = 100;

const ONE: u64 = 1 << FRACTION;
/// Positions are below the true ones by less than this, whatever is added up in a block.
const ERROR: u64 = 1 << 14;

/// How far an input is laid out: so many trains whole, and so many cells of the next.
#[derive(Clone, Copy, Debug, Default)]
struct Laid {
    trains: usize,
    cells: u32,
}

/// A spacing in slots.
#[derive(Clone, Copy, Debug)]
struct Step {
    spacing: Spacing,
    /// In fixed point, a little less, or a whole number exactly.
    step: u64,
    /// Into how many parts the spacing cuts a picosecond, inverted.
    part: f64,
}

/// What is laid out, and what is kept from block to block to save allocations.
#[derive(Debug)]
pub(super) struct Block {
    slots: usize,
    /// Cells that come in each slot.
    counts: Box<[u8; MOST_SLOTS]>,
    /// Of all inputs, one after the other.
    pub(super) pieces: Vec<Piece>,
    /// For each input its next piece, and that after its last.
    pub(super) of_input: Vec<(u32, u32)>,
    laid: Vec<Laid>,
    /// The spacing last seen at each input.
    steps: Vec<Step>,
    /// Cells that were laid out.
    pub(super) cells: u64,
    /// Slots in which a packet ends that somebody waits for, in order.
    pub(super) ends: Vec<u32>,
}

impl Default for Block {
    fn default() -> Block {
        Block {
            slots: 0,
            counts: Box::new([0; MOST_SLOTS]),
            pieces: vec![],
            of_input: vec![],
            laid: vec![],
            steps: vec![],
            cells: 0,
            ends: vec![],
        }
    }
}

/// The slots of a block as a scale for positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    base: Exact,
    /// The part of a picosecond that the base is rounded down by.
    base_part: f64,
    slot: Spacing,
    /// Slots in a picosecond.
    slots: f64,
    /// Where the block ends.
    end: Time,
    end_position: u64,
    /// From here on a position's fraction may belong to the next slot, because instants are
    /// rounded down.
    doubtful: u32,
}

impl Scale {
    pub(super) fn new(slotted: &Slotted, block: u64) -> Scale {
        let (slot, base) = (slotted.slot, slotted.begin);
        let slots = 1.0 / slot.as_f64();
        let picosecond = (ONE as f64 * slots) as u64 + 1;
        Scale {
            base,
            base_part: base.carry as f64 / slot.whole as f64,
            slot,
            slots,
            end: slotted.begin_after(block),
            end_position: block << FRACTION,
            doubtful: ONE.saturating_sub(ERROR + picosecond) as u32,
        }
    }

    /// Where an instant lies, rounded down by at most a few units; none where that is before the
    /// first slot.
    #[inline]
    fn position(&self, at: Exact, part: f64) -> Option<u64> {
        let picos = (at.at.picos() - self.base.at.picos()) as f64;
        let slots = (picos + (at.carry as f64 * part - self.base_part)) * self.slots;
        u64::try_from((slots * ONE as f64) as i64 - 2).ok()
    }

    fn step(&self, spacing: Spacing) -> Step {
        let slots = spacing.as_f64() * self.slots;
        let whole = slots.round() as u64;
        let exact = |of: Spacing| u128::from(of.picos) * u128::from(of.whole) + u128::from(of.part);
        let times = |number: u128, by: u64| number.checked_mul(u128::from(by));
        let multiple = times(exact(self.slot), spacing.whole).and_then(|slot| times(slot, whole));
        let step = if multiple.is_some() && times(exact(spacing), self.slot.whole) == multiple {
            whole.saturating_mul(ONE)
        } else {
            ((slots * ONE as f64) as u64).saturating_sub(2)
        };
        Step { spacing, step: step.min(ONE * MOST_SLOTS as u64), part: 1.0 / spacing.whole as f64 }
    }
}

impl Block {
    /// For so many slots.
    pub(super) fn begin(&mut self, slots: u64) {
        self.slots = slots as usize;
    }

    /// Cells that come in each slot.
    pub(super) fn counts(&self) -> &[u8] {
        &self.counts[..self.slots]
    }

    /// So many of the cells that come in a slot find no room.
    pub(super) fn refuse(&mut self, slot: usize, cells: u8) {
        self.counts[slot] -= cells;
    }

    /// Lays the cells of the next input into the slots; says whether no two are in one.
    pub(super) fn lay(&mut self, slotted: &Slotted, scale: &Scale, input: &Input) -> bool {
        let (number, first) = (self.of_input.len(), self.pieces.len() as u32);
        if number == self.steps.len() {
            self.steps.push(scale.step(Spacing::NONE));
        }
        let mut laid = Laid::default();
        let mut used = None;
        for train in std::iter::once(&input.head).chain(&input.trains) {
            if train.left == 0 || train.next.at >= scale.end {
                break;
            }
            if self.steps[number].spacing != train.spacing {
                self.steps[number] = scale.step(train.spacing);
            }
            let from = self.pieces.len();
            let Some(cells) = self.lay_train(slotted, scale, train, self.steps[number]) else {
                return false;
            };
            self.cells += u64::from(cells);
            for piece in &self.pieces[from..] {
                if used == Some(piece.first >> FRACTION) {
                    return false;
                }
                used = Some(u64::from(piece.last));
            }
            if cells < train.left {
                laid.cells = cells;
                break;
            }
            if let Some(piece) = self.pieces.last_mut() {
                piece.ends = train.ends;
            }
            laid.trains += 1;
        }
        self.of_input.push((first, self.pieces.len() as u32));
        self.laid.push(laid);
        true
    }

    /// How many cells of a train come in the block. `None`: two may come in one slot.
    #[inline]
    fn lay_train(&mut self, slotted: &Slotted, scale: &Scale, train: &Train, by: Step) -> Option<u32> {
        crate::work::step();
        let Step { step, part, .. } = by;
        if step < ONE && train.left > 1 {
            return None;
        }
        let Some(first) = scale.position(train.next, part) else {
            return Some(self.lay_exactly(slotted, scale, train, by));
        };
        if first >= scale.end_position {
            return Some(0);
        }
        let cells = match train.left {
            1 => 1,
            left => u64::from(left).min((scale.end_position - first - 1) / step + 1) as u32,
        };
        let last = first + u64::from(cells - 1) * step;
        let sure = if step as u32 == 0 || cells == 1 {
            let sure = (first as u32) < scale.doubtful;
            if sure && step == ONE {
                let range = (first >> FRACTION) as usize..=(last >> FRACTION) as usize;
                self.counts[range].iter_mut().for_each(|count| *count += 1);
            } else if sure {
                let places = (first >> FRACTION) as usize..=(last >> FRACTION) as usize;
                let apart = (step >> FRACTION).max(1) as usize;
                self.counts[places].iter_mut().step_by(apart).for_each(|count| *count += 1);
            }
            sure
        } else {
            self.lay_uneven(first, step, cells, scale.doubtful)
        };
        if !sure {
            return Some(self.lay_exactly(slotted, scale, train, by));
        }
        let Train { frame, tagged, .. } = *train;
        let last = (last >> FRACTION) as u32;
        self.pieces.push(Piece { frame, cells, first, step, last, ends: false, heard: true, tagged });
        Some(cells)
    }

    /// Cells that are not a whole number of slots apart; `false`: nothing was done, because some are so
    /// near to the next slot that they may belong to it.
    #[inline]
    fn lay_uneven(&mut self, first: u64, step: u64, cells: u32, doubtful: u32) -> bool {
        crate::work::step();
        let counts = &mut *self.counts;
        let (mut position, mut greatest) = (first, 0);
        for _ in 0..cells {
            counts[(position >> FRACTION) as usize % MOST_SLOTS] += 1;
            greatest = greatest.max(position as u32);
            position += step;
        }
        if greatest < doubtful {
            return true;
        }
        let mut undone = first;
        for _ in 0..cells {
            counts[(undone >> FRACTION) as usize % MOST_SLOTS] -= 1;
            undone += step;
        }
        false
    }

    /// Each cell for itself, where it exactly comes; how many come in the block. Two of one slot stand
    /// next to each other.
    #[cold]
    fn lay_exactly(&mut self, slotted: &Slotted, scale: &Scale, train: &Train, by: Step) -> u32 {
        crate::work::step();
        let mut cells = 0;
        let mut at = train.next;
        while cells < train.left && at.at < scale.end {
            let near = scale.position(at, by.part).map_or(0, |position| position >> FRACTION);
            let place = near + u64::from(slotted.begin_after(near + 1) <= at.at);
            self.counts[place as usize % MOST_SLOTS] += 1;
            let Train { frame, tagged, .. } = *train;
            let first = place << FRACTION;
            let last = place as u32;
            let piece = Piece { frame, cells: 1, first, step: ONE, last, ends: false, heard: true, tagged };
            self.pieces.push(piece);
            cells += 1;
            at = at.plus(train.spacing);
        }
        cells
    }

    /// From now on the ends of an input's packets matter.
    pub(super) fn hear(&mut self, input: usize) {
        let (place, after) = self.of_input[input];
        for piece in &mut self.pieces[place as usize..after as usize] {
            if piece.ends && !piece.heard {
                piece.heard = true;
                self.ends.push(piece.last);
            }
        }
        self.ends.sort_unstable();
    }

    /// Takes off an input what is laid out of it.
    pub(super) fn take_off(&self, number: usize, input: &mut Input) {
        let laid = self.laid[number];
        for _ in 0..laid.trains {
            input.skip_head();
        }
        input.head.skip(laid.cells);
    }

    /// Forgets what was laid out.
    pub(super) fn clear(&mut self) {
        self.counts[..self.slots].fill(0);
        self.pieces.clear();
        self.of_input.clear();
        self.laid.clear();
        self.ends.clear();
        self.cells = 0;
    }
}
