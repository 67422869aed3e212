//! A TCP segment as it travels: the header fields that matter to the endpoints.

use std::fmt;

use super::accecn::AccEcn;
use crate::unit::Ecn;
use crate::units::Time;

/// Flag bits of a segment.
pub mod flags {
    use crate::unit::Ecn;

    /// No more data from the sender.
    pub const FIN: u16 = 0x01;
    /// Synchronise sequence numbers.
    pub const SYN: u16 = 0x02;
    /// The connection is ended at once.
    pub const RST: u16 = 0x04;
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

    /// The flags that say how a SYN or SYN-ACK arrived (RFC 9768 §3.1.2 table 2, §3.2.2.1 table 3).
    #[must_use]
    pub fn of_codepoint(ecn: Ecn) -> u16 {
        match ecn {
            Ecn::NotEct => CWR,
            Ecn::Ect1 => CWR | ECE,
            Ecn::Ect0 => AE,
            Ecn::Ce => AE | CWR,
        }
    }

    /// The flags that say the low three bits of a count.
    #[must_use]
    pub fn of_ace(count: u32) -> u16 {
        (count as u16 & 7) << 6
    }
}

/// SACK blocks that fit in the options of a segment without timestamps (RFC 2018 §3).
pub const MOST_BLOCKS: usize = 4;

/// One TCP segment. Sequence numbers are the 32 bits of the wire and wrap as they do there.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
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
    /// SACK blocks (left edge, right edge), newest first (RFC 2018 §4); [`MOST_BLOCKS`].
    pub sack: [(u32, u32); 4],
    /// The AccECN Option (RFC 9768 §3.2.3).
    pub accecn: Option<AccEcn>,
}

/// As derived, but for options and a fourth SACK block that are not there: golden tables hold digests of what is written here.
impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Segment { seq, ack, len, window, flags, ecn, sack_count, retransmission, connection, .. } = self;
        let Segment { sent_at, ts_val, ts_ecr, sack, accecn, .. } = self;
        let mut fields = f.debug_struct("Segment");
        fields.field("seq", seq).field("ack", ack).field("len", len).field("window", window);
        fields.field("flags", flags).field("ecn", ecn).field("sack_count", sack_count);
        fields.field("retransmission", retransmission).field("connection", connection);
        let sack = &sack[..usize::from(*sack_count).clamp(3, MOST_BLOCKS)];
        fields.field("sent_at", sent_at).field("ts_val", ts_val).field("ts_ecr", ts_ecr).field("sack", &sack);
        if let Some(option) = accecn {
            fields.field("accecn", option);
        }
        fields.finish()
    }
}

/// Bytes of options that a TCP header can have (RFC 9293 §3.1).
const MOST_OPTIONS: u32 = 40;
/// Timestamps (RFC 7323 §3.2), without padding.
const TIMESTAMPS: u32 = 10;
/// Timestamps and two bytes of padding, as every segment has them that has any.
const PADDED_TIMESTAMPS: u32 = 12;

impl Segment {
    /// The sequence numbers that it takes: one for each user byte, SYN and FIN (RFC 9293 §3.4).
    #[inline]
    pub(super) fn numbers(&self) -> u32 {
        self.len + u32::from(self.flags & flags::SYN != 0) + u32::from(self.flags & flags::FIN != 0)
    }

    /// Bytes that its own options add to the headers that every segment has.
    #[inline]
    #[must_use]
    pub fn extra_option_bytes(&self) -> u32 {
        if let Some(option) = self.accecn {
            return self.extra_with(option);
        }
        match u32::from(self.sack_count) {
            0 => 0,
            // NOP, NOP, kind, length, and eight bytes a block (RFC 2018 §3).
            blocks => 4 + 8 * blocks,
        }
    }

    /// [`Segment::extra_option_bytes`] of a segment with the AccECN Option, whose options are padded together.
    #[cold]
    fn extra_with(&self, option: AccEcn) -> u32 {
        let sack = if self.sack_count > 0 { 2 + 8 * u32::from(self.sack_count) } else { 0 };
        if self.ts_val == 0 {
            return (sack + option.len()).next_multiple_of(4);
        }
        (TIMESTAMPS + sack + option.len()).next_multiple_of(4) - PADDED_TIMESTAMPS
    }

    /// SACK blocks for which its options have room: three beside timestamps (RFC 2018 §3, `tcp_options_write`).
    #[inline]
    pub(super) fn room_for_blocks(&self) -> usize {
        let stamps = if self.ts_val == 0 { 0 } else { PADDED_TIMESTAMPS };
        ((MOST_OPTIONS - stamps - 4) / 8) as usize
    }

    /// Adds the AccECN Option. RFC 9768 §3.2.3.3: congestion control goes before other options, but for two SACK blocks,
    /// which always have room beside it.
    #[cold]
    pub(super) fn add_accecn(&mut self, option: AccEcn) {
        self.accecn = Some(option);
        let stamps = if self.ts_val == 0 { 0 } else { TIMESTAMPS };
        let room = MOST_OPTIONS.saturating_sub(stamps + option.len() + 2) / 8;
        self.sack_count = self.sack_count.min(room as u8);
    }
}
