//! Rates as the crate `netem-trace` and the emulator rattan write them in JSON.
//!
//! - `{"StaticBwConfig": {"bw": B, "duration": D}}` (formerly `FixedBwConfig`): one rate.
//! - `{"TraceBwConfig": [[D, [B, B]], …]}`: each rate of an inner list holds D.
//! - `{"RepeatedBwPatternConfig": {"pattern": […], "count": N}}`: what stands in the pattern, N times.
//!
//! B is `"12Mbps"` or `{"gbps": 0, "bps": 12000000}`, D is `"1s"` or `{"secs": 1, "nanos": 0}`. A pattern is read once:
//! what follows the end of a trace, the scenario says. Models that draw rates at random are refused.

use ::csv::ByteRecord;
use serde_json::Value;

use super::units::{RateUnit, SECOND, TimeUnit};
use super::wrong::{Wrong, wrong};
use crate::trace::decimal;

/// The names of the columns of [`pieces`].
pub(super) const HEADER: [&str; 2] = ["duration_ns", "rate_bps"];

/// The rates of such a document, each with its duration before it; `None` where it is no such document.
pub(super) fn pieces(document: &Value) -> Result<Option<Vec<ByteRecord>>, Wrong> {
    if config(document).is_none() {
        return Ok(None);
    }
    let mut rows = Vec::new();
    read(document, &mut rows)?;
    Ok(Some(rows))
}

/// The name and the content of a configuration.
fn config(value: &Value) -> Option<(&str, &Value)> {
    let members = value.as_object().filter(|members| members.len() == 1)?;
    let (name, content) = members.iter().next()?;
    name.ends_with("Config").then_some((name, content))
}

fn read(value: &Value, rows: &mut Vec<ByteRecord>) -> Result<(), Wrong> {
    let Some((name, content)) = config(value) else {
        return Err(odd("a pattern holds what is no configuration"));
    };
    let piece = |bandwidth: Option<&Value>, duration: Option<&Value>| {
        let rate = bandwidth.and_then(bits).ok_or_else(|| odd("a bandwidth is not understood"))?;
        let length = duration.and_then(picos).ok_or_else(|| odd("a duration is not understood"))?;
        Ok(ByteRecord::from(vec![decimal::text(length, 3), rate.to_string()]))
    };
    match name {
        "StaticBwConfig" | "FixedBwConfig" => {
            rows.push(piece(content.get("bw"), content.get("duration"))?);
        }
        "TraceBwConfig" => {
            let groups = content.get("pattern").unwrap_or(content);
            for group in groups.as_array().ok_or_else(|| odd("a trace is no list"))? {
                let rates = group
                    .get(1)
                    .and_then(Value::as_array)
                    .ok_or_else(|| odd("a group has no list of rates"))?;
                for rate in rates {
                    rows.push(piece(Some(rate), group.get(0))?);
                }
            }
        }
        "RepeatedBwPatternConfig" => {
            let pattern = content.get("pattern").and_then(Value::as_array);
            for part in pattern.ok_or_else(|| odd("a pattern is no list"))? {
                read(part, rows)?;
            }
        }
        _ => {
            return Err(wrong(
                "this JSON holds a model of netem-trace that is no list of rates",
                "write its rates down first; StaticBwConfig, TraceBwConfig and RepeatedBwPatternConfig are read",
            ));
        }
    }
    Ok(())
}

fn odd(problem: &str) -> Wrong {
    wrong(
        format!("this is JSON of netem-trace, and {problem}"),
        "write bandwidths as \"12Mbps\" and durations as \"1s\", or as numbers of bps, secs and nanos",
    )
}

/// A bandwidth in bit/s.
fn bits(value: &Value) -> Option<u64> {
    if let Some(text) = value.as_str() {
        let bits = sum(text, |number, unit| {
            let unit = RateUnit::of_rate(unit).filter(|unit| !unit.bytes)?;
            decimal::nearest(number, unit.power).ok()
        })?;
        return u64::try_from(bits).ok();
    }
    let part = |name: &str| value.get(name).map_or(Some(0), Value::as_u64);
    part("gbps")?.checked_mul(1_000_000_000)?.checked_add(part("bps")?)
}

/// A duration in picoseconds.
fn picos(value: &Value) -> Option<u64> {
    if let Some(text) = value.as_str() {
        let minute = |number: &str| decimal::nearest(number, 0).ok().map(|minutes| minutes * 60 * SECOND);
        let picos = sum(text, |number, unit| match unit {
            "m" | "min" => minute(number),
            _ => decimal::nearest(number, unit.parse::<TimeUnit>().ok()?.power).ok(),
        })?;
        return u64::try_from(picos).ok();
    }
    let part = |name: &str| value.get(name).map_or(Some(0), Value::as_u64);
    let nanos = u128::from(part("secs")?) * 1_000_000_000 + u128::from(part("nanos")?);
    u64::try_from(nanos * 1000).ok()
}

/// The sum of numbers with units, as in `1s 500ms`.
fn sum(text: &str, worth: impl Fn(&str, &str) -> Option<u128>) -> Option<u128> {
    let mut rest = text.trim();
    let mut total: u128 = 0;
    while !rest.is_empty() {
        let letters = rest.find(|c: char| c.is_alphabetic())?;
        let unit = &rest[letters..];
        let end = unit.find(|c: char| c.is_ascii_digit() || c == ' ').unwrap_or(unit.len());
        total = total.checked_add(worth(rest[..letters].trim(), &unit[..end])?)?;
        rest = unit[end..].trim_start();
    }
    (total > 0 || text.contains('0')).then_some(total)
}
