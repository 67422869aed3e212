//! The receiving half: reassembly and acknowledgements (RFC 5681 §4.2, RFC 1122 §4.2.3.2).
//!
//! As long as the application reads at once the advertised window never moves, unless it grows as in Linux ([`super::buffer`]): it
//! is the plan's window or, without one, as large as the wire can say. An application that does not is in [`reading`]. Only lengths
//! are kept, no bytes.

mod delayed;
mod disorder;
mod islands;
mod reading;

use std::ops::RangeInclusive;

use islands::{Islands, Recent};

use crate::plan::{AckRule, TcpPlan};
use crate::tcp::buffer::{Arrival, Buffer};
use crate::tcp::config::Config;
use crate::tcp::dsack::Duplicates;
use crate::tcp::reader::Reader;
use crate::tcp::report::Counters;
use crate::tcp::segment::{Segment, flags};
use crate::tcp::timers::HALF_TICK;
use crate::units::{Span, Time};

/// What has arrived and what is owed to the other side for it.
#[derive(Debug)]
#[repr(C)]
pub(in crate::tcp) struct Receiver {
    /// The islands that arrived last, where SACK reports them.
    recent: Recent,
    /// A window that grows, and what of it the other side was told last.
    buffer: Option<Box<Buffer>>,
    said: u64,
    /// What came again, if that is reported.
    duplicates: Option<Box<Duplicates>>,
    /// Ahead of `next`.
    islands: Islands,
    /// User bytes of the longest segment in order that the window has room for without a look; 0: look.
    longest: u64,
    // What data in order touch.
    /// ACKs that are still not delayed (Linux's quick ACKs).
    quick: u32,
    /// As many come with the first data in order, of Linux.
    first_quick: u32,
    /// Data have arrived since the last ACK, in order or not (`ICSK_ACK_SCHED`).
    scheduled: bool,
    /// Linux's interactive mode (`inet_csk_in_pingpong_mode`): data left soon after data had come, so the next ACK waits for data to
    /// leave with.
    interactive: bool,
    /// In that mode: the segment that comes has PSH; one that was short, or had PSH, has come since the last ACK (`ICSK_ACK_PUSHED`).
    pushes: bool,
    pushed: bool,
    /// See [`Receiver::tells`].
    tells: bool,
    /// An ACK must leave now.
    ack_now: bool,
    /// See [`Receiver::has_ended`].
    ended: bool,
    /// When a delayed ACK must leave, or an application that does not read at once reads next.
    delayed_until: Time,
    /// Bytes received in order and not acknowledged yet.
    owed: u64,
    /// Everything below this has arrived.
    next: u64,
    /// What the last ACK said (RFC 7323's Last.ACK.sent).
    acknowledged_to: u64,
}

impl Receiver {
    pub(in crate::tcp) fn new(plan: &TcpPlan) -> Receiver {
        let grows = plan.rules.acks == AckRule::WhileBufferGrows;
        Receiver {
            next: 0,
            acknowledged_to: 0,
            islands: Islands::default(),
            longest: plan.window.unwrap_or(u64::MAX).max(1),
            recent: Recent::default(),
            delayed_until: Time::NEVER,
            owed: 0,
            ack_now: false,
            quick: if grows { 0 } else { plan.quick_acks },
            first_quick: if grows { plan.quick_acks } else { 0 },
            scheduled: false,
            interactive: false,
            pushes: false,
            pushed: false,
            tells: grows,
            buffer: grows.then(|| Box::new(Buffer::new(plan.mss, plan.window))),
            said: 0,
            ended: false,
            duplicates: (plan.sack && plan.rules.dsack).then(Box::default),
        }
    }

    /// The next byte expected.
    #[inline]
    pub(in crate::tcp) fn next(&self) -> u64 {
        self.next
    }

    /// What the last ACK said.
    pub(in crate::tcp) fn acknowledged_to(&self) -> u64 {
        self.acknowledged_to
    }

    /// Whether an ACK must leave now.
    #[inline]
    pub(in crate::tcp) fn ack_now(&self) -> bool {
        self.ack_now
    }

    /// Whether something arrived ahead of a gap.
    #[inline]
    pub(in crate::tcp) fn has_gaps(&self) -> bool {
        !self.islands.is_empty()
    }

    /// Whether the next ACK reports something that came again.
    #[inline]
    pub(in crate::tcp) fn has_duplicates(&self) -> bool {
        self.duplicates.as_ref().is_some_and(|duplicates| duplicates.are_news())
    }

    /// Asks for an ACK at once.
    pub(in crate::tcp) fn demand_ack(&mut self) {
        self.ack_now = true;
    }

    /// A segment without data came that lies before what is expected. RFC 9293 §3.10.7.4: an ACK for it, and no more; in Linux 6.18 not
    /// too often (`tcp_oow_rate_limited`).
    #[cold]
    pub(in crate::tcp) fn handle_unacceptable(&mut self, now: Time) {
        if self.buffer.as_mut().is_none_or(|buffer| buffer.answers_unacceptable(now)) {
            self.ack_now = true;
        }
    }

    /// Whether data have arrived in order that no ACK has reported.
    pub(in crate::tcp) fn owes(&self) -> bool {
        self.owed > 0
    }

    /// Data leave at `now`, when some have come, of a sender that has measured `rtt`: soon after the last ones they are an answer.
    #[inline]
    pub(in crate::tcp) fn note_answer(&mut self, now: Time, rtt: Span) {
        self.interactive |= self.buffer.as_deref_mut().is_some_and(|buffer| buffer.answers(now, rtt));
    }

    /// Whether data that come now are acknowledged at once (`tcp_in_quickack_mode`).
    #[inline(always)]
    fn is_quick(&self) -> bool {
        self.quick > 0 && !self.interactive
    }

    /// When it wants to be woken.
    #[inline]
    pub(in crate::tcp) fn wakeup(&self) -> Time {
        self.delayed_until
    }

    /// The next ACK says more than its number and gaps.
    fn has_news(&self) -> bool {
        let reports = self.duplicates.as_ref().is_some_and(|duplicates| duplicates.reported().is_some());
        reports || self.has_duplicates() || self.window_is_news()
    }

    /// What a segment that leaves says of the window, if that is not the plan's.
    #[inline]
    pub(in crate::tcp) fn offered(&self) -> Option<u32> {
        self.buffer.as_ref().map(|buffer| {
            let window = buffer.reader.as_ref().map_or(buffer.offered(), Reader::said);
            u32::try_from(window).unwrap_or(u32::MAX - 1)
        })
    }

    /// Whether the other side does not know the window yet.
    #[inline]
    pub(in crate::tcp) fn window_is_news(&self) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| buffer.offered() != self.said)
    }

    /// The handshake took a round trip of `rtt`.
    pub(in crate::tcp) fn handle_handshake(&mut self, now: Time, rtt: Span) {
        if let Some(buffer) = &mut self.buffer {
            buffer.handle_handshake(now, rtt);
        }
    }

    /// Data bring the timestamp `echo` back at `now`; 0: they bring none.
    #[inline]
    pub(in crate::tcp) fn handle_echo(&mut self, now: Time, echo: u32) {
        if let Some(buffer) = &mut self.buffer
            && echo != 0
        {
            buffer.handle_echo(now, echo);
        }
    }

    /// An ACK leaves, alone or on data.
    #[inline]
    pub(in crate::tcp) fn acknowledged(&mut self) {
        if let Some(buffer) = &mut self.buffer {
            self.said = buffer.offered();
            buffer.compression.held = 0;
            if std::mem::take(&mut self.scheduled) {
                // `tcp_dec_quickack_mode`: every ACK of data uses one up, whatever it left for; behind the last none begin any more.
                if self.quick == 1 {
                    self.first_quick = 0;
                }
                self.quick = self.quick.saturating_sub(1);
            }
        }
        if let Some(duplicates) = &mut self.duplicates {
            duplicates.leave();
        }
        self.tells = self.has_news();
        self.settled();
        if self.longest == 0 {
            self.say_window();
        }
    }

    /// Whether the next ACK says more than its number and gaps: a window that has grown, or duplicates. Also where it ends
    /// something: duplicates that the last one told of, a quick ACK, ACKs that were put off.
    #[inline]
    pub(in crate::tcp) fn tells(&self) -> bool {
        self.tells
    }

    /// Nothing is owed any more.
    #[inline]
    pub(in crate::tcp) fn settled(&mut self) {
        self.acknowledged_to = self.next;
        self.ack_now = false;
        self.pushed = false;
        self.owed = 0;
        self.delayed_until = Time::NEVER;
    }

    /// Whether that is so already.
    #[inline]
    pub(in crate::tcp) fn is_settled(&self) -> bool {
        self.acknowledged_to == self.next
            && !self.ack_now
            && self.owed == 0
            && self.delayed_until == Time::NEVER
    }

    /// The delayed-ACK timer.
    #[inline]
    pub(in crate::tcp) fn handle_wakeup(&mut self, now: Time, config: &Config) {
        if now >= self.delayed_until {
            if self.longest == 0 {
                return self.handle_reader_wakeup(now, config);
            }
            self.delayed_until = Time::NEVER;
            self.handle_ack_expiry();
        }
    }

    /// A segment with user bytes from offset `start` on arrived.
    #[inline]
    pub(in crate::tcp) fn handle_data(
        &mut self,
        now: Time,
        start: u64,
        segment: &Segment,
        config: &Config,
        counters: &mut Counters,
    ) {
        let len = segment.len;
        if start == self.next {
            self.note_push(segment.flags & flags::PSH != 0, config);
            self.handle_next(now, len, config, counters);
        } else {
            self.handle_disorder(now, start, len, config, counters);
        }
    }

    /// The next data have PSH, or not.
    #[inline]
    pub(in crate::tcp) fn note_push(&mut self, pushed: bool, config: &Config) {
        if pushed && config.linux_acks && self.islands.is_empty() {
            // `tcp_measure_rcv_mss`, `tcp_cleanup_rbuf`: the application has read all, and no more need follow.
            match self.reader_mut() {
                Some(reader) => reader.note_push(),
                None => *(if self.interactive { &mut self.pushes } else { &mut self.ack_now }) = true,
            }
        }
    }

    /// The next `len` > 0 user bytes arrived.
    #[inline(always)]
    pub(in crate::tcp) fn handle_next(
        &mut self,
        now: Time,
        len: u32,
        config: &Config,
        counters: &mut Counters,
    ) {
        if self.islands.is_empty() && u64::from(len) <= self.longest {
            self.next += u64::from(len);
            counters.delivered_bytes += u64::from(len);
            counters.delivered_segments += 1;
            self.owe(now, len, config);
        } else {
            self.handle_disorder(now, self.next, len, config, counters);
        }
    }

    /// The next `len` user bytes and the FIN behind them arrived.
    pub(in crate::tcp) fn handle_last(
        &mut self,
        now: Time,
        len: u32,
        config: &Config,
        counters: &mut Counters,
    ) {
        self.next += u64::from(len);
        counters.delivered_bytes += u64::from(len);
        counters.delivered_segments += u64::from(len > 0);
        // A FIN has a number too.
        self.owed += u64::from(len) + 1;
        let Some(buffer) = &mut self.buffer else {
            // RFC 9293 §3.10.7.4.
            self.ack_now = true;
            return;
        };
        if len > 0 {
            buffer.handle_data(now, (self.next, self.next), (u64::from(len), 0), config.timestamps);
        }
        // `tcp_fin`: what answers is expected to leave soon (`inet_csk_enter_pingpong_mode`), so that no ACK is quick but one of
        // more than a full segment (`__tcp_ack_snd_check`).
        (self.scheduled, self.quick, self.tells) = (true, 0, true);
        if self.owed >= config.ack_every.min(u64::from(config.mss) + 1) {
            self.ack_now = true;
        } else {
            // Where no data have come before, the time to wait is zero, and the next tick sends it (`icsk_ack.ato`).
            let first = self.next == 0;
            let until = if first { now.saturating_add(HALF_TICK) } else { self.ack_deadline(now, config) };
            self.delayed_until = self.delayed_until.min(until);
        }
    }

    /// Whether a FIN has arrived and all before it: then the last of [`Receiver::next`] is no user byte.
    #[inline]
    pub(in crate::tcp) fn has_ended(&self) -> bool {
        self.ended
    }

    /// A FIN at `end` has arrived, and all before it: it has a number, and nothing is expected behind it.
    pub(in crate::tcp) fn end_at(&mut self, end: u64) {
        self.next = end + 1;
        self.ended = true;
        (self.islands, self.recent) = (Islands::default(), Recent::default());
    }

    /// How far the data ahead of a gap reach beyond what is expected next; 0: there is no gap.
    fn ahead(&self) -> u64 {
        self.islands.last().map_or(0, |island| island.end - self.next)
    }

    /// The end of the highest stretch ahead of a gap.
    pub(in crate::tcp) fn highest(&self) -> Option<u64> {
        self.islands.last().map(|island| island.end)
    }

    /// The lengths of segments that are acknowledged at once and singly, as long as they come in order and nothing is owed.
    pub(in crate::tcp) fn acknowledged_singly(&self, config: &Config) -> RangeInclusive<u32> {
        let length = |bytes| u32::try_from(bytes).unwrap_or(u32::MAX);
        if self.buffer.is_none() && self.islands.is_empty() {
            length(config.ack_every)..=length(config.window)
        } else {
            RangeInclusive::new(1, 0)
        }
    }

    /// Such a segment arrived, and its ACK leaves.
    #[inline(always)]
    pub(in crate::tcp) fn take_acknowledged(&mut self, len: u32, counters: &mut Counters) {
        self.next += u64::from(len);
        self.acknowledged_to = self.next;
        counters.delivered_bytes += u64::from(len);
        counters.delivered_segments += 1;
        counters.acks_sent += 1;
    }

    /// Data arrived in order: acknowledge now or later.
    #[inline(always)]
    fn owe(&mut self, now: Time, len: u32, config: &Config) {
        self.owed += u64::from(len);
        if self.buffer.is_some() {
            self.scheduled = true;
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
        } else if self.is_quick() {
            self.quick -= u32::from(self.buffer.is_none());
            self.ack_now = true;
        } else if self.delayed_until == Time::NEVER {
            self.delayed_until = self.ack_deadline(now, config);
        } else if self.buffer.is_some() {
            self.put_off_or_hasten(now, config);
        }
    }

    /// Widens Linux's window; whether the segment is acknowledged at once because it is shorter than a full one and the
    /// application has read it by then (`tcp_cleanup_rbuf`), or because more than a full one has not been acknowledged.
    #[inline(always)]
    fn widen(&mut self, now: Time, len: u32, config: &Config) -> bool {
        let next = self.next;
        let Some(buffer) = &mut self.buffer else { return false };
        let mut short = buffer.is_short(len, self.ack_now || self.pushes);
        if self.interactive {
            // A second short one before an ACK left (`ICSK_ACK_PUSHED2`).
            let first = !self.pushed;
            self.pushed |= short || self.pushes;
            (short, self.pushes) = (short && !first, false);
        }
        // Where short ones are put off too, what is owed may be between one full segment and two.
        let much = (buffer.full < config.mss || self.interactive) && self.owed > u64::from(buffer.full);
        let arrival = buffer.handle_data(now, (next, next), (u64::from(len), 0), config.timestamps);
        self.take_arrival(arrival);
        short || much
    }

    /// Data came in order (`tcp_event_data_recv`): how many ACKs are not delayed.
    #[inline(always)]
    fn take_arrival(&mut self, arrival: Arrival) {
        if arrival.late {
            self.quicken(arrival.after_pause);
        }
        if arrival.grew {
            // `tcp_grow_window`.
            self.quick |= 1;
            self.tells = true;
        }
    }

    /// The first data came, or data after a pause: some ACKs are not delayed.
    #[cold]
    fn quicken(&mut self, after_pause: bool) {
        if self.first_quick > 0 {
            self.quick = self.quick.max(std::mem::take(&mut self.first_quick));
        } else if after_pause && let Some(buffer) = &self.buffer {
            self.quick = self.quick.max(buffer.quick_acks());
        }
    }
}
