//! A flow in numbers.

use std::collections::BTreeMap;

use serde::Serialize;
use tidegate_core::gate::Quantiles;
use tidegate_core::plan::{AppPlan, FlowPlan, Plan};
use tidegate_core::unit::{Cause, HeldBy, Limiter};
use tidegate_core::units::Rate;

use super::own_time::{FlowTimes, OwnTime};
use crate::losses::LossSummary;

/// A flow in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowSummary {
    /// Name in the scenario.
    pub name: String,
    /// Congestion controller.
    pub cc: &'static str,
    /// The TCP that ran: its congestion controller and its base (`cubic, linux-6.18`), or in live runs the kernel.
    pub tcp: String,
    /// User bits that reached the receiver, each counted when it first arrives, in order or not, per second of the
    /// measured time; of a finite transfer that ended, per second from its start (or that of the measured time, if it
    /// is later) to its end. Of the packet that came over the beginning of the measured time such a transfer counts the part that belongs
    /// to the time after; what a gate had saved up before, and lets go at once, can still make the rate of a short time exceed the
    /// link's. Null: no time was measured, because the transfer, or the last of its counted requests, was done before the measured time, or the flow did not begin before
    /// the end.
    pub goodput_bps: Option<f64>,
    /// User bits that became readable in order, per second of the same time. A gap that is filled makes all that waited
    /// behind it readable at once, so over a short time this can exceed goodput and the link's rate.
    pub in_order_bps: Option<f64>,
    /// IP bits of data segments that reached the receiver, headers and repeats included, in the same time, per second.
    pub throughput_bps: Option<f64>,
    /// `segments_delivered` over the data segments whose fate was decided in the measured time: `segments_received` and
    /// `dropped_packets`. So never above 1; what was on its way at the beginning or the end makes no difference.
    pub efficiency: Option<f64>,
    /// Data segments sent, repeats included.
    pub segments_sent: u64,
    /// Distinct data segments received: those that brought at least one byte for the first time.
    pub segments_delivered: u64,
    /// Data segments that reached the receiver, repeats included.
    pub segments_received: u64,
    /// Data segments sent again.
    pub segments_retransmitted: u64,
    /// Retransmission time-outs.
    pub timeouts: u64,
    /// Recoveries started by duplicate ACKs.
    pub fast_retransmits: u64,
    /// Data segments that arrived marked CE; a flow without ECN has none of these two names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marked_segments: Option<u64>,
    /// Reductions of the window because of marks; none in live runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_reductions: Option<u64>,
    /// Rate signals with advice that its receiver has heard (SCONE); a flow whose packets carry none has none of these two names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice_signals: Option<u64>,
    /// The advice in force at the end of the run; null: none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice_bps: Option<Option<f64>>,
    /// What gates dropped and tagged of its data; `summarise` fills it in.
    #[serde(flatten)]
    pub losses: LossSummary,
    /// What gates dropped on its way back, by reason; only reasons that occurred.
    pub back_drops: BTreeMap<&'static str, u64>,
    /// The round trip of its path while nothing waits there: delays, and the transmission of a largest packet and its ACK at the gates'
    /// highest rates. What TCP measures (`rtt_mean_ms`) has waits, jitter and the time for which the receiver
    /// holds an ACK back (delayed ACKs) besides.
    pub rtt_path_ms: f64,
    /// Mean round-trip time as TCP measures it, delayed ACKs included: from the sending of a segment that was sent once to the first ACK that reports it, by its number or by
    /// SACK. An ACK gives one, of the newest segment that it reports. If its number covers a segment that was sent again, only
    /// what SACK reports counts: the rest may have waited for that segment. Both engines measure so, at the sender.
    pub rtt_mean_ms: Option<f64>,
    /// Median.
    pub rtt_p50_ms: Option<f64>,
    /// 99th percentile.
    pub rtt_p99_ms: Option<f64>,
    /// Time average of the congestion window while it is known; null of a flow that does not begin, and of a transport that tells none.
    pub cwnd_mean_segments: Option<f64>,
    /// Its largest value; null of a transport that tells none.
    pub cwnd_max_segments: Option<f64>,
    /// Shares of the measured time since the flow's start by what limited it.
    pub limited_by: BTreeMap<String, f64>,
    /// From the start to the last byte in order, for a finite transfer that ended.
    pub completion_s: Option<f64>,
    /// Of a finite transfer the share that had arrived in order when the run ended: 1 where it is done. Other flows
    /// have no such name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<f64>,
    /// When a finite transfer began. Other flows have no such name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_s: Option<f64>,
}

/// What an engine measured of a flow; all but the two last count the measured time.
#[derive(Clone, Copy, Debug)]
pub struct FlowMeasure<'a> {
    /// Congestion controller, as the engine calls it.
    pub cc: &'static str,
    /// The TCP that ran, as [`FlowSummary::tcp`].
    pub tcp: &'a str,
    /// User bytes that arrived for the first time, in order or not.
    pub delivered_bytes: u64,
    /// User bytes that became readable in order.
    pub in_order_bytes: u64,
    /// IP bytes of data segments that arrived; of a finite transfer, until it was done.
    pub received_bytes: u64,
    /// Data segments sent, repeats included.
    pub segments_sent: u64,
    /// Data segments that brought at least one byte for the first time.
    pub segments_delivered: u64,
    /// Data segments that reached the receiver, repeats included.
    pub segments_received: u64,
    /// Data segments sent again.
    pub segments_retransmitted: u64,
    /// Retransmission time-outs.
    pub timeouts: u64,
    /// Recoveries started by duplicate ACKs.
    pub fast_retransmits: u64,
    /// With ECN: data segments that arrived marked CE.
    pub marked_segments: Option<u64>,
    /// With ECN: reductions of the window because of marks.
    pub ecn_reductions: Option<u64>,
    /// Rate signals heard, and the advice in force at the end; `None`: its packets carry no signals.
    pub advice: Option<(u64, Option<Rate>)>,
    /// Round-trip times of segments sent once.
    pub rtt: &'a Quantiles,
    /// Time average of the congestion window, segments.
    pub cwnd_mean_segments: Option<f64>,
    /// Its largest value.
    pub cwnd_max_segments: Option<f64>,
    /// Picoseconds owed to each cause.
    pub owed: &'a [(Cause, u64)],
    /// User bytes that arrived in order since the flow began.
    pub transferred: u64,
    /// When it began and ended.
    pub times: FlowTimes<'a>,
}

impl FlowSummary {
    /// The row of a flow. What gates dropped of its packets, and what follows from that, is filled in by
    /// [`summarise`](super::summarise).
    #[must_use]
    pub fn new(plan: &Plan, flow: &FlowPlan, of: FlowMeasure<'_>) -> FlowSummary {
        let (own, first) = (OwnTime::of(plan, flow, of.times), of.times.first_data.unwrap_or_default());
        let per_second = |all, of_first| own.as_ref().map(|own| own.per_second(all, of_first));
        let millis = |seconds: f64| seconds * 1e3;
        FlowSummary {
            name: flow.name.clone(),
            cc: of.cc,
            tcp: of.tcp.to_owned(),
            goodput_bps: per_second(of.delivered_bytes, first.delivered_bytes),
            in_order_bps: per_second(of.in_order_bytes, first.in_order_bytes),
            throughput_bps: per_second(of.received_bytes, first.received_bytes),
            efficiency: None,
            segments_sent: of.segments_sent,
            segments_delivered: of.segments_delivered,
            segments_received: of.segments_received,
            segments_retransmitted: of.segments_retransmitted,
            timeouts: of.timeouts,
            fast_retransmits: of.fast_retransmits,
            marked_segments: of.marked_segments,
            ecn_reductions: of.ecn_reductions,
            advice_signals: of.advice.map(|(signals, _)| signals),
            advice_bps: of.advice.map(|(_, rate)| rate.map(|rate| rate.bps() as f64)),
            losses: LossSummary::default(),
            back_drops: BTreeMap::new(),
            rtt_path_ms: millis(flow.shortest_round_trip_seconds(&plan.gates)),
            rtt_mean_ms: of.rtt.mean_s().map(millis),
            rtt_p50_ms: of.rtt.quantile_s(0.5).map(millis),
            rtt_p99_ms: of.rtt.quantile_s(0.99).map(millis),
            cwnd_mean_segments: of.cwnd_mean_segments,
            cwnd_max_segments: of.cwnd_max_segments,
            limited_by: limited_by(plan, of.owed),
            completion_s: of.times.completed.map(|at| at.saturating_since(of.times.started).as_secs_f64()),
            progress: match flow.app {
                AppPlan::Transfer { bytes } => Some(of.transferred.min(bytes) as f64 / bytes.max(1) as f64),
                _ => None,
            },
            start_s: matches!(flow.app, AppPlan::Transfer { .. }).then(|| of.times.started.as_secs_f64()),
        }
    }

    /// Fills in what gates dropped of its data segments.
    pub(super) fn set_losses(&mut self, losses: LossSummary) {
        let decided = self.segments_received + losses.dropped_packets;
        self.efficiency = (decided > 0).then(|| self.segments_delivered as f64 / decided as f64);
        self.losses = losses;
    }
}

/// Shares of time by what limited a flow: every interval between two arrivals at the
/// receiver is owed to the gate where the later segment waited longest or, where it never
/// waited, to what had held the sender back; a congestion window that is small because a policer
/// dropped a packet is that policer's.
fn limited_by(plan: &Plan, owed: &[(Cause, u64)]) -> BTreeMap<String, f64> {
    let total: u128 = owed.iter().map(|(_, span)| u128::from(*span)).sum();
    let mut shares = BTreeMap::new();
    for name in ["application", "congestion window", "receiver window"] {
        shares.insert(name.to_owned(), 0.0);
    }
    if total == 0 {
        return shares;
    }
    for (cause, span) in owed {
        let name = match cause.limiter() {
            Limiter::Gate(gate) => format!("gate.{}", plan.gates[gate].name),
            Limiter::Policer(gate) => format!("policer of {}", plan.gates[gate].name),
            Limiter::Sender(HeldBy::Application) => "application".to_owned(),
            Limiter::Sender(HeldBy::CongestionWindow) => "congestion window".to_owned(),
            Limiter::Sender(HeldBy::ReceiverWindow) => "receiver window".to_owned(),
            Limiter::Sender(HeldBy::Pacing) => "pacing".to_owned(),
        };
        *shares.entry(name).or_insert(0.0) += *span as f64 / total as f64;
    }
    shares
}
