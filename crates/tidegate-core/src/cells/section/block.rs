//! Fast path of a multiplexer: many slots in a row.
//!
//! Computes the backlog of each slot from the number of cells that arrive in it ([`super::lay`]), without looking at single cells.
//! Holds up to the next slot in which a packet ends whose delivery is awaited, or in which a cell finds the queue full: only there the
//! order of the cells inside the slot matters, and [`super::slots`] takes the slot cell by cell.

use super::lay::{Block, MOST_SLOTS, Scale};
use super::noted::{Pause, note_block};
use super::piece::Piece;
use super::{Cell, CellGate, CellServer, Observed, Section};
use crate::gate::{DropReason, Gate};
use crate::units::Time;

/// Fewer slots are not worth the preparation.
const LEAST_SLOTS: u64 = 8;

impl Section {
    /// Slots that end by `until`, as many at once as can be.
    pub(super) fn run_blocks(&mut self, gate: usize, until: Time, gates: &mut [Gate]) {
        loop {
            let CellGate { next, server: CellServer::Slotted(slotted), .. } = &mut self.gates[gate] else {
                return;
            };
            let soonest = next.first().0;
            if soonest >= until.picos() || slotted.seek(Time::from_picos(soonest)) > until {
                return;
            }
            let (begin, slot) = (slotted.begin.at, slotted.slot.span());
            let Pause { before, after } = self.next_pause(gate, begin, slot, gates);
            let CellServer::Slotted(server) = &self.gates[gate].server else { return };
            let slots = server.slots_until(until.min(before), MOST_SLOTS as u64);
            let end = server.begin_after(slots);
            let end = if slots < LEAST_SLOTS { end.max(until.min(after)) } else { end };
            if slots < LEAST_SLOTS || !self.run_block(gate, slots, gates) {
                self.run_each_slot(gate, end, gates);
            }
        }
    }

    /// So many slots from the present one on at once; `false`: they have to be gone through one
    /// by one.
    fn run_block(&mut self, gate: usize, slots: u64, gates: &mut [Gate]) -> bool {
        crate::work::step();
        let CellGate { inputs, next, server: CellServer::Slotted(slotted), delay, .. } =
            &mut self.gates[gate]
        else {
            return false;
        };
        let mut block = std::mem::take(&mut self.spare).unwrap_or_default();
        block.begin(slots);
        let scale = Scale::new(slotted, slots);
        let fits = inputs.iter().all(|input| block.lay(slotted, &scale, input));
        // Cells of one packet, each in a slot of its own, would not wait for each other.
        let clear = inputs.iter().all(|input| input.own.is_clear(slotted.number));
        let may = fits && clear && slotted.counts_ahead(slots + block.cells);
        if may {
            for (number, input) in inputs.iter_mut().enumerate() {
                block.take_off(number, input);
                next.set(number, input.next());
            }
            // No cell that comes in the block is through after this.
            let latest = slotted.begin_after(slots + slotted.backlog() + block.cells + 1);
            let latest = latest.saturating_add(*delay);
            slotted.make_room(block.cells);
            self.pass_block(gate, &mut block, latest, gates);
        }
        block.clear();
        self.spare = Some(block);
        may
    }

    /// The slots of a block, into which all cells are laid.
    fn pass_block(&mut self, gate: usize, block: &mut Block, latest: Time, gates: &mut [Gate]) {
        // Packets that only have to be counted count alike whenever they come.
        let alike = !self.report_losses_early && latest < self.measured.until;
        for piece in block.pieces.iter_mut().filter(|piece| piece.ends) {
            let crossing = self.frames[piece.frame as usize].crossing;
            piece.heard = !(alike && self.crossings[crossing as usize].only_counts());
            if piece.heard {
                block.ends.push(piece.last);
            }
        }
        block.ends.sort_unstable();
        let begin = match &self.gates[gate].server {
            CellServer::Slotted(slotted) => slotted.backlog(),
            _ => return,
        };
        let (mut slot, slots, mut backlog, mut ended) = (0, block.counts().len(), begin, 0);
        let is_sampled = self.gates[gate].observed == Observed::Sampled;
        // The last cell that was let in starts so many slots after the block's first.
        let mut last = 0;
        while slot < slots {
            while block.ends.get(ended).is_some_and(|end| (*end as usize) < slot) {
                ended += 1;
            }
            let next = block.ends.get(ended).map_or(slots, |end| *end as usize);
            let CellServer::Slotted(slotted) = &mut self.gates[gate].server else { return };
            if is_sampled
                && let Some(filled) = block.counts()[slot..next].iter().rposition(|cells| *cells > 0)
            {
                (slot, backlog) = slotted.count_slots(&block.counts()[..=slot + filled], slot, backlog);
                last = slot + backlog as usize;
            }
            (slot, backlog) = slotted.count_slots(&block.counts()[..next], slot, backlog);
            if slot < slots {
                backlog = self.pass_slot(gate, block, (slot, backlog), latest, gates);
                slot += 1;
                if is_sampled && block.counts()[slot - 1] > 0 {
                    last = slot + backlog as usize;
                }
            }
        }
        let CellGate { number, server, .. } = &mut self.gates[gate];
        if let CellServer::Slotted(slotted) = server {
            if is_sampled {
                note_block(slotted, block.counts(), last, &mut gates[*number]);
            }
            slotted.go_past(slots as u64, begin, backlog);
        }
        for (place, after) in &block.of_input {
            for piece in &mut block.pieces[*place as usize..*after as usize] {
                self.tell_passed(gate, piece, 0, latest);
            }
        }
        self.tell_counted(latest);
    }

    /// One slot of a block, where a packet ends or a cell finds no room: the backlog after it.
    fn pass_slot(
        &mut self,
        gate: usize,
        block: &mut Block,
        (slot, mut backlog): (usize, u64),
        latest: Time,
        gates: &mut [Gate],
    ) -> u64 {
        crate::work::step();
        let mut due = std::mem::take(&mut self.due);
        for input in 0..block.of_input.len() {
            if let Some(cell) = self.cell_in(gate, block, input, slot as u32, latest) {
                due.push((input as u32, cell));
            }
        }
        let CellServer::Slotted(slotted) = &self.gates[gate].server else { return 0 };
        let (number, limit) = (slotted.number + slot as u64, slotted.limit);
        slotted.shuffle(number, &mut due);
        let boundary = slotted.begin_after(slot as u64 + 1);
        for (input, cell) in due.drain(..) {
            let piece = &mut block.pieces[block.of_input[input as usize].0 as usize];
            let full = backlog > limit;
            if cell.ends && (full || piece.heard) {
                piece.ends = false;
                self.tell_passed(gate, piece, 1, latest);
                piece.cells = 0;
            } else if full {
                piece.cells -= 1;
            }
            if full {
                gates[self.gates[gate].number].refuse_cell(boundary);
                block.refuse(slot, 1);
                self.lose(gate, input as usize, cell, boundary, DropReason::QueueFull);
                if cell.ends {
                    block.hear(input as usize);
                }
                continue;
            }
            if cell.ends && piece.heard {
                let CellGate { server: CellServer::Slotted(server), delay, .. } = &self.gates[gate] else {
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
            CellServer::Slotted(server) => server.count_slot(backlog),
            _ => 0,
        }
    }

    /// The cell of an input in a slot, if it has one there.
    #[inline]
    fn cell_in(
        &mut self,
        gate: usize,
        block: &mut Block,
        input: usize,
        slot: u32,
        latest: Time,
    ) -> Option<Cell> {
        crate::work::step();
        let Block { pieces, of_input, .. } = block;
        let (place, after) = &mut of_input[input];
        while *place < *after && pieces[*place as usize].last < slot {
            self.tell_passed(gate, &mut pieces[*place as usize], 0, latest);
            *place += 1;
        }
        let piece = pieces.get(*place as usize).filter(|_| *place < *after)?;
        let Piece { frame, last, ends, tagged, .. } = *piece;
        piece.comes_in(slot).then_some(Cell {
            at: Time::NEVER,
            frame,
            begins: false,
            ends: ends && last == slot,
            tagged,
            own: 0,
        })
    }

    /// All of a piece but so many cells have passed; a packet that ends in it and is only counted has
    /// come by `latest`.
    #[inline]
    fn tell_passed(&mut self, gate: usize, piece: &mut Piece, but: u32, latest: Time) {
        crate::work::step();
        let cells = piece.cells - but.min(piece.cells);
        if cells == 0 {
            return;
        }
        piece.cells -= cells;
        let frame = &mut self.frames[piece.frame as usize];
        frame.arrived += cells;
        frame.left -= cells;
        let over = frame.left == 0;
        if piece.ends {
            self.count_frame(gate, piece.frame, latest);
        }
        if over {
            // All of it passed, or its last cell was lost before.
            self.settle_frame(piece.frame);
        }
    }
}
