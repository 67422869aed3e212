//! Random delays, of gates and of senders.

use super::{Kind, Section, TIME_0, WhenAbsent, key, one_of};

pub(super) const JITTER: Kind = Kind::AnyOf(&[TIME_0, Kind::Form(&RANDOM_DELAY)]);

const RANDOM_DELAY: Section = one_of(
    "Random delay",
    "Drawn for each packet, from a random stream of its own.",
    &[
        key(
            "uniform",
            TIME_0,
            WhenAbsent::Required("\"5 ms\""),
            "Uniform from 0 to this. `jitter = X` is short for it.",
        ),
        key("exponential", TIME_0, WhenAbsent::Required("\"1 ms\""), "Exponential with this mean."),
    ],
);
