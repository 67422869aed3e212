//! `[flow.x.tcp]` and `[tcp.x]`: every choice of a TCP connection.

use tidegate_core::plan::CONTROLLERS;

use super::timers::{DELAYED_ACK, RTO};
use super::{
    Key, Kind, Literal, SIZE, Section, WhenAbsent, Word, by, flag, flags, key, quantity, section, text,
    texts, word,
};
use crate::units::Dim;

/// The keys of a flow's own TCP.
pub(crate) const TCP: Section = section("TCP", ABOUT, &ALL);

/// The keys of a named set: all but `use`.
pub(crate) const SET: Section = section("A named TCP", ABOUT, CHOICES);

const ABOUT: &str = "`base` sets the defaults of all other keys. Each key given here replaces its default; `rto` \
    and `delayed_ack` are replaced as a whole.";

const USE: Key = key(
    "use",
    Kind::Text,
    WhenAbsent::Words("no set"),
    "Takes the settings of [tcp.NAME]; a key given here replaces the one in that set.",
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

const UNLIMITED: &[Word] = &[word("unlimited", "no limit")];
const WINDOW: Kind = Kind::Quantity { dim: Dim::Window, zero: false, words: UNLIMITED };

const CHOICES: &[Key] = &[
    key(
        "base",
        Kind::Choice(&[
            word("rfc", "TCP as the RFCs describe it"),
            word("bsd44", "4.4BSD-Lite, as in papers of the 1990s"),
            word("linux", "the newest version of the Linux kernel that is known here: linux-6.18"),
            word("linux-6.18", "Linux 6.18, as its hosts are set up by default"),
        ]),
        text("rfc"),
        "The implementation that gives the defaults of the other keys. Live: bsd44 also disables RACK, tail loss \
         probes and F-RTO, if all flows have it.",
    ),
    key(
        "cc",
        CC,
        texts("newreno", "reno", "cubic"),
        "Congestion control. Live: set and verified. There, reno and newreno are both the kernel's reno, and an \
         algorithm that the kernel lacks is refused. \"python:mine.py:Mine\": the class Mine in that file, which counts from \
         the scenario's folder (engine sim).",
    ),
    key(
        "rate",
        quantity(Dim::Rate),
        WhenAbsent::Words("must be given with cc = \"fixed_rate\""),
        "With cc = \"fixed_rate\": the pace of the user data; tcp.window, if given, limits the bytes in flight. Live: the \
         kernel has no fixed_rate.",
    ),
    key(
        "pacing",
        Kind::Flag,
        WhenAbsent::Is(Literal::Flag(false)),
        "Whether data leave at a pace also with controllers that name no rate themselves: 2 windows each round trip in slow \
         start, else 1.2, as Linux does where a socket has SO_MAX_PACING_RATE or the host has fq. Needs sack. Live: set.",
    ),
    key(
        "segmentation",
        Kind::Choice(&[
            word(
                "kernel",
                "as many as the kernel chooses: a millisecond of them, 2 at least and 64 KB at most",
            ),
            word("off", "one, without segmentation offload"),
        ]),
        texts("kernel", "off", "kernel"),
        "How many segments TCP hands over at once; they leave back to back. Live: off is set if all flows have it; the manifest \
         says what was in force. Simulator: used where data are paced and arithmetic is \"linux\"; else one segment at a time.",
    ),
    key(
        "fast_retransmit",
        Kind::Flag,
        WhenAbsent::Is(Literal::Flag(true)),
        "Tahoe only: whether it retransmits at the third duplicate ACK (true) or waits for the time-out (false). \
         Live: the kernel has no tahoe.",
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
        WhenAbsent::Words("\"40 B\", and 12 more with timestamps"),
        "Bytes of IP and TCP headers in every segment. Live: cannot be set; the kernel's headers are used.",
    ),
    key(
        "window",
        WINDOW,
        text("unlimited"),
        "Receive window, which limits the bytes in flight; with cc = \"fixed\" it is the constant window. Live: \
         set, and verified by the bytes that were in flight.",
    ),
    key(
        "initial_window",
        Kind::Quantity { dim: Dim::Window, zero: false, words: &[] },
        WhenAbsent::Words(
            "rfc: min(10 MSS, max(2 MSS, 14600 B)) (RFC 6928); bsd44: 1 segment; linux: 10 segments",
        ),
        "First congestion window. Live: set in whole segments, and verified.",
    ),
    key("initial_ssthresh", WINDOW, text("unlimited"), "First slow-start threshold. Live: cannot be set."),
    key(
        "increase",
        Kind::Choice(&[
            word("per window", "one segment per window of acknowledged bytes (RFC 5681 §3.1)"),
            word("per ack", "MSS²/cwnd at each ACK (RFC 5681 equation 3)"),
            word("random", "one segment with probability MSS/cwnd at each ACK"),
        ]),
        texts("per window", "per ack", "per window"),
        "How congestion avoidance increases the window (tahoe, reno, newreno). Live: cannot be set; the kernel's \
         reno increases it per window.",
    ),
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
        "abe",
        Kind::Flag,
        flag(false),
        "Alternative backoff with ECN (RFC 8511): after a mark 0.8 of the window is left (tahoe, reno, newreno), or 0.85 \
         (cubic), instead of what a loss leaves. Live: the kernel has no ABE.",
    ),
];

const CC: Kind = Kind::AnyOf(&[Kind::Python, Kind::Choice(&NAMES)]);

/// The names of controllers and what they mean, as the core lists them.
const NAMES: [Word; CONTROLLERS.len()] = {
    let mut names = [word("", ""); CONTROLLERS.len()];
    let mut place = 0;
    while place < names.len() {
        names[place] = word(CONTROLLERS[place].name, CONTROLLERS[place].about);
        place += 1;
    }
    names
};
