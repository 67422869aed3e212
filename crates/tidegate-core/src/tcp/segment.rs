//! A TCP segment as it travels: the header fields that matter to the endpoints.

use crate::units::Time;

/// Flag bits of a segment.
pub mod flags {
    /// No more data from the sender.
    pub const FIN: u8 = 0x01;
    /// Synchronise sequence numbers.
    pub const SYN: u8 = 0x02;
    /// Push.
    pub const PSH: u8 = 0x08;
    /// The acknowledgement field counts.
    pub const ACK: u8 = 0x10;
}

/// One TCP segment. Sequence numbers are the 32 bits of the wire and wrap as they do there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Segment {
    /// Sequence number of the first user byte.
    pub seq: u32,
    /// Next byte expected from the other side.
    pub ack: u32,
    /// User bytes.
    pub len: u32,
    /// Receive window in bytes, after scaling.
    pub window: u32,
    /// See [`flags`].
    pub flags: u8,
    /// SACK blocks in use.
    pub sack_count: u8,
    /// Sent before (shown in recordings; no endpoint looks at it).
    pub retransmission: bool,
    /// Which of a flow's connections it belongs to, as its port would tell: the engine's
    /// business, no endpoint looks at it.
    pub connection: u32,
    /// When it was sent: the engine's business, no endpoint looks at it.
    pub sent_at: Time,
    /// Timestamp value (RFC 7323), in milliseconds; 0 with timestamps off.
    pub ts_val: u32,
    /// Timestamp echo reply.
    pub ts_ecr: u32,
    /// SACK blocks (left edge, right edge), newest first (RFC 2018 §4).
    pub sack: [(u32, u32); 3],
}

impl Segment {
    /// Bytes that its own options add to the headers that every segment has.
    #[inline]
    #[must_use]
    pub fn extra_option_bytes(&self) -> u32 {
        match u32::from(self.sack_count) {
            0 => 0,
            // NOP, NOP, kind, length, and eight bytes a block (RFC 2018 §3).
            blocks => 4 + 8 * blocks,
        }
    }
}
