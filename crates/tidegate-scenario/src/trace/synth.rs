//! A synthetic cellular link, so that a fresh clone has a realistic one without any download.
//!
//! # The model
//!
//! Time runs in steps of Δ (1 ms, LTE's scheduling interval). In step i the rate is
//!
//! ```text
//! R_i = c · U_i · exp(S_i + F_i)
//! S_{i+1} = a_S · S_i + σ_S · sqrt(1 − a_S²) · N(0,1),   a_S = exp(−Δ/τ_S)    shadowing
//! F_{i+1} = a_F · F_i + σ_F · sqrt(1 − a_F²) · N(0,1),   a_F = exp(−Δ/τ_F)    fading
//! ```
//!
//! - S and F are Ornstein–Uhlenbeck processes sampled at the steps, begun in their
//!   stationary state: what the terrain does over seconds, and what multipath and other
//!   users do within tenths of a second.
//! - U is the share of the step outside outages. Links work for exponential times and are
//!   out for Pareto times, cut at a longest: `min(L₀ · V^(−1/α), L₁)` with V uniform on (0, 1].
//!   The mean working time follows from the outage share p: E\[out\] · (1 − p)/p.
//! - c makes the mean of this very recording the mean that was asked for (to a bit/s per step).
//!
//! Opportunities are a Poisson process of intensity `R / (8 · bytes)`, by time change: the
//! accumulated intensity is cut at unit-exponential distances, and each cut is an
//! opportunity at the next whole millisecond. The last one is moved to the end, where a
//! Mahimahi file must have one.
//!
//! [`Cellular::default`] and the constants below are chosen so that the statistics lie among
//! those of three measured LTE links; `docs/design/cellular-model.md` has the comparison and
//! what the model leaves out.
//!
//! Each of S, F, outages and opportunities has its own random stream, so changing one
//! parameter leaves the others' luck alone. exp, pow and sqrt come from libm's Rust
//! version, so the same seed gives the same bytes on every platform, as far as floating-point
//! sums in one order do.

use rand::RngExt;
use rand_distr::{Distribution, Exp1, StandardNormal};
use tidegate_core::plan::{OpportunityTrace, RateTrace};
use tidegate_core::random::{Seed, Stream};
use tidegate_core::units::{FASTEST, PICOS_PER_MILLISECOND, PICOS_PER_SECOND, Rate, Span, Time};

use super::{MOST_ENTRIES, OPPORTUNITY_BYTES};

/// σ_S: standard deviation of the log rate over seconds.
pub const SHADOWING: f64 = 0.65;
/// τ_S: how long shadowing remembers, in seconds.
pub const SHADOWING_TIME: f64 = 5.0;
/// σ_F: standard deviation of the log rate within tenths of a second.
pub const FADING: f64 = 0.34;
/// τ_F: how long fading remembers, in seconds.
pub const FADING_TIME: f64 = 0.15;
/// L₀: the shortest outage in seconds.
pub const OUTAGE_SHORTEST: f64 = 0.04;
/// L₁: the longest outage in seconds.
pub const OUTAGE_LONGEST: f64 = 3.0;
/// α: the tail of outages; smaller is heavier.
pub const OUTAGE_TAIL: f64 = 1.1;

/// The parameters of a synthetic cellular link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cellular {
    /// Mean rate of the recording.
    pub mean: Rate,
    /// Length of the recording; rounded up to whole steps.
    pub duration: Span,
    /// Δ: the rate is constant inside a step; whole milliseconds.
    pub step: Span,
    /// Multiplies σ_S and σ_F: 0 is a constant rate between outages, 1 a moving phone.
    pub variability: f64,
    /// p: the share of time without any service.
    pub outage_share: f64,
    /// Bytes of each opportunity.
    pub opportunity_bytes: u32,
}

impl Default for Cellular {
    fn default() -> Cellular {
        Cellular {
            mean: Rate::from_bps(5_000_000),
            duration: Span::from_secs(120),
            step: Span::from_millis(1),
            variability: 1.0,
            outage_share: 0.05,
            opportunity_bytes: OPPORTUNITY_BYTES,
        }
    }
}

/// Why no link can be made from the parameters.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SynthError {
    /// The mean rate is out of range.
    #[error("the mean rate is {0}; it must be above 0 and at most 1 Pbit/s")]
    Mean(Rate),
    /// The recording has not even one step.
    #[error("the duration is {duration}, less than a step of {step}; choose a longer duration")]
    Duration {
        /// Length of the recording.
        duration: Span,
        /// The rate is constant so long.
        step: Span,
    },
    /// Steps are whole milliseconds.
    #[error("the step is {0}; it must be a whole number of milliseconds, at least 1 ms")]
    Step(Span),
    /// The log rate's deviation cannot be scaled so.
    #[error(
        "the variability is {0}; it must be between 0 (a constant rate) and 4; measured links have about 1"
    )]
    Variability(f64),
    /// The outage share is out of range.
    #[error("the outage share is {0}; it must be between 0 and 0.9")]
    OutageShare(f64),
    /// Opportunities of no bytes.
    #[error("an opportunity must have at least 1 byte")]
    OpportunityBytes,
    /// Too long or too fast.
    #[error("this makes {0:.0} entries, more than 50 million; choose a shorter duration or a longer step")]
    TooMany(f64),
    /// Outages or rounding leave nothing.
    #[error("nothing would be delivered; choose a higher mean rate or a longer duration")]
    Nothing,
}

impl Cellular {
    /// The link as rates, one per step.
    ///
    /// # Errors
    /// Parameters out of range.
    pub fn rates(&self, seed: Seed) -> Result<RateTrace, SynthError> {
        let steps = self.check()?;
        let mut open = self.open_shares(steps, &mut seed.stream("trace.cellular/outages"));
        let seconds = self.step.as_secs_f64();
        let mut shadowing = Fluctuation::new(
            SHADOWING * self.variability,
            SHADOWING_TIME / seconds,
            seed.stream("trace.cellular/shadowing"),
        );
        let mut fading = Fluctuation::new(
            FADING * self.variability,
            FADING_TIME / seconds,
            seed.stream("trace.cellular/fading"),
        );
        for share in &mut open {
            *share *= libm::exp(shadowing.next() + fading.next());
        }
        let scale = self.mean.bps() as f64 * steps as f64 / open.iter().sum::<f64>();
        if !scale.is_finite() {
            return Err(SynthError::Nothing);
        }
        let at = |index: usize| Time::ZERO + self.step.saturating_mul(index as u64);
        let rate = |weight: f64| Rate::from_bps((weight * scale) as u64).min(FASTEST);
        let points = open.iter().enumerate().map(|(index, &weight)| (at(index), rate(weight))).collect();
        Ok(RateTrace { points, period: self.step.saturating_mul(steps as u64) })
    }

    /// The link as delivery opportunities.
    ///
    /// # Errors
    /// Parameters out of range.
    pub fn opportunities(&self, seed: Seed) -> Result<OpportunityTrace, SynthError> {
        let rates = self.rates(seed)?;
        let expected = self.mean.bps() as f64 * rates.period.as_secs_f64() / self.bits();
        if expected > f64::from(MOST_ENTRIES) {
            return Err(SynthError::TooMany(expected));
        }
        let mut stream = seed.stream("trace.cellular/opportunities");
        let mut at = Vec::new();
        let mut due: f64 = Exp1.sample(&mut stream);
        for (from, to, bps) in rates.segments() {
            let seconds = (to - from) as f64 / PICOS_PER_SECOND as f64;
            let work = bps as f64 * seconds / self.bits();
            while due < work {
                let after = ((to - from) as f64 * (due / work)) as u64;
                let millis = (from + after) / PICOS_PER_MILLISECOND + 1;
                at.push(Time::from_picos((millis * PICOS_PER_MILLISECOND).min(to)));
                let gap: f64 = Exp1.sample(&mut stream);
                due += gap;
            }
            due -= work;
        }
        let last = at.last_mut().ok_or(SynthError::Nothing)?;
        *last = Time::ZERO + rates.period;
        Ok(OpportunityTrace { at, period: rates.period, bytes: self.opportunity_bytes })
    }

    /// Bits of one opportunity.
    fn bits(&self) -> f64 {
        f64::from(self.opportunity_bytes) * 8.0
    }

    /// Checks the parameters; the number of steps.
    fn check(&self) -> Result<usize, SynthError> {
        if self.mean == Rate::ZERO || self.mean > FASTEST {
            return Err(SynthError::Mean(self.mean));
        }
        if self.step == Span::ZERO || !self.step.picos().is_multiple_of(PICOS_PER_MILLISECOND) {
            return Err(SynthError::Step(self.step));
        }
        if self.duration < self.step {
            return Err(SynthError::Duration { duration: self.duration, step: self.step });
        }
        if !(0.0..=4.0).contains(&self.variability) {
            return Err(SynthError::Variability(self.variability));
        }
        if !(0.0..=0.9).contains(&self.outage_share) {
            return Err(SynthError::OutageShare(self.outage_share));
        }
        if self.opportunity_bytes == 0 {
            return Err(SynthError::OpportunityBytes);
        }
        let steps = self.duration.picos().div_ceil(self.step.picos());
        if steps as f64 > f64::from(MOST_ENTRIES) {
            return Err(SynthError::TooMany(steps as f64));
        }
        if u128::from(steps) * u128::from(self.step.picos()) > u128::from(u64::MAX / 2) {
            return Err(SynthError::Step(self.step));
        }
        Ok(steps as usize)
    }

    /// U: the share of each step that lies outside outages.
    fn open_shares(&self, steps: usize, stream: &mut Stream) -> Vec<f64> {
        let mut open = vec![1.0; steps];
        if self.outage_share == 0.0 {
            return open;
        }
        let step = self.step.as_secs_f64();
        let end = steps as f64 * step;
        let working = mean_outage() * (1.0 - self.outage_share) / self.outage_share;
        let mut now = 0.0;
        loop {
            let works: f64 = Exp1.sample(stream);
            let from = now + works * working;
            if from >= end {
                return open;
            }
            let uniform = 1.0 - stream.random::<f64>();
            let length = OUTAGE_SHORTEST * libm::pow(uniform, -1.0 / OUTAGE_TAIL);
            now = from + length.min(OUTAGE_LONGEST);
            let (first, last) = ((from / step) as usize, ((now / step) as usize).min(steps - 1));
            for (index, share) in open.iter_mut().enumerate().take(last + 1).skip(first) {
                let begins = index as f64 * step;
                let out = now.min(begins + step) - from.max(begins);
                *share = (*share - (out / step).max(0.0)).max(0.0);
            }
        }
    }
}

/// E\[out\]: L₀ · (1 + (1 − (L₁/L₀)^(1−α)) / (α − 1)).
fn mean_outage() -> f64 {
    let tail = libm::pow(OUTAGE_LONGEST / OUTAGE_SHORTEST, 1.0 - OUTAGE_TAIL);
    OUTAGE_SHORTEST * (1.0 + (1.0 - tail) / (OUTAGE_TAIL - 1.0))
}

/// An Ornstein–Uhlenbeck process at whole steps.
#[derive(Debug)]
struct Fluctuation {
    value: f64,
    keep: f64,
    kick: f64,
    stream: Stream,
}

impl Fluctuation {
    /// Standard deviation `sigma`, memory of `steps`.
    fn new(sigma: f64, steps: f64, mut stream: Stream) -> Fluctuation {
        let keep = libm::exp(-1.0 / steps);
        let first: f64 = StandardNormal.sample(&mut stream);
        Fluctuation { value: sigma * first, keep, kick: sigma * libm::sqrt(1.0 - keep * keep), stream }
    }

    /// The value now; then moves one step on.
    fn next(&mut self) -> f64 {
        let normal: f64 = StandardNormal.sample(&mut self.stream);
        let next = self.keep * self.value + self.kick * normal;
        std::mem::replace(&mut self.value, next)
    }
}
