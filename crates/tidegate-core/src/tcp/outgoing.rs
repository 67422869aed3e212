//! What leaves an endpoint, before it is written as a segment.

use crate::unit::HeldBy;

/// A segment that leaves now, in two words, so that a call returns it in registers:
/// [`super::Endpoint::write_segment`] makes a header of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Offset of the first byte in the stream.
    start: u64,
    /// The length in the low 32 bits, then the marks, in the highest byte what had held it back.
    what: u64,
}

/// Sent before.
const AGAIN: u64 = 1 << 32;
/// A SYN; it occupies no offset.
const SYN: u64 = 1 << 33;
/// The last of what was written.
const PUSH: u64 = 1 << 34;
/// Says more than a [`super::Header`] does.
const WHOLE: u64 = 1 << 35;
/// The stream ends behind it.
const FIN: u64 = 1 << 36;
/// Ends the connection at once.
const RST: u64 = 1 << 37;
const HELD: u32 = 56;

impl Outgoing {
    /// Nothing leaves.
    pub(super) const NOTHING: Outgoing = Outgoing { start: 0, what: u64::MAX };

    #[inline]
    pub(super) fn new(start: u64, len: u32) -> Outgoing {
        Outgoing { start, what: u64::from(len) }
    }

    /// Sent before.
    #[inline]
    pub(super) fn again(self) -> Outgoing {
        self.with(AGAIN)
    }

    #[inline]
    pub(super) fn syn(self) -> Outgoing {
        self.with(SYN)
    }

    /// Its last byte stands for the end of the stream: FIN has a number, and is no user byte.
    pub(super) fn ending(self) -> Outgoing {
        Outgoing { what: self.what - 1, ..self }.with(FIN)
    }

    /// A reset.
    pub(super) fn reset(self) -> Outgoing {
        self.with(RST)
    }

    #[inline]
    pub(super) fn push_if(self, all: bool) -> Outgoing {
        self.with(if all { PUSH } else { 0 })
    }

    /// Marks a segment that says more than a [`super::Header`] does: SACK blocks, or anything of ECN.
    #[inline]
    pub(super) fn whole_if(self, whole: bool) -> Outgoing {
        self.with(if whole { WHOLE } else { 0 })
    }

    #[inline]
    pub(super) fn held_back_by(self, held_by: HeldBy) -> Outgoing {
        self.with((held_by as u64) << HELD)
    }

    #[inline]
    fn with(self, mark: u64) -> Outgoing {
        Outgoing { what: self.what | mark, ..self }
    }

    /// `None`: nothing leaves.
    #[inline]
    pub(super) fn get(self) -> Option<Outgoing> {
        (self.what != Outgoing::NOTHING.what).then_some(self)
    }

    /// Offset of the first byte.
    #[inline]
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// User bytes.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u32 {
        self.what as u32
    }

    /// Whether it has no user bytes.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it was sent before.
    #[inline]
    #[must_use]
    pub fn is_retransmission(&self) -> bool {
        self.what & AGAIN != 0
    }

    /// Whether it has SYN, FIN or RST.
    #[inline]
    pub(super) fn is_control(&self) -> bool {
        self.what & (SYN | FIN | RST) != 0
    }

    pub(super) fn is_syn(&self) -> bool {
        self.what & SYN != 0
    }

    pub(super) fn is_reset(&self) -> bool {
        self.what & RST != 0
    }

    #[inline]
    pub(super) fn is_pushed(&self) -> bool {
        self.what & PUSH != 0
    }

    /// Whether a [`super::Header`] says all that this segment does: it has no SYN, FIN or RST, and neither SACK blocks nor anything of ECN.
    #[inline]
    #[must_use]
    pub fn fits_header(&self) -> bool {
        self.what & (SYN | FIN | RST | WHOLE) == 0
    }

    /// The reason it was not sent earlier.
    #[inline]
    #[must_use]
    pub fn held_by(&self) -> HeldBy {
        match self.what >> HELD {
            0 => HeldBy::Application,
            1 => HeldBy::CongestionWindow,
            2 => HeldBy::ReceiverWindow,
            _ => HeldBy::Pacing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mark_is_its_own() {
        let marks =
            |sent: Outgoing| [sent.is_retransmission(), sent.is_syn(), sent.is_pushed(), sent.fits_header()];
        let plain = Outgoing::new(1 << 40, u32::MAX);
        assert_eq!(marks(plain), [false, false, false, true]);
        assert_eq!(marks(plain.again()), [true, false, false, true]);
        assert_eq!(marks(plain.syn()), [false, true, false, false]);
        assert_eq!(marks(plain.push_if(true)), [false, false, true, true]);
        assert_eq!(marks(plain.whole_if(true)), [false, false, false, false]);
        let all = plain.again().syn().push_if(true).whole_if(true).held_back_by(HeldBy::ReceiverWindow);
        assert_eq!(marks(all), [true, true, true, false]);
        assert_eq!((all.start(), all.len(), all.is_empty()), (1 << 40, u32::MAX, false));
        assert_eq!((all.held_by(), plain.held_by()), (HeldBy::ReceiverWindow, HeldBy::Application));
        let none = plain.push_if(false).whole_if(false).held_back_by(HeldBy::CongestionWindow);
        assert_eq!((marks(none), none.held_by()), (marks(plain), HeldBy::CongestionWindow));
        // Marks are set, not turned over.
        assert_eq!(marks(all.again().syn().push_if(true).whole_if(true)), marks(all));
        let (last, reset) = (Outgoing::new(7, 1).push_if(true).ending(), plain.reset());
        assert_eq!((marks(last), last.len(), last.start()), ([false, false, true, false], 0, 7));
        assert_eq!(
            (marks(reset), reset.is_reset(), last.is_reset()),
            ([false, false, false, false], true, false)
        );
        assert!(
            last.is_control()
                && reset.is_control()
                && plain.syn().is_control()
                && !plain.again().is_control()
        );
        assert!(Outgoing::new(5, 0).is_empty());
        assert_eq!((Outgoing::NOTHING.get(), all.get()), (None, Some(all)));
    }
}
