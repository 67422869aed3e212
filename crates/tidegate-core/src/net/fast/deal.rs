//! Deals units out over parts, in time that grows with their number alone (a counting sort).

use crate::unit::Unit;
use crate::units::Time;

/// Puts `units` into `dealt`, those of the first part first, each part's in their order. `counts` is room for a number for each part.
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
