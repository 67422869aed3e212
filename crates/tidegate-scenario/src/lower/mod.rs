//! From checked values to the [`Plan`]: names become numbers, copies are made, and what
//! needs more than one key to be right is checked.
//!
//! | part | what it does |
//! |---|---|
//! | `read` | one table of the file to a part of the plan |
//! | `place` | which servers there are, and what depends on the routes through them |
//! | `check` | what holds of the whole plan |
//! | `draft` | gates, flows and traffic between the first part and the second |
//! | `notes`, `names`, `values`, `limits`, `changes` | what the parts share |

mod changes;
mod check;
mod draft;
mod limits;
mod names;
mod notes;
mod place;
mod read;
mod values;

use tidegate_core::plan::Plan;
use tidegate_core::units::Time;

use crate::check::{Form, Item};
use crate::error::Problem;
use crate::inputs::Library;

pub use check::memory::check_recording;
use check::{cell_order, cells, marks, memory, packets};
use notes::Notes;
pub(crate) use read::TcpLayers;
use values::{choice, time};

/// What came of a scenario.
pub(crate) struct Lowered {
    pub(crate) plan: Plan,
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
}

/// Makes the plan. It may be run only if there are no problems.
pub(crate) fn lower(root: &Form, library: &mut Library) -> Lowered {
    let mut notes = Notes::default();
    let plan = plan(root, library, &mut notes);
    Lowered { plan, problems: notes.problems, warnings: notes.warnings }
}

fn plan(root: &Form, library: &mut Library, notes: &mut Notes) -> Plan {
    let (duration, until_done) = limits::duration(root);
    let warmup = time(root.span("warmup"));
    check_warmup(root, warmup, duration, notes);
    let gates = read::gate::gates(root, library, notes);
    let mut users = read::users::users(root, &read::users::Gates::new(&gates), duration, library, notes);
    check_any(root, notes);
    if !memory::fits(root, &gates, &users, notes) {
        return Plan::empty(duration);
    }
    place::layout::name_copies(&mut users);
    packets::check(&gates, &users, notes);
    marks::check(&gates, notes);
    cells::check(&gates, &users, notes);
    let (mut planned, wiring) = place::layout::lay_out(&gates, &users, notes);
    place::classes::resolve(&gates, &users, &wiring, &mut planned, notes);
    place::spacers::resolve(&gates, &users, &wiring, &mut planned, notes);
    cell_order::check(&planned, &users, &wiring, notes);
    check::circuits::check(&gates, &users, &wiring, notes);
    let servers = place::servers::servers(root, &users, notes);
    let sources = read::calls::sources(root, notes);
    let calls = place::circuits::calls(root, &gates, &users, sources, &mut planned, &wiring, notes);
    let pools = place::pools::pools(root, &planned, &calls, notes);
    place::layout::check_jitter(&gates, &users, notes);
    let (flows, traffic) = place::layout::connect(&users, &wiring, &mut planned);
    let placed = place::resolve::Placed {
        gates: &gates,
        users: &users,
        wiring: &wiring,
        flows: &flows,
        traffic: &traffic,
    };
    place::follow::resolve(&placed, &mut planned, notes);
    let switches = place::abr::resolve(&placed, &mut planned, notes);
    let mut plan = Plan {
        until_done,
        warmup,
        flows,
        traffic,
        pools,
        switches,
        servers,
        gates: planned,
        reservations: calls.reservations,
        calls: calls.sources,
        title: root.get("title").and_then(Item::text).unwrap_or_default().to_owned(),
        exact: root.flag("exact"),
        perturb: root.flag("perturb"),
        cells_one_by_one: choice(root.get("cells"), [("trains", false), ("one-by-one", true)], notes),
        limits: limits::limits(root),
        ..Plan::empty(duration)
    };
    limits::check_until_done(root, &plan, notes);
    plan.record = read::record::record(root, &gates, &users, &plan, notes);
    if let (Err(problem), Some(item)) =
        (check_recording(&plan), root.table("record").and_then(|record| record.given("every")))
    {
        notes.wrong(item, problem, "record less often, or fewer gates and flows; or raise limits.memory");
    }
    packets::refuse_endless(&gates, &users, notes);
    plan
}

fn check_warmup(root: &Form, warmup: Time, duration: Time, notes: &mut Notes) {
    if let Some(item) = root.get("warmup")
        && warmup >= duration
    {
        let problem = format!("the warm-up of {warmup} is not shorter than the run of {duration}");
        notes.wrong(item, problem, "make warmup shorter than duration");
    }
}

/// A run without flows, traffic and calls is a problem.
fn check_any(root: &Form, notes: &mut Notes) {
    let is_empty = |name: &str| root.table(name).is_none_or(|table| table.items.is_empty());
    if ["flow", "traffic", "calls"].into_iter().all(is_empty) {
        notes.wrong_at(
            root.at,
            "",
            "there is nothing to run: no flow and no traffic",
            "add [flow.bulk] with a path",
        );
    }
}
