//! `[flow.x.tcp]` and `[tcp.x]`: every choice of a TCP connection.

use super::{
    Default, Key, Kind, Literal, SIZE, Section, TIME, TIME_0, Word, key, later, section, text, word,
};
use crate::units::Dim;

/// The keys of a flow's own TCP.
pub(crate) const TCP: Section = section("TCP", ABOUT, &ALL);

/// The keys of a named set: all but `use`.
pub(crate) const SET: Section = section("A named TCP", ABOUT, CHOICES);

const ABOUT: &str = "`base` sets everything else; a key given here counts for itself, and `rto` and `delayed_ack` \
                     each as a whole.";

const USE: Key = key(
    "use",
    Kind::Text,
    Default::Words("no set"),
    "Starts from the set [tcp.NAME]; a key given beside it replaces the set's.",
);

const ALL: [Key; CHOICES.len() + 1] = {
    let mut all = [USE; CHOICES.len() + 1];
    let mut index = 0;
    while index < CHOICES.len() {
        all[index + 1] = CHOICES[index];
        index += 1;
    }
    all
};

const fn by(rfc: Literal, bsd44: Literal, linux: Literal) -> Default {
    Default::ByBase { rfc, bsd44, linux }
}

const fn texts(rfc: &'static str, bsd44: &'static str, linux: &'static str) -> Default {
    by(Literal::Text(rfc), Literal::Text(bsd44), Literal::Text(linux))
}

const fn flags(rfc: bool, bsd44: bool, linux: bool) -> Default {
    by(Literal::Flag(rfc), Literal::Flag(bsd44), Literal::Flag(linux))
}

const UNLIMITED: &[Word] = &[word("unlimited", "no limit")];
const NEVER: &[Word] = &[word("never", "for ever")];
const WINDOW: Kind = Kind::Quantity { dim: Dim::Window, zero: false, words: UNLIMITED };

const CHOICES: &[Key] = &[
    key(
        "base",
        Kind::Choice(&[
            word("rfc", "the standards"),
            word("bsd44", "4.4BSD, as in papers of the nineties"),
            word("linux", "the Linux kernel, a first approximation"),
        ]),
        text("rfc"),
        "What the other keys start from. Live: bsd44 also switches RACK, tail loss probes, F-RTO and \
         segmentation in the device off, if all flows have it.",
    ),
    key(
        "cc",
        CC,
        texts("newreno", "reno", "cubic"),
        "Congestion control. Live: set and verified; reno and newreno are both the kernel's reno, and what the kernel \
         lacks is refused.",
    ),
    key(
        "fast_retransmit",
        Kind::Flag,
        Default::Is(Literal::Flag(true)),
        "Tahoe only: whether it retransmits at the third duplicate ACK or waits for the time-out. Live: there is no tahoe.",
    ),
    key(
        "mss",
        SIZE,
        texts("1460 B", "1460 B", "1448 B"),
        "User bytes in a full segment. Live: set and verified.",
    ),
    key(
        "headers",
        SIZE,
        Default::Words("\"40 B\", and 12 more with timestamps"),
        "Bytes of IP and TCP headers in every segment. Live: cannot; they are what they are.",
    ),
    key(
        "window",
        WINDOW,
        text("unlimited"),
        "Receive window and limit on bytes in flight; for cc = \"fixed\" it is the window. Live: set, and verified by \
         what was in flight.",
    ),
    key(
        "initial_window",
        Kind::Quantity { dim: Dim::Window, zero: false, words: &[] },
        Default::Words(
            "rfc: min(10 MSS, max(2 MSS, 14600 B)) (RFC 6928); bsd44: 1 segment; linux: 10 segments",
        ),
        "First congestion window. Live: set in whole segments, and verified.",
    ),
    key("initial_ssthresh", WINDOW, text("unlimited"), "First slow-start threshold. Live: cannot."),
    key(
        "increase",
        Kind::Choice(&[
            word("per window", "one segment per window of acknowledged bytes (RFC 5681 §3.1)"),
            word("per ack", "MSS²/cwnd at each ACK (RFC 5681 equation 3)"),
            word("random", "one segment with probability MSS/cwnd at each ACK"),
        ]),
        texts("per window", "per ack", "per window"),
        "How congestion avoidance grows the window (tahoe, reno, newreno). Live: cannot; reno does it per window.",
    ),
    key(
        "dupthresh",
        Kind::AnyOf(&[
            Kind::Whole { min: 1, max: 1000 },
            Kind::Choice(&[word("never", "no fast retransmit")]),
        ]),
        Default::Is(Literal::Whole(3)),
        "Duplicate ACKs that start a fast retransmit. Live: set, never cannot be; the kernel adapts it.",
    ),
    key(
        "sack",
        Kind::Flag,
        flags(true, false, true),
        "RFC 2018 options and RFC 6675 recovery. Live: set and verified.",
    ),
    key("limited_transmit", Kind::Flag, flags(true, false, true), "RFC 3042. Live: cannot be switched off."),
    key(
        "ssthresh_rounding",
        Kind::Choice(&[
            word("exact", "in bytes, as it is"),
            word("down", "down to whole segments"),
            word("up", "up to whole segments"),
            word("ns2", "down, but the window itself is halved as it is, as ns-2 does"),
        ]),
        texts("exact", "down", "down"),
        "How half a flight becomes a threshold. Live: cannot; down.",
    ),
    key(
        "go_back_n",
        Kind::Flag,
        Default::Words("true with bsd44, and with cc = \"tahoe\" on any base; otherwise false"),
        "After a time-out, and after tahoe's fast retransmit, send everything again from the first unacknowledged \
         byte. false: skip what SACK says has arrived, and tahoe's fast retransmit sends one segment only (as \
         4.3BSD-Tahoe's did), so that each further loss in a window costs a time-out. Live: cannot.",
    ),
    key(
        "guard",
        Kind::Flag,
        flags(true, false, true),
        "Without SACK: after a time-out or a fast retransmit, no further fast retransmit until everything that was \
         sent before it is acknowledged (RFC 6582 §3.2; ns-2's bugFix_). false: three duplicate ACKs start one \
         at any time outside fast recovery, as in 4.4BSD. Live: cannot be false.",
    ),
    key(
        "rto",
        Kind::Form(&RTO),
        Default::Words("by base, see below"),
        "The retransmission timer. Live: min and max are set, the others cannot be.",
    ),
    key(
        "delayed_ack",
        Kind::AnyOf(&[Kind::Flag, Kind::Form(&DELAYED_ACK)]),
        Default::Is(Literal::Flag(true)),
        "Delayed acknowledgements; false: one ACK for each segment, true: as the base does. Live: false is set; a \
         timeout of up to 200 ms is set as the longest, the others cannot be.",
    ),
    key(
        "quick_acks",
        Kind::Whole { min: 0, max: 1_000_000 },
        by(Literal::Whole(0), Literal::Whole(0), Literal::Whole(16)),
        "ACKs sent at once when a connection begins, whatever delayed_ack says. Live: cannot.",
    ),
    key(
        "handshake",
        Kind::Flag,
        Default::Is(Literal::Flag(true)),
        "SYN, SYN-ACK and ACK before data. Live: always.",
    ),
    key(
        "timestamps",
        Kind::Flag,
        flags(false, false, true),
        "RFC 7323 timestamps: 12 bytes of options. Live: set and verified.",
    ),
    key(
        "rtt_timing",
        Kind::Choice(&[word("every", "every segment sent once"), word("one", "one segment at a time")]),
        texts("every", "one", "every"),
        "Which segments give round-trip samples. Live: cannot.",
    ),
    key(
        "idle_restart",
        Kind::Flag,
        Default::Is(Literal::Flag(true)),
        "RFC 5681 §4.1: an idle time longer than the RTO takes the window back to the initial one. Live: set for all \
         flows together.",
    ),
    later("ecn", "Explicit congestion notification: no gate marks packets."),
];

const CC: Kind = Kind::Choice(&[
    word("tahoe", "slow start after every loss"),
    word("reno", "fast recovery that ends at the first new ACK"),
    word("newreno", "RFC 6582"),
    word("cubic", "RFC 9438"),
    word("fixed", "a constant window: the one that tcp.window gives"),
    word("bbr", "the kernel's BBR, engine live only"),
    word("bic", "the kernel's BIC, engine live only"),
    word("cdg", "the kernel's CAIA delay gradient, engine live only"),
    word("dctcp", "the kernel's DCTCP, engine live only"),
    word("highspeed", "the kernel's HighSpeed TCP, engine live only"),
    word("htcp", "the kernel's H-TCP, engine live only"),
    word("hybla", "the kernel's Hybla, engine live only"),
    word("illinois", "the kernel's Illinois, engine live only"),
    word("lp", "the kernel's low priority, engine live only"),
    word("nv", "the kernel's New Vegas, engine live only"),
    word("scalable", "the kernel's Scalable TCP, engine live only"),
    word("vegas", "the kernel's Vegas, engine live only"),
    word("veno", "the kernel's Veno, engine live only"),
    word("westwood", "the kernel's Westwood+, engine live only"),
    word("yeah", "the kernel's YeAH, engine live only"),
]);

/// `tcp.rto`.
pub(crate) const RTO: Section = section(
    "Retransmission timer",
    "Either RFC 6298's estimate with min, max, initial and tick, or a constant one with fixed and restart.",
    &[
        key(
            "min",
            TIME,
            texts("1 s", "1 s", "200 ms"),
            "Least time-out. With bsd44 and another tick: two ticks.",
        ),
        key("max", TIME, texts("60 s", "64 s", "120 s"), "Largest time-out, back-off included."),
        key(
            "initial",
            TIME,
            texts("1 s", "6 s", "1 s"),
            "Time-out before the first sample; left out, it stays between min and max.",
        ),
        key(
            "tick",
            TIME_0,
            texts("0 s", "500 ms", "0 s"),
            "Clock granularity: samples and expiries are counted in whole ticks; 0 s is exact.",
        ),
        key(
            "phase",
            Kind::Choice(&[
                word(
                    "own",
                    "each host's clocks started when it was switched on, at an instant drawn from the seed",
                ),
                word("common", "all clocks tick at the multiples of their ticks"),
            ]),
            text("own"),
            "When a host's coarse clocks tick: this one and that of delayed_ack.tick, which both start when the \
             host does. Without a tick it changes nothing.",
        ),
        key("fixed", TIME, Default::Words("estimated"), "A constant time-out without back-off."),
        key(
            "restart",
            Kind::Choice(&[
                word("ack", "an ACK of new data"),
                word("departure", "that, and every segment that leaves the sending machine"),
            ]),
            Default::Words("\"ack\""),
            "What starts a fixed time-out again.",
        ),
    ],
);

const DELAYED_ACK: Section = section(
    "Delayed acknowledgements",
    "RFC 1122 and RFC 5681 §4.2; a segment out of order is acknowledged at once.",
    &[
        key(
            "every",
            Kind::Whole { min: 1, max: 1000 },
            Default::Is(Literal::Whole(2)),
            "One ACK for so many full segments.",
        ),
        key(
            "timeout",
            Kind::Quantity { dim: Dim::Time, zero: false, words: NEVER },
            texts("200 ms", "200 ms", "40 ms"),
            "Longest delay.",
        ),
        key(
            "tick",
            TIME_0,
            Default::Words("bsd44 without a timeout of its own: \"200 ms\"; otherwise 0 s"),
            "The timer runs in ticks of this: an ACK leaves at the next one (rto.phase says when). 0 s: timeout after \
             the segment.",
        ),
    ],
);
