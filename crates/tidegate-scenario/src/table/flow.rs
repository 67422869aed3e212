//! `[flow.x]` and `[traffic.x]`.

use super::{
    Default, Key, Kind, Literal, PATH, RATE, SIZE, Section, TIME, TIME_0, gate, key, one_of, quantity,
    request, section, tcp, text, word,
};
use crate::units::Dim;

pub(crate) const FLOW: Section = section(
    "A flow",
    "Two TCP endpoints; the application sends on `path`, acknowledgements come on `back`.",
    &[
        key("path", PATH, Default::Required("[\"link\"]"), "The gates that data passes, in order."),
        key(
            "back",
            Kind::List { of: &Kind::Text, min: 0 },
            Default::Words("a delay equal to the path's delays, no queueing"),
            "The gates of the way back, in order.",
        ),
        key(
            "rtt",
            TIME_0,
            Default::Words("what the gates' delays add up to"),
            "Sets the way back so that all delays together are this much.",
        ),
        key("count", Kind::Whole { min: 1, max: MOST }, Default::Is(Literal::Whole(1)), COUNT),
        START,
        JITTER,
        key("app", APP, text("bulk"), "What is sent: \"bulk\", or one of the applications below."),
        key("tcp", Kind::Form(&tcp::TCP), Default::Words("the standards"), "How it is sent."),
    ],
);

pub(crate) const TRAFFIC: Section = section(
    "Traffic",
    "Packets without TCP: they load gates and are counted when they leave the last one.",
    &[
        key("path", PATH, Default::Required("[\"link\"]"), "The gates it passes, in order."),
        key(
            "count",
            Kind::Whole { min: 0, max: MOST },
            Default::Is(Literal::Whole(1)),
            "So many of the same, named x.1, x.2 and so on; 0: none.",
        ),
        START,
        JITTER,
        key(
            "source",
            Kind::Form(&SOURCE),
            Default::Required("{ constant = { rate = \"1 Mbit/s\" } }"),
            "When packets come: one of the laws below.",
        ),
    ],
);

const MOST: u64 = 100_000;
const COUNT: &str = "So many of the same, named x.1, x.2 and so on.";

const START: Key = key(
    "start",
    Kind::AnyOf(&[TIME_0, Kind::Form(&UNIFORM)]),
    text("0 s"),
    "When it begins: a time, or drawn for each replication with start.uniform.",
);

const JITTER: Key = key(
    "jitter",
    gate::JITTER,
    text("0 s"),
    "Random delay between the sender and the first gate: a time, the longest of a uniform one, or a law. Packets keep their \
     order. It is a gate of its own, named jitter/x.",
);

const UNIFORM: Section = one_of(
    "Random start",
    "",
    &[key(
        "uniform",
        Kind::Tuple(&[TIME_0, TIME_0]),
        Default::Required("[\"0 s\", \"1 s\"]"),
        "Drawn uniformly from the first time to the second.",
    )],
);

const APP: Kind =
    Kind::AnyOf(&[Kind::Choice(&[word("bulk", "there is always something to send")]), Kind::Form(&APPS)]);

const APPS: Section = one_of(
    "Applications",
    "Exactly one.",
    &[
        key("transfer", SIZE, Default::Words("not used"), "So many user bytes, then nothing."),
        key(
            "constant",
            Kind::Form(&section(
                "Constant writes",
                "Writes of a fixed size at a constant rate.",
                &[USER_RATE, WRITE],
            )),
            Default::Words("not used"),
            "Writes of a fixed size at a constant rate.",
        ),
        key(
            "on_off",
            Kind::Form(&section(
                "On–off writes",
                "Constant rate during on periods, silent in between.",
                &[USER_RATE, WRITE, ON, OFF],
            )),
            Default::Words("not used"),
            "Constant rate during on periods, silent in between.",
        ),
        key(
            "request",
            Kind::Form(&request::REQUEST),
            Default::Words("not used"),
            "The other end asks, this one answers.",
        ),
    ],
);

const SOURCE: Section = one_of(
    "Sources",
    "Exactly one.",
    &[
        key(
            "constant",
            Kind::Form(&section("Constant bit rate", "Evenly spaced packets.", &[IP_RATE, PACKET])),
            Default::Words("not used"),
            "Evenly spaced packets.",
        ),
        key(
            "on_off",
            Kind::Form(&section(
                "On–off packets",
                "Evenly spaced packets during on periods, silence in between.",
                &[IP_RATE, PACKET, ON, OFF],
            )),
            Default::Words("not used"),
            "Evenly spaced packets during on periods, silence in between.",
        ),
        key(
            "poisson",
            Kind::Form(&section("Poisson packets", "Exponential gaps.", &[IP_RATE, PACKET])),
            Default::Words("not used"),
            "Exponential gaps.",
        ),
        key(
            "messages",
            Kind::Form(&MESSAGES),
            Default::Words("not used"),
            "Messages of a number of cells, each sent at once.",
        ),
    ],
);

const MESSAGES: Section = section(
    "Messages of cells",
    "Messages for cell gates, each one packet that AAL5 makes so many cells of.",
    &[
        key("load", RATE, Default::Required("\"12.5 Mbit/s\""), "Mean rate in bits of 53-byte cells."),
        key(
            "gaps",
            Kind::Choice(&[
                word("exponential", "messages come at random, as a Poisson process"),
                word("constant", "always the same, the first message at the start"),
            ]),
            text("exponential"),
            "Times from the start of one message to the start of the next.",
        ),
        key(
            "length",
            Kind::AnyOf(&[quantity(Dim::Cells), Kind::Form(&LENGTH)]),
            Default::Required("{ geometric = \"25 cells\", max = \"200 cells\" }"),
            "Cells of a message: a number of cells, or drawn for each.",
        ),
    ],
);

const LENGTH: Section = section(
    "Random length of messages",
    "Geometric, cut off above `max`; the probabilities below it are scaled so that the mean is what is written.",
    &[
        key("geometric", quantity(Dim::Cells), Default::Required("\"25 cells\""), "The mean."),
        key(
            "max",
            quantity(Dim::Cells),
            Default::Words("the most that a packet of 65535 B has room for"),
            "The longest message.",
        ),
    ],
);

const USER_RATE: Key =
    key("rate", RATE, Default::Required("\"1 Mbit/s\""), "User bytes per second, while it is on.");
const WRITE: Key = key("write", SIZE, text("1460 B"), "Size of each write.");
const IP_RATE: Key = key(
    "rate",
    RATE,
    Default::Required("\"1 Mbit/s\""),
    "IP bytes per second, headers included, while it is on.",
);
const PACKET: Key = key("packet", SIZE, text("1500 B"), "Size of each IP packet.");
pub(super) const HOLDING: Kind = Kind::AnyOf(&[TIME, Kind::Form(&EXPONENTIAL)]);
const ON: Key = key(
    "on",
    HOLDING,
    Default::Required("\"1 s\""),
    "Length of on periods: a time, or { exponential = \"1 s\" }.",
);
const OFF: Key = key(
    "off",
    HOLDING,
    Default::Required("\"1 s\""),
    "Length of off periods: a time, or { exponential = \"1 s\" }.",
);
const EXPONENTIAL: Section = one_of(
    "Random length",
    "",
    &[key("exponential", TIME, Default::Required("\"1 s\""), "Exponential with this mean.")],
);
