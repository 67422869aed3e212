//! Keys of `gate.x.rate.follow`: the capacity of another gate, signalled.

use crate::table::{
    Kind, Literal, RATE, Section, TIME, TIME_0, WhenAbsent, key, quantity_or_zero, section, text,
};
use crate::units::Dim;

pub(super) const FOLLOW: Section = section(
    "Fed-back rate",
    "A rate set by feedback. The capacity of another gate is averaged over slots of time and signalled to this gate \
     after a lag. This gate then sends no faster than the network allows, and the excess waits here (ABR, Section \
     VI-B of the paper; rate signals of today's networks).",
    &[
        key(
            "gate",
            Kind::Text,
            WhenAbsent::Required("\"link\""),
            "Name of the gate whose capacity this gate follows, in bits on that gate's wire. No flow has to pass \
             that gate.",
        ),
        key(
            "every",
            TIME,
            WhenAbsent::Required("\"30 ms\""),
            "Length of the slots over which the capacity is averaged; the first begins at 0.",
        ),
        key(
            "lag",
            TIME_0,
            WhenAbsent::Words("the round trip of the flow here: the delays of its gates and of its way back"),
            "Time from the end of a slot until its value is known here.",
        ),
        key(
            "effcap",
            Kind::Form(&EFFCAP),
            WhenAbsent::Words("no averaging: the last value (INSTCAP)"),
            EFFCAP.about,
        ),
        key(
            "share",
            Kind::Share,
            WhenAbsent::Is(Literal::Whole(1)),
            "The part of the estimate that is used as the \
            rate.",
        ),
        key(
            "initial",
            RATE,
            WhenAbsent::Words("the value of min; with 0, nothing is sent before the first value arrives"),
            "Rate before the first value arrives.",
        ),
        key("min", quantity_or_zero(Dim::Rate), text("0 bit/s"), "Lowest rate (MCR in ABR)."),
        key("peak", RATE, WhenAbsent::Words("no limit"), "Highest rate (PCR in ABR)."),
    ],
);

const EFFCAP: Section = section(
    "EFFCAP",
    "The smallest of n moving averages, each over m values: average j is over the values k-j-m+1 to k-j, where k is \
     the last value. Give m and n, or rtts.",
    &[
        key(
            "m",
            BLOCKS,
            WhenAbsent::Words("with rtts: ceil(round trip / every)"),
            "Number of values in an average.",
        ),
        key(
            "n",
            BLOCKS,
            WhenAbsent::Words("with rtts: (rtts - 1) ceil(round trip / every)"),
            "Number of averages.",
        ),
        key(
            "rtts",
            Kind::Whole { min: 2, max: 10_000 },
            WhenAbsent::Words("not used: give m and n"),
            "How many round trips the averages cover: 8 to 12 in the paper. The round trip is that of the flow that \
             passes this gate.",
        ),
    ],
);

const BLOCKS: Kind = Kind::Whole { min: 1, max: 1_000_000 };
