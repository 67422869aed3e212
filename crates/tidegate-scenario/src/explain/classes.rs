//! The classes of a gate in words.

use std::collections::BTreeSet;

use tidegate_core::plan::{
    ClassesPlan, Discipline, GatePlan, HtbPlan, OpeningsPlan, Plan, QueueLimit, SchedulerPlan, SpacedClass,
    SpacerPlan, StrictPlan,
};

use super::text::{part, rate_text};
use super::tins;
use crate::check::Form;
use crate::table::codepoints;
use crate::units::{Amount, plural};

/// Keys that are not shown: those that a gate without classes has no use for, and the tables of the classes, which have
/// lines of their own.
pub(super) fn hidden(form: &Form) -> Vec<&'static str> {
    match form.table("classes") {
        Some(_) => vec!["classes"],
        None if form.given("scheduler").is_some() => vec!["classes", "tas"],
        None => vec!["classes", "scheduler", "tas"],
    }
}

pub(super) fn lines(gate: &GatePlan, form: &Form, plan: &Plan) -> Vec<String> {
    let Some(classes) = gate.classes.as_deref() else { return Vec::new() };
    let mut lines = match &classes.scheduler {
        SchedulerPlan::Cake(cake) => tins::rules(cake),
        scheduler => vec![rule(scheduler).to_owned()],
    };
    if let SchedulerPlan::Spacer(spacer) = &classes.scheduler {
        lines.push(circuits(classes, spacer));
        return lines;
    }
    for (number, class) in classes.classes.iter().enumerate() {
        let mut text = format!("class {}: {}", class.name, members(classes, number as u16, gate, plan));
        text += &share(classes, number, form);
        if let Discipline::Cake(tin) = class.queue.discipline {
            lines.push(text + &tins::queues(&tin));
            continue;
        }
        text += &format!(", a queue {}", limit_text(class.queue.limit));
        if !class.queue.discipline.decides_at_arrival() || class.queue.discipline.marks() {
            text += &format!(" under {}", class.queue.discipline.name());
        }
        lines.push(text);
    }
    lines
}

/// What follows "a queue": "of 10 packets", "without limit".
fn limit_text(limit: QueueLimit) -> String {
    let amount = match limit {
        QueueLimit::Unlimited => return "without limit".to_owned(),
        QueueLimit::Packets(packets) => Amount::Packets(packets),
        QueueLimit::Bytes(bytes) => Amount::Bytes(bytes),
        QueueLimit::Cells(cells) => Amount::Cells(cells),
    };
    format!("of {amount}")
}

fn rule(scheduler: &SchedulerPlan) -> &'static str {
    match scheduler {
        SchedulerPlan::Strict(_) => {
            "the first class that has packets and may send is served next; none is interrupted"
        }
        SchedulerPlan::Drr(_) => "classes take turns, and send the bytes of their quantum in each",
        SchedulerPlan::Wfq(_) => {
            "the packet goes next that would end first if all classes were served at once by weight"
        }
        SchedulerPlan::Htb(_) => {
            "a class sends at its rate; beyond it, up to its ceiling, with what its parent does not need"
        }
        SchedulerPlan::Spacer(_) => {
            "each flow is a virtual circuit that keeps its contract; the one with the earliest theoretical emission time goes first"
        }
        SchedulerPlan::Cake(_) => "",
    }
}

/// Whose packets a class has.
fn members(classes: &ClassesPlan, class: u16, gate: &GatePlan, plan: &Plan) -> String {
    // Copies have the part of their name after the last dot.
    let stem = |name: &str| name.split('.').next().unwrap_or(name).to_owned();
    let server = plan.gates.iter().position(|row| row.name == gate.name);
    let passes = |path: &[usize]| server.is_some_and(|server| path.contains(&server));
    let is_of = |route: usize| classes.of_route.get(route).copied().unwrap_or(0) == class;
    let mut names = BTreeSet::new();
    for (number, flow) in plan.flows.iter().enumerate() {
        if passes(&flow.path) && is_of(2 * number) {
            names.insert(stem(&flow.name));
        }
        if passes(&flow.back) && is_of(2 * number + 1) {
            names.insert(format!("{}/back", stem(&flow.name)));
        }
    }
    for (number, source) in plan.traffic.iter().enumerate() {
        if passes(&source.path) && is_of(2 * plan.flows.len() + number) {
            names.insert(stem(&source.name));
        }
    }
    let remarked = remarked(classes, class, plan);
    if names.is_empty() {
        return if remarked.is_empty() { "nobody".to_owned() } else { remarked };
    }
    let all = names.len();
    let mut text = names.into_iter().take(6).collect::<Vec<_>>().join(", ");
    if all > 6 {
        text += &format!(" and {} more", all - 6);
    }
    if remarked.is_empty() { text } else { format!("{text}; {remarked}") }
}

/// "packets remarked AF12, AF13": what markers make of this class. Empty where they make nothing of it.
fn remarked(classes: &ClassesPlan, class: u16, plan: &Plan) -> String {
    let Some(by) = &classes.by_codepoint else { return String::new() };
    let markers = plan.gates.iter().filter_map(|gate| gate.marker.as_ref());
    let given: BTreeSet<u8> = markers.flat_map(|marker| marker.codepoints).flatten().collect();
    let of_class = given.into_iter().filter(|codepoint| by.classes[usize::from(*codepoint)] == Some(class));
    let names: Vec<String> = of_class.map(codepoints::text).collect();
    if names.is_empty() { String::new() } else { format!("packets remarked {}", names.join(", ")) }
}

/// What the scheduler gives a class.
fn share(classes: &ClassesPlan, number: usize, form: &Form) -> String {
    match &classes.scheduler {
        SchedulerPlan::Strict(plan) => strict(plan, number),
        SchedulerPlan::Drr(quanta) => {
            let sum: u64 = quanta.iter().map(|quantum| u64::from(*quantum)).sum();
            format!(", {} of the rate while all have packets", part(f64::from(quanta[number]) / sum as f64))
        }
        SchedulerPlan::Wfq(plan) => {
            let sum: u64 = plan.weights.iter().map(|weight| u64::from(*weight)).sum();
            let share = f64::from(plan.weights[number]) / sum as f64;
            format!(", {} of the rate while all have packets", part(share))
        }
        SchedulerPlan::Htb(plan) => htb(plan, number, &classes.classes[number].name, form),
        SchedulerPlan::Spacer(_) => String::new(),
        SchedulerPlan::Cake(plan) => tins::share(plan, number),
    }
}

/// How many virtual circuits there are, what they may send together, and their queues.
fn circuits(classes: &ClassesPlan, spacer: &SpacerPlan) -> String {
    let bits = 8 * u64::from(spacer.unit_bytes);
    let rate =
        |class: &SpacedClass| class.limits.first().map_or(0.0, |limit| limit.exact_bits_per_second(bits));
    let sum: f64 = spacer.classes.iter().map(rate).sum();
    let limit = classes.classes.first().map_or(QueueLimit::Unlimited, |class| class.queue.limit);
    let count = plural(classes.classes.len() as u64, "virtual circuit");
    format!("{count} with contracts of {} together, each with a queue {}", rate_text(sum), limit_text(limit))
}

fn strict(plan: &StrictPlan, number: usize) -> String {
    let mut text = String::new();
    if let Some(credit) = plan.credits[number] {
        text += &format!(", {} by credit", rate_text(credit.idle_slope.bps() as f64));
    }
    if let Some(open) = plan.open[number].as_deref() {
        let OpeningsPlan { cycle, openings, .. } = open;
        let picos: u64 = openings.iter().map(|(from, to)| to.picos() - from.picos()).sum();
        text += &format!(", may send for {} of each {cycle}", tidegate_core::units::Span::from_picos(picos));
    }
    text
}

fn htb(plan: &HtbPlan, number: usize, name: &str, form: &Form) -> String {
    let node = plan.nodes[number];
    let [rate, ceil] = [node.rate, node.ceil].map(|rate| rate_text(rate.bps() as f64));
    if node.ceil == node.rate {
        return format!(", {rate}");
    }
    let parent = form
        .table("classes")
        .and_then(|classes| classes.table(name))
        .and_then(|class| class.table("htb"))
        .and_then(|htb| htb.given("parent"))
        .and_then(|item| item.text());
    match parent {
        Some(parent) => format!(", {rate} and up to {ceil} borrowed from {parent}"),
        None => format!(", {rate} and up to {ceil} borrowed from the gate"),
    }
}
