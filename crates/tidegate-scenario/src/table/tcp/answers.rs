//! Timers, acknowledgements, and what both ends agree on: the handshake, timestamps, ECN.

use crate::table::timers::{DELAYED_ACK, RTO};
use crate::table::{Key, Kind, Literal, WhenAbsent, by, flag, flags, key, text, texts, word};

pub(super) const ANSWERS: &[Key] = &[
    key(
        "rto",
        Kind::Form(&RTO),
        WhenAbsent::Words("depends on base: see below"),
        "The retransmission timer. Live: min and max are set; the other keys cannot be.",
    ),
    key(
        "delayed_ack",
        Kind::AnyOf(&[Kind::Flag, Kind::Form(&DELAYED_ACK)]),
        WhenAbsent::Is(Literal::Flag(true)),
        "Delayed acknowledgements. false: one ACK for each segment. true: the settings of the base. Live: false is \
         set; timeout is set as the longest delay if it is at most 200 ms; the other keys cannot be.",
    ),
    key(
        "quick_acks",
        Kind::AnyOf(&[
            Kind::Whole { min: 0, max: 1_000_000 },
            Kind::Choice(&[word(
                "linux",
                "16 at the start, and while the receive window grows, as in Linux",
            )]),
        ]),
        by(Literal::Whole(0), Literal::Whole(0), Literal::Text("linux")),
        "Number of ACKs at the start of a connection that are not delayed, whatever delayed_ack says. linux: the \
         receiver also tunes its window, unless window is given. Live: cannot be set.",
    ),
    key(
        "handshake",
        Kind::Flag,
        WhenAbsent::Is(Literal::Flag(true)),
        "Whether the connection begins with SYN, SYN-ACK and ACK. Live: always true.",
    ),
    key(
        "timestamps",
        Kind::Flag,
        flags(false, false, true),
        "RFC 7323 timestamps: 12 bytes of options. Live: set and verified.",
    ),
    key(
        "rtt_timing",
        Kind::Choice(&[
            word("every", "every segment that is not retransmitted"),
            word(
                "one",
                "one segment at a \
            time",
            ),
        ]),
        texts("every", "one", "every"),
        "Which segments give round-trip samples. Live: cannot be set.",
    ),
    key(
        "idle_restart",
        Kind::Flag,
        WhenAbsent::Is(Literal::Flag(true)),
        "After an idle time longer than the RTO the window returns to its initial size (RFC 5681 §4.1). Live: set \
         for all flows together.",
    ),
    key(
        "ecn",
        Kind::Choice(&[
            word("off", "packets are not ECN-capable"),
            word(
                "classic",
                "RFC 3168: ACKs echo a mark, and the window shrinks once for each window of data",
            ),
            word("accurate", "RFC 9768: ACKs count the marked packets"),
        ]),
        text("off"),
        "Explicit congestion notification, at both ends: gates with `queue.aqm` mark data segments instead of dropping \
         them. A controller that needs ECN has it whatever this says. Linux's default (net.ipv4.tcp_ecn = 2) uses it only \
         when the other end asks, so between two Linux hosts it is off. Live: set for all flows together, which must agree; \
         accurate needs a kernel that takes net.ipv4.tcp_ecn = 3.",
    ),
    key(
        "accecn_option",
        Kind::Flag,
        flag(true),
        "Accurate ECN: ACKs also have the AccECN Option (RFC 9768 §3.2.3), which counts bytes: 8 or 12 bytes more on each ACK of \
         new data, and no doubt how many packets were marked after ACKs were lost. Live: the kernel's setting.",
    ),
    key(
        "abe",
        Kind::Flag,
        flag(false),
        "Alternative backoff with ECN (RFC 8511): after a mark 0.8 of the window is left (tahoe, reno, newreno), or 0.85 \
         (cubic), instead of what a loss leaves. Live: the kernel has no ABE.",
    ),
];
