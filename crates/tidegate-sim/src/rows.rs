//! The rows of flows in a summary.

use tidegate_core::net::{Network, measured};
use tidegate_core::plan::{FlowPlan, Plan};
use tidegate_core::units::Measured;
use tidegate_result::{FlowMeasure, FlowSummary, RequestSummary, Summary};

use crate::flow::Flow;

pub(crate) fn summarise(plan: &Plan, network: &Network, flows: &[Flow], events: u64) -> Summary {
    let measured = measured(plan);
    let rows = flows.iter().zip(&plan.flows).map(|(flow, row)| flow_row(plan, row, flow)).collect();
    let requests = request_rows(plan, flows, measured);
    tidegate_result::summarise("sim", plan, network, rows, requests, events)
}

fn request_rows(plan: &Plan, flows: &[Flow], measured: Measured) -> Vec<RequestSummary> {
    let with = flows.iter().zip(&plan.flows).filter_map(|(flow, row)| {
        let log = flow.dialogue.as_ref()?.log.as_slice();
        Some((row.name.as_str(), log, flow.measured().1.timeouts))
    });
    RequestSummary::rows(&with.collect::<Vec<_>>(), measured)
}

fn flow_row(plan: &Plan, row: &FlowPlan, flow: &Flow) -> FlowSummary {
    let (sent, received) = flow.measured();
    let meter = &flow.meter;
    let measure = FlowMeasure {
        cc: row.tcp.cc.name(),
        tcp: &row.tcp.label(),
        delivered_bytes: received.delivered_bytes,
        in_order_bytes: flow.measured_in_order(),
        received_bytes: meter.own_received_bytes(),
        segments_sent: sent.segments_sent,
        segments_delivered: received.delivered_segments,
        segments_received: received.delivered_segments
            + received.duplicates_received
            + received.outside_window,
        segments_retransmitted: sent.segments_retransmitted,
        timeouts: sent.timeouts,
        fast_retransmits: sent.fast_retransmits,
        marked_segments: flow.sender.uses_ecn().then_some(received.ce_received),
        ecn_reductions: flow.sender.uses_ecn().then_some(sent.ecn_reductions),
        rtt: &meter.rtt,
        cwnd_mean_segments: meter.cwnd_mean(flow.start) / flow.mss,
        cwnd_max_segments: meter.windows.max as f64 / flow.mss,
        owed: &meter.owed().collect::<Vec<_>>(),
        started: flow.start,
        completed: meter.completed,
        transferred: flow.in_order(),
    };
    FlowSummary::new(plan, row, measure)
}
