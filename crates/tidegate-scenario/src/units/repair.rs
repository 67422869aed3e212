//! What was probably meant: the second half of every message about a unit.

use tidegate_core::aal5::CELL_BITS;
use tidegate_core::units::Rate;

use super::known::{Dim, Measure, UNITS, Unit};

/// What is wrong with a text, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// Says what is wrong; the text itself is part of it.
    pub(crate) problem: String,
    /// Says what to write instead.
    pub(crate) help: Option<String>,
}

impl Complaint {
    pub(crate) fn new(problem: impl Into<String>, help: impl Into<String>) -> Complaint {
        Complaint { problem: problem.into(), help: Some(help.into()) }
    }
}

/// What `dim` is called, with its article.
pub(crate) fn noun(dim: Dim) -> &'static str {
    match dim {
        Dim::Time => "a time",
        Dim::Rate | Dim::Speed => "a rate",
        Dim::Size | Dim::Burst => "a size",
        Dim::Queue => "a number of packets or cells, or a size",
        Dim::Cells => "a number of cells",
        Dim::Window | Dim::ReceiveWindow => "a number of segments or a size",
        Dim::Slots => "a number of slots",
        Dim::Pool => "a number of slots or a rate",
    }
}

/// A right value of `dim`.
pub(crate) fn example(dim: Dim) -> &'static str {
    match dim {
        Dim::Time => "10 ms",
        Dim::Rate | Dim::Speed => "10 Mbit/s",
        Dim::Size => "1500 B",
        Dim::Burst => "15 kB",
        Dim::Queue => "50 packets",
        Dim::Cells => "25 cells",
        Dim::Window | Dim::ReceiveWindow => "10 segments",
        Dim::Slots => "2 slots",
        Dim::Pool => "40 slots",
    }
}

fn units_of(dim: Dim) -> &'static str {
    match dim {
        Dim::Time => "ps, ns, us, ms, s, min, h",
        Dim::Rate => "bit/s, kbit/s, Mbit/s, Gbit/s, B/s, kB/s, MB/s",
        Dim::Speed => "bit/s, kbit/s, Mbit/s, Gbit/s, B/s, kB/s, MB/s, packets/s",
        Dim::Size => "B, kB, MB, KiB, MiB",
        Dim::Queue => "packets, cells, B, kB, MB, KiB, MiB, ms, BDP",
        Dim::Burst => "B, kB, MB, KiB, MiB, ms, BDP",
        Dim::Cells => "cells",
        Dim::Window => "segments, B, kB, MB, KiB, MiB",
        Dim::ReceiveWindow => "segments, B, kB, MB, KiB, MiB, ms, BDP",
        Dim::Slots => "slots",
        Dim::Pool => "slots, bit/s, kbit/s, Mbit/s, Gbit/s, B/s, kB/s, MB/s",
    }
}

fn measure_noun(measure: Measure) -> &'static str {
    match measure {
        Measure::Time => "a time",
        Measure::Rate => "a rate",
        Measure::PacketRate => "a rate in packets",
        Measure::Size => "a size",
        Measure::Packets => "a number of packets",
        Measure::Segments => "a number of segments",
        Measure::Cells => "a number of cells",
        Measure::CellRate => "a rate in cells",
        Measure::Slots => "a number of slots",
        Measure::Product => "a number of bandwidth–delay products",
    }
}

/// The first unit that people mean when they give none.
fn common_unit(dim: Dim) -> &'static str {
    match dim {
        Dim::Time => "ms",
        Dim::Rate | Dim::Speed => "Mbit/s",
        Dim::Size | Dim::Burst => "B",
        Dim::Queue => "packets",
        Dim::Cells => "cells",
        Dim::Window | Dim::ReceiveWindow => "segments",
        Dim::Slots | Dim::Pool => "slots",
    }
}

pub(super) fn not_a_number(text: &str, dim: Dim) -> Complaint {
    let grouped = text.chars().any(|letter| matches!(letter, '_' | ','));
    let hint = if grouped { "a number has no ',' or '_' in it; " } else { "" };
    Complaint::new(
        format!("{text:?} does not begin with a valid number"),
        format!("{hint}write {} such as {:?}", noun(dim), example(dim)),
    )
}

pub(super) fn no_unit(number: &str, dim: Dim) -> Complaint {
    let unit = if number == "0" && dim == Dim::Time { "s" } else { common_unit(dim) };
    Complaint::new(
        format!("{number} has no unit"),
        format!("write \"{number} {unit}\"; units here: {}", units_of(dim)),
    )
}

pub(super) fn unknown_unit(text: &str, number: &str, name: &str, dim: Dim) -> Complaint {
    let problem = if name == "m" {
        format!("{text:?}: a bare \"m\" could be milli, mega, minutes or metres")
    } else {
        format!("the unit of {text:?} is not known")
    };
    let candidates = meant(name, dim);
    let help = match candidates.as_slice() {
        [] => format!("units here: {}", units_of(dim)),
        [one] => format!("write \"{number} {one}\""),
        [one, two, ..] => format!("write \"{number} {one}\" or \"{number} {two}\""),
    };
    Complaint::new(problem, help)
}

pub(super) fn wrong_measure(text: &str, number: &str, unit: &Unit, dim: Dim) -> Complaint {
    if unit.measure == Measure::CellRate && matches!(dim, Dim::Rate | Dim::Speed) {
        return Complaint::new(
            format!("{text:?} counts cells, and a rate is in bits"),
            format!("a cell has 424 bits: write {}", cells_as_bits(number)),
        );
    }
    let counted = match (dim, unit.measure) {
        (Dim::Window | Dim::ReceiveWindow, Measure::Packets) => Some("segments"),
        (Dim::Queue, Measure::Segments) => Some("packets"),
        _ => None,
    };
    if let Some(counted) = counted {
        let problem = format!("{text:?} is {}, not {}", measure_noun(unit.measure), noun(dim));
        return Complaint::new(problem, format!("write \"{number} {counted}\""));
    }
    let rate = UNITS.iter().find(|other| {
        dim.takes(other.measure) && other.name.strip_suffix("/s").is_some_and(|name| name == unit.name)
    });
    let size = UNITS.iter().find(|other| {
        dim.takes(other.measure) && unit.name.strip_suffix("/s").is_some_and(|name| name == other.name)
    });
    let help = match rate.or(size) {
        Some(close) => format!("write \"{number} {}\"", close.name),
        None => format!("write {} such as {:?}; units here: {}", noun(dim), example(dim), units_of(dim)),
    };
    Complaint::new(format!("{text:?} is {}, not {}", measure_noun(unit.measure), noun(dim)), help)
}

/// A rate in cells per second, as bits per second.
fn cells_as_bits(number: &str) -> String {
    match number.parse::<u64>().ok().and_then(|cells| cells.checked_mul(CELL_BITS)) {
        Some(bps) => format!("\"{}\"", Rate::from_bps(bps)),
        None => "that number of bits per second".to_owned(),
    }
}

/// Canonical units of `dim` that a wrong spelling may have meant, the likeliest first.
fn meant(name: &str, dim: Dim) -> Vec<&'static str> {
    let lower = name.to_lowercase();
    match dim {
        Dim::Time => time_meant(&lower),
        Dim::Slots | Dim::Cells => Vec::new(),
        Dim::Rate | Dim::Speed | Dim::Pool => {
            if dim == Dim::Speed
                && matches!(lower.as_str(), "pps" | "pkts/s" | "pkt/s" | "p/s" | "packets/sec")
            {
                return vec!["packets/s"];
            }
            prefixed(&rate_stem(name), RATE_NAMES)
        }
        Dim::Queue if matches!(lower.as_str(), "pkt" | "pkts" | "p" | "packs" | "paquets") => vec!["packets"],
        Dim::Window | Dim::ReceiveWindow
            if matches!(lower.as_str(), "seg" | "segs" | "mss" | "packets" | "packet") =>
        {
            vec!["segments"]
        }
        Dim::Size | Dim::Queue | Dim::Burst | Dim::Window | Dim::ReceiveWindow => {
            let stem = name.to_lowercase();
            let stem =
                ["ytes", "yte", "octets"].iter().find_map(|end| stem.strip_suffix(end)).map(str::to_owned);
            prefixed(&stem.unwrap_or_else(|| name.to_owned()), SIZE_NAMES)
        }
    }
    .into_iter()
    .chain(nearest_unit(name, dim))
    .fold(Vec::new(), |mut kept, unit| {
        if !kept.contains(&unit) {
            kept.push(unit);
        }
        kept
    })
}

fn time_meant(lower: &str) -> Vec<&'static str> {
    match lower {
        "m" => vec!["ms", "min"],
        "sec" | "secs" | "second" | "seconds" => vec!["s"],
        "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => vec!["ms"],
        "u" | "usec" | "usecs" | "micros" | "microsecond" | "microseconds" => vec!["us"],
        "nsec" | "nanos" | "nanosecond" | "nanoseconds" => vec!["ns"],
        "mins" | "minute" | "minutes" => vec!["min"],
        "hr" | "hrs" | "hour" | "hours" => vec!["h"],
        _ => Vec::new(),
    }
}

/// The wrong spelling of a rate without its "per second".
fn rate_stem(name: &str) -> String {
    let lower = name.to_lowercase();
    let end = ["its/sec", "it/sec", "its/s", "it/s", "/second", "/sec", "/s", "its", "it", "ps"]
        .iter()
        .find(|end| lower.ends_with(**end))
        .map_or(0, |end| end.len());
    let keep = name.len().saturating_sub(end);
    name.get(..keep).unwrap_or(name).to_owned()
}

/// (prefix letter, name for bits or small b, name for bytes or capital B, other byte name)
type Names = &'static [(char, &'static str, &'static str)];

const RATE_NAMES: Names = &[
    ('k', "kbit/s", "kB/s"),
    ('m', "Mbit/s", "MB/s"),
    ('g', "Gbit/s", "GB/s"),
    ('t', "Tbit/s", "GB/s"),
    ('b', "bit/s", "B/s"),
];
const SIZE_NAMES: Names =
    &[('k', "kB", "KiB"), ('m', "MB", "MiB"), ('g', "GB", "GiB"), ('t', "TB", "TiB"), ('b', "B", "B")];

fn prefixed(stem: &str, names: Names) -> Vec<&'static str> {
    let mut letters = stem.chars();
    let Some(first) = letters.next() else { return Vec::new() };
    let rest: String = letters.collect();
    if !matches!(rest.as_str(), "" | "b" | "B" | "i" | "ib" | "iB") {
        return Vec::new();
    }
    let wants_bytes = rest.ends_with('B') || first == 'B';
    let Some(found) = names.iter().find(|(letter, _, _)| *letter == first.to_ascii_lowercase()) else {
        return Vec::new();
    };
    match (names == RATE_NAMES, wants_bytes) {
        (true, true) => vec![found.2, found.1],
        (true, false) => vec![found.1],
        (false, _) if rest.starts_with('i') => vec![found.2],
        (false, _) if found.1 == found.2 => vec![found.1],
        (false, _) => vec![found.1, found.2],
    }
}

/// The unit that is spelt most like `name`; none where two are as near.
fn nearest_unit(name: &str, dim: Dim) -> Option<&'static str> {
    let mut near: Vec<_> = UNITS
        .iter()
        .filter(|unit| dim.takes(unit.measure) && !unit.name.ends_with("ps"))
        .map(|unit| (strsim::damerau_levenshtein(&name.to_lowercase(), &unit.name.to_lowercase()), unit.name))
        .filter(|(distance, unit)| *distance <= 1.max(unit.len() / 3) && name.len() > 1)
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    match near.as_slice() {
        [(one, _), (other, _), ..] if one == other => None,
        [(_, unit), ..] => Some(*unit),
        [] => None,
    }
}
