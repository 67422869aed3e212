//! The pacer: data leave no faster than the controller's rate.

use crate::units::{PICOS_PER_SECOND, Rate, Span, Time};

/// When the next data may leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacer {
    /// Nothing leaves before (`tcp_wstamp_ns` in Linux).
    next: Time,
    /// What was rounded off `next`, in bits · ps; below `rate`.
    remainder: u64,
    rate: Rate,
    /// What a segment of `len` bytes takes at `rate`: whole picoseconds, and what is left in bits · ps.
    len: u64,
    whole: u64,
    rest: u64,
    /// Segments up to the first one whose packet is paced, that one included; 0: that one has left.
    free: u32,
    /// Bytes of the burst under way that have left while packets are not paced.
    unpaced: u64,
    /// Bytes that are left of the burst under way.
    burst: u64,
    /// By how much the burst under way left later than it might have, less what has been made up for.
    late: Span,
}

impl Pacer {
    /// A pacer that begins with the packet in which the `free`th segment leaves; 0: with the first.
    pub(super) fn new(free: u32) -> Pacer {
        Pacer {
            next: Time::ZERO,
            remainder: 0,
            rate: Rate::ZERO,
            len: 0,
            whole: 0,
            rest: 0,
            free,
            unpaced: 0,
            burst: 0,
            late: Span::ZERO,
        }
    }

    /// The next data may leave then.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// Whether data must wait.
    pub(super) fn holds(&self, now: Time) -> bool {
        now < self.next && self.burst == 0
    }

    /// `len` user bytes left at `now`; those after them follow at `rate`. A burst of up to `burst` bytes leaves at once and
    /// delays what follows as a whole.
    pub(super) fn handle_sent(&mut self, now: Time, len: u32, rate: Rate, burst: u64) {
        let mut len = u64::from(len);
        // Packets that are not paced follow each other at an instant.
        let ended = if self.free > 0 { now > self.next } else { now >= self.next };
        if self.burst == 0 || ended {
            self.burst = burst.max(len);
            self.unpaced = 0;
            self.late = if self.next == Time::ZERO { Span::ZERO } else { now.saturating_since(self.next) };
        }
        if self.free > 0 {
            self.free -= 1;
            if self.free > 0 {
                self.burst -= len.min(self.burst);
                self.unpaced += len;
                self.next = self.next.max(now);
                return;
            }
        }
        if rate == Rate::ZERO {
            return;
        }
        self.burst -= len.min(self.burst);
        len += std::mem::take(&mut self.unpaced);
        let mut whole = self.duration(len, rate);
        if self.late > Span::ZERO {
            // Who is late catches up, by half of what the burst takes at most (`tcp_update_skb_after_send`).
            let credit = self.late.min(Span::from_picos(whole.picos() / 2));
            self.late = self.late.saturating_sub(credit);
            whole = whole.saturating_sub(credit);
        }
        self.next = self.next.max(now).saturating_add(whole);
    }

    /// Nothing more leaves now: what leaves later is another burst, whatever was left of this one.
    pub(super) fn end_burst(&mut self) {
        self.burst = 0;
    }

    /// Time that `len` bytes take at `rate`, which is not zero; what is below a picosecond is kept for the next.
    fn duration(&mut self, len: u64, rate: Rate) -> Span {
        if rate != self.rate || len != self.len {
            self.divide(len, rate);
        }
        let carries = self.rest >= rate.bps() - self.remainder;
        self.remainder =
            if carries { self.rest - (rate.bps() - self.remainder) } else { self.rest + self.remainder };
        Span::from_picos(self.whole.saturating_add(u64::from(carries)))
    }

    /// Another length or rate than before.
    fn divide(&mut self, len: u64, rate: Rate) {
        const BITS: u128 = 8 * PICOS_PER_SECOND as u128;
        if rate != self.rate {
            self.rate = rate;
            self.remainder = 0;
        }
        self.len = len;
        let work = u128::from(len) * BITS;
        let bps = u128::from(rate.bps());
        self.whole = u64::try_from(work / bps).unwrap_or(u64::MAX);
        // Below the rate.
        self.rest = (work % bps) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirds_of_picoseconds_are_not_lost() {
        let mut pacer = Pacer::new(0);
        let mut now = Time::ZERO + Span::from_secs(1);
        let rate = Rate::from_bps(3_000_000);
        for _ in 0..3000 {
            assert!(!pacer.holds(now));
            pacer.handle_sent(now, 1000, rate, 0);
            assert!(pacer.holds(now));
            now = pacer.next();
        }
        // 3000 · 8000 bit / 3 Mbit/s
        assert_eq!(now, Time::ZERO + Span::from_secs(9));
    }

    #[test]
    fn a_burst_leaves_at_once_and_is_waited_for_as_a_whole() {
        let mut pacer = Pacer::new(0);
        let now = Time::ZERO + Span::from_secs(1);
        let rate = Rate::from_bps(8_000_000);
        for left in [2, 1, 0] {
            assert!(!pacer.holds(now));
            pacer.handle_sent(now, 1000, rate, 3000);
            assert_eq!(pacer.holds(now), left == 0);
        }
        assert_eq!(pacer.next(), now + Span::from_millis(3));
    }

    #[test]
    fn half_of_a_delay_is_caught_up() {
        let mut pacer = Pacer::new(0);
        let (now, rate) = (Time::ZERO + Span::from_secs(1), Rate::from_bps(8_000_000));
        pacer.handle_sent(now, 1000, rate, 0);
        let late = pacer.next() + Span::from_micros(300);
        pacer.handle_sent(late, 1000, rate, 0);
        assert_eq!(pacer.next(), late + Span::from_micros(700));
        let idle = pacer.next() + Span::from_secs(1);
        pacer.handle_sent(idle, 1000, rate, 0);
        assert_eq!(pacer.next(), idle + Span::from_micros(500));
    }

    #[test]
    fn half_of_a_delay_is_caught_up_by_a_burst_as_a_whole() {
        let mut pacer = Pacer::new(0);
        let (now, rate) = (Time::ZERO + Span::from_secs(1), Rate::from_bps(8_000_000));
        pacer.handle_sent(now, 1000, rate, 0);
        let idle = pacer.next() + Span::from_secs(1);
        for _ in 0..4 {
            pacer.handle_sent(idle, 1000, rate, 4000);
        }
        assert_eq!(pacer.next(), idle + Span::from_millis(2));
        let late = pacer.next() + Span::from_micros(700);
        for _ in 0..4 {
            pacer.handle_sent(late, 1000, rate, 4000);
        }
        assert_eq!(pacer.next(), late + Span::from_micros(3300));
    }

    #[test]
    fn the_first_segments_may_be_free() {
        let (begin, rate) = (Time::ZERO + Span::from_secs(1), Rate::from_bps(8_000_000));
        let mut pacer = Pacer::new(10);
        for _ in 0..9 {
            pacer.handle_sent(begin, 1000, rate, 0);
            assert!(!pacer.holds(begin));
        }
        pacer.handle_sent(begin, 1000, rate, 0);
        assert_eq!(pacer.next(), begin + Span::from_millis(1));
    }

    /// Packets of two: that with the tenth segment is paced whole, and later ones have credit for the pause before them.
    #[test]
    fn the_packet_with_the_tenth_segment_is_paced_whole() {
        let (begin, rate) = (Time::ZERO + Span::from_secs(1), Rate::from_bps(8_000_000));
        let mut pacer = Pacer::new(10);
        for _ in 0..10 {
            assert!(!pacer.holds(begin));
            pacer.handle_sent(begin, 1000, rate, 2000);
        }
        assert_eq!(pacer.next(), begin + Span::from_millis(2));
        let mut other = Pacer::new(10);
        for _ in 0..7 {
            other.handle_sent(begin, 1000, rate, 2000);
        }
        let later = begin + Span::from_millis(1);
        for _ in 0..3 {
            assert!(!other.holds(later));
            other.handle_sent(later, 1000, rate, 2000);
        }
        assert_eq!(other.next(), later + Span::from_millis(1), "the tenth is a packet of its own");
    }
}
