//! Flows and traffic as written: their lists of gates, delays, starts.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use tidegate_core::plan::{SourcePlan, StartPlan};
use tidegate_core::units::{Span, Time};

use super::{advice, app, quic, tcp, traffic_groups};
use crate::check::{Form, Item, Value};
use crate::document::Place;
use crate::inputs::Library;
use crate::lower::draft::{Gate, Hop, Load, User};
use crate::lower::names::{GATE, reserved, unknown};
use crate::lower::notes::Notes;
use crate::lower::values::{dscp, jitter, time};
use crate::units::{Amount, LONGEST_DAYS, LONGEST_PICOS};

/// The gates as written, and where each name stands.
pub(crate) struct Gates<'s, 'a> {
    list: &'s [Gate<'a>],
    by_name: BTreeMap<&'a str, usize>,
}

impl<'s, 'a> Gates<'s, 'a> {
    pub(crate) fn new(list: &'s [Gate<'a>]) -> Gates<'s, 'a> {
        Gates { list, by_name: list.iter().enumerate().map(|(index, gate)| (gate.name, index)).collect() }
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

impl<'a> Deref for Gates<'_, 'a> {
    type Target = [Gate<'a>];

    fn deref(&self) -> &[Gate<'a>] {
        self.list
    }
}

pub(crate) fn users<'a>(
    root: &'a Form,
    gates: &Gates<'_, 'a>,
    duration: Time,
    library: &mut Library,
    notes: &mut Notes,
) -> Vec<User<'a>> {
    let mut users: Vec<User<'a>> = Vec::new();
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for what in ["flow", "traffic"] {
        let Some(table) = root.table(what) else { continue };
        for named in &table.items {
            let Some(form) = named.item.table() else { continue };
            reserved(&named.name, named.name_at, &named.item.key, notes);
            if let Some(other) = seen.insert(&named.name, what) {
                let problem = format!("the {other} has the same name");
                notes.wrong_at(named.name_at, &named.item.key, problem, "give one of the two another name");
            }
            users.push(user(root, &named.name, form, what == "flow", gates, library, notes));
            check_start(users.last(), form, duration, notes);
        }
    }
    traffic_groups::check(root, notes);
    if let Some(sets) = root.table("tcp") {
        tcp::check_sets(sets, root, library, notes);
    }
    users
}

fn user<'a>(
    root: &'a Form,
    name: &'a str,
    form: &'a Form,
    is_flow: bool,
    gates: &Gates<'_, 'a>,
    library: &mut Library,
    notes: &mut Notes,
) -> User<'a> {
    let count = form.whole("count").unwrap_or(1);
    let path = hops(form.list("path"), gates, &[], notes);
    repeated(&path, gates, notes);
    let (back, back_delay) =
        if is_flow { way_back(form, &path, gates, notes) } else { (Vec::new(), Span::ZERO) };
    let load = if is_flow {
        let app = app::app(root, form, library, notes);
        let quic = quic::quic(form, notes);
        let mut tcp = tcp::tcp(root, form, quic.as_ref().map(quic::segment), library, notes);
        tcp.read = app::reading(form, &app, &tcp, notes);
        let transport = quic::transport(form, &app, quic, &mut tcp, notes);
        let scone = advice::scone(form, &app, &tcp);
        Load::Flow { app, transport, tcp: Box::new(tcp), scone }
    } else {
        let source = app::source(root, form, first_cells(&path, gates), library, notes);
        let messages = matches!(source, SourcePlan::Messages(_));
        let delays = if form.given("delays").is_some() { form.flag("delays") } else { !messages };
        Load::Traffic { source, group: traffic_groups::group(form, name), delays }
    };
    let (key, at, start, jitter) = (form.key.clone(), form.at, start(form, notes), jitter(form));
    let dscp = dscp(form.get("dscp"));
    let (from, to) = (host(form, "from", notes), host(form, "to", notes));
    User {
        name,
        key,
        at,
        count,
        instances: Vec::new(),
        path,
        back,
        back_delay,
        start,
        jitter,
        dscp,
        from,
        to,
        load,
    }
}

/// The name of a host.
fn host<'a>(form: &'a Form, key: &str, notes: &mut Notes) -> Option<&'a str> {
    let item = form.given(key)?;
    let name = item.text()?;
    if name.is_empty() {
        notes.wrong(item, "a host needs a name", "write a name such as \"laptop\", or remove this key");
    }
    Some(name)
}

/// Whether the first cells on a path have LLC/SNAP; `None`: there are none.
fn first_cells(path: &[Hop<'_>], gates: &[Gate<'_>]) -> Option<bool> {
    path.iter().find_map(|hop| gates[hop.gate].plan.framing.llc())
}

/// Gate names to gates. In `back` a duplex gate means the server that `path` does not use.
fn hops<'a>(names: &'a [Item], gates: &Gates<'_, 'a>, path: &[Hop<'a>], notes: &mut Notes) -> Vec<Hop<'a>> {
    let is_back = !path.is_empty();
    let reversed: BTreeSet<usize> = path.iter().filter(|hop| hop.reverse).map(|hop| hop.gate).collect();
    let mut hops = Vec::new();
    for item in names {
        let Some(text) = item.text() else { continue };
        let (name, other_way) = match text.strip_suffix("/back") {
            Some(name) => (name, true),
            None => (text, false),
        };
        let Some(gate) = gates.find(name) else {
            unknown(&GATE, item, name, || gates.iter().map(|gate| gate.name), notes);
            continue;
        };
        let duplex = gates[gate].duplex;
        if other_way && !duplex {
            let help = format!("set gate.{name}.duplex = true, or write \"{name}\"");
            notes.wrong(item, format!("gate {name} has only one direction"), help);
        }
        let reverse = if other_way { true } else { is_back && duplex && !reversed.contains(&gate) };
        hops.push(Hop { gate, reverse, item });
    }
    hops
}

fn repeated(hops: &[Hop<'_>], gates: &[Gate<'_>], notes: &mut Notes) {
    let mut passed = BTreeSet::new();
    for hop in hops {
        if !passed.insert((hop.gate, hop.reverse)) {
            let problem = format!("gate {} is in this list twice", gates[hop.gate].name);
            notes.wrong(hop.item, problem, "a packet passes a gate only once; remove one of them");
        }
    }
}

/// The gates of the way back and the pure delay after them.
fn way_back<'a>(
    form: &'a Form,
    path: &[Hop<'a>],
    gates: &Gates<'_, 'a>,
    notes: &mut Notes,
) -> (Vec<Hop<'a>>, Span) {
    let back = hops(form.list("back"), gates, path, notes);
    repeated(&back, gates, notes);
    let there = delays(path, gates);
    let returning = delays(&back, gates);
    let total = there.saturating_mul(2).picos().max(there.picos().saturating_add(returning.picos()));
    if total > LONGEST_PICOS {
        let problem = format!("the delays add up to more than {LONGEST_DAYS} days");
        notes.wrong_at(form.at, &form.key, problem, "make the gates' delays shorter");
        return (back, Span::ZERO);
    }
    let gates_alone = there + returning;
    let delay = match form.get("rtt") {
        Some(item) => {
            let rtt = item.span().unwrap_or(Span::ZERO);
            if rtt < gates_alone {
                let problem =
                    format!("a round trip of {rtt} is less than the delays of the gates, {gates_alone}");
                notes.wrong(
                    item,
                    problem,
                    format!("write \"{gates_alone}\" or more, or make the gates' delays shorter"),
                );
            }
            rtt.saturating_sub(gates_alone)
        }
        None if form.given("back").is_some() => Span::ZERO,
        None => there,
    };
    (back, delay)
}

fn delays(hops: &[Hop<'_>], gates: &[Gate<'_>]) -> Span {
    let sum =
        hops.iter().fold(0_u64, |sum, hop| sum.saturating_add(gates[hop.gate].plan.least_delay().picos()));
    Span::from_picos(sum)
}

fn start(form: &Form, notes: &mut Notes) -> StartPlan {
    match form.get("start").map(|item| &item.value) {
        Some(Value::Table(law)) => {
            let Some(item) = law.get("uniform") else { return StartPlan::At(Time::ZERO) };
            let [from, to] = item.list() else { return StartPlan::At(Time::ZERO) };
            let (from, to) = (time(from.span()), time(to.span()));
            if from >= to {
                let problem = format!("{from} is not before {to}");
                notes.wrong(item, problem, "write the earlier time first, such as [\"0 s\", \"100 ms\"]");
            }
            StartPlan::Uniform(from, to)
        }
        Some(Value::Amount(Amount::Time(span))) => StartPlan::At(time(Some(*span))),
        _ => StartPlan::At(Time::ZERO),
    }
}

fn check_start(user: Option<&User<'_>>, form: &Form, duration: Time, notes: &mut Notes) {
    let (Some(user), Some(item)) = (user, form.get("start")) else { return };
    let earliest = match user.start {
        StartPlan::At(at) | StartPlan::Uniform(at, _) => at,
    };
    if earliest >= duration {
        let place = Place { ..item.at };
        notes.warn(
            place,
            &item.key,
            if earliest == duration {
                format!("this starts at {earliest}, where the run ends")
            } else {
                format!("this starts at {earliest}, after the end of the run at {duration}")
            },
            "choose an earlier start, or a longer duration",
        );
    }
}
