//! One record of the scoreboard with its marks, and what an acknowledgement removes.

use crate::units::Time;

/// Received out of order, says the receiver.
pub(in crate::tcp) const SACKED: u32 = 1 << 24;
/// Taken for lost.
pub(in crate::tcp) const LOST: u32 = 1 << 25;
/// Retransmitted since the last time-out; the copy is in flight.
pub(in crate::tcp) const RESENT: u32 = 1 << 26;
/// Sent more than once, ever (Karn's rule looks at this).
pub(in crate::tcp) const REPEATED: u32 = 1 << 27;

pub(super) const LENGTH: u32 = SACKED - 1;

/// The longest segment that a record can hold.
pub(in crate::tcp) const LONGEST: u32 = LENGTH;

/// One segment. 16 bytes: 1000 flows have many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::tcp) struct Sent {
    /// The last transmission.
    pub(super) at: Time,
    /// Low 32 bits of the offset behind the segment.
    pub(in crate::tcp) end: u32,
    /// Length in the low 24 bits, marks above.
    pub(super) word: u32,
}

impl Sent {
    #[inline]
    pub(in crate::tcp) fn at(self) -> Time {
        self.at
    }

    #[inline]
    pub(in crate::tcp) fn len(self) -> u32 {
        self.word & LENGTH
    }

    #[inline]
    pub(in crate::tcp) fn marked(self, mark: u32) -> bool {
        self.word & mark != 0
    }

    /// Bytes by which this record makes the pipe smaller than the bytes outstanding.
    pub(super) fn hole(self) -> i64 {
        let len = i64::from(self.len());
        if self.marked(SACKED) {
            return len;
        }
        let lost = if self.marked(LOST) { len } else { 0 };
        lost - if self.marked(RESENT) { len } else { 0 }
    }

    /// It has marks: it was SACKed, lost or sent twice.
    #[inline]
    pub(in crate::tcp) fn is_marked(self) -> bool {
        self.word > LENGTH
    }

    /// Copies of it on their way.
    pub(super) fn copies(self) -> u64 {
        u64::from(self.word & (RESENT | SACKED) == RESENT)
    }

    /// 1 if it is lost and was not sent again, else 0.
    #[inline]
    pub(super) fn waiting(self) -> u32 {
        u32::from(self.word & (LOST | SACKED | RESENT) == LOST)
    }
}

/// What a cumulative acknowledgement removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::tcp) struct Removed {
    /// Segments.
    pub(in crate::tcp) count: u32,
    /// All their marks.
    pub(in crate::tcp) marks: u32,
    /// Last transmission of the newest of them.
    pub(in crate::tcp) sent_at: Time,
    /// Of the newest that had not been SACKed, where any has marks.
    pub(super) reported: Option<Time>,
}

impl Removed {
    /// Karn's rule (RFC 6298 §3): none of them was sent more than once.
    #[inline]
    pub(in crate::tcp) fn measurable(&self) -> bool {
        self.count > 0 && self.marks & REPEATED == 0
    }

    /// When the newest was sent that this acknowledgement is the first to report.
    #[inline]
    pub(in crate::tcp) fn reported(&self) -> Option<Time> {
        if self.marks == 0 { Some(self.sent_at) } else { self.reported }
    }
}
