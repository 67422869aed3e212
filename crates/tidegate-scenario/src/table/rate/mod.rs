//! `gate.x.rate`: the laws, one file each.

mod abr;
mod cellreplay;
mod dtm;
mod follow;
mod gcra;
mod markov;
mod steps;
mod token_bucket;
mod trace;

use super::pool::RESERVE;
use super::{Kind, Section, WhenAbsent, key, one_of};
use abr::ABR;
use cellreplay::CELLREPLAY;
use dtm::DTM;
use follow::FOLLOW;
use gcra::GCRA;
use markov::MARKOV;
use steps::STEPS;
use token_bucket::TOKEN_BUCKET;
use trace::TRACE;

pub(super) const LAWS: Section = one_of(
    "Rate laws",
    "Use exactly one. Setting a key of another law replaces the law.",
    &[
        key("steps", Kind::Form(&STEPS), WhenAbsent::Words("not used"), STEPS.about),
        key("token_bucket", Kind::Form(&TOKEN_BUCKET), WhenAbsent::Words("not used"), TOKEN_BUCKET.about),
        key("markov", Kind::Form(&MARKOV), WhenAbsent::Words("not used"), MARKOV.about),
        key("trace", Kind::Form(&TRACE), WhenAbsent::Words("not used"), TRACE.about),
        key("cellreplay", Kind::Form(&CELLREPLAY), WhenAbsent::Words("not used"), CELLREPLAY.about),
        key("dtm", Kind::Form(&DTM), WhenAbsent::Words("not used"), DTM.about),
        key("abr", Kind::Form(&ABR), WhenAbsent::Words("not used"), ABR.about),
        key("gcra", Kind::Form(&GCRA), WhenAbsent::Words("not used"), GCRA.about),
        key("follow", Kind::Form(&FOLLOW), WhenAbsent::Words("not used"), FOLLOW.about),
        key("reserve", Kind::Form(&RESERVE), WhenAbsent::Words("not used"), RESERVE.about),
    ],
);
