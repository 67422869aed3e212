//! Fast paths: they save an event, or work at a gate, for most units of most runs.
//!
//! A route is parted into stretches ([`crate::net::map::Stretch`]). A unit that begins one takes
//! one of these ways ([`walk`]); `docs/design/run-ahead.md` draws them and gives the reasons.
//!
//! | way | condition | saves | equal to the general way by |
//! |---|---|---|---|
//! | gates ahead (`Gate::pass`) | the gate's rate is known ahead; nobody must hear of a departure | the events of a gate | `without_fast_paths_nothing_changes` |
//! | a row: many units, gate by gate | they enter one route that carries each to its end at once ([`Carrier::handle_units_at`]) | loading and storing the state of each gate for each unit | the same test |
//! | `ahead`: handed out at once | the receiver is next, and its answers may enter ahead ([`Network::deliver_ahead`]) | the event of the arrival | `recording_changes_nothing` (the simulator) |
//! | [`alternation`]: [`directions`] with [`arrivals`] | first stretch of a flow, every delivery handed out at once, data and answers share no gate | keeping arrivals in order one by one; caches | `fast_paths_change_nothing` (the simulator), `in_order_whatever_the_buckets` |
//! | [`runs`]: many units of an open bucket, gate by gate | while directions alternate, on the last stretch of a flow | taking each unit as an event of its own; a shared gate's state stays in registers | `fast_paths_change_nothing` (the simulator) |
//! | [`cohorts`]: units of a run and alarms, flow by flow, on several threads | very many flows in runs, and no gate behind the shared one that several of them pass | time: caches, several processors | `parted_runs_change_nothing`, `the_number_of_threads_changes_nothing` (the simulator) |
//! | delay line | none of these holds behind the gates | nothing: one event for its head | this is the general way |
//!
//! Stretches of the slow path (`Stretch::slow_path`) leave [`walk`] at once: cell gates to their section
//! (which has fast paths of its own, `docs/design/cells.md`), gates that are driven step by step to
//! [`crate::net::serving`], and gates whose departures TCP must hear of one by one.
//!
//! [`Network::deliver_ahead`]: crate::net::Network::deliver_ahead
//! [`Carrier::handle_units_at`]: crate::net::Carrier::handle_units_at

mod alternation;
mod arrivals;
mod cohorts;
mod deal;
mod directions;
mod forward;
mod pieces;
mod running_on;
mod runs;
mod stretch;
mod walk;

pub(in crate::net) use alternation::FastPaths;
pub use cohorts::Cohort;
pub use directions::Direction;
pub(in crate::net) use directions::{Alternation, Directions};
pub(in crate::net) use forward::DelayLine;
pub(in crate::net) use running_on::RunningOn;
pub use runs::Run;
pub(in crate::net) use walk::Walk;
