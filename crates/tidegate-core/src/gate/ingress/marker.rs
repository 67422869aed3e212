//! Three-colour markers (RFC 2697, RFC 2698) before the queue. A marker takes no time.
//!
//! Tokens are whole bytes of IP packets, as in the RFCs: by an instant t since the start, floor(rate × t) of them have
//! come, exactly.

use crate::gate::statistics::Count;
use crate::plan::{ColourAction, MarkerPlan, MeterPlan};
use crate::unit::Colour;
use crate::units::{Measured, PICOS_PER_SECOND, Rate, Time};

/// A marker and what it counted inside the measured time.
#[derive(Clone, Debug)]
pub struct Marker {
    plan: MarkerPlan,
    meter: Meter,
    measured: Measured,
    /// Units and their IP bytes, by the colour that it gave them.
    coloured: [Count; 3],
}

/// With what a packet goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marking {
    pub(super) colour: Colour,
    /// A codepoint of DiffServ that it gets; `None`: it keeps its own.
    pub(super) codepoint: Option<u8>,
}

/// The tokens of a marker.
#[derive(Clone, Debug)]
enum Meter {
    /// Committed and excess bucket (RFC 2697 §3).
    SingleRate { source: TokenSource, committed: Bucket, excess: Bucket },
    /// Committed and peak bucket (RFC 2698 §3).
    TwoRate { sources: [TokenSource; 2], committed: Bucket, peak: Bucket },
}

/// Where tokens come from: how many have come so far.
#[derive(Clone, Copy, Debug)]
struct TokenSource {
    rate: Rate,
    come: u64,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: u64,
    size: u64,
}

impl TokenSource {
    fn new(rate: Rate) -> TokenSource {
        TokenSource { rate, come: 0 }
    }

    /// The tokens that have come since the last time, until `at`.
    fn take(&mut self, at: Time) -> u64 {
        let bits = u128::from(at.picos()) * u128::from(self.rate.bps()) / u128::from(PICOS_PER_SECOND);
        let come = u64::try_from(bits / 8).unwrap_or(u64::MAX);
        come - std::mem::replace(&mut self.come, come).min(come)
    }
}

impl Bucket {
    /// A full one.
    fn new(size: u64) -> Bucket {
        Bucket { tokens: size, size }
    }

    /// Takes tokens in, and returns those that it has no room for.
    fn fill(&mut self, tokens: u64) -> u64 {
        let taken = tokens.min(self.size - self.tokens);
        self.tokens += taken;
        tokens - taken
    }

    fn has(&self, bytes: u64) -> bool {
        self.tokens >= bytes
    }
}

impl Meter {
    fn new(plan: MeterPlan) -> Meter {
        match plan {
            MeterPlan::SingleRate { cir, cbs, ebs } => Meter::SingleRate {
                source: TokenSource::new(cir),
                committed: Bucket::new(cbs),
                excess: Bucket::new(ebs),
            },
            MeterPlan::TwoRate { cir, cbs, pir, pbs } => Meter::TwoRate {
                sources: [cir, pir].map(TokenSource::new),
                committed: Bucket::new(cbs),
                peak: Bucket::new(pbs),
            },
        }
    }

    /// The colour of a packet of so many bytes that comes at `at` as `came`; where colours do not count, that is green.
    fn colour(&mut self, at: Time, bytes: u64, came: Colour) -> Colour {
        match self {
            Meter::SingleRate { source, committed, excess } => {
                // RFC 2697 §3: first Tc, then Te.
                let rest = committed.fill(source.take(at));
                excess.fill(rest);
                if came == Colour::Green && committed.has(bytes) {
                    committed.tokens -= bytes;
                    return Colour::Green;
                }
                if came != Colour::Red && excess.has(bytes) {
                    excess.tokens -= bytes;
                    return Colour::Yellow;
                }
                Colour::Red
            }
            Meter::TwoRate { sources: [committed_source, peak_source], committed, peak } => {
                committed.fill(committed_source.take(at));
                peak.fill(peak_source.take(at));
                // RFC 2698 §3.
                if came == Colour::Red || !peak.has(bytes) {
                    return Colour::Red;
                }
                peak.tokens -= bytes;
                if came == Colour::Yellow || !committed.has(bytes) {
                    return Colour::Yellow;
                }
                committed.tokens -= bytes;
                Colour::Green
            }
        }
    }
}

impl Marker {
    pub(super) fn new(plan: MarkerPlan, measured: Measured) -> Marker {
        Marker { plan, meter: Meter::new(plan.meter), measured, coloured: Default::default() }
    }

    /// Measures a packet of so many IP bytes that arrives at `at` with the colour `came`: what it goes on with;
    /// `None`: it is dropped.
    pub(super) fn judge(&mut self, at: Time, bytes: u32, came: Colour) -> Option<Marking> {
        let counts = if self.plan.colour_aware { came } else { Colour::Green };
        let colour = self.meter.colour(at, u64::from(bytes), counts);
        if self.measured.holds(at) {
            self.coloured[colour as usize].add(u64::from(bytes));
        }
        match self.plan.actions[colour as usize] {
            ColourAction::Remark => {
                Some(Marking { colour, codepoint: self.plan.codepoints[colour as usize] })
            }
            ColourAction::Pass => Some(Marking { colour: came, codepoint: None }),
            ColourAction::Drop => None,
        }
    }

    /// Units, and IP bytes of them, to which it gave a colour inside the measured time, whatever became of them.
    #[must_use]
    pub fn coloured(&self, colour: Colour) -> Count {
        self.coloured[colour as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;
    use Colour::{Green, Red, Yellow};

    const MEASURED: Measured = Measured { from: Time::from_picos(1_000_000_000), until: Time::NEVER };
    const REMARK: [ColourAction; 3] = [ColourAction::Remark; 3];

    fn micros(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn mbps(mbps: u64) -> Rate {
        Rate::from_bps(mbps * 1_000_000)
    }

    /// A byte each microsecond; 1000 committed and 2000 in excess.
    fn single(colour_aware: bool) -> Marker {
        let meter = MeterPlan::SingleRate { cir: mbps(8), cbs: 1000, ebs: 2000 };
        Marker::new(MarkerPlan { meter, colour_aware, actions: REMARK, codepoints: [None; 3] }, MEASURED)
    }

    /// A byte each microsecond, 1000 at most, and two, 3000 at most.
    fn two(colour_aware: bool) -> Marker {
        let meter = MeterPlan::TwoRate { cir: mbps(8), cbs: 1000, pir: mbps(16), pbs: 3000 };
        Marker::new(MarkerPlan { meter, colour_aware, actions: REMARK, codepoints: [None; 3] }, MEASURED)
    }

    /// The colours of packets: when they come in microseconds, their bytes, the colour that they come with.
    fn colours(marker: &mut Marker, packets: &[(u64, u32, Colour)]) -> Vec<Colour> {
        let judge = |(at, bytes, came): &(u64, u32, Colour)| {
            marker.judge(micros(*at), *bytes, *came).expect("remarked").colour
        };
        packets.iter().map(judge).collect()
    }

    /// RFC 2697 §3 by hand, colour-blind. Tokens (Tc, Te) are 1000, 2000 at first.
    #[test]
    fn one_rate_colour_blind() {
        let mut marker = single(false);
        let seen = colours(
            &mut marker,
            &[
                // 400, 2000; then 400 is too few for 600: 400, 1400; 400, 800; 400, 200; and neither has 600.
                (0, 600, Green),
                (0, 600, Red),
                (0, 600, Green),
                (0, 600, Green),
                (0, 600, Green),
                // 400 are enough for 400: 0, 200.
                (0, 400, Yellow),
                // 999 tokens have come to C: 999, 200. A thousand is one too many.
                (999, 1000, Green),
                (1000, 1000, Green),
                // C fills first, and only then E: 1000, 200 at 2000 us, and 1000, 800 at 2600.
                (2600, 801, Green),
                (2600, 801, Green),
                // 199 left, 800: E has it.
                (2600, 800, Green),
                (2600, 200, Green),
                (2600, 199, Green),
            ],
        );
        let expected =
            [Green, Yellow, Yellow, Yellow, Red, Green, Red, Green, Green, Red, Yellow, Red, Green];
        assert_eq!(seen, expected);
        let counted = [Green, Yellow, Red].map(|colour| marker.coloured(colour));
        assert_eq!(counted.map(|count| count.packets), [3, 1, 2], "from 1 ms on");
        assert_eq!(counted.map(|count| count.bytes), [2000, 800, 1001]);
    }

    /// Colour-aware: yellow packets take from E only, red ones nothing.
    #[test]
    fn one_rate_colour_aware() {
        let packets = [
            (0, 600, Yellow),
            (0, 600, Red),
            (0, 600, Green),
            (0, 1400, Yellow),
            (0, 1, Yellow),
            (0, 400, Green),
        ];
        let seen = colours(&mut single(true), &packets);
        // C: 1000, 1000, 400, 400, 400, 0. E: 1400, 1400, 1400, 0, 0, 0.
        assert_eq!(seen, [Yellow, Red, Green, Yellow, Red, Green]);
        // The same blind: 1000, 400, 400, 400, 399, 399 in C and 2000, 1400, 800, 800, 800, 400 in E.
        let blind = colours(&mut single(false), &packets);
        assert_eq!(blind, [Green, Yellow, Yellow, Red, Green, Yellow]);
    }

    /// RFC 2698 §3 by hand, colour-blind. Tokens (Tc, Tp) are 1000, 3000 at first.
    #[test]
    fn two_rates_colour_blind() {
        let mut marker = two(false);
        let seen = colours(
            &mut marker,
            &[
                // 0, 2000; 0, 1000; 0, 0; and nothing is left.
                (0, 1000, Green),
                (0, 1000, Red),
                (0, 1000, Green),
                (0, 1, Green),
                // 500, 1000: too few committed for 501, and the peak has 499 left; then 500 are too many for the peak.
                (500, 501, Green),
                (500, 500, Green),
                (500, 499, Yellow),
                // 1, 0 at 500 us; 1000, 2000 at 1500, where C is full; 1000, 3000 at 9 ms.
                (1500, 1000, Green),
                (9000, 3001, Green),
                (9000, 3000, Green),
            ],
        );
        assert_eq!(seen, [Green, Yellow, Yellow, Red, Yellow, Red, Green, Green, Red, Yellow]);
    }

    /// Colour-aware: what comes yellow takes from P only, what comes red nothing.
    #[test]
    fn two_rates_colour_aware() {
        let packets = [(0, 1000, Yellow), (0, 1000, Red), (0, 1000, Green), (0, 1000, Green), (0, 1, Yellow)];
        // C: 1000, 1000, 0, 0, 0. P: 2000, 2000, 1000, 0, 0.
        assert_eq!(colours(&mut two(true), &packets), [Yellow, Red, Green, Yellow, Red]);
    }

    /// 3 bit/s: a byte comes each 8/3 s, at 2.66…, 5.33… and 8 s, whatever was asked between.
    #[test]
    fn tokens_come_one_by_one() {
        let mut source = TokenSource::new(Rate::from_bps(3));
        let second = PICOS_PER_SECOND;
        let asked =
            [2 * second, 2_666_666_666_666, 2_666_666_666_667, 5 * second, 8 * second - 1, 8 * second];
        let come = asked.map(|at| source.take(Time::from_picos(at)));
        assert_eq!(come, [0, 0, 1, 0, 1, 1]);
        assert_eq!(source.take(Time::NEVER), 3 * (u64::MAX / second) / 8 - 3);
    }

    /// What passes keeps the colour and the codepoint that it came with; what is dropped counts with its colour.
    #[test]
    fn actions_by_colour() {
        let meter = MeterPlan::TwoRate { cir: mbps(8), cbs: 1000, pir: mbps(16), pbs: 2000 };
        let actions = [ColourAction::Remark, ColourAction::Pass, ColourAction::Drop];
        let codepoints = [Some(10), Some(12), Some(14)];
        let mut marker =
            Marker::new(MarkerPlan { meter, colour_aware: false, actions, codepoints }, MEASURED);
        let at = micros(1000);
        let seen = [Yellow, Red, Green].map(|came| marker.judge(at, 1000, came));
        let remarked = Marking { colour: Green, codepoint: Some(10) };
        assert_eq!(seen, [Some(remarked), Some(Marking { colour: Red, codepoint: None }), None]);
        assert_eq!([Green, Yellow, Red].map(|colour| marker.coloured(colour).packets), [1, 1, 1]);
    }
}
