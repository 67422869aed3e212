//! Adaptive video: what a player may ask for, and by which rule it chooses.

use std::sync::Arc;

use super::{PythonClass, Share};
use crate::units::{PICOS_PER_SECOND, Rate, Span};

/// A video and its player.
#[derive(Clone, Debug, PartialEq)]
pub struct VideoPlan {
    /// Bitrates, rising; at least one.
    pub ladder: Vec<Rate>,
    /// Media time of a segment.
    pub segment: Span,
    /// How many segments there are.
    pub segments: u64,
    /// User bytes of each segment: a row of as many as there are bitrates for each, and again from the first. `None`: bitrate times
    /// time.
    pub sizes: Option<Arc<[Vec<u64>]>>,
    /// Most media time in the buffer: a segment is asked for when it fits.
    pub buffer: Span,
    /// Playback begins with so much media time in the buffer.
    pub join: Span,
    /// It goes on with so much after the buffer was empty.
    pub resume: Span,
    /// How many segments may be asked for and not there yet, at least one.
    pub outstanding: u64,
    /// How a bitrate is chosen.
    pub rule: VideoRule,
    /// No bitrate is chosen above this share of the advice in force ([`crate::advice`]), but the lowest; `None`: advice is ignored.
    pub advice: Option<Share>,
    /// What the viewer minds.
    pub qoe: QoePlan,
}

/// How a player chooses the next segment's bitrate.
#[derive(Clone, Debug, PartialEq)]
pub enum VideoRule {
    /// Always the same, by its place in the ladder.
    Fixed(usize),
    /// The highest that is not above `safety` times the harmonic mean of the last `samples` throughputs.
    Throughput {
        /// Factor, above 0.
        safety: f64,
        /// How many segments the mean is of.
        samples: usize,
    },
    /// BBA-0 of Huang and others (SIGCOMM 2014): a linear map of the buffer, with hysteresis.
    Bba {
        /// Below this the lowest.
        reservoir: Span,
        /// So much above it the highest.
        cushion: Span,
    },
    /// BOLA of Spiteri, Urgaonkar and Sitaraman (INFOCOM 2016), with logarithmic utilities.
    Bola {
        /// γ p: how much an empty buffer weighs beside the utility.
        gamma_p: f64,
    },
    /// Model predictive control of Yin and others (SIGCOMM 2015): the best of all choices for the next segments.
    Mpc {
        /// Segments looked ahead, at least one.
        horizon: usize,
        /// How many segments the predicted throughput's harmonic mean is of.
        samples: usize,
        /// The prediction is divided by one plus its largest error in the last `samples` segments.
        robust: bool,
    },
    /// One that a user wrote, outside this program.
    Python(&'static PythonClass),
}

/// The linear quality of experience of Yin and others (SIGCOMM 2015), equation 5, per video:
/// the sum of bitrates in Mbit/s, less `switch` times the sum of their changes, `stall` for each second without video, and `join` for
/// each second before the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QoePlan {
    /// For each Mbit/s of change (λ).
    pub switch: f64,
    /// For each second of rebuffering, in Mbit/s (μ).
    pub stall: f64,
    /// For each second until playback begins, in Mbit/s (μ_s).
    pub join: f64,
}

impl VideoPlan {
    /// User bytes of segment `number` at the bitrate at place `rung`.
    #[must_use]
    pub fn bytes(&self, number: u64, rung: usize) -> u64 {
        if let Some(sizes) = &self.sizes
            && let Some(row) = sizes.get((number % sizes.len().max(1) as u64) as usize)
        {
            return row.get(rung).copied().unwrap_or(1).max(1);
        }
        let bits = u128::from(self.ladder[rung].bps()) * u128::from(self.segment.picos());
        (bits / (8 * u128::from(PICOS_PER_SECOND))).max(1) as u64
    }
}
