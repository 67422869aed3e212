//! Background traffic in numbers.

use serde::Serialize;
use tidegate_core::gate::Quantiles;
use tidegate_core::net::{MediaFrames, Network, Owner, Transit, traffic_precision};
use tidegate_core::plan::Plan;
use tidegate_core::units::{Measured, PICOS_PER_SECOND};

use crate::losses::{self, LossSummary};

/// The name of the row of all sources together.
const ALL: &str = "all";

/// Background traffic in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrafficSummary {
    /// Name in the scenario.
    pub name: String,
    /// Packets sent.
    pub packets_sent: u64,
    /// Packets that came to the end of their path in the measured time, whenever they were sent.
    pub packets_delivered: u64,
    /// What gates dropped and tagged of them.
    #[serde(flatten)]
    pub losses: LossSummary,
    /// IP bits delivered per second.
    pub throughput_bps: f64,
    /// How long packets were on their way, and which were lost.
    #[serde(flatten)]
    pub transit: TransitSummary,
}

/// The sources of a group together; the last row, `all`, has all sources.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrafficGroupSummary {
    /// Name of the group: `traffic.NAME.group`, or the name of the source whose copies it has.
    pub name: String,
    /// How many sources it has.
    pub sources: u64,
    /// Packets sent.
    pub packets_sent: u64,
    /// Packets that came to the end of their path in the measured time, whenever they were sent.
    pub packets_delivered: u64,
    /// IP bits delivered per second.
    pub throughput_bps: f64,
    /// Those of the source that delivered fewest.
    pub throughput_min_bps: f64,
    /// Those of the source that delivered most.
    pub throughput_max_bps: f64,
    /// Delays of all packets of these sources; null where a source does not measure it.
    #[serde(flatten)]
    pub transit: TransitSummary,
}

/// What became of the packets that were sent in the measured time, by the end of the run; null where the source
/// does not measure it (`traffic.NAME.delays`).
///
/// A one-way delay runs from the instant at which the source sends a packet to its arrival at the end of its path: waits,
/// transmissions, delays and jitter of every gate there are part of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TransitSummary {
    /// Packets sent in the measured time and dropped before its end. `dropped_packets` also counts those that were sent before.
    pub packets_lost: Option<u64>,
    /// `packets_lost` over `packets_sent`; packets that are still on their way at the end are not lost.
    pub loss: Option<f64>,
    /// Mean one-way delay.
    pub delay_mean_ms: Option<f64>,
    /// Median, at the precision `quantile_precision`.
    pub delay_p50_ms: Option<f64>,
    /// 99th percentile.
    pub delay_p99_ms: Option<f64>,
    /// The longest, exactly.
    pub delay_max_ms: Option<f64>,
    /// Interarrival jitter J after the last packet (RFC 3550 §6.4.1, in the integers of Appendix A.8): a running average over some 16
    /// packets of the difference between the delays of two packets that arrive one after the other. Of a group, the mean over its sources.
    pub interarrival_jitter_ms: Option<f64>,
    /// Mean difference between the delays of two packets of a source that arrive one after the other, over all packets.
    pub delay_variation_ms: Option<f64>,
    /// Media frames; a source without them has none of these names.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub media: Option<MediaSummary>,
}

/// What became of the media frames that began in the measured time, by the end of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MediaSummary {
    /// Media frames that began.
    pub media_frames_sent: u64,
    /// Media frames all of whose packets arrived.
    pub media_frames_whole: u64,
    /// Media frames that lost a packet. Those that are neither whole nor lost were on their way at the end.
    pub media_frames_lost: u64,
    /// Media frames that were whole later than their `deadline` after they began; null without one.
    pub media_frames_late: Option<u64>,
    /// Mean delay of whole media frames: from the sending of the first packet to the arrival of the last.
    pub media_frame_delay_mean_ms: Option<f64>,
    /// Median.
    pub media_frame_delay_p50_ms: Option<f64>,
    /// 99th percentile.
    pub media_frame_delay_p99_ms: Option<f64>,
    /// The longest, exactly.
    pub media_frame_delay_max_ms: Option<f64>,
}

/// One row per background source.
pub(super) fn rows(plan: &Plan, network: &Network, measured: Measured) -> Vec<TrafficSummary> {
    plan.traffic
        .iter()
        .zip(network.traffic_counts())
        .enumerate()
        .map(|(number, (row, counts))| TrafficSummary {
            losses: losses::losses(network, Owner::Traffic(number)),
            name: row.name.clone(),
            packets_sent: counts.sent.packets,
            packets_delivered: counts.delivered.packets,
            throughput_bps: counts.delivered.bytes as f64 * 8.0 / measured.seconds(),
            transit: transit(plan, network.transit(number).as_slice(), counts.sent.packets),
        })
        .collect()
}

/// One row per group in the order of the first source of each, then one of all; none where there is no traffic.
pub(super) fn groups(plan: &Plan, network: &Network, measured: Measured) -> Vec<TrafficGroupSummary> {
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    for (number, row) in plan.traffic.iter().enumerate() {
        match groups.iter_mut().find(|(name, _)| *name == row.group) {
            Some((_, members)) => members.push(number),
            None => groups.push((&row.group, vec![number])),
        }
    }
    if !groups.is_empty() {
        groups.push((ALL, (0..plan.traffic.len()).collect()));
    }
    let counts: Vec<_> = network.traffic_counts().collect();
    let of_group = |(name, members): (&str, Vec<usize>)| {
        let sum = |of: &dyn Fn(usize) -> u64| members.iter().map(|member| of(*member)).sum::<u64>();
        let bps = |bytes: u64| bytes as f64 * 8.0 / measured.seconds();
        let bytes = members.iter().map(|member| counts[*member].delivered.bytes);
        let packets_sent = sum(&|member| counts[member].sent.packets);
        let transits: Option<Vec<&Transit>> = members.iter().map(|member| network.transit(*member)).collect();
        TrafficGroupSummary {
            name: name.to_owned(),
            sources: members.len() as u64,
            packets_sent,
            packets_delivered: sum(&|member| counts[member].delivered.packets),
            throughput_bps: bps(bytes.clone().sum()),
            throughput_min_bps: bps(bytes.clone().min().unwrap_or(0)),
            throughput_max_bps: bps(bytes.max().unwrap_or(0)),
            transit: transit(plan, &transits.unwrap_or_default(), packets_sent),
        }
    };
    groups.into_iter().map(of_group).collect()
}

/// Of sources that sent so many packets; of none, nothing.
fn transit(plan: &Plan, of: &[&Transit], sent: u64) -> TransitSummary {
    if of.is_empty() {
        return TransitSummary::default();
    }
    let lost = of.iter().map(|transit| transit.lost()).sum::<u64>();
    let delays = Delays::of(plan, of.iter().map(|transit| transit.delays()));
    let estimates: Vec<f64> = of.iter().filter_map(|transit| transit.jitter().estimate_s()).collect();
    let (sum, count) = of.iter().fold((0, 0), |(sum, count), transit| {
        let (more, pairs) = transit.jitter().differences();
        (sum + more, count + pairs)
    });
    TransitSummary {
        packets_lost: Some(lost),
        loss: (sent > 0).then(|| lost as f64 / sent as f64),
        delay_mean_ms: delays.mean,
        delay_p50_ms: delays.p50,
        delay_p99_ms: delays.p99,
        delay_max_ms: delays.max,
        interarrival_jitter_ms: (!estimates.is_empty())
            .then(|| estimates.iter().sum::<f64>() / estimates.len() as f64 * 1e3),
        delay_variation_ms: (count > 0).then(|| sum as f64 / count as f64 / PICOS_PER_SECOND as f64 * 1e3),
        media: media(plan, &of.iter().filter_map(|transit| transit.frames()).collect::<Vec<_>>()),
    }
}

/// Of the media frames of some sources; `None`: there is no source of media.
fn media(plan: &Plan, of: &[&MediaFrames]) -> Option<MediaSummary> {
    if of.is_empty() {
        return None;
    }
    let delays = Delays::of(plan, of.iter().map(|frames| frames.delays()));
    let late: Vec<u64> = of.iter().filter_map(|frames| frames.late()).collect();
    Some(MediaSummary {
        media_frames_sent: of.iter().map(|frames| frames.sent()).sum(),
        media_frames_whole: of.iter().map(|frames| frames.delays().count()).sum(),
        media_frames_lost: of.iter().map(|frames| frames.lost()).sum(),
        media_frames_late: (!late.is_empty()).then(|| late.iter().sum()),
        media_frame_delay_mean_ms: delays.mean,
        media_frame_delay_p50_ms: delays.p50,
        media_frame_delay_p99_ms: delays.p99,
        media_frame_delay_max_ms: delays.max,
    })
}

/// In milliseconds; `None` where nothing arrived.
struct Delays {
    mean: Option<f64>,
    p50: Option<f64>,
    p99: Option<f64>,
    max: Option<f64>,
}

impl Delays {
    /// Of several sources together, whose lengths are all of the plan's precision for traffic.
    fn of<'a>(plan: &Plan, all: impl Iterator<Item = &'a Quantiles>) -> Delays {
        let mut delays = Quantiles::new(traffic_precision(plan));
        all.for_each(|some| delays.merge(some));
        let millis = |seconds: f64| seconds * 1e3;
        Delays {
            mean: delays.mean_s().map(millis),
            p50: delays.quantile_s(0.5).map(millis),
            p99: delays.quantile_s(0.99).map(millis),
            max: delays.max_s().map(millis),
        }
    }
}
