//! `flow.x.app.request` and `[server.x]`.

use super::{Default, Key, Kind, Literal, RATE, SIZE, Section, TIME, key, one_of, section, text, word};

pub(crate) const REQUEST: Section = section(
    "Requests",
    "The end of the flow's path is a client, the beginning answers: requests go on `back`, responses on `path`, \
     and each acknowledges the other's data. A response time runs from the client's wish to the last byte of the \
     response in order.",
    &[
        key(
            "server",
            Kind::Text,
            Default::Words("requests are answered at once"),
            "Name of the server that answers.",
        ),
        key("size", SIZES, text("100 B"), "User bytes of a request: a size, or a law below."),
        key(
            "response",
            SIZES,
            Default::Required("\"1 MB\""),
            "User bytes of a response: a size, or a law below.",
        ),
        key(
            "think",
            Kind::AnyOf(&[TIME, Kind::Form(&THINK), Kind::List { of: &TIME, min: 1 }]),
            Default::Required("{ exponential = \"5 s\" }"),
            "Time before each request: a time, exponential, or a list that is gone through again and again.",
        ),
        key(
            "loop",
            Kind::Choice(&[
                word("closed", "it begins with the last byte of the response before"),
                word("open", "it begins with the request before: requests come whatever became of others"),
            ]),
            text("closed"),
            "What a think time begins with; the first begins with the flow.",
        ),
        key(
            "outstanding",
            Kind::AnyOf(&[
                Kind::Whole { min: 1, max: 1_000_000 },
                Kind::Choice(&[word("many", "each is sent as soon as it is asked")]),
            ]),
            Default::Is(Literal::Whole(1)),
            "Requests without a response that the connection carries; further ones wait at the client.",
        ),
        key(
            "connection",
            Kind::Choice(&[
                word("persistent", "one for all requests; its window and estimates live on"),
                word("new", "one for each; it begins anew, with a handshake if tcp.handshake is true"),
            ]),
            text("persistent"),
            "Which connection carries a request. Live: a new one ends with FINs, as with HTTP/1.0.",
        ),
        key(
            "count",
            Kind::Whole { min: 1, max: i64::MAX as u64 },
            Default::Words("as many as there is time for"),
            "So many requests, then none.",
        ),
    ],
);

pub(crate) const SERVER: Section = section(
    "A server",
    "Works through whole requests in the order in which their last bytes come, for all flows that name it.",
    &[key(
        "rate",
        RATE,
        Default::Words("every response is ready at once"),
        "User bytes of a request and of its response are worked through at this rate, then the response is sent.",
    )],
);

const THINK: Section = one_of(
    "Random think time",
    "",
    &[key("exponential", TIME, Default::Required("\"5 s\""), "Exponential with this mean.")],
);

const SIZES: Kind = Kind::AnyOf(&[SIZE, Kind::Form(&LAWS)]);

const LAWS: Section = one_of(
    "Sizes of messages",
    "Exactly one. A drawn size is rounded down to whole bytes; it is at least 1 B.",
    &[
        key("exponential", SIZE, Default::Words("not used"), "Exponential with this mean."),
        key("pareto", Kind::Form(&PARETO), Default::Words("not used"), "A heavy tail."),
        key("lognormal", Kind::Form(&LOGNORMAL), Default::Words("not used"), "Its logarithm is normal."),
        key(
            "file",
            Kind::Text,
            Default::Words("not used"),
            "Path of a table, relative to the scenario file: a size in bytes and its cumulative probability on each \
             line, or recorded sizes, one a line.",
        ),
    ],
);

const MOST: Key = key("max", SIZE, text("1 TB"), "Larger draws are cut to this.");

const PARETO: Section = section(
    "Pareto sizes",
    "P(size > x) = (min / x)^shape.",
    &[
        key("min", SIZE, Default::Required("\"1 kB\""), "The smallest size."),
        key("shape", Kind::Number, Default::Required("1.2"), "The tail: the smaller, the heavier."),
        MOST,
    ],
);

const LOGNORMAL: Section = section(
    "Log-normal sizes",
    "The natural logarithm of a size is normal.",
    &[
        key("median", SIZE, Default::Required("\"10 kB\""), "Half of the sizes are smaller."),
        key("sigma", Kind::Number, Default::Required("1.5"), "Deviation of the logarithm."),
        MOST,
    ],
);

pub(crate) const SERVERS: &str = "Who answers the requests of flows.";
