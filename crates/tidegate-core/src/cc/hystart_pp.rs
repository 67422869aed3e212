//! `HyStart++` (RFC 9406): slow start goes over into a conservative slow start where round trips grow, and from there into
//! congestion avoidance unless they shrink again.

use super::MeasuredTrip;
use crate::plan::{SlowStart, TcpPlan};
use crate::units::Span;

/// RFC 9406 §4.3: `MIN_RTT_THRESH` and `MAX_RTT_THRESH`.
const THRESHOLDS: (Span, Span) = (Span::from_millis(4), Span::from_millis(16));
/// `MIN_RTT_DIVISOR`.
const DIVISOR: u64 = 8;
/// `N_RTT_SAMPLE`.
const SAMPLES: u32 = 8;
/// `CSS_GROWTH_DIVISOR`.
const GROWTH_DIVISOR: u64 = 4;
/// `CSS_ROUNDS`.
const ROUNDS: u32 = 5;
/// L of senders that do not pace: an ACK counts for so many segments at most.
const LIMIT: u64 = 8;

/// The first slow start of a connection. RFC 9406 §4.3: only the first.
#[derive(Debug)]
pub(super) struct HyStartPp {
    /// windowEnd: the round is over when this is acknowledged.
    end: u64,
    /// lastRoundMinRTT, currentRoundMinRTT and rttSampleCount.
    last: Option<Span>,
    least: Option<Span>,
    samples: u32,
    conservative: Option<Conservative>,
    /// Bytes of an ACK that count at most.
    most: u64,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// cssBaselineMinRtt.
    baseline: Span,
    /// Rounds that have begun.
    rounds: u32,
}

impl HyStartPp {
    /// `None`: the plan asks for another slow start.
    pub(super) fn new(plan: &TcpPlan) -> Option<Box<HyStartPp>> {
        let most = if plan.rules.paces { u64::MAX } else { LIMIT * u64::from(plan.mss) };
        // Who does not account for ACKs measures no round trips in time.
        let wanted = plan.rules.slow_start == SlowStart::HyStartPlusPlus && plan.accounts();
        wanted.then(|| {
            Box::new(HyStartPp { end: 0, last: None, least: None, samples: 0, conservative: None, most })
        })
    }

    /// Whether slow start is over: RFC 9406 §4.2, what is done with each sample of the round trip.
    pub(super) fn ends(&mut self, measured: &MeasuredTrip) -> bool {
        if measured.una > self.end && self.begin_round(measured.max) {
            return true;
        }
        self.least = Some(self.least.map_or(measured.rtt, |least| least.min(measured.rtt)));
        self.samples += 1;
        let (Some(least), true) = (self.least, self.samples >= SAMPLES) else { return false };
        if let Some(conservative) = self.conservative {
            if least < conservative.baseline {
                // The growth of the round trip was jitter.
                self.conservative = None;
            }
        } else if let Some(last) = self.last {
            let eighth = Span::from_picos(last.picos() / DIVISOR);
            if least >= last + eighth.max(THRESHOLDS.0).min(THRESHOLDS.1) {
                self.conservative = Some(Conservative { baseline: least, rounds: 1 });
            }
        }
        false
    }

    /// A round begins; whether conservative slow start has lasted long enough.
    fn begin_round(&mut self, max: u64) -> bool {
        self.end = max;
        self.last = self.least.take().or(self.last);
        self.samples = 0;
        if let Some(conservative) = &mut self.conservative {
            conservative.rounds += 1;
            return conservative.rounds > ROUNDS;
        }
        false
    }

    /// By how many bytes the window grows when so many are acknowledged.
    pub(super) fn growth(&self, bytes: u64) -> u64 {
        let counted = bytes.min(self.most);
        if self.conservative.is_some() { counted / GROWTH_DIVISOR } else { counted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::TcpRules;
    use crate::tcp::plain_plan;
    use crate::units::Time;

    fn plan(paces: bool) -> TcpPlan {
        let rules = TcpRules { slow_start: SlowStart::HyStartPlusPlus, paces, ..TcpRules::RFC };
        TcpPlan { mss: 1000, rules, sack: true, ..plain_plan() }
    }

    /// `samples` round trips of `ms` in a round that begins now; whether slow start is over.
    fn round(hystart: &mut HyStartPp, number: u64, samples: u32, ms: u64) -> bool {
        let measured = MeasuredTrip {
            at: Time::ZERO,
            rtt: Span::from_millis(ms),
            smoothed_rtt: Span::from_millis(ms),
            una: 1000 * number + 1,
            max: 1000 * (number + 1),
            reduced: None,
        };
        (0..samples).fold(false, |over, _| hystart.ends(&measured) || over)
    }

    #[test]
    fn a_round_trip_grown_by_an_eighth_slows_the_growth() {
        let mut hystart = HyStartPp::new(&plan(false)).expect("asked for");
        assert_eq!((hystart.growth(3000), hystart.growth(20_000)), (3000, 8000));
        assert!(!round(&mut hystart, 0, 8, 80));
        // An eighth of 80 ms is 10 ms.
        assert!(!round(&mut hystart, 1, 8, 89));
        assert_eq!(hystart.growth(4000), 4000);
        // Seven samples are not enough.
        assert!(!round(&mut hystart, 2, 7, 101));
        assert_eq!(hystart.growth(4000), 4000);
        assert!(!round(&mut hystart, 2, 1, 101));
        assert_eq!((hystart.growth(4000), hystart.growth(20_000)), (1000, 2000));
    }

    #[test]
    fn the_threshold_lies_between_4_and_16_ms() {
        for (first, second, slows) in [(8, 11, false), (8, 12, true), (400, 415, false), (400, 416, true)] {
            let mut hystart = HyStartPp::new(&plan(false)).expect("asked for");
            round(&mut hystart, 0, 8, first);
            round(&mut hystart, 1, 8, second);
            assert_eq!(hystart.growth(4000), if slows { 1000 } else { 4000 }, "{first} {second}");
        }
    }

    #[test]
    fn five_rounds_of_conservative_slow_start_end_it() {
        let mut hystart = HyStartPp::new(&plan(false)).expect("asked for");
        round(&mut hystart, 0, 8, 40);
        // The round in which it begins is the first.
        round(&mut hystart, 1, 8, 50);
        for number in 2..6 {
            assert!(!round(&mut hystart, number, 8, 50), "round {number}");
        }
        assert!(round(&mut hystart, 6, 1, 50));
    }

    #[test]
    fn a_shorter_round_trip_resumes_slow_start() {
        let mut hystart = HyStartPp::new(&plan(false)).expect("asked for");
        round(&mut hystart, 0, 8, 40);
        round(&mut hystart, 1, 8, 50);
        assert_eq!(hystart.growth(4000), 1000);
        round(&mut hystart, 2, 8, 49);
        assert_eq!(hystart.growth(4000), 4000);
        // And again: the round before is what counts.
        round(&mut hystart, 3, 8, 60);
        assert_eq!(hystart.growth(4000), 1000);
    }

    #[test]
    fn who_paces_counts_all() {
        let hystart = HyStartPp::new(&plan(true)).expect("asked for");
        assert_eq!(hystart.growth(100_000), 100_000);
        assert!(HyStartPp::new(&plain_plan()).is_none());
    }
}
