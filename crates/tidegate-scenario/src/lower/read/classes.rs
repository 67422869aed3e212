//! `gate.x.classes`, `gate.x.scheduler` and `gate.x.tas` to [`ClassesPlan`]. Who is of which class is known later
//! ([`crate::lower::place::classes`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use tidegate_core::plan::{
    ClassPlan, ClassesPlan, CreditPlan, Discipline, Framing, HtbNode, HtbPlan, MOST_CLASSES, OpeningsPlan,
    QueueCounts, QueueLimit, QueuePlan, RatePlan, SchedulerPlan, StrictPlan, WfqPlan,
};
use tidegate_core::units::{Rate, Span, Speed};

use super::aqm::aqm;
use crate::check::{Form, Item, Named, Value};
use crate::lower::notes::Notes;
use crate::lower::values::{bytes_u32, no_meaning};
use crate::units::Amount;

/// A larger quantum makes turns of seconds, at no rate that anybody shares.
const LARGEST_QUANTUM: u32 = 1_000_000;
/// Rate over this is the quantum of `htb` where none is written, in bytes (Linux `r2q`).
const R2Q: u64 = 10;
const QUANTA: (u64, u64) = (1_000, 200_000);
/// No cycle of time-aware gates is longer.
const LONGEST_CYCLE: Span = Span::from_millis(3_600_000);

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

fn parent(form: &Form) -> Option<&Item> {
    form.table("htb").and_then(|htb| htb.given("parent"))
}

pub(crate) fn classes(form: &Form, host: &Host<'_>, notes: &mut Notes) -> Option<Arc<ClassesPlan>> {
    let Some(classes) = form.table("classes").filter(|classes| !classes.items.is_empty()) else {
        for item in ["scheduler", "tas"].into_iter().filter_map(|key| form.given(key)) {
            notes.wrong(item, "the gate has no classes", "add gate.x.classes, or remove this key");
        }
        return None;
    };
    check_gate(form, classes, host, notes);
    let scheduler = form.get("scheduler");
    let name = scheduler.and_then(Item::word).unwrap_or("strict");
    check_keys(form, classes, name, notes);
    let packets: Vec<(&Named, &Form)> = with_packets(classes).collect();
    let plans = packets
        .iter()
        .map(|(named, form)| ClassPlan { name: named.name.clone(), queue: queue(form, host, notes) });
    let plans: Vec<ClassPlan> = plans.collect();
    let quantum =
        |form: &Form, notes: &mut Notes| bytes_u32(form.get("quantum"), LARGEST_QUANTUM, notes).max(1);
    let scheduler = match name {
        "strict" => SchedulerPlan::Strict(strict(form, &packets, host, notes)),
        "drr" => SchedulerPlan::Drr(packets.iter().map(|(_, form)| quantum(form, notes)).collect()),
        "wfq" => SchedulerPlan::Wfq(wfq(&packets, scheduler, host, notes)?),
        "htb" => SchedulerPlan::Htb(htb(classes, &packets, notes)?),
        other => {
            no_meaning(scheduler?, other, notes);
            return None;
        }
    };
    Some(Arc::new(ClassesPlan { scheduler, classes: plans, of_route: Arc::new([]) }))
}

/// What the gate itself must not have.
fn check_gate(form: &Form, classes: &Form, host: &Host<'_>, notes: &mut Notes) {
    let whole = form.get("classes").expect("its form is there");
    if host.framing.is_cells() {
        notes.wrong(whole, "a cell gate has no classes of packets", "remove this key, or remove framing");
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
        let help = "write it in the class: gate.x.classes.NAME.queue.aqm";
        notes.wrong(aqm, "a gate with classes has active queue management by class", help);
    }
}

/// Keys of one scheduler that stand beside another.
fn check_keys(form: &Form, classes: &Form, scheduler: &str, notes: &mut Notes) {
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
        Some((_, Value::Amount(Amount::Packets(packets)))) => QueueLimit::Packets(*packets),
        Some((_, Value::Amount(Amount::Bytes(bytes)))) => QueueLimit::Bytes(*bytes),
        Some((item, Value::Amount(Amount::Cells(_)))) => {
            let help = "write packets or bytes, such as \"100 packets\"";
            notes.wrong(item, "this gate's queue holds packets, not cells", help);
            QueueLimit::Unlimited
        }
        _ => QueueLimit::Unlimited,
    };
    let discipline = if host.framing.is_cells() {
        Discipline::DropTail
    } else {
        aqm(queue, host.rate, host.framing, notes)
    };
    QueuePlan { discipline, limit, counts: QueueCounts::Waiting, tagged: None }
}

fn strict(form: &Form, packets: &[(&Named, &Form)], host: &Host<'_>, notes: &mut Notes) -> StrictPlan {
    let tas = form.table("tas");
    let has_credit = packets.iter().find_map(|(_, class)| class.given("cbs"));
    let link = host.link();
    if let (None, Some(item)) = (link, form.given("tas").or(has_credit)) {
        let help = "write rate = \"100 Mbit/s\" at the gate, or remove this key";
        notes.wrong(item, "this needs a gate with a constant rate in bit/s", help);
    }
    let credits = credits(packets, link, notes);
    let open = match tas {
        Some(tas) => openings(tas, packets, notes),
        None => vec![None; packets.len()],
    };
    for (_, class) in packets.iter().filter(|_| tas.is_some()) {
        let aqm = class.table("queue").and_then(|queue| queue.given("aqm"));
        if let Some(item) = aqm.filter(|item| drops_at_departure(item)) {
            let problem =
                "with time-aware gates a packet is chosen by its length, and this would replace it then";
            notes.wrong(item, problem, "write none, step or pie, which decide when a packet arrives");
        }
    }
    StrictPlan { link: link.filter(|_| tas.is_some() || has_credit.is_some()), credits, open }
}

fn drops_at_departure(item: &Item) -> bool {
    let name = item.table().and_then(Form::only).map(|(name, _)| name).or(item.word());
    !matches!(name, Some("none" | "step" | "pie"))
}

fn credits(packets: &[(&Named, &Form)], link: Option<Rate>, notes: &mut Notes) -> Vec<Option<CreditPlan>> {
    let mut sum = 0_u64;
    let mut credit = |class: &Form| {
        let cbs = class.table("cbs")?;
        let (slope, item) = (cbs.rate("idle_slope")?, cbs.get("idle_slope")?);
        sum = sum.saturating_add(slope.bps());
        if let Some(link) = link
            && sum >= link.bps()
        {
            let problem = if sum == slope.bps() {
                format!("{slope} is not less than the rate of the gate, {link}")
            } else {
                format!(
                    "the slopes of all classes so far make {}, the gate carries {link}",
                    Rate::from_bps(sum)
                )
            };
            notes.wrong(item, problem, "write less: the rest of the rate is for classes without a shaper");
        }
        Some(CreditPlan { idle_slope: slope, most: cbs.bytes("hi_credit"), least: cbs.bytes("lo_credit") })
    };
    packets.iter().map(|(_, class)| credit(class)).collect()
}

/// When each class may send.
fn openings(tas: &Form, packets: &[(&Named, &Form)], notes: &mut Notes) -> Vec<Option<Arc<OpeningsPlan>>> {
    let mut open: Vec<Vec<(Span, Span)>> = vec![Vec::new(); packets.len()];
    let mut now = Span::ZERO;
    for state in tas.list("states") {
        let [length, names] = state.list() else { continue };
        let end = now + length.span().unwrap_or(Span::ZERO);
        for item in names.list() {
            let Some(name) = item.text() else { continue };
            match packets.iter().position(|(named, _)| named.name == name) {
                Some(class) => match open[class].last_mut().filter(|(_, to)| *to >= now) {
                    Some((_, to)) => *to = end,
                    None => open[class].push((now, end)),
                },
                None => {
                    let names: Vec<&str> = packets.iter().map(|(named, _)| named.name.as_str()).collect();
                    let help = format!("the classes are {}", names.join(", "));
                    notes.wrong(item, format!("no class is called {name:?}"), help);
                }
            }
        }
        now = end;
    }
    if let (Some(item), true) = (tas.get("states"), now > LONGEST_CYCLE) {
        notes.wrong(item, format!("a cycle of {now}"), format!("write {LONGEST_CYCLE} or less in all"));
        return vec![None; packets.len()];
    }
    let (cycle, offset) = (now, tas.span("offset").unwrap_or(Span::ZERO));
    let class = |((named, _), mut openings): (&(&Named, &Form), Vec<(Span, Span)>)| {
        if openings == [(Span::ZERO, cycle)] {
            return None;
        }
        let (Some(first), Some(last)) = (openings.first().copied(), openings.last().copied()) else {
            let problem = format!("class {} may never send", named.name);
            notes.wrong(tas.get("states")?, problem, "name it in one of the states, or remove the class");
            return None;
        };
        // What is open at the end of a cycle and at the begin of the next is one opening.
        if first.0 == Span::ZERO && last.1 == cycle && openings.len() > 1 {
            openings.remove(0);
            openings.last_mut()?.1 = cycle + first.1;
        }
        Some(Arc::new(OpeningsPlan { cycle, offset, openings }))
    };
    packets.iter().zip(open).map(class).collect()
}

fn wfq(
    packets: &[(&Named, &Form)],
    scheduler: Option<&Item>,
    host: &Host<'_>,
    notes: &mut Notes,
) -> Option<WfqPlan> {
    let Some(link) = host.link() else {
        let problem = "wfq needs a gate with a constant rate in bit/s: the fluid that it follows has it";
        notes.wrong(scheduler?, problem, "write rate = \"10 Mbit/s\" at the gate, or scheduler = \"drr\"");
        return None;
    };
    let weight = |class: &Form| class.whole("weight").unwrap_or(1) as u32;
    Some(WfqPlan { link, weights: packets.iter().map(|(_, class)| weight(class)).collect() })
}

fn htb(classes: &Form, packets: &[(&Named, &Form)], notes: &mut Notes) -> Option<HtbPlan> {
    let has_packets = |name: &str| packets.iter().any(|(named, _)| named.name == name);
    let lenders = classes.items.iter().filter(|named| !has_packets(&named.name));
    let lenders: Vec<(&Named, &Form)> =
        lenders.filter_map(|named| Some((named, named.item.table()?))).collect();
    let all: Vec<(&Named, &Form)> = packets.iter().copied().chain(lenders.iter().copied()).collect();
    let numbers: BTreeMap<&str, usize> =
        all.iter().zip(0..).map(|((named, _), n)| (named.name.as_str(), n)).collect();
    for (named, form) in &lenders {
        for item in ["members", "dscp", "queue"].into_iter().filter_map(|key| form.given(key)) {
            let problem = format!("others borrow from {}, so it has no packets of its own", named.name);
            notes.wrong(
                item,
                problem,
                "remove this key, or give these packets a class of their own below it",
            );
        }
    }
    let before = notes.problems.len();
    let nodes: Vec<Option<HtbNode>> =
        all.iter().map(|(named, form)| node(named, form, &numbers, notes)).collect();
    let nodes: Vec<HtbNode> = nodes.into_iter().collect::<Option<_>>()?;
    for (number, (_, form)) in all.iter().enumerate() {
        let mut at = nodes[number].parent;
        for _ in 0..nodes.len() {
            at = at.and_then(|node| nodes[node].parent);
        }
        if let (Some(_), Some(item)) = (at, parent(form)) {
            notes.wrong(
                item,
                "the classes borrow from each other in a circle",
                "let one of them have no parent",
            );
            break;
        }
    }
    (notes.problems.len() == before).then_some(HtbPlan { nodes })
}

fn node(named: &Named, form: &Form, numbers: &BTreeMap<&str, usize>, notes: &mut Notes) -> Option<HtbNode> {
    let Some(htb) = form.table("htb") else {
        let help = "add htb.rate = \"1 Mbit/s\"";
        notes.wrong(&named.item, "with scheduler = \"htb\" every class needs a rate", help);
        return None;
    };
    let rate = htb.rate("rate")?;
    let ceil = htb.rate("ceil").unwrap_or(rate);
    if let (Some(item), true) = (htb.given("ceil"), ceil < rate) {
        let help = format!("write \"{rate}\" or more");
        notes.wrong(item, format!("{ceil} is less than its rate, {rate}"), help);
    }
    let parent = match parent(form).and_then(|item| Some((item, item.text()?))) {
        None => None,
        Some((item, name)) => match numbers.get(name) {
            Some(number) => Some(*number),
            None => {
                let names: Vec<&str> = numbers.keys().copied().collect();
                let help = format!("the classes are {}", names.join(", "));
                notes.wrong(item, format!("no class is called {name:?}"), help);
                return None;
            }
        },
    };
    let quantum = match htb.given("quantum") {
        Some(item) => bytes_u32(Some(item), LARGEST_QUANTUM, notes).max(1),
        None => (rate.bps() / 8 / R2Q).clamp(QUANTA.0, QUANTA.1) as u32,
    };
    Some(HtbNode {
        parent,
        rate,
        ceil,
        burst: htb.bytes("burst").unwrap_or(1600),
        ceil_burst: htb.bytes("ceil_burst").unwrap_or(1600),
        priority: htb.whole("priority").unwrap_or(0) as u32,
        quantum,
    })
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
