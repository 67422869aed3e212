//! Rules of users: what they are told, and the function that makes one, which the bindings set.

use std::fmt::Debug;
use std::sync::OnceLock;

use crate::plan::{PythonClass, VideoPlan};
use crate::units::{Rate, Span, Time};

/// What a rule is told when the next segment is to be asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The segment's number; the first is 0.
    pub number: u64,
    /// When it is.
    pub at: Time,
    /// Media time in the buffer.
    pub buffered: Span,
    /// The place in the ladder of the segment before; `None`: this is the first.
    pub last: Option<usize>,
    /// User bytes of the segment at each bitrate of the ladder.
    pub bytes: Vec<u64>,
    /// User bytes of the newest segment that has come, and how long it took; `None`: none has.
    pub came: Option<(u64, Span)>,
    /// The throughput advice in force ([`crate::advice`]); `None`: none is.
    pub advice: Option<Rate>,
}

/// A rule that is written elsewhere.
pub trait ChoosesBitrate: Debug + Send {
    /// The place in the ladder of the next segment's bitrate; one beyond it is the highest.
    fn choose(&mut self, choice: &Choice) -> usize;
}

/// Makes a user's rule for one player. It answers always: where the user's code fails, it notes the failure and gives a rule that takes
/// the lowest bitrate.
pub type Maker = fn(&PythonClass, &VideoPlan) -> Box<dyn ChoosesBitrate>;

static MAKER: OnceLock<Maker> = OnceLock::new();

/// Says who makes the rules of users, once in a process; later calls change nothing.
pub fn set_maker(maker: Maker) {
    // The first one stays.
    let _ = MAKER.set(maker);
}

/// Whether anybody does.
#[must_use]
pub fn can_make() -> bool {
    MAKER.get().is_some()
}

pub(super) fn make(own: &PythonClass, plan: &VideoPlan) -> Box<dyn ChoosesBitrate> {
    let Some(maker) = MAKER.get() else {
        unreachable!("{} has no maker; the engines refuse such plans before they start", own.name)
    };
    maker(own, plan)
}
