//! Keys of `gate.x.rate.markov`.

use crate::table::{Kind, Section, TIME, WhenAbsent, key, quantity_or_zero, section};
use crate::units::Dim;

pub(super) const MARKOV: Section = section(
    "Markov chain",
    "A rate that changes at random between states, independently of the traffic.",
    &[
        key(
            "rates",
            Kind::List { of: &quantity_or_zero(Dim::Rate), min: 2 },
            WhenAbsent::Required("[\"10 Mbit/s\", \"5 Mbit/s\"]"),
            "The rate in each state.",
        ),
        key(
            "mean_holding",
            Kind::List { of: &TIME, min: 2 },
            WhenAbsent::Required("[\"1 s\", \"1 s\"]"),
            "The mean time in each state.",
        ),
        key(
            "step",
            TIME,
            WhenAbsent::Words("exponential holding times"),
            "Makes time discrete: the state can change only at the end of a slot of this length, with probability \
             step / mean holding.",
        ),
        key(
            "transitions",
            Kind::List { of: &Kind::List { of: &Kind::Probability, min: 1 }, min: 1 },
            WhenAbsent::Words("a ring: each state is followed by the next"),
            "Row i has the probabilities of the states that follow state i. They add up to 1; the diagonal is 0.",
        ),
        key(
            "initial",
            Kind::Whole { min: 0, max: 1_000_000 },
            WhenAbsent::Words("drawn from the stationary distribution"),
            "The state at the start; 0 is the first.",
        ),
    ],
);
