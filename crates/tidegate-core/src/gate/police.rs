//! Policers before the queue: they take no time, and what does not conform is dropped, or
//! tagged as the first to be dropped later. A unit that does not conform leaves their state
//! alone.

use crate::gcra::{Dual, Gcra, Verdict};
use crate::plan::PolicePlan;
use crate::units::Time;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Policer {
    kind: Kind,
    /// A packet counts as its bytes on the wire, not as one unit.
    by_bytes: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    One { gcra: Gcra, tags: bool },
    Two(Dual),
}

impl Policer {
    pub(super) fn new(plan: &PolicePlan, by_bytes: bool) -> Policer {
        let kind = match plan.sustained {
            None => Kind::One { gcra: Gcra::new(plan.peak), tags: plan.tags },
            Some((sustained, conformance)) => Kind::Two(Dual::new(plan.peak, sustained, conformance)),
        };
        Policer { kind, by_bytes }
    }

    /// Whether it judges packets; otherwise cells.
    pub(super) fn by_bytes(&self) -> bool {
        self.by_bytes
    }

    /// Judges what comes at `at`; `tagged`: its loss priority is set already.
    pub(super) fn judge(&mut self, at: Time, wire: u32, tagged: bool) -> Verdict {
        let units = if self.by_bytes { u64::from(wire) } else { 1 };
        match &mut self.kind {
            Kind::Two(dual) => dual.police_units(at.picos(), units, tagged),
            Kind::One { gcra, tags } => {
                if gcra.police_units(at.picos(), units) {
                    Verdict::Pass
                } else if *tags {
                    Verdict::Tag
                } else {
                    Verdict::Discard
                }
            }
        }
    }
}
