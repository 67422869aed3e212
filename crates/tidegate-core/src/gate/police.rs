//! Policers before the queue: they take no time, and what does not conform is dropped, or
//! tagged as the first to be dropped later. A unit that does not conform leaves their state
//! alone.

use crate::gcra::{Dual, Gcra, Limit, Verdict};
use crate::plan::{LimitPlan, PolicePlan, Tolerance};
use crate::units::{Rate, Time};

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
    /// # Panics
    /// On limits that no plan has.
    pub(super) fn new(plan: &PolicePlan, by_bytes: bool) -> Policer {
        let peak = limit(&plan.peak);
        let kind = match &plan.sustained {
            None => Kind::One { gcra: Gcra::new(peak), tags: plan.tags },
            Some((sustained, conformance)) => Kind::Two(Dual::new(peak, limit(sustained), *conformance)),
        };
        Policer { kind, by_bytes }
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

fn limit(plan: &LimitPlan) -> Limit {
    let rate = Rate::from_bps(plan.interval.speed);
    let increment = crate::gcra::Interval::at_rate(plan.interval.work, rate);
    let increment = increment.expect("a plan's increment can be counted");
    let limit = match plan.tolerance {
        Tolerance::Time(span) => Limit::new(increment, span.picos()),
        Tolerance::Burst(units) => Limit::tokens(increment, units),
    };
    limit.expect("a plan's limit lets something through")
}
