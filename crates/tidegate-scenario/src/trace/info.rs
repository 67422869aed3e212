//! What a trace is like, in numbers for people and programs.

use serde::Serialize;
use tidegate_core::units::{PICOS_PER_SECOND, Rate, Span};

use super::windows::{bit_picos, deliverable_bytes, windows};
use super::{LoadedTrace, OpportunityTrace, RateTrace};

/// What [`info`] is to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoOptions {
    /// Rates are means over windows of this length.
    pub window: Span,
    /// No capacity for at least this long is an outage.
    pub outage: Span,
}

impl Default for InfoOptions {
    /// Windows of 100 ms; outages from 200 ms (Linux's least retransmission time-out).
    fn default() -> InfoOptions {
        InfoOptions { window: Span::from_millis(100), outage: Span::from_millis(200) }
    }
}

/// Windows are no shorter than this part of the recording, so that memory stays bounded.
const MOST_WINDOWS: u64 = 10_000_000;

/// A description of one round of a recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceInfo {
    /// `rates` or `opportunities`.
    pub kind: &'static str,
    /// Length of the recording.
    pub duration_s: f64,
    /// Deliverable bits over the duration.
    pub mean_bps: f64,
    /// Length of the windows that the next figures are of.
    pub window_s: f64,
    /// Lowest rate of a window.
    pub min_bps: f64,
    /// 5th percentile of the windows' rates (nearest rank).
    pub p5_bps: f64,
    /// Median of the windows' rates.
    pub p50_bps: f64,
    /// 95th percentile of the windows' rates.
    pub p95_bps: f64,
    /// Highest rate of a window.
    pub max_bps: f64,
    /// Standard deviation of the windows' rates over their mean.
    pub variation: f64,
    /// From how long on no capacity is an outage.
    pub outage_threshold_s: f64,
    /// Number of outages.
    pub outages: u64,
    /// The longest outage; 0 where there is none.
    pub outage_longest_s: f64,
    /// All outages together, as a share of the duration.
    pub outage_share: f64,
    /// Whole bytes that one round can deliver.
    pub deliverable_bytes: u64,
    /// Delivery opportunities in one round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opportunities: Option<u64>,
    /// Bytes of one opportunity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opportunity_bytes: Option<u32>,
    /// Rates in the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<u64>,
    /// What was understood that the file does not say, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// Describes a trace.
#[must_use]
pub fn info(trace: &LoadedTrace, options: &InfoOptions) -> TraceInfo {
    let period = trace.period();
    let window = options.window.max(Span::from_picos(period.picos() / MOST_WINDOWS));
    let mut sorted = window_rates(trace, window);
    let variation = variation(&sorted);
    sorted.sort_by(f64::total_cmp);
    let idle = match trace {
        LoadedTrace::Rates(rates) => silences(rates),
        LoadedTrace::Opportunities(trace) => gaps(trace),
    };
    let outages: Vec<u64> = idle.into_iter().filter(|&idle| idle >= options.outage.picos().max(1)).collect();
    let (kind, opportunities, opportunity_bytes, points) = match trace {
        LoadedTrace::Rates(rates) => ("rates", None, None, Some(rates.points.len() as u64)),
        LoadedTrace::Opportunities(trace) => {
            ("opportunities", Some(trace.at.len() as u64), Some(trace.bytes), None)
        }
    };
    TraceInfo {
        kind,
        duration_s: period.as_secs_f64(),
        mean_bps: bit_picos(trace) as f64 / period.picos() as f64,
        window_s: window.as_secs_f64(),
        min_bps: sorted[0],
        p5_bps: nearest_rank(&sorted, 5),
        p50_bps: nearest_rank(&sorted, 50),
        p95_bps: nearest_rank(&sorted, 95),
        max_bps: sorted[sorted.len() - 1],
        variation,
        outage_threshold_s: options.outage.as_secs_f64(),
        outages: outages.len() as u64,
        outage_longest_s: seconds(outages.iter().copied().max().unwrap_or(0)),
        outage_share: outages.iter().sum::<u64>() as f64 / period.picos() as f64,
        deliverable_bytes: deliverable_bytes(trace),
        opportunities,
        opportunity_bytes,
        points,
        remarks: Vec::new(),
    }
}

/// The rates of the whole windows of a recording, in bit/s; of the recording itself when
/// it is shorter than one.
#[must_use]
pub fn window_rates(trace: &LoadedTrace, window: Span) -> Vec<f64> {
    let period = trace.period().picos();
    let width = window.picos();
    if width == 0 || width >= period {
        return vec![bit_picos(trace) as f64 / period as f64];
    }
    let mut work = windows(trace, window);
    work.truncate((period / width) as usize);
    work.into_iter().map(|work| (work / u128::from(width)) as f64).collect()
}

/// The value that `percent` of `sorted` do not exceed (nearest rank); `sorted` is not empty.
fn nearest_rank(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted[rank - 1]
}

/// Standard deviation over mean.
fn variation(rates: &[f64]) -> f64 {
    let count = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / count;
    let square = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>() / count;
    if mean > 0.0 { square.sqrt() / mean } else { 0.0 }
}

fn seconds(picos: u64) -> f64 {
    picos as f64 / PICOS_PER_SECOND as f64
}

/// Lengths of the stretches at rate 0, neighbours joined.
fn silences(trace: &RateTrace) -> Vec<u64> {
    let mut found = Vec::new();
    let mut silent = 0;
    for (from, to, bps) in trace.segments() {
        if bps == 0 {
            silent += to - from;
        } else if silent > 0 {
            found.push(std::mem::take(&mut silent));
        }
    }
    if silent > 0 {
        found.push(silent);
    }
    found
}

/// Lengths of the gaps between opportunities, the one before the first included; the last
/// opportunity ends the recording.
fn gaps(trace: &OpportunityTrace) -> Vec<u64> {
    let mut before = 0;
    let mut found = Vec::new();
    for at in &trace.at {
        if at.picos() > before {
            found.push(at.picos() - before);
            before = at.picos();
        }
    }
    found
}

/// Mean rate in whole bit/s, rounded down: a constant link of the same capacity.
#[must_use]
pub fn mean_rate(trace: &LoadedTrace) -> Rate {
    match trace {
        LoadedTrace::Rates(trace) => trace.mean(),
        LoadedTrace::Opportunities(trace) => trace.mean(),
    }
}
