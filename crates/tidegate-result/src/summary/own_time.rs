//! The time over which a flow's rates count, and what came in it.

use tidegate_core::app::Exchange;
use tidegate_core::net::measured;
use tidegate_core::plan::{AppPlan, FlowPlan, Plan};
use tidegate_core::units::Time;

/// When a flow began and ended.
#[derive(Clone, Copy, Debug)]
pub struct FlowTimes<'a> {
    /// When it began.
    pub started: Time,
    /// When the last byte of a finite transfer arrived.
    pub completed: Option<Time>,
    /// What came first of a finite transfer in the measured time, if it had begun before.
    pub first_data: Option<FirstData>,
    /// Its exchanges, those last that had not ended.
    pub requests: &'a [Exchange],
}

/// The first data of a flow inside the measured time, where it had begun before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FirstData {
    /// When data came last before the measured time, or the flow began.
    pub before: Time,
    /// When these came.
    pub at: Time,
    /// User bytes for the first time.
    pub delivered_bytes: u64,
    /// User bytes that became readable in order.
    pub in_order_bytes: u64,
    /// IP bytes of their segments.
    pub received_bytes: u64,
}

/// The seconds over which a flow's rates count, and the share of its [`FirstData`] that does not.
pub(super) struct OwnTime {
    seconds: f64,
    uncounted: f64,
}

impl OwnTime {
    /// The measured time; of a finite transfer that ended, the part of it between the transfer's start and its end. `None`: there is no
    /// such part, or the flow did not begin before the end, or the last of its counted requests had ended before.
    pub(super) fn of(plan: &Plan, flow: &FlowPlan, of: FlowTimes<'_>) -> Option<OwnTime> {
        let measured = measured(plan);
        if of.started >= measured.until
            || requests_done(flow, of.requests).is_some_and(|at| at <= measured.from)
        {
            return None;
        }
        let Some(end) = of.completed else {
            return Some(OwnTime { seconds: measured.seconds(), uncounted: 0.0 });
        };
        let seconds = end.saturating_since(of.started.max(measured.from)).as_secs_f64();
        // The first data took the time since those before, of which a part is not measured. To count them whole would
        // be to count one packet more than the time has room for, however short that is.
        let uncounted = of.first_data.map_or(0.0, |first| {
            let took = first.at.saturating_since(first.before).as_secs_f64();
            if took > 0.0 { measured.from.saturating_since(first.before).as_secs_f64() / took } else { 0.0 }
        });
        (seconds > 0.0).then_some(OwnTime { seconds, uncounted })
    }

    /// Bits per second of so many bytes, `first` of which are the first data.
    pub(super) fn per_second(&self, bytes: u64, first: u64) -> f64 {
        (bytes as f64 - self.uncounted * first as f64) * 8.0 / self.seconds
    }
}

/// When the last of a flow's counted requests ended, if all have.
fn requests_done(flow: &FlowPlan, log: &[Exchange]) -> Option<Time> {
    let AppPlan::Request(requests) = &flow.app else { return None };
    let all = log.len() as u64 >= requests.count?;
    if all { log.iter().map(|exchange| exchange.ended).max() } else { None }
}
