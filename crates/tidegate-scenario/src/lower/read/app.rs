//! `flow.x.app` and `traffic.x.source`.

use std::sync::Arc;

use tidegate_core::aal5::CELL_PAYLOAD;
use tidegate_core::plan::{AckRule, AppPlan, MessageLength, MessagePlan, ReadPlan, SourcePlan, TcpPlan};
use tidegate_core::random::TruncatedGeometric;
use tidegate_core::units::Rate;

use super::{media, request, video};
use crate::check::{Form, Item, Value};
use crate::inputs::Library;
use crate::lower::changes;
use crate::lower::notes::Notes;
use crate::lower::values::{LARGEST_PACKET, bytes_u32, choice, holding};
use crate::units::plural;

pub(crate) fn app(root: &Form, flow: &Form, library: &mut Library, notes: &mut Notes) -> AppPlan {
    let Some(Value::Table(apps)) = flow.get("app").map(|item| &item.value) else { return AppPlan::Bulk };
    match apps.only() {
        Some(("transfer", item)) => AppPlan::Transfer { bytes: item.bytes().unwrap_or(0) },
        Some(("request", item)) => {
            let plan = item.table().and_then(|form| request::request(root, flow, form, library, notes));
            plan.map_or(AppPlan::Bulk, |plan| AppPlan::Request(Box::new(plan)))
        }
        Some(("video", item)) => {
            let plan = item.table().and_then(|form| video::video(root, flow, form, library, notes));
            plan.map_or(AppPlan::Bulk, |plan| AppPlan::Request(Box::new(plan)))
        }
        Some((law, item)) => match item.table() {
            Some(form) => AppPlan::Source(process(root, law, form, "write", u32::MAX, notes)),
            None => AppPlan::Bulk,
        },
        None => AppPlan::Bulk,
    }
}

/// How the receiving application reads.
pub(crate) fn reading(flow: &Form, app: &AppPlan, tcp: &TcpPlan, notes: &mut Notes) -> ReadPlan {
    let Some(item) = flow.table("app").and_then(|apps| apps.get("read")) else { return ReadPlan::AtOnce };
    let Some(rate) = item.rate() else { return ReadPlan::AtOnce };
    if matches!(app, AppPlan::Request(_)) {
        let help = "remove app.read, or send the data as a transfer";
        notes.wrong(item, "a client of requests reads its responses at once", help);
    }
    if tcp.window.is_none() && tcp.rules.acks != AckRule::WhileBufferGrows {
        let problem = "the receive buffer has no limit, so that a slow reader limits nothing";
        notes.wrong(item, problem, "add tcp.window, such as \"64 KiB\", or use tcp.base = \"linux\"");
    }
    ReadPlan::AtRate(rate)
}

/// A packet holds at least its IP header.
const SMALLEST_PACKET: u32 = 20;

/// What stands in the plan for a source with a mistake, which is reported.
const NOTHING: SourcePlan = SourcePlan::Constant { rate: Rate::ZERO, bytes: 0 };

/// `llc`: whether the first cells on the path have LLC/SNAP; `None`: no gate makes any.
pub(crate) fn source(
    root: &Form,
    traffic: &Form,
    llc: Option<bool>,
    library: &mut Library,
    notes: &mut Notes,
) -> SourcePlan {
    let law = traffic.table("source").and_then(Form::only);
    let Some((law, form)) = law.and_then(|(law, item)| Some((law, item.table()?))) else {
        return NOTHING;
    };
    if law == "messages" {
        return messages(form, llc, notes).unwrap_or(NOTHING);
    }
    if law == "media" {
        let plan = media::media(form, library, notes);
        return plan.map_or(NOTHING, |plan| SourcePlan::Media(Box::new(plan)));
    }
    let source = process(root, law, form, "packet", LARGEST_PACKET, notes);
    if let Some(item) = form.get("packet")
        && item.bytes().is_some_and(|bytes| bytes < u64::from(SMALLEST_PACKET))
    {
        let problem = "a packet is smaller than its own IP header";
        notes.wrong(item, problem, format!("write \"{SMALLEST_PACKET} B\" or more"));
    }
    source
}

/// The most cells that a packet fills, whatever its encapsulation.
const MOST_CELLS: u32 = LARGEST_PACKET / CELL_PAYLOAD;

fn messages(form: &Form, llc: Option<bool>, notes: &mut Notes) -> Option<SourcePlan> {
    let length = form.get("length")?;
    if llc.is_none() {
        let help = "add framing = \"aal5\" to a gate on the path, or use another source";
        notes.wrong_at(form.at, &form.key, "messages need a cell gate, and the path has none", help);
    }
    let length = match &length.value {
        Value::Table(law) => geometric(law, notes)?,
        _ => MessageLength::Constant(message_cells(length, notes)?),
    };
    Some(SourcePlan::Messages(MessagePlan {
        load: form.rate("load")?,
        exponential: choice(form.get("gaps"), [("exponential", true), ("constant", false)], notes),
        length,
        llc: llc.unwrap_or(false),
    }))
}

fn geometric(law: &Form, notes: &mut Notes) -> Option<MessageLength> {
    let mean = message_cells(law.get("geometric")?, notes)?;
    let most = match law.get("max") {
        Some(item) => message_cells(item, notes)?,
        None => MOST_CELLS,
    };
    let lengths = TruncatedGeometric::new(mean, most);
    if lengths.is_none() {
        let item = law.given("max").or_else(|| law.get("geometric"))?;
        let problem = format!(
            "a geometric distribution cut off at {} has a mean of at most {}, not {}",
            plural(u64::from(most), "cell"),
            f64::from(most + 1) / 2.0,
            plural(u64::from(mean), "cell")
        );
        let least = (2 * mean - 1).min(MOST_CELLS);
        notes.wrong(item, problem, format!("write a max of \"{least} cells\" or more, or a smaller mean"));
    }
    lengths.map(|lengths| MessageLength::Geometric(Arc::new(lengths)))
}

/// Cells that one packet may have.
fn message_cells(item: &Item, notes: &mut Notes) -> Option<u32> {
    match u32::try_from(item.cells()?) {
        Ok(cells) if cells <= MOST_CELLS => Some(cells),
        _ => {
            let problem = format!("a message is one packet, which has at most {MOST_CELLS} cells");
            notes.wrong(item, problem, format!("write \"{MOST_CELLS} cells\" or less"));
            None
        }
    }
}

fn process(root: &Form, law: &str, form: &Form, size: &str, most: u32, notes: &mut Notes) -> SourcePlan {
    let rate = form.rate("rate").unwrap_or(Rate::ZERO);
    let bytes = bytes_u32(form.get(size), most, notes);
    match law {
        "on_off" => {
            let (on, off) = (holding(form, "on"), holding(form, "off"));
            changes::check_periods(root, form, (on, off), bytes, notes);
            SourcePlan::OnOff { rate, bytes, on, off }
        }
        "poisson" => SourcePlan::Poisson { rate, bytes },
        "constant" => SourcePlan::Constant { rate, bytes },
        _ => {
            let problem = format!("the source {law:?} has a key, but nothing here makes a plan of it");
            notes.wrong_at(form.at, &form.key, problem, "this is a mistake in Tidegate; use another source");
            SourcePlan::Constant { rate, bytes }
        }
    }
}
