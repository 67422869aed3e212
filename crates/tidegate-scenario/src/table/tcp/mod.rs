//! `[flow.x.tcp]` and `[tcp.x]`: every choice of a TCP connection.

mod answers;
mod losses;
mod sending;

use answers::ANSWERS;
use losses::LOSSES;
use sending::SENDING;

use super::{Key, Kind, Section, WhenAbsent, key, section};

/// The keys of a flow's own TCP.
pub(crate) const TCP: Section = section("TCP", ABOUT, &ALL);

/// The keys of a named set: all but `use`.
pub(crate) const SET: Section = section("A named TCP", ABOUT, &CHOICES);

const ABOUT: &str = "`base` sets the defaults of all other keys. Each key given here replaces its default; `rto` \
    and `delayed_ack` are replaced as a whole.";

const USE: Key = key(
    "use",
    Kind::Text,
    WhenAbsent::Words("no set"),
    "Takes the settings of [tcp.NAME]; a key given here replaces the one in that set.",
);

const CHOICES: [Key; SENDING.len() + LOSSES.len() + ANSWERS.len()] = {
    let sending_and_losses: [Key; SENDING.len() + LOSSES.len()] = joined(SENDING, LOSSES);
    joined(&sending_and_losses, ANSWERS)
};

const ALL: [Key; CHOICES.len() + 1] = joined(&[USE], &CHOICES);

/// One list behind the other.
const fn joined<const N: usize>(one: &[Key], other: &[Key]) -> [Key; N] {
    let mut all = [USE; N];
    let mut place = 0;
    while place < N {
        all[place] = if place < one.len() { one[place] } else { other[place - one.len()] };
        place += 1;
    }
    all
}
