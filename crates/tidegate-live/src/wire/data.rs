//! Bytes of a connection by their place in the stream: what is out, and what has come.

use std::collections::{BTreeMap, VecDeque};

use tidegate_core::units::Time;

use crate::segment::Places;

/// A segment that is out.
#[derive(Clone, Copy, Debug)]
struct Sent {
    start: i64,
    end: i64,
    at: Time,
    again: bool,
    /// A SACK has said that it arrived.
    sacked: bool,
}

/// What the sender has sent and has no acknowledgement for.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    places: Places,
    out: VecDeque<Sent>,
    highest: i64,
    acknowledged: i64,
    /// Blocks of the last SACKs, newest first: they come again with every ACK, most of them a segment longer.
    blocks: [(i64, i64); 3],
}

impl Outgoing {
    /// Says whether another stream begins.
    pub(super) fn begin(&mut self, syn: u32) -> bool {
        let begins = self.places.begin(syn);
        if begins {
            *self = Outgoing { places: std::mem::take(&mut self.places), ..Outgoing::default() };
        }
        begins
    }

    /// The place of a sequence number, and where all that was sent ends.
    pub(super) fn place(&mut self, seq: u32) -> (i64, i64) {
        (self.places.of(seq), self.highest)
    }

    /// Everything below is acknowledged.
    pub(super) fn acknowledged(&self) -> i64 {
        self.acknowledged
    }

    /// User bytes that are out.
    pub(super) fn outstanding(&self) -> u64 {
        (self.highest - self.acknowledged).max(0) as u64
    }

    pub(super) fn is_idle(&self) -> bool {
        self.out.is_empty()
    }

    /// A data segment goes out; whether some of it has before.
    pub(super) fn send(&mut self, at: Time, seq: u32, payload: u32) -> bool {
        let start = self.places.of(seq);
        let end = start + i64::from(payload);
        let again = start < self.highest;
        if again {
            let from = self.out.partition_point(|sent| sent.end <= start);
            let mut begins = start;
            for sent in self.out.range_mut(from..) {
                if begins >= end {
                    break;
                }
                sent.again = true;
                begins = sent.end;
            }
        }
        if end > self.highest {
            self.out.push_back(Sent { start: self.highest, end, at, again, sacked: false });
            self.highest = end;
        }
        again
    }

    /// An ACK comes back: when the newest segment was sent that it is the first to report, of those sent once. It reports by
    /// its number and by its SACK blocks. Where the number covers a segment that was sent again, only the blocks
    /// count: the others may have waited for that one (Karn's rule, RFC 6298 §3).
    pub(super) fn acknowledge(&mut self, ack: u32, blocks: impl Iterator<Item = (u32, u32)>) -> Option<Time> {
        if !self.places.has_begun() {
            return None;
        }
        let upto = self.places.of(ack);
        self.acknowledged = self.acknowledged.max(upto);
        let covered = self.out.partition_point(|sent| sent.end <= upto);
        let repeated = self.out.range(..covered).any(|sent| sent.again);
        let fresh = self.out.drain(..covered).filter(|sent| !sent.sacked && !repeated);
        let by_number = fresh.map(|sent| sent.at).next_back();
        let by_block = blocks.filter_map(|block| self.sack(block)).max();
        by_block.max(by_number)
    }

    /// A SACK block: when the newest segment was sent that it is the first to report, of those sent once.
    fn sack(&mut self, (left, right): (u32, u32)) -> Option<Time> {
        let (left, right) = (self.places.of(left), self.places.of(right));
        let known = self.blocks.iter().position(|(seen, _)| *seen == left);
        let from = known.map_or(left, |index| self.blocks[index].1);
        match known {
            Some(index) => self.blocks[index].1 = self.blocks[index].1.max(right),
            None => self.blocks = [(left, right), self.blocks[0], self.blocks[1]],
        }
        let first = self.out.partition_point(|sent| sent.start < from);
        let inside = self.out.range_mut(first..).take_while(|sent| sent.end <= right);
        let news = inside.filter_map(|sent| {
            (!std::mem::replace(&mut sent.sacked, true) && !sent.again).then_some(sent.at)
        });
        news.max()
    }
}

/// User bytes that came to the receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Each counted when it first arrives, in order or not.
    pub bytes: u64,
    /// Those that became readable in order.
    pub in_order: u64,
}

/// What has come to the receiver.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    places: Places,
    next: i64,
    /// Stretches beyond a gap, by their beginnings: their ends. They neither overlap nor touch.
    waiting: BTreeMap<i64, i64>,
}

impl Reassembly {
    pub(super) fn begin(&mut self, syn: u32) {
        if self.places.begin(syn) {
            *self = Reassembly { places: std::mem::take(&mut self.places), ..Reassembly::default() };
        }
    }

    /// A segment comes: its bytes that had not come before, and all that are in order now and were not before.
    pub(super) fn take(&mut self, seq: u32, payload: u32) -> Arrived {
        let start = self.places.of(seq);
        let end = start + i64::from(payload);
        let start = start.max(self.next);
        if end <= start {
            return Arrived::default();
        }
        let bytes = self.add(start, end);
        let before = self.next;
        if let Some(first) = self.waiting.first_entry().filter(|first| *first.key() == before) {
            self.next = first.remove();
        }
        Arrived { bytes, in_order: (self.next - before) as u64 }
    }

    /// Adds a stretch that is not in order yet, with all that it overlaps or touches: how many of its bytes are new.
    fn add(&mut self, start: i64, end: i64) -> u64 {
        let (mut from, mut until, mut new) = (start, end, end - start);
        while let Some((begin, after)) = self.waiting.range(..=until).next_back().map(|(b, a)| (*b, *a))
            && after >= from
        {
            new -= (after.min(end) - begin.max(start)).max(0);
            (from, until) = (from.min(begin), until.max(after));
            self.waiting.remove(&begin);
        }
        self.waiting.insert(from, until);
        new as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn arrived(bytes: u64, in_order: u64) -> Arrived {
        Arrived { bytes, in_order }
    }

    fn at(millis: u64) -> Time {
        Time::from_picos(millis * 1_000_000_000)
    }

    #[test]
    fn a_gap_keeps_back_what_arrived_after_it() {
        let mut came = Reassembly::default();
        came.begin(999);
        assert_eq!(came.take(1000, 100), arrived(100, 100));
        assert_eq!(came.take(1200, 100), arrived(100, 0), "beyond a gap: it has arrived");
        assert_eq!(came.take(1200, 100), arrived(0, 0), "twice");
        assert_eq!(came.take(1250, 100), arrived(50, 0), "partly new");
        assert_eq!(came.take(1100, 100), arrived(100, 250));
        assert_eq!(came.take(1100, 100), arrived(0, 0), "nothing new");
    }

    #[test]
    fn a_port_that_is_used_again_begins_another_stream() {
        let (mut out, mut came) = (Outgoing::default(), Reassembly::default());
        for syn in [7_u32, 7, 900_000] {
            out.begin(syn);
            came.begin(syn);
        }
        assert!(!out.send(at(0), 900_001, 100), "nothing of it was sent before");
        assert_eq!(came.take(900_001, 100), arrived(100, 100));
        out.begin(900_000);
        assert!(out.send(at(1), 900_001, 100), "a SYN sent again begins nothing");
    }

    #[test]
    fn a_segment_sent_again_gives_no_round_trip_time() {
        let mut out = Outgoing::default();
        out.begin(0);
        for n in 0..4 {
            assert!(!out.send(at(u64::from(n)), 1 + n * 100, 100));
        }
        assert!(out.send(at(10), 101, 100), "the second again");
        let none = std::iter::empty;
        assert_eq!(out.acknowledge(101, none()), Some(at(0)));
        assert_eq!(out.acknowledge(201, none()), None, "Karn");
        assert_eq!(out.acknowledge(401, none()), Some(at(3)));
        assert_eq!(out.acknowledge(401, none()), None, "nothing new");
        assert!(out.is_idle());
    }

    /// The conversation of `tcp::tests::round_trips`, which is the simulator's.
    #[test]
    fn an_ack_or_a_sack_that_reports_a_segment_first_gives_its_round_trip() {
        let mut out = Outgoing::default();
        out.begin(0);
        for n in 0..5 {
            out.send(at(u64::from(n)), 1 + n * 100, 100);
        }
        assert_eq!(out.acknowledge(101, [].into_iter()), Some(at(0)));
        assert_eq!(out.acknowledge(101, [(201, 301)].into_iter()), Some(at(2)));
        assert_eq!(out.acknowledge(101, [(201, 501)].into_iter()), Some(at(4)));
        assert_eq!(out.acknowledge(101, [(201, 501)].into_iter()), None, "it is known");
        out.send(at(43), 101, 100);
        out.send(at(44), 501, 100);
        assert_eq!(out.acknowledge(101, [(201, 601)].into_iter()), Some(at(44)));
        assert_eq!(out.acknowledge(601, [].into_iter()), None, "the rest had waited for the second");
    }

    /// Without SACK nobody says when what waits for the hole arrived.
    #[test]
    fn a_segment_that_waited_for_a_hole_gives_no_round_trip_time() {
        let mut out = Outgoing::default();
        out.begin(0);
        for n in 0..3 {
            out.send(at(u64::from(n)), 1 + n * 100, 100);
        }
        out.send(at(43), 1, 100);
        assert_eq!(out.acknowledge(301, [].into_iter()), None);
    }

    #[test]
    fn what_arrives_late_and_was_not_sent_again_counts() {
        let mut out = Outgoing::default();
        out.begin(u32::MAX - 150);
        for n in 0..3_u32 {
            out.send(at(u64::from(n)), (u32::MAX - 149).wrapping_add(n * 100), 100);
        }
        let ends = |n: u32| (u32::MAX - 149).wrapping_add(n * 100);
        assert_eq!(out.acknowledge(ends(0), [(ends(2), ends(3))].into_iter()), Some(at(2)));
        assert_eq!(out.acknowledge(ends(1), [(ends(2), ends(3))].into_iter()), Some(at(0)));
        assert_eq!(out.acknowledge(ends(3), [].into_iter()), Some(at(1)));
    }

    proptest! {
        /// Repeats, overlaps, gaps, and numbers that go round: what is counted is what a list of the bytes says.
        #[test]
        fn a_byte_counts_when_it_first_arrives(
            segments in prop::collection::vec((0usize..300, 1usize..100), 0..60),
            syn in prop_oneof![any::<u32>(), u32::MAX - 300..=u32::MAX],
        ) {
            let mut came = Reassembly::default();
            came.begin(syn);
            let mut bytes = [false; 400];
            for (start, len) in segments {
                let before = bytes.iter().take_while(|seen| **seen).count();
                let new = bytes[start..start + len].iter().filter(|seen| !**seen).count();
                bytes[start..start + len].fill(true);
                let in_order = bytes.iter().take_while(|seen| **seen).count() - before;
                let seq = syn.wrapping_add(1).wrapping_add(start as u32);
                prop_assert_eq!(came.take(seq, len as u32), arrived(new as u64, in_order as u64));
            }
        }
    }
}
