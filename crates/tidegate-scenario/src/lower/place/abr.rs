//! ABR sources and their switches, once servers and routes are known.

use tidegate_core::plan::{AbrPlan, GatePlan, RatePlan, SwitchPlan};
use tidegate_core::units::Span;

use super::resolve::{Placed, lag, round_trips};
use super::wiring::Server;
use crate::check::{Form, Item};
use crate::lower::draft::Gate;
use crate::lower::notes::Notes;
use crate::lower::values::choice;

/// The switches, and each source with its own; what depends on the route is filled in.
pub(crate) fn resolve(placed: &Placed<'_>, planned: &mut [GatePlan], notes: &mut Notes) -> Vec<SwitchPlan> {
    let mut switches: Vec<SwitchPlan> = Vec::new();
    placed.each("abr", notes, |server, index, form, notes| {
        let RatePlan::Abr(abr) = planned[index].rate else { return };
        let Some((link, filled)) = fill(abr, server, index, form, placed, planned, notes) else { return };
        let known = switches.iter().position(|switch| switch.gate == link);
        let Some(switch) = known.or_else(|| {
            switches.push(switch(link, placed.gates[abr.switch].form.table("abr")?, notes)?);
            Some(switches.len() - 1)
        }) else {
            return;
        };
        planned[index].rate = RatePlan::Abr(AbrPlan { switch, ..filled });
    });
    for (number, gate) in placed.gates.iter().enumerate() {
        let named = |other: &Gate<'_>| matches!(&other.plan.rate, RatePlan::Abr(abr) if abr.switch == number);
        if let Some(item) = gate.form.given("abr")
            && !placed.gates.iter().any(named)
        {
            let help = format!("add rate.abr.gate = \"{}\" to a gate, or remove this key", gate.name);
            notes.warn(item.at, &item.key, "no ABR source names this switch", help);
        }
    }
    switches
}

fn switch(gate: usize, form: &Form, notes: &mut Notes) -> Option<SwitchPlan> {
    Some(SwitchPlan {
        gate,
        every: form.span("every")?,
        utilisation: form.real("utilisation")?,
        binary: choice(form.get("tells"), [("rate", false), ("bit", true)], notes),
    })
}

/// The link, and the source with its delays.
fn fill(
    abr: AbrPlan,
    server: Server,
    index: usize,
    form: &Form,
    placed: &Placed<'_>,
    planned: &[GatePlan],
    notes: &mut Notes,
) -> Option<(usize, AbrPlan)> {
    let item = form.get("gate")?;
    let link = placed.leader(server, abr.switch, item, notes)?;
    let named = &placed.gates[abr.switch];
    if named.form.given("abr").is_none() {
        let help = format!("add abr = {{ utilisation = \"90%\" }} to gate.{}", named.name);
        notes.wrong(item, format!("gate {} has no ABR switch", named.name), help);
        return None;
    }
    if planned[link].framing != planned[index].framing {
        let problem = format!("gate {} has another framing, so its rate counts other bits", named.name);
        notes.wrong(item, problem, "give both gates the same framing");
        return None;
    }
    let there = there(index, link, item, placed, planned, notes)?;
    let lag = lag(form, item, &round_trips(index, placed.flows, planned), notes)?;
    Some((link, AbrPlan { there, lag, ..abr }))
}

/// The delays from a source to its link, alike for all that pass.
fn there(
    index: usize,
    link: usize,
    item: &Item,
    placed: &Placed<'_>,
    planned: &[GatePlan],
    notes: &mut Notes,
) -> Option<Span> {
    let flows = placed.flows.iter().flat_map(|flow| [(&flow.name, &flow.path), (&flow.name, &flow.back)]);
    let paths = flows.chain(placed.traffic.iter().map(|traffic| (&traffic.name, &traffic.path)));
    let mut found: Option<(Span, &str)> = None;
    for (name, path) in paths {
        let Some(begin) = path.iter().position(|gate| *gate == index) else { continue };
        let Some(length) = path[begin..].iter().position(|gate| *gate == link) else {
            let problem = format!("{name} passes this gate but not gate {} after it", planned[link].name);
            notes.wrong(item, problem, format!("add \"{}\" to its path", planned[link].name));
            return None;
        };
        let delays =
            path[begin..begin + length].iter().fold(Span::ZERO, |sum, gate| sum + planned[*gate].delay);
        match found {
            Some((other, first)) if other != delays => {
                let problem = format!(
                    "gate {} is {other} away for flow {first} and {delays} for flow {name}",
                    planned[link].name
                );
                notes.wrong(item, problem, "give each flow its own source: add per = \"flow\" to this gate");
                return None;
            }
            _ => found = Some((delays, name)),
        }
    }
    Some(found.map_or(Span::ZERO, |(delays, _)| delays))
}
