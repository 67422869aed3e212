//! Tests of the endpoints: packet traces, pairs over a virtual link, and properties.

mod accecn_rules;
mod arrivals;
mod close_rules;
mod ecn_rules;
mod giving_up_rules;
mod golden;
mod header_prediction;
mod linux_rules;
mod loss_rules;
mod ns2;
mod pair;
mod persist_rules;
pub(crate) mod plans;
mod properties;
mod reading_rules;
mod round_trips;
mod sack_rules;
mod streams;
mod timer_rules;
mod trace;
mod twin;
mod undo_rules;
mod window_rules;

pub(crate) use plans::plain as plain_plan;
