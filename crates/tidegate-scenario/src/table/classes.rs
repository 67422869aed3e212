//! `gate.x.classes`, `gate.x.scheduler` and `gate.x.tas`: classes of packets with queues of their own.

use super::aqm::{AQM, AQM_WORDS};
use super::codepoints::DSCP;
use super::{
    BURST, Key, Kind, Literal, RATE, SIZE, Section, TIME, TIME_0, WhenAbsent, key, named, section, short,
    text, word,
};
use crate::units::Dim;

pub(super) const SCHEDULER: Key = key(
    "scheduler",
    Kind::Choice(&[
        word("strict", "the first class of the file that has packets and may send"),
        word("drr", "deficit round robin: turns of `quantum` bytes"),
        word("wfq", "weighted fair queueing: shares by `weight`, packet by packet"),
        word("htb", "hierarchical token buckets: rates, ceilings and borrowing"),
        word(
            "spacer",
            "without `classes`: each flow is a virtual circuit with a queue of its own, as large as `queue` says, and keeps the \
             contract of the shaper with `per = \"flow\"` before this gate. Of those whose time has come, the one with \
             the earliest theoretical emission time goes first",
        ),
        word("fifo", "without `classes`: one queue, first in, first out"),
    ]),
    WhenAbsent::Words(
        "\"strict\" with `classes`; without, \"spacer\" where shapers with `per = \"flow\"` stand before a shared shaper \
         (`gcra`, `token_bucket`), else \"fifo\"",
    ),
    "Which class, or which virtual circuit, is served next. It counts bytes on the wire.",
);

pub(super) const CLASSES: Key = key(
    "classes",
    Kind::Form(&named("class", Kind::Form(&CLASS), CLASSES_ABOUT)),
    WhenAbsent::Words("no classes"),
    CLASSES_ABOUT,
);

const CLASSES_ABOUT: &str = "Classes of packets, each with a queue of its own, in order: with `scheduler = \"strict\"` the \
    first goes first. A class without `members` and `dscp` takes the packets that no other class takes.";

const CLASS: Section = section(
    "A class",
    "Packets with a queue of their own at one gate.",
    &[
        key(
            "members",
            Kind::List { of: &Kind::Text, min: 1 },
            WhenAbsent::Words("whatever no other class takes, or what `dscp` says"),
            "Flows and background sources: \"x\" for all copies, \"x.2\" for one; \"x/back\" for what comes back (ACKs and \
             requests), which is otherwise of the class of \"x\". The longer name holds.",
        ),
        key(
            "dscp",
            Kind::List { of: &DSCP, min: 1 },
            WhenAbsent::Words("no codepoints"),
            "Flows and background sources with these codepoints (`flow.x.dscp`). Names in `members` go before.",
        ),
        key(
            "queue",
            Kind::Form(&QUEUE),
            text("unlimited"),
            "Its queue. `queue = X` is short for `queue.limit = X`.",
        ),
        key(
            "quantum",
            SIZE,
            text("1514 B"),
            "With `drr`: bytes on the wire that it may send in its turn; what it does not use it keeps for the next.",
        ),
        key(
            "weight",
            Kind::Whole { min: 1, max: 1_000_000 },
            WhenAbsent::Is(Literal::Whole(1)),
            "With `wfq`: its share is this over the weights of all classes that have packets.",
        ),
        key("cbs", Kind::Form(&CBS), WhenAbsent::Words("no credit-based shaper"), CBS.about),
        key("htb", Kind::Form(&HTB), WhenAbsent::Words("no token buckets"), HTB.about),
    ],
);

/// What a queue holds at most.
pub(super) const LIMIT: Kind = Kind::Quantity {
    dim: Dim::Queue,
    zero: true,
    words: &[word("unlimited", "no limit; the run reports how large it got")],
};

const QUEUE: Section = short(
    "limit",
    section(
        "Queue of a class",
        "First in, first out, drop-tail: a packet that does not fit is dropped.",
        &[
            key(
                "limit",
                LIMIT,
                text("unlimited"),
                "In packets, in bytes of IP packets, by a time or BDP at the rate of the gate, or \"unlimited\". A packet whose transmission begins when it arrives \
                 takes no place. `queue.limit` of the gate holds for all classes together.",
            ),
            key(
                "aqm",
                Kind::AnyOf(&[Kind::Choice(AQM_WORDS), Kind::Form(&AQM)]),
                text("none"),
                "Active queue management of this class.",
            ),
        ],
    ),
);

const CBS: Section = short(
    "idle_slope",
    section(
        "Credit-based shaper",
        "With `strict`: the class sends while its credit is not below zero (IEEE 802.1Q §8.6.8.2). Credit rises with \
         `idle_slope` while packets wait, and falls with the rate of the gate less that while one is sent. Needs a \
         constant rate.",
        &[
            key(
                "idle_slope",
                RATE,
                WhenAbsent::Required("\"10 Mbit/s\""),
                "What the class may send in the long run, on the wire; less than the rate of the gate.",
            ),
            key(
                "hi_credit",
                SIZE,
                WhenAbsent::Words("no limit"),
                "Credit never rises above this (`hicredit` of Linux' `cbs`; in the standard a consequence, Annex L).",
            ),
            key(
                "lo_credit",
                SIZE,
                WhenAbsent::Words("no limit"),
                "Credit never falls below minus this (`locredit` of Linux' `cbs`).",
            ),
        ],
    ),
);

const HTB: Section = short(
    "rate",
    section(
        "Hierarchical token buckets",
        "With `htb`: what the class has of its own, and what it may borrow (Linux `tc-htb`).",
        &[
            key("rate", RATE, WhenAbsent::Required("\"2 Mbit/s\""), "What it has of its own, on the wire."),
            key(
                "ceil",
                RATE,
                WhenAbsent::Words("its rate: it borrows nothing"),
                "What it may send with what it borrows.",
            ),
            key(
                "parent",
                Kind::Text,
                WhenAbsent::Words("the gate, which lends what it can carry"),
                "The class that it borrows from. A class that others borrow from has no packets of its own.",
            ),
            key(
                "burst",
                BURST,
                text("1600 B"),
                "The bucket of `rate`: bytes on the wire that may come at once after a pause. A packet may begin while the \
                 bucket is not below zero (`burst`; `tc` takes 1600 B and what comes in a tick).",
            ),
            key("ceil_burst", BURST, text("1600 B"), "The bucket of `ceil` (`cburst`)."),
            key(
                "priority",
                Kind::Whole { min: 0, max: 7 },
                WhenAbsent::Is(Literal::Whole(0)),
                "Of classes that could send alike, those with the smallest number go first (`prio`).",
            ),
            key(
                "quantum",
                SIZE,
                WhenAbsent::Words("what `rate` carries in 0.1 s, from 1000 B to 200000 B"),
                "Bytes on the wire in a turn, where several could send alike (`quantum`; the default is that of `r2q 10`).",
            ),
        ],
    ),
);

pub(super) const TAS: Section = section(
    "Time-aware gates",
    "With `strict`: which classes may send when, in a schedule that repeats (IEEE 802.1Q §8.6.8.4, once 802.1Qbv). A packet \
     that would not end before its class may no longer send is not begun. Needs a constant rate.",
    &[
        key(
            "states",
            Kind::List { of: &Kind::Tuple(&[TIME, Kind::List { of: &Kind::Text, min: 0 }]), min: 1 },
            WhenAbsent::Required("[[\"200 us\", [\"control\"]], [\"800 us\", [\"rest\"]]]"),
            "Pairs of a length and the classes that may send for so long, one after the other; together they are a cycle.",
        ),
        key(
            "offset",
            TIME_0,
            text("0 s"),
            "A cycle begins here; others come before and after it without a gap.",
        ),
    ],
);
