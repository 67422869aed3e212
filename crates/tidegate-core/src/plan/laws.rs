//! Parameters of rate laws: GCRA shapers, Markov chains, channels and the like.

use std::sync::Arc;

use crate::aal5::CELL_BITS;
use crate::gcra::{Limit, Release};
use crate::units::{PICOS_PER_SECOND, Rate, Span, Time};

/// A shaper by the generic cell rate algorithm (ITU-T I.371).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcraPlan {
    /// T, the time of a cell at the peak rate in picoseconds, and τ.
    pub limit: Limit,
    /// The link behind it, which a cell takes its time on.
    pub link: Rate,
    /// When a cell that comes too early leaves.
    pub release: Release,
}

impl GcraPlan {
    /// Cells' bits in a second, rounded down.
    #[must_use]
    pub fn bits_per_second(&self) -> u64 {
        self.limit.bits_per_second(CELL_BITS)
    }
}

/// A rate that is a function of a finite Markov chain.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkovPlan {
    /// Rate in each state.
    pub rates: Vec<Rate>,
    /// Mean time in each state.
    pub mean_holding: Vec<Span>,
    /// Where a state goes when it is left: row-stochastic, zero diagonal. `None`: a ring.
    pub transitions: Option<Vec<Vec<f64>>>,
    /// `Some(s)`: constant inside slots of s, left at a slot's end with probability
    /// s / mean holding. `None`: exponential holding times.
    pub step: Option<Span>,
    /// State at time 0; `None` draws it from the stationary distribution.
    pub initial: Option<usize>,
}

/// The mean rate is not computed for larger chains: it is not worth its time.
const MEAN_STATES: usize = 100;

impl MarkovPlan {
    /// The stationary mean in bit/s; `None` for a large matrix.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let visits = match &self.transitions {
            None => vec![1.0; self.rates.len()],
            Some(matrix) if matrix.len() <= MEAN_STATES => visits(matrix),
            Some(_) => return None,
        };
        let states = self.rates.iter().zip(&self.mean_holding).zip(visits);
        let (bits, time) = states.fold((0.0, 0.0), |(bits, time), ((rate, holding), often)| {
            let share = holding.as_secs_f64() * often;
            (bits + rate.bps() as f64 * share, time + share)
        });
        Some(bits / time)
    }
}

/// How often each state is entered, by stepping half of a chain that may be periodic.
fn visits(matrix: &[Vec<f64>]) -> Vec<f64> {
    let mut now = vec![1.0 / matrix.len() as f64; matrix.len()];
    for _ in 0..2000 {
        let mut next: Vec<f64> = now.iter().map(|often| often / 2.0).collect();
        for (often, row) in now.iter().zip(matrix) {
            for (entered, chance) in next.iter_mut().zip(row) {
                *entered += often * chance / 2.0;
            }
        }
        now = next;
    }
    now
}

/// A rate recorded over time.
#[derive(Clone, Debug, PartialEq)]
pub struct RateTrace {
    /// `(from, rate)`, strictly increasing, the first at 0.
    pub points: Vec<(Time, Rate)>,
    /// Length of the recording; later than the last point.
    pub period: Span,
}

impl RateTrace {
    /// `(from, to, bit/s)` in picoseconds, in order, up to the end of the recording.
    pub fn segments(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let ends = self.points.iter().skip(1).map(|(at, _)| at.picos()).chain([self.period.picos()]);
        self.points.iter().zip(ends).map(|((from, rate), to)| (from.picos(), to, rate.bps()))
    }

    /// What it offers in all, in bits times 10¹². Readers keep rates below 1 Pbit/s and recordings below
    /// 2⁶³ ps, so the sum stays below 2¹²⁸.
    #[must_use]
    pub fn bit_picos(&self) -> u128 {
        self.segments().map(|(from, to, bps)| u128::from(to - from) * u128::from(bps)).sum()
    }

    /// Mean rate in whole bit/s, rounded down.
    #[must_use]
    pub fn mean(&self) -> Rate {
        mean(self.bit_picos(), self.period)
    }
}

/// Delivery opportunities: at each instant so many bytes may leave.
#[derive(Clone, Debug, PartialEq)]
pub struct OpportunityTrace {
    /// Non-decreasing instants; repeats are several opportunities at once.
    pub at: Vec<Time>,
    /// The recording's length, its last instant.
    pub period: Span,
    /// Bytes of one opportunity: 1500, or 1504 as Mahimahi's code charges it.
    pub bytes: u32,
}

impl OpportunityTrace {
    /// What it offers in all, in bits times 10¹².
    #[must_use]
    pub fn bit_picos(&self) -> u128 {
        self.at.len() as u128 * u128::from(self.bytes) * 8 * u128::from(PICOS_PER_SECOND)
    }

    /// Mean rate in whole bit/s, rounded down.
    #[must_use]
    pub fn mean(&self) -> Rate {
        mean(self.bit_picos(), self.period)
    }

    /// The most opportunities in any stretch of time of this length.
    #[must_use]
    pub fn most_in(&self, stretch: Span) -> usize {
        let mut first = 0;
        let mut most = 0;
        for (last, at) in self.at.iter().enumerate() {
            while self.at[first].saturating_add(stretch) <= *at {
                first += 1;
            }
            most = most.max(last + 1 - first);
        }
        most
    }
}

/// What packets meet after a pause on a cellular link: trains that were recorded one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct LightTrace {
    /// At least two, at instants that never decrease; the last one only ends the recording.
    pub trains: Vec<TrainRow>,
}

/// A recorded train of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainRow {
    /// When it was sent.
    pub at: Time,
    /// The delay of its first packet.
    pub delay: Span,
    /// When its opportunities come, from its beginning; they never decrease. At least one, except in the last row.
    pub offsets: Vec<Span>,
}

impl LightTrace {
    /// The recording's length, the instant of its last row.
    #[must_use]
    pub fn period(&self) -> Span {
        self.trains.last().map_or(Span::ZERO, |last| last.at.saturating_since(Time::ZERO))
    }

    /// The row in force at `at`, and the base delay then: on the line from its own to the next row's, rounded down to a picosecond.
    /// Before the first row its delay holds. The recording repeats.
    #[must_use]
    pub fn at(&self, at: Time) -> (usize, Span) {
        let into = Time::from_picos(at.picos() % self.period().picos().max(1));
        let line = self.trains.partition_point(|row| row.at <= into).saturating_sub(1);
        let row = &self.trains[line];
        let Some(next) = self.trains.get(line + 1).filter(|next| row.at < next.at) else {
            return (line, row.delay);
        };
        let wide = |picos: u64| i128::from(picos);
        let (from, to) = (wide(row.delay.picos()), wide(next.delay.picos()));
        let (passed, of) = (into.saturating_since(row.at), next.at.saturating_since(row.at));
        let delay = from + ((to - from) * wide(passed.picos())).div_euclid(wide(of.picos()));
        (line, Span::from_picos(u64::try_from(delay).unwrap_or(0)))
    }

    /// The least base delay of a train.
    #[must_use]
    pub fn least_delay(&self) -> Span {
        let delays = self.trains.iter().map(|row| row.delay);
        delays.min_by_key(|delay| delay.picos()).unwrap_or(Span::ZERO)
    }
}

/// A cellular link that CellReplay recorded: what packets meet after a pause, and a trace of the saturated link.
#[derive(Clone, Debug, PartialEq)]
pub struct CellReplayPlan {
    /// The light stage.
    pub light: Arc<LightTrace>,
    /// The heavy stage. Opportunities of both stages have its bytes.
    pub heavy: Arc<OpportunityTrace>,
    /// A train goes on through a pause of this length.
    pub timer: Span,
}

fn mean(bit_picos: u128, period: Span) -> Rate {
    let bps = bit_picos / u128::from(period.picos().max(1));
    Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX))
}

/// What becomes of a unit in transmission when the rate changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnChange {
    /// It keeps the speed it started with.
    Keep,
    /// Its remaining bits go at the new speed.
    Rescale,
}

/// What a recording does after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// Begin again.
    Repeat,
    /// Nothing passes any more.
    Stop,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_stretch() {
        let at = [0, 1, 2, 10, 11].map(|millis| Time::ZERO.saturating_add(Span::from_millis(millis)));
        let trace = OpportunityTrace { at: at.to_vec(), period: Span::from_millis(11), bytes: 1500 };
        assert_eq!(trace.most_in(Span::from_millis(2)), 2);
        assert_eq!(trace.most_in(Span::from_millis(3)), 3);
    }
}
