//! Tests of the endpoints: packet traces, pairs over a virtual link, and properties.

mod pair;
mod plans;
