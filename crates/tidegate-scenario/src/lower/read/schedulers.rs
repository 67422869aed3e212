//! What each scheduler of [`super::classes`] has: credit, openings, weights, trees of token buckets.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidegate_core::plan::{CreditPlan, HtbNode, HtbPlan, OpeningsPlan, StrictPlan, WfqPlan};
use tidegate_core::units::{Rate, Span};

use crate::check::{Form, Item, Named};
use crate::lower::notes::Notes;
use crate::lower::values::{LARGEST_QUANTUM, bytes_u32};

/// Rate over this is the quantum of `htb` where none is written, in bytes (Linux `r2q`).
const R2Q: u64 = 10;
const QUANTA: (u64, u64) = (1_000, 200_000);
/// No cycle of time-aware gates is longer.
const LONGEST_CYCLE: Span = Span::from_millis(3_600_000);

/// A class that has packets, with its keys.
pub(super) type Row<'a> = (&'a Named, &'a Form);

pub(super) fn strict(form: &Form, packets: &[Row<'_>], link: Option<Rate>, notes: &mut Notes) -> StrictPlan {
    let tas = form.table("tas");
    let has_credit = packets.iter().find_map(|(_, class)| class.given("cbs"));
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

fn credits(packets: &[Row<'_>], link: Option<Rate>, notes: &mut Notes) -> Vec<Option<CreditPlan>> {
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
fn openings(tas: &Form, packets: &[Row<'_>], notes: &mut Notes) -> Vec<Option<Arc<OpeningsPlan>>> {
    let mut open: Vec<Vec<(Span, Span)>> = vec![Vec::new(); packets.len()];
    let (mut now, before) = (Span::ZERO, notes.problems.len());
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
                    let known: Vec<&str> = packets.iter().map(|(named, _)| named.name.as_str()).collect();
                    let help = format!("the classes are {}", known.join(", "));
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
    if notes.problems.len() > before {
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

pub(super) fn wfq(
    packets: &[Row<'_>],
    scheduler: Option<&Item>,
    link: Option<Rate>,
    notes: &mut Notes,
) -> Option<WfqPlan> {
    let Some(link) = link else {
        let problem = "wfq needs a gate with a constant rate in bit/s: the fluid that it follows has it";
        notes.wrong(scheduler?, problem, "write rate = \"10 Mbit/s\" at the gate, or scheduler = \"drr\"");
        return None;
    };
    let weight = |class: &Form| class.whole("weight").unwrap_or(1) as u32;
    Some(WfqPlan { link, weights: packets.iter().map(|(_, class)| weight(class)).collect() })
}

pub(super) fn htb(classes: &Form, packets: &[Row<'_>], notes: &mut Notes) -> Option<HtbPlan> {
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

/// What a class borrows from, if it does.
pub(super) fn parent(form: &Form) -> Option<&Item> {
    form.table("htb").and_then(|htb| htb.given("parent"))
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
