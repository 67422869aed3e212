//! How losses are found, repaired, answered and taken back.

use crate::table::{Key, Kind, Literal, WhenAbsent, flags, key, texts, word};

pub(super) const LOSSES: &[Key] = &[
    key(
        "dupthresh",
        Kind::AnyOf(&[
            Kind::Whole { min: 1, max: 1000 },
            Kind::Choice(&[word("never", "no fast retransmit")]),
        ]),
        WhenAbsent::Is(Literal::Whole(3)),
        "Number of duplicate ACKs that start a fast retransmit. Live: a number is set, and the kernel adapts it; \
         \"never\" is not possible.",
    ),
    key(
        "loss",
        Kind::Choice(&[
            word("sack", "by duplicate ACKs and SACKed segments (RFC 5681, 6675)"),
            word("rack", "by time: RACK with tail loss probes (RFC 8985)"),
        ]),
        texts("sack", "sack", "rack"),
        "How lost segments are found. Without sack always the first. Live: the kernel's way is RACK.",
    ),
    key(
        "reduction",
        Kind::Choice(&[
            word("pipe", "as much as keeps the bytes in flight at the reduced window (RFC 6675 §5)"),
            word("prr", "in proportion to what arrives (RFC 9937)"),
        ]),
        texts("pipe", "pipe", "prr"),
        "How much the sender sends while it repairs a loss. Without sack always the first. Live: the kernel's way is \
         PRR.",
    ),
    key(
        "arithmetic",
        Kind::Choice(&[
            word("rfc", "by RFC 5681 and RFC 9438"),
            word("linux", "in whole segments, as Linux 6.18"),
        ]),
        texts("rfc", "rfc", "linux"),
        "How reno, newreno and cubic compute the window. linux: slow start counts every acknowledged segment, idle \
         times halve the window once for each time-out, and cubic has the kernel's integers. Without sack always rfc. \
         Live: the kernel's own.",
    ),
    key(
        "slow_start",
        Kind::Choice(&[
            word("standard", "until ssthresh or a loss"),
            word("hystart", "also until HyStart finds that the queue grows, as in Linux's cubic"),
            word("hystart++", "also until round trips have grown for some rounds (RFC 9406)"),
        ]),
        texts("standard", "standard", "hystart"),
        "What ends slow start. hystart acts on cubic with arithmetic = \"linux\"; hystart++ on reno, newreno and cubic with \
         arithmetic = \"rfc\", and needs sack. Live: the kernel's cubic has HyStart.",
    ),
    key(
        "sack",
        Kind::Flag,
        flags(true, false, true),
        "Selective acknowledgements: RFC 2018 options and RFC 6675 recovery. Live: set and verified.",
    ),
    key(
        "dsack",
        Kind::Flag,
        flags(false, false, true),
        "The receiver reports data that came twice as the first SACK block (RFC 2883). With loss = \"rack\" the sender \
         allows more time for reordering after such reports. Needs sack. Live: the kernel's setting, normally true.",
    ),
    key(
        "undo",
        Kind::Flag,
        flags(false, false, true),
        "When timestamps (RFC 3522) or reports of dsack (RFC 3708) show that a loss was none, window and ssthresh are \
         what they were before it. Needs sack. Live: always true.",
    ),
    key(
        "frto",
        Kind::Flag,
        flags(false, false, true),
        "After a time-out the sender tests whether it was needless, and if so takes it back (F-RTO, RFC 5682). Needs \
         sack. Live: the kernel's setting, normally true; false with bsd44.",
    ),
    key(
        "limited_transmit",
        Kind::Flag,
        flags(true, false, true),
        "Limited transmit (RFC 3042): the first two \
        duplicate ACKs each allow one new segment. Live: cannot be disabled.",
    ),
    key(
        "ssthresh_rounding",
        Kind::Choice(&[
            word("exact", "no rounding"),
            word("down", "down to whole segments"),
            word("up", "up to whole segments"),
            word("ns2", "ssthresh is rounded down, but the window is halved without rounding, as in ns-2"),
        ]),
        texts("exact", "down", "down"),
        "How half of the bytes in flight are rounded to become ssthresh. Live: cannot be set; the kernel rounds down.",
    ),
    key(
        "go_back_n",
        Kind::Flag,
        WhenAbsent::Words("true with bsd44, and with cc = \"tahoe\" on any base; otherwise false"),
        "true: after a time-out, and after tahoe's fast retransmit, TCP sends everything again from the first \
         unacknowledged byte. false: TCP skips data that SACK reports as received, and tahoe's fast retransmit \
         sends only one segment (as in 4.3BSD-Tahoe), so that each further loss in a window costs a time-out. Live: \
         cannot be set.",
    ),
    key(
        "guard",
        Kind::Flag,
        flags(true, false, true),
        "Without SACK. true: after a time-out or a fast retransmit, there is no further fast retransmit until all \
         data sent before it is acknowledged (RFC 6582 §3.2; bugFix_ in ns-2). false: three duplicate ACKs always \
         start one outside fast recovery, as in 4.4BSD. Live: cannot be false.",
    ),
];
