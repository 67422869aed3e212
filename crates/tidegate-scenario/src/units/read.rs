//! From `"15.264 Mbit/s"` to a typed value, or to a complaint with the repair.

use tidegate_core::dtm::{NANOS_PER_SLOT, Slots};
use tidegate_core::units::{FASTEST, Rate, Span, Speed};

use super::amount::Amount;
use super::decimal::{Decimal, NotWhole};
use super::known::{Dim, Measure, NANOS_PER_PRODUCT, PRODUCT, UNITS, Unit};
use super::repair::{self, Complaint};
use super::{LARGEST_BYTES, LONGEST_DAYS, LONGEST_PICOS, MOST_PRODUCTS, MOST_SLOTS};

/// Reads `text` as an amount of `dim`.
pub(crate) fn read(text: &str, dim: Dim) -> Result<Amount, Complaint> {
    let trimmed = text.trim();
    let split = number_length(trimmed);
    let (number, name) = (&trimmed[..split], trimmed[split..].trim_start());
    let Some(decimal) = Decimal::read(number) else {
        return Err(repair::not_a_number(text, dim));
    };
    if name.is_empty() && !decimal.negative {
        return Err(repair::no_unit(number, dim));
    }
    if name.is_empty() {
        return Err(negative(text, dim));
    }
    let is_it = |unit: &&Unit| {
        unit.name == name || (unit.measure == Measure::Product && unit.name.eq_ignore_ascii_case(name))
    };
    let Some(unit) = UNITS.iter().find(is_it) else {
        return Err(repair::unknown_unit(text, number, name, dim));
    };
    if !dim.takes(unit.measure) {
        return Err(repair::wrong_measure(text, number, unit, dim));
    }
    if decimal.negative && !decimal.is_zero() {
        return Err(negative(text, dim));
    }
    let per = if unit.measure == Measure::Size { 8 } else { 1 };
    let whole = decimal.times(unit.factor, per).map_err(|why| not_whole(text, unit, why))?;
    amount(text, unit.measure, whole)
}

fn negative(text: &str, dim: Dim) -> Complaint {
    Complaint::new(
        format!("{text:?} is negative"),
        format!("write {} of 0 or more, such as {:?}", repair::noun(dim), repair::example(dim)),
    )
}

/// How many bytes at the front of `text` look like a number.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let exponent = matches!(bytes[end], b'e' | b'E')
            && end > 0
            && bytes.get(end + 1).is_some_and(|next| next.is_ascii_digit() || matches!(next, b'-' | b'+'));
        if exponent {
            end += 2;
        } else if bytes[end].is_ascii_digit() || matches!(bytes[end], b'.' | b'-' | b'+' | b'_' | b',') {
            end += 1;
        } else {
            break;
        }
    }
    end
}

fn amount(text: &str, measure: Measure, whole: u128) -> Result<Amount, Complaint> {
    let below = |most: u64, help: String| match u64::try_from(whole) {
        Ok(value) if value <= most => Ok(value),
        _ => Err(Complaint::new(format!("{text:?} is too large"), help)),
    };
    Ok(match measure {
        Measure::Time => Amount::Time(Span::from_picos(below(
            LONGEST_PICOS,
            format!("the longest time is {LONGEST_DAYS} days, \"{} h\"", LONGEST_DAYS * 24),
        )?)),
        Measure::Rate => {
            let terabits = FASTEST.bps() / 1_000_000_000_000;
            let help = format!(
                "the fastest rate is \"{terabits} Tbit/s\"; a gate that takes no time has rate = \"unlimited\""
            );
            Amount::Speed(Speed::Bits(Rate::from_bps(below(FASTEST.bps(), help)?)))
        }
        Measure::PacketRate => {
            let help = "the fastest processor does \"1000000000 packets/s\"";
            Amount::Speed(Speed::Packets(below(FASTEST.bps(), help.to_owned())?))
        }
        Measure::Size => {
            Amount::Bytes(below(LARGEST_BYTES, "the largest size is \"1000000 TB\"".to_owned())?)
        }
        Measure::Packets => Amount::Packets(below(u64::from(u32::MAX), most_help("packets"))?),
        Measure::Slots => {
            let help = format!("at most \"{MOST_SLOTS} slots\"");
            Amount::Slots(Slots::from_nanos(below(MOST_SLOTS * NANOS_PER_SLOT, help)?))
        }
        Measure::Cells => Amount::Cells(below(u64::from(u32::MAX), most_help("cells"))?),
        Measure::Segments => Amount::Segments(below(u64::from(u32::MAX), most_help("segments"))?),
        Measure::Product => {
            let help = format!("at most \"{MOST_PRODUCTS} {PRODUCT}\"");
            Amount::Products(below(MOST_PRODUCTS * NANOS_PER_PRODUCT, help)?)
        }
        // No key takes it: its dimension has refused it before.
        Measure::CellRate => return Err(Complaint::new("a rate in cells", "write a rate in bit/s")),
    })
}

fn most_help(noun: &str) -> String {
    format!("at most \"{} {noun}\", or \"unlimited\"", u32::MAX)
}

fn not_whole(text: &str, unit: &Unit, why: NotWhole) -> Complaint {
    let (step, small) = match unit.measure {
        Measure::Time => ("1 ps, the step of the clock", "ps"),
        Measure::Rate => ("1 bit/s, the step of rates", "bit/s"),
        Measure::PacketRate => ("0.000001 packets/s, the step of rates", "packets/s"),
        Measure::Size => ("1 B, the step of sizes", "B"),
        Measure::Packets => ("", "packets"),
        Measure::Cells => ("", "cells"),
        Measure::Slots => ("10⁻⁹ slots, the step of slots", "slots"),
        _ => ("", "segments"),
    };
    match why {
        NotWhole::Overflow => Complaint::new(format!("{text:?} is too large"), "write less"),
        NotWhole::Remainder(floor) if unit.measure == Measure::PacketRate => Complaint::new(
            format!("{text:?} is not a whole number of steps of {step}"),
            format!("write \"{} packets/s\"", floor as f64 / 1e6),
        ),
        NotWhole::Remainder(floor) if unit.measure == Measure::Product => {
            let [less, more] = [floor, floor + 1].map(|nanos| Amount::Products(nanos as u64));
            Complaint::new(
                format!("{text:?} is finer than 10⁻⁹ {PRODUCT}, the step of {PRODUCT}"),
                format!("write \"{less}\" or \"{more}\""),
            )
        }
        NotWhole::Remainder(floor)
            if matches!(unit.measure, Measure::Packets | Measure::Segments | Measure::Cells) =>
        {
            Complaint::new(
                format!("{text:?} is not a whole number of {small}"),
                format!("write \"{floor} {small}\" or \"{} {small}\"", floor + 1),
            )
        }
        NotWhole::Remainder(floor) if unit.measure == Measure::Slots => {
            let [less, more] = [floor, floor + 1].map(|nanos| Slots::from_nanos(nanos as u64));
            Complaint::new(
                format!("{text:?} is finer than {step}"),
                format!("write \"{less}\" or \"{more}\""),
            )
        }
        NotWhole::Remainder(0) => Complaint::new(
            format!("{text:?} is finer than {step}"),
            format!("write \"0 {small}\" or \"1 {small}\""),
        ),
        NotWhole::Remainder(floor) => Complaint::new(
            format!("{text:?} is finer than {step}"),
            format!("write \"{floor} {small}\" or \"{} {small}\"", floor + 1),
        ),
    }
}
