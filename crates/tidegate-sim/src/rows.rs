//! The rows of flows in a summary.

use tidegate_core::net::{Network, measured};
use tidegate_core::plan::{FlowPlan, Plan, TransportPlan};
use tidegate_core::units::Measured;
use tidegate_result::{FlowMeasure, FlowSummary, FlowTimes, RequestSummary, Side, Summary, VideoSummary};

use crate::flow::Flow;
use crate::hosted::Hosted;

pub(crate) fn summarise(plan: &Plan, network: &Network, flows: &[Flow], events: u64) -> Summary {
    let measured = measured(plan);
    let rows = flows.iter().zip(&plan.flows).map(|(flow, row)| flow_row(plan, row, flow)).collect();
    let requests = request_rows(plan, flows, measured);
    let videos = video_rows(plan, flows, measured);
    let mut summary = tidegate_result::summarise("sim", plan, network, rows, (requests, videos), events);
    let hosted = flows.iter().filter_map(|flow| flow.hosted.as_ref());
    summary.warnings.extend(hosted.flat_map(|hosted| hosted.warnings.iter().cloned()));
    // No application here closes a connection.
    let over =
        flows.iter().zip(&plan.flows).filter(|(flow, _)| flow.sender.is_over() || flow.receiver.is_over());
    summary.warnings.extend(over.map(|(_, row)| {
        format!(
            "flow.{}: its connection ended before the run did: what was sent again was not acknowledged for too long (RFC 1122 section \
             4.2.3.5)",
            row.name
        )
    }));
    summary
}

fn request_rows(plan: &Plan, flows: &[Flow], measured: Measured) -> Vec<RequestSummary> {
    let with = flows.iter().zip(&plan.flows).filter_map(|(flow, row)| {
        let log = flow.dialogue.as_ref()?.log.as_slice();
        Some((row, log, flow.measured().1.timeouts))
    });
    RequestSummary::rows(&with.collect::<Vec<_>>(), measured)
}

fn video_rows(plan: &Plan, flows: &[Flow], measured: Measured) -> Vec<VideoSummary> {
    let with = flows.iter().zip(&plan.flows).filter_map(|(flow, row)| {
        let dialogue = flow.dialogue.as_ref()?;
        Some((row, dialogue.client.player()?.begun(), dialogue.log.as_slice()))
    });
    VideoSummary::rows(with, measured)
}

fn flow_row(plan: &Plan, row: &FlowPlan, flow: &Flow) -> FlowSummary {
    let (sent, received) = flow.measured();
    let meter = &flow.meter;
    let hosted = flow.hosted.as_deref();
    let uses_ecn = hosted.map_or_else(|| flow.sender.uses_ecn(), Hosted::uses_ecn);
    // A transport may say nothing of its window.
    let known = hosted.is_none_or(|hosted| hosted.report(Side::Sender).window.is_some());
    let reductions = hosted.is_none_or(|hosted| hosted.report(Side::Sender).ecn_reductions.is_some());
    let segments = |bytes: f64| known.then_some(bytes / flow.mss);
    let label = hosted.map_or_else(|| row.label(), Hosted::transport);
    let measure = FlowMeasure {
        cc: match (&row.transport, hosted) {
            (TransportPlan::Quic(quic), _) if quic.label(&row.tcp) == label => quic.cc.name(&row.tcp),
            (_, Some(_)) => "hosted",
            (_, None) => row.tcp.cc.name(),
        },
        tcp: &label,
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
        marked_segments: uses_ecn.then_some(received.ce_received),
        ecn_reductions: (uses_ecn && reductions).then_some(sent.ecn_reductions),
        advice: flow.advised.as_ref().map(|advised| advised.heard_until(measured(plan).until)),
        rtt: &meter.rtt,
        cwnd_mean_segments: meter.cwnd_mean().and_then(segments),
        cwnd_max_segments: segments(meter.windows.max as f64),
        owed: &meter.owed().collect::<Vec<_>>(),
        transferred: flow.in_order(),
        times: FlowTimes {
            started: flow.start,
            completed: meter.completed,
            first_data: meter.first_data(),
            requests: flow.dialogue.as_ref().map_or(&[], |dialogue| dialogue.log.as_slice()),
        },
    };
    FlowSummary::new(plan, row, measure)
}
