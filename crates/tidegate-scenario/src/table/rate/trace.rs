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
                    word("csv", "a table of times and rates: CSV, columns between white space, or JSON"),
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
                WhenAbsent::Words("what the file says"),
                "drp and csv: the time from one rate to the next, if the file does not give times.",
            ),
            key(
                "time_column",
                Kind::Text,
                WhenAbsent::Words("found by its name"),
                "csv only: name of the column with the times, or its number from 1.",
            ),
            key(
                "rate_column",
                Kind::Text,
                WhenAbsent::Words("found by its name"),
                "csv only: name of the column with the rates, or its number from 1.",
            ),
            key(
                "time_unit",
                Kind::Text,
                WhenAbsent::Words("what the column's name says"),
                "csv only: \"s\", \"ms\", \"us\" or \"ns\".",
            ),
            key(
                "rate_unit",
                Kind::Text,
                WhenAbsent::Words("what the column's name says"),
                "csv only: a rate such as \"Mbit/s\" or \"kB/s\", or \"bytes\" or \"bits\" for an amount since the row \
                 before.",
            ),
            key(
                "where",
                Kind::Text,
                WhenAbsent::Words("all rows"),
                "csv only: \"COLUMN=VALUE\" keeps the rows with this value, such as one recording of several.",
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
