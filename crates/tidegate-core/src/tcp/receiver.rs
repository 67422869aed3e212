//! The receiving half: reassembly and acknowledgements (RFC 5681 §4.2, RFC 1122 §4.2.3.2).
//!
//! The application reads at once, so the advertised window never moves, unless it grows as in Linux ([`super::buffer`]): it
//! is the plan's window or, without one, as large as the wire can say. Silly windows, zero windows and window probes
//! therefore cannot occur. Only lengths are kept, no bytes.

use std::collections::VecDeque;

use super::buffer::Buffer;
use super::compression::Compression;
use super::config::Config;
use super::dsack::Duplicates;
use super::report::Counters;
use super::segment::{Segment, flags};
use super::seq::Numbering;
use crate::plan::{AckRule, TcpPlan};
use crate::units::{Span, Time};

/// Linux's quick ACKs in a row (`TCP_MAX_QUICKACKS`).
const MOST_QUICK: u32 = 16;

/// A stretch that arrived ahead of a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Island {
    start: u64,
    end: u64,
}

impl Island {
    fn holds(self, offset: u64) -> bool {
        self.start <= offset && offset < self.end
    }
}

/// What has arrived and what is owed to the other side for it.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Receiver {
    /// Ahead of `next`, in order, disjoint and not touching.
    islands: VecDeque<Island>,
    /// Everything below this has arrived.
    next: u64,
    /// When a delayed ACK must leave.
    delayed_until: Time,
    /// Bytes received in order and not acknowledged yet.
    owed: u64,
    /// ACKs that are still not delayed (Linux's quick ACKs).
    quick: u32,
    /// Data have arrived since the last ACK, in order or not (`ICSK_ACK_SCHED`).
    scheduled: bool,
    /// A window that grows, and what of it the other side was told last.
    buffer: Option<Box<Buffer>>,
    told: u64,
    /// What came again, if that is reported.
    duplicates: Option<Box<Duplicates>>,
    /// See [`Receiver::tells`].
    tells: bool,
    /// An ACK must leave now.
    ack_now: bool,
    /// What the last ACK said (RFC 7323's Last.ACK.sent).
    acknowledged_to: u64,
    /// An offset in each of the islands that arrived last, newest first (RFC 2018 §4).
    recent: [u64; 4],
}

impl Receiver {
    pub(super) fn new(plan: &TcpPlan) -> Receiver {
        let grows = plan.rules.acks == AckRule::WhileBufferGrows;
        Receiver {
            next: 0,
            acknowledged_to: 0,
            islands: VecDeque::new(),
            recent: [0; 4],
            delayed_until: Time::NEVER,
            owed: 0,
            ack_now: false,
            quick: plan.quick_acks,
            scheduled: false,
            tells: grows,
            buffer: grows.then(|| Box::new(Buffer::new(plan.mss, plan.window))),
            told: 0,
            duplicates: (plan.sack && plan.rules.dsack).then(Box::default),
        }
    }

    /// The next byte expected.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// What the last ACK said.
    pub(super) fn acknowledged_to(&self) -> u64 {
        self.acknowledged_to
    }

    /// Whether an ACK must leave now.
    #[inline]
    pub(super) fn ack_now(&self) -> bool {
        self.ack_now
    }

    /// Whether something arrived ahead of a gap.
    #[inline]
    pub(super) fn has_gaps(&self) -> bool {
        !self.islands.is_empty()
    }

    /// Whether the next ACK reports something that came again.
    #[inline]
    pub(super) fn has_duplicates(&self) -> bool {
        self.duplicates.as_ref().is_some_and(|duplicates| duplicates.are_news())
    }

    /// Asks for an ACK at once.
    pub(super) fn demand_ack(&mut self) {
        self.ack_now = true;
    }

    /// Whether data have arrived in order that no ACK has reported.
    pub(super) fn owes(&self) -> bool {
        self.owed > 0
    }

    /// The next `segments` are acknowledged at once.
    pub(super) fn hasten(&mut self, segments: u32) {
        self.quick = self.quick.max(segments);
        self.tells = true;
    }

    /// When a delayed ACK must leave.
    #[inline]
    pub(super) fn wakeup(&self) -> Time {
        self.delayed_until
    }

    /// The next ACK says more than its number and gaps.
    fn has_news(&self) -> bool {
        let told = self.duplicates.as_ref().is_some_and(|duplicates| duplicates.told().is_some());
        told || self.has_duplicates() || self.window_is_news()
    }

    /// What a segment that leaves says of the window, if that is not the plan's.
    #[inline]
    pub(super) fn offered(&self) -> Option<u32> {
        self.buffer.as_ref().map(|buffer| u32::try_from(buffer.offered()).unwrap_or(u32::MAX - 1))
    }

    /// Whether the other side does not know the window yet.
    #[inline]
    pub(super) fn window_is_news(&self) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| buffer.offered() != self.told)
    }

    /// The handshake took a round trip of `rtt`.
    pub(super) fn handle_handshake(&mut self, rtt: Span) {
        if let Some(buffer) = &mut self.buffer {
            buffer.handle_handshake(rtt);
        }
    }

    /// Data brought the timestamp `echo` back: how long ago it was sent.
    pub(super) fn handle_rtt(&mut self, echo: u32, rtt: Span) {
        if let Some(buffer) = &mut self.buffer {
            buffer.handle_rtt(echo, rtt);
        }
    }

    /// An ACK leaves, alone or on data.
    #[inline]
    pub(super) fn acknowledged(&mut self) {
        if let Some(buffer) = &mut self.buffer {
            self.told = buffer.offered();
            buffer.compression.held = 0;
            if std::mem::take(&mut self.scheduled) {
                // `tcp_dec_quickack_mode`: every ACK of data uses one up, whatever it left for.
                self.quick = self.quick.saturating_sub(1);
            }
        }
        if let Some(duplicates) = &mut self.duplicates {
            duplicates.leave();
        }
        self.tells = self.has_news();
        self.settled();
    }

    /// Whether the next ACK says more than its number and gaps: a window that has grown, or duplicates. Also where it ends
    /// something: duplicates that the last one told of, a quick ACK, ACKs that were put off.
    #[inline]
    pub(super) fn tells(&self) -> bool {
        self.tells
    }

    /// Nothing is owed any more.
    #[inline]
    pub(super) fn settled(&mut self) {
        self.acknowledged_to = self.next;
        self.ack_now = false;
        self.owed = 0;
        self.delayed_until = Time::NEVER;
    }

    /// The delayed-ACK timer.
    #[inline]
    pub(super) fn handle_wakeup(&mut self, now: Time) {
        if now >= self.delayed_until {
            self.delayed_until = Time::NEVER;
            self.ack_now = true;
        }
    }

    /// A segment with user bytes from offset `start` on arrived.
    pub(super) fn handle_data(
        &mut self,
        now: Time,
        start: u64,
        segment: &Segment,
        config: &Config,
        counters: &mut Counters,
    ) {
        let len = segment.len;
        if config.linux_acks
            && segment.flags & flags::PSH != 0
            && start == self.next
            && self.islands.is_empty()
        {
            // `tcp_measure_rcv_mss`, `tcp_cleanup_rbuf`: the application has read all, and no more need follow.
            self.ack_now = true;
        }
        if start == self.next {
            self.handle_next(now, len, config, counters);
        } else {
            self.handle_disorder(now, start, len, config, counters);
        }
    }

    /// The next `len` > 0 user bytes arrived.
    #[inline(always)]
    pub(super) fn handle_next(&mut self, now: Time, len: u32, config: &Config, counters: &mut Counters) {
        if self.islands.is_empty() && u64::from(len) <= config.window {
            self.next += u64::from(len);
            counters.delivered_bytes += u64::from(len);
            counters.delivered_segments += 1;
            self.owe(now, len, config);
        } else {
            self.handle_disorder(now, self.next, len, config, counters);
        }
    }

    /// Data arrived in order: acknowledge now or later.
    #[inline]
    fn owe(&mut self, now: Time, len: u32, config: &Config) {
        self.owed += u64::from(len);
        self.scheduled = true;
        if self.buffer.is_some() {
            let short = self.widen(now, len, config);
            self.tells |= self.quick > 0;
            if short {
                self.ack_now = true;
                return;
            }
        }
        // RFC 5681 §4.2: at least every second full-sized segment; here every `ack_every` bytes.
        if self.owed >= config.ack_every {
            self.ack_now = true;
        } else if self.quick > 0 {
            self.quick -= u32::from(self.buffer.is_none());
            self.ack_now = true;
        } else if self.delayed_until == Time::NEVER {
            self.delayed_until = config.ack_deadline(now);
        }
    }

    /// Widens Linux's window; whether the segment is acknowledged at once because it is shorter than a full one and the
    /// application has read it by then (`tcp_cleanup_rbuf`).
    #[inline(never)]
    fn widen(&mut self, now: Time, len: u32, config: &Config) -> bool {
        let next = self.next;
        if let Some(buffer) = &mut self.buffer
            && buffer.handle_data(now, next, next, config.timestamps)
        {
            // `tcp_grow_window`.
            self.quick |= 1;
            self.tells = true;
        }
        len < config.mss
    }

    /// Data that do not simply continue the stream.
    #[cold]
    fn handle_disorder(&mut self, now: Time, start: u64, len: u32, config: &Config, counters: &mut Counters) {
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
    pub(super) fn report(&self, segment: &mut Segment, numbering: Numbering) {
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
