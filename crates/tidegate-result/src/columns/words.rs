//! The words that stand for the codes of a column.

use tidegate_core::gate::DropReason;

use crate::rows::MarkKind;

/// What congestion control is doing; the codes of [`FlowRow::phase`](crate::FlowRow::phase).
pub const PHASES: &[&str] = &["slow start", "congestion avoidance", "recovery", "loss"];
/// What keeps a sender from sending more; the codes of [`FlowRow::held_by`](crate::FlowRow::held_by). The last one is a congestion
/// window that is small because of a policer.
pub const HELD_BY: &[&str] = &["application", "congestion window", "receiver window", "pacing", "policer"];
/// The code of the policer among them.
pub const HELD_BY_POLICER: u8 = 4;
/// Why a packet was dropped; in the order of [`DropReason::ALL`].
pub const DROP_REASONS: &[&str; DropReason::COUNT] = &{
    let mut words = [""; DropReason::COUNT];
    let mut place = 0;
    while place < words.len() {
        words[place] = DropReason::ALL[place].name();
        place += 1;
    }
    words
};
/// What a sender did; in the order of [`MarkKind`].
pub const MARK_KINDS: &[&str; MarkKind::FastRetransmit as usize + 1] = &["timeout", "fast retransmit"];

#[cfg(test)]
mod tests {
    use tidegate_core::unit::HeldBy;

    use super::*;

    #[test]
    fn codes_are_places_in_the_lists_of_words() {
        let word = |reason: DropReason| DROP_REASONS[reason as usize];
        assert_eq!(word(DropReason::QueueFull), "queue full");
        assert_eq!(word(DropReason::Policed), "policed");
        assert!(DropReason::ALL.iter().enumerate().all(|(place, reason)| *reason as usize == place));
        assert_eq!(HELD_BY[HeldBy::Application as usize], "application");
        assert_eq!(HELD_BY[HeldBy::Pacing as usize], "pacing");
        assert_eq!(HELD_BY[HELD_BY_POLICER as usize], "policer");
        assert_eq!(MARK_KINDS[MarkKind::FastRetransmit as usize], "fast retransmit");
    }
}
