//! The rows of flows in a summary.

use std::collections::BTreeMap;

use tidegate_core::net::{Network, measured};
use tidegate_core::plan::{FlowPlan, Plan, TcpBase};
use tidegate_core::units::Measured;
use tidegate_result::{FlowSummary, LossSummary, RequestSummary, Summary, limited_by};

use crate::flow::Flow;

pub(crate) fn summarise(plan: &Plan, network: &Network, flows: &[Flow], events: u64) -> Summary {
    let measured = measured(plan);
    let rows = flows.iter().zip(&plan.flows).map(|(flow, row)| flow_row(plan, row, flow, measured)).collect();
    let requests = request_rows(plan, flows, measured);
    let mut summary = tidegate_result::summarise("sim", plan, network, rows, requests, events);
    if plan.flows.iter().any(|flow| flow.tcp.base == TcpBase::Linux) {
        summary.warnings.insert(
            0,
"tcp.base = \"linux\" is Linux 6.18 without pacing, segmentation offload, and the undoing of reductions \
             that were not needed (F-RTO, D-SACK)"
                .to_owned(),
        );
    }
    summary
}

fn request_rows(plan: &Plan, flows: &[Flow], measured: Measured) -> Vec<RequestSummary> {
    let with = flows.iter().zip(&plan.flows).filter_map(|(flow, row)| {
        let log = flow.dialogue.as_ref()?.log.as_slice();
        Some((row.name.as_str(), log, flow.measured().1.timeouts))
    });
    RequestSummary::rows(&with.collect::<Vec<_>>(), measured)
}

fn flow_row(plan: &Plan, row: &FlowPlan, flow: &Flow, measured: Measured) -> FlowSummary {
    let (sent, received) = flow.measured();
    let mss = flow.mss;
    let span = measured.until.saturating_since(measured.from).as_secs_f64();
    let millis = |seconds: f64| seconds * 1e3;
    let meter = &flow.meter;
    FlowSummary {
        name: row.name.clone(),
        cc: row.tcp.cc.name(),
        goodput_bps: received.delivered_bytes as f64 * 8.0 / span,
        in_order_bps: flow.measured_in_order() as f64 * 8.0 / span,
        throughput_bps: meter.received_bytes as f64 * 8.0 / span,
        efficiency: (sent.segments_sent > 0)
            .then(|| received.delivered_segments as f64 / sent.segments_sent as f64),
        segments_sent: sent.segments_sent,
        segments_delivered: received.delivered_segments,
        segments_retransmitted: sent.segments_retransmitted,
        timeouts: sent.timeouts,
        fast_retransmits: sent.fast_retransmits,
        losses: LossSummary::default(),
        back_drops: BTreeMap::new(),
        rtt_mean_ms: meter.rtt.mean_s().map(millis),
        rtt_p50_ms: meter.rtt.quantile_s(0.5).map(millis),
        rtt_p99_ms: meter.rtt.quantile_s(0.99).map(millis),
        cwnd_mean_segments: meter.cwnd_mean(flow.start) / mss,
        cwnd_max_segments: meter.cwnd_max as f64 / mss,
        limited_by: limited_by(plan, &meter.owed),
        completion_s: meter.completed.map(|at| at.saturating_since(flow.start).as_secs_f64()),
    }
}
