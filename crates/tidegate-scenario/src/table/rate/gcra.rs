//! Keys of `gate.x.rate.gcra`: a shaper of cells.

use crate::table::{Kind, RATE, Section, TIME_0, WhenAbsent, key, section, text, word};

pub(super) const GCRA: Section = section(
    "GCRA shaper",
    "A shaper for cells by the generic cell rate algorithm (ITU-T I.371): a cell that arrives too early waits. Cell \
     gates only; for packets use token_bucket.",
    &[
        key(
            "pcr",
            RATE,
            WhenAbsent::Required("\"35 Mbit/s\""),
            "Peak cell rate, in bits of 53-byte cells: T is 424 bits at this rate.",
        ),
        key(
            "cdvt",
            TIME_0,
            text("0 s"),
            "Cell delay variation tolerance τ: how much earlier than its theoretical arrival time a cell may arrive.",
        ),
        key(
            "link",
            RATE,
            WhenAbsent::Required("\"150 Mbit/s\""),
            "Rate at which a cell is transmitted, one cell after another.",
        ),
        key(
            "release",
            Kind::Choice(&[
                word("tat", "at its theoretical arrival time (TAT)"),
                word("earliest", "as soon as it conforms, τ before its TAT"),
            ]),
            text("tat"),
            "When a cell that arrived too early leaves.",
        ),
        key(
            "slots",
            Kind::Choice(&[
                word("real", "T is exactly 424 bits divided by the rate"),
                word("rounded", "T is the nearest whole number of cell times of the link"),
            ]),
            text("real"),
            "Whether T is rounded.",
        ),
    ],
);
