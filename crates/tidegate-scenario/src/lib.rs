//! The scenario language: TOML, JSON or a dict in, a checked [`Plan`](tidegate_core::plan::Plan)
//! out, and one clear message when something is wrong.
//!
//! | module | what it knows |
//! |---|---|
//! | `document` | a text as a tree of values with places; `--set`; printing |
//! | `units` | text with a unit, exactly |
//! | `table` | every key: type, range, default, description |
//! | `check` | the tree against the table |
//! | `relative` | sizes given by a time or in bandwidth–delay products |
//! | `lower` | checked values to the plan; what needs more than one key |
//! | `explain` | a scenario in words, with its consequences |
//! | `schema`, `reference` | the table for programs and for people |
//! | [`trace`] | recorded links |
//!
//! What it does not do: run anything, or know what a gate does with its rate law.

mod check;
mod copies;
mod document;
mod error;
mod explain;
mod file;
mod inputs;
mod lower;
mod place;
mod planned;
mod quantity;
mod reading;
mod reference;
mod relative;
mod scenario;
mod schema;
mod spelling;
mod sweep;
mod table;
pub mod trace;
mod units;

pub use error::{Report, ScenarioError, Warning};
pub use inputs::{Files, Input, OwnCode};
pub use lower::check_recording;
pub use quantity::{QuantityError, read_instant, read_rate, read_span};
pub use reading::Reading;
pub use reference::reference;
pub use relative::ComputedSize;
pub use scenario::{Scenario, Syntax};
pub use schema::schema;
pub use sweep::Sweep;
