//! Tests of the endpoints: packet traces, pairs over a virtual link, and properties.

mod loss_rules;
mod pair;
mod plans;
mod sack_rules;
mod timer_rules;
mod trace;
mod window_rules;
