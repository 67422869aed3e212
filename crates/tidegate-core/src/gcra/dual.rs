//! A contract of two limits, peak and sustained cell rate, with the cell loss priority bit.

use super::{Gcra, Limit};

/// What a policer does with a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It goes through as it is.
    Pass,
    /// It goes through with its loss priority set (CLP = 1): first to be dropped later.
    Tag,
    /// It does not go through.
    Discard,
}

/// Which cells the sustained rate counts, and what becomes of those above it (TM 4.0,
/// conformance definitions VBR.1 to VBR.3). The peak rate counts all cells and discards those above it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conformance {
    /// VBR.1: all cells, discarded.
    Vbr1,
    /// VBR.2: cells with CLP = 0, discarded.
    Vbr2,
    /// VBR.3: cells with CLP = 0, tagged.
    Vbr3,
}

/// A policer of peak and sustained rate. A unit that passes is counted by each limit that
/// applies to it; a tagged one by the peak rate only; a discarded one by none.
#[derive(Clone, Debug)]
pub struct Dual {
    peak: Gcra,
    sustained: Gcra,
    conformance: Conformance,
}

impl Dual {
    /// Both at rest.
    #[must_use]
    pub fn new(peak: Limit, sustained: Limit, conformance: Conformance) -> Dual {
        Dual { peak: Gcra::new(peak), sustained: Gcra::new(sustained), conformance }
    }

    /// The limit of the sustained rate.
    pub(crate) fn sustained(&self) -> &Gcra {
        &self.sustained
    }

    /// Judges a cell at `at`; `low_priority`: its CLP is 1.
    #[inline]
    pub fn police(&mut self, at: u64, low_priority: bool) -> Verdict {
        self.police_units(at, 1, low_priority)
    }

    /// Judges `units` at once (a packet's bytes).
    pub fn police_units(&mut self, at: u64, units: u64, low_priority: bool) -> Verdict {
        if self.peak.earliest(at, units) != Some(at) {
            return Verdict::Discard;
        }
        if low_priority && self.conformance != Conformance::Vbr1 {
            self.peak.count_units(at, units);
            return Verdict::Pass;
        }
        if self.sustained.earliest(at, units) == Some(at) {
            self.peak.count_units(at, units);
            self.sustained.count_units(at, units);
            return Verdict::Pass;
        }
        if self.conformance == Conformance::Vbr3 {
            self.peak.count_units(at, units);
            return Verdict::Tag;
        }
        Verdict::Discard
    }
}
