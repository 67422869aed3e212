//! Time gates (IEEE 802.1Q 8.6.8.4): when a class may begin to send, in a schedule that repeats.

use std::sync::Arc;

use crate::plan::OpeningsPlan;
use crate::units::{Span, Time};

/// When one class may send.
#[derive(Clone, Debug)]
pub(super) struct Openings {
    plan: Arc<OpeningsPlan>,
    /// Picoseconds of a cycle in which it is open.
    open: u64,
}

impl Openings {
    pub(super) fn new(plan: Arc<OpeningsPlan>) -> Openings {
        let open = plan.openings.iter().map(|(from, to)| to.picos() - from.picos()).sum();
        Openings { plan, open }
    }

    /// The longest time that it is open at once.
    pub(super) fn longest(&self) -> Span {
        self.plan.longest()
    }

    /// The first instant from `at` on at which it is open and stays so for `span`: what would not end before the gate
    /// closes is not begun. `span` is not above [`Openings::longest`].
    pub(super) fn next_fit(&self, at: Time, span: Span) -> Time {
        let (begin, place) = self.cycle(at);
        for cycle in 0..3_u64 {
            let begin = begin + i128::from(cycle) * i128::from(self.plan.cycle.picos());
            for (from, to) in &self.plan.openings {
                let (from, to) = (begin + i128::from(from.picos()), begin + i128::from(to.picos()));
                let start = from.max(place);
                if start + i128::from(span.picos()) <= to {
                    return instant(start);
                }
            }
        }
        Time::NEVER
    }

    /// Picoseconds from `from` to `to` in which it is open.
    pub(super) fn open_between(&self, from: Time, to: Time) -> u64 {
        (self.open_until(to) - self.open_until(from)) as u64
    }

    /// The first instant from `at` on by which it has been open for so many picoseconds more.
    pub(super) fn after_open(&self, at: Time, picos: u64) -> Time {
        if self.open == 0 {
            return Time::NEVER;
        }
        if picos == 0 {
            return at;
        }
        let target = self.open_until(at) + i128::from(picos);
        // As many whole cycles as may be left out; one opening reaches into the next cycle at most.
        let offset = i128::from(self.plan.offset.picos());
        let mut cycle = (target - 1).div_euclid(i128::from(self.open)) - 1;
        loop {
            let begin = offset + cycle * i128::from(self.plan.cycle.picos());
            let mut before = cycle * i128::from(self.open);
            for (from, to) in &self.plan.openings {
                let length = i128::from(to.picos() - from.picos());
                if before < target && target <= before + length {
                    return instant(begin + i128::from(from.picos()) + (target - before));
                }
                before += length;
            }
            cycle += 1;
        }
    }

    /// Picoseconds in which it is open before `at`, from the first opening of cycle 0 on; less than zero before that.
    fn open_until(&self, at: Time) -> i128 {
        let (begin, place) = self.cycle(at);
        let length = i128::from(self.plan.cycle.picos());
        let number = (begin - i128::from(self.plan.offset.picos())).div_euclid(length);
        let mut open = number * i128::from(self.open);
        for (from, to) in &self.plan.openings {
            let (from, to) = (begin + i128::from(from.picos()), begin + i128::from(to.picos()));
            open += (place.min(to) - from).max(0);
        }
        open
    }

    /// When the cycle began whose openings may hold `at`, and `at` itself, in picoseconds.
    fn cycle(&self, at: Time) -> (i128, i128) {
        let (cycle, offset) = (i128::from(self.plan.cycle.picos()), i128::from(self.plan.offset.picos()));
        let place = i128::from(at.picos());
        let mut begin = offset + (place - offset).div_euclid(cycle) * cycle;
        // The last opening of the cycle before may not be over.
        if let Some((_, last)) = self.plan.openings.last()
            && place < begin - cycle + i128::from(last.picos())
        {
            begin -= cycle;
        }
        (begin, place)
    }
}

fn instant(picos: i128) -> Time {
    u64::try_from(picos).map_or(if picos < 0 { Time::ZERO } else { Time::NEVER }, Time::from_picos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn openings(cycle: u64, offset: u64, openings: &[(u64, u64)]) -> Openings {
        let span = Span::from_picos;
        let openings = openings.iter().map(|(from, to)| (span(*from), span(*to))).collect();
        Openings::new(Arc::new(OpeningsPlan { cycle: span(cycle), offset: span(offset), openings }))
    }

    fn fit(openings: &Openings, at: u64, span: u64) -> u64 {
        openings.next_fit(Time::from_picos(at), Span::from_picos(span)).picos()
    }

    /// Open from 20 to 30 and from 90 to 110 of every 100: what does not fit waits for the next opening.
    #[test]
    fn what_would_not_end_in_time_is_not_begun() {
        let gate = openings(100, 0, &[(20, 30), (90, 110)]);
        assert_eq!(fit(&gate, 0, 5), 0, "the opening of the cycle before ends at 10");
        assert_eq!(fit(&gate, 0, 10), 0);
        assert_eq!(fit(&gate, 1, 10), 20);
        assert_eq!(fit(&gate, 20, 10), 20);
        assert_eq!(fit(&gate, 21, 10), 90, "guard band");
        assert_eq!(fit(&gate, 21, 9), 21);
        assert_eq!(fit(&gate, 95, 15), 95);
        assert_eq!(fit(&gate, 96, 15), 190);
        assert_eq!(fit(&gate, 0, 20), 90);
        assert_eq!(gate.longest(), Span::from_picos(20));
        assert_eq!(fit(&openings(100, 30, &[(0, 10)]), 0, 10), 30);
        assert_eq!(fit(&openings(100, 30, &[(0, 10)]), 31, 10), 130);
        assert_eq!(fit(&openings(100, 30, &[(60, 80)]), 0, 10), 0, "from -10 to 10");
    }

    /// The two functions of open time are each other's inverse, counted instant by instant.
    #[test]
    fn open_time_is_counted() {
        for gate in [
            openings(100, 0, &[(20, 30), (90, 110)]),
            openings(100, 37, &[(0, 10), (50, 70)]),
            openings(7, 3, &[(1, 2)]),
        ] {
            let is_open = |at: u64| fit(&gate, at, 1) == at;
            for from in [0, 5, 10, 29, 36, 90, 99, 100, 137] {
                let mut open = 0;
                for to in from..from + 250 {
                    let (start, end) = (Time::from_picos(from), Time::from_picos(to));
                    assert_eq!(gate.open_between(start, end), open, "{from} to {to}");
                    if is_open(to) {
                        open += 1;
                        assert_eq!(gate.after_open(start, open), Time::from_picos(to + 1), "{from}: {open}");
                    }
                }
            }
        }
    }
}
