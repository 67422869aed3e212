//! Rate laws that have a table of their own, one file for each: `gate.x.rate.NAME`.

pub(crate) mod abr;
pub(crate) mod cellreplay;
pub(crate) mod dtm;
pub(crate) mod follow;
pub(crate) mod gcra;
pub(crate) mod markov;
pub(crate) mod reserve;
pub(crate) mod steps;
pub(crate) mod token_bucket;
pub(crate) mod trace;
