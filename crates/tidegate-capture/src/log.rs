//! The packets of one connection, packed: what is as expected of the packet before needs no byte.
//!
//! A packet begins with 16 bits that say which of its numbers differ from what was expected, and the time
//! since the packet before it. A packet of data takes about 8 bytes, an ACK about 10, a packet with three
//! SACK blocks about 25.

use crate::options::MOST_BLOCKS;
use crate::varint::{put, put_signed, take, take_signed};

/// The packet has timestamps; behind the flags of TCP's header.
pub(crate) const HAS_TIMESTAMPS: u16 = 1 << 9;
/// FIN, SYN, RST, PSH, ACK, URG, ECE, CWR, AE.
pub(crate) const TCP_FLAGS: u16 = (1 << 9) - 1;
pub(crate) const SYN: u16 = 2;
pub(crate) const FIN: u16 = 1;
pub(crate) const RST: u16 = 4;
pub(crate) const ACK: u16 = 16;

/// One packet. Sequence numbers are offsets of their direction's space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// Nanoseconds since the file's first packet.
    pub(crate) time: i64,
    /// Which of the two hosts sent it.
    pub(crate) from: usize,
    pub(crate) seq: i64,
    pub(crate) ack: i64,
    pub(crate) payload: u32,
    pub(crate) ip_bytes: u32,
    pub(crate) wire: u32,
    /// TCP's flags and [`HAS_TIMESTAMPS`].
    pub(crate) flags: u16,
    pub(crate) window: u16,
    pub(crate) tos: u8,
    pub(crate) ttl: u8,
    pub(crate) ip_id: u16,
    pub(crate) ts_value: u32,
    pub(crate) ts_echo: u32,
    pub(crate) blocks: [(i64, i64); MOST_BLOCKS],
    pub(crate) block_count: usize,
}

impl Row {
    /// The packet that one expects behind this one: the next data, and all else as before.
    fn next(&self) -> Row {
        let counted = self.flags & (SYN | FIN) != 0;
        Row {
            seq: self.seq + i64::from(self.payload) + i64::from(counted),
            ip_id: if self.ip_id == 0 { 0 } else { self.ip_id.wrapping_add(1) },
            blocks: [(0, 0); MOST_BLOCKS],
            block_count: 0,
            ..*self
        }
    }

    fn headers(&self) -> i64 {
        i64::from(self.ip_bytes) - i64::from(self.payload)
    }

    fn link(&self) -> i64 {
        i64::from(self.wire) - i64::from(self.ip_bytes)
    }
}

/// The packed packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    bytes: Vec<u8>,
    pub(crate) rows: usize,
    last: State,
}

/// What the next packet is measured against.
#[derive(Clone, Debug, Default)]
struct State {
    time: i64,
    of: [Row; 2],
}

impl Log {
    pub(crate) fn push(&mut self, row: &Row) {
        let expected = self.last.of[row.from].next();
        let place = self.bytes.len();
        self.bytes.extend([0, 0]);
        put_signed(&mut self.bytes, row.time.wrapping_sub(self.last.time));
        let mut bits = row.from as u16;
        let mut differs = |bit: u16, difference: i64| {
            if difference != 0 {
                bits |= 1 << bit;
                put_signed(&mut self.bytes, difference);
            }
        };
        differs(1, row.seq.wrapping_sub(expected.seq));
        differs(2, row.ack.wrapping_sub(expected.ack));
        differs(3, i64::from(row.payload) - i64::from(expected.payload));
        differs(4, row.headers() - expected.headers());
        differs(5, row.link() - expected.link());
        differs(6, i64::from(row.flags) - i64::from(expected.flags));
        differs(7, i64::from(row.window) - i64::from(expected.window));
        differs(8, i64::from(row.tos) - i64::from(expected.tos));
        differs(9, i64::from(row.ttl) - i64::from(expected.ttl));
        differs(10, i64::from(row.ip_id) - i64::from(expected.ip_id));
        differs(11, i64::from(row.ts_value) - i64::from(expected.ts_value));
        differs(12, i64::from(row.ts_echo) - i64::from(expected.ts_echo));
        if row.block_count > 0 {
            bits |= 1 << 13;
            put(&mut self.bytes, row.block_count as u64);
            for (left, right) in &row.blocks[..row.block_count] {
                put_signed(&mut self.bytes, left.wrapping_sub(row.ack));
                put_signed(&mut self.bytes, right.wrapping_sub(*left));
            }
        }
        self.bytes[place..place + 2].copy_from_slice(&bits.to_le_bytes());
        self.last.time = row.time;
        self.last.of[row.from] = *row;
        self.rows += 1;
    }

    /// Every packet, in the order of the capture.
    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows { bytes: &self.bytes, last: State::default() }
    }

    /// Bytes that the packets take.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }
}

/// The packets of a log, unpacked one by one.
pub(crate) struct Rows<'a> {
    bytes: &'a [u8],
    last: State,
}

impl Iterator for Rows<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let (bits, rest) = self.bytes.split_first_chunk::<2>()?;
        let bits = u16::from_le_bytes(*bits);
        let mut bytes = rest;
        let from = usize::from(bits & 1);
        let expected = self.last.of[from].next();
        let time = self.last.time.wrapping_add(take_signed(&mut bytes));
        let mut more = |bit: u16| if bits & (1 << bit) == 0 { 0 } else { take_signed(&mut bytes) };
        let mut row = Row {
            time,
            from,
            seq: expected.seq.wrapping_add(more(1)),
            ack: expected.ack.wrapping_add(more(2)),
            payload: (i64::from(expected.payload) + more(3)) as u32,
            ..expected
        };
        row.ip_bytes = (i64::from(row.payload) + expected.headers() + more(4)) as u32;
        row.wire = (i64::from(row.ip_bytes) + expected.link() + more(5)) as u32;
        row.flags = (i64::from(expected.flags) + more(6)) as u16;
        row.window = (i64::from(expected.window) + more(7)) as u16;
        row.tos = (i64::from(expected.tos) + more(8)) as u8;
        row.ttl = (i64::from(expected.ttl) + more(9)) as u8;
        row.ip_id = (i64::from(expected.ip_id) + more(10)) as u16;
        row.ts_value = (i64::from(expected.ts_value) + more(11)) as u32;
        row.ts_echo = (i64::from(expected.ts_echo) + more(12)) as u32;
        if bits & (1 << 13) != 0 {
            row.block_count = (take(&mut bytes) as usize).min(MOST_BLOCKS);
            for block in &mut row.blocks[..row.block_count] {
                let left = row.ack.wrapping_add(take_signed(&mut bytes));
                *block = (left, left.wrapping_add(take_signed(&mut bytes)));
            }
        }
        self.bytes = bytes;
        self.last.time = time;
        self.last.of[from] = row;
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Most bytes of one packet: the flags, 13 numbers of at most 10 bytes, the count of blocks, and the blocks.
    const MOST_BYTES: usize = 2 + 13 * 10 + 1 + MOST_BLOCKS * 20;

    fn any_row() -> impl Strategy<Value = Row> {
        let numbers = (any::<i64>(), 0..2_usize, any::<i64>(), any::<i64>(), any::<[u32; 3]>());
        let headers = (any::<u16>(), any::<u16>(), any::<u8>(), any::<u8>(), any::<u16>(), any::<[u32; 2]>());
        let blocks = (any::<[(i64, i64); MOST_BLOCKS]>(), 0..=MOST_BLOCKS);
        (numbers, headers, blocks).prop_map(
            |((time, from, seq, ack, lengths), (flags, window, tos, ttl, ip_id, stamps), (blocks, count))| {
                let mut row = Row { time, from, seq, ack, flags, window, tos, ttl, ip_id, ..Row::default() };
                // Offsets stay far below the ends of 64 bits.
                (row.seq, row.ack) = (seq >> 2, ack >> 2);
                [row.payload, row.ip_bytes, row.wire] = lengths;
                [row.ts_value, row.ts_echo] = stamps;
                row.block_count = count;
                row.blocks[..count].copy_from_slice(&blocks[..count]);
                row
            },
        )
    }

    proptest! {
        #[test]
        fn what_was_pushed_comes_back(rows in proptest::collection::vec(any_row(), 0..20)) {
            let mut log = Log::default();
            for row in &rows {
                let before = log.bytes();
                log.push(row);
                prop_assert!(log.bytes() - before <= MOST_BYTES);
            }
            prop_assert_eq!(log.rows().collect::<Vec<_>>(), rows);
        }
    }

    #[test]
    fn data_as_expected_takes_few_bytes() {
        let mut log = Log::default();
        let mut row = Row { payload: 1448, ip_bytes: 1500, wire: 1514, flags: ACK, ..Row::default() };
        for _ in 0..100 {
            log.push(&row);
            row.time += 1_200_000;
            row.seq += 1448;
        }
        assert!(log.bytes() < 700, "{}", log.bytes());
    }
}
