//! Circuits, pools and calls in words.

use tidegate_core::plan::{
    ArrivalPlan, Blocked, CallsPlan, Demand, HoldingPlan, Plan, PoolOrder, RatePlan, ReservationPlan,
    ReservePlan,
};
use tidegate_core::units::{Rate, Span};

use super::text::{rate_text, seconds_text, three_digits};
use super::{Row, consequence, rows_of, write_rows};
use crate::check::Form;
use crate::units::plural;

/// How many calls of a kind fit at once, where they are the only ones.
fn fitting(plan: &Plan, demands: &[Demand]) -> u64 {
    let room = |demand: &Demand| plan.pools[demand.pool].capacity.bps() / demand.rate.bps().max(1);
    demands.iter().map(room).min().unwrap_or(0)
}

/// "155.52 Mbit/s, pool vp", of the pool that holds the fewest.
fn tightest(plan: &Plan, demands: &[Demand]) -> String {
    let room = |demand: &&Demand| plan.pools[demand.pool].capacity.bps() / demand.rate.bps().max(1);
    demands.iter().min_by_key(room).map_or(String::new(), |demand| {
        let pool = &plan.pools[demand.pool];
        format!("{}, pool {}", pool.capacity, pool.name)
    })
}

fn blocked_text(blocked: Blocked, what: &str) -> String {
    match blocked {
        Blocked::Wait => format!("a call that does not fit waits{what}"),
        Blocked::Refuse => "a call that does not fit is lost".to_owned(),
        Blocked::Retry(after) => format!("a call that does not fit is repeated after {after}"),
    }
}

/// What a circuit's numbers amount to.
pub(super) fn lines(circuit: &ReservePlan, plan: &Plan) -> Vec<String> {
    let Some(row) = plan.reservations.get(circuit.reservation) else { return Vec::new() };
    let ReservationPlan { demands, setup, hold, blocked, .. } = row;
    let fit = fitting(plan, demands);
    let mut lines = Vec::new();
    if demands.iter().all(|demand| demand.rate == circuit.rate) {
        let verb = if fit == 1 { "fits" } else { "fit" };
        lines.push(format!(
            "{} of {} {verb} into {}",
            plural(fit, "circuit"),
            circuit.rate,
            tightest(plan, demands)
        ));
    } else {
        lines.push(format!(
            "its call requests other circuits too; {fit} such calls fit into {}",
            tightest(plan, demands)
        ));
    }
    let up =
        if *setup == Span::ZERO { "at the grant".to_owned() } else { format!("{setup} after the grant") };
    let kept = match hold {
        None => "never released".to_owned(),
        Some(Span::ZERO) => "released as soon as it is idle".to_owned(),
        Some(hold) => format!("released after {hold} of idle time"),
    };
    let packets = match blocked {
        Blocked::Refuse => "and the packet that requested it is dropped",
        Blocked::Wait | Blocked::Retry(_) => "and packets wait in the queue",
    };
    lines.push(format!("the first packet requests the circuit; the circuit is up {up}, and {kept}"));
    lines.push(format!("{}, {packets}", blocked_text(*blocked, "")));
    lines
}

pub(super) fn explain_pool(name: &str, form: &Form, plan: &Plan, out: &mut String) {
    let mut rows: Vec<Row> = Vec::new();
    rows_of(form, "", &[], &mut rows);
    let Some(index) = plan.pools.iter().position(|pool| pool.name == name) else {
        return write_rows(&format!("pool {name}"), &rows, out);
    };
    let takes = |demands: &[Demand]| demands.iter().any(|demand| demand.pool == index);
    let reservations: Vec<&ReservationPlan> =
        plan.reservations.iter().filter(|row| takes(&row.demands)).collect();
    let sources: Vec<&CallsPlan> = plan.calls.iter().filter(|row| takes(&row.demands)).collect();
    if reservations.is_empty() && sources.is_empty() {
        rows.retain(|row| row.key != "order");
        write_rows(&format!("pool {name}"), &rows, out);
        return channels(plan, index, out);
    }
    write_rows(&format!("pool {name}"), &rows, out);
    let capacity = plan.pools[index].capacity;
    let of = |demands: &[Demand]| -> u64 {
        demands.iter().filter(|demand| demand.pool == index).map(|demand| demand.rate.bps()).sum()
    };
    if let [first, .., last] = reservations.as_slice() {
        let names = format!("{} to {}", first.name, last.name);
        consequence(
            &format!("{} take capacity from it: {names}", plural(reservations.len() as u64, "circuit")),
            out,
        );
    } else if let [one] = reservations.as_slice() {
        consequence(&format!("circuit {} takes capacity from it", one.name), out);
    }
    for source in &sources {
        consequence(
            &format!(
                "calls.{} take capacity from it, {} each",
                source.name,
                Rate::from_bps(of(&source.demands))
            ),
            out,
        );
    }
    let sum: u64 = reservations.iter().map(|row| of(&row.demands)).sum();
    if sources.is_empty() && sum <= capacity.bps() {
        let left = rate_text((capacity.bps() - sum) as f64);
        consequence(
            &format!("all of them fit into {capacity} at once, with {left} left: no call ever waits"),
            out,
        );
    } else {
        let who = match plan.pools[index].order {
            PoolOrder::Asked => "calls are served in the order in which they arrive",
            PoolOrder::FirstFit => "a small call may overtake a large one, which may wait for a long time",
        };
        consequence(&format!("they may not all fit into {capacity} at once: {who}"), out);
    }
}

/// A pool of DTM channels.
fn channels(plan: &Plan, index: usize, out: &mut String) {
    let channels = plan.gates.iter().filter_map(|gate| match &gate.rate {
        RatePlan::Dtm(channel) if channel.pool == Some(index) => Some((gate, channel)),
        _ => None,
    });
    let initial: u64 = channels.clone().map(|(_, channel)| channel.initial.bps()).sum();
    let names: Vec<&str> = channels.map(|(gate, _)| gate.name.as_str()).collect();
    match names.as_slice() {
        [] => consequence("no gate takes capacity from it", out),
        [one] => consequence(&format!("only {one} takes capacity from it"), out),
        [first, .., last] => {
            let count = names.len();
            let left = plan.pools[index].capacity.bps().saturating_sub(initial);
            consequence(
                &format!(
                    "{count} channels share {}: {first} to {last}; {} is free at the start",
                    plan.pools[index].capacity,
                    rate_text(left as f64)
                ),
                out,
            );
        }
    }
}

/// `[calls.x]`.
pub(super) fn explain_calls(name: &str, form: &Form, plan: &Plan, out: &mut String) {
    let mut rows: Vec<Row> = Vec::new();
    rows_of(form, "", &[], &mut rows);
    write_rows(&format!("calls {name}"), &rows, out);
    let Some(source) = plan.calls.iter().find(|source| source.name == name) else { return };
    let mean = |holding: HoldingPlan| match holding {
        HoldingPlan::Constant(span) | HoldingPlan::Exponential(span) => span.as_secs_f64(),
    };
    let held = mean(source.hold) + source.setup.as_secs_f64();
    let fit = fitting(plan, &source.demands);
    let verb = if fit == 1 { "fits" } else { "fit" };
    let room = format!("{} {verb} at once into {}", plural(fit, "call"), tightest(plan, &source.demands));
    match source.arrivals {
        ArrivalPlan::Every(gap) if mean(gap) > 0.0 => {
            let load = held / mean(gap);
            consequence(
                &format!(
                    "a call every {} that lasts {} is a load of {} Erlang; {room}",
                    seconds_text(mean(gap)),
                    seconds_text(held),
                    three_digits(load),
                ),
                out,
            );
            if source.blocked == Blocked::Wait && source.patience.is_none() && load >= fit as f64 {
                consequence("the load exceeds the capacity: the number of waiting calls keeps growing", out);
            }
        }
        ArrivalPlan::Every(_) => {}
        ArrivalPlan::Sources { count, idle } => {
            let count = u64::from(count);
            let cycle = mean(idle) + held;
            let load = if cycle > 0.0 { count as f64 * held / cycle } else { count as f64 };
            consequence(
                &format!(
                    "{}, each idle for {} and then in a call for {}: {} calls on average if none is blocked; {room}",
                    plural(count, "source"),
                    seconds_text(mean(idle)),
                    seconds_text(held),
                    three_digits(load),
                ),
                out,
            );
            if count <= fit {
                consequence("all sources fit at once, so these sources never block each other", out);
            }
        }
    }
    if let Some(patience) = source.patience {
        let kind = if matches!(patience, HoldingPlan::Exponential(_)) { " on average" } else { "" };
        let span = seconds_text(mean(patience));
        consequence(&format!("a call that has waited for {span}{kind} gives up (abandoned)"), out);
    }
    consequence(&blocked_text(source.blocked, " for its turn"), out);
}
