//! Text with a unit: read exactly, printed exactly, refused with a repair.
//!
//! The typed values themselves live in [`tidegate_core::units`]; this is only their text.

mod amount;
mod decimal;
mod known;
mod read;
mod repair;
mod write;

pub(crate) use amount::Amount;
pub(crate) use known::{Dim, NANOS_PER_PRODUCT, PRODUCT, unit_names};
pub(crate) use read::read;
pub(crate) use repair::{Complaint, example, noun};
pub(crate) use write::{bytes_text, plural};

/// The longest time a scenario may name: sums of two still fit the clock.
pub(crate) const LONGEST_DAYS: u64 = 100;
/// [`LONGEST_DAYS`] in picoseconds.
pub(crate) const LONGEST_PICOS: u64 = LONGEST_DAYS * 86_400 * tidegate_core::units::PICOS_PER_SECOND;
/// The most slots that a scenario may name.
pub(crate) const MOST_SLOTS: u64 = 1_000_000_000;
/// The most bandwidth–delay products that a scenario may name.
pub(crate) const MOST_PRODUCTS: u64 = 1_000_000;
/// The largest size a scenario may name, in bytes.
pub(crate) const LARGEST_BYTES: u64 = 1_000_000_000_000_000_000;
