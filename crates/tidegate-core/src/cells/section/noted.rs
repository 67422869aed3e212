//! Rows of a multiplexer whose slots are passed block by block.
//!
//! A block ends before the next row is due, and the slots around that instant are passed one by one. Of a block's cells a row shows those
//! that are still there: they are noted together, slot by slot of their arrival. Of the others it shows the bytes, and how long the last
//! of all waited. It takes three fifths of the instructions off a recorded switch (`examples/shaped.toml`).

use super::{Observed, Section};
use crate::cells::slotted::Slotted;
use crate::gate::Gate;
use crate::units::{Span, Time};

/// Where slots are passed one by one: those that end after one instant, and not after another.
pub(super) struct Pause {
    pub(super) before: Time,
    pub(super) after: Time,
}

impl Section {
    /// The next pause of a gate that has come to a slot which begins at `begin`: from the first slot whose cells are still coming, as a
    /// fluid, when the row is due, to that in which it is. Writes the rows before.
    pub(super) fn next_pause(&self, gate: usize, begin: Time, slot: Span, gates: &mut [Gate]) -> Pause {
        let row = &self.gates[gate];
        if row.observed != Observed::Sampled {
            return Pause { before: Time::NEVER, after: Time::ZERO };
        }
        let due = gates[row.number].record_until(begin);
        let longest = row.spreads.iter().max().copied().unwrap_or(Span::ZERO);
        let before = Time::from_picos(due.picos().saturating_sub(longest.picos()));
        Pause { before, after: due.saturating_add(slot).saturating_add(Span::from_picos(1)) }
    }
}

/// Notes the cells of a block that begins with the present slot, for each slot how many have come and found room. The last of them
/// starts `last` slots after the present one.
pub(super) fn note_block(slotted: &Slotted, cells: &[u8], last: usize, gate: &mut Gate) {
    let all: u64 = cells.iter().map(|count| u64::from(*count)).sum();
    // At least the last one, so that its wait is known.
    let mut left = ((last + 1).saturating_sub(cells.len()) as u64).max(1).min(all);
    gate.record_gone(all - left);
    let mut start = slotted.number + last as u64 + 1 - left;
    let (mut first, mut rest) = (cells.len(), left);
    while rest > 0 {
        crate::work::step();
        first -= 1;
        rest = rest.saturating_sub(u64::from(cells[first]));
    }
    // Of the first of these slots only the last cells are left.
    let mut gone = cells[first..].iter().map(|count| u64::from(*count)).sum::<u64>() - left;
    for (slot, count) in (first..).zip(&cells[first..]) {
        let together = (u64::from(*count) - std::mem::take(&mut gone)).min(left);
        if together > 0 {
            let came = slotted.number + slot as u64;
            gate.record_cells(Span::ZERO, &slotted.together(came, start, together));
            (start, left) = (start + together, left - together);
        }
    }
}
