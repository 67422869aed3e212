//! Many slots of a multiplexer at once.
//!
//! First each input lays its cells into the slots of a stretch, by a progression in fixed point:
//! a word for each slot counts them and says whose they are. Then the slots are gone through with
//! nothing but the words and the backlog. Only slots where a packet ends or a cell finds no room
//! are looked at closely, because only there the order inside the slot matters.

use super::{Cell, CellGate, Input, NEVER, Section, Server};
use crate::cells::slotted::{CELLS, ENDS, Slotted};
use crate::cells::train::{Exact, Train};
use crate::gate::{DropReason, Gate};
use crate::units::Time;

/// Slots of a stretch at most: their words stay in the nearest cache.
const MOST_SLOTS: usize = 1024;

/// Fewer slots are not worth the preparation.
const LEAST_SLOTS: u64 = 8;

/// Inputs that a word has bits for.
pub(super) const MOST_INPUTS: usize = 48;

/// Where the inputs' bits begin, above the count of cells.
const FIRST_INPUT: u32 = CELLS.count_ones();

/// Fixed point: slots in units of 2⁻⁴⁰.
const FRACTION: u32 = 40;
const ONE: i64 = 1 << FRACTION;
/// Positions are below the true ones by less than this, whatever is added up in a stretch.
const ERROR: i64 = 1 << 13;

/// Cells of one train in a stretch.
#[derive(Clone, Copy, Debug)]
struct Piece {
    frame: u32,
    /// Those whose fate the packet has not been told.
    cells: u32,
    /// Slot of the last one.
    last: u32,
    /// It is the packet's last.
    ends: bool,
    tagged: bool,
}

/// How far an input is laid out: so many trains whole, and so many cells of the next.
#[derive(Clone, Copy, Debug, Default)]
struct Laid {
    trains: usize,
    cells: u32,
}

/// What is kept from stretch to stretch to save allocations.
#[derive(Debug, Default)]
pub(super) struct Stretch {
    words: Vec<u64>,
    /// Of all inputs, one after the other.
    pieces: Vec<Piece>,
    /// For each input its next piece, and that after its last.
    of_input: Vec<(u32, u32)>,
    laid: Vec<Laid>,
    cells: u64,
}

/// The slots of a stretch as a scale for positions.
#[derive(Clone, Copy, Debug)]
struct Scale {
    base: Exact,
    /// The part of a picosecond that the base is rounded down by.
    base_part: f64,
    /// Where the stretch ends.
    end: Time,
    /// Slots in a picosecond.
    slots: f64,
    /// From here on a position's fraction may belong to the next slot, because instants are
    /// rounded down.
    doubtful: i64,
}

impl Scale {
    fn new(slotted: &Slotted, stretch: u64) -> Scale {
        let (slot, base) = (slotted.beat(), slotted.begin());
        let slots = 1.0 / slot.as_f64();
        let picosecond = (ONE as f64 * slots) as i64 + 1;
        Scale {
            base,
            base_part: base.carry as f64 / slot.whole as f64,
            end: slotted.begin_after(stretch),
            slots,
            doubtful: (ONE - ERROR - picosecond).max(0),
        }
    }

    /// Where an instant lies, rounded down by at most a few units.
    #[inline]
    fn position(&self, at: Exact, whole: u64) -> i64 {
        let picos = (at.at.picos() - self.base.at.picos()) as f64;
        fixed((picos + (at.carry as f64 / whole as f64 - self.base_part)) * self.slots)
    }
}

/// In fixed point, a little less; what lies beyond every stretch stays there.
fn fixed(slots: f64) -> i64 {
    (slots.min(4.0 * MOST_SLOTS as f64) * ONE as f64) as i64 - 2
}

impl Stretch {
    /// Lays the cells of an input into the slots; says whether no two are in one.
    fn lay(&mut self, slotted: &Slotted, scale: &Scale, number: usize, input: &Input) -> bool {
        let first = self.pieces.len() as u32;
        let mut laid = Laid::default();
        let word = 1 + (1 << (FIRST_INPUT + number as u32));
        let mut alone = true;
        for train in std::iter::once(&input.head).chain(&input.trains) {
            let (cells, last, apart) = self.lay_train(slotted, scale, train, word);
            alone &= apart;
            if cells > 0 {
                let ends = train.ends && cells == train.left;
                self.words[last as usize] |= if ends { ENDS } else { 0 };
                self.cells += u64::from(cells);
                self.pieces.push(Piece { frame: train.frame, cells, last, ends, tagged: train.tagged });
            }
            if cells < train.left {
                laid.cells = cells;
                break;
            }
            laid.trains += usize::from(cells > 0);
        }
        self.of_input.push((first, self.pieces.len() as u32));
        self.laid.push(laid);
        alone
    }

    /// How many cells of a train come in the stretch, the slot of the last one, and whether no
    /// other of this input is in any of their slots.
    #[inline]
    fn lay_train(&mut self, slotted: &Slotted, scale: &Scale, train: &Train, word: u64) -> (u32, u32, bool) {
        if train.left == 0 || train.next.at >= scale.end {
            return (0, 0, true);
        }
        let mut position = scale.position(train.next, train.beat.whole);
        let step = fixed(train.beat.as_f64() * scale.slots).max(0);
        let doubtful = scale.doubtful;
        let (mut taken, mut last, mut met) = (0, 0, 0);
        let words = &mut self.words[..];
        for _ in 0..train.left {
            let mut place = (position >> FRACTION) as usize;
            if position & (ONE - 1) >= doubtful {
                place = exact_place(slotted, train, taken, (position >> FRACTION) as u64);
            }
            let Some(found) = words.get_mut(place) else { break };
            met |= *found;
            *found += word;
            last = place;
            taken += 1;
            position += step;
        }
        (taken, last as u32, met & (word - 1) == 0)
    }

    /// Forgets what was laid out.
    fn clear(&mut self) {
        self.words.clear();
        self.pieces.clear();
        self.of_input.clear();
        self.laid.clear();
        self.cells = 0;
    }
}

/// The slot of a train's cell, which is this one or the next.
#[cold]
fn exact_place(slotted: &Slotted, train: &Train, cell: u32, place: u64) -> usize {
    let at = train.next.plus_times(train.beat, u64::from(cell)).at;
    let next = place.wrapping_add(1);
    (if slotted.begin_after(next) <= at { next } else { place }) as usize
}

impl Section {
    /// Slots that end by `until`, as many at once as can be.
    pub(super) fn run_stretches(&mut self, gate: usize, until: Time, gates: &mut [Gate]) {
        loop {
            let CellGate { next, server: Server::Slotted(slotted), .. } = &mut self.gates[gate] else {
                return;
            };
            let soonest = next.iter().copied().min().unwrap_or(NEVER);
            if soonest >= until.picos() || slotted.seek(Time::from_picos(soonest)) > until {
                return;
            }
            let slots = slotted.slots_until(until, MOST_SLOTS as u64);
            let end = slotted.begin_after(slots);
            if slots < LEAST_SLOTS || !self.run_stretch(gate, slots, gates) {
                self.run_each_slot(gate, end, gates);
            }
        }
    }

    /// So many slots from the present one on at once; `false`: they have to be gone through one
    /// by one.
    fn run_stretch(&mut self, gate: usize, slots: u64, gates: &mut [Gate]) -> bool {
        let CellGate { inputs, next, server: Server::Slotted(slotted), .. } = &mut self.gates[gate] else {
            return false;
        };
        let mut stretch = std::mem::take(&mut self.stretch);
        stretch.words.resize(slots as usize, 0);
        let scale = Scale::new(slotted, slots);
        let inputs_in_order = inputs.iter().enumerate();
        let alone = inputs_in_order
            .fold(true, |alone, (number, input)| alone & stretch.lay(slotted, &scale, number, input));
        let may = alone && slotted.counts_ahead(slots + stretch.cells);
        if may {
            for ((input, at), laid) in inputs.iter_mut().zip(next).zip(&stretch.laid) {
                for _ in 0..laid.trains {
                    input.head.left = 0;
                    input.refill();
                }
                input.head.skip(laid.cells);
                *at = input.next();
            }
            slotted.make_room(stretch.cells);
            self.pass_stretch(gate, &mut stretch, gates);
        }
        stretch.clear();
        self.stretch = stretch;
        may
    }

    /// The slots of a stretch, into which all cells are laid.
    fn pass_stretch(&mut self, gate: usize, stretch: &mut Stretch, gates: &mut [Gate]) {
        let mut slot = 0;
        let begin = match &self.gates[gate].server {
            Server::Slotted(slotted) => slotted.backlog(),
            _ => return,
        };
        let mut backlog = begin;
        loop {
            let Server::Slotted(slotted) = &mut self.gates[gate].server else { return };
            (slot, backlog) = slotted.count_slots(&stretch.words, slot, backlog);
            if slot == stretch.words.len() {
                break;
            }
            backlog = self.pass_slot(gate, stretch, slot, backlog, gates);
            slot += 1;
        }
        let Server::Slotted(slotted) = &mut self.gates[gate].server else { return };
        slotted.go_past(stretch.words.len() as u64, begin, backlog);
        for (place, after) in &stretch.of_input {
            for piece in &mut stretch.pieces[*place as usize..*after as usize] {
                self.tell_passed(piece, 0);
            }
        }
    }

    /// One slot of a stretch, where a packet ends or a cell finds no room: the backlog after it.
    fn pass_slot(
        &mut self,
        gate: usize,
        stretch: &mut Stretch,
        slot: usize,
        mut backlog: u64,
        gates: &mut [Gate],
    ) -> u64 {
        let mut inputs = (stretch.words[slot] & !ENDS) >> FIRST_INPUT;
        let mut due = std::mem::take(&mut self.due);
        while inputs != 0 {
            let input = inputs.trailing_zeros();
            inputs &= inputs - 1;
            due.push((input, self.cell_in(stretch, input as usize, slot as u32)));
        }
        let Server::Slotted(slotted) = &self.gates[gate].server else { return 0 };
        let (number, limit) = (slotted.number() + slot as u64, slotted.limit());
        slotted.shuffle(number, &mut due);
        let boundary = slotted.begin_after(slot as u64 + 1);
        for (input, cell) in due.drain(..) {
            let piece = &mut stretch.pieces[stretch.of_input[input as usize].0 as usize];
            let full = backlog > limit;
            if cell.ends {
                self.tell_passed(piece, 1);
                piece.cells = 0;
            } else if full {
                piece.cells -= 1;
            }
            if full {
                gates[self.gates[gate].number].refuse_cell(boundary);
                self.lose(gate, input as usize, cell, boundary, DropReason::QueueFull);
                continue;
            }
            if cell.ends {
                let CellGate { server: Server::Slotted(server), delay, .. } = &self.gates[gate] else {
                    return 0;
                };
                let ahead = slot as u64 + 1 + backlog;
                let (start, end) = (server.begin_after(ahead), server.begin_after(ahead + 1));
                let out = end.saturating_add(*delay);
                self.leave(gate, cell, start.saturating_since(boundary), end);
                self.deliver(gate, input as usize, cell, out, gates);
            }
            backlog += 1;
        }
        self.due = due;
        match &mut self.gates[gate].server {
            Server::Slotted(server) => server.count_slot(backlog),
            _ => 0,
        }
    }

    /// The cell of an input in a slot where it has one.
    fn cell_in(&mut self, stretch: &mut Stretch, input: usize, slot: u32) -> Cell {
        let Stretch { pieces, of_input, .. } = stretch;
        let place = &mut of_input[input].0;
        while pieces[*place as usize].last < slot {
            self.tell_passed(&mut pieces[*place as usize], 0);
            *place += 1;
        }
        let Piece { frame, last, ends, tagged, .. } = pieces[*place as usize];
        Cell { frame, begins: false, ends: ends && last == slot, tagged }
    }

    /// All of a piece but so many cells have passed.
    #[inline]
    fn tell_passed(&mut self, piece: &mut Piece, but: u32) {
        let cells = piece.cells - but.min(piece.cells);
        if cells == 0 {
            return;
        }
        piece.cells -= cells;
        let frame = &mut self.frames[piece.frame as usize];
        frame.arrived += cells;
        frame.left -= cells;
        if frame.left == 0 {
            // Its last cell was lost before.
            self.settle_frame(piece.frame);
        }
    }
}
