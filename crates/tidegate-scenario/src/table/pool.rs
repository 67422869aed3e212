//! `[pool.x]`, `gate.x.rate.reserve` and `[calls.x]`: capacity, and calls for it.

use super::flow::HOLDING;
use super::{Key, Kind, RATE, Section, TIME, TIME_0, WhenAbsent, key, quantity, section, text, word};
use crate::units::Dim;

pub(super) const POOLS: &str = "Capacity that several gates share.";

pub(super) const POOL: Section = section(
    "A pool",
    "A capacity that several gates share: the sum of their rates never exceeds it. A DTM channel gets the slots \
     that the other channels leave. A call for a circuit gets its whole rate, or it waits or is refused.",
    &[
        key(
            "capacity",
            quantity(Dim::Pool),
            WhenAbsent::Required("\"40 slots\""),
            "A rate, or a number of slots; with slots, all channels must have the same slot size.",
        ),
        key(
            "order",
            Kind::Choice(&[
                word("asked", "calls are served in the order in which they arrived"),
                word(
                    "first fit",
                    "the first waiting call that fits is served: a small call may overtake a large one",
                ),
            ]),
            text("asked"),
            "Which waiting call is served next when capacity is released.",
        ),
    ],
);

pub(super) const RESERVE: Section = section(
    "Circuit",
    "A gate that sends only while its circuit is up. The first packet of a transfer requests the circuit, and \
     packets wait in the queue of the gate until it is up. The circuit is released after it has been idle for \
     `hold`: no transfer of its flows in progress, no packet in it. The two directions of a duplex gate are \
     requested by one call; so are all the circuits on the path of one flow.",
    &[
        FROM,
        key(
            "rate",
            RATE,
            WhenAbsent::Required("\"20 Mbit/s\""),
            "Rate of the circuit, which the call requests; it covers both directions.",
        ),
        key(
            "hold",
            Kind::Quantity {
                dim: Dim::Time,
                zero: true,
                words: &[word("forever", "the circuit is never released")],
            },
            text("0 s"),
            "How long an idle circuit is kept before it is released.",
        ),
        SETUP,
        BLOCKED,
        RETRY,
    ],
);

pub(super) const CALLS_ABOUT: &str = "Calls that hold capacity of a pool for a time without sending packets.";

/// Each source has a random stream of its own.
const MOST_SOURCES: u64 = 100_000;

pub(super) const CALLS: Section = section(
    "Calls",
    "A source of calls that hold capacity of a pool without sending packets. They stand for other users of the \
     pool, or are studied for themselves, as in Erlang's formulas.",
    &[
        FROM,
        key("rate", RATE, WhenAbsent::Required("\"64 kbit/s\""), "Rate that each call requests."),
        key(
            "every",
            HOLDING,
            WhenAbsent::Words("not used with sources"),
            "Time from one call to the next, however many calls are in progress: a time, or { exponential = \"2 s\" \
             }. The first call arrives one such time after the start.",
        ),
        key(
            "sources",
            Kind::Whole { min: 1, max: MOST_SOURCES },
            WhenAbsent::Words("unlimited: the calls arrive as every says"),
            "Number of sources, each with at most one call at a time (Engset's model). Replaces `every`.",
        ),
        key(
            "idle",
            HOLDING,
            WhenAbsent::Words("used only with sources"),
            "With sources: how long each source is idle before its next call, counted from the start or from the \
             end of its last call. A refused or abandoned call ends at once.",
        ),
        key(
            "hold",
            HOLDING,
            WhenAbsent::Required("{ exponential = \"1 min\" }"),
            "How long a call lasts once it is set up.",
        ),
        SETUP,
        BLOCKED,
        RETRY,
        key(
            "patience",
            HOLDING,
            WhenAbsent::Words("unlimited: a call waits until it is served"),
            "How long a call waits before it gives up (abandoned): a time, or { exponential = \"30 s\" }.",
        ),
        key("start", TIME_0, text("0 s"), "When the source starts."),
    ],
);

const FROM: Key = key(
    "pool",
    Kind::AnyOf(&[Kind::Text, Kind::List { of: &Kind::Text, min: 1 }]),
    WhenAbsent::Required("\"vp\""),
    "Name of the [pool] that the capacity is taken from, or a list of pools: one for each link of the route. A call \
     gets capacity from all of them at once, or from none.",
);

const SETUP: Key = key("setup", TIME_0, text("0 s"), "Time from the grant of a call until it is up.");

const BLOCKED: Key = key(
    "blocked",
    Kind::Choice(&[
        word("wait", "the call waits for its turn"),
        word(
            "refuse",
            "the call is lost; the packet that requested a circuit is dropped, and the next packet \
            requests it again",
        ),
    ]),
    text("wait"),
    "What happens to a call that does not fit into its pools.",
);

const RETRY: Key = key(
    "retry",
    TIME,
    WhenAbsent::Words("a refused call is lost"),
    "With blocked = \"refuse\": the call is repeated after this time, and packets wait for it.",
);
