//! The rules by which a player chooses a bitrate.

use std::collections::VecDeque;

use super::Player;
use super::own::{self, Choice};
use crate::plan::{VideoPlan, VideoRule};
use crate::units::Span;

/// What a player has seen of its downloads, as far as its rule asks.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Throughputs of the last segments, bit/s, the newest last.
    samples: VecDeque<f64>,
    /// Relative errors of the predictions that were made for them.
    errors: VecDeque<f64>,
    /// What was predicted for the segment that comes next.
    predicted: Option<f64>,
    /// User bytes of the newest segment, and how long it took.
    newest: Option<(u64, Span)>,
}

impl Seen {
    /// A segment came: so many user bytes in so long. The newest `keep` samples are kept.
    pub(super) fn note(&mut self, bytes: u64, took: Span, keep: usize) {
        // (A download takes at least a picosecond.)
        let bps = 8.0 * bytes as f64 / (took.picos().max(1) as f64 * 1e-12);
        if let Some(predicted) = self.predicted.take() {
            push(&mut self.errors, (predicted - bps).abs() / bps, keep);
        }
        push(&mut self.samples, bps, keep);
        self.newest = Some((bytes, took));
    }

    /// The harmonic mean of the throughputs, bit/s; `None`: nothing has come.
    pub(super) fn harmonic_mean(&self) -> Option<f64> {
        let sum: f64 = self.samples.iter().map(|bps| 1.0 / bps).sum();
        (!self.samples.is_empty()).then(|| self.samples.len() as f64 / sum)
    }

    /// The largest relative error of the predictions.
    fn largest_error(&self) -> f64 {
        self.errors.iter().copied().fold(0.0, f64::max)
    }
}

fn push(values: &mut VecDeque<f64>, value: f64, keep: usize) {
    values.push_back(value);
    while values.len() > keep.max(1) {
        values.pop_front();
    }
}

impl VideoRule {
    /// How many samples of throughput the rule looks at.
    pub(super) fn samples(&self) -> usize {
        match self {
            VideoRule::Throughput { samples, .. } | VideoRule::Mpc { samples, .. } => *samples,
            VideoRule::Fixed(_) | VideoRule::Bba { .. } | VideoRule::Bola { .. } | VideoRule::Python(_) => 1,
        }
    }
}

impl Player {
    /// The place in the ladder of the next segment's bitrate.
    pub(super) fn choose(&mut self) -> usize {
        let buffered = self.buffered.as_secs_f64();
        let last = self.pending.back().or(self.log.last()).map(|download| download.rung);
        match self.plan.rule {
            VideoRule::Fixed(rung) => rung.min(self.plan.ladder.len() - 1),
            VideoRule::Throughput { safety, .. } => {
                self.seen.harmonic_mean().map_or(0, |mean| highest(&self.plan, safety * mean))
            }
            VideoRule::Bba { reservoir, cushion } => {
                bba(&self.plan, buffered, (reservoir.as_secs_f64(), cushion.as_secs_f64()), last.unwrap_or(0))
            }
            VideoRule::Bola { gamma_p } => bola(&self.plan, self.next, buffered, gamma_p),
            VideoRule::Mpc { horizon, robust, .. } => {
                let Some(mean) = self.seen.harmonic_mean() else { return 0 };
                self.seen.predicted = Some(mean);
                let expected = if robust { mean / (1.0 + self.seen.largest_error()) } else { mean };
                super::mpc::choose(&self.plan, self.next, horizon, buffered, last, expected)
            }
            VideoRule::Python(own) => {
                let choice = Choice {
                    number: self.next,
                    at: self.at,
                    buffered: self.buffered,
                    last,
                    bytes: (0..self.plan.ladder.len()).map(|rung| self.plan.bytes(self.next, rung)).collect(),
                    came: self.seen.newest,
                    advice: self.heard.in_force(self.at).rate(),
                };
                let rule = self.own.get_or_insert_with(|| own::make(own, &self.plan));
                rule.choose(&choice).min(self.plan.ladder.len() - 1)
            }
        }
    }
}

/// The highest bitrate that is not above `bps`; the lowest where all are.
fn highest(plan: &VideoPlan, bps: f64) -> usize {
    plan.ladder.iter().rposition(|rate| rate.bps() as f64 <= bps).unwrap_or(0)
}

/// BBA-0, Algorithm 1 of Huang and others (SIGCOMM 2014).
fn bba(plan: &VideoPlan, buffered: f64, (reservoir, cushion): (f64, f64), last: usize) -> usize {
    let top = plan.ladder.len() - 1;
    if buffered <= reservoir {
        return 0;
    }
    if buffered >= reservoir + cushion {
        return top;
    }
    let rate = |rung: usize| plan.ladder[rung].bps() as f64;
    let mapped = rate(0) + (buffered - reservoir) / cushion * (rate(top) - rate(0));
    let (above, below) = ((last + 1).min(top), last.saturating_sub(1));
    if mapped >= rate(above) {
        (0..=top).rev().find(|rung| rate(*rung) < mapped).unwrap_or(0)
    } else if mapped <= rate(below) {
        (0..=top).find(|rung| rate(*rung) > mapped).unwrap_or(top)
    } else {
        last
    }
}

/// BOLA-BASIC: the bitrate with the largest (V (υ + γp) − Q) / S of Spiteri and others (INFOCOM 2016), equation 10. Buffer and sizes are
/// counted in segments; V lets the highest bitrate be asked for with room for one more segment.
fn bola(plan: &VideoPlan, number: u64, buffered: f64, gamma_p: f64) -> usize {
    let size = |rung: usize| plan.bytes(number, rung) as f64;
    let lowest = plan.ladder[0].bps() as f64;
    let utility = |rung: usize| libm::log(plan.ladder[rung].bps() as f64 / lowest);
    let top = plan.ladder.len() - 1;
    let room = plan.buffer.saturating_sub(plan.segment).as_secs_f64();
    let weight = room / (utility(top) + gamma_p);
    let score = |rung: usize| (weight * (utility(rung) + gamma_p) - buffered) / size(rung);
    // Of equal scores the higher bitrate.
    (0..=top).max_by(|one, other| score(*one).total_cmp(&score(*other))).unwrap_or(0)
}
