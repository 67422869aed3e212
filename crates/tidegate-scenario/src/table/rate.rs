//! `gate.x.rate`: the laws.

use super::pool::RESERVE;
use super::{
    Kind, Literal, RATE, SIZE, SLOTS, SLOTS_0, Section, TIME, TIME_0, WhenAbsent, alias, aliases, hints, key,
    one_of, quantity_or_zero, section, short, text, word,
};
use crate::units::Dim;

pub(super) const LAWS: Section = one_of(
    "Rate laws",
    "Use exactly one. Setting a key of another law replaces the law.",
    &[
        key("steps", Kind::Form(&STEPS), WhenAbsent::Words("not used"), STEPS.about),
        key("token_bucket", Kind::Form(&TOKEN_BUCKET), WhenAbsent::Words("not used"), TOKEN_BUCKET.about),
        key("markov", Kind::Form(&MARKOV), WhenAbsent::Words("not used"), MARKOV.about),
        key("trace", Kind::Form(&TRACE), WhenAbsent::Words("not used"), TRACE.about),
        key("dtm", Kind::Form(&DTM), WhenAbsent::Words("not used"), DTM.about),
        key("abr", Kind::Form(&ABR), WhenAbsent::Words("not used"), ABR.about),
        key("gcra", Kind::Form(&GCRA), WhenAbsent::Words("not used"), GCRA.about),
        key("follow", Kind::Form(&FOLLOW), WhenAbsent::Words("not used"), FOLLOW.about),
        key("reserve", Kind::Form(&RESERVE), WhenAbsent::Words("not used"), RESERVE.about),
    ],
);

const STEPS: Section = short(
    "points",
    section(
        "Steps",
        "Rates that change at given times. `rate.steps = [[\"0 s\", \"10 Mbit/s\"], [\"6 s\", \"5 Mbit/s\"]]` is \
         short for `rate.steps.points`.",
        &[
            key(
                "points",
                Kind::List { of: &Kind::Tuple(&[TIME_0, quantity_or_zero(Dim::Speed)]), min: 1 },
                WhenAbsent::Required("[[\"0 s\", \"10 Mbit/s\"], [\"6 s\", \"5 Mbit/s\"]]"),
                "Pairs of a time and the rate from then on; the first time is 0.",
            ),
            key(
                "repeat",
                TIME,
                WhenAbsent::Words("the last rate holds for ever"),
                "The steps start again after this time.",
            ),
        ],
    ),
);

const TOKEN_BUCKET: Section = aliases(
    &[
        alias("cir", "rate", "Another name of `rate`: the committed information rate (RFC 2697)."),
        alias("cbs", "burst", "Another name of `burst`: the committed burst size (RFC 2697)."),
        alias("pir", "peak", "Another name of `peak`."),
    ],
    hints(BUCKET_HINTS, TOKEN_BUCKET_KEYS),
);

/// What others call these keys (Cisco, Linux tc-tbf), and what there is not.
const BUCKET_HINTS: &[(&str, &str)] = &[
    ("bc", "write burst, or cbs: the depth of the bucket"),
    ("buffer", "write burst: how much may leave at once"),
    ("peakrate", "write peak"),
    ("ceil", "write peak"),
    ("pbs", "peak is the speed of transmission: it has no burst of its own; take pbs out"),
    ("mtu", "peak is the speed of transmission: it has no burst of its own; take mtu out"),
    ("minburst", "peak is the speed of transmission: it has no burst of its own; take minburst out"),
    ("limit", "what waits for tokens is the gate's queue: write queue = \"100 packets\" beside rate"),
    ("latency", "what waits for tokens is the gate's queue: write queue = \"100 packets\" beside rate"),
];

const TOKEN_BUCKET_KEYS: Section = section(
    "Token bucket",
    "A token-bucket shaper. Tokens arrive at `rate` until the bucket holds `burst`; a packet waits in the queue of \
     the gate until the bucket has enough tokens for it. The bucket is full at the start.",
    &[
        key("rate", RATE, WhenAbsent::Required("\"10 Mbit/s\""), "Long-term rate, in bits on the wire."),
        key("burst", SIZE, WhenAbsent::Required("\"15 kB\""), "Depth of the bucket, in bytes on the wire."),
        key(
            "peak",
            RATE,
            WhenAbsent::Words("unlimited: a packet with enough tokens leaves at once"),
            "Rate at which a packet is transmitted.",
        ),
    ],
);

const MARKOV: Section = section(
    "Markov chain",
    "A rate that changes at random between states, independently of the traffic.",
    &[
        key(
            "rates",
            Kind::List { of: &quantity_or_zero(Dim::Rate), min: 2 },
            WhenAbsent::Required("[\"10 Mbit/s\", \"5 Mbit/s\"]"),
            "The rate in each state.",
        ),
        key(
            "mean_holding",
            Kind::List { of: &TIME, min: 2 },
            WhenAbsent::Required("[\"1 s\", \"1 s\"]"),
            "The mean time in each state.",
        ),
        key(
            "step",
            TIME,
            WhenAbsent::Words("exponential holding times"),
            "Makes time discrete: the state can change only at the end of a slot of this length, with probability \
             step / mean holding.",
        ),
        key(
            "transitions",
            Kind::List { of: &Kind::List { of: &Kind::Probability, min: 1 }, min: 1 },
            WhenAbsent::Words("a ring: each state is followed by the next"),
            "Row i has the probabilities of the states that follow state i. They add up to 1; the diagonal is 0.",
        ),
        key(
            "initial",
            Kind::Whole { min: 0, max: 1_000_000 },
            WhenAbsent::Words("drawn from the stationary distribution"),
            "The state at the start; 0 is the first.",
        ),
    ],
);

const DTM: Section = section(
    "DTM channel",
    "A number of slots that follows the traffic. The gate estimates the rate of arriving traffic and changes its \
     allocation when the estimate leaves its bounds. The defaults are those of the paper that describes the method.",
    &[
        key("slot", RATE, text("512 kbit/s"), "Bit rate of one slot."),
        key("initial", RATE, text("10 Mbit/s"), "Rate before the first update."),
        key(
            "measure",
            TIME,
            text("100 ms"),
            "Interval over which the arrival rate is measured. Every arriving byte counts, in bytes on the wire, \
             even if its packet is dropped.",
        ),
        key(
            "update",
            TIME,
            text("1 s"),
            "The allocation changes only at multiples of this time, which must be a multiple of `measure`.",
        ),
        key(
            "shift_inc",
            SHIFT,
            WhenAbsent::Is(Literal::Whole(3)),
            "Smoothing when the estimate rises: each measurement adds 1/2^shift_inc of the difference. With 3, that \
             is one eighth.",
        ),
        key(
            "shift_dec",
            SHIFT,
            WhenAbsent::Is(Literal::Whole(3)),
            "Smoothing when the estimate falls, as `shift_inc`.",
        ),
        key(
            "margin",
            SLOTS_0,
            text("0.75 slots"),
            "The allocation is the estimate + `margin` + half of `corridor`.",
        ),
        key(
            "corridor",
            SLOTS_0,
            text("2 slots"),
            "Range within which the estimate may move before the allocation changes: from allocation - margin - \
             corridor to allocation - margin.",
        ),
        key(
            "rounding",
            Kind::Choice(&[
                word("exact", "the allocation is not rounded to slots"),
                word("up", "the allocation is rounded up to whole slots"),
            ]),
            text("exact"),
            "How an allocation is rounded to slots.",
        ),
        key(
            "on_loss",
            Kind::Choice(&[
                word("nothing", "drops have no effect"),
                word("hold tick", "a measurement interval with a drop does not lower the estimate"),
                word("hold second", "after a drop, no measurement lowers the estimate until the next update"),
                word(
                    "hold link",
                    "the estimate moves, but an update after a drop does not lower the allocation",
                ),
            ]),
            text("nothing"),
            "What a drop at the queue of the gate does to the estimate.",
        ),
        key("min", SLOTS, text("1 slot"), "Smallest allocation, in whole slots."),
        key("max", SLOTS, WhenAbsent::Words("no limit"), "Largest allocation, in whole slots."),
        key(
            "estimator",
            Kind::Choice(&[
                word("channel", "one estimate of all arriving traffic"),
                word(
                    "flow",
                    "one estimate for each flow, direction and background source; the channel follows their sum",
                ),
            ]),
            text("channel"),
            "Whose rate is estimated.",
        ),
        key(
            "pool",
            Kind::Text,
            WhenAbsent::Words("slots are unlimited"),
            "Name of the [pool] that the slots come from. The gate gets the slots that the other gates leave.",
        ),
    ],
);

const FOLLOW: Section = section(
    "Fed-back rate",
    "A rate set by feedback. The capacity of another gate is averaged over slots of time and signalled to this gate \
     after a lag; this gate then sends no faster than the network allows, and the excess waits here (ABR, Section \
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

const ABR: Section = section(
    "ABR source",
    "A source of ATM's available bit rate service (Traffic Management 4.0). It sends an RM cell for every `nrm` \
     cells. A switch writes feedback into the RM cell, and the source adapts its rate when the cell returns. \
     Without `framing = \"aal5\"`, every 424 bits of packets count as a cell.",
    &[
        key(
            "gate",
            Kind::Text,
            WhenAbsent::Required("\"link\""),
            "Name of a gate with `abr`, on the path of each flow that passes here.",
        ),
        key(
            "pcr",
            RATE,
            WhenAbsent::Required("\"10 Mbit/s\""),
            "Peak cell rate: the highest rate, in bits on the wire.",
        ),
        key("mcr", quantity_or_zero(Dim::Rate), text("0 bit/s"), "Minimum cell rate: the lowest rate."),
        key(
            "icr",
            RATE,
            WhenAbsent::Words("pcr"),
            "Initial cell rate: the rate before the first RM cell returns.",
        ),
        key(
            "rif",
            Kind::Share,
            text("6.25%"),
            "Rate increase factor: the part of `pcr` that is added when an RM cell returns without congestion.",
        ),
        key(
            "rdf",
            Kind::Share,
            text("6.25%"),
            "Rate decrease factor: the part of the rate that is subtracted when an RM cell returns with congestion.",
        ),
        key(
            "nrm",
            Kind::Whole { min: 2, max: 256 },
            WhenAbsent::Is(Literal::Whole(32)),
            "Number of cells for each RM cell; for packets, as many bits as those cells have.",
        ),
        key(
            "trm",
            TIME,
            text("100 ms"),
            "Longest time between RM cells, even if fewer than `nrm` cells were sent.",
        ),
        key(
            "lag",
            TIME_0,
            WhenAbsent::Words("the round trip of the flow here: the delays of its gates and of its way back"),
            "Time from the departure of an RM cell to its return.",
        ),
    ],
);

const GCRA: Section = section(
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

const SHIFT: Kind = Kind::Whole { min: 0, max: tidegate_core::dtm::LARGEST_SHIFT as u64 };

const TRACE: Section = short(
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
