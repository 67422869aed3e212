//! Segments of any place and length come to a receiver: what it counts is what a list of its bytes says.

use proptest::collection::vec;
use proptest::prelude::*;

use super::plans::plain;
use crate::tcp::{Counters, Endpoint, Role, Segment, flags};
use crate::units::Time;

/// Bytes of the stream that tests look at.
const STREAM: usize = 400;

/// A receiver that keeps every byte's mark.
struct Bytes {
    came: [bool; STREAM],
    window: usize,
    counters: Counters,
}

impl Bytes {
    fn in_order(&self) -> usize {
        self.came.iter().take_while(|came| **came).count()
    }

    fn take(&mut self, start: usize, len: usize) {
        if start + len > self.in_order() + self.window {
            self.counters.outside_window += 1;
            return;
        }
        let counters = &mut self.counters;
        let stretch = &mut self.came[start..start + len];
        let new = stretch.iter().filter(|came| !**came).count() as u64;
        stretch.fill(true);
        counters.delivered_bytes += new;
        counters.delivered_segments += u64::from(new > 0);
        counters.duplicates_received += u64::from(new == 0);
    }
}

proptest! {
    /// Repeats, overlaps, gaps, segments beyond the window, and numbers that go round.
    #[test]
    fn a_byte_counts_when_it_first_arrives(
        segments in vec((0usize..300, 1usize..100), 0..60),
        window in prop_oneof![Just(STREAM), 100usize..250],
        isn in prop_oneof![any::<u32>(), u32::MAX - 300..=u32::MAX],
    ) {
        let plan = crate::plan::TcpPlan { window: Some(window as u64), handshake: false, ..plain() };
        let mut receiver = Endpoint::new(&plan, Role::Passive, isn, None);
        let mut bytes = Bytes { came: [false; STREAM], window, counters: Counters::default() };
        for (start, len) in segments {
            let seq = isn.wrapping_add(1).wrapping_add(start as u32);
            let ack = isn.wrapping_add(1);
            let segment = Segment { seq, ack, len: len as u32, flags: flags::ACK, ..Segment::default() };
            receiver.handle_segment(Time::ZERO, &segment);
            bytes.take(start, len);
            prop_assert_eq!(receiver.counters(), &bytes.counters);
            prop_assert_eq!(receiver.in_order_bytes(), bytes.in_order() as u64);
        }
    }
}
