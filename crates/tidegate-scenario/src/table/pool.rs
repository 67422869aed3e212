//! `[pool.x]`, `gate.x.rate.reserve` and `[calls.x]`: capacity, and calls for it.

use super::flow::HOLDING;
use super::{Default, Key, Kind, RATE, Section, TIME, TIME_0, key, quantity, section, text, word};
use crate::units::Dim;

pub(super) const POOLS: &str = "Capacity that several gates share.";

pub(super) const POOL: Section = section(
    "A pool",
    "What the rates of its gates never add up to more than: DTM channels, which get what the others leave, or calls for \
     circuits, which get all that they ask for or wait.",
    &[
        key(
            "capacity",
            quantity(Dim::Pool),
            Default::Required("\"40 slots\""),
            "A rate; or in slots of its channels, which must then be of one size.",
        ),
        key(
            "order",
            Kind::Choice(&[
                word("asked", "the call that asked first is next, and nobody passes it"),
                word("first fit", "the first call that fits is next: a smaller one may pass a larger one"),
            ]),
            text("asked"),
            "Which of the calls that wait is next when capacity is given back.",
        ),
    ],
);

pub(super) const RESERVE: Section = section(
    "Circuit",
    "The gate is closed until a call for its rate has come through. The first packet of a transfer asks, packets wait in \
     the gate's queue, and the circuit is given back when it has been idle for `hold`: no transfer of its flows under way, \
     no packet in it. The two directions of a duplex gate are one call, and so are all circuits that a flow passes.",
    &[
        FROM,
        key(
            "rate",
            RATE,
            Default::Required("\"20 Mbit/s\""),
            "Rate of the circuit, which the call asks for; the other direction is included.",
        ),
        key(
            "hold",
            Kind::Quantity {
                dim: Dim::Time,
                zero: true,
                words: &[word("forever", "it is never given back")],
            },
            text("0 s"),
            "How long an idle circuit is kept.",
        ),
        SETUP,
        BLOCKED,
        RETRY,
    ],
);

pub(super) const CALLS_ABOUT: &str = "Calls without packets: they come, hold capacity of a pool, and go.";

/// Each source has a random stream of its own.
const MOST_SOURCES: u64 = 100_000;

pub(super) const CALLS: Section = section(
    "Calls",
    "A source of calls that hold capacity without sending anything: other users of a pool, or a system by itself, as Erlang's \
     formulas have it.",
    &[
        FROM,
        key("rate", RATE, Default::Required("\"64 kbit/s\""), "What each call asks for."),
        key(
            "every",
            HOLDING,
            Default::Words("with sources there is none"),
            "From one call to the next, however many calls are under way: a time, or { exponential = \"2 s\" }. The first call \
             comes one such time after the start.",
        ),
        key(
            "sources",
            Kind::Whole { min: 1, max: MOST_SOURCES },
            Default::Words("so many that every says all"),
            "In place of every: the number of sources, each with one call at a time (Engset's system).",
        ),
        key(
            "idle",
            HOLDING,
            Default::Words("it belongs to sources"),
            "With sources: how long each is idle before its next call, from the start or from the end of its last call. A call \
             that is refused or abandoned has ended.",
        ),
        key(
            "hold",
            HOLDING,
            Default::Required("{ exponential = \"1 min\" }"),
            "How long a call lasts once it is set up.",
        ),
        SETUP,
        BLOCKED,
        RETRY,
        key(
            "patience",
            HOLDING,
            Default::Words("a call waits for as long as it takes"),
            "How long a call waits before it leaves the line (abandoned): a time, or { exponential = \"30 s\" }.",
        ),
        key("start", TIME_0, text("0 s"), "When the source begins."),
    ],
);

const FROM: Key = key(
    "pool",
    Kind::AnyOf(&[Kind::Text, Kind::List { of: &Kind::Text, min: 1 }]),
    Default::Required("\"vp\""),
    "Name of the [pool] that the rate comes from, or a list of them: the links that it leads over. A call gets all of \
     them at once or none.",
);

const SETUP: Key =
    key("setup", TIME_0, text("0 s"), "From the grant of a call to the instant at which it is up.");

const BLOCKED: Key = key(
    "blocked",
    Kind::Choice(&[
        word("wait", "it waits for its turn"),
        word("refuse", "it is lost; a packet that asked is dropped, and the next one asks again"),
    ]),
    text("wait"),
    "What becomes of a call that does not fit.",
);

const RETRY: Key = key(
    "retry",
    TIME,
    Default::Words("a refused call is lost"),
    "With blocked = \"refuse\": the call is made again after this long, and packets wait for it.",
);
