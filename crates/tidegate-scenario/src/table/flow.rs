//! `[flow.x]` and `[traffic.x]`.

use super::advice;
use super::codepoints;
use super::{
    Key, Kind, Literal, PATH, RATE, SIZE, Section, TIME, TIME_0, WhenAbsent, beside, jitter, key, media,
    one_of, quantity, quic, request, section, tcp, text, video, word,
};
use crate::units::Dim;

pub(crate) const FLOW: Section = section(
    "A flow",
    "A connection of TCP or of QUIC. Its data passes the gates in `path`; ACKs return through the gates in `back`.",
    &[
        key("path", PATH, WhenAbsent::Required("[\"link\"]"), "The gates that data packets pass, in order."),
        key(
            "back",
            Kind::List { of: &Kind::Text, min: 0 },
            WhenAbsent::Words("a fixed delay, as long as the delays of `path`; ACKs never queue"),
            "The gates that ACKs pass on the way back, in order.",
        ),
        key(
            "rtt",
            TIME_0,
            WhenAbsent::Words("the sum of the delays of the gates"),
            "Round-trip time without queueing: the delay of the way back is set so that all delays add up to this.",
        ),
        key("count", Kind::Whole { min: 1, max: MOST }, WhenAbsent::Is(Literal::Whole(1)), COUNT),
        START,
        JITTER,
        DSCP,
        FROM,
        TO,
        key(
            "app",
            APP,
            text("bulk"),
            "The application that sends data: \"bulk\", or one of the applications below.",
        ),
        key(
            "transport",
            Kind::Choice(&[
                word("tcp", "TCP of this program; of the kernel in the engine live"),
                word("quic", "QUIC as quinn has it; engine sim only"),
            ]),
            text("tcp"),
            "The transport that carries its data.",
        ),
        key("tcp", Kind::Form(&tcp::TCP), WhenAbsent::Words("the defaults below"), "The settings of TCP."),
        key(
            "quic",
            Kind::Form(&quic::QUIC),
            WhenAbsent::Words("the defaults below"),
            "The settings of QUIC.",
        ),
        advice::SCONE_KEY,
    ],
);

pub(crate) const TRAFFIC: Section = section(
    "Traffic",
    "Background packets without TCP. They load the gates on `path` and are counted when they leave the last one.",
    &[
        key("path", PATH, WhenAbsent::Required("[\"link\"]"), "The gates that the packets pass, in order."),
        key(
            "count",
            Kind::Whole { min: 0, max: MOST },
            WhenAbsent::Is(Literal::Whole(1)),
            "Number of identical sources, named x.1, x.2 and so on; 0 means none.",
        ),
        START,
        JITTER,
        DSCP,
        FROM,
        TO,
        key(
            "source",
            Kind::Form(&SOURCE),
            WhenAbsent::Required("{ constant = { rate = \"1 Mbit/s\" } }"),
            "When packets are sent: one of the sources below.",
        ),
        key(
            "group",
            Kind::Text,
            WhenAbsent::Words("the name of this source: all its copies are one group"),
            "The summary counts all sources of a group together too.",
        ),
        key(
            "delays",
            Kind::Flag,
            WhenAbsent::Words("true; false where the source is `messages`"),
            "Measures how long each packet is on its way, and which are lost. At gates with `slotted` this makes a \
             run a quarter longer.",
        ),
    ],
);

const MOST: u64 = 100_000;
const COUNT: &str = "Number of identical flows, named x.1, x.2 and so on.";

const START: Key = key(
    "start",
    Kind::AnyOf(&[TIME_0, Kind::Form(&UNIFORM)]),
    text("0 s"),
    "When it starts sending: a time, or start.uniform for a random time in each replication.",
);

const JITTER: Key = key(
    "jitter",
    jitter::JITTER,
    text("0 s"),
    "Random delay of each packet between the sender and the first gate. A time is the longest delay of a uniform \
     distribution; the laws below give others. Packets keep their order. The report lists this delay as a gate \
     named jitter/x.",
);

const DSCP: Key = key(
    "dscp",
    codepoints::DSCP,
    text("DF"),
    "The codepoint of its packets, in both directions: gates with classes and tins of CAKE tell them apart by it \
     (`gate.x.classes`, `gate.x.queue.aqm.cake`). \
     Captures show it, and packets of the live engine carry it.",
);

const FROM: Key = key(
    "from",
    Kind::Text,
    WhenAbsent::Words("a host of its own, as has each copy"),
    "Name of the host that sends its data. Flows and background sources with one name share a host, which matters at gates with \
     `queue.aqm.cake`.",
);

const TO: Key = key(
    "to",
    Kind::Text,
    WhenAbsent::Words("a host of its own, as has each copy"),
    "Name of the host that its data go to; ACKs come from there.",
);

const UNIFORM: Section = one_of(
    "Random start",
    "",
    &[key(
        "uniform",
        Kind::Tuple(&[TIME_0, TIME_0]),
        WhenAbsent::Required("[\"0 s\", \"1 s\"]"),
        "Drawn uniformly from the first time to the second.",
    )],
);

const APP: Kind =
    Kind::AnyOf(&[Kind::Choice(&[word("bulk", "the sender always has data to send")]), Kind::Form(&APPS)]);

const APPS: Section = beside(
    &["read"],
    one_of(
        "Applications",
        "One of these, and `read`.",
        &[
            key("transfer", SIZE, WhenAbsent::Words("not used"), "Sends this many user bytes and stops."),
            key(
                "constant",
                Kind::Form(&section(
                    "Constant writes",
                    "Writes of a fixed size at a constant rate.",
                    &[USER_RATE, WRITE],
                )),
                WhenAbsent::Words("not used"),
                "Writes of a fixed size at a constant rate.",
            ),
            key(
                "on_off",
                Kind::Form(&section(
                    "On–off writes",
                    "Writes at a constant rate during on periods; nothing during off periods.",
                    &[USER_RATE, WRITE, ON, OFF],
                )),
                WhenAbsent::Words("not used"),
                "Writes at a constant rate during on periods; nothing during off periods.",
            ),
            key(
                "request",
                Kind::Form(&request::REQUEST),
                WhenAbsent::Words("not used"),
                "Request and response: the receiver of the flow sends requests, the sender answers them.",
            ),
            key(
                "video",
                Kind::Form(&video::VIDEO),
                WhenAbsent::Words("not used"),
                "Adaptive video: the receiver of the flow is a player that asks for segments.",
            ),
            key(
                "read",
                RATE,
                WhenAbsent::Words("at once"),
                "How fast the receiving application reads, in user bits per second. Where data come faster, the receive buffer \
             fills, the receiver's window closes, and the sender waits for it. Beside one of the applications, or alone \
             with \"bulk\".",
            ),
        ],
    ),
);

const SOURCE: Section = one_of(
    "Sources",
    "Exactly one.",
    &[
        key(
            "constant",
            Kind::Form(&section("Constant bit rate", "Evenly spaced packets.", &[IP_RATE, PACKET])),
            WhenAbsent::Words("not used"),
            "Evenly spaced packets.",
        ),
        key(
            "on_off",
            Kind::Form(&section(
                "On–off packets",
                "Evenly spaced packets during on periods; none during off periods.",
                &[IP_RATE, PACKET, ON, OFF],
            )),
            WhenAbsent::Words("not used"),
            "Evenly spaced packets during on periods; none during off periods.",
        ),
        key(
            "poisson",
            Kind::Form(&section("Poisson packets", "Packets with exponential gaps.", &[IP_RATE, PACKET])),
            WhenAbsent::Words("not used"),
            "Packets with exponential gaps.",
        ),
        key(
            "messages",
            Kind::Form(&MESSAGES),
            WhenAbsent::Words("not used"),
            "Messages that AAL5 cuts into cells; all cells of a message are sent at once.",
        ),
        key(
            "media",
            Kind::Form(&media::MEDIA),
            WhenAbsent::Words("not used"),
            "Frames of a video or of sound, each in packets.",
        ),
    ],
);

const MESSAGES: Section = section(
    "Messages of cells",
    "Messages for cell gates. Each message is one packet, which AAL5 cuts into `length` cells.",
    &[
        key("load", RATE, WhenAbsent::Required("\"12.5 Mbit/s\""), "Mean rate in bits of 53-byte cells."),
        key(
            "gaps",
            Kind::Choice(&[
                word("exponential", "random gaps: messages form a Poisson process"),
                word("constant", "equal gaps; the first message is sent at the start"),
            ]),
            text("exponential"),
            "Times from the start of one message to the start of the next.",
        ),
        key(
            "length",
            Kind::AnyOf(&[quantity(Dim::Cells), Kind::Form(&LENGTH)]),
            WhenAbsent::Required("{ geometric = \"25 cells\", max = \"200 cells\" }"),
            "Cells in a message: a number of cells, or a random number for each message.",
        ),
    ],
);

const LENGTH: Section = section(
    "Random length of messages",
    "A geometric distribution cut off above `max`. Its parameter is chosen so that the mean is the one given.",
    &[
        key("geometric", quantity(Dim::Cells), WhenAbsent::Required("\"25 cells\""), "The mean."),
        key(
            "max",
            quantity(Dim::Cells),
            WhenAbsent::Words("the number of cells of a packet of 65535 B"),
            "The longest message.",
        ),
    ],
);

const USER_RATE: Key =
    key("rate", RATE, WhenAbsent::Required("\"1 Mbit/s\""), "Rate of user data while the source is on.");
const WRITE: Key = key("write", SIZE, text("1460 B"), "Size of each write.");
const IP_RATE: Key = key(
    "rate",
    RATE,
    WhenAbsent::Required("\"1 Mbit/s\""),
    "Rate of IP packets, headers included, while the source is on.",
);
const PACKET: Key = key("packet", SIZE, text("1500 B"), "Size of each IP packet.");
pub(super) const HOLDING: Kind = Kind::AnyOf(&[TIME, Kind::Form(&EXPONENTIAL)]);
const ON: Key = key(
    "on",
    HOLDING,
    WhenAbsent::Required("\"1 s\""),
    "Length of on periods: a time, or { exponential = \"1 s\" }.",
);
const OFF: Key = key(
    "off",
    HOLDING,
    WhenAbsent::Required("\"1 s\""),
    "Length of off periods: a time, or { exponential = \"1 s\" }.",
);
const EXPONENTIAL: Section = one_of(
    "Random length",
    "",
    &[key("exponential", TIME, WhenAbsent::Required("\"1 s\""), "Exponential with this mean.")],
);
