//! What arrives ahead of a gap or a second time: islands, the ACKs for them, and the SACK blocks that report them.

use super::{Island, MOST_QUICK, Receiver};
use crate::tcp::compression::Compression;
use crate::tcp::config::Config;
use crate::tcp::report::Counters;
use crate::tcp::segment::Segment;
use crate::tcp::seq::Numbering;
use crate::units::Time;

impl Receiver {
    /// Data that do not simply continue the stream.
    #[cold]
    pub(in crate::tcp) fn handle_disorder(
        &mut self,
        now: Time,
        start: u64,
        len: u32,
        config: &Config,
        counters: &mut Counters,
    ) {
        // RFC 5681 §4.2: a segment out of order, one that fills a gap, or a duplicate is
        // acknowledged at once.
        let was_due = std::mem::replace(&mut self.ack_now, true);
        self.scheduled = true;
        self.tells |= self.buffer.is_some();
        let end = start + u64::from(len);
        // RFC 9293 §3.10.7.4: what lies outside the window is dropped and acknowledged.
        if end > self.next.saturating_add(config.window) {
            counters.outside_window += 1;
            return;
        }
        if start < self.next {
            self.came_again(start, end.min(self.next));
        }
        if end <= self.next && self.buffer.is_some() {
            // `tcp_enter_quickack_mode`: ACKs have been lost.
            self.quick = self.quick.max(MOST_QUICK);
        }
        let overdue = self.buffer.as_ref().is_some_and(|buffer| buffer.compression.held > 0)
            && self.begins_island(start, end);
        let new = if end <= self.next { 0 } else { self.insert(start.max(self.next), end) };
        if new == 0 {
            counters.duplicates_received += 1;
            return;
        }
        counters.delivered_bytes += new;
        counters.delivered_segments += 1;
        while let Some(island) = self.islands.front().copied().filter(|island| island.start <= self.next) {
            self.next = island.end;
            self.islands.pop_front();
            self.forget_reached();
        }
        if self.buffer.is_some() {
            self.widen_in_disorder(now, start, end, config);
            self.ack_now = was_due || overdue || self.answers_disorder(now, config);
        }
    }

    /// New data `[start, end)` came ahead of a gap or into one: what that does to Linux's window.
    fn widen_in_disorder(&mut self, now: Time, start: u64, end: u64, config: &Config) {
        let Some(buffer) = &mut self.buffer else { return };
        let grew = if start <= self.next && self.next >= end {
            buffer.handle_data(now, end, self.next, config.timestamps)
        } else {
            // Without SACK the window stays, so that each ACK is a duplicate (`tcp_data_queue_ofo`).
            let ahead = self.islands.back().map_or(0, |island| island.end - self.next);
            config.sack && buffer.handle_ahead(ahead)
        };
        self.quick |= u32::from(grew);
    }

    /// Whether Linux answers new data that came ahead of a gap or into one at once (`__tcp_ack_snd_check`), or only
    /// with those that follow soon. DEVIATION: RFC 5681 §4.2 wants an ACK for each.
    fn answers_disorder(&mut self, now: Time, config: &Config) -> bool {
        let Some(buffer) = &mut self.buffer else { return true };
        let much = self.next - self.acknowledged_to > u64::from(config.mss);
        if !config.sack || self.islands.is_empty() || self.quick > 0 || much {
            return true;
        }
        if buffer.compression.answers(self.next) {
            return true;
        }
        if self.delayed_until == Time::NEVER {
            self.delayed_until = now.saturating_add(Compression::delay(buffer.rtt()));
        }
        false
    }

    /// Whether `[start, end)` begins an island beside two others, or belongs to one that is older than two others: then
    /// what an ACK that is held back has to say is not put off any more (`tcp_sack_new_ofo_skb`).
    fn begins_island(&self, start: u64, end: u64) -> bool {
        let touching = self.islands.iter().find(|island| island.start <= end && start <= island.end);
        match touching {
            Some(island) => !self.recent[..2].iter().any(|offset| island.holds(*offset)),
            None => self.islands.len() >= 2,
        }
    }

    /// `[start, end)` had arrived before.
    fn came_again(&mut self, start: u64, end: u64) {
        if let Some(duplicates) = &mut self.duplicates
            && start < end
        {
            duplicates.add(start, end);
            self.tells = true;
        }
    }

    /// Adds `[start, end)` to the islands; how many of its bytes were not there before.
    fn insert(&mut self, start: u64, end: u64) -> u64 {
        // Islands [from, to) overlap or touch the new stretch.
        let from = self.islands.partition_point(|island| island.end < start);
        let to = self.islands.partition_point(|island| island.start <= end);
        let mut merged = Island { start, end };
        let mut new = end - start;
        for index in from..to {
            let island = self.islands[index];
            let both = (island.start.max(start), island.end.min(end));
            self.came_again(both.0, both.1);
            new -= both.1 - both.0;
            merged.start = merged.start.min(island.start);
            merged.end = merged.end.max(island.end);
        }
        self.remember(merged);
        if new == 0 {
            return 0;
        }
        if from == to {
            self.islands.insert(from, merged);
        } else {
            self.islands[from] = merged;
            self.islands.drain(from + 1..to);
        }
        new
    }

    /// `island` holds what arrived last.
    fn remember(&mut self, island: Island) {
        let mut newest = [island.start, 0, 0, 0];
        let others = self.recent.iter().filter(|offset| !island.holds(**offset));
        for (place, offset) in newest[1..].iter_mut().zip(others) {
            *place = *offset;
        }
        self.recent = newest;
    }

    /// The islands below `next` are islands no more: their places go to those that came before them (RFC 2018 §4).
    fn forget_reached(&mut self) {
        let mut newest = [0; 4];
        let above = self.recent.iter().filter(|offset| **offset > self.next);
        for (place, offset) in newest.iter_mut().zip(above) {
            *place = *offset;
        }
        self.recent = newest;
    }

    /// Writes SACK blocks: what came again (RFC 2883 §4), the island that arrived last, then those before it (RFC 2018 §4).
    #[cold]
    pub(in crate::tcp) fn report(&self, segment: &mut Segment, numbering: Numbering) {
        let mut count = 0;
        if let Some((start, end)) = self.duplicates.as_ref().and_then(|duplicates| duplicates.told()) {
            segment.sack[0] = (numbering.wire(start), numbering.wire(end));
            count = 1;
        }
        for offset in self.recent {
            let after = self.islands.partition_point(|island| island.start <= offset);
            let Some(island) = after.checked_sub(1).map(|index| self.islands[index]) else { continue };
            if island.holds(offset) && count < segment.sack.len() {
                segment.sack[count] = (numbering.wire(island.start), numbering.wire(island.end));
                count += 1;
            }
        }
        segment.sack_count = count as u8;
    }
}
