//! The top of a scenario, `[record]`, `[limits]` and `[[sweep]]`.

use super::pool::{CALLS, CALLS_ABOUT, POOL, POOLS};
use super::{
    Kind, SIZE, Section, TIME, TIME_0, WhenAbsent, Word, flag, flow, gate, key, named, request, section, tcp,
    text, word,
};
use crate::units::Dim;

pub(crate) const ROOT: Section = section(
    "The scenario",
    "Settings of the whole run. The tables below describe its parts.",
    &[
        key("title", Kind::Text, text(""), "One line that heads every table and picture."),
        key(
            "duration",
            Kind::Quantity { dim: Dim::Time, zero: false, words: UNTIL_DONE },
            WhenAbsent::Required("\"60 s\""),
            "Length of the run.",
        ),
        key("warmup", TIME_0, text("0 s"), "The summary counts from this time to the end of the run."),
        key(
            "seed",
            Kind::Whole { min: 0, max: i64::MAX as u64 },
            WhenAbsent::Words("chosen by the program, printed and stored"),
            "Seed of all random numbers. Each element's random stream depends on the seed, the replication and the \
             element's name.",
        ),
        key(
            "runs",
            Kind::Whole { min: 1, max: 1_000_000 },
            WhenAbsent::Is(super::Literal::Whole(1)),
            "Number of replications. Each has its own random numbers, and all variants of a comparison use the same \
             ones.",
        ),
        key(
            "perturb",
            Kind::Flag,
            flag(false),
            "true: replication i has small changes, number i, that nobody can know of a real network. Each flow and \
             traffic source starts later by less than one round trip, and delays differ by up to 1%. Gates without jitter \
             have up to 100 µs of it (at most 1% of the round trip), and packets keep their order. Replication 0 is \
             as written. Sizes that the file gives by a delay are not computed anew.",
        ),
        key(
            "exact",
            Kind::Flag,
            flag(false),
            "true: the simulator takes no fast path. Every arrival and departure is an event, every segment has a whole \
             header, and TCP and its controllers take the general steps at each ACK. The results are the same; the run \
             takes longer.",
        ),
        key(
            "cells",
            Kind::Choice(&[
                word("trains", "equally spaced cells are handled together"),
                word("one-by-one", "every cell is handled separately"),
            ]),
            text("trains"),
            "How the simulator handles the cells of ATM gates. The results are the same; one-by-one takes longer.",
        ),
        key(
            "gate",
            Kind::Form(&named("gate", Kind::Form(&gate::GATE), GATES)),
            WhenAbsent::Words("none"),
            GATES,
        ),
        key(
            "flow",
            Kind::Form(&named("flow", Kind::Form(&flow::FLOW), FLOWS)),
            WhenAbsent::Words("none"),
            FLOWS,
        ),
        key(
            "traffic",
            Kind::Form(&named("traffic", Kind::Form(&flow::TRAFFIC), TRAFFIC)),
            WhenAbsent::Words("none"),
            TRAFFIC,
        ),
        key("tcp", Kind::Form(&named("tcp", Kind::Form(&tcp::SET), SETS)), WhenAbsent::Words("none"), SETS),
        key("record", Kind::Form(&RECORD), WhenAbsent::Words("the summary only"), RECORD.about),
        key("limits", Kind::Form(&LIMITS), WhenAbsent::Words("2 GB of memory"), LIMITS.about),
        key(
            "sweep",
            Kind::List { of: &Kind::Form(&SWEEP), min: 0 },
            WhenAbsent::Words("none"),
            "Each [[sweep]] is one axis of a study; the study has a point for each combination of values.",
        ),
        key("pool", Kind::Form(&named("pool", Kind::Form(&POOL), POOLS)), WhenAbsent::Words("none"), POOLS),
        key(
            "server",
            Kind::Form(&named("server", Kind::Form(&request::SERVER), request::SERVERS)),
            WhenAbsent::Words("none"),
            request::SERVERS,
        ),
        key(
            "calls",
            Kind::Form(&named("calls", Kind::Form(&CALLS), CALLS_ABOUT)),
            WhenAbsent::Words("none"),
            CALLS_ABOUT,
        ),
    ],
);

const GATES: &str = "Hops between two TCP endpoints: each has a queue, a rate, framing overhead, random loss and a \
    delay.";
const FLOWS: &str = "TCP connections: an application, the settings of TCP and the gates on the path.";
const TRAFFIC: &str = "Background packets without TCP on a list of gates.";
const SETS: &str = "Named TCP settings; a flow starts from one with tcp.use.";

const EVENTS: &[Word] = &[word("events", "a row at every change")];

const RECORD: Section = Section {
    others: Some(Kind::List { of: &Kind::Text, min: 0 }),
    ..section(
        "Recording",
        "Time series that a run records in addition to its summary. Any other key is the name of a gate or flow, \
         with a list of its columns. If no gate, flow or group is named, all gates and flows are recorded.",
        &[
            key(
                "every",
                Kind::Quantity { dim: Dim::Time, zero: false, words: EVENTS },
                WhenAbsent::Words("\"10 ms\" when gates or flows are named; otherwise no time series"),
                "How often columns are sampled.",
            ),
            key(
                "groups",
                Kind::List { of: &Kind::Text, min: 0 },
                WhenAbsent::Words("none"),
                "Flows whose copies are recorded together: what they have in sum, and their spread, as one series.",
            ),
            key(
                "packets",
                Kind::Flag,
                flag(false),
                "Records every packet at both ends of every flow, for a pcap file.",
            ),
        ],
    )
};

const UNTIL_DONE: &[Word] = &[word(
    "until done",
    "the run ends when every finite transfer and every flow with a count of requests is done, at `limits.duration` at \
     the latest",
)];

const LIMITS: Section = section(
    "Limits",
    "Limits at which a run stops early, with a warning. A run that is certain to exceed them is refused.",
    &[
        key(
            "events",
            Kind::Whole { min: 1, max: i64::MAX as u64 },
            WhenAbsent::Words("no limit"),
            "Number of events handled. With `exact`, a run takes more of them.",
        ),
        key(
            "duration",
            TIME,
            text("1000 s"),
            "With `duration = \"until done\"`: where the run ends at the latest. Not used otherwise.",
        ),
        key(
            "memory",
            SIZE,
            text("2 GB"),
            "Bytes of the simulator's own memory, about: flows and gates, queues, delay lines and recordings. A packet that waits \
             takes some tens of them, however long it is. A full table doubles, so a run may end with twice as much, and \
             32 kB and 2 kB for each flow and gate besides.",
        ),
    ],
);

const SWEEP: Section = Section {
    others: Some(Kind::Free),
    ..section(
        "Sweeps",
        "One axis of a study: dotted keys in quotes, each with a list of values. The lists of one axis have the \
         same length, and their values change together.",
        &[],
    )
};
