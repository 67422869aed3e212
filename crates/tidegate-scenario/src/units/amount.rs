//! A value with a unit, as it is read and as it is shown.

use std::fmt;

use tidegate_core::dtm::Slots;
use tidegate_core::units::{Span, Speed};

use super::known::PRODUCT;
use super::write::{bytes_text, nanos_text, plural};

/// A value with its unit taken in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Amount {
    /// A time.
    Time(Span),
    /// Bits per second, or packets per second.
    Speed(Speed),
    /// Bytes.
    Bytes(u64),
    /// Whole packets.
    Packets(u64),
    /// Whole segments.
    Segments(u64),
    /// Whole cells.
    Cells(u64),
    /// Slots of a channel.
    Slots(Slots),
    /// Billionths of a bandwidth–delay product.
    Products(u64),
}

impl Amount {
    /// Whether it is nothing at all.
    pub(crate) fn is_zero(self) -> bool {
        match self {
            Amount::Time(span) => span == Span::ZERO,
            Amount::Speed(speed) => speed.work_per_second() == 0,
            Amount::Slots(slots) => slots == Slots::default(),
            Amount::Bytes(n)
            | Amount::Packets(n)
            | Amount::Segments(n)
            | Amount::Cells(n)
            | Amount::Products(n) => n == 0,
        }
    }
}

impl fmt::Display for Amount {
    /// As it could be written in a scenario.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Time(span) => span.fmt(out),
            Amount::Speed(speed) => speed.fmt(out),
            Amount::Bytes(bytes) => out.write_str(&bytes_text(*bytes)),
            Amount::Packets(packets) => out.write_str(&plural(*packets, "packet")),
            Amount::Segments(segments) => out.write_str(&plural(*segments, "segment")),
            Amount::Cells(cells) => out.write_str(&plural(*cells, "cell")),
            Amount::Slots(slots) => slots.fmt(out),
            Amount::Products(nanos) => write!(out, "{} {PRODUCT}", nanos_text(*nanos)),
        }
    }
}
