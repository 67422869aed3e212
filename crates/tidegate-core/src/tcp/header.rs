//! What nearly all segments say, in a few words: a number, and where there are any a window, timestamps and PSH.

use super::endpoint::{Endpoint, State};
use super::outgoing::Outgoing;
use super::segment::{Segment, flags};
use super::timestamp;
use crate::units::Time;

/// What a segment says that has data or acknowledges some, and neither SYN, SACK blocks nor anything of ECN
/// ([`Outgoing::fits_header`]). A number alone is a header, and costs its reader no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The number of the first byte of its data; without data, what it acknowledges.
    pub number: u32,
    /// Receive window, as in [`Segment::window`]; [`Header::SAME_WINDOW`]: as the other end last said.
    pub window: u32,
    /// Timestamps, as in [`Segment::ts_val`] and [`Segment::ts_ecr`].
    pub ts_val: u32,
    /// See `ts_val`.
    pub ts_ecr: u32,
    /// Its [`flags`] beside ACK: PSH, or none.
    pub flags: u32,
}

impl Default for Header {
    fn default() -> Header {
        Header::of_number(0)
    }
}

impl Header {
    /// The window is not said. An end that sets no limit says the same: it has said so from the beginning.
    pub const SAME_WINDOW: u32 = u32::MAX;

    /// A header that says `number` and nothing else.
    #[inline(always)]
    #[must_use]
    pub fn of_number(number: u32) -> Header {
        Header { number, window: Header::SAME_WINDOW, ts_val: 0, ts_ecr: 0, flags: 0 }
    }

    /// Whether it has PSH.
    #[inline(always)]
    pub(super) fn is_pushed(&self) -> bool {
        self.flags & u32::from(flags::PSH) != 0
    }

    /// The window that it says, where the last one was `known`.
    #[inline(always)]
    pub(super) fn window_or(&self, known: u32) -> u32 {
        if self.window == Header::SAME_WINDOW { known } else { self.window }
    }
}

impl Endpoint {
    /// Whether its segments say no more than a number as a rule: there are no timestamps, no windows that move and nothing of ECN.
    #[must_use]
    pub fn says_numbers_alone(&self) -> bool {
        let config = &self.sender.config;
        !(config.timestamps || config.windows_move) && self.sender.marks.is_none()
    }

    /// Whether what comes has timestamps or windows that move, and the handshake is over.
    pub(super) fn reads_headers(&self) -> bool {
        let config = &self.sender.config;
        (config.timestamps || config.windows_move)
            && self.sender.marks.is_none()
            && self.state == State::Established
            && !self.syn_due
    }

    /// The header of what [`Endpoint::poll`] gave last, if that fits one: of data where there are any, else of an ACK.
    #[inline(always)]
    #[must_use]
    pub fn header(&self, now: Time, sent: Outgoing) -> Header {
        let (ts_val, ts_ecr) =
            if self.sender.config.timestamps { (timestamp::at(now), self.echo) } else { (0, 0) };
        let flags = if sent.is_pushed() { u32::from(flags::PSH) } else { 0 };
        Header { number: self.number(sent), window: self.window_said(), ts_val, ts_ecr, flags }
    }

    /// The number in the header of what [`Endpoint::poll`] gave last.
    #[inline(always)]
    #[must_use]
    pub fn number(&self, sent: Outgoing) -> u32 {
        if sent.is_empty() { self.acknowledgement_number() } else { self.sequence_number(sent) }
    }

    /// The segment of an ACK that came as a header.
    pub(super) fn segment_of_ack(&self, header: &Header) -> Segment {
        let Header { number, ts_val, ts_ecr, .. } = *header;
        let window = header.window_or(self.sender.raw_window);
        Segment { ack: number, window, ts_val, ts_ecr, ..self.nothing_new() }
    }

    /// The segment of `len` bytes of data that came with a header.
    pub(super) fn segment_of_data(&self, header: &Header, len: u32) -> Segment {
        let Header { number, ts_val, ts_ecr, .. } = *header;
        let window = header.window_or(self.sender.raw_window);
        let flags = flags::ACK | header.flags as u16;
        Segment { seq: number, len, window, ts_val, ts_ecr, flags, ..self.nothing_new() }
    }
}
