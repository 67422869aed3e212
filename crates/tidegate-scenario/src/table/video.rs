//! `flow.x.app.video`.

use super::advice::IGNORE;
use super::{
    Key, Kind, Literal, NUMBER, NUMBER_0, RATE, SIZE, Section, TIME, WhenAbsent, Word, key, one_of, section,
    text, word,
};

pub(super) const VIDEO: Section = section(
    "Video",
    "The receiver of the flow plays a video that comes in segments, each in one of several bitrates: it asks for a segment, the sender \
     answers with its bytes, and a rule chooses the bitrate of the next. Requests travel on `back`, segments on `path`.",
    &[
        key(
            "ladder",
            Kind::List { of: &RATE, min: 1 },
            WhenAbsent::Required("[\"300 kbit/s\", \"750 kbit/s\", \"1850 kbit/s\"]"),
            "The bitrates, rising.",
        ),
        key("segment", TIME, text("4 s"), "Media time of a segment."),
        key(
            "length",
            TIME,
            WhenAbsent::Words("longer than the run"),
            "Media time of the video; its last segment is whole.",
        ),
        key(
            "sizes",
            Kind::Text,
            WhenAbsent::Words("bitrate times time"),
            "A file of the segments' sizes: a line for each segment, with a size in bytes for each bitrate of the ladder, or JSON as SABRE has it. After the last line \
             comes the first again.",
        ),
        key(
            "buffer",
            TIME,
            text("60 s"),
            "Most media time in the player's buffer: the next segment is asked for when it fits.",
        ),
        key(
            "join",
            TIME,
            WhenAbsent::Words("one segment"),
            "Playback begins when so much media time is in the buffer.",
        ),
        key(
            "resume",
            TIME,
            WhenAbsent::Words("as `join`"),
            "After the buffer was empty, playback goes on when so much is in it.",
        ),
        key(
            "rule",
            Kind::AnyOf(&[Kind::Python, Kind::Choice(RULE_WORDS), Kind::Form(&RULE)]),
            text("throughput"),
            "How the player chooses a bitrate. \"python:mine.py:Mine\": the class Mine in the file mine.py, a subclass of tidegate.VideoRule.",
        ),
        key("request", SIZE, text("300 B"), "User bytes of a request for a segment."),
        key(
            "server",
            Kind::Text,
            WhenAbsent::Words("a segment is sent as soon as its request has arrived"),
            "Name of the [server] that answers.",
        ),
        key(
            "outstanding",
            Kind::Whole { min: 1, max: 1_000 },
            WhenAbsent::Is(Literal::Whole(1)),
            "How many segments may be asked for and not there yet; more than 1 is pipelining.",
        ),
        key(
            "advice",
            Kind::Choice(&[
                IGNORE,
                word(
                    "cap",
                    "no bitrate is chosen above `advice_share` of the advice in force, but the lowest",
                ),
            ]),
            text("ignore"),
            "What the player makes of the throughput advice of gates (`gate.x.advice`). Not live.",
        ),
        key(
            "advice_share",
            Kind::Share,
            text("90%"),
            "With advice = \"cap\": the rest is for headers, and for the buffer to grow.",
        ),
        key(
            "qoe",
            Kind::Form(&QOE),
            WhenAbsent::Words("its defaults"),
            "What the viewer minds: the weights of the linear quality of experience (Yin and others, SIGCOMM 2015).",
        ),
    ],
);

const RULE_WORDS: &[Word] = &[
    word("throughput", "`throughput` with its defaults"),
    word("bba", "`bba` with its defaults"),
    word("bola", "`bola` with its defaults"),
    word("mpc", "`mpc` with its defaults"),
    word("robust_mpc", "`robust_mpc` with its defaults"),
];

const RULE: Section = one_of(
    "Rules of players",
    "Exactly one.",
    &[
        key("fixed", RATE, WhenAbsent::Words("not used"), "Always this bitrate of the ladder."),
        key("throughput", Kind::Form(&THROUGHPUT), WhenAbsent::Words("not used"), THROUGHPUT.about),
        key("bba", Kind::Form(&BBA), WhenAbsent::Words("not used"), BBA.about),
        key("bola", Kind::Form(&BOLA), WhenAbsent::Words("not used"), BOLA.about),
        key("mpc", Kind::Form(&MPC), WhenAbsent::Words("not used"), MPC.about),
        key("robust_mpc", Kind::Form(&ROBUST_MPC), WhenAbsent::Words("not used"), ROBUST_MPC.about),
    ],
);

const SAMPLES: Key = key(
    "samples",
    Kind::Whole { min: 1, max: 1_000 },
    WhenAbsent::Is(Literal::Whole(5)),
    "Of how many segments the harmonic mean of the throughput is.",
);

const HORIZON: Key = key(
    "horizon",
    Kind::Whole { min: 1, max: 8 },
    WhenAbsent::Is(Literal::Whole(5)),
    "How many segments are looked ahead.",
);

const THROUGHPUT: Section = section(
    "Throughput",
    "The highest bitrate that is not above `safety` times the harmonic mean of the last throughputs.",
    &[key("safety", NUMBER, WhenAbsent::Words("0.9"), "The factor."), SAMPLES],
);

const BBA: Section = section(
    "BBA-0",
    "The buffer chooses (Huang and others, SIGCOMM 2014): the lowest bitrate up to `reservoir`, the highest from `cushion` above it, and a \
     line between, with hysteresis.",
    &[
        key(
            "reservoir",
            TIME,
            WhenAbsent::Words("3/8 of `buffer`, as 90 of 240 s"),
            "Up to this the lowest bitrate is chosen.",
        ),
        key(
            "cushion",
            TIME,
            WhenAbsent::Words("21/40 of `buffer`, as 126 of 240 s"),
            "So much above the reservoir the highest is.",
        ),
    ],
);

const BOLA: Section = section(
    "BOLA",
    "The bitrate with the best utility for its bytes at this buffer (Spiteri and others, INFOCOM 2016), with logarithmic utilities.",
    &[key(
        "gamma_p",
        NUMBER,
        WhenAbsent::Words("5"),
        "γp: the weight of an empty buffer beside the utility.",
    )],
);

const MPC: Section = section(
    "MPC",
    "Model predictive control (Yin and others, SIGCOMM 2015): the first step of the sequence with the best quality of experience, if the \
     link keeps the harmonic mean of the last throughputs.",
    &[HORIZON, SAMPLES],
);

const ROBUST_MPC: Section = section(
    "RobustMPC",
    "As `mpc`, with the mean divided by one plus its largest relative error of late.",
    &[HORIZON, SAMPLES],
);

const QOE: Section = section(
    "Quality of experience",
    "The sum of the bitrates of the segments in Mbit/s, less these.",
    &[
        key("switch", NUMBER_0, WhenAbsent::Words("1"), "For each Mbit/s by which the bitrate changes."),
        key("stall", NUMBER_0, WhenAbsent::Words("3"), "For each second of rebuffering, in Mbit/s."),
        key("join", NUMBER_0, WhenAbsent::Words("3"), "For each second until playback begins, in Mbit/s."),
    ],
);
