//! `gate.x.rate`: the laws.

use super::pool::RESERVE;
use super::{
    Default, Kind, Literal, RATE, SIZE, SLOTS, SLOTS_0, Section, TIME, TIME_0, alias, aliases, hints, key,
    one_of, quantity_or_zero, section, short, text, word,
};
use crate::units::Dim;

pub(super) const LAWS: Section = one_of(
    "Rate laws",
    "Exactly one. Setting a key of another law replaces the law.",
    &[
        key("steps", Kind::Form(&STEPS), Default::Words("not used"), STEPS.about),
        key("token_bucket", Kind::Form(&TOKEN_BUCKET), Default::Words("not used"), TOKEN_BUCKET.about),
        key("markov", Kind::Form(&MARKOV), Default::Words("not used"), MARKOV.about),
        key("trace", Kind::Form(&TRACE), Default::Words("not used"), TRACE.about),
        key("dtm", Kind::Form(&DTM), Default::Words("not used"), DTM.about),
        key("abr", Kind::Form(&ABR), Default::Words("not used"), ABR.about),
        key("gcra", Kind::Form(&GCRA), Default::Words("not used"), GCRA.about),
        key("follow", Kind::Form(&FOLLOW), Default::Words("not used"), FOLLOW.about),
        key("reserve", Kind::Form(&RESERVE), Default::Words("not used"), RESERVE.about),
    ],
);

const STEPS: Section = short(
    "points",
    section(
        "Steps",
        "Rates from given times on: `rate.steps = [[\"0 s\", \"10 Mbit/s\"], [\"6 s\", \"5 Mbit/s\"]]` is short for \
         `rate.steps.points`.",
        &[
            key(
                "points",
                Kind::List { of: &Kind::Tuple(&[TIME_0, quantity_or_zero(Dim::Speed)]), min: 1 },
                Default::Required("[[\"0 s\", \"10 Mbit/s\"], [\"6 s\", \"5 Mbit/s\"]]"),
                "Pairs of a time and the rate from then on; the first time is 0.",
            ),
            key(
                "repeat",
                TIME,
                Default::Words("the last rate holds for ever"),
                "The steps begin again after this long.",
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
    ("bc", "write burst, or cbs: how much may leave at once"),
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
    "A shaper: tokens come at `rate` up to `burst`; a packet waits in the gate's queue until its tokens are there. \
     The bucket is full at the start.",
    &[
        key("rate", RATE, Default::Required("\"10 Mbit/s\""), "Long-term rate, of bits on the wire."),
        key("burst", SIZE, Default::Required("\"15 kB\""), "Depth of the bucket, in bytes on the wire."),
        key(
            "peak",
            RATE,
            Default::Words("a packet whose tokens are there leaves at once"),
            "Speed of transmission.",
        ),
    ],
);

const MARKOV: Section = section(
    "Markov chain",
    "A rate that jumps between states; time moves it, not traffic.",
    &[
        key(
            "rates",
            Kind::List { of: &quantity_or_zero(Dim::Rate), min: 2 },
            Default::Required("[\"10 Mbit/s\", \"5 Mbit/s\"]"),
            "The rate in each state.",
        ),
        key(
            "mean_holding",
            Kind::List { of: &TIME, min: 2 },
            Default::Required("[\"1 s\", \"1 s\"]"),
            "The mean time in each state.",
        ),
        key(
            "step",
            TIME,
            Default::Words("exponential holding times"),
            "The rate is constant inside slots of this length and left at a slot's end with probability step / mean holding.",
        ),
        key(
            "transitions",
            Kind::List { of: &Kind::List { of: &Kind::Probability, min: 1 }, min: 1 },
            Default::Words("a ring: each state leads to the next"),
            "Row i says where state i goes when it is left: probabilities that add up to 1, 0 on the diagonal.",
        ),
        key(
            "initial",
            Kind::Whole { min: 0, max: 1_000_000 },
            Default::Words("drawn from the stationary distribution"),
            "The state at the start; 0 is the first.",
        ),
    ],
);

const DTM: Section = section(
    "DTM channel",
    "Slots that follow the traffic: the rate of what comes to the gate's door is estimated, and the allocation changes when \
     the estimate leaves its bounds. Left out, every key is as in the paper that it comes from.",
    &[
        key("slot", RATE, text("512 kbit/s"), "Bit rate of one slot."),
        key("initial", RATE, text("10 Mbit/s"), "The rate before the first update."),
        key(
            "measure",
            TIME,
            text("100 ms"),
            "The rate at the door is measured over intervals of this length: every byte on the wire, those of packets dropped there included.",
        ),
        key(
            "update",
            TIME,
            text("1 s"),
            "The allocation changes at multiples of this only: a multiple of `measure`.",
        ),
        key(
            "shift_inc",
            SHIFT,
            Default::Is(Literal::Whole(3)),
            "The estimate rises by this power of two of the difference: 3 is an eighth of it at each measurement.",
        ),
        key("shift_dec", SHIFT, Default::Is(Literal::Whole(3)), "The same when it falls."),
        key(
            "margin",
            SLOTS_0,
            text("0.75 slots"),
            "Allocated above the estimate, with half of the corridor.",
        ),
        key(
            "corridor",
            SLOTS_0,
            text("2 slots"),
            "How far the estimate may move, from allocation - margin - corridor to allocation - margin, before the allocation changes.",
        ),
        key(
            "rounding",
            Kind::Choice(&[
                word("exact", "the allocation is not rounded to slots"),
                word("up", "it is rounded up to whole slots"),
            ]),
            text("exact"),
            "How an allocation becomes slots.",
        ),
        key(
            "on_loss",
            Kind::Choice(&[
                word("nothing", "drops do not matter"),
                word("hold tick", "a measurement with a drop does not lower the estimate"),
                word("hold second", "nor do the later ones until the next update"),
                word(
                    "hold link",
                    "the estimate moves, but an update after a drop does not lower the allocation",
                ),
            ]),
            text("nothing"),
            "What a drop at the gate's queue does.",
        ),
        key("min", SLOTS, text("1 slot"), "The least allocation, in whole slots."),
        key("max", SLOTS, Default::Words("no limit"), "The largest, in whole slots."),
        key(
            "estimator",
            Kind::Choice(&[
                word("channel", "one estimate of all that comes"),
                word(
                    "flow",
                    "one for each flow, direction and background source; the channel follows their sum",
                ),
            ]),
            text("channel"),
            "Whose rate is estimated.",
        ),
        key(
            "pool",
            Kind::Text,
            Default::Words("there are always enough slots"),
            "Name of the [pool] that the slots come from: the gate gets what the others leave.",
        ),
    ],
);

const FOLLOW: Section = section(
    "Fed-back rate",
    "A source whose rate follows a signal: the capacity that another gate offers, averaged over slots, comes back after a lag. \
     What waits here waits for the network to allow it (ABR, Section VI-B of the paper; rate signals of today's networks).",
    &[
        key(
            "gate",
            Kind::Text,
            Default::Required("\"link\""),
            "Name of the gate whose capacity is followed. Its bits are those on its own wire; it needs no packets of its own.",
        ),
        key(
            "every",
            TIME,
            Default::Required("\"30 ms\""),
            "Length of the slots that its capacity is averaged over; the first begins at 0.",
        ),
        key(
            "lag",
            TIME_0,
            Default::Words(
                "the round trip of the flow that passes: all delays of its gates and of its way back",
            ),
            "From the end of a slot to the instant that its value is known here.",
        ),
        key("effcap", Kind::Form(&EFFCAP), Default::Words("the last value as it is (INSTCAP)"), EFFCAP.about),
        key("share", Kind::Share, Default::Is(Literal::Whole(1)), "The part of the estimate that is taken."),
        key(
            "initial",
            RATE,
            Default::Words("min; where that is 0, nothing leaves before the first value comes"),
            "The rate before the first value comes.",
        ),
        key("min", quantity_or_zero(Dim::Rate), text("0 bit/s"), "The least rate (ABR: MCR)."),
        key("peak", RATE, Default::Words("no limit"), "The largest rate (ABR: PCR)."),
    ],
);

const EFFCAP: Section = section(
    "EFFCAP",
    "The least of n means, each over m values: block j has the values k-j-m+1 to k-j, k being the last. Give m and n, or rtts.",
    &[
        key("m", BLOCKS, Default::Words("of rtts: ceil(round trip / every)"), "Values in a mean."),
        key("n", BLOCKS, Default::Words("of rtts: (rtts - 1) ceil(round trip / every)"), "Means."),
        key(
            "rtts",
            Kind::Whole { min: 2, max: 10_000 },
            Default::Words("m and n are given"),
            "Round trips that the means reach back over: 8 to 12 in the paper. The round trip is that of the flow that passes.",
        ),
    ],
);

const BLOCKS: Kind = Kind::Whole { min: 1, max: 1_000_000 };

const ABR: Section = section(
    "ABR source",
    "A source of ATM's available bit rate (Traffic Management 4.0): it sends an RM cell for every `nrm` cells, and what the switch of \
     a link writes into it sets the rate when it is back. Without `framing = \"aal5\"` packets stand for cells, by their bits.",
    &[
        key(
            "gate",
            Kind::Text,
            Default::Required("\"link\""),
            "Name of a gate with `abr`, on the path of each flow that passes here.",
        ),
        key(
            "pcr",
            RATE,
            Default::Required("\"10 Mbit/s\""),
            "Peak cell rate: the largest, in bits on the wire.",
        ),
        key("mcr", quantity_or_zero(Dim::Rate), text("0 bit/s"), "Minimum cell rate: the least."),
        key("icr", RATE, Default::Words("pcr"), "Initial cell rate: before the first RM cell is back."),
        key(
            "rif",
            Kind::Share,
            text("6.25%"),
            "Rate increase factor: the part of `pcr` that is added when an RM cell comes back without congestion.",
        ),
        key(
            "rdf",
            Kind::Share,
            text("6.25%"),
            "Rate decrease factor: the part of the rate that is taken away when one comes back with congestion.",
        ),
        key(
            "nrm",
            Kind::Whole { min: 2, max: 256 },
            Default::Is(Literal::Whole(32)),
            "One RM cell for so many cells, or for as many bits.",
        ),
        key("trm", TIME, text("100 ms"), "One after this long, even if fewer cells have gone."),
        key(
            "lag",
            TIME_0,
            Default::Words(
                "the round trip of the flow that passes: all delays of its gates and of its way back",
            ),
            "From an RM cell's departure to its return.",
        ),
    ],
);

const GCRA: Section = section(
    "GCRA shaper",
    "A shaper of cells (ITU-T I.371, the generic cell rate algorithm): a cell that comes too early waits. At cell gates; \
     packets have token_bucket.",
    &[
        key(
            "pcr",
            RATE,
            Default::Required("\"35 Mbit/s\""),
            "Peak cell rate, in bits of 53-byte cells: T is 424 bits at this rate.",
        ),
        key(
            "cdvt",
            TIME_0,
            text("0 s"),
            "Cell delay variation tolerance τ: a cell may come so much earlier than T after the last.",
        ),
        key(
            "link",
            RATE,
            Default::Required("\"150 Mbit/s\""),
            "Rate at which a cell is then sent; no cell leaves before the one before it has gone.",
        ),
        key(
            "release",
            Kind::Choice(&[
                word("tat", "at its theoretical arrival time"),
                word("earliest", "τ before that, as soon as it conforms"),
            ]),
            text("tat"),
            "When a cell that came too early leaves.",
        ),
        key(
            "slots",
            Kind::Choice(&[
                word("real", "T is what the rate says"),
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
        "A recorded link: `rate.trace = \"FILE\"` is short for `rate.trace.file`.",
        &[
            key(
                "file",
                Kind::Text,
                Default::Required("\"link.down\""),
                "Path, relative to the scenario file.",
            ),
            key(
                "format",
                Kind::Choice(&[
                    word("drp", "rates in kbit/s, one a line, at the fixed step that the header names"),
                    word("csv", "columns time,rate"),
                    word("mahimahi", "one line for each delivery opportunity, in ms"),
                ]),
                Default::Words("told from the file's name and content"),
                "How the file is written.",
            ),
            key(
                "step",
                TIME,
                Default::Words("what the header says"),
                "drp only: the time from one line to the next, if the header does not say.",
            ),
            key(
                "at_end",
                Kind::Choice(&[word("repeat", "it begins again"), word("stop", "nothing passes any more")]),
                text("repeat"),
                "What comes after the end of the recording.",
            ),
            key(
                "opportunity",
                SIZE,
                Default::Words("\"1500 B\"; mahimahi only"),
                "Bytes of one delivery opportunity; Mahimahi's own code charges \"1504 B\" for a packet of 1500.",
            ),
        ],
    ),
);
