//! What a plan asks of TCP and no setting of the kernel gives.

use tidegate_core::plan::{Increase, RtoPlan, RttTiming, SsthreshRounding, TcpPlan};
use tidegate_core::units::Span;

/// IPv4 and TCP headers without options.
const PLAIN_HEADERS: u32 = 40;
/// The timestamps option with its padding.
pub(super) const TIMESTAMPS: u32 = 12;
/// Largest delay of acknowledgements that `TCP_DELACK_MAX_US` takes.
pub(super) const DELAYED_ACK_MOST: Span = Span::from_millis(200);

/// The keys that have another value than what the kernel does, in the scenario's words.
pub(super) fn differences(tcp: &TcpPlan) -> Vec<String> {
    let mut keys = Vec::new();
    let mut note = |differs: bool, key: String| {
        if differs {
            keys.push(key);
        }
    };
    let needed = PLAIN_HEADERS + if tcp.timestamps { TIMESTAMPS } else { 0 };
    note(tcp.headers != needed, format!("tcp.headers = \"{} B\" (packets have {needed} B)", tcp.headers));
    note(tcp.initial_ssthresh.is_some(), "tcp.initial_ssthresh".to_owned());
    note(tcp.increase == Increase::PerAck, "tcp.increase = \"per ack\"".to_owned());
    note(tcp.increase == Increase::Random, "tcp.increase = \"random\"".to_owned());
    note(tcp.dupthresh.is_none(), "tcp.dupthresh = \"never\"".to_owned());
    note(!tcp.limited_transmit, "tcp.limited_transmit = false".to_owned());
    let rounding = match tcp.ssthresh_rounding {
        SsthreshRounding::Up => Some("up"),
        SsthreshRounding::Ns2 => Some("ns2"),
        SsthreshRounding::Exact | SsthreshRounding::Down => None,
    };
    note(rounding.is_some(), format!("tcp.ssthresh_rounding = \"{}\"", rounding.unwrap_or_default()));
    note(tcp.go_back_n, "tcp.go_back_n = true".to_owned());
    note(!tcp.guard, "tcp.guard = false".to_owned());
    match tcp.rto {
        RtoPlan::Fixed { rto, .. } => note(true, format!("tcp.rto.fixed = \"{rto}\"")),
        RtoPlan::Estimated { initial, tick, .. } => {
            note(initial != Span::from_secs(1), format!("tcp.rto.initial = \"{initial}\" (it is 1 s)"));
            note(tick != Span::ZERO, format!("tcp.rto.tick = \"{tick}\""));
        }
    }
    if let Some(delayed) = tcp.delayed_ack {
        note(delayed.every != 2, format!("tcp.delayed_ack.every = {} (it is 2)", delayed.every));
        let late = delayed.timeout.is_none_or(|late| late > DELAYED_ACK_MOST);
        note(late, "tcp.delayed_ack.timeout above 200 ms".to_owned());
        note(delayed.tick != Span::ZERO, format!("tcp.delayed_ack.tick = \"{}\"", delayed.tick));
    }
    note(!tcp.handshake, "tcp.handshake = false".to_owned());
    note(tcp.rtt_timing == RttTiming::One, "tcp.rtt_timing = \"one\"".to_owned());
    note(tcp.abe, "tcp.abe = true".to_owned());
    keys
}
