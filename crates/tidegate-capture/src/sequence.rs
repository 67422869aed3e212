//! Sequence numbers without the wrap at 2³² (RFC 9293 §3.4): offsets from the first one seen.

/// The numbers of one direction's data: its sequence numbers, and the ACKs and blocks of the other direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Space {
    /// The last number on the wire and its offset.
    last: Option<(u32, i64)>,
    /// The smallest offset of any packet that counts.
    lowest: Option<i64>,
    /// The offset of the SYN, where it was seen.
    syn: Option<i64>,
}

impl Space {
    /// The offset of a number: the one nearest to the last number that was seen.
    pub(crate) fn offset(&self, wire: u32) -> i64 {
        match self.last {
            None => 0,
            Some((last, offset)) => offset + i64::from(wire.wrapping_sub(last).cast_signed()),
        }
    }

    /// The offset of a number, against which later numbers are measured.
    pub(crate) fn see(&mut self, wire: u32) -> i64 {
        let offset = self.offset(wire);
        self.last = Some((wire, offset));
        self.lowest = Some(self.lowest.map_or(offset, |lowest| lowest.min(offset)));
        offset
    }

    /// A SYN's number, from which the direction's numbers count.
    pub(crate) fn see_syn(&mut self, wire: u32) -> i64 {
        let offset = self.see(wire);
        self.syn = Some(offset);
        offset
    }

    /// The number on the wire of the offset that is called 0.
    pub(crate) fn base_wire(&self) -> Option<u32> {
        let (last, offset) = self.last?;
        Some(last.wrapping_sub((offset - self.base()) as u32))
    }

    /// The offset that is called 0: that of the SYN or, without one, the lowest.
    pub(crate) fn base(&self) -> i64 {
        self.syn.or(self.lowest).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_behind_the_wrap_and_come_back() {
        let mut space = Space::default();
        assert_eq!(space.see_syn(u32::MAX - 1), 0);
        assert_eq!(space.see(10), 12);
        // Sent again.
        assert_eq!(space.see(u32::MAX), 1);
        assert_eq!(space.see(20), 22);
        assert_eq!((space.base(), space.base_wire()), (0, Some(u32::MAX - 1)));
    }

    #[test]
    fn without_a_syn_the_lowest_number_is_the_base() {
        let mut space = Space::default();
        space.see(1000);
        space.see(400);
        space.see(2000);
        assert_eq!((space.base(), space.offset(2000) - space.base()), (-600, 1600));
        assert_eq!(space.base_wire(), Some(400));
    }
}
