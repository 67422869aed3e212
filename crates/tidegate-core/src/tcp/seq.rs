//! The 32 bits of the wire and the 64 bits inside.
//!
//! Inside an endpoint a byte is named by its offset in the stream: 0 is the first user
//! byte, whatever the initial sequence number. Only the wire wraps.

/// Where a stream begins on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Numbering {
    /// The sequence number of offset 0: the initial sequence number plus one for the SYN.
    first: u32,
}

impl Numbering {
    /// The stream that follows a SYN numbered `isn`.
    pub(super) fn after_syn(isn: u32) -> Numbering {
        Numbering { first: isn.wrapping_add(1) }
    }

    /// The wire's number of the SYN before the stream.
    pub(super) fn syn(self) -> u32 {
        self.first.wrapping_sub(1)
    }

    /// The wire's number of `offset`.
    #[inline]
    pub(super) fn wire(self, offset: u64) -> u32 {
        self.first.wrapping_add(offset as u32)
    }

    /// The offset nearest to `near` that the wire calls `number`; `None` if it would lie before
    /// the stream. Right as long as the two are less than 2³¹ bytes apart (RFC 9293 §3.4).
    #[inline]
    pub(super) fn offset(self, number: u32, near: u64) -> Option<u64> {
        let distance = number.wrapping_sub(self.wire(near)).cast_signed();
        near.checked_add_signed(i64::from(distance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_and_come_back() {
        let stream = Numbering::after_syn(u32::MAX - 10);
        assert_eq!(stream.wire(0), u32::MAX - 9);
        assert_eq!(stream.wire(10), 0);
        assert_eq!(stream.offset(0, 3), Some(10));
        let far = 5 * (1_u64 << 32) + 7;
        assert_eq!(stream.offset(stream.wire(far), far - 1_000_000_000), Some(far));
        assert_eq!(stream.offset(stream.wire(far), far + 1_000_000_000), Some(far));
        assert_eq!(stream.offset(stream.syn(), 0), None);
    }
}
