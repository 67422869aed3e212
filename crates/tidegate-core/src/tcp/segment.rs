//! A TCP segment as it travels: the header fields that matter to the endpoints.

use crate::unit::Ecn;
use crate::units::Time;

/// Flag bits of a segment.
pub mod flags {
    /// No more data from the sender.
    pub const FIN: u16 = 0x01;
    /// Synchronise sequence numbers.
    pub const SYN: u16 = 0x02;
    /// Push.
    pub const PSH: u16 = 0x08;
    /// The acknowledgement field counts.
    pub const ACK: u16 = 0x10;
    /// ECN-Echo (RFC 3168 §6.1).
    pub const ECE: u16 = 0x40;
    /// Congestion window reduced (RFC 3168 §6.1).
    pub const CWR: u16 = 0x80;
    /// Accurate ECN (RFC 9768 §3.1).
    pub const AE: u16 = 0x100;

    /// The counter that AE, CWR and ECE are in Accurate ECN (RFC 9768 §3.2.2).
    #[must_use]
    pub fn ace(flags: u16) -> u32 {
        u32::from(flags >> 6 & 7)
    }

    /// The flags that say the low three bits of a count.
    #[must_use]
    pub fn of_ace(count: u32) -> u16 {
        (count as u16 & 7) << 6
    }
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
    pub flags: u16,
    /// Its IP header's codepoint of ECN, as sent or as it arrived.
    pub ecn: Ecn,
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
