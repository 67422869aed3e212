//! Who controls congestion, what a segment is, and how the window begins and grows.

use tidegate_core::plan::CONTROLLERS;

use crate::table::advice::IGNORE;
use crate::table::{Key, Kind, Literal, SIZE, WhenAbsent, Word, key, quantity, text, texts, word};
use crate::units::Dim;

pub(super) const SENDING: &[Key] = &[
    key(
        "base",
        Kind::Choice(&[
            word("rfc", "TCP as the RFCs describe it"),
            word("bsd44", "4.4BSD-Lite, as in papers of the 1990s"),
            word("linux", "the newest version of the Linux kernel that is known here: linux-6.18"),
            word("linux-6.18", "Linux 6.18, as its hosts are set up by default"),
        ]),
        text("linux"),
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
        "advice",
        Kind::Choice(&[
            IGNORE,
            word("pace", "its packets leave no faster than the advice in force, headers included"),
        ]),
        text("ignore"),
        "What the sender makes of the throughput advice of gates (`gate.x.advice`), which the receiver tells it with every ACK. \"pace\" does as Linux \
         does where a socket has SO_MAX_PACING_RATE. Needs sack. Not with QUIC, nor live.",
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
        Kind::Quantity { dim: Dim::ReceiveWindow, zero: false, words: UNLIMITED },
        text("unlimited"),
        "Receive window, which limits the bytes in flight; a time or BDP counts at the lowest rate on the flow's path; with cc = \"fixed\" it is the constant window. Live: \
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
];

const UNLIMITED: &[Word] = &[word("unlimited", "no limit")];
const WINDOW: Kind = Kind::Quantity { dim: Dim::Window, zero: false, words: UNLIMITED };

const CC: Kind = Kind::AnyOf(&[Kind::Python, Kind::Choice(&NAMES)]);

/// The names of controllers and what they mean, as the core lists them.
const NAMES: [Word; CONTROLLERS.len()] = {
    let mut names = [word("", ""); CONTROLLERS.len()];
    let mut place = 0;
    while place < names.len() {
        let row = CONTROLLERS[place];
        names[place] = Word { live_only: row.is_live_only(), ..word(row.name, row.about) };
        place += 1;
    }
    names
};
