//! Capacity of a trace, exactly: in all, and window by window.
//!
//! Work is counted in bit·ps/s ("bit-picoseconds": bits times 10¹²), so that rates over
//! whole picoseconds add up without a remainder.

use tidegate_core::plan::OpportunityTrace;
use tidegate_core::units::{PICOS_PER_SECOND, Span};

use super::LoadedTrace;

/// Bit-picoseconds in a bit.
pub(super) const BIT: u128 = PICOS_PER_SECOND as u128;

/// Whole bytes that the link can deliver over one round of the recording.
#[must_use]
pub fn deliverable_bytes(trace: &LoadedTrace) -> u64 {
    u64::try_from(bit_picos(trace) / (8 * BIT)).unwrap_or(u64::MAX)
}

/// What the link can deliver over one round of the recording in bit-picoseconds, without rounding.
pub(super) fn bit_picos(trace: &LoadedTrace) -> u128 {
    match trace {
        LoadedTrace::Rates(trace) => trace.bit_picos(),
        LoadedTrace::Opportunities(trace) => trace.bit_picos(),
    }
}

/// Bits of one opportunity.
pub(super) fn bits(trace: &OpportunityTrace) -> u128 {
    u128::from(trace.bytes) * 8
}

/// Capacity of each window of a recording in bit-picoseconds. Window i is
/// (i·window, (i+1)·window], an opportunity at 0 is in the first; the last window may be
/// cut short by the end of the recording.
pub(super) fn windows(trace: &LoadedTrace, window: Span) -> Vec<u128> {
    let width = window.picos().max(1);
    let count = usize::try_from(trace.period().picos().div_ceil(width)).unwrap_or(usize::MAX);
    let mut work = vec![0_u128; count];
    match trace {
        LoadedTrace::Rates(rates) => {
            for (mut from, to, bps) in rates.segments() {
                while from < to {
                    let index = from / width;
                    let until = to.min((index + 1).saturating_mul(width));
                    work[index as usize] += u128::from(until - from) * u128::from(bps);
                    from = until;
                }
            }
        }
        LoadedTrace::Opportunities(trace) => {
            for at in &trace.at {
                let index = at.picos().saturating_sub(1) / width;
                work[index as usize] += bits(trace) * BIT;
            }
        }
    }
    work
}
