//! `[gate.x]` to [`GatePlan`]: everything but the rate law.

use tidegate_core::plan::{
    CellPlan, Framing, GatePlan, LossPlan, OnChange, QueueCounts, QueueLimit, QueuePlan, RatePlan, Reassembly,
};
use tidegate_core::units::Span;

use super::aqm::aqm;
use super::cake;
use super::laws::{cellreplay, reserve};
use super::{advice, classes, marker, police, rate};
use crate::check::{Form, Value};
use crate::inputs::Library;
use crate::lower::changes::check_clock;
use crate::lower::draft::Gate;
use crate::lower::names::reserved;
use crate::lower::notes::Notes;
use crate::lower::values::{LARGEST_PACKET, bytes_u32, choice, jitter};
use crate::units::Amount;

pub(crate) fn gates<'a>(root: &'a Form, library: &mut Library, notes: &mut Notes) -> Vec<Gate<'a>> {
    let Some(gates) = root.table("gate") else { return Vec::new() };
    gates
        .items
        .iter()
        .filter_map(|named| {
            let form = named.item.table()?;
            reserved(&named.name, named.name_at, &form.key, notes);
            if let Some(abr) = form.table("abr") {
                check_clock(root, abr.get("every"), "the switch measures", notes);
            }
            let plan = gate(&named.name, root, form, library, notes);
            Some(Gate {
                name: &named.name,
                name_at: named.name_at,
                form,
                plan,
                per_flow: form.word("per") == Some("flow"),
                duplex: form.flag("duplex"),
            })
        })
        .collect()
}

fn gate(name: &str, root: &Form, form: &Form, library: &mut Library, notes: &mut Notes) -> GatePlan {
    let rate = rate::rate(root, form, library, notes);
    let on_change = match form.get("on_change") {
        Some(item) => choice(Some(item), [("keep", OnChange::Keep), ("rescale", OnChange::Rescale)], notes),
        None => rate.default_on_change().unwrap_or(OnChange::Keep),
    };
    let framing = reserve::framing(&rate, framing(form, notes));
    cellreplay::check(form, &rate, framing, notes);
    let classes = classes::classes(form, &classes::Host { rate: &rate, framing }, notes);
    classes::check_law(form, classes.as_deref(), &rate, notes);
    let classes = classes.or_else(|| cake::tins(form, &rate, framing, notes));
    let mut plan = GatePlan {
        name: name.to_owned(),
        queue: queue(form, &rate, framing, notes),
        classes,
        rate,
        on_change,
        framing,
        loss: loss(form),
        delay: form.span("delay").unwrap_or(Span::ZERO),
        jitter: jitter(form),
        jitter_draw: 0,
        host: form.flag("host"),
        cells: cells(form, notes),
        police: police::police(form, framing, notes),
        marker: marker::marker(form, framing, notes),
        advice: None,
    };
    plan.advice = advice::advice(root, form, &plan, notes);
    plan
}

fn queue(form: &Form, rate: &RatePlan, framing: Framing, notes: &mut Notes) -> QueuePlan {
    let Some(queue) = form.table("queue") else { return GatePlan::open("").queue };
    let limit = match queue.get("limit").map(|item| &item.value) {
        Some(Value::Amount(Amount::Packets(packets))) => QueueLimit::Packets(*packets),
        Some(Value::Amount(Amount::Bytes(bytes))) => QueueLimit::Bytes(*bytes),
        Some(Value::Amount(Amount::Cells(cells))) => QueueLimit::Cells(*cells),
        _ => QueueLimit::Unlimited,
    };
    let counts =
        choice(queue.get("counts"), [("waiting", QueueCounts::Waiting), ("all", QueueCounts::All)], notes);
    let what = match limit {
        QueueLimit::Packets(0) => Some("packet"),
        QueueLimit::Cells(0) => Some("cell"),
        _ => None,
    };
    if let (Some(what), Some(item)) = (what, queue.get("limit")) {
        if counts == QueueCounts::All {
            let problem = format!("no {what} would ever pass: the {what} in transmission counts too");
            notes.wrong(item, problem, format!("write \"1 {what}\" or more, or counts = \"waiting\""));
        } else if matches!(rate, RatePlan::Opportunities { .. }) {
            let problem = format!(
                "no {what} would ever pass: each {what} has to wait for a delivery opportunity of \
                the trace"
            );
            notes.wrong(item, problem, format!("write \"1 {what}\" or more"));
        }
    }
    let discipline = aqm(queue, rate, framing, notes);
    let colours = marker::colour_limits(queue, framing, notes);
    QueuePlan { discipline, limit, counts, tagged: threshold(queue, framing, notes), colours }
}

/// Where tagged units are dropped.
fn threshold(queue: &Form, framing: Framing, notes: &mut Notes) -> Option<u64> {
    let item = queue.get("clp1")?;
    let cells = framing.is_cells();
    match (&item.value, cells) {
        (Value::Amount(Amount::Cells(count)), true) | (Value::Amount(Amount::Packets(count)), false) => {
            Some(*count)
        }
        (_, true) => {
            notes.wrong(
                item,
                "this gate's queue holds cells",
                "write a number of cells, such as \"500 cells\"",
            );
            None
        }
        (_, false) => {
            notes.wrong(
                item,
                "this threshold is a number of packets, not of bytes",
                "write a number of packets, \
                such as \"20 packets\"",
            );
            None
        }
    }
}

fn framing(form: &Form, notes: &mut Notes) -> Framing {
    let Some(framing) = form.table("framing") else {
        let meanings = [("ip", Framing::Ip), ("aal5", Framing::Aal5 { llc: false })];
        return choice(form.get("framing"), meanings, notes);
    };
    if let Some(aal5) = framing.table("aal5") {
        for item in ["overhead", "minimum"].into_iter().filter_map(|name| framing.given(name)) {
            let problem =
                "with aal5 a packet takes 53 bytes for each of its cells, so it has no other overhead";
            notes.wrong(item, problem, "remove this key, or remove aal5");
        }
        return Framing::Aal5 { llc: aal5.flag("llc") };
    }
    let overhead = bytes_u32(framing.get("overhead"), LARGEST_PACKET, notes);
    let minimum = bytes_u32(framing.get("minimum"), LARGEST_PACKET, notes);
    Framing::Overhead { overhead, minimum }
}

fn loss(form: &Form) -> LossPlan {
    match form.get("loss").map(|item| &item.value) {
        Some(Value::Real(probability)) if *probability > 0.0 => {
            LossPlan::Independent { probability: *probability }
        }
        Some(Value::Table(laws)) => match (laws.table("gilbert_elliott"), laws.whole("every")) {
            (Some(law), _) => {
                let chance = |name: &str| law.real(name).unwrap_or(0.0);
                LossPlan::GilbertElliott {
                    good_to_bad: chance("good_to_bad"),
                    bad_to_good: chance("bad_to_good"),
                    loss_good: chance("loss_good"),
                    loss_bad: chance("loss_bad"),
                }
            }
            (None, Some(units)) => LossPlan::Every { units },
            (None, None) => LossPlan::None,
        },
        _ => LossPlan::None,
    }
}

/// What the gate's keys say of cells, right or not: they are checked when the paths are known.
fn cells(form: &Form, notes: &mut Notes) -> CellPlan {
    let queue = form.table("queue");
    CellPlan {
        slotted: form.flag("slotted"),
        epd: queue.and_then(|queue| queue.cells("epd")),
        ppd: queue.is_some_and(|queue| queue.flag("ppd")),
        reassembly: choice(
            form.get("reassembly"),
            [("aal5", Reassembly::Aal5), ("simple", Reassembly::Simple)],
            notes,
        ),
    }
}
