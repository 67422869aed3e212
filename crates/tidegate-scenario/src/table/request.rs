//! `flow.x.app.request` and `[server.x]`.

use super::{
    Key, Kind, Literal, NUMBER, RATE, SIZE, Section, TIME, WhenAbsent, key, one_of, section, text, word,
};

pub(crate) const REQUEST: Section = section(
    "Requests",
    "The receiver of the flow is a client and its sender answers: requests travel on `back`, responses on `path`, \
     and each acknowledges the other. The response time runs from the end of the client's think time until the last \
     byte of the response has arrived in order.",
    &[
        key(
            "server",
            Kind::Text,
            WhenAbsent::Words("the response starts as soon as the request has arrived"),
            "Name of the [server] that answers.",
        ),
        key(
            "size",
            SIZES,
            text("100 B"),
            "User bytes of a request: a size, or one of the distributions below.",
        ),
        key(
            "response",
            SIZES,
            WhenAbsent::Required("\"1 MB\""),
            "User bytes of a response: a size, or one of the distributions below.",
        ),
        key(
            "think",
            Kind::AnyOf(&[TIME, Kind::Form(&THINK), Kind::List { of: &TIME, min: 1 }]),
            WhenAbsent::Required("{ exponential = \"5 s\" }"),
            "Think time before each request: a time, { exponential = TIME }, or a list of times that is repeated.",
        ),
        key(
            "loop",
            Kind::Choice(&[
                word("closed", "at the last byte of the previous response"),
                word("open", "at the previous request, whether it has been answered or not"),
            ]),
            text("closed"),
            "When a think time begins. The first begins when the flow starts.",
        ),
        key(
            "outstanding",
            Kind::AnyOf(&[
                Kind::Whole { min: 1, max: 1_000_000 },
                Kind::Choice(&[word("many", "every request is sent at once")]),
            ]),
            WhenAbsent::Is(Literal::Whole(1)),
            "How many unanswered requests a connection may carry; further requests wait at the client.",
        ),
        key(
            "connection",
            Kind::Choice(&[
                word("persistent", "one connection carries all requests and keeps its window and estimates"),
                word("new", "each request opens a new connection, with a handshake if tcp.handshake is true"),
            ]),
            text("persistent"),
            "Whether requests share a connection. Live: a new connection ends with FINs, as in HTTP/1.0.",
        ),
        key(
            "count",
            Kind::Whole { min: 1, max: i64::MAX as u64 },
            WhenAbsent::Words("unlimited"),
            "Number of requests.",
        ),
    ],
);

pub(crate) const SERVER: Section = section(
    "A server",
    "A server that the flows naming it share. It serves one request at a time, in the order in which the last bytes \
     of the requests arrive.",
    &[key(
        "rate",
        RATE,
        WhenAbsent::Words("unlimited: a response is ready at once"),
        "Speed of the server. The user bytes of a request and its response, divided by this rate, are the time \
         before the response is sent.",
    )],
);

const THINK: Section = one_of(
    "Random think time",
    "",
    &[key("exponential", TIME, WhenAbsent::Required("\"5 s\""), "Exponential with this mean.")],
);

pub(super) const SIZES: Kind = Kind::AnyOf(&[SIZE, Kind::Form(&LAWS)]);

const LAWS: Section = one_of(
    "Sizes of messages",
    "Use exactly one. A random size is rounded down to whole bytes and is at least 1 B.",
    &[
        key("exponential", SIZE, WhenAbsent::Words("not used"), "Exponential with this mean."),
        key(
            "pareto",
            Kind::Form(&PARETO),
            WhenAbsent::Words("not used"),
            "Pareto distribution, with a heavy tail.",
        ),
        key("lognormal", Kind::Form(&LOGNORMAL), WhenAbsent::Words("not used"), "Log-normal distribution."),
        key(
            "file",
            Kind::Text,
            WhenAbsent::Words("not used"),
            "Path of a file, relative to the scenario file. Each line has a size in bytes and its cumulative \
             probability, or one recorded size.",
        ),
    ],
);

const MOST: Key = key("max", SIZE, text("1 TB"), "Larger random sizes are cut to this.");

const PARETO: Section = section(
    "Pareto sizes",
    "P(size > x) = (min / x)^shape.",
    &[
        key("min", SIZE, WhenAbsent::Required("\"1 kB\""), "The smallest size."),
        key(
            "shape",
            NUMBER,
            WhenAbsent::Required("1.2"),
            "Exponent of the tail: the smaller, the heavier the \
            tail.",
        ),
        MOST,
    ],
);

const LOGNORMAL: Section = section(
    "Log-normal sizes",
    "The natural logarithm of a size has a normal distribution.",
    &[
        key("median", SIZE, WhenAbsent::Required("\"10 kB\""), "The median: half of the sizes are smaller."),
        key("sigma", NUMBER, WhenAbsent::Required("1.5"), "Standard deviation of the natural logarithm."),
        MOST,
    ],
);

pub(crate) const SERVERS: &str = "Servers that answer the requests of flows.";
