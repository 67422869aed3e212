//! `gate.x.queue.aqm`: queue disciplines.

use super::cake::CAKE;
use super::red::RED;
use super::{
    Key, Kind, Literal, NUMBER, SIZE, Section, TIME, TIME_0, WhenAbsent, Word, flag, key, quantity_or_zero,
    section, short, text, word,
};
use crate::units::Dim;

/// Disciplines with every key at its default.
pub(super) const AQM_WORDS: &[Word] = &[
    word("none", "packets are dropped only where they do not fit"),
    word("step", "`step` with its default"),
    word("red", "`red` with its defaults"),
    word("codel", "`codel` with its defaults"),
    word("pie", "`pie` with its defaults"),
    word("fq_codel", "`fq_codel` with its defaults"),
    word("dualpi2", "`dualpi2` with its defaults"),
    word("cake", "`cake` with its defaults"),
];

pub(super) const AQM: Section = super::one_of(
    "Active queue management",
    "Marks or drops packets before the queue is full.",
    &[
        key("step", Kind::Form(&STEP), WhenAbsent::Words("not used"), STEP.about),
        key("red", Kind::Form(&RED), WhenAbsent::Words("not used"), RED.about),
        key("codel", Kind::Form(&CODEL), WhenAbsent::Words("not used"), CODEL.about),
        key("fq_codel", Kind::Form(&FQ_CODEL), WhenAbsent::Words("not used"), FQ_CODEL.about),
        key("dualpi2", Kind::Form(&DUALPI2), WhenAbsent::Words("not used"), DUALPI2.about),
        key("pie", Kind::Form(&PIE), WhenAbsent::Words("not used"), PIE.about),
        key("cake", Kind::Form(&CAKE), WhenAbsent::Words("not used"), CAKE.about),
    ],
);

const STEP: Section = short(
    "threshold",
    section(
        "Step",
        "A packet that finds more than a threshold in the queue is marked (DCTCP's switch, RFC 8257 §3.1). `step = X` is \
         short for `step.threshold = X`.",
        &[key(
            "threshold",
            quantity_or_zero(Dim::Queue),
            WhenAbsent::Words("\"1 ms\""),
            "In packets, in bytes of IP packets, or by a time or BDP at the rate of the gate. The default needs a \
             constant rate in bit/s.",
        )],
    ),
);

const CODEL: Section = section(
    "CoDel",
    "Controlled delay (RFC 8289): once packets have waited longer than `target` for a whole `interval`, one is dropped, \
     and then more and more often, until they wait less. A packet is judged when its transmission begins.",
    &[TARGET, INTERVAL, CE_THRESHOLD],
);

const TARGET: Key = key("target", TIME, text("5 ms"), "The wait that may stay (RFC 8289 §4.3).");

const INTERVAL: Key = key(
    "interval",
    TIME,
    text("100 ms"),
    "How long packets may wait longer than `target` before the first drop; about the longest round trip of the flows \
     (RFC 8289 §4.2).",
);

const CE_THRESHOLD: Key = key(
    "ce_threshold",
    TIME,
    WhenAbsent::Words("no threshold"),
    "ECN-capable packets that waited longer than this are marked, whatever the rest says (RFC 8290 §5.2.7).",
);

const FQ_CODEL: Section = section(
    "FQ-CoDel",
    "Flow queues with controlled delay (RFC 8290): each flow has a queue of its own under CoDel. The queues take turns by \
     bytes, and one that has just begun goes first. A flow is what takes one path in one direction, and a background \
     source.",
    &[
        TARGET,
        INTERVAL,
        CE_THRESHOLD,
        key(
            "queues",
            Kind::Whole { min: 1, max: 65_536 },
            WhenAbsent::Is(Literal::Whole(1024)),
            "The most queues; with more flows than that, several share one (RFC 8290 §5.2.5).",
        ),
        key(
            "quantum",
            SIZE,
            text("1514 B"),
            "Bytes of IP packets that a queue may send in its turn (RFC 8290 §5.2.4).",
        ),
        key(
            "limit",
            quantity_or_zero(Dim::Queue),
            text("10240 packets"),
            "In packets, or in bytes of IP packets: beyond it, half of the longest queue is dropped, 64 packets at most \
             (RFC 8290 §4.1, §5.2.3). `queue.limit` acts in the same way, if it is less.",
        ),
        key(
            "memory",
            SIZE,
            text("32 MiB"),
            "Bytes of IP packets in all queues; beyond it, as beyond `limit` (Linux 4.7, `memory_limit`).",
        ),
    ],
);

const PIE: Section = section(
    "PIE",
    "The proportional integral controller, enhanced (RFC 8033): a packet that arrives is dropped, or marked, with a \
     probability that is set every `update` from how long the first packet in the queue has waited.",
    &[
        key(
            "target",
            TIME,
            text("15 ms"),
            "The wait that the controller aims at (RFC 8033 §4.2, `QDELAY_REF`).",
        ),
        key(
            "update",
            TIME,
            text("15 ms"),
            "From one update of the probability to the next; 100 us at least (RFC 8033 §4.2, `T_UPDATE`).",
        ),
        key("alpha", GAIN, WhenAbsent::Words("0.125"), "Integral gain in hertz (RFC 8033 §4.2)."),
        key("beta", GAIN, WhenAbsent::Words("1.25"), "Proportional gain in hertz (RFC 8033 §4.2)."),
        key(
            "max_burst",
            TIME_0,
            text("150 ms"),
            "For so long nothing is dropped after a time without congestion (RFC 8033 §4.4, `MAX_BURST`).",
        ),
        key(
            "mark_below",
            Kind::Probability,
            text("10%"),
            "Up to this probability ECN-capable packets are marked; above it they are dropped (RFC 8033 §5.1).",
        ),
        key(
            "derandomize",
            Kind::Flag,
            flag(true),
            "Keeps drops apart: none before the sum of probabilities since the last reaches 0.85, one for certain at 8.5 \
             (RFC 8033 §5.4).",
        ),
        key(
            "cap",
            Kind::Flag,
            flag(true),
            "No step of the probability above 0.02 where it is 0.1 or more (RFC 8033 §5.5).",
        ),
    ],
);

const DUALPI2: Section = section(
    "DualPI2",
    "Two coupled queues (RFC 9332 Appendix A). Packets with ECT(1) or CE (L4S) have a queue of their own, which is \
     marked early and goes first. A controller holds the other, classic queue at `target`: it marks or drops classic \
     packets with the probability p², and marks L4S packets with `coupling` × p. The controller marks and drops \
     nothing while fewer than two packets wait.",
    &[
        key(
            "target",
            TIME,
            text("15 ms"),
            "Classic delay that the controller aims at (RFC 9332 Appendix A.1).",
        ),
        key(
            "update",
            TIME,
            text("16 ms"),
            "From one update of p to the next; 100 us at least (RFC 9332 Appendix A.1, `Tupdate`; Linux 6.17).",
        ),
        key(
            "alpha",
            GAIN,
            WhenAbsent::Words("0.16"),
            "Integral gain in hertz (RFC 9332 Appendix A.1, `alpha`; Linux 6.17).",
        ),
        key(
            "beta",
            GAIN,
            WhenAbsent::Words("3.2"),
            "Proportional gain in hertz (RFC 9332 Appendix A.1, `beta`; Linux 6.17).",
        ),
        key(
            "coupling",
            GAIN,
            WhenAbsent::Words("2"),
            "k: L4S packets are marked with k × p (RFC 9332 §2.1).",
        ),
        key(
            "step",
            TIME_0,
            text("1 ms"),
            "L4S packets that waited longer are marked (RFC 9332 Appendix A.1 has a ramp; Linux 6.17, `step_thresh`).",
        ),
        key(
            "step_packets",
            Kind::Whole { min: 1, max: 1_000_000 },
            WhenAbsent::Words("not used"),
            "Instead of `step` and `range`: an L4S packet is marked that leaves more than so many L4S packets behind (Linux \
             6.17, `step_thresh` in packets).",
        ),
        key(
            "min_qlen_step",
            Kind::Whole { min: 0, max: 1_000_000 },
            WhenAbsent::Is(Literal::Whole(1)),
            "Neither marks an L4S packet that leaves so many L4S packets behind or fewer (RFC 9332 Appendix A.1, `Th_len`; \
             Linux 6.17 has 0, and counts when a packet comes).",
        ),
        key(
            "range",
            TIME_0,
            text("0 s"),
            "Up to this much above `step` the probability rises from 0 to 1, instead of a step: with step = \"800 us\" and \
             range = \"400 us\" the ramp of RFC 9332 Appendix A.1.",
        ),
        key(
            "classic_share",
            Kind::Share,
            text("10%"),
            "Share of the classic queue in bytes while packets wait in both (Linux 6.17, `c_protection`; RFC 9332 \
             leaves the scheduler open).",
        ),
    ],
);

/// A number above zero.
const GAIN: Kind = NUMBER;
