//! Keys of `gate.x.rate.trace`: a recorded link.

use crate::table::{Kind, SIZE, Section, TIME, WhenAbsent, key, section, short, text, word};

pub(super) const TRACE: Section = short(
    "file",
    section(
        "Trace",
        "The rate of a recorded link. `rate.trace = \"FILE\"` is short for `rate.trace.file`.",
        &[
            key(
                "file",
                Kind::Text,
                WhenAbsent::Required("\"link.down\""),
                "Path of the trace, relative to the scenario file.",
            ),
            key(
                "format",
                Kind::Choice(&[
                    word("drp", "one rate in kbit/s on each line, at the fixed step given in the header"),
                    word("csv", "columns time,rate"),
                    word(
                        "seconds-mbps",
                        "seconds and Mbit/s on each line, the throughput since the line before",
                    ),
                    word("mahimahi", "the time of one delivery opportunity on each line, in ms"),
                ]),
                WhenAbsent::Words("recognised from the file's name and content"),
                "Format of the file.",
            ),
            key(
                "step",
                TIME,
                WhenAbsent::Words("what the header says"),
                "drp only: the time from one line to the next, if the header does not give it.",
            ),
            key(
                "at_end",
                Kind::Choice(&[
                    word("repeat", "the trace starts again"),
                    word("stop", "nothing is sent any more"),
                ]),
                text("repeat"),
                "What happens at the end of the trace.",
            ),
            key(
                "opportunity",
                SIZE,
                WhenAbsent::Words("\"1500 B\"; mahimahi only"),
                "Bytes of one delivery opportunity. Mahimahi's own code counts a packet of 1500 B as 1504 B.",
            ),
        ],
    ),
);
