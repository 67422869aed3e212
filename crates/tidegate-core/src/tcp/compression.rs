//! Linux's compression of ACKs: while a gap is open, only the first segments that come ahead of it are answered one by one
//! (`__tcp_ack_snd_check` of Linux 6.18; `net.ipv4.tcp_comp_sack_*`).

use crate::units::Span;

/// Segments that are answered one by one (`TCP_FASTRETRANS_THRESH`).
const ONE_BY_ONE: u32 = 3;
/// ACKs that one stands for at most (`tcp_comp_sack_nr`).
const MOST: u32 = 44;
/// An ACK is put off for a twentieth of the round trip, this at most (`tcp_comp_sack_delay_ns`) ...
const LONGEST: Span = Span::from_millis(1);
/// ... and as late as its timer may go off (`tcp_comp_sack_slack_ns`).
const SLACK: Span = Span::from_micros(100);

/// The ACKs that one gap has had, and those that are put off.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Compression {
    /// Where the gap begins.
    gap: u64,
    /// Segments ahead of it that were answered one by one.
    answered: u32,
    /// ACKs that the next one stands for.
    pub(super) held: u32,
}

impl Compression {
    /// New data came while a gap is open at offset `gap`: whether they are answered at once.
    pub(super) fn answers(&mut self, gap: u64) -> bool {
        if self.gap != gap {
            (self.gap, self.answered) = (gap, 0);
        }
        if self.answered < ONE_BY_ONE {
            self.answered += 1;
            return true;
        }
        self.held += 1;
        self.held > MOST
    }

    /// How long an ACK is put off where a round trip takes `rtt`.
    pub(super) fn delay(rtt: Span) -> Span {
        LONGEST.min(Span::from_picos(rtt.picos() / 20)) + SLACK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_are_answered_then_forty_four_held() {
        let mut compression = Compression::default();
        let answers: Vec<bool> = (0..48).map(|_| compression.answers(1000)).collect();
        assert_eq!(answers.iter().filter(|at_once| **at_once).count(), 4);
        assert!(answers[..3].iter().all(|at_once| *at_once) && answers[47]);
        compression.held = 0;
        // Another gap begins again.
        assert!(compression.answers(2000) && compression.answers(2000) && compression.answers(2000));
        assert!(!compression.answers(2000));
    }

    #[test]
    fn a_short_round_trip_waits_less() {
        assert_eq!(Compression::delay(Span::from_millis(40)), Span::from_micros(1100));
        assert_eq!(Compression::delay(Span::from_millis(4)), Span::from_micros(300));
    }
}
