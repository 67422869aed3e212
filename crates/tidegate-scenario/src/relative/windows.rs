//! Receive windows: the lowest rate on the flow's path, times a time or the flow's own round trip.

use tidegate_core::plan::{FlowPlan, Plan};

use super::amount::{Came, longest_of, of_round_trip};
use super::mean::{Refusal, lowest};
use crate::check::{Form, Item};
use crate::units::Amount;

/// The window of the flows that have the table `section`: `flow.x.tcp`, or a set `tcp.x` that flows use; `None` if
/// there is no such flow.
pub(super) fn came_to(
    asked: Amount,
    section: &str,
    root: &Form,
    plan: &Plan,
) -> Result<Option<Came>, Refusal> {
    let mut first: Option<(Came, &str)> = None;
    for flow in plan.flows.iter().filter(|flow| has(flow, section, root)) {
        let came = of_flow(asked, flow, plan)?;
        match &first {
            Some((other, name)) if other.amount != came.amount => {
                let (less, more) = (other.amount, came.amount);
                return Err((
                    format!("flow {name} would have {less}, flow {} {more}", flow.name),
                    "write window below flow.NAME.tcp, or as a size".to_owned(),
                ));
            }
            Some(_) => {}
            None => first = Some((came, &flow.name)),
        }
    }
    Ok(first.map(|(came, _)| came))
}

fn of_flow(asked: Amount, flow: &FlowPlan, plan: &Plan) -> Result<Came, Refusal> {
    let rate = lowest(&flow.path, plan).ok_or_else(|| {
        (
            format!(
                "no gate on the path of flow {} has a rate in bit/s that is known before the run",
                flow.name
            ),
            "write the window in segments or bytes".to_owned(),
        )
    })?;
    let trips = std::iter::once((flow.round_trip_delay(&plan.gates), flow.name.as_str()));
    let trip = match asked {
        Amount::Products(_) => longest_of(trips).transpose()?,
        _ => None,
    };
    of_round_trip(asked, rate, trip)
}

/// Whether a flow of the plan has its receive window from this table.
fn has(flow: &FlowPlan, section: &str, root: &Form) -> bool {
    let stem = flow.name.split('.').next().unwrap_or(&flow.name);
    let tcp = root.table("flow").and_then(|flows| flows.table(stem)).and_then(|form| form.table("tcp"));
    let Some(tcp) = tcp else { return false };
    if tcp.key == section {
        return true;
    }
    let set = tcp.given("use").and_then(Item::text);
    tcp.given("window").is_none() && set.is_some_and(|name| section == format!("tcp.{name}"))
}
