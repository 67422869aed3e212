//! `flow.x.app.request` to [`RequestPlan`].

use tidegate_core::plan::{ConnectionPlan, RequestLoop, RequestPlan, SizePlan, ThinkPlan};
use tidegate_core::random::LARGEST_MESSAGE;
use tidegate_core::units::Span;

use crate::check::{Form, Item, Value};
use crate::inputs::Library;
use crate::lower::names::{SERVER, index_of};
use crate::lower::notes::Notes;
use crate::lower::values::{choice, no_meaning, unreadable};
use crate::units::Amount;

/// The name of the row of all requests in a summary.
const ALL: &str = "all";

/// A flow's requests; `None` where something was wrong.
pub(crate) fn request(
    root: &Form,
    flow: &Form,
    form: &Form,
    library: &mut Library,
    notes: &mut Notes,
) -> Option<RequestPlan> {
    let request_loop =
        choice(form.get("loop"), [("closed", RequestLoop::Closed), ("open", RequestLoop::Open)], notes);
    let connection = choice(
        form.get("connection"),
        [("persistent", ConnectionPlan::Persistent), ("new", ConnectionPlan::New)],
        notes,
    );
    check_name(flow, notes);
    let server = server(root, form, notes)?;
    let think = match &form.get("think")?.value {
        Value::Amount(Amount::Time(span)) => ThinkPlan::Constant(*span),
        Value::Table(law) => ThinkPlan::Exponential(law.span("exponential")?),
        Value::List(items) => ThinkPlan::List(items.iter().filter_map(Item::span).collect::<Vec<Span>>()),
        _ => return None,
    };
    let request = size(form.get("size")?, library, notes);
    let response = size(form.get("response")?, library, notes);
    let outstanding = match form.get("outstanding").map(|item| &item.value) {
        Some(Value::Whole(most)) => Some(*most),
        _ => None,
    };
    check_outstanding(form, request_loop, connection, outstanding, notes);
    let count = form.whole("count");
    Some(RequestPlan {
        server,
        request: request?,
        response: response?,
        think,
        request_loop,
        outstanding,
        connection,
        count,
        video: None,
    })
}

/// The name of all requests together is no name of a flow.
pub(super) fn check_name(flow: &Form, notes: &mut Notes) {
    if flow.key == format!("flow.{ALL}") {
        let problem = "the name \"all\" is reserved: it means the requests of all flows together";
        notes.wrong_at(flow.at, &flow.key, problem, "use another name, such as \"client\"");
    }
}

/// The server that is named, `Some(None)` where none is; `None` where there is no such server.
pub(super) fn server(root: &Form, form: &Form, notes: &mut Notes) -> Option<Option<usize>> {
    match form.get("server") {
        Some(item) => Some(Some(index_of(root, &SERVER, item, notes)?)),
        None => Some(None),
    }
}

fn check_outstanding(
    form: &Form,
    request_loop: RequestLoop,
    connection: ConnectionPlan,
    outstanding: Option<u64>,
    notes: &mut Notes,
) {
    let Some(item) = form.get("outstanding") else { return };
    if outstanding == Some(1) {
        return;
    }
    if connection == ConnectionPlan::New {
        let problem = "with new connections, each connection carries one request";
        let help = "write outstanding = 1, or connection = \"persistent\"; for parallel connections set count of \
            the flow";
        notes.wrong(item, problem, help);
    } else if request_loop == RequestLoop::Closed {
        let problem = "in a closed loop a request follows the response to the previous one";
        let help = "write outstanding = 1, or loop = \"open\"; for several users set count of the flow";
        notes.wrong(item, problem, help);
    }
}

/// The law of a size.
pub(super) fn size(item: &Item, library: &mut Library, notes: &mut Notes) -> Option<SizePlan> {
    let Value::Table(laws) = &item.value else { return Some(SizePlan::Constant(message(item, notes)?)) };
    let (law, given) = laws.only()?;
    match (law, given.table()) {
        ("exponential", _) => Some(SizePlan::Exponential { mean: message(given, notes)? }),
        ("pareto", Some(form)) => {
            let (least, most) = (message(form.get("min")?, notes)?, most(form, notes)?);
            check_cut(form, least, most, notes);
            Some(SizePlan::Pareto { least, shape: form.real("shape")?, most })
        }
        ("lognormal", Some(form)) => {
            let (median, most) = (message(form.get("median")?, notes)?, most(form, notes)?);
            check_cut(form, median, most, notes);
            Some(SizePlan::LogNormal { median, sigma: form.real("sigma")?, most })
        }
        ("file", _) => match library.sizes(given.text()?) {
            Ok(sizes) => Some(sizes),
            Err(error) => {
                unreadable(given, &error, notes);
                None
            }
        },
        _ => {
            no_meaning(given, law, notes);
            None
        }
    }
}

/// What a law may draw at most.
fn most(form: &Form, notes: &mut Notes) -> Option<u64> {
    message(form.get("max")?, notes)
}

fn check_cut(form: &Form, least: u64, most: u64, notes: &mut Notes) {
    if let Some(item) = form.get("max").filter(|_| most < least) {
        let problem = format!("a max of {most} B is not above the smallest size or median, {least} B");
        notes.wrong(item, problem, format!("write more than \"{least} B\""));
    }
}

/// Bytes of one message.
fn message(item: &Item, notes: &mut Notes) -> Option<u64> {
    let bytes = item.bytes()?;
    if bytes <= LARGEST_MESSAGE {
        return Some(bytes);
    }
    notes.wrong(item, "a size is at most 1 TB", "write \"1 TB\" or less");
    None
}
