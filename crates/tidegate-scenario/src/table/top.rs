//! The top of a scenario, `[record]`, `[limits]` and `[[sweep]]`.

use super::pool::{CALLS, CALLS_ABOUT, POOL, POOLS};
use super::{
    Default, Kind, SIZE, Section, TIME, TIME_0, Word, flag, flow, gate, key, named, request, section, tcp,
    text, word,
};
use crate::units::Dim;

pub(crate) const ROOT: Section = section(
    "The scenario",
    "One run: how long, how often, and what the tables below describe.",
    &[
        key(
            "title",
            Kind::Text,
            text(""),
            "One line that says what this is; it heads every table and picture.",
        ),
        key("duration", TIME, Default::Required("\"60 s\""), "The run ends here."),
        key("warmup", TIME_0, text("0 s"), "The summary counts from here to the end of the run."),
        key(
            "seed",
            Kind::Whole { min: 0, max: i64::MAX as u64 },
            Default::Words("chosen by the program, printed and stored"),
            "Every random stream derives from the seed, the replication and the element's name.",
        ),
        key(
            "runs",
            Kind::Whole { min: 1, max: 1_000_000 },
            Default::Is(super::Literal::Whole(1)),
            "Replications; each has its own random streams, the same for every variant.",
        ),
        key(
            "exact_events",
            Kind::Flag,
            flag(false),
            "Makes every arrival and departure an event. The results are the same, later.",
        ),
        key(
            "cells",
            Kind::Choice(&[
                word("trains", "equally spaced cells are handled together"),
                word("one-by-one", "every cell is handled for itself"),
            ]),
            text("trains"),
            "How the cells of ATM gates are worked through. The results are the same; one by one takes longer.",
        ),
        key(
            "gate",
            Kind::Form(&named("gate", Kind::Form(&gate::GATE), GATES)),
            Default::Words("none"),
            GATES,
        ),
        key(
            "flow",
            Kind::Form(&named("flow", Kind::Form(&flow::FLOW), FLOWS)),
            Default::Words("none"),
            FLOWS,
        ),
        key(
            "traffic",
            Kind::Form(&named("traffic", Kind::Form(&flow::TRAFFIC), TRAFFIC)),
            Default::Words("none"),
            TRAFFIC,
        ),
        key("tcp", Kind::Form(&named("tcp", Kind::Form(&tcp::SET), SETS)), Default::Words("none"), SETS),
        key("record", Kind::Form(&RECORD), Default::Words("the summary only"), RECORD.about),
        key("limits", Kind::Form(&LIMITS), Default::Words("2 GB of memory"), LIMITS.about),
        key(
            "sweep",
            Kind::List { of: &Kind::Form(&SWEEP), min: 0 },
            Default::Words("none"),
            "Each [[sweep]] is one axis of a study; the axes multiply.",
        ),
        key("pool", Kind::Form(&named("pool", Kind::Form(&POOL), POOLS)), Default::Words("none"), POOLS),
        key(
            "server",
            Kind::Form(&named("server", Kind::Form(&request::SERVER), request::SERVERS)),
            Default::Words("none"),
            request::SERVERS,
        ),
        key(
            "calls",
            Kind::Form(&named("calls", Kind::Form(&CALLS), CALLS_ABOUT)),
            Default::Words("none"),
            CALLS_ABOUT,
        ),
    ],
);

const GATES: &str = "Everything between two TCP endpoints: a queue, a rate law, loss and a delay.";
const FLOWS: &str = "Two TCP endpoints, an application and the gates between them.";
const TRAFFIC: &str = "Packets without TCP on a list of gates.";
const SETS: &str = "Named TCP settings; a flow starts from one with tcp.use.";

const EVENTS: &[Word] = &[word("events", "a row at every change")];

const RECORD: Section = Section {
    others: Some(Kind::List { of: &Kind::Text, min: 0 }),
    ..section(
        "Recording",
        "What a run keeps beside its summary. What is not recorded costs nothing. Any other key is the name of \
         a gate or flow with a list of its columns; without names, all gates and flows are kept.",
        &[
            key(
                "every",
                Kind::Quantity { dim: Dim::Time, zero: false, words: EVENTS },
                Default::Words("\"10 ms\" when gates or flows are named, otherwise the summary only"),
                "How often columns are sampled.",
            ),
            key(
                "packets",
                Kind::Flag,
                flag(false),
                "Keeps every packet at both ends of every flow, for a pcap.",
            ),
        ],
    )
};

const LIMITS: Section = section(
    "Limits",
    "Where a run stops early, with a warning that says so. What is known to go beyond them is refused.",
    &[
        key(
            "events",
            Kind::Whole { min: 1, max: i64::MAX as u64 },
            Default::Words("no limit"),
            "Events handled.",
        ),
        key("memory", SIZE, text("2 GB"), "Bytes held in queues, delay lines and recordings."),
    ],
);

const SWEEP: Section = Section {
    others: Some(Kind::Free),
    ..section(
        "Sweeps",
        "One axis: dotted keys in quotes, each with a list of values; lists of one axis have the same length and \
         move together.",
        &[],
    )
};
