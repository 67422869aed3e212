//! A live run that ends when all is done: what came after that instant is no part of it.

use tidegate_core::net::{seed, start_time};
use tidegate_core::plan::{FlowPlan, Plan};
use tidegate_core::unit::HeldBy;
use tidegate_core::units::{Span, Time};

use crate::endpoints::EndReport;
use crate::pump::PumpReport;
use crate::replay::replay;
use crate::wire;

/// The plan that ends when the last flow was done, and what was seen until then. The gates' counters are those of the
/// recorded arrivals in virtual time, which are the live run's own.
pub(crate) fn cut(plan: &Plan, mut seen: EndReport, mut report: PumpReport) -> (Plan, EndReport, PumpReport) {
    let duration = done_at(plan, &seen, &report).saturating_add(Span::from_picos(1)).min(report.ended);
    let shorter = Plan { duration, until_done: false, ..plan.clone() };
    report.arrivals.truncate(report.arrivals.partition_point(|arrival| arrival.at < duration));
    report.words.retain(|word| word.at < duration);
    report.capture.truncate(report.arrivals.len() * report.capture_bytes as usize);
    let replayed = replay(&shorter, &report.arrivals, &report.words, duration);
    report.departures = replayed.departures;
    report.drops = replayed.drops;
    report.network = replayed.network;
    report.ended = duration;
    seen.samples.retain(|sample| sample.at < duration);
    (shorter, seen, report)
}

/// When the last byte of the last finite transfer left the network, or the last response had come.
fn done_at(plan: &Plan, seen: &EndReport, report: &PumpReport) -> Time {
    let root = seed(plan);
    let start = |flow: &FlowPlan| start_time(root, &format!("flow.{}/start", flow.name), flow.start);
    let starts: Vec<Time> = plan.flows.iter().map(start).collect();
    // What held a sender back has no part in when its data came.
    let wires = wire::read(plan, report, &starts, &|_, _| HeldBy::CongestionWindow);
    let transfers = wires.iter().filter_map(|flow| flow.completed);
    let counted = plan.flows.iter().zip(&seen.requests).filter(|(flow, _)| flow.ends());
    let responses = counted.flat_map(|(_, log)| log.iter().map(|exchange| exchange.ended));
    transfers.chain(responses.filter(|ended| *ended < Time::NEVER)).max().unwrap_or(report.ended)
}
