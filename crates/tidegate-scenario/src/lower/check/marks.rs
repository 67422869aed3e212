//! Keys about what policers tag and markers colour, where nothing tags or colours.

use crate::check::Form;
use crate::lower::draft::Gate;
use crate::lower::notes::Notes;

pub(crate) fn check(gates: &[Gate<'_>], notes: &mut Notes) {
    let tags = gates.iter().any(|gate| gate.plan.police.is_some_and(|police| police.tags_excess()));
    let colours = gates.iter().any(|gate| gate.plan.marker.is_some());
    for queue in gates.iter().filter_map(|gate| gate.form.table("queue")) {
        if let (false, Some(item)) = (tags, queue.given("clp1")) {
            let help = "add police.action = \"tag\" to a gate before it, or remove clp1";
            notes.warn(item.at, &item.key, "no policer tags packets, so this threshold drops none", help);
        }
        if let (false, Some(form)) = (colours, queue.table("colour_limits")) {
            warn_colourless(form, notes);
        }
    }
    for queue in gates.iter().flat_map(|gate| queues(gate.form)).filter(|_| !colours) {
        if let Some(red) = queue.table("aqm").and_then(|aqm| aqm.table("red")) {
            warn_colourless(red, notes);
        }
    }
}

/// The queue of a gate, and those of its classes.
fn queues(gate: &Form) -> impl Iterator<Item = &Form> {
    let classes = gate.table("classes").into_iter().flat_map(|classes| &classes.items);
    let of_classes = classes.filter_map(|class| class.item.table()?.table("queue"));
    gate.table("queue").into_iter().chain(of_classes)
}

/// What nothing has coloured is green, so `green` has an effect.
fn warn_colourless(form: &Form, notes: &mut Notes) {
    for item in ["yellow", "red"].into_iter().filter_map(|colour| form.given(colour)) {
        let help = "add police.srtcm or police.trtcm to a gate before it, or remove this key";
        notes.warn(item.at, &item.key, "no marker colours packets, so all are green", help);
    }
}
