//! Delays that vary, of gates and of senders.

use super::{Kind, Section, TIME_0, WhenAbsent, key, one_of, section, short, text};

pub(super) const JITTER: Kind = Kind::AnyOf(&[TIME_0, Kind::Form(&RANDOM_DELAY)]);

const RANDOM_DELAY: Section = one_of(
    "Random delay",
    "Drawn for each packet, from a random stream of its own; \"wakeup\" draws nothing.",
    &[
        key(
            "uniform",
            TIME_0,
            WhenAbsent::Required("\"5 ms\""),
            "Uniform from 0 to this. `jitter = X` is short for it.",
        ),
        key("exponential", TIME_0, WhenAbsent::Required("\"1 ms\""), "Exponential with this mean."),
        key(
            "wakeup",
            Kind::Form(&WAKEUP),
            WhenAbsent::Required("{ latency = \"40 us\" }"),
            "A packet that comes after a pause is late, and what comes meanwhile leaves with it: a host whose processor sleeps.",
        ),
    ],
);

const WAKEUP: Section = short(
    "latency",
    section(
        "Wake-up",
        "Nothing is drawn. Where packets come in bursts, the first of each is late and the others are not, so that a burst \
         contracts from one round trip to the next: behind a policer with a small bucket that costs goodput.",
        &[
            key(
                "latency",
                TIME_0,
                WhenAbsent::Required("\"40 us\""),
                "How late the first packet after a pause is.",
            ),
            key("pause", TIME_0, text("2 ms"), "A pause: for longer than this no packet has left."),
        ],
    ),
);
