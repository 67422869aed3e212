//! Keys of `gate.x.rate.steps`: rates one after the other.

use crate::table::{Kind, Section, TIME, TIME_0, WhenAbsent, key, quantity_or_zero, section, short};
use crate::units::Dim;

pub(super) const STEPS: Section = short(
    "points",
    section(
        "Steps",
        "Rates that change at given times. `rate.steps = [[\"0 s\", \"10 Mbit/s\"], [\"6 s\", \"5 Mbit/s\"]]` is \
         short for `rate.steps.points`.",
        &[
            key(
                "points",
                Kind::List { of: &Kind::Tuple(&[TIME_0, quantity_or_zero(Dim::Speed)]), min: 1 },
                WhenAbsent::Required("[[\"0 s\", \"10 Mbit/s\"], [\"6 s\", \"5 Mbit/s\"]]"),
                "Pairs of a time and the rate from then on; the first time is 0.",
            ),
            key(
                "repeat",
                TIME,
                WhenAbsent::Words("the last rate holds for ever"),
                "The steps start again after this time.",
            ),
        ],
    ),
);
