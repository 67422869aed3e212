//! `[flow.x.quic]`: what is chosen of a QUIC connection.

use super::{Kind, Literal, SIZE, Section, TIME, WhenAbsent, flag, key, section, text, word};

pub(crate) const QUIC: Section = section(
    "QUIC",
    "The connection of a flow with transport = \"quic\": quinn's, the QUIC of many programs in Rust (RFC 9000, RFC 9002). \
     Its handshake has the sizes of TLS 1.3 with a small certificate.",
    &[
        key(
            "cc",
            Kind::Choice(&[
                word("cubic", "quinn's CUBIC (RFC 9438)"),
                word("newreno", "quinn's NewReno (RFC 9002)"),
                word("bbr", "quinn's BBR, version 1; quinn paces it by its window"),
                word(
                    "tcp",
                    "the controller that tcp.cc names, as it is under TCP, with its own pacing; a class of yours too",
                ),
            ]),
            text("cubic"),
            "Congestion control of the sender.",
        ),
        key(
            "window",
            SIZE,
            WhenAbsent::Words("1.25 MB for each stream, no limit for the connection"),
            "Receive window of each stream and of the connection.",
        ),
        key(
            "mtu",
            SIZE,
            WhenAbsent::Words("1228 B first; quinn looks for more, up to 1480 B"),
            "Size of the largest IP packet, from 1228 B to 16384 B. With it quinn does not look for a larger one.",
        ),
        key(
            "initial_rtt",
            TIME,
            WhenAbsent::Words("333 ms"),
            "The round trip that the connection assumes before it has measured one (RFC 9002 section 6.2.2).",
        ),
        key(
            "ecn",
            Kind::Flag,
            flag(true),
            "true: packets carry ECT(0), and marks lower the window. false: packets are sent as by a host that cannot set the field.",
        ),
        key(
            "ack_every",
            Kind::Whole { min: 1, max: 1000 },
            WhenAbsent::Words("2"),
            "Data packets to an ACK: the sender asks for it (draft-ietf-quic-ack-frequency). An ACK comes after 25 ms at the latest.",
        ),
        key(
            "streams",
            Kind::Whole { min: 1, max: 100 },
            WhenAbsent::Is(Literal::Whole(1)),
            "Number of streams that the data are sent in, side by side. Requests have a stream each.",
        ),
        key(
            "datagrams",
            Kind::Flag,
            flag(false),
            "true: what the application writes is sent in datagrams (RFC 9221), which are not sent again: media. For applications that \
             write at times of their own.",
        ),
    ],
);
