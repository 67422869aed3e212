//! Which keys of a scenario hold a size that has to be computed, and at which rate.

use tidegate_core::units::Rate;

use crate::check::{Form, Item, Value};
use crate::units::Amount;

/// What gives the rate at which a size counts.
#[derive(Clone, Debug)]
pub(super) enum Of {
    /// The rate of this gate.
    Gate(String),
    /// The rate of a bucket at this gate; `None`: it is missing.
    Contract(String, Option<Rate>),
    /// The lowest rate on the path of the flows with this table, `flow.x.tcp` or `tcp.x`.
    Window(String),
}

/// Calls `act` for each size that has to be computed, in the same order each time.
pub(super) fn each(root: &mut Form, act: &mut impl FnMut(&mut Item, &Of)) {
    for section in ["gate", "flow", "tcp"] {
        let Some(tables) = table_mut(root, section) else { continue };
        for named in &mut tables.items {
            let Value::Table(form) = &mut named.item.value else { continue };
            match section {
                "gate" => sizes(form, &named.name, act),
                "flow" => table_mut(form, "tcp").into_iter().for_each(|tcp| window(tcp, act)),
                _ => window(form, act),
            }
        }
    }
}

fn table_mut<'a>(form: &'a mut Form, name: &str) -> Option<&'a mut Form> {
    let named = form.items.iter_mut().find(|named| named.name == name)?;
    match &mut named.item.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

fn is_open(item: &Item) -> bool {
    matches!(item.value, Value::Amount(Amount::Time(_) | Amount::Products(_)))
}

/// The sizes of a table of gate `gate`, and of the tables below it.
fn sizes(form: &mut Form, gate: &str, act: &mut impl FnMut(&mut Item, &Of)) {
    let section = form.section;
    let rates: Vec<(String, Rate)> =
        form.items.iter().filter_map(|named| Some((named.name.clone(), named.item.rate()?))).collect();
    let rate = |names: &[&str]| {
        names.iter().find_map(|name| rates.iter().find(|(key, _)| key == name)).map(|(_, rate)| *rate)
    };
    for named in &mut form.items {
        let kind = section.find(&named.name).map(|row| row.kind).or(section.others);
        if let Value::Table(below) = &mut named.item.value {
            sizes(below, gate, act);
        } else if kind.is_some_and(|kind| kind.is_relative()) && is_open(&named.item) {
            let of = match bucket(&named.name) {
                Some(names) => Of::Contract(gate.to_owned(), rate(names)),
                None => Of::Gate(gate.to_owned()),
            };
            act(&mut named.item, &of);
        }
    }
}

/// The keys of the rate that fills a bucket, if this key is the depth of one.
fn bucket(key: &str) -> Option<&'static [&'static str]> {
    Some(match key {
        "burst" => &["rate", "pcr"],
        "cbs" | "ebs" => &["cir"],
        "pbs" => &["pir"],
        "mbs" => &["scr"],
        "peak_burst" => &["peak"],
        "ceil_burst" => &["ceil", "rate"],
        _ => return None,
    })
}

fn window(tcp: &mut Form, act: &mut impl FnMut(&mut Item, &Of)) {
    let of = Of::Window(tcp.key.clone());
    for named in tcp.items.iter_mut().filter(|named| named.name == "window" && is_open(&named.item)) {
        act(&mut named.item, &of);
    }
}
