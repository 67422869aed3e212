//! `gate.x.classes`, `gate.x.scheduler` and `gate.x.tas` to [`ClassesPlan`]. Who is of which class is known later
//! ([`crate::lower::place::classes`]).

use std::sync::Arc;

use tidegate_core::plan::{
    ClassPlan, ClassesPlan, Framing, MOST_CLASSES, QueueCounts, QueueLimit, QueuePlan, RatePlan,
    SchedulerPlan,
};
use tidegate_core::units::{Rate, Speed};

use super::aqm::aqm;
use super::cake;
use super::schedulers::{Row, htb, parent, strict, wfq};
use crate::check::{Form, Item, Named, Value};
use crate::lower::notes::Notes;
use crate::lower::values::{LARGEST_QUANTUM, bytes_u32, no_meaning};
use crate::units::Amount;

/// The gate that has the classes, as far as it is known.
pub(crate) struct Host<'a> {
    pub(crate) rate: &'a RatePlan,
    pub(crate) framing: Framing,
}

impl Host<'_> {
    /// Its rate, where it is constant and in bit/s.
    fn link(&self) -> Option<Rate> {
        match self.rate {
            RatePlan::Constant(Speed::Bits(rate)) => Some(*rate),
            _ => None,
        }
    }
}

/// The classes of a gate that have packets, in the order of the file: all but those that others borrow from.
pub(crate) fn with_packets(classes: &Form) -> impl Iterator<Item = (&Named, &Form)> {
    let forms = || classes.items.iter().filter_map(|named| Some((named, named.item.table()?)));
    let lends =
        move |name: &str| forms().any(|(_, form)| parent(form).is_some_and(|item| item.text() == Some(name)));
    forms().filter(move |(named, _)| !lends(&named.name))
}

pub(crate) fn classes(form: &Form, host: &Host<'_>, notes: &mut Notes) -> Option<Arc<ClassesPlan>> {
    let Some(classes) = form.table("classes").filter(|classes| !classes.items.is_empty()) else {
        let of_classes = |item: &&Item| !matches!(item.word(), Some("spacer" | "fifo"));
        let scheduler = form.given("scheduler").filter(of_classes);
        for item in scheduler.into_iter().chain(form.given("tas")) {
            notes.wrong(item, "the gate has no classes", "add gate.x.classes, or remove this key");
        }
        if let Some(item) = form.given("classes") {
            notes.warn(item.at, &item.key, "there is no class in it", "add a class, or remove classes");
        }
        return None;
    };
    check_gate(form, classes, host, notes);
    let scheduler = form.get("scheduler");
    let name = scheduler.and_then(Item::word).unwrap_or("strict");
    check_keys(form, classes, name, host, notes);
    let packets: Vec<Row<'_>> = with_packets(classes).collect();
    let mut plans = Vec::new();
    for (named, class) in &packets {
        plans.push(ClassPlan { name: named.name.clone(), queue: queue(class, host, notes) });
    }
    let link = host.link();
    let scheduler = match name {
        "strict" => SchedulerPlan::Strict(strict(form, &packets, link, notes)),
        "drr" => {
            let quantum =
                |(_, class): &Row<'_>| bytes_u32(class.get("quantum"), LARGEST_QUANTUM, notes).max(1);
            SchedulerPlan::Drr(packets.iter().map(quantum).collect())
        }
        "wfq" => SchedulerPlan::Wfq(wfq(&packets, scheduler, link, notes)?),
        "htb" => SchedulerPlan::Htb(htb(classes, &packets, notes)?),
        "spacer" | "fifo" => {
            let problem = format!("\"{name}\" is for a gate without classes, and this one has some");
            notes.wrong(scheduler?, problem, "remove classes, or write strict, drr, wfq or htb");
            return None;
        }
        other => {
            no_meaning(scheduler?, other, notes);
            return None;
        }
    };
    Some(Arc::new(ClassesPlan { scheduler, classes: plans, of_route: Arc::new([]), by_codepoint: None }))
}

/// What the gate itself must not have.
fn check_gate(form: &Form, classes: &Form, host: &Host<'_>, notes: &mut Notes) {
    let whole = form.get("classes").expect("its form is there");
    if host.framing.is_cells()
        && let Some(item) = form.given("slotted").filter(|_| form.flag("slotted"))
    {
        let problem = "cells of one slot are served in random order, whatever their class";
        notes.wrong(item, problem, "remove slotted, or remove classes");
    }
    if matches!(host.rate, RatePlan::Reserve(_)) {
        let help = "give another gate on the path classes, or use another rate law";
        notes.wrong(whole, "a circuit has no classes: its packets wait for its call", help);
    }
    if classes.items.len() > MOST_CLASSES {
        let problem = format!("{} classes: at most {MOST_CLASSES} are read", classes.items.len());
        notes.wrong(whole, problem, "put several flows into one class");
    }
    if let Some(aqm) = form.table("queue").and_then(|queue| queue.given("aqm")) {
        if form.table("queue").and_then(cake::named).is_some() {
            let problem = "cake has classes of its own, its tins, and cannot stand beside others";
            notes.wrong(aqm, problem, "remove gate.x.classes, or use fq_codel in the classes");
        } else {
            let help = "write it in the class: gate.x.classes.NAME.queue.aqm";
            notes.wrong(aqm, "a gate with classes has active queue management by class", help);
        }
    }
}

/// Keys of one scheduler that stand beside another.
fn check_keys(form: &Form, classes: &Form, scheduler: &str, host: &Host<'_>, notes: &mut Notes) {
    for class in
        classes.items.iter().filter_map(|named| named.item.table()).filter(|_| host.framing.is_cells())
    {
        if let Some(item) = class.given("cbs") {
            let problem = "credit-based shaping is for Ethernet frames, and this gate passes cells";
            notes.wrong(item, problem, "remove this key, or remove framing");
        }
    }
    if let Some(item) = form.given("tas").filter(|_| host.framing.is_cells()) {
        let problem = "time-aware gates are for Ethernet frames, and this gate passes cells";
        notes.wrong(item, problem, "remove this key, or remove framing");
    }
    let only = [("quantum", "drr"), ("weight", "wfq"), ("cbs", "strict"), ("htb", "htb")];
    for class in classes.items.iter().filter_map(|named| named.item.table()) {
        for (key, of) in only.iter().filter(|(_, of)| *of != scheduler) {
            if let Some(item) = class.given(key) {
                let problem = format!("this is for scheduler = \"{of}\", and the gate has \"{scheduler}\"");
                notes.wrong(item, problem, format!("remove it, or write scheduler = \"{of}\""));
            }
        }
    }
    if let (Some(item), true) = (form.given("tas"), scheduler != "strict") {
        let problem =
            format!("time-aware gates need scheduler = \"strict\", and the gate has \"{scheduler}\"");
        notes.wrong(item, problem, "remove tas, or write scheduler = \"strict\"");
    }
}

/// The queue of a class.
fn queue(form: &Form, host: &Host<'_>, notes: &mut Notes) -> QueuePlan {
    let Some(queue) = form.table("queue") else { return QueuePlan::UNLIMITED };
    let limit = match queue.get("limit").map(|item| (item, &item.value)) {
        Some((_, Value::Amount(Amount::Cells(cells)))) if host.framing.is_cells() => {
            QueueLimit::Cells(*cells)
        }
        Some((item, Value::Amount(Amount::Packets(_) | Amount::Bytes(_)))) if host.framing.is_cells() => {
            let problem = "the queue of a class at a cell gate is counted in cells";
            notes.wrong(item, problem, "write a number of cells, such as \"500 cells\"");
            QueueLimit::Unlimited
        }
        Some((_, Value::Amount(Amount::Packets(packets)))) => QueueLimit::Packets(*packets),
        Some((_, Value::Amount(Amount::Bytes(bytes)))) => QueueLimit::Bytes(*bytes),
        Some((item, Value::Amount(Amount::Cells(_)))) => {
            let help = "write packets or bytes, such as \"100 packets\"";
            notes.wrong(item, "this gate's queue holds packets, not cells", help);
            QueueLimit::Unlimited
        }
        _ => QueueLimit::Unlimited,
    };
    if let Some((item, _)) = cake::named(queue) {
        let help = "write it at the gate, gate.x.queue.aqm, and remove the classes; or use fq_codel here";
        notes.wrong(item, "cake has classes of its own, its tins, and cannot be inside a class", help);
    }
    let discipline = aqm(queue, host.rate, host.framing, notes);
    QueuePlan { discipline, limit, counts: QueueCounts::Waiting, ..QueuePlan::UNLIMITED }
}

/// Whether packets could be held back by an opportunity and by their tokens at once.
pub(crate) fn check_law(form: &Form, plan: Option<&ClassesPlan>, rate: &RatePlan, notes: &mut Notes) {
    if let (Some(SchedulerPlan::Htb(_)), RatePlan::Opportunities { .. }) =
        (plan.map(|plan| &plan.scheduler), rate)
        && let Some(item) = form.get("scheduler")
    {
        let problem = "htb would wait for tokens where the trace has delivery opportunities";
        notes.wrong(
            item,
            problem,
            "write scheduler = \"drr\", or put the trace and the classes at two gates",
        );
    }
}
