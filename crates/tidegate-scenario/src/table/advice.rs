//! Throughput advice (SCONE): `gate.x.advice` and `flow.x.scone`.

use super::{Key, Kind, Literal, Section, TIME, WhenAbsent, Word, key, section, short, text, word};
use crate::units::Dim;

/// How a flow or a player takes advice: `tcp.advice` and `app.video.advice` begin with this word.
pub(super) const IGNORE: Word = word("ignore", "nothing follows from it");

pub(super) const ADVICE: Section = short(
    "rate",
    section(
        "Throughput advice",
        "The gate tells flows their rate as SCONE does (draft-ietf-scone-protocol): it lowers the rate signal of packets that carry one, to \
         one of 127 values from 100 kbit/s to 199.5 Gbit/s, the highest that is not above the rate. Less is told as 100 kbit/s. Nothing is enforced by that. Not at cell \
         gates.",
        &[
            key(
                "rate",
                Kind::Quantity {
                    dim: Dim::Rate,
                    zero: false,
                    words: &[
                        word(
                            "law",
                            "the rate law of the gate as it is at that instant; of a token bucket its rate",
                        ),
                        word("contract", "the rate of its policer or, if it has none, of its token bucket"),
                    ],
                },
                WhenAbsent::Words("law, if there is no effcap"),
                "The rate that is told. `advice = X` is short for `advice.rate = X`.",
            ),
            key("effcap", Kind::Form(&EFFCAP), WhenAbsent::Words("not used"), EFFCAP.about),
            key("share", Kind::Share, WhenAbsent::Is(Literal::Whole(1)), "The part of it that is told."),
            key(
                "among",
                Kind::Choice(&[
                    word("flows", "the flows and background sources that are present"),
                    word("listeners", "those of them whose packets carry rate signals"),
                ]),
                WhenAbsent::Words("each flow is told the whole rate"),
                "Among whom the rate is divided, in equal parts.",
            ),
            key(
                "present",
                TIME,
                text("67 s"),
                "With `among`: one is present for so long after such a packet of it has come.",
            ),
        ],
    ),
);

const EFFCAP: Section = section(
    "EFFCAP",
    "In place of `rate`, for a law that varies: the smallest of n moving averages of what the law offers, each over m slots of time. Average \
     j is over the slots k-j-m+1 to k-j, where k is the last one that is over. Nothing is told before the first slot is over.",
    &[
        key("every", TIME, text("1 s"), "Length of the slots; the first begins at 0."),
        key("m", BLOCKS, WhenAbsent::Is(Literal::Whole(10)), "Number of slots in an average."),
        key(
            "n",
            BLOCKS,
            WhenAbsent::Is(Literal::Whole(58)),
            "Number of averages; with m = 10 they go back 67 slots.",
        ),
    ],
);

const BLOCKS: Kind = Kind::Whole { min: 1, max: 1_000_000 };

pub(super) const SCONE: Section = section(
    "Rate signals",
    "Data packets that carry a rate signal, which gates with `advice` lower and the receiver hears. What it hears applies for 67 s, of \
     several the lowest. A signal takes no bytes here.",
    &[
        key(
            "first",
            Kind::Whole { min: 0, max: 1_000 },
            WhenAbsent::Is(Literal::Whole(3)),
            "So many data packets at the start each carry one.",
        ),
        key(
            "every",
            TIME,
            text("20 s"),
            "Then the first data packet carries one that leaves so long after the last that did.",
        ),
    ],
);

/// `flow.x.scone`.
pub(super) const SCONE_KEY: Key = key(
    "scone",
    Kind::Form(&SCONE),
    WhenAbsent::Words(
        "no packet carries a signal; its defaults where tcp.advice or app.video.advice is not \"ignore\"",
    ),
    SCONE.about,
);
