//! From checked values to the [`Plan`]: names become numbers, copies are made, and what
//! needs more than one key to be right is checked.

mod abr;
mod app;
mod cell_order;
mod cells;
mod dtm;
mod follow;
mod gate;
mod gcra;
mod laid;
mod layers;
mod layout;
mod names;
mod notes;
mod packets;
mod police;
mod pools;
mod rate;
mod record;
mod request;
mod reserve;
mod tcp;
mod users;
mod values;
mod wiring;
mod work;
mod written;

use tidegate_core::plan::{Limits, Plan};

use crate::check::{Form, Item};
use crate::error::Problem;
use crate::inputs::Library;

pub(crate) use layers::TcpLayers;
use notes::Notes;
use values::time;
pub use work::check_recording;

/// What came of a scenario.
pub(crate) struct Lowered {
    pub(crate) plan: Plan,
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
}

/// Makes the plan. It may be run only if there are no problems.
pub(crate) fn lower(root: &Form, library: &mut Library) -> Lowered {
    let mut notes = Notes::default();
    let duration = time(root.span("duration"));
    let warmup = time(root.span("warmup"));
    if let Some(item) = root.get("warmup")
        && warmup >= duration
    {
        let problem = format!("the warm-up of {warmup} is not shorter than the run of {duration}");
        notes.wrong(item, problem, "make warmup shorter than duration");
    }
    let gates = gate::gates(root, library, &mut notes);
    let mut users = users::users(root, &users::Gates::new(&gates), duration, library, &mut notes);
    if root.table("flow").is_none_or(|flows| flows.items.is_empty())
        && root.table("traffic").is_none_or(|traffic| traffic.items.is_empty())
        && root.table("calls").is_none_or(|calls| calls.items.is_empty())
    {
        notes.wrong_at(
            root.at,
            "",
            "there is nothing to run: no flow and no traffic",
            "add [flow.bulk] with a path",
        );
    }
    if !work::fits(root, &gates, &users, &mut notes) {
        return Lowered { plan: Plan::empty(duration), problems: notes.problems, warnings: notes.warnings };
    }
    users::name_copies(&mut users);
    packets::check(&gates, &users, &mut notes);
    cells::check(&gates, &users, &mut notes);
    let (mut planned, wiring) = layout::lay_out(&gates, &users, &mut notes);
    cell_order::check(&planned, &users, &wiring, &mut notes);
    let servers = request::servers(root, &users, &mut notes);
    let calls = reserve::calls(root, &gates, &users, &mut planned, &wiring, &mut notes);
    let pools = pools::pools(root, &planned, &calls, &mut notes);
    layout::check_jitter(&gates, &users, &mut notes);
    let (flows, traffic) = layout::connect(&users, &wiring, &mut planned);
    let whole =
        laid::Laid { gates: &gates, users: &users, wiring: &wiring, flows: &flows, traffic: &traffic };
    follow::resolve(&whole, &mut planned, &mut notes);
    let switches = abr::resolve(&whole, &mut planned, &mut notes);
    let mut plan =
        Plan { warmup, flows, traffic, pools, switches, servers, gates: planned, ..Plan::empty(duration) };
    (plan.reservations, plan.calls) = (calls.reservations, calls.sources);
    plan.title = root.get("title").and_then(Item::text).unwrap_or_default().to_owned();
    plan.exact_events = root.flag("exact_events");
    plan.cells_one_by_one = root.word("cells") == Some("one-by-one");
    plan.limits = limits(root);
    plan.record = record::record(root, &gates, &users, &plan, &mut notes);
    if let (Err(problem), Some(item)) =
        (work::check_recording(&plan), root.table("record").and_then(|record| record.given("every")))
    {
        notes.wrong(item, problem, "record less often, or fewer gates and flows; or raise limits.memory");
    }
    Lowered { plan, problems: notes.problems, warnings: notes.warnings }
}

/// What a run may hold unless the file says otherwise; the table says the same.
const MOST_MEMORY: u64 = 2_000_000_000;

fn limits(root: &Form) -> Limits {
    let limits = root.table("limits");
    Limits {
        events: limits.and_then(|limits| limits.whole("events")),
        memory_bytes: limits.and_then(|limits| limits.bytes("memory")).or(Some(MOST_MEMORY)),
    }
}
