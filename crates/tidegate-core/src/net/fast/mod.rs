//! Fast paths: they save an event, or work at a gate, for most units of most runs.
//!
//! A route is parted into stretches ([`crate::net::map::Chain`]). A unit that begins one takes
//! one of these ways ([`walk`]); `docs/design/run-ahead.md` draws them and gives the reasons.
//!
//! | way | condition | saves | equal to the slow way by |
//! |---|---|---|---|
//! | gates ahead (`Gate::pass`) | the gate's rate is known ahead; nobody must hear of a departure | the events of a gate | `without_fast_paths_the_story_is_the_same` |
//! | a row: many units, gate by gate | they enter one route that carries each to its end at once ([`Network::handle_units_at`]) | loading and storing the state of each gate for each unit | the same test |
//! | `ahead`: handed out at once | the receiver is next, and its answers may enter ahead ([`Network::deliver_ahead`]) | the event of the arrival | `recording_changes_nothing` (the simulator) |
//! | [`turns`]: [`halves`] with [`arrivals`] | first stretch of a flow, every delivery handed out at once, data and answers share no gate | keeping arrivals in order one by one; caches | `fast_paths_change_nothing` (the simulator), `in_order_whatever_the_buckets` |
//! | [`runs`]: many units of an open bucket, gate by gate | while halves take turns, on the last stretch of a flow | taking each unit as an event of its own; a shared gate's state stays in registers | `fast_paths_change_nothing` (the simulator) |
//! | [`cohorts`]: units of a run and alarms, flow by flow, on several threads | very many flows in runs, and no gate behind the shared one that several of them pass | time: caches, several processors | `parted_runs_change_nothing`, `the_number_of_threads_changes_nothing` (the simulator) |
//! | delay line | none of these holds behind the gates | nothing: one event for its head | this is the slow way |
//!
//! Slow stretches (`Chain::slow`) leave [`walk`] at once: cell gates to their section
//! (which has short cuts of its own, `docs/design/cells.md`), gates that are driven step by step to
//! [`crate::net::serving`], and gates whose departures TCP must hear of one by one.
//!
//! [`Network::deliver_ahead`]: crate::net::Network::deliver_ahead
//! [`Network::handle_units_at`]: crate::net::Network::handle_units_at

mod arrivals;
mod cohorts;
mod deal;
mod forward;
mod halves;
mod judged;
mod pieces;
mod runs;
mod turns;
mod walk;

pub use cohorts::Cohort;
pub(in crate::net) use cohorts::Cohorts;
pub(in crate::net) use forward::DelayLine;
pub use halves::Half;
pub(in crate::net) use halves::{Halves, Turns};
pub(in crate::net) use judged::Judged;
pub use runs::Run;
pub(in crate::net) use walk::Walk;
