//! The columns of requests, of the segments of videos, and of throughput advice.

use tidegate_core::app::Exchange;
use tidegate_core::app::video::Download;
use tidegate_core::units::{Span, Time};

use super::entries::{FLOW, all};
use super::entry::{Entry, Names, Value};
use crate::request_summary::response_time;
use crate::rows::AdviceRow;

/// Columns of requests.
pub static REQUESTS: &[Entry<Exchange>] = &[
    all(
        "time_s",
        "when it was asked, seconds from the start of the run",
        Value::F64(|of| seconds(of.row.asked)),
    ),
    all("flow", FLOW, Value::Index(Names::Flow, |of| of.index)),
    all("begun_s", "when it was written into TCP; null: not yet", Value::F64(|of| seconds(of.row.begun))),
    all(
        "arrived_s",
        "when its last byte had come to the server; null: not yet",
        Value::F64(|of| seconds(of.row.arrived)),
    ),
    all(
        "answered_s",
        "when the response was written into TCP; null: not yet",
        Value::F64(|of| seconds(of.row.answered)),
    ),
    all(
        "ended_s",
        "when the last byte of the response had come, in order; null: not yet",
        Value::F64(|of| seconds(of.row.ended)),
    ),
    all(
        "response_s",
        "seconds from asking to that; null: not yet",
        Value::F64(|of| match of.row.ended {
            Time::NEVER => f64::NAN,
            _ => response_time(of.row).as_secs_f64(),
        }),
    ),
    all("request_bytes", "user bytes of the request", Value::U64(|of| of.row.request)),
    all("response_bytes", "user bytes of the response", Value::U64(|of| of.row.response)),
];

/// Columns of the segments of videos.
pub static SEGMENTS: &[Entry<Download>] = &[
    all(
        "time_s",
        "when it was asked for, seconds from the start of the run",
        Value::F64(|of| seconds(of.row.asked)),
    ),
    all("flow", FLOW, Value::Index(Names::Flow, |of| of.index)),
    all("segment", "its number; the first is 0", Value::U64(|of| of.row.number)),
    all("bitrate_bps", "its bitrate", Value::F64(|of| of.row.rate.bps() as f64)),
    all("bytes", "user bytes of it", Value::U64(|of| of.row.bytes)),
    all(
        "ended_s",
        "when its last byte had come, in order; null: not yet",
        Value::F64(|of| seconds(of.row.ended)),
    ),
    all(
        "buffer_s",
        "media time in the buffer when it had come, its own included; null: not yet",
        Value::F64(|of| came(of.row, of.row.buffered)),
    ),
    all(
        "stalled_s",
        "how long there was no video between the arrival of the segment before and its own, after the first picture; null: not yet",
        Value::F64(|of| came(of.row, of.row.stalled)),
    ),
];

/// Columns of throughput advice.
pub static ADVICE: &[Entry<AdviceRow>] = &[
    all("time_s", "when it came, seconds from the start of the run", Value::F64(|of| seconds(of.row.at))),
    all("flow", FLOW, Value::Index(Names::Flow, |of| of.row.flow)),
    all("signal", "the rate signal, 0 to 126", Value::U64(|of| u64::from(of.row.signal.bits()))),
    all(
        "rate_bps",
        "the rate that it says",
        Value::F64(|of| of.row.signal.rate().map_or(f64::NAN, |rate| rate.bps() as f64)),
    ),
];

fn came(segment: &Download, value: Span) -> f64 {
    if segment.ended == Time::NEVER { f64::NAN } else { value.as_secs_f64() }
}

fn seconds(at: Time) -> f64 {
    if at == Time::NEVER { f64::NAN } else { at.as_secs_f64() }
}
