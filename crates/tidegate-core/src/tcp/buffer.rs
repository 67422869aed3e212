//! The receive window as Linux tunes it, and the ACKs that follow from its growth: `tcp_grow_window`, `tcp_rcv_space_adjust` and
//! `tcp_rcvbuf_grow` of Linux 6.18. Where the application reads at once the buffer is always empty, and only what it may hold matters;
//! where it does not, what waits takes its place from the window (`__tcp_select_window`, [`super::reader`]).
//!
//! DEVIATION: the kernel counts the memory of packets, here bytes count: as if all were as well filled as packets of 1500 B.

use super::ack_timeout::AckTimeout;
use super::compression::Compression;
use super::reader::Reader;
use super::timestamp;
use crate::units::{Span, Time};

/// The first window (`tcp_select_initial_window`: what a header without a scale can say).
const FIRST: u64 = 65_535;
/// The first buffer, 128 KiB (`tcp_rmem[1]`), of which packets of 1500 B fill 63% with data.
const FIRST_CLAMP: u64 = 131_072 * 161 / 256;
/// The largest buffer, 32 MiB (`tcp_rmem[2]`), and what fills it likewise.
const LARGEST_BUFFER: u64 = 33_554_432;
const LARGEST_CLAMP: u64 = LARGEST_BUFFER / 256 * 161;

/// Linux's quick ACKs in a row (`TCP_MAX_QUICKACKS`).
pub const MOST_QUICK: u32 = 16;
/// Two segments so long at least, of one length, are taken for full ones (`TCP_MSS_DEFAULT`); without PSH so long (`TCP_MIN_MSS`).
const FULL_AT_LEAST: u32 = 536;
const FULL_WITHOUT_PUSH: u32 = 88;

/// A shorter segment does not widen the window (`tcp_event_data_recv`).
const WIDENS_AT_LEAST: u64 = 128;

/// What segments in order were to a receiver.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrival {
    /// The window has grown, for which they are acknowledged at once.
    pub(super) grew: bool,
    /// They may be the first, or have come after a pause.
    pub(super) late: bool,
    /// They came after a pause longer than a time-out: these and some more are acknowledged at once (`tcp_event_data_recv`).
    pub(super) after_pause: bool,
}

/// The scale of a window (`tcp_select_initial_window`): it is said in multiples of 2 to this power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale(u32);

impl Scale {
    /// That of a buffer which holds `most` bytes at most.
    fn of(most: u64) -> Scale {
        Scale(most.max(1).ilog2().saturating_sub(15).min(14))
    }

    /// The next multiple.
    pub(super) fn align(self, window: u64) -> u64 {
        window.next_multiple_of(1 << self.0)
    }

    fn down(self, window: u64) -> u64 {
        window >> self.0 << self.0
    }
}

/// Segments without data that are not acceptable are answered once in this time (RFC 5961 §7, `tcp_invalid_ratelimit`).
pub(super) const BETWEEN_CHALLENGES: Span = Span::from_millis(500);

/// A receive window that grows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    /// What a full segment has, by those that came (`rcv_mss`), and the last one if it was shorter (`last_seg_size`); 0: it was not.
    pub(super) full: u32,
    short: u32,
    /// The time-out after the handshake, and when that was over.
    pause: Span,
    begun: Time,
    /// How long an ACK is put off, and the round trip that bounds it where data leave this end too.
    ack_timeout: AckTimeout,
    own_rtt: Span,
    /// Data before this instant are not the first, come after no pause, and leave the time for which ACKs are put off as it is.
    late_from: Time,
    mss: u64,
    /// What the receiver offers (`rcv_ssthresh`).
    offered: u64,
    /// What the buffer holds at most (`window_clamp`).
    clamp: u64,
    /// The window was set by the user and is not tuned.
    fixed: bool,
    /// What the buffer of such a window holds, if that is more.
    room: u64,
    /// Most bytes read in a round trip (`rcvq_space.space`).
    space: u64,
    /// Where the round trip began that is being counted, and when.
    counted_from: u64,
    counted_since: Time,
    /// When the last segment came in order, where it ends, and where what had waited for it ends.
    arrived_at: Time,
    read: u64,
    next: u64,
    /// How far the data ahead of a gap reached then beyond what is expected next; 0: there was no gap.
    pub(super) ahead: u64,
    /// Round trip as the receiver sees it; zero: not known yet.
    rtt: Span,
    /// That of the handshake (the `srtt_us` of an end that sends no data).
    handshake: Option<Span>,
    /// The last timestamp that came back.
    echo: u32,
    /// Without timestamps: a window has come when this offset has, and when it began.
    window_end: u64,
    window_since: Time,
    /// Linux's rules say how it grows and what is said of it; else those of the RFCs.
    pub(super) linux: bool,
    /// Windows are said in multiples.
    pub(super) scale: Scale,
    /// The application, where it does not read at once.
    pub(super) reader: Option<Reader>,
    /// When a segment without data was answered last that lay before what was expected.
    unacceptable_at: Option<Time>,
    /// ACKs of what comes ahead of a gap.
    pub(super) compression: Compression,
}

/// User bytes that a buffer holds whose window may be `window` at most (`TCP_WINDOW_CLAMP`): it has room for four of them.
fn room_of(window: u64) -> u64 {
    (4 * window).clamp(131_072, 2 * LARGEST_BUFFER) / 256 * 161
}

impl Buffer {
    /// `window`: what the user has set.
    pub(super) fn new(mss: u32, window: Option<u64>) -> Buffer {
        let full = FULL_AT_LEAST.min(mss);
        let mss = u64::from(mss);
        let clamp = window.unwrap_or(FIRST_CLAMP);
        Buffer {
            full,
            short: 0,
            pause: Span::from_secs(1),
            begun: Time::ZERO,
            ack_timeout: AckTimeout::LEAST,
            own_rtt: Span::ZERO,
            late_from: Time::ZERO,
            mss,
            offered: clamp.min(FIRST),
            clamp,
            fixed: window.is_some(),
            room: window.map_or(0, room_of),
            space: (10 * mss).min(clamp),
            counted_from: 0,
            counted_since: Time::ZERO,
            arrived_at: Time::ZERO,
            read: 0,
            next: 0,
            ahead: 0,
            rtt: Span::ZERO,
            handshake: None,
            echo: 0,
            window_end: 0,
            window_since: Time::ZERO,
            linux: true,
            scale: Scale::of(window.unwrap_or(LARGEST_BUFFER)),
            reader: None,
            unacceptable_at: None,
            compression: Compression::default(),
        }
    }

    /// One that stays, of an end by the RFCs whose application does not read at once.
    pub(super) fn unchanging(mss: u32, window: Option<u64>) -> Buffer {
        let window = window.unwrap_or(FIRST);
        let scale = Scale(0);
        Buffer { linux: false, offered: window, room: window, scale, ..Buffer::new(mss, Some(window)) }
    }

    /// The first window is one of whole segments (`tcp_select_initial_window`).
    pub(super) fn begin_in_segments(&mut self) {
        if self.linux && self.offered > self.mss {
            self.offered -= self.offered % self.mss;
        }
    }

    pub(super) fn mss(&self) -> u64 {
        self.mss
    }

    /// What the buffer holds at most.
    pub(super) fn clamp(&self) -> u64 {
        self.clamp
    }

    /// What is left beside `used` bytes.
    pub(super) fn space(&self, used: u64) -> u64 {
        self.room.max(self.clamp).saturating_sub(used)
    }

    /// Whether less than half is left: Linux's ACKs are in no hurry then.
    pub(super) fn is_half_full(&self, used: u64) -> bool {
        self.space(used) < self.clamp / 2
    }

    /// `__tcp_select_window`: what may be said of the window beside `used` bytes, where it was `said` last. 0 is said early, so that no
    /// silly window is.
    pub(super) fn window_beside(&self, used: u64, said: u64) -> u64 {
        let mut free = self.space(used);
        let mss = self.mss.min(self.clamp);
        if self.is_half_full(used) {
            free = self.scale.down(free);
            if free < self.space(0) / 16 || free < mss {
                return 0;
            }
        }
        let free = free.min(self.offered);
        if self.scale != Scale(0) {
            self.scale.align(free)
        } else if said + mss <= free || said > free {
            free / mss * mss
        } else if mss == self.clamp && free > said + self.clamp / 2 {
            free
        } else {
            said
        }
    }

    /// What the receiver offers.
    pub(super) fn offered(&self) -> u64 {
        self.offered
    }

    /// Whether such a segment is answered at `now`.
    pub(super) fn answers_unacceptable(&mut self, now: Time) -> bool {
        let answered =
            self.unacceptable_at.is_some_and(|last| now.saturating_since(last) < BETWEEN_CHALLENGES);
        if !answered {
            self.unacceptable_at = Some(now);
        }
        !answered
    }

    /// The handshake took a round trip of `rtt`.
    pub(super) fn handle_handshake(&mut self, now: Time, rtt: Span) {
        self.handshake = Some(rtt);
        self.begun = now;
        self.pause = rtt + Span::from_millis(200).max(rtt.saturating_mul(2));
    }

    /// A segment of `len` bytes came in order, `pushed` if it has PSH: whether it is taken for less than a full one
    /// (`tcp_measure_rcv_mss`).
    #[inline(always)]
    pub(super) fn is_short(&mut self, len: u32, pushed: bool) -> bool {
        let last = std::mem::take(&mut self.short);
        if len >= self.full {
            self.full = len;
            return false;
        }
        if len >= FULL_AT_LEAST || (len >= FULL_WITHOUT_PUSH && !pushed) {
            self.short = len;
            if len == last {
                self.full = len;
                return false;
            }
        }
        true
    }

    /// ACKs that are not delayed for now (`tcp_incr_quickack`).
    pub(super) fn quick_acks(&self) -> u32 {
        let acks = self.offered / (2 * u64::from(self.full));
        u32::try_from(acks).unwrap_or(MOST_QUICK).clamp(2, MOST_QUICK)
    }

    /// The round trip as the receiver sees it, or that of the handshake if it is shorter; zero: not known yet.
    pub(super) fn rtt(&self) -> Span {
        self.handshake.map_or(self.rtt, |rtt| rtt.min(self.rtt))
    }

    /// A segment's timestamp `echo` tells how long before `now` what it answers was sent (`tcp_rcv_rtt_measure_ts`).
    #[inline]
    pub(super) fn handle_echo(&mut self, now: Time, echo: u32) {
        if echo != self.echo {
            self.handle_rtt(echo, now.saturating_since(timestamp::sent_at(echo, now)));
        }
    }

    fn handle_rtt(&mut self, echo: u32, rtt: Span) {
        self.echo = echo;
        let rtt = rtt.max(Span::from_picos(1));
        // `tcp_rcv_rtt_update`: down at once, up by an eighth of the difference.
        self.rtt = if self.rtt == Span::ZERO || rtt < self.rtt {
            rtt
        } else {
            self.rtt + Span::from_picos((rtt - self.rtt).picos() / 8)
        };
    }

    /// A segment of `len` bytes came that the application reads, up to offset `read`, and behind it what had waited for it, up to offset
    /// `next`, where `held` bytes waited.
    #[inline(always)]
    pub(super) fn handle_data(
        &mut self,
        now: Time,
        (read, next): (u64, u64),
        (len, held): (u64, u64),
        timestamps: bool,
    ) -> Arrival {
        let mut arrival = self.arrival_at(now);
        if !timestamps {
            self.measure_by_window(now, next);
        }
        // The last segment was read after it was acknowledged, and before this one came, even at the same instant: that is a line which
        // is faster than any other.
        self.count(self.arrived_at, self.read, self.next - self.read);
        (self.arrived_at, self.read, self.next) = (now, read, next);
        // It lies in the buffer until it is read.
        arrival.grew = len >= WIDENS_AT_LEAST && self.grow(len, held + len);
        arrival
    }

    /// Data came to an application that does not read at once: `len` bytes, with which `used` wait.
    pub(super) fn handle_unread(&mut self, now: Time, len: u64, used: u64) -> Arrival {
        let arrival = self.arrival_at(now);
        self.arrived_at = now;
        Arrival { grew: len >= WIDENS_AT_LEAST && self.grow(len, used), ..arrival }
    }

    /// Data leave at `now`, of a sender that has measured `rtt`: whether they answer the last ones that came in order, because they leave
    /// within the time for which an ACK is put off (`tcp_event_data_sent`).
    pub(super) fn answers(&mut self, now: Time, rtt: Span) -> bool {
        self.own_rtt = rtt;
        self.linux && now.saturating_since(self.arrived_at) < self.ack_timeout.span()
    }

    /// Whether data that come at `now` come after a pause.
    #[inline(always)]
    fn arrival_at(&mut self, now: Time) -> Arrival {
        let late = now >= self.late_from;
        let after_pause = late && self.take_gap(now);
        let least = self.ack_timeout == AckTimeout::LEAST;
        self.late_from = now.saturating_add(if least { AckTimeout::SHORT_GAP } else { Span::ZERO });
        Arrival { grew: false, late, after_pause }
    }

    /// `tcp_event_data_recv`, for what lies between the last data and those that come at `now`: whether that is a pause.
    #[inline(never)]
    fn take_gap(&mut self, now: Time) -> bool {
        if self.arrived_at > Time::ZERO {
            self.ack_timeout.handle_gap(now.saturating_since(self.arrived_at), self.pause);
        }
        now.saturating_since(self.arrived_at.max(self.begun)) > self.pause
    }

    /// An ACK had to leave alone, in Linux's interactive mode or not.
    pub(super) fn handle_ack_expiry(&mut self, interactive: bool) {
        self.ack_timeout.handle_expiry(interactive, self.pause);
    }

    /// ACKs are put off for the least time again (`tcp_enter_quickack_mode`).
    pub(super) fn put_off_least(&mut self) {
        self.ack_timeout = AckTimeout::LEAST;
    }

    /// How much longer than the least time an ACK is put off.
    #[inline(always)]
    pub(super) fn beyond_least(&self) -> Span {
        if self.ack_timeout == AckTimeout::LEAST { Span::ZERO } else { self.beyond_least_by_trip() }
    }

    #[inline(never)]
    fn beyond_least_by_trip(&self) -> Span {
        let trip = if self.own_rtt == Span::ZERO { self.handshake.unwrap_or_default() } else { self.own_rtt };
        self.ack_timeout.beyond_least(trip)
    }

    /// `len` bytes came ahead of a gap, where `held` bytes had come before, and the last bytes now held lie `ahead` bytes after it: whether the
    /// window has grown.
    pub(super) fn handle_ahead(&mut self, len: u64, ahead: u64, held: u64) -> bool {
        let grew = self.grow(len, held);
        if !self.fixed {
            self.widen_to(2 * self.space, ahead);
        }
        grew
    }

    /// `tcp_rcvbuf_grow`: the buffer holds a window of so much at least, and what lies `ahead` of a gap beside it.
    fn widen_to(&mut self, window: u64, ahead: u64) {
        self.clamp = self.clamp.max(window.saturating_add(ahead).min(LARGEST_CLAMP));
    }

    /// `tcp_grow_window` for a segment of `len` bytes: by two segments, as far as the buffer goes, in which `held` bytes lie. DEVIATION:
    /// every segment fills it as well as a full one; in the kernel a short one takes the place of a longer one.
    #[inline(always)]
    pub(super) fn grow(&mut self, len: u64, held: u64) -> bool {
        // There is never more room than the buffer holds at most.
        self.clamp > self.offered && self.grow_beside(len, held)
    }

    #[inline(never)]
    fn grow_beside(&mut self, len: u64, held: u64) -> bool {
        let held = if self.fixed && self.reader.is_none() { 0 } else { held };
        let room = self.clamp.min(self.space(held));
        if room <= self.offered {
            return false;
        }
        let longest = if len < self.mss { len.max(u64::from(self.full)) } else { self.mss };
        self.offered += (room - self.offered).min(2 * longest);
        true
    }

    /// `tcp_rcv_rtt_measure`: a window of data takes a round trip at least.
    pub(super) fn measure_by_window(&mut self, now: Time, next: u64) {
        if next < self.window_end {
            return;
        }
        if self.window_end > 0 {
            let took = now.saturating_since(self.window_since).max(Span::from_picos(1));
            self.rtt = if self.rtt == Span::ZERO { took } else { self.rtt.min(took) };
        }
        self.window_end = next + self.offered;
        self.window_since = now;
    }

    /// `tcp_rcv_space_adjust`: once a round trip, if more was read, up to offset `read`, than in any before. What is still to be
    /// read, `unread` bytes, counts against it. The round trip ends at the first segment read after it: those behind it belong to
    /// the next.
    #[inline(always)]
    pub(super) fn count(&mut self, now: Time, read: u64, unread: u64) {
        if self.rtt != Span::ZERO && now.saturating_since(self.counted_since) >= self.rtt {
            self.end_round(now, read, unread);
        }
    }

    #[inline(never)]
    fn end_round(&mut self, now: Time, read: u64, unread: u64) {
        let copied = (read - self.counted_from).saturating_sub(unread);
        if copied > self.space && !self.fixed {
            // Twice what came, because the sender is a round trip ahead; and twice as much again by how it has grown.
            let growth = 2 * u128::from(copied) - u128::from(self.space);
            let window = u128::from(2 * copied) * growth / u128::from(self.space.max(1));
            self.space = copied;
            self.widen_to(u64::try_from(window).unwrap_or(u64::MAX), self.ahead);
        }
        self.counted_from = read;
        self.counted_since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_grows_by_two_segments_for_each_up_to_the_clamp() {
        let mut buffer = Buffer::new(1000, Some(80_000));
        assert_eq!(buffer.offered(), 65_535);
        let grew = (1..10)
            .filter(|n| buffer.handle_data(Time::ZERO, (n * 1000, n * 1000), (1000, 0), true).grew)
            .count();
        // 14,465 bytes are missing: eight segments.
        assert_eq!((grew, buffer.offered()), (8, 80_000));
    }

    /// A buffer with a round trip of 10 ms, and segments that each come a round trip after the one before, at the ends given.
    fn after_rounds(mss: u32, rtt: Span, ends: &[(u64, u64)]) -> Buffer {
        let mut buffer = Buffer::new(mss, None);
        buffer.handle_rtt(1, rtt);
        let mut now = Time::ZERO;
        for (read, next) in ends {
            now += rtt;
            buffer.handle_data(now, (*read, *next), (1000, 0), true);
        }
        buffer
    }

    #[test]
    fn the_clamp_follows_what_a_round_trip_brings() {
        let rounds: Vec<(u64, u64)> =
            [10_000, 30_000, 70_000, 150_000, 150_001].map(|end| (end, end)).to_vec();
        let rtt = Span::from_millis(10);
        // 2 · 80,000 · (1 + 2 · 40,000 / 40,000)
        assert_eq!(after_rounds(1000, rtt, &rounds).clamp, 480_000);
        // As much again does not widen it.
        let again: Vec<(u64, u64)> =
            rounds[..4].iter().copied().chain([(230_000, 230_000), (230_001, 230_001)]).collect();
        assert_eq!(after_rounds(1000, rtt, &again).clamp, 480_000);
    }

    #[test]
    fn what_waits_behind_the_segment_that_is_read_counts_against_it() {
        // As kernel 6.18 does over 1 Mbit/s with a round trip of 20 ms, told by its trace point `tcp_rcvbuf_grow`: 20,272 bytes read
        // since the last round trip, of 1448 each, and 1448 still to be read, make a space of 18,824 and leave the buffer.
        let mss = 1448;
        let rtt = Span::from_micros(88_312);
        let mut rounds = vec![(8 * mss, 8 * mss), (22 * mss, 23 * mss), (44 * mss, 44 * mss)];
        let buffer = after_rounds(1448, rtt, &rounds);
        assert_eq!((buffer.space, buffer.clamp, buffer.counted_from), (18_824, FIRST_CLAMP, 22 * mss));
        // The next round trip begins behind the segment read first: 2 · 31,856 · (1 + 2 · 13,032 / 18,824).
        rounds.push((45 * mss, 45 * mss));
        let later = after_rounds(1448, rtt, &rounds);
        assert_eq!((later.space, later.clamp), (31_856, 151_928));
    }

    #[test]
    fn what_lies_ahead_of_a_gap_needs_its_place_beside_the_window() {
        // Kernel 6.18 behind a policer, by `tcp_rcvbuf_grow`: 46,336 bytes copied after 27,512, and 107,152 ahead of a gap, make a
        // window of 326,637.
        let mut buffer = Buffer { space: 27_512, ahead: 107_152, ..Buffer::new(1448, None) };
        buffer.end_round(Time::ZERO, 46_336, 0);
        assert_eq!((buffer.space, buffer.clamp), (46_336, 326_638));
    }

    /// Windows that come whole at one instant, as over a gate that has no rate, widen the buffer as those that come one after the other.
    #[test]
    fn windows_of_one_instant_widen_the_buffer_as_others() {
        let rtt = Span::from_millis(10);
        let clamp = |between: u64| {
            let mut buffer = after_rounds(1000, rtt, &[(1000, 1000)]);
            for round in 1..=3 {
                for segment in 0..40 {
                    let at = Time::from_picos(2 * round * rtt.picos() + segment * between);
                    let end = 1000 * (2 + 40 * (round - 1) + segment);
                    buffer.handle_data(at, (end, end), (1000, 0), true);
                }
            }
            buffer.clamp
        };
        assert!(clamp(0) > FIRST_CLAMP);
        assert_eq!(clamp(0), clamp(1));
    }
}
