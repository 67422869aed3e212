//! What must add up in the result of any run.

use proptest::prelude::*;
use tidegate_core::plan::{AppPlan, Plan, QueueLimit};
use tidegate_core::units::Time;
use tidegate_sim::RunResult;

/// Everything asked is somewhere, response times are sums of their parts, and nothing was answered before it came.
pub(crate) fn accounts_of_requests_balance(plan: &Plan, result: &RunResult) -> Result<(), TestCaseError> {
    let with = plan.flows.iter().filter(|flow| matches!(flow.app, AppPlan::Request(_))).count();
    let rows = &result.summary.requests;
    prop_assert_eq!(rows.len(), if with == 0 { 0 } else { with + 1 });
    let Some((all, flows)) = rows.split_last() else { return Ok(()) };
    for row in rows {
        prop_assert_eq!(row.asked, row.finished + row.unfinished);
        let parts = [row.request_mean_s, row.server_mean_s, row.transfer_mean_s];
        let sum: f64 = parts.iter().flatten().sum();
        prop_assert!((sum - row.response_mean_s.unwrap_or(0.0)).abs() < 1e-9);
        prop_assert!(row.response_p50_s <= row.response_p95_s && row.response_p99_s <= row.response_max_s);
    }
    // Segments of players are apart where there are other requests.
    let asking = plan.flows.iter().filter_map(|flow| match &flow.app {
        AppPlan::Request(asked) => Some(asked.video.is_some()),
        _ => None,
    });
    let plays: Vec<bool> = asking.collect();
    let counted = |place: usize| !plays[place] || plays.iter().all(|plays| *plays);
    let together = || flows.iter().enumerate().filter(|(place, _)| counted(*place)).map(|(_, row)| row);
    prop_assert_eq!(all.asked, together().map(|row| row.asked).sum::<u64>());
    prop_assert_eq!(all.finished, together().map(|row| row.finished).sum::<u64>());
    for one in result.requests.iter().flatten() {
        let times = [one.asked, one.begun, one.arrived, one.answered, one.ended];
        prop_assert!(times.is_sorted(), "{:?}", times);
    }
    Ok(())
}

/// What came is what went on, what was dropped and what was still there; and of packets nobody
/// knows more than was counted.
pub(crate) fn accounts_of_cells_balance(plan: &Plan, result: &RunResult) -> Result<(), TestCaseError> {
    for (row, gate) in plan.gates.iter().zip(&result.summary.gates) {
        let Some(cells) = gate.cells else { continue };
        if plan.warmup == Time::ZERO {
            prop_assert!(cells.offered_cells >= cells.delivered_cells + cells.dropped_cells);
        }
        if let QueueLimit::Cells(limit) = row.queue.limit {
            prop_assert!(cells.queue_max_cells <= limit, "{} above {limit}", cells.queue_max_cells);
        }
        prop_assert!(gate.dropped_packets <= cells.dropped_cells + cells.wasted_cells.unwrap_or(0));
        prop_assert_eq!((gate.queue_mean_packets, gate.queue_max_packets), (None, None));
        prop_assert_eq!(gate.delivered_bytes, cells.delivered_cells * 53);
        if let Some(used) = gate.utilisation {
            // A shaper with a tolerance may be ahead of its rate by as much.
            prop_assert!(used < 1.01, "{used}");
        }
    }
    for (gate, rows) in plan.gates.iter().zip(&result.gates) {
        for row in rows {
            let Some(cells) = row.cells else { continue };
            prop_assert!(cells.fluid <= cells.whole as f64 + 1e-9, "{:?} at {}", cells, gate.name);
            prop_assert!(cells.whole >= row.queue_packets);
        }
    }
    Ok(())
}
