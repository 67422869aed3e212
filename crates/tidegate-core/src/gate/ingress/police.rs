//! Policers before the queue. A policer takes no time. It drops a unit that does not conform to its contract, or tags
//! it, so that a later queue drops it before others. A unit that does not conform does not change the policer's state.

use crate::gcra::{Conformance, Dual, Gcra, Interval, Limit, Verdict};
use crate::plan::PolicePlan;
use crate::units::{Measured, Time};

/// A policer and what it counted inside the measured time.
///
/// Its **contract** is its only rate or, of two, the sustained one. Tables and summaries show the level of that bucket
/// and how much of that rate was used.
#[derive(Clone, Debug)]
pub struct Policer {
    kind: PolicerKind,
    /// The contract of each flow, beside that of all together.
    flows: Option<Flows>,
    /// Bytes of a unit: a cell, or a byte.
    unit: u32,
    measured: Measured,
    /// Units in the contract's bucket when the measured time began.
    at_opening: Option<f64>,
    /// Bytes on the wire that the contract counted.
    conforming: u64,
    /// Units tagged, by the stretch that they were on.
    tagged: Vec<u64>,
}

/// A limit for each flow.
#[derive(Clone, Debug)]
struct Flows {
    limit: Limit,
    /// By the stretch that a flow's units are on.
    flows: Vec<Gcra>,
}

impl Flows {
    fn of(&mut self, stretch: u32) -> &mut Gcra {
        let place = stretch as usize;
        if self.flows.len() <= place {
            self.flows.resize(place + 1, Gcra::new(self.limit));
        }
        &mut self.flows[place]
    }
}

#[derive(Clone, Debug)]
enum PolicerKind {
    One { gcra: Gcra, tags: bool },
    Two { dual: Dual, conformance: Conformance },
}

impl PolicerKind {
    /// Whether it tags what exceeds the contract.
    fn tags(&self) -> bool {
        matches!(
            self,
            PolicerKind::One { tags: true, .. } | PolicerKind::Two { conformance: Conformance::Vbr3, .. }
        )
    }
}

impl Policer {
    pub(super) fn new(plan: &PolicePlan, unit: u32, measured: Measured) -> Policer {
        let kind = match plan.sustained {
            None => PolicerKind::One { gcra: Gcra::new(plan.peak), tags: plan.tags },
            Some((sustained, conformance)) => {
                PolicerKind::Two { dual: Dual::new(plan.peak, sustained, conformance), conformance }
            }
        };
        let flows = plan.per_flow.map(|limit| Flows { limit, flows: Vec::new() });
        Policer { kind, flows, unit, measured, at_opening: None, conforming: 0, tagged: Vec::new() }
    }

    /// Judges a unit that arrives at `at` on `stretch`; `tagged` says whether it is tagged already.
    pub(super) fn judge(&mut self, at: Time, wire: u32, tagged: bool, stretch: u32) -> Verdict {
        if self.at_opening.is_none() && at >= self.measured.from {
            self.at_opening = Some(self.units_at(self.measured.from));
        }
        let units = u64::from(wire / self.unit);
        let own = self.flows.as_mut().map(|flows| flows.of(stretch));
        let exceeds = if self.kind.tags() { Verdict::Tag } else { Verdict::Discard };
        let is_above = |limit: &&mut Gcra| limit.earliest(at.picos(), units) != Some(at.picos());
        let verdict = match &mut self.kind {
            // What its own limit does not let pass takes nothing of the shared one.
            _ if own.as_ref().is_some_and(is_above) => exceeds,
            PolicerKind::Two { dual, .. } => dual.police_units(at.picos(), units, tagged),
            PolicerKind::One { gcra, .. } => {
                if gcra.police_units(at.picos(), units) {
                    Verdict::Pass
                } else {
                    exceeds
                }
            }
        };
        if let (Some(own), Verdict::Pass) = (own, verdict) {
            own.count_units(at.picos(), units);
        }
        if self.measured.holds(at) {
            self.count(verdict, wire, tagged, stretch as usize);
        }
        verdict
    }

    fn count(&mut self, verdict: Verdict, wire: u32, tagged: bool, stretch: usize) {
        match verdict {
            Verdict::Pass if self.counts(tagged) => self.conforming += u64::from(wire),
            Verdict::Tag if !tagged => {
                if self.tagged.len() <= stretch {
                    self.tagged.resize(stretch + 1, 0);
                }
                self.tagged[stretch] += 1;
            }
            _ => {}
        }
    }

    /// Whether the contract counts a unit that passes and is `tagged` already, or is not.
    fn counts(&self, tagged: bool) -> bool {
        !tagged
            || !matches!(
                self.kind,
                PolicerKind::Two { conformance: Conformance::Vbr2 | Conformance::Vbr3, .. }
            )
    }

    fn contract(&self) -> &Gcra {
        match &self.kind {
            PolicerKind::One { gcra, .. } => gcra,
            PolicerKind::Two { dual, .. } => dual.sustained(),
        }
    }

    /// Units in the contract's bucket at `at`, which is not before the last arrival.
    fn units_at(&self, at: Time) -> f64 {
        let contract = self.contract();
        contract.limit().level(contract.next_arrival(), at.picos())
    }

    /// The theoretical arrival time of the contract after the units so far.
    pub(super) fn state(&self) -> Interval {
        self.contract().next_arrival()
    }

    /// Whether its units are cells.
    #[must_use]
    pub fn in_cells(&self) -> bool {
        self.unit > 1
    }

    /// Whether it tags units that exceed the contract, instead of dropping them.
    #[must_use]
    pub fn tags(&self) -> bool {
        self.kind.tags()
    }

    /// The contract's rate, bits on the gate's wire per second, rounded down.
    #[must_use]
    pub fn contract_bps(&self) -> u64 {
        self.contract().limit().bits_per_second(u64::from(self.unit) * 8)
    }

    /// Bytes on the wire that the contract counted inside the measured time.
    #[must_use]
    pub fn conforming_bytes(&self) -> u64 {
        self.conforming
    }

    /// The most bytes on the wire that the contract could count inside the measured time: what was in the
    /// bucket when that time began, and the rate times its length.
    #[must_use]
    pub fn allowed_bytes(&self) -> f64 {
        let Measured { from, until } = self.measured;
        let units = self.at_opening.unwrap_or_else(|| self.units_at(from));
        let limit = self.contract().limit();
        let more = limit.units_in(until.saturating_since(from).picos());
        (units + more) * f64::from(self.unit)
    }

    /// Units that it tagged inside the measured time; those that arrived tagged do not count.
    #[must_use]
    pub fn tagged(&self) -> u64 {
        self.tagged.iter().sum()
    }

    /// Of these, units on one stretch of a route ([`crate::unit::Unit::stretch`]).
    #[must_use]
    pub fn tagged_of(&self, stretch: usize) -> u64 {
        self.tagged.get(stretch).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gcra::Limit;
    use crate::units::{Rate, Span};

    const MEASURED: Measured =
        Measured { from: Time::from_picos(1_000_000_000), until: Time::from_picos(11_000_000_000) };

    fn micros(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// One byte each microsecond, and so many at once.
    fn bytes(burst: u64) -> Limit {
        Limit::tokens(Interval::at_rate(8, Rate::from_bps(8_000_000)).expect("a rate"), burst)
            .expect("a burst")
    }

    fn policer(sustained: Option<(Limit, Conformance)>, tags: bool) -> Policer {
        // The peak rate, where there are two, stops nothing here.
        let peak = bytes(if sustained.is_some() { 1_000_000 } else { 2000 });
        Policer::new(&PolicePlan { peak, sustained, tags, per_flow: None }, 1, MEASURED)
    }

    #[test]
    fn what_conforms_counts_inside_the_window() {
        let mut police = policer(None, false);
        assert_eq!(police.judge(Time::ZERO, 2000, false, 0), Verdict::Pass);
        assert_eq!(police.judge(micros(500), 2000, false, 0), Verdict::Discard);
        assert_eq!(police.conforming_bytes(), 0);
        // 1000 bytes have come back when the measured time begins; its first instant is inside.
        assert_eq!(police.judge(micros(1000), 1001, false, 0), Verdict::Discard);
        assert_eq!(police.judge(micros(1000), 600, false, 0), Verdict::Pass);
        assert_eq!(police.judge(micros(1000), 400, true, 0), Verdict::Pass);
        assert_eq!(police.judge(micros(10_999), 1500, false, 0), Verdict::Pass);
        assert_eq!(police.conforming_bytes(), 2500);
        // The end is outside.
        assert_eq!(police.judge(micros(11_000), 100, false, 0), Verdict::Pass);
        assert_eq!(police.conforming_bytes(), 2500);
        assert_eq!(police.allowed_bytes(), 1000.0 + 10_000.0);
        assert_eq!((police.contract_bps(), police.in_cells(), police.tags()), (8_000_000, false, false));
        assert_eq!((police.tagged(), police.tagged_of(0)), (0, 0));
    }

    #[test]
    fn nothing_came_so_the_bucket_was_full() {
        assert_eq!(policer(None, false).allowed_bytes(), 2000.0 + 10_000.0);
    }

    #[test]
    fn units_that_it_tags_are_counted_by_stretch() {
        let mut police = policer(None, true);
        assert!(police.tags());
        assert_eq!(police.judge(Time::ZERO, 2001, false, 3), Verdict::Tag);
        assert_eq!(police.tagged(), 0, "before the measured");
        assert_eq!(police.judge(micros(1000), 2000, false, 0), Verdict::Pass);
        for (stretch, tagged) in [(3, false), (1, false), (3, false), (3, true)] {
            assert_eq!(police.judge(micros(1000), 500, tagged, stretch), Verdict::Tag);
        }
        assert_eq!(police.tagged(), 3);
        assert_eq!([0, 1, 2, 3, 4].map(|stretch| police.tagged_of(stretch)), [0, 1, 0, 2, 0]);
        assert_eq!(police.conforming_bytes(), 2000);
        // Another byte comes back each microsecond.
        assert_eq!(police.judge(micros(1001), 1, false, 0), Verdict::Pass);
    }

    /// Of two rates the sustained one is the contract; only VBR.1 counts what comes tagged, only VBR.3 tags.
    #[test]
    fn of_two_rates_the_sustained_one_is_the_contract() {
        let half = Interval::at_rate(8, Rate::from_bps(4_000_000)).expect("a rate");
        let sustained = Limit::tokens(half, 1000).expect("a burst");
        for (conformance, counted, above) in [
            (Conformance::Vbr1, 1000, Verdict::Discard),
            (Conformance::Vbr2, 600, Verdict::Discard),
            (Conformance::Vbr3, 600, Verdict::Tag),
        ] {
            let mut police = policer(Some((sustained, conformance)), false);
            assert_eq!(police.judge(micros(1000), 600, false, 0), Verdict::Pass);
            assert_eq!(police.judge(micros(1000), 400, true, 0), Verdict::Pass);
            assert_eq!(police.conforming_bytes(), counted, "{conformance:?}");
            assert_eq!(police.judge(micros(1000), 401, false, 0), above);
            assert_eq!(police.tags(), above == Verdict::Tag);
            assert_eq!(police.tagged(), u64::from(above == Verdict::Tag));
            assert_eq!(police.contract_bps(), 4_000_000);
            assert_eq!(police.allowed_bytes(), 1000.0 + 5000.0);
        }
    }

    /// Two flows with 1000 bytes each, a byte each microsecond, inside a contract of 1500 bytes and the same rate. What one
    /// limit refuses costs nothing at the other.
    #[test]
    fn each_flow_has_a_limit_inside_the_contract() {
        let plan =
            PolicePlan { peak: bytes(1500), sustained: None, tags: false, per_flow: Some(bytes(1000)) };
        let mut police = Policer::new(&plan, 1, MEASURED);
        let mut judge =
            |at: u64, units: u32, flow: u32| police.judge(micros(at), units, false, flow) == Verdict::Pass;
        // Flow 3: 1000 of its own, 1500 shared. 400 are left and 900; 401 are too many of its own.
        assert!(judge(1000, 600, 3) && !judge(1000, 401, 3));
        // Flow 0 finds the 900; 100 of its own are left. 0 shared now: the 400 of flow 3 are of no use.
        assert!(judge(1000, 900, 0) && !judge(1000, 1, 3));
        // 100 us later: 500 own and 100 shared; that refusal at 1000 us cost nothing.
        assert!(!judge(1100, 101, 3) && judge(1100, 100, 3));
        // 400 us later: 400 shared, 800 and 600 own.
        assert!(!judge(1500, 401, 0) && judge(1500, 400, 0));
        // Long after, all is full: each its own, together 1500.
        assert!(!judge(9000, 1001, 0) && judge(9000, 1000, 0) && !judge(9000, 501, 3) && judge(9000, 500, 3));
        assert_eq!(police.conforming_bytes(), 600 + 900 + 100 + 400 + 1000 + 500);
    }

    /// Where the contract tags, what exceeds a flow's own limit is tagged too.
    #[test]
    fn what_exceeds_a_flow_s_own_limit_is_tagged() {
        let plan = PolicePlan { peak: bytes(1500), sustained: None, tags: true, per_flow: Some(bytes(1000)) };
        let mut police = Policer::new(&plan, 1, MEASURED);
        assert_eq!(police.judge(micros(1000), 1001, false, 0), Verdict::Tag);
        assert_eq!(police.judge(micros(1000), 1000, false, 0), Verdict::Pass);
        assert_eq!(police.judge(micros(1000), 501, false, 1), Verdict::Tag);
        assert_eq!(police.judge(micros(1000), 500, false, 1), Verdict::Pass);
        assert_eq!((police.tagged(), police.conforming_bytes()), (2, 1500));
    }

    #[test]
    fn units_of_cell_gates_are_cells() {
        // A cell each 10 µs, four at once.
        let increment = Interval::at_rate(424, Rate::from_bps(42_400_000)).expect("a rate");
        let peak = Limit::tokens(increment, 4).expect("a burst");
        let mut police =
            Policer::new(&PolicePlan { peak, sustained: None, tags: false, per_flow: None }, 53, MEASURED);
        let verdicts = [(); 5].map(|()| police.judge(micros(1000), 53, false, 0));
        assert_eq!(verdicts.map(|verdict| verdict == Verdict::Pass), [true, true, true, true, false]);
        assert!(police.in_cells());
        assert_eq!(police.conforming_bytes(), 4 * 53);
        assert_eq!(police.contract_bps(), 42_400_000);
        assert_eq!(police.allowed_bytes(), (4.0 + 1000.0) * 53.0);
        // The next cell is due four intervals later.
        assert_eq!(police.state().whole(), 1_040_000_000);
    }
}
