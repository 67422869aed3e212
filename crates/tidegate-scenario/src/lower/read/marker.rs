//! Three-colour markers, and the limits of queues by colour.

use tidegate_core::plan::{ColourAction, Framing, MarkerPlan, MeterPlan, QueueLimit, QueuePlan};

use crate::check::{Form, Value};
use crate::lower::notes::Notes;
use crate::lower::values::{COLOURS, choice, dscp};
use crate::units::Amount;

/// The names of markers below `police`.
pub(super) const MARKERS: [&str; 2] = ["srtcm", "trtcm"];

/// The marker of a gate; `None` where there is none, or something was wrong.
pub(crate) fn marker(gate: &Form, framing: Framing, notes: &mut Notes) -> Option<MarkerPlan> {
    let police = gate.table("police")?;
    let (name, item) = MARKERS.iter().find_map(|name| Some((*name, police.given(name)?)))?;
    if let Some(other) = police.items.iter().find(|named| named.item.given && named.name != name) {
        let problem = format!("{} and {name} exclude each other", other.name);
        notes.wrong(
            &other.item,
            problem,
            format!("a marker has its rates below {name}; remove one of the two"),
        );
        return None;
    }
    if framing.is_cells() {
        notes.wrong(item, "a cell gate has no marker of packets", "write pcr and burst, or remove framing");
        return None;
    }
    let form = item.table()?;
    let (cir, cbs) = (form.rate("cir")?, form.bytes("cbs")?);
    let meter = if name == "srtcm" {
        MeterPlan::SingleRate { cir, cbs, ebs: form.bytes("ebs")? }
    } else {
        let pir = form.rate("pir")?;
        // RFC 2698 §2.
        if pir < cir {
            let problem = format!("a peak rate of {pir} is lower than the committed rate of {cir}");
            notes.wrong(form.get("pir")?, problem, format!("write \"{cir}\" or more"));
            return None;
        }
        MeterPlan::TwoRate { cir, cbs, pir, pbs: form.bytes("pbs")? }
    };
    let [remark, pass, drop] =
        [("remark", ColourAction::Remark), ("pass", ColourAction::Pass), ("drop", ColourAction::Drop)];
    let mut action = |colour| choice(form.get(colour), [remark, pass, drop], notes);
    let actions = COLOURS.map(&mut action);
    let codepoints = codepoints(form, actions, notes);
    Some(MarkerPlan { meter, colour_aware: form.flag("colour_aware"), actions, codepoints })
}

/// The codepoint that remarked packets of each colour get.
fn codepoints(marker: &Form, actions: [ColourAction; 3], notes: &mut Notes) -> [Option<u8>; 3] {
    let given = |colour| marker.table("dscp").and_then(|form| form.given(colour));
    let mut codepoints = [None; 3];
    for ((colour, action), codepoint) in COLOURS.into_iter().zip(actions).zip(&mut codepoints) {
        let Some(item) = given(colour) else { continue };
        let happens = match action {
            ColourAction::Remark => {
                *codepoint = Some(dscp(Some(item)));
                continue;
            }
            ColourAction::Pass => "pass as they came",
            ColourAction::Drop => "are dropped",
        };
        let help = format!("write {colour} = \"remark\" beside dscp, or remove dscp.{colour}");
        notes.wrong(item, format!("{colour} packets {happens}, so they get no codepoint"), help);
    }
    codepoints
}

/// How much may wait for a green, yellow or red packet to join.
pub(crate) fn colour_limits(queue: &Form, framing: Framing, notes: &mut Notes) -> [QueueLimit; 3] {
    let default = QueuePlan::UNLIMITED.colours;
    let Some(form) = queue.table("colour_limits") else { return default };
    if let (true, Some(item)) = (framing.is_cells(), queue.given("colour_limits")) {
        let help = "write clp1 for cells that a policer tagged, or remove framing";
        notes.wrong(item, "cells have no colours", help);
        return default;
    }
    COLOURS.map(|colour| {
        let Some(item) = form.given(colour) else { return QueueLimit::Unlimited };
        match &item.value {
            Value::Amount(Amount::Packets(packets)) => QueueLimit::Packets(*packets),
            Value::Amount(Amount::Bytes(bytes)) => QueueLimit::Bytes(*bytes),
            _ => {
                let help = "write packets or bytes, such as \"50 packets\"";
                notes.wrong(item, "this gate's queue holds packets, not cells", help);
                QueueLimit::Unlimited
            }
        }
    })
}
