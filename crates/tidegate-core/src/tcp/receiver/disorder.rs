//! What arrives ahead of a gap or a second time: islands, the ACKs for them, and the SACK blocks that report them.

use super::Receiver;
use super::islands::Island;
use crate::tcp::buffer::MOST_QUICK;
use crate::tcp::compression::Compression;
use crate::tcp::config::Config;
use crate::tcp::dsack::Duplicates;
use crate::tcp::report::Counters;
use crate::tcp::segment::Segment;
use crate::tcp::seq::Numbering;
use crate::units::Time;

/// `[start, end)` has arrived again, as the beginning of a segment (`begins`) or a later part of it. Where
/// `duplicates` are reported, the next ACK says so.
fn came_again(
    duplicates: &mut Option<Box<Duplicates>>,
    tells: &mut bool,
    (start, end): (u64, u64),
    begins: bool,
) {
    if let Some(duplicates) = duplicates {
        if begins {
            duplicates.set(start, end);
        } else {
            duplicates.extend(start, end);
        }
        *tells = true;
    }
}

impl Receiver {
    /// Data that do not simply continue the stream.
    #[inline(never)]
    pub(in crate::tcp) fn handle_disorder(
        &mut self,
        now: Time,
        start: u64,
        len: u32,
        config: &Config,
        counters: &mut Counters,
    ) {
        if self.longest == 0 {
            self.handle_unread(now, start, len, config, counters);
        } else if !self.lengthens_last(start, len, config, counters) {
            self.handle_other_disorder(now, start, len, config, counters);
        }
    }

    /// Fast path of [`Receiver::handle_other_disorder`] for new data that continue the highest island, at a receiver
    /// of constant window: the frequent case while a gap is open. It skips the searches for repeated data and for
    /// islands that join. `false`: other conditions hold, and nothing has been done.
    #[inline(always)]
    fn lengthens_last(&mut self, start: u64, len: u32, config: &Config, counters: &mut Counters) -> bool {
        let end = start + u64::from(len);
        if self.buffer.is_some() || end > self.next.saturating_add(config.window) {
            return false;
        }
        let Some(last) = self.islands.last_up_to(start) else { return false };
        let longer = Island { end, ..*last };
        if config.sack && !self.recent.lengthen(longer) {
            return false;
        }
        *last = longer;
        // RFC 5681 §4.2: a segment out of order is acknowledged at once.
        (self.ack_now, self.scheduled) = (true, true);
        counters.delivered_bytes += u64::from(len);
        counters.delivered_segments += 1;
        true
    }

    /// All other data that do not simply continue the stream.
    #[inline(never)]
    pub(super) fn handle_other_disorder(
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
        let end = start + u64::from(len);
        // The ACK of a segment that ends below the last ACK uses up no quick ACK (`tcp_send_dupack`).
        self.scheduled |= end >= self.acknowledged_to;
        self.tells |= self.buffer.is_some();
        // RFC 9293 §3.10.7.4: what lies outside the window is dropped and acknowledged.
        if end > self.window_end(config) {
            counters.outside_window += 1;
            return;
        }
        if start < self.next {
            came_again(&mut self.duplicates, &mut self.tells, (start, end.min(self.next)), true);
        }
        let linux = config.linux_acks;
        if end <= self.next && linux {
            // `tcp_enter_quickack_mode`: ACKs have been lost.
            self.enter_quick_mode(MOST_QUICK);
            self.first_quick = 0;
        }
        let overdue = linux
            && self.buffer.as_ref().is_some_and(|buffer| buffer.compression.held > 0)
            && self.begins_island(start, end);
        let (before, gap) = (self.next, !self.islands.is_empty());
        let new = if end <= self.next { 0 } else { self.take_in(start.max(self.next), end, config) };
        if new == 0 {
            counters.duplicates_received += 1;
            if self.buffer.is_some() && end > self.next {
                // It is answered as new data ahead of the gap are.
                self.ack_now = was_due || self.answers_disorder(now, gap, config);
            }
            return;
        }
        let held = counters.delivered_bytes - before;
        counters.delivered_bytes += new;
        counters.delivered_segments += 1;
        if linux {
            self.widen_in_disorder(now, (start, end), held, config);
            self.ack_now = was_due || overdue || self.answers_disorder(now, gap, config);
        }
    }

    /// How Linux's window grows for new data `[start, end)` that came ahead of a gap or into one; `held`: the bytes
    /// that had come ahead.
    fn widen_in_disorder(&mut self, now: Time, (start, end): (u64, u64), held: u64, config: &Config) {
        let held = held + self.unread();
        let ahead = self.ahead();
        let Some(buffer) = &mut self.buffer else { return };
        if buffer.reader.is_some() && start <= self.next && self.next >= end {
            self.quick |= u32::from(buffer.grow(end - start, held));
        } else if start <= self.next && self.next >= end {
            buffer.is_short((end - start) as u32, false);
            let arrival = buffer.handle_data(now, (end, self.next), (end - start, held), config.timestamps);
            buffer.ahead = ahead;
            self.take_arrival(arrival);
        } else {
            // Without SACK the window stays, so that each ACK is a duplicate (`tcp_data_queue_ofo`).
            let grew = config.sack && buffer.handle_ahead(end - start, ahead, held);
            self.quick |= u32::from(grew);
        }
    }

    /// Whether Linux acknowledges new data at once that came ahead of a gap or into one (`gap`: there was one), and not
    /// only with those that follow soon (`__tcp_ack_snd_check`). DEVIATION: RFC 5681 §4.2 wants an ACK for each.
    fn answers_disorder(&mut self, now: Time, gap: bool, config: &Config) -> bool {
        let quick = self.is_quick();
        let Some(buffer) = &mut self.buffer else { return true };
        let much = self.next - self.acknowledged_to > u64::from(buffer.full);
        if !config.sack || quick || much {
            return true;
        }
        if self.islands.is_empty() {
            // Data that began with old bytes where there was no gap are in order.
            if !gap {
                self.put_off(self.ack_deadline(now, config));
            }
            return gap;
        }
        if buffer.compression.answers(self.next) {
            return true;
        }
        let rtt = buffer.rtt();
        self.put_off(now.saturating_add(Compression::delay(rtt)));
        false
    }

    /// Whether `[start, end)` begins an island beside two others, or belongs to one that is older than two others: then
    /// an ACK that is held back is sent (`tcp_sack_new_ofo_skb`).
    fn begins_island(&self, start: u64, end: u64) -> bool {
        match self.islands.touching(start, end) {
            Some(island) => !self.recent.is_of_two(island),
            None => self.islands.len() >= 2,
        }
    }

    /// New data `[start, end)` arrived, none of them below the next byte expected; how many of the bytes had not arrived before.
    fn take_in(&mut self, start: u64, end: u64, config: &Config) -> u64 {
        let Receiver { islands, duplicates, tells, recent, .. } = self;
        let again = |part, begins| came_again(duplicates, tells, part, begins);
        if start > self.next {
            let joined = islands.insert(start, end, again);
            if config.sack {
                recent.remember(&joined);
            }
            return joined.new;
        }
        let joined = islands.reach(start, end, again);
        self.next = joined.island.end;
        if config.sack {
            recent.forget_reached(self.next);
        }
        joined.new
    }

    /// Writes SACK blocks, as many as there is room for: what came again (RFC 2883 §4), the island that arrived last,
    /// then those before it (RFC 2018 §4).
    #[cold]
    pub(in crate::tcp) fn report(&self, segment: &mut Segment, numbering: Numbering) {
        let (mut count, room) = (0, segment.room_for_blocks());
        if let Some((start, end)) = self.duplicates.as_ref().and_then(|duplicates| duplicates.reported()) {
            segment.sack[0] = (numbering.wire(start), numbering.wire(end));
            count = 1;
        }
        for (block, island) in segment.sack[count..room].iter_mut().zip(self.recent.iter()) {
            *block = (numbering.wire(u64::from(island.start)), numbering.wire(u64::from(island.end)));
            count += 1;
        }
        segment.sack_count = count as u8;
    }
}
