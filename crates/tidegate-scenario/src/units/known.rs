//! What can be measured, and every unit that there is.

use tidegate_core::dtm::NANOS_PER_SLOT;

/// What a key measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dim {
    /// A time: ps to h.
    Time,
    /// Bits or bytes per second.
    Rate,
    /// A rate, or packets per second.
    Speed,
    /// Bytes or bits.
    Size,
    /// Packets, cells, or a size; also by a time, or in bandwidth–delay products.
    Queue,
    /// A size; also by a time, or in bandwidth–delay products.
    Burst,
    /// Cells.
    Cells,
    /// Segments, or a size.
    Window,
    /// Segments, or a size; also by a time, or in bandwidth–delay products.
    ReceiveWindow,
    /// Slots of a channel, in billionths.
    Slots,
    /// Slots, or a rate.
    Pool,
}

impl Dim {
    pub(super) fn takes(self, measure: Measure) -> bool {
        match self {
            Dim::Time => measure == Measure::Time,
            Dim::Rate => measure == Measure::Rate,
            Dim::Speed => matches!(measure, Measure::Rate | Measure::PacketRate),
            Dim::Size => measure == Measure::Size,
            Dim::Queue => {
                matches!(measure, Measure::Packets | Measure::Cells | Measure::Size) || measure.is_relative()
            }
            Dim::Burst => measure == Measure::Size || measure.is_relative(),
            Dim::Cells => measure == Measure::Cells,
            Dim::Window => matches!(measure, Measure::Segments | Measure::Size),
            Dim::ReceiveWindow => {
                matches!(measure, Measure::Segments | Measure::Size) || measure.is_relative()
            }
            Dim::Slots => measure == Measure::Slots,
            Dim::Pool => matches!(measure, Measure::Slots | Measure::Rate),
        }
    }
}

impl Dim {
    /// Whether it is a size that may be given by what it holds: a time at a rate, or a bandwidth–delay product.
    pub(crate) fn is_relative(self) -> bool {
        matches!(self, Dim::Queue | Dim::Burst | Dim::ReceiveWindow)
    }
}

/// What a unit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Time,
    Rate,
    PacketRate,
    Size,
    Packets,
    Segments,
    Cells,
    CellRate,
    Slots,
    Product,
}

impl Measure {
    /// Whether it makes a size only with a rate.
    fn is_relative(self) -> bool {
        matches!(self, Measure::Time | Measure::Product)
    }
}

/// A unit and how many of the smallest step (ps, bit/s, millionths of packets/s, bits,
/// billionths of slots or of bandwidth–delay products, one) it is.
pub(super) struct Unit {
    pub(super) name: &'static str,
    pub(super) measure: Measure,
    pub(super) factor: u128,
}

const fn unit(name: &'static str, measure: Measure, factor: u128) -> Unit {
    Unit { name, measure, factor }
}

/// The bandwidth–delay product as a unit; it may also be written in small letters.
pub(crate) const PRODUCT: &str = "BDP";
/// Steps of a number of bandwidth–delay products.
pub(crate) const NANOS_PER_PRODUCT: u64 = 1_000_000_000;

/// Every unit there is. The first name of a factor is the one that messages propose.
pub(super) const UNITS: &[Unit] = &[
    unit("ps", Measure::Time, 1),
    unit("ns", Measure::Time, 1_000),
    unit("us", Measure::Time, 1_000_000),
    unit("µs", Measure::Time, 1_000_000),
    unit("μs", Measure::Time, 1_000_000),
    unit("ms", Measure::Time, 1_000_000_000),
    unit("s", Measure::Time, 1_000_000_000_000),
    unit("min", Measure::Time, 60_000_000_000_000),
    unit("h", Measure::Time, 3_600_000_000_000_000),
    unit("bit/s", Measure::Rate, 1),
    unit("kbit/s", Measure::Rate, 1_000),
    unit("Mbit/s", Measure::Rate, 1_000_000),
    unit("Gbit/s", Measure::Rate, 1_000_000_000),
    unit("Tbit/s", Measure::Rate, 1_000_000_000_000),
    unit("bps", Measure::Rate, 1),
    unit("kbps", Measure::Rate, 1_000),
    unit("Mbps", Measure::Rate, 1_000_000),
    unit("Gbps", Measure::Rate, 1_000_000_000),
    unit("Tbps", Measure::Rate, 1_000_000_000_000),
    unit("Kibit/s", Measure::Rate, 1 << 10),
    unit("Mibit/s", Measure::Rate, 1 << 20),
    unit("Gibit/s", Measure::Rate, 1 << 30),
    unit("B/s", Measure::Rate, 8),
    unit("kB/s", Measure::Rate, 8_000),
    unit("MB/s", Measure::Rate, 8_000_000),
    unit("GB/s", Measure::Rate, 8_000_000_000),
    unit("KiB/s", Measure::Rate, 8 << 10),
    unit("MiB/s", Measure::Rate, 8 << 20),
    unit("GiB/s", Measure::Rate, 8 << 30),
    unit("packets/s", Measure::PacketRate, 1_000_000),
    unit("packet/s", Measure::PacketRate, 1_000_000),
    unit("B", Measure::Size, 8),
    unit("kB", Measure::Size, 8_000),
    unit("MB", Measure::Size, 8_000_000),
    unit("GB", Measure::Size, 8_000_000_000),
    unit("TB", Measure::Size, 8_000_000_000_000),
    unit("KiB", Measure::Size, 8 << 10),
    unit("MiB", Measure::Size, 8 << 20),
    unit("GiB", Measure::Size, 8 << 30),
    unit("TiB", Measure::Size, 8 << 40),
    unit("bit", Measure::Size, 1),
    unit("kbit", Measure::Size, 1_000),
    unit("Mbit", Measure::Size, 1_000_000),
    unit("Gbit", Measure::Size, 1_000_000_000),
    unit("packets", Measure::Packets, 1),
    unit("packet", Measure::Packets, 1),
    unit("segments", Measure::Segments, 1),
    unit("segment", Measure::Segments, 1),
    unit("cells", Measure::Cells, 1),
    unit("cell", Measure::Cells, 1),
    unit("cells/s", Measure::CellRate, 1),
    unit("slots", Measure::Slots, NANOS_PER_SLOT as u128),
    unit("slot", Measure::Slots, NANOS_PER_SLOT as u128),
    unit(PRODUCT, Measure::Product, NANOS_PER_PRODUCT as u128),
];

/// The units of `dim`, each under every name it has.
pub(crate) fn unit_names(dim: Dim) -> impl Iterator<Item = &'static str> {
    UNITS.iter().filter(move |unit| dim.takes(unit.measure)).map(|unit| unit.name)
}
