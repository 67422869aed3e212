//! How the delays of successive packets differ: the interarrival jitter of RFC 3550 §6.4.1.

use crate::units::{PICOS_PER_SECOND, Span};

/// The estimator of RFC 3550 §6.4.1, in the integers of its Appendix A.8, and the mean that it follows.
///
/// It takes packets in the order of their arrival. RFC 3550 counts in units of the media's timestamps; here the unit
/// is a picosecond, so that nothing is rounded away before it is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterarrivalJitter {
    /// Transit time of the packet that arrived last.
    last: Option<Span>,
    /// The estimate times 16, in picoseconds.
    scaled: u128,
    /// Sum of the differences in picoseconds, and how many there were.
    sum: u128,
    count: u64,
}

impl InterarrivalJitter {
    /// A packet has arrived that took so long.
    pub(super) fn note(&mut self, transit: Span) {
        if let Some(last) = self.last.replace(transit) {
            let difference = u128::from(transit.picos().abs_diff(last.picos()));
            self.sum += difference;
            self.count += 1;
            // RFC 3550 Appendix A.8: s->jitter += d - ((s->jitter + 8) >> 4).
            self.scaled = self.scaled + difference - ((self.scaled + 8) >> 4);
        }
    }

    /// J of RFC 3550 §6.4.1 after the packet that arrived last, in seconds, to the picosecond below; `None`: fewer
    /// than two packets arrived.
    #[must_use]
    pub fn estimate_s(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.scaled >> 4) as f64 / PICOS_PER_SECOND as f64)
    }

    /// Sum of |D(i − 1, i)| in picoseconds, and how many there were.
    #[must_use]
    pub fn differences(&self) -> (u128, u64) {
        (self.sum, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, in whole units of 16 ps so that A.8's rounding shows: transit times 100, 132, 116, 116.
    #[test]
    fn appendix_a8_by_hand() {
        let mut jitter = InterarrivalJitter::default();
        jitter.note(Span::from_picos(100));
        assert_eq!(jitter.estimate_s(), None);
        // |D| = 32: scaled 0 + 32 − (8 >> 4 = 0) = 32, J = 2.
        jitter.note(Span::from_picos(132));
        assert_eq!((jitter.scaled, jitter.estimate_s()), (32, Some(2e-12)));
        // |D| = 16: 32 + 16 − (40 >> 4 = 2) = 46, J = 46/16 = 2.
        jitter.note(Span::from_picos(116));
        assert_eq!((jitter.scaled, jitter.estimate_s()), (46, Some(2e-12)));
        // |D| = 0: 46 − (54 >> 4 = 3) = 43, J = 2.
        jitter.note(Span::from_picos(116));
        assert_eq!((jitter.scaled, jitter.estimate_s()), (43, Some(2e-12)));
        assert_eq!(jitter.differences(), (48, 3));
    }

    /// Where every difference is the same, the estimate comes to it: J' = J + (|D| − J)/16.
    #[test]
    fn a_constant_difference_is_the_estimate_in_the_end() {
        let mut jitter = InterarrivalJitter::default();
        for packet in 0..400 {
            jitter.note(Span::from_millis(10 + packet % 2 * 4));
        }
        let estimate = jitter.estimate_s().expect("there were packets");
        assert!((estimate - 0.004).abs() < 1e-9, "{estimate}");
        assert_eq!(jitter.differences(), (399 * 4_000_000_000, 399));
    }
}
