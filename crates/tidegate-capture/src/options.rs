//! The options of TCP that a capture is read for.
//!
//! The list is walked here, because `etherparse` stops at an option that it does not know, and MPTCP, TCP
//! Fast Open and accurate ECN may stand before the others.

/// Most blocks in one SACK option (RFC 2018 §3).
pub(crate) const MOST_BLOCKS: usize = 4;

/// What the options of one segment say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Maximum segment size (RFC 9293 §3.7.1).
    pub(crate) mss: Option<u16>,
    /// Window scale (RFC 7323 §2.2); 14 is the most that counts.
    pub(crate) scale: Option<u8>,
    /// SACK permitted (RFC 2018 §2).
    pub(crate) sack_permitted: bool,
    /// The timestamp's value and echo (RFC 7323 §3.2).
    pub(crate) timestamps: Option<(u32, u32)>,
    /// SACK blocks: left and right edge (RFC 2018 §3).
    pub(crate) blocks: [(u32, u32); MOST_BLOCKS],
    pub(crate) block_count: usize,
}

impl Options {
    /// Reads what is there; an option whose length cannot be true ends the list (RFC 9293 §3.1).
    pub(crate) fn read(mut bytes: &[u8]) -> Options {
        let mut options = Options::default();
        while let [kind, rest @ ..] = bytes {
            match kind {
                0 => break,
                1 => {
                    bytes = rest;
                    continue;
                }
                _ => {}
            }
            let Some(&length) = rest.first() else { break };
            let length = usize::from(length);
            if length < 2 || length > bytes.len() {
                break;
            }
            options.take(*kind, &bytes[2..length]);
            bytes = &bytes[length..];
        }
        options
    }

    fn take(&mut self, kind: u8, value: &[u8]) {
        match (kind, value) {
            (2, &[high, low]) => self.mss = Some(u16::from_be_bytes([high, low])),
            (3, &[shift]) => self.scale = Some(shift.min(14)),
            (4, []) => self.sack_permitted = true,
            (5, blocks) => {
                for block in blocks.chunks_exact(8).take(MOST_BLOCKS) {
                    self.blocks[self.block_count.min(MOST_BLOCKS - 1)] = (number(block), number(&block[4..]));
                    self.block_count = (self.block_count + 1).min(MOST_BLOCKS);
                }
            }
            (8, value) if value.len() == 8 => self.timestamps = Some((number(value), number(&value[4..]))),
            _ => {}
        }
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_option_hides_nothing_behind_it() {
        // MSS 1460, Fast Open (34), NOP, scale 7, SACK permitted, timestamps 5 and 6.
        let bytes = [2, 4, 5, 180, 34, 2, 1, 3, 3, 7, 4, 2, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6];
        let options = Options::read(&bytes);
        assert_eq!((options.mss, options.scale, options.sack_permitted), (Some(1460), Some(7), true));
        assert_eq!(options.timestamps, Some((5, 6)));
    }

    #[test]
    fn a_length_that_cannot_be_ends_the_list() {
        assert_eq!(Options::read(&[2, 0, 3, 3, 7]), Options::default());
        assert_eq!(Options::read(&[5, 40, 1]), Options::default());
        assert_eq!(Options::read(&[8]), Options::default());
    }

    #[test]
    fn blocks_are_read_in_their_order() {
        let mut bytes = vec![1, 1, 5, 18];
        for edge in [100_u32, 200, 300, 400] {
            bytes.extend(edge.to_be_bytes());
        }
        let options = Options::read(&bytes);
        assert_eq!(options.blocks[..options.block_count], [(100, 200), (300, 400)]);
    }
}
