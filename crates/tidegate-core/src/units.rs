//! Typed units and the exact arithmetic of time.
//!
//! Time is counted in whole picoseconds since the start of the run. A unit of work that
//! does not end on a whole picosecond is rounded **down** and the remainder carried, see
//! [`crate::serial`].

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// Picoseconds in one second.
pub const PICOS_PER_SECOND: u64 = 1_000_000_000_000;
/// Picoseconds in one millisecond.
pub const PICOS_PER_MILLISECOND: u64 = PICOS_PER_SECOND / 1000;
/// The fastest rate that a scenario, a trace or a setting may name, 1 Pbit/s: sums and products then fit the arithmetic.
pub const FASTEST: Rate = Rate::from_bps(1_000_000_000_000_000);

/// Ticks of the Linux kernel's clock in a second (`CONFIG_HZ`).
pub(crate) const KERNEL_HZ: u64 = 250;

/// One such tick (a jiffy).
pub(crate) const KERNEL_TICK: Span = Span::from_picos(PICOS_PER_SECOND / KERNEL_HZ);

/// An instant: whole picoseconds since the run began.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A length of time in whole picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than anything that happens.
    pub const NEVER: Time = Time(u64::MAX);

    /// The instant `picos` picoseconds after the start.
    #[must_use]
    pub const fn from_picos(picos: u64) -> Time {
        Time(picos)
    }

    /// Picoseconds since the start.
    #[must_use]
    pub const fn picos(self) -> u64 {
        self.0
    }

    /// Whole microseconds since the start.
    #[must_use]
    pub const fn micros(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Seconds since the start, for people and plots only.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PICOS_PER_SECOND as f64
    }

    /// How long after `earlier` this is; `None` if it is not.
    #[must_use]
    pub const fn since(self, earlier: Time) -> Option<Span> {
        match self.0.checked_sub(earlier.0) {
            Some(picos) => Some(Span(picos)),
            None => None,
        }
    }

    /// How long after `earlier` this is; zero if it is before.
    #[must_use]
    pub const fn saturating_since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// This instant plus `span`, or [`Time::NEVER`] if that cannot be counted.
    #[must_use]
    pub const fn saturating_add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// The longest span there is.
    pub const MAX: Span = Span(u64::MAX);

    /// A span of `picos` picoseconds.
    #[must_use]
    pub const fn from_picos(picos: u64) -> Span {
        Span(picos)
    }

    /// A span of `micros` microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Span {
        Span(micros * 1_000_000)
    }

    /// A span of `millis` milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Span {
        Span(millis * 1_000_000_000)
    }

    /// A span of `secs` seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Span {
        Span(secs * PICOS_PER_SECOND)
    }

    /// Picoseconds in this span.
    #[must_use]
    pub const fn picos(self) -> u64 {
        self.0
    }

    /// Whole microseconds in this span.
    #[must_use]
    pub const fn micros(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Seconds, for people and plots only.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PICOS_PER_SECOND as f64
    }

    /// `self * factor`, the largest span if that cannot be counted.
    #[must_use]
    pub const fn saturating_mul(self, factor: u64) -> Span {
        Span(self.0.saturating_mul(factor))
    }

    /// `self - other`, zero if `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0 + span.0)
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        self.0 += other.0;
    }
}

/// Panics when the result would be negative: a clock that goes back is a bug to see.
impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0.checked_sub(other.0).expect("a span cannot be negative"))
    }
}

/// Exact text: 1 500 000 000 ps is "1.5 ms".
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 5] =
            [(PICOS_PER_SECOND, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns"), (1, "ps")];
        if self.0 == 0 { f.write_str("0 s") } else { write_exactly(f, self.0, &UNITS) }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Span(self.0), f)
    }
}

/// Writes a number with the largest unit that leaves at least one digit before the point, else with the last one.
pub(crate) fn write_exactly(
    f: &mut fmt::Formatter<'_>,
    number: u64,
    units: &[(u64, &'static str)],
) -> fmt::Result {
    let fits = units.iter().find(|(size, _)| number >= *size);
    let (size, name) = fits.or(units.last()).copied().unwrap_or((1, ""));
    let (whole, part) = (number / size, number % size);
    if part == 0 {
        return write!(f, "{whole} {name}");
    }
    let digits = size.ilog10() as usize;
    let text = format!("{whole}.{part:0digits$}");
    write!(f, "{} {name}", text.trim_end_matches('0'))
}

macro_rules! debug_as_text {
    ($($name:ident),+) => {
        $(impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        })+
    };
}
debug_as_text!(Time, Span, Rate);

/// The part of a run that summaries count: `[from, until)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Counting begins.
    pub from: Time,
    /// The run ends.
    pub until: Time,
}

impl Measured {
    /// How long it is, in seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.until.saturating_since(self.from).as_secs_f64()
    }

    /// Whether an instant lies inside.
    #[inline]
    #[must_use]
    pub fn holds(self, at: Time) -> bool {
        at >= self.from && at < self.until
    }

    /// How much of `[start, end)` lies inside, in picoseconds.
    #[inline]
    #[must_use]
    pub fn overlap(self, start: Time, end: Time) -> u64 {
        let from = start.max(self.from);
        let until = end.min(self.until);
        until.picos().saturating_sub(from.picos())
    }
}

/// A rate in whole bits per second. Zero is an outage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

impl Rate {
    /// Nothing passes.
    pub const ZERO: Rate = Rate(0);

    /// A rate of `bps` bits per second.
    #[must_use]
    pub const fn from_bps(bps: u64) -> Rate {
        Rate(bps)
    }

    /// Bits per second.
    #[must_use]
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// How long so many bytes take, rounded up to the picosecond; the longest span at a rate of zero.
    #[must_use]
    pub fn span_of(self, bytes: u32) -> Span {
        let work = u128::from(bytes) * 8 * u128::from(PICOS_PER_SECOND);
        let picos =
            work.checked_div(u128::from(self.0)).map_or(u128::MAX, |_| work.div_ceil(u128::from(self.0)));
        Span::from_picos(u64::try_from(picos).unwrap_or(u64::MAX))
    }
}

/// Exact text: 15 264 000 bit/s is "15.264 Mbit/s".
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1_000, "kbit/s"), (1, "bit/s")];
        write_exactly(f, self.0, &units)
    }
}

/// How fast a gate works, in the work its units bring: bits, or one unit of work per
/// packet (a processor).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Speed {
    /// Bits per second: a unit brings its bits on the wire.
    Bits(Rate),
    /// Packets per second, in millionths: a unit brings one packet, whatever its size.
    /// 5000 packets/s is `Packets(5_000_000_000)`.
    Packets(u64),
}

impl Speed {
    /// Work done per second: bits, or millionths of a packet.
    #[must_use]
    pub const fn work_per_second(self) -> u64 {
        match self {
            Speed::Bits(rate) => rate.bps(),
            Speed::Packets(micro) => micro,
        }
    }

    /// Units of so many bits in a second.
    #[must_use]
    pub fn units_per_second(self, bits: f64) -> f64 {
        match self {
            Speed::Bits(rate) => rate.bps() as f64 / bits,
            Speed::Packets(micro) => micro as f64 / 1e6,
        }
    }

    /// Seconds that a unit of so many bits takes.
    #[must_use]
    pub fn unit_time(self, bits: f64) -> f64 {
        match self {
            Speed::Bits(rate) => bits / rate.bps() as f64,
            Speed::Packets(micro) => 1e6 / micro as f64,
        }
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Speed::Bits(rate) => rate.fmt(f),
            Speed::Packets(micro) => write!(f, "{} packets/s", *micro as f64 / 1e6),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_exact() {
        assert_eq!(Span::from_picos(1_500_000_000).to_string(), "1.5 ms");
        assert_eq!(Span::from_picos(1_809_722_200).to_string(), "1.8097222 ms");
        assert_eq!(Rate::from_bps(15_264_000).to_string(), "15.264 Mbit/s");
        assert_eq!(Time::ZERO.to_string(), "0 s");
    }

    #[test]
    fn since_refuses_to_go_back() {
        assert_eq!(Time::from_picos(3).since(Time::from_picos(5)), None);
        assert_eq!(Time::from_picos(5).since(Time::from_picos(3)), Some(Span::from_picos(2)));
    }
}
