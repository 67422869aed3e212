//! Requests in numbers: response times, and where they were spent.

use serde::Serialize;
use tidegate_core::app::Exchange;
use tidegate_core::plan::{AppPlan, FlowPlan};
use tidegate_core::units::{Measured, PICOS_PER_SECOND, Span, Time};

use crate::interval::student_t;

/// The name of the row of all requests together.
const ALL: &str = "all";

/// The requests of a flow, or of all, in numbers: those asked in the measured time.
///
/// A response time runs from the instant that the client's user asks to the last byte of the
/// response, in order: waits at the client, for a circuit and for the handshake are part of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestSummary {
    /// The flow's name; `all`: of all flows with `app.request` together, or where there are none of all players.
    pub name: String,
    /// Requests asked.
    pub asked: u64,
    /// Those whose response had come whole when the run ended.
    pub finished: u64,
    /// The others.
    pub unfinished: u64,
    /// Mean response time of the finished ones.
    pub response_mean_s: Option<f64>,
    /// Half the width of its 95% interval by Student's t, as if response times were independent of each other.
    pub response_half_width_s: Option<f64>,
    /// Median response time of the finished ones.
    pub response_p50_s: Option<f64>,
    /// 95th percentile.
    pub response_p95_s: Option<f64>,
    /// 99th percentile.
    pub response_p99_s: Option<f64>,
    /// The longest.
    pub response_max_s: Option<f64>,
    /// Mean of all, an unfinished one counted with its age at the end of the run: no more than the true mean.
    pub response_mean_with_unfinished_s: Option<f64>,
    /// Median of all, counted in the same way: no more than the true one.
    pub response_p50_with_unfinished_s: Option<f64>,
    /// 95th percentile of all.
    pub response_p95_with_unfinished_s: Option<f64>,
    /// 99th percentile of all.
    pub response_p99_with_unfinished_s: Option<f64>,
    /// Part of the mean: from asking to the last byte of the request at the server.
    pub request_mean_s: Option<f64>,
    /// Part of the mean: from there to the server's answer, its queue included.
    pub server_mean_s: Option<f64>,
    /// Part of the mean: from there to the last byte of the response.
    pub transfer_mean_s: Option<f64>,
    /// Retransmission time-outs of the clients' ends.
    pub client_timeouts: u64,
}

impl RequestSummary {
    /// One row for each flow with requests, given its exchanges and the time-outs of its clients' ends, then one of all together;
    /// none where there is no such flow. The segments of players are not mixed with other requests.
    #[must_use]
    pub fn rows(flows: &[(&FlowPlan, &[Exchange], u64)], measured: Measured) -> Vec<RequestSummary> {
        let mut rows: Vec<RequestSummary> = flows
            .iter()
            .map(|(flow, log, timeouts)| RequestSummary::of(&flow.name, log.iter(), measured, *timeouts))
            .collect();
        if !rows.is_empty() {
            let plays =
                |flow: &FlowPlan| matches!(&flow.app, AppPlan::Request(asked) if asked.video.is_some());
            let no_other = flows.iter().all(|(flow, ..)| plays(flow));
            let together = || flows.iter().filter(|(flow, ..)| no_other || !plays(flow));
            let all = together().flat_map(|(_, log, _)| log.iter());
            rows.push(RequestSummary::of(
                ALL,
                all,
                measured,
                together().map(|(.., timeouts)| timeouts).sum(),
            ));
        }
        rows
    }

    pub(crate) fn of<'a>(
        name: &str,
        exchanges: impl Iterator<Item = &'a Exchange>,
        measured: Measured,
        client_timeouts: u64,
    ) -> RequestSummary {
        let mut times = Times::default();
        exchanges.filter(|one| one.asked >= measured.from).for_each(|one| times.note(one, measured.until));
        times.responses.sort_unstable();
        times.all.sort_unstable();
        let finished = times.responses.len() as u64;
        let sum: u128 = times.responses.iter().map(|picos| u128::from(*picos)).sum();
        let mean = |picos: u128, count: u64| (count > 0).then(|| picos as f64 / count as f64 / PER_SECOND);
        let asked = finished + times.unfinished;
        RequestSummary {
            name: name.to_owned(),
            asked,
            finished,
            unfinished: times.unfinished,
            response_mean_s: mean(sum, finished),
            response_half_width_s: half_width(&times.responses, sum),
            response_p50_s: quantile(&times.responses, 50),
            response_p95_s: quantile(&times.responses, 95),
            response_p99_s: quantile(&times.responses, 99),
            response_max_s: quantile(&times.responses, 100),
            response_mean_with_unfinished_s: mean(sum + times.ages, asked),
            response_p50_with_unfinished_s: quantile(&times.all, 50),
            response_p95_with_unfinished_s: quantile(&times.all, 95),
            response_p99_with_unfinished_s: quantile(&times.all, 99),
            request_mean_s: mean(times.to_server, finished),
            server_mean_s: mean(times.at_server, finished),
            transfer_mean_s: mean(times.back, finished),
            client_timeouts,
        }
    }
}

const PER_SECOND: f64 = PICOS_PER_SECOND as f64;

/// Everything in picoseconds.
#[derive(Default)]
struct Times {
    responses: Vec<u64>,
    /// With the ages of the unfinished.
    all: Vec<u64>,
    unfinished: u64,
    ages: u128,
    to_server: u128,
    at_server: u128,
    back: u128,
}

impl Times {
    fn note(&mut self, one: &Exchange, until: Time) {
        let between = |from: Time, to: Time| u128::from(to.saturating_since(from).picos());
        if one.ended == Time::NEVER {
            self.unfinished += 1;
            self.ages += between(one.asked, until);
            self.all.push(until.saturating_since(one.asked).picos());
            return;
        }
        self.responses.push(response_time(one).picos());
        self.all.push(response_time(one).picos());
        self.to_server += between(one.asked, one.arrived);
        self.at_server += between(one.arrived, one.answered);
        self.back += between(one.answered, one.ended);
    }
}

/// From asking to the last byte.
pub(crate) fn response_time(one: &Exchange) -> Span {
    one.ended.saturating_since(one.asked)
}

/// The smallest value that at least `percent` per cent of the values do not exceed.
fn quantile(sorted: &[u64], percent: usize) -> Option<f64> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).map(|picos| *picos as f64 / PER_SECOND)
}

/// Half of Student's 95% interval of the mean; none for fewer than two values.
fn half_width(values: &[u64], sum: u128) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let count = values.len() as f64;
    let mean = sum as f64 / count;
    let squares: f64 = values.iter().map(|picos| (*picos as f64 - mean).powi(2)).sum();
    let quantile = student_t(0.975, values.len() as u64 - 1)?;
    Some(quantile * (squares / (count - 1.0) / count).sqrt() / PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    fn exchange(asked: u64, took: Option<u64>) -> Exchange {
        let then = |part: u64| took.map_or(Time::NEVER, |took| at(asked + took * part / 4));
        let (arrived, answered, ended) = (then(1), then(3), then(4));
        Exchange { request: 1, response: 1, asked: at(asked), begun: at(asked), arrived, answered, ended }
    }

    #[test]
    fn numbers_by_hand() {
        let all: Vec<Exchange> = [4, 8, 8, 12].map(|took| exchange(20, Some(took))).into();
        let early = exchange(5, Some(40));
        let late = exchange(90, None);
        let measured = Measured { from: at(10), until: at(100) };
        let row = RequestSummary::of("x", all.iter().chain([&early, &late]), measured, 2);
        assert_eq!((row.asked, row.finished, row.unfinished, row.client_timeouts), (5, 4, 1, 2));
        assert_eq!(
            [row.response_mean_s, row.response_p50_s, row.response_p95_s],
            [Some(8.0), Some(8.0), Some(12.0)]
        );
        assert_eq!(row.response_mean_with_unfinished_s, Some(8.4));
        assert_eq!(
            [row.response_p50_with_unfinished_s, row.response_p95_with_unfinished_s],
            [Some(8.0), Some(12.0)]
        );
        assert_eq!(
            [row.request_mean_s, row.server_mean_s, row.transfer_mean_s],
            [Some(2.0), Some(4.0), Some(2.0)]
        );
        // s² = 32/3, s/2 = 1.633, t(0.975, 3) = 3.182.
        assert!((row.response_half_width_s.unwrap_or(0.0) - 5.1968).abs() < 1e-3);
        assert_eq!(row.response_max_s, Some(12.0));
    }

    #[test]
    fn nothing_asked_is_no_number() {
        let measured = Measured { from: at(0), until: at(1) };
        let row = RequestSummary::of("x", std::iter::empty(), measured, 0);
        assert_eq!((row.asked, row.response_mean_s, row.response_mean_with_unfinished_s), (0, None, None));
        let one = RequestSummary::of("x", [exchange(0, Some(4))].iter(), measured, 0);
        assert_eq!((one.response_p99_s, one.response_half_width_s), (Some(4.0), None));
    }
}
