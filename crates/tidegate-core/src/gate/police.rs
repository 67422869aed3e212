//! Policers before the queue: they take no time, and what does not conform is dropped, or
//! tagged as the first to be dropped later. A unit that does not conform leaves their state
//! alone.

use crate::gate::rate::Window;
use crate::gcra::{Conformance, Dual, Gcra, Interval, Verdict};
use crate::plan::PolicePlan;
use crate::units::Time;

/// A policer and what it counted inside the measured window.
///
/// Its **contract** is its only rate or, of two, the sustained one: that bucket is the one whose
/// level is told, and of whose rate a use is counted.
#[derive(Clone, Debug)]
pub struct Policer {
    kind: Kind,
    /// Bytes of a unit: a cell, or a byte.
    unit: u32,
    window: Window,
    /// Units in the contract's bucket when the window opened.
    at_opening: Option<f64>,
    /// Bytes on the wire that the contract counted.
    conforming: u64,
    /// Units tagged, by the stretch that they are on.
    tagged: Vec<u64>,
}

#[derive(Clone, Debug)]
enum Kind {
    One { gcra: Gcra, tags: bool },
    Two { dual: Dual, conformance: Conformance },
}

impl Policer {
    pub(super) fn new(plan: &PolicePlan, unit: u32, window: Window) -> Policer {
        let kind = match plan.sustained {
            None => Kind::One { gcra: Gcra::new(plan.peak), tags: plan.tags },
            Some((sustained, conformance)) => {
                Kind::Two { dual: Dual::new(plan.peak, sustained, conformance), conformance }
            }
        };
        Policer { kind, unit, window, at_opening: None, conforming: 0, tagged: Vec::new() }
    }

    /// Judges what comes at `at` on a stretch; `tagged`: its loss priority is set already.
    pub(super) fn judge(&mut self, at: Time, wire: u32, tagged: bool, chain: u32) -> Verdict {
        if self.at_opening.is_none() && at >= self.window.from {
            self.at_opening = Some(self.units_at(self.window.from));
        }
        let units = u64::from(wire / self.unit);
        let verdict = match &mut self.kind {
            Kind::Two { dual, .. } => dual.police_units(at.picos(), units, tagged),
            Kind::One { gcra, tags } => {
                if gcra.police_units(at.picos(), units) {
                    Verdict::Pass
                } else if *tags {
                    Verdict::Tag
                } else {
                    Verdict::Discard
                }
            }
        };
        if at >= self.window.from && at < self.window.until {
            self.count(verdict, wire, tagged, chain as usize);
        }
        verdict
    }

    fn count(&mut self, verdict: Verdict, wire: u32, tagged: bool, chain: usize) {
        match verdict {
            Verdict::Pass if self.counts(tagged) => self.conforming += u64::from(wire),
            Verdict::Tag if !tagged => {
                if self.tagged.len() <= chain {
                    self.tagged.resize(chain + 1, 0);
                }
                self.tagged[chain] += 1;
            }
            _ => {}
        }
    }

    /// Whether the contract counts what passes, tagged already or not.
    fn counts(&self, tagged: bool) -> bool {
        !tagged || !matches!(self.kind, Kind::Two { conformance: Conformance::Vbr2 | Conformance::Vbr3, .. })
    }

    fn contract(&self) -> &Gcra {
        match &self.kind {
            Kind::One { gcra, .. } => gcra,
            Kind::Two { dual, .. } => dual.sustained(),
        }
    }

    /// Units in the contract's bucket at `at`, not before the last that was counted.
    fn units_at(&self, at: Time) -> f64 {
        let contract = self.contract();
        contract.limit().level(contract.next_arrival(), at.picos())
    }

    /// The contract's TAT after the units so far.
    pub(super) fn state(&self) -> Interval {
        self.contract().next_arrival()
    }

    /// Whether its units are cells.
    #[must_use]
    pub fn in_cells(&self) -> bool {
        self.unit > 1
    }

    /// Whether what is above the contract goes on, tagged.
    #[must_use]
    pub fn tags(&self) -> bool {
        matches!(self.kind, Kind::One { tags: true, .. } | Kind::Two { conformance: Conformance::Vbr3, .. })
    }

    /// The contract's rate, bits on the gate's wire per second, rounded down.
    #[must_use]
    pub fn contract_bps(&self) -> u64 {
        self.contract().limit().bits_per_second(u64::from(self.unit) * 8)
    }

    /// Bytes on the wire that the contract counted inside the window.
    #[must_use]
    pub fn conforming_bytes(&self) -> u64 {
        self.conforming
    }

    /// The most bytes on the wire that the contract could count inside the window: what was in the
    /// bucket when it opened, and the rate times its length.
    #[must_use]
    pub fn allowed_bytes(&self) -> f64 {
        let Window { from, until } = self.window;
        let units = self.at_opening.unwrap_or_else(|| self.units_at(from));
        let limit = self.contract().limit();
        let more = limit.units_in(until.saturating_since(from).picos());
        (units + more) * f64::from(self.unit)
    }

    /// Units that it tagged inside the window; those that came tagged do not count.
    #[must_use]
    pub fn tagged(&self) -> u64 {
        self.tagged.iter().sum()
    }

    /// Of these, units on one stretch of a route ([`crate::unit::Unit::chain`]).
    #[must_use]
    pub fn tagged_of(&self, chain: usize) -> u64 {
        self.tagged.get(chain).copied().unwrap_or(0)
    }
}
