//! Units as people write them: `Mbit/s`, `RATE(MBit/s)`, `throughput_mbps`, `bits_per_second`, `Time [ms]`.

use std::fmt;
use std::str::FromStr;

use tidegate_core::units::PICOS_PER_SECOND;

/// Picoseconds in one second, for what is wider than a time.
pub(super) const SECOND: u128 = PICOS_PER_SECOND as u128;

/// What a number of a rate column counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RateUnit {
    /// The power of ten of the prefix: 6 for mega.
    pub(super) power: i32,
    /// Bytes rather than bits.
    pub(super) bytes: bool,
    /// An amount since the row before rather than a rate.
    pub(super) amount: bool,
}

/// What a number of a time column counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeUnit {
    /// The power of ten that makes picoseconds.
    pub(super) power: i32,
}

/// No unit of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no unit of a rate; write Mbit/s, kbit/s, bit/s, Gbit/s, kB/s or MB/s, or bytes for an amount since the row before"
)]
pub struct UnknownRateUnit;

/// No unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no unit of a time; write s, ms, us or ns")]
pub struct UnknownTimeUnit;

/// Endings that make a rate of an amount, longest first.
const PER_SECOND: [&str; 8] = ["persecond", "/second", "persec", "/sec", "pers", "/s", "ps", "s-1"];

impl RateUnit {
    /// A rate's unit, as `text` spells it.
    pub(super) fn of_rate(text: &str) -> Option<RateUnit> {
        let plain: String = text.chars().filter(|c| !matches!(c, ' ' | '_' | '.')).collect();
        let amount = PER_SECOND.into_iter().find_map(|ending| {
            let at = plain.len().checked_sub(ending.len()).filter(|at| plain.is_char_boundary(*at))?;
            plain[at..].eq_ignore_ascii_case(ending).then(|| plain.split_at(at))
        });
        let (amount, ending) = amount?;
        // MBPS may be either.
        if ending == "PS" && amount.ends_with('B') && amount.chars().all(|c| c.is_ascii_uppercase()) {
            return None;
        }
        amount_unit(amount)
    }

    /// The unit at the end of a column's name, such as `rate_mbps`, `RATE(MBit/s)` or `throughputMbps`.
    pub(super) fn of_name(name: &str) -> Option<RateUnit> {
        let humps = || humps(name).find_map(|ending| RateUnit::of_rate(ending).filter(|unit| unit.power > 0));
        endings(name).find_map(RateUnit::of_rate).or_else(humps)
    }
}

impl FromStr for RateUnit {
    type Err = UnknownRateUnit;

    fn from_str(text: &str) -> Result<RateUnit, UnknownRateUnit> {
        let amount = || amount_unit(text).map(|unit| RateUnit { amount: true, ..unit });
        RateUnit::of_rate(text).or_else(amount).ok_or(UnknownRateUnit)
    }
}

impl fmt::Display for RateUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = match self.power {
            3 => "k",
            6 => "M",
            9 => "G",
            12 => "T",
            _ => "",
        };
        let what = if self.bytes { "B" } else { "bit" };
        write!(f, "{prefix}{what}{}", if self.amount { "" } else { "/s" })
    }
}

/// Bits or bytes with their prefix.
fn amount_unit(text: &str) -> Option<RateUnit> {
    let lower = text.to_ascii_lowercase();
    let long = [("bits", false), ("bit", false), ("bytes", true), ("byte", true)];
    let long = long.into_iter().find_map(|(word, bytes)| Some((lower.strip_suffix(word)?.to_owned(), bytes)));
    let (prefix, bytes) = long.or_else(|| {
        let rest = text.strip_suffix(['b', 'B'])?;
        Some((rest.to_ascii_lowercase(), text.ends_with('B')))
    })?;
    let power = match prefix.trim() {
        "" => 0,
        "k" | "kilo" => 3,
        "m" | "mega" => 6,
        "g" | "giga" => 9,
        "t" | "tera" => 12,
        _ => return None,
    };
    Some(RateUnit { power, bytes, amount: false })
}

impl TimeUnit {
    /// Seconds.
    pub(super) const SECONDS: TimeUnit = TimeUnit { power: 12 };

    /// The unit at the end of a column's name, such as `time_s` or `Time (ms)`.
    pub(super) fn of_name(name: &str) -> Option<TimeUnit> {
        endings(name).find_map(|ending| ending.parse().ok())
    }
}

impl FromStr for TimeUnit {
    type Err = UnknownTimeUnit;

    fn from_str(text: &str) -> Result<TimeUnit, UnknownTimeUnit> {
        let power = match text.trim().to_ascii_lowercase().as_str() {
            "s" | "sec" | "secs" | "second" | "seconds" => 12,
            "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => 9,
            "us" | "µs" | "μs" | "usec" | "usecs" | "microsecond" | "microseconds" => 6,
            "ns" | "nsec" | "nsecs" | "nanosecond" | "nanoseconds" => 3,
            _ => return Err(UnknownTimeUnit),
        };
        Ok(TimeUnit { power })
    }
}

/// Pieces at the end of a column's name that may be its unit: what stands in brackets, else the whole name, else what
/// follows each mark, the longest first.
fn endings(name: &str) -> impl Iterator<Item = &str> {
    let name = name.trim();
    let inside = [('(', ')'), ('[', ']'), ('{', '}')].into_iter().find_map(|(opens, closes)| {
        let inner = name.strip_suffix(closes)?;
        Some(inner.rsplit_once(opens)?.1.trim())
    });
    let marks = name.match_indices(['_', ' ', '-', '.', '/']).map(|(at, mark)| at + mark.len());
    let pieces = std::iter::once(0).chain(marks).map(|at| &name[at..]);
    inside.into_iter().chain(pieces)
}

/// What follows each change from a small to a capital letter, as in `rateMbps`.
fn humps(name: &str) -> impl Iterator<Item = &str> {
    let pairs = name.char_indices().zip(name.char_indices().skip(1));
    pairs
        .filter(|((_, before), (_, letter))| before.is_lowercase() && letter.is_uppercase())
        .map(|(_, (at, _))| &name[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_in_the_spellings_that_people_use() {
        for (name, power, bytes) in [
            ("RATE(MBit/s)", 6, false),
            ("Verizon_throughput_mbps", 6, false),
            ("Mbits/sec", 6, false),
            ("bandwidth_kbps", 3, false),
            ("kbps", 3, false),
            ("Throughput [Kbps]", 3, false),
            ("DL rate (kbit/s)", 3, false),
            ("bits_per_second", 0, false),
            ("bps", 0, false),
            ("rateGbps", 9, false),
            ("goodput-Mb/s", 6, false),
            ("speed_bytes/s", 0, true),
            ("Bytes per second", 0, true),
            ("speed (MB/s)", 6, true),
            ("kBps", 3, true),
            ("KiloBytes/sec", 3, true),
        ] {
            assert_eq!(RateUnit::of_name(name), Some(RateUnit { power, bytes, amount: false }), "{name}");
        }
        for name in
            ["rate", "MBPS", "gps", "drops", "steps", "Speed", "bytes", "MiB/s", "", "µs", "(", "time_s"]
        {
            assert_eq!(RateUnit::of_name(name), None, "{name}");
        }
        assert_eq!("kB".parse(), Ok(RateUnit { power: 3, bytes: true, amount: true }));
        assert_eq!("furlongs".parse::<RateUnit>(), Err(UnknownRateUnit));
        assert_eq!("MBytes/sec".parse::<RateUnit>().map(|unit| unit.to_string()), Ok("MB/s".to_owned()));
    }

    #[test]
    fn times_are_read_in_the_spellings_that_people_use() {
        for (name, power) in [
            ("time_s", 12),
            ("Time (ms)", 9),
            ("timestamp[us]", 6),
            ("elapsed seconds", 12),
            ("t_ns", 3),
            ("t µs", 6),
        ] {
            assert_eq!(TimeUnit::of_name(name), Some(TimeUnit { power }), "{name}");
        }
        for name in ["Timestamps", "time", "timeS", "rate_mbps"] {
            assert_eq!(TimeUnit::of_name(name), None, "{name}");
        }
    }
}
