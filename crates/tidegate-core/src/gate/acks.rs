//! What an ACK filter reads of a TCP packet, and when a later packet makes an ACK needless (Linux `sch_cake`,
//! `cake_tcph_may_drop`, `cake_tcph_sack_compare`).
//!
//! Sequence numbers and timestamps are the 32 bits of the wire: of two, the one that is less than 2³¹ behind the other is earlier.

use crate::tcp::{Segment, flags};

/// The flags whose change says something of ECN.
const ECN_FLAGS: u16 = flags::ECE | flags::CWR;

/// What an ACK filter reads of a TCP packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckView {
    /// Which of a flow's connections it belongs to.
    pub connection: u32,
    /// What it acknowledges.
    pub ack: u32,
    /// See [`flags`].
    pub flags: u16,
    /// It has data, or options other than timestamps and SACK blocks.
    pub is_more: bool,
    /// Timestamp value; 0 without timestamps.
    pub ts_val: u32,
    /// Timestamp echo reply; 0 without timestamps.
    pub ts_ecr: u32,
    /// SACK blocks (left edge, right edge) in use.
    pub sack_count: u8,
    /// These blocks.
    pub sack: [(u32, u32); 4],
}

impl From<&Segment> for AckView {
    fn from(segment: &Segment) -> AckView {
        let Segment { connection, ack, flags, ts_val, ts_ecr, sack_count, sack, .. } = *segment;
        let is_more = segment.len > 0 || segment.accecn.is_some();
        AckView { connection, ack, flags, is_more, ts_val, ts_ecr, sack_count, sack }
    }
}

/// Whether `a` is later than `b`.
fn after(a: u32, b: u32) -> bool {
    (b.wrapping_sub(a) as i32) < 0
}

/// What the SACK blocks of a later packet say beside those of an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sacked {
    /// The ACK has a block that the later packet does not cover, or a D-SACK.
    Less,
    /// As much.
    Same,
    /// They cover the ACK's, and more bytes.
    More,
}

impl AckView {
    /// Whether a packet may make ACKs before it needless.
    pub(super) fn may_replace(&self) -> bool {
        self.flags & (flags::ACK | flags::SYN) == flags::ACK
    }

    /// The bits that tell of ECN.
    pub(super) fn ecn_flags(&self) -> u16 {
        self.flags & ECN_FLAGS
    }

    /// Whether this packet is an ACK that says nothing that `later`, of the same connection, does not say: no flags but ACK and those of
    /// ECN, no data and no other options, no later number or timestamp, no more SACK blocks. A repeated ACK says that
    /// a packet came, unless the later one has more SACK blocks.
    pub(super) fn is_needless_before(&self, later: &AckView) -> bool {
        if self.flags & !ECN_FLAGS != flags::ACK || self.is_more {
            return false;
        }
        if after(self.ts_val, later.ts_val) || after(self.ts_ecr, later.ts_ecr) || after(self.ack, later.ack)
        {
            return false;
        }
        match self.sacked_by(later) {
            Sacked::Less => false,
            Sacked::Same => self.ack != later.ack,
            Sacked::More => true,
        }
    }

    fn blocks(&self) -> &[(u32, u32)] {
        &self.sack[..usize::from(self.sack_count).min(self.sack.len())]
    }

    fn sacked_by(&self, later: &AckView) -> Sacked {
        let bytes = |blocks: &[(u32, u32)]| -> u64 {
            blocks.iter().map(|(left, right)| u64::from(right.wrapping_sub(*left))).sum()
        };
        let (mine, theirs) = (self.blocks(), later.blocks());
        let covered = |(left, right): &(u32, u32)| {
            let is_duplicate = after(self.ack, *left);
            !is_duplicate && theirs.iter().any(|(from, to)| !after(*from, *left) && !after(*right, *to))
        };
        if !mine.iter().all(covered) {
            return Sacked::Less;
        }
        if bytes(theirs) > bytes(mine) { Sacked::More } else { Sacked::Same }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(number: u32) -> AckView {
        AckView { ack: number, flags: flags::ACK, ..AckView::default() }
    }

    fn sacking(number: u32, blocks: &[(u32, u32)]) -> AckView {
        let mut sack = [(0, 0); 4];
        sack[..blocks.len()].copy_from_slice(blocks);
        AckView { sack, sack_count: blocks.len() as u8, ..ack(number) }
    }

    #[test]
    fn a_later_number_makes_an_ack_needless() {
        assert!(ack(100).is_needless_before(&ack(200)));
        assert!(ack(u32::MAX - 5).is_needless_before(&ack(10)), "numbers wrap");
        assert!(!ack(200).is_needless_before(&ack(100)));
        assert!(!ack(100).is_needless_before(&ack(100)), "a repeated ACK says that a packet came");
        // The later packet may have data.
        assert!(ack(100).is_needless_before(&AckView { is_more: true, ..ack(200) }));
    }

    #[test]
    fn data_options_and_flags_keep_a_packet() {
        assert!(!AckView { is_more: true, ..ack(100) }.is_needless_before(&ack(200)));
        for flag in [flags::FIN, flags::SYN, flags::RST, flags::PSH, flags::AE] {
            let with = AckView { flags: flags::ACK | flag, ..ack(100) };
            assert!(!with.is_needless_before(&ack(200)), "{flag:#x}");
        }
        for flag in [flags::ECE, flags::CWR] {
            assert!(AckView { flags: flags::ACK | flag, ..ack(100) }.is_needless_before(&ack(200)));
        }
    }

    #[test]
    fn no_later_timestamp_is_lost() {
        let of = |number, ts_val, ts_ecr| AckView { ts_val, ts_ecr, ..ack(number) };
        assert!(of(100, 5, 7).is_needless_before(&of(200, 5, 7)));
        assert!(!of(100, 6, 7).is_needless_before(&of(200, 5, 7)));
        assert!(!of(100, 5, 8).is_needless_before(&of(200, 5, 7)));
    }

    #[test]
    fn no_sack_block_is_lost() {
        let one = sacking(100, &[(200, 300)]);
        assert!(one.is_needless_before(&sacking(100, &[(200, 400)])), "the block has grown");
        assert!(one.is_needless_before(&sacking(100, &[(500, 600), (200, 300)])));
        assert!(!one.is_needless_before(&sacking(100, &[(200, 300)])), "the same again");
        assert!(one.is_needless_before(&sacking(150, &[(200, 300)])));
        assert!(
            !one.is_needless_before(&ack(400)),
            "as in Linux, a block is kept though it has been acknowledged"
        );
        assert!(!one.is_needless_before(&sacking(150, &[(500, 900)])));
        // A D-SACK lies before the number.
        assert!(!sacking(100, &[(50, 60)]).is_needless_before(&sacking(150, &[(50, 60), (200, 300)])));
        assert!(ack(100).is_needless_before(&one), "a block is more than none");
    }
}
