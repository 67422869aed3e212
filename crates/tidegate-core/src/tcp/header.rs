//! Short headers: of a segment that says nothing but a number, the window, timestamps and PSH, these words are all there is to store.

use super::endpoint::{Endpoint, State};
use super::outgoing::Outgoing;
use super::segment::{Segment, flags};
use super::timestamp;
use crate::units::Time;

/// What a segment of which [`Outgoing::is_short`] was true says to an end to which the other one sends data, or from which
/// it gets them: where its data begin, or what it acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Header {
    /// The number of the first byte of its data; without data, what it acknowledges.
    pub number: u32,
    /// Receive window, as in [`Segment::window`].
    pub window: u32,
    /// Timestamps, as in [`Segment::ts_val`] and [`Segment::ts_ecr`].
    pub ts_val: u32,
    /// See `ts_val`.
    pub ts_ecr: u32,
    /// It has PSH.
    pub pushed: bool,
}

impl Endpoint {
    /// Whether its segments are short rather than usual ones: they have timestamps, or windows that grow, and nothing of ECN.
    #[must_use]
    pub fn writes_short_headers(&self) -> bool {
        let config = &self.sender.config;
        (config.timestamps || config.linux_acks) && self.sender.marks.is_none()
    }

    /// The same, and the handshake is over.
    pub(super) fn reads_short_headers(&self) -> bool {
        self.writes_short_headers() && self.state == State::Established && !self.syn_due
    }

    /// The header of what [`Endpoint::poll`] gave last, if that is short: of data where they have any, else of an ACK.
    #[inline(always)]
    #[must_use]
    pub fn short_header(&self, now: Time, sent: Outgoing) -> Header {
        let data = !sent.is_empty();
        let number = if data { self.sequence_number(sent) } else { self.acknowledgement_number() };
        let (ts_val, ts_ecr) =
            if self.sender.config.timestamps { (timestamp::at(now), self.echo) } else { (0, 0) };
        Header { number, window: self.window_said(), ts_val, ts_ecr, pushed: sent.is_pushed() }
    }

    /// The whole header of an ACK that came with a short one.
    pub(super) fn header_of_ack(&self, short: &Header) -> Segment {
        let Header { number, window, ts_val, ts_ecr, .. } = *short;
        Segment { ack: number, window, ts_val, ts_ecr, ..self.nothing_new() }
    }

    /// The same of `len` bytes of data.
    pub(super) fn header_of_data(&self, short: &Header, len: u32) -> Segment {
        let Header { number, window, ts_val, ts_ecr, pushed } = *short;
        let flags = if pushed { flags::ACK | flags::PSH } else { flags::ACK };
        Segment { seq: number, len, window, ts_val, ts_ecr, flags, ..self.nothing_new() }
    }
}
