//! From one kind of trace to the other, without losing capacity.
//!
//! - **Rates to opportunities**: capacity accumulates exactly; each time it fills another
//!   opportunity, one is placed at the next whole millisecond, never before the capacity
//!   was there. What is left at the end of a round (less than one opportunity) is lost.
//!   A Mahimahi file ends at its last opportunity, so that one is placed at the end of the
//!   recording: the period stays (rounded up to a whole millisecond).
//!   Example: 6 Mbit/s is 1500 bytes each 2 ms: over 5 ms, opportunities at 2 and 4 ms; the
//!   one at 4 ms waits until 5 ms.
//! - **Opportunities to rates**: the bits of each window over its length. A rate is a whole
//!   number of bit/s, the remainder is carried to the next window; less than one bit per
//!   second of window is left at the end.
//!
//! Reading and writing files of each format lives in the format's own module.

use tidegate_core::plan::{OpportunityTrace, RateTrace};
use tidegate_core::units::{PICOS_PER_MILLISECOND, Rate, Span, Time};

use super::windows::{BIT, bits, windows};
use super::{Format, LoadedTrace, MOST_ENTRIES, OPPORTUNITY_BYTES, csv, drp, mahimahi, seconds_mbps};

/// How to convert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvertOptions {
    /// Bytes of each opportunity that is made.
    pub opportunity_bytes: u32,
    /// Rates are means over windows of this length. `None`: rates stay as they are where
    /// the format can say them, 100 ms elsewhere.
    pub window: Option<Span>,
}

impl Default for ConvertOptions {
    fn default() -> ConvertOptions {
        ConvertOptions { opportunity_bytes: OPPORTUNITY_BYTES, window: None }
    }
}

/// Why a trace cannot be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// A window of no length, or opportunities of no bytes.
    #[error("the window and the bytes of an opportunity must be above 0")]
    Nothing,
    /// Opportunities are no means over windows.
    #[error("a window is for rates, and mahimahi has opportunities one by one; leave the window out")]
    Window,
    /// Not one opportunity fits into the whole recording.
    #[error("the whole trace carries less than one opportunity of {0} bytes; choose smaller opportunities")]
    LessThanOne(u32),
    /// So many pieces that the unit must be wrong.
    #[error("this gives {0} entries, more than 50 million; choose a longer window")]
    TooMany(u128),
    /// A DRP file states its step as a frequency with at most six decimals.
    #[error("a DRP file cannot state a step of {0}; choose one with a short frequency, such as 100 ms")]
    NoFrequency(Span),
}

/// The text of `trace` in a file of `format`.
///
/// # Errors
/// What the format cannot say.
pub fn convert(
    trace: &LoadedTrace,
    format: Format,
    options: &ConvertOptions,
) -> Result<String, ConvertError> {
    match format {
        Format::Mahimahi if options.window.is_some() => Err(ConvertError::Window),
        Format::Mahimahi => {
            to_opportunities(trace, options.opportunity_bytes).map(|trace| mahimahi::write(&trace))
        }
        Format::Csv => match (trace, options.window) {
            (LoadedTrace::Rates(rates), None) => Ok(csv::write(rates)),
            (_, window) => Ok(csv::write(&to_rates(trace, window.unwrap_or(STEP))?)),
        },
        Format::SecondsMbps => match (trace, options.window) {
            (LoadedTrace::Rates(rates), None) => Ok(seconds_mbps::write(rates)),
            (_, window) => Ok(seconds_mbps::write(&to_rates(trace, window.unwrap_or(STEP))?)),
        },
        Format::Drp => {
            let step = options.window.unwrap_or(STEP);
            let mut rates = to_rates(trace, step)?;
            pad(&mut rates, step);
            let (second, width) = (BIT * 1_000_000, u128::from(step.picos()));
            let micro_hertz =
                if second.is_multiple_of(width) { u64::try_from(second / width).ok() } else { None };
            let text = micro_hertz.and_then(|micro_hertz| drp::write(&rates, micro_hertz));
            text.ok_or(ConvertError::NoFrequency(step))
        }
    }
}

/// Step of a DRP file, and window over opportunities, unless told otherwise.
const STEP: Span = Span::from_millis(100);

/// Rates as means over windows; the last window may be shorter.
///
/// # Errors
/// A window of no length, or far too many.
pub fn to_rates(trace: &LoadedTrace, window: Span) -> Result<RateTrace, ConvertError> {
    if window == Span::ZERO {
        return Err(ConvertError::Nothing);
    }
    let (width, period) = (window.picos(), trace.period().picos());
    let count = u128::from(period.div_ceil(width));
    if count > u128::from(MOST_ENTRIES) {
        return Err(ConvertError::TooMany(count));
    }
    let mut points = Vec::new();
    let mut carry = 0;
    let mut from = 0;
    for work in windows(trace, window) {
        let length = u128::from(width.min(period - from));
        let bps = (work + carry) / length;
        carry = (work + carry) % length;
        points.push((Time::from_picos(from), Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX))));
        from += width.min(period - from);
    }
    Ok(RateTrace { points, period: trace.period() })
}

/// Stretches a shorter last window to a whole step without changing its capacity by more
/// than a bit.
fn pad(trace: &mut RateTrace, step: Span) {
    let Some((from, rate)) = trace.points.last_mut() else { return };
    let length = trace.period.picos() - from.picos();
    let bps = u128::from(rate.bps()) * u128::from(length) / u128::from(step.picos());
    *rate = Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX));
    trace.period = from.saturating_add(step).saturating_since(Time::ZERO);
}

/// Delivery opportunities of `bytes` on whole milliseconds.
///
/// # Errors
/// Opportunities of no bytes, too many of them, or not one.
pub fn to_opportunities(trace: &LoadedTrace, bytes: u32) -> Result<OpportunityTrace, ConvertError> {
    if bytes == 0 {
        return Err(ConvertError::Nothing);
    }
    let size = u128::from(bytes) * 8 * BIT;
    let count = super::windows::bit_picos(trace) / size;
    if count == 0 {
        return Err(ConvertError::LessThanOne(bytes));
    }
    if count > u128::from(MOST_ENTRIES) {
        return Err(ConvertError::TooMany(count));
    }
    let mut at = Vec::new();
    let mut work = 0_u128;
    match trace {
        LoadedTrace::Opportunities(trace) => {
            for &instant in &trace.at {
                work += bits(trace) * BIT;
                while work >= size {
                    work -= size;
                    at.push(whole_millis(instant.picos()));
                }
            }
        }
        LoadedTrace::Rates(rates) => {
            for (mut from, to, bps) in rates.segments() {
                while bps > 0 && work + u128::from(to - from) * u128::from(bps) >= size {
                    let takes = (size - work).div_ceil(u128::from(bps)) as u64;
                    work = work + u128::from(takes) * u128::from(bps) - size;
                    from += takes;
                    at.push(whole_millis(from));
                }
                work += u128::from(to - from) * u128::from(bps);
            }
        }
    }
    let end = whole_millis(trace.period().picos());
    if let Some(last) = at.last_mut() {
        *last = end;
    }
    Ok(OpportunityTrace { at, period: end.saturating_since(Time::ZERO), bytes })
}

/// The first whole millisecond that is not before `picos`.
fn whole_millis(picos: u64) -> Time {
    Time::from_picos(picos.div_ceil(PICOS_PER_MILLISECOND) * PICOS_PER_MILLISECOND)
}
