//! The copies of one flow together.

use serde::Serialize;

use super::flow::FlowSummary;

/// The copies of one flow (`count`) together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowGroupSummary {
    /// The flow's name in the scenario, `page` of `page.1` to `page.30`.
    pub name: String,
    /// Its copies.
    pub flows: u64,
    /// User bits of all that arrived, per second of the measured time; where all copies are finite transfers that ended, per second
    /// from the first one's start (or that of the measured time, if it is later) to the last one's end. It is not the sum of
    /// the copies' rates, each of which is over a time of its own. Copies of which no time was measured have no part in it; null: none
    /// was measured of any.
    pub goodput_bps: Option<f64>,
    /// IP bits of data segments of all, headers and repeats included, per second of the same time.
    pub throughput_bps: Option<f64>,
    /// Copies whose finite transfer ended.
    pub done: u64,
    /// How long the slowest transfer took; none while one is not done.
    pub completion_s: Option<f64>,
    /// Mean of those that are done.
    pub completion_mean_s: Option<f64>,
    /// Half of those that are done took at most so long.
    pub completion_p50_s: Option<f64>,
    /// 95% of them.
    pub completion_p95_s: Option<f64>,
    /// 99% of them.
    pub completion_p99_s: Option<f64>,
    /// Data segments sent, repeats included.
    pub segments_sent: u64,
    /// Distinct data segments received.
    pub segments_delivered: u64,
    /// Data segments sent again.
    pub segments_retransmitted: u64,
    /// Retransmission time-outs.
    pub timeouts: u64,
    /// Recoveries started by duplicate ACKs.
    pub fast_retransmits: u64,
}

/// A row for each flow that has copies, in order; measured is from `begin` to `end`, in seconds.
pub(super) fn rows(flows: &[FlowSummary], begin: f64, end: f64) -> Vec<FlowGroupSummary> {
    let name = |flow: &FlowSummary| flow.name.split_once('.').map(|(name, _)| name.to_owned());
    flows
        .chunk_by(|one, next| name(one).is_some() && name(one) == name(next))
        .filter_map(|members| Some(group(name(&members[0])?, members, begin, end)))
        .collect()
}

fn group(name: String, members: &[FlowSummary], begin: f64, end: f64) -> FlowGroupSummary {
    let sum = |of: fn(&FlowSummary) -> u64| members.iter().map(of).sum::<u64>();
    let mut took: Vec<f64> = members.iter().filter_map(|flow| flow.completion_s).collect();
    took.sort_by(f64::total_cmp);
    let all_done = took.len() == members.len();
    // The least of them that so many percent do not exceed.
    let percentile =
        |percent: usize| took.get((took.len() * percent).div_ceil(100).saturating_sub(1)).copied();
    FlowGroupSummary {
        name,
        flows: members.len() as u64,
        goodput_bps: together(members, begin, end, |flow| flow.goodput_bps),
        throughput_bps: together(members, begin, end, |flow| flow.throughput_bps),
        done: took.len() as u64,
        completion_s: took.last().copied().filter(|_| all_done),
        completion_mean_s: (!took.is_empty()).then(|| took.iter().sum::<f64>() / took.len() as f64),
        completion_p50_s: percentile(50),
        completion_p95_s: percentile(95),
        completion_p99_s: percentile(99),
        segments_sent: sum(|flow| flow.segments_sent),
        segments_delivered: sum(|flow| flow.segments_delivered),
        segments_retransmitted: sum(|flow| flow.segments_retransmitted),
        timeouts: sum(|flow| flow.timeouts),
        fast_retransmits: sum(|flow| flow.fast_retransmits),
    }
}

/// The rate of all together, from their rates, each over a time of its own.
fn together(
    members: &[FlowSummary],
    begin: f64,
    end: f64,
    rate: fn(&FlowSummary) -> Option<f64>,
) -> Option<f64> {
    let measured: Vec<_> = members.iter().filter_map(|flow| Some((flow, rate(flow)?))).collect();
    let ended = |flow: &FlowSummary| Some(flow.start_s? + flow.completion_s?);
    let began = |flow: &FlowSummary| flow.start_s.unwrap_or(0.0).max(begin);
    let all_done = measured.iter().all(|(flow, _)| ended(flow).is_some());
    let first = measured.iter().map(|(flow, _)| began(flow)).fold(f64::INFINITY, f64::min);
    let last = measured.iter().filter_map(|(flow, _)| ended(flow)).fold(begin, f64::max);
    let (from, to) = if all_done { (first, last) } else { (begin, end) };
    let own = |flow: &FlowSummary| ended(flow).map_or(end - begin, |at| (at - began(flow)).max(0.0));
    let bits: f64 = measured.iter().map(|(flow, bps)| bps * own(flow)).sum();
    (to > from).then(|| bits / (to - from))
}
