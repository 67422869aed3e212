//! `tcp.rto` and `tcp.delayed_ack`: the time-out and the delay of ACKs.

use crate::table::{Kind, Literal, Section, TIME, TIME_0, WhenAbsent, Word, key, section, text, texts, word};
use crate::units::Dim;

const NEVER: &[Word] = &[word("never", "no time limit")];

/// `tcp.rto`.
pub(crate) const RTO: Section = section(
    "Retransmission timer",
    "Either the estimate of RFC 6298 (min, max, initial, tick) or a constant time-out (fixed, restart).",
    &[
        key(
            "min",
            TIME,
            texts("1 s", "1 s", "200 ms"),
            "Shortest time-out. Default with bsd44 and another tick: two ticks.",
        ),
        key(
            "min_of",
            Kind::Choice(&[
                word("time-out", "the time-out is at least min (RFC 6298)"),
                word("variance", "the time-out is at least min above the smoothed round trip, as in Linux"),
            ]),
            texts("time-out", "time-out", "variance"),
            "What min is a bound of. variance: without a tick and with sack.",
        ),
        key(
            "max",
            TIME,
            texts("60 s", "64 s", "120 s"),
            "Longest time-out, back-off included. The default is raised to min.",
        ),
        key(
            "initial",
            TIME,
            texts("1 s", "6 s", "1 s"),
            "Time-out before the first round-trip sample. The default is kept between min and max.",
        ),
        key(
            "tick",
            TIME_0,
            texts("0 s", "500 ms", "0 s"),
            "Clock granularity: samples and time-outs are whole ticks; 0 s means an exact clock.",
        ),
        key(
            "phase",
            Kind::Choice(&[
                word("own", "each host's clock has its own phase, drawn from the seed"),
                word("common", "all clocks tick at multiples of their tick"),
            ]),
            text("own"),
            "When the clocks of a host tick: this one and that of delayed_ack.tick, which have the same phase. No \
             effect without a tick.",
        ),
        key("fixed", TIME, WhenAbsent::Words("estimated"), "A constant time-out without back-off."),
        key(
            "restart",
            Kind::Choice(&[
                word("ack", "an ACK of new data"),
                word("departure", "an ACK of new data, and every segment that leaves the sending host"),
            ]),
            WhenAbsent::Words("\"ack\""),
            "What restarts a fixed time-out.",
        ),
    ],
);

pub(super) const DELAYED_ACK: Section = section(
    "Delayed acknowledgements",
    "Delayed acknowledgements of RFC 1122 and RFC 5681 §4.2. A segment out of order is acknowledged at once.",
    &[
        key(
            "every",
            Kind::Whole { min: 1, max: 1000 },
            WhenAbsent::Is(Literal::Whole(2)),
            "Number of full segments for each ACK.",
        ),
        key(
            "timeout",
            Kind::Quantity { dim: Dim::Time, zero: false, words: NEVER },
            texts("200 ms", "200 ms", "40 ms"),
            "Longest delay of an ACK. linux: 40 ms is the least; where data come less often it is longer, at most the \
             round trip or 196 ms. Any other time holds as it is.",
        ),
        key(
            "tick",
            TIME_0,
            WhenAbsent::Words("\"200 ms\" with bsd44 if timeout is not given; otherwise \"0 s\""),
            "Clock granularity of the timer: a delayed ACK leaves at the next tick (see rto.phase). 0 s: it leaves \
             `timeout` after the segment.",
        ),
    ],
);
