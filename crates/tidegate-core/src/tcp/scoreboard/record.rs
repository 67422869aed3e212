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

/// Shorter than a full segment, and counts as one in flight all the same (`tcp_packets_in_flight`).
pub(in crate::tcp) const SHORT: u32 = 1 << 28;

/// RACK took it for lost, and it was not sent again since: no transmission of it is looked at any more, also where it proves not to
/// be lost (`tcp_rack_detect_loss` takes it off the list of transmissions).
pub(in crate::tcp) const FOUND: u32 = 1 << 22;

/// The next segment left in the same packet. This says nothing of what became of the segment, and is no mark.
pub(in crate::tcp) const GOES_ON: u32 = 1 << 23;

pub(super) const LENGTH: u32 = FOUND - 1;
/// Below the marks.
const PLACE: u32 = SACKED.trailing_zeros();

/// The longest segment that a record can hold.
pub(in crate::tcp) const LONGEST: u32 = LENGTH;

/// One segment. 16 bytes: 1000 flows have many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::tcp) struct Sent {
    /// The last transmission.
    pub(super) at: Time,
    /// Low 32 bits of the offset behind the segment.
    pub(in crate::tcp) end: u32,
    /// Length in the low 22 bits, [`FOUND`], [`GOES_ON`], marks above.
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

    /// How it counts in the scoreboard's sums.
    #[inline]
    pub(super) fn standing(self) -> Standing {
        STANDINGS[(self.word >> PLACE) as usize % STANDINGS.len()]
    }

    /// It has marks: it was SACKed, lost or sent twice, or is short.
    #[inline]
    pub(in crate::tcp) fn is_marked(self) -> bool {
        self.word >= SACKED
    }
}

/// How a record counts in the scoreboard's sums.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    /// Lengths of the segment by which the pipe is smaller than the bytes outstanding.
    pub(super) holes: i8,
    /// Copies of it on their way.
    pub(super) copies: u8,
    /// 1 if it is lost and was not sent again.
    pub(super) waiting: u8,
    /// 1 if it has any mark.
    pub(super) marked: u8,
}

/// The standing of a record by its marks.
const STANDINGS: [Standing; 32] = {
    let mut standings = [Standing { holes: 0, copies: 0, waiting: 0, marked: 0 }; 32];
    let mut place = 0;
    while place < standings.len() {
        let marks = (place as u32) << PLACE;
        let (sacked, lost, resent) = (marks & SACKED != 0, marks & LOST != 0, marks & RESENT != 0);
        standings[place] = Standing {
            holes: if sacked { 1 } else { lost as i8 - resent as i8 },
            copies: (resent && !sacked) as u8,
            waiting: (lost && !resent && !sacked) as u8,
            marked: (marks != 0) as u8,
        };
        place += 1;
    }
    standings
};

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
