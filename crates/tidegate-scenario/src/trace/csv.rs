//! CSV traces: a row says from when a rate holds.
//!
//! ```text
//! time_s,rate_mbps
//! 0,12
//! 0.5,3.2
//! 2,
//! ```
//!
//! Reading is of the module `table`, which knows more forms of tables; this is the one that is written.

use std::fmt::Write as _;

use tidegate_core::plan::RateTrace;

use super::decimal;

/// Writes a rate trace as CSV: seconds and bit/s, with a last row that ends it.
#[must_use]
pub fn write(trace: &RateTrace) -> String {
    let mut text = String::from("time_s,rate_bps\n");
    for (at, rate) in &trace.points {
        let _ = writeln!(text, "{},{}", decimal::text(at.picos(), 12), rate.bps());
    }
    let _ = writeln!(text, "{},", decimal::text(trace.period.picos(), 12));
    text
}
