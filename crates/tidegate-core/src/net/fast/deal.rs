//! Deals units out over parts (a counting sort): the time grows with the number of units and with that of parts.

use crate::unit::Unit;
use crate::units::Time;

/// Puts `units` into `dealt`: those of the first part come first, and those of one part keep their order. `part` says which part a unit
/// belongs to, less than `parts`. `counts` is room for a number for each part.
#[inline(always)]
pub(super) fn deal(
    units: &[(Time, Unit)],
    (parts, part): (usize, impl Fn(&(Time, Unit)) -> usize),
    counts: &mut Vec<u32>,
    dealt: &mut Vec<(Time, Unit)>,
) {
    let Some(any) = units.first() else { return dealt.clear() };
    counts.clear();
    counts.resize(parts, 0);
    // Every place is written below.
    dealt.resize(units.len(), *any);
    let (counts, places) = (counts.as_mut_slice(), dealt.as_mut_slice());
    for unit in units {
        counts[part(unit)] += 1;
    }
    let mut before = 0;
    for count in counts.iter_mut() {
        (before, *count) = (before + *count, before);
    }
    for unit in units {
        let place = &mut counts[part(unit)];
        places[*place as usize] = *unit;
        *place += 1;
    }
}
