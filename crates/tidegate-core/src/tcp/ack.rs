//! What an acknowledgement does to the sender.

use super::scoreboard::Removed;
use super::segment::Segment;
use super::sender::{Env, Mode, Sender};
use super::timestamp;
use crate::cc::Acked;
use crate::units::{Span, Time};

impl Sender {
    /// The acknowledgement field of `segment` says `ack`, no more than was sent.
    #[inline]
    pub(super) fn handle_ack(&mut self, ack: u64, segment: &Segment, env: &mut Env<'_>) {
        if ack > self.una {
            self.read_window(segment, env);
            self.handle_new_ack(ack, segment, env);
        } else if ack == self.una {
            self.handle_same_ack(segment, env);
        }
        // An ACK below SND.UNA is old news (RFC 9293 §3.10.7.4).
    }

    #[inline]
    fn read_window(&mut self, segment: &Segment, env: &Env<'_>) {
        if segment.window != self.raw_window {
            self.raw_window = segment.window;
            let window = if segment.window == u32::MAX { u64::MAX } else { u64::from(segment.window) };
            self.peer_window = window.min(env.config.flight_limit);
        }
    }

    #[inline]
    fn handle_new_ack(&mut self, ack: u64, segment: &Segment, env: &mut Env<'_>) {
        let in_flight = self.pipe();
        let old = self.una;
        let bytes = ack - old;
        let removed = self.board.acknowledge(ack);
        self.una = ack;
        env.counters.acked_bytes += bytes;
        let rtt = self.measure(&removed, segment, env);
        let timer_before = self.rto_at;
        // RFC 6298 §5.2 and §5.3.
        self.rto_at = if ack == self.max { Time::NEVER } else { self.estimator.expiry(env.now) };
        if segment.sack_count > 0 && env.config.sack {
            self.read_sacks(segment, env);
        }
        if self.mode == Mode::Open {
            self.dupacks = 0;
            self.inflation = 0;
        } else if !self.mending_grows(bytes, timer_before, env) {
            return;
        }
        env.controller.handle_acked(&Acked {
            at: env.now,
            bytes,
            in_flight,
            rtt,
            smoothed_rtt: self.estimator.smoothed(),
            window_limited: old < self.limited_end,
        });
    }

    /// Feeds the estimator; returns the exact round trip if there is one.
    #[inline]
    fn measure(&mut self, removed: &Removed, segment: &Segment, env: &Env<'_>) -> Option<Span> {
        let now = env.now;
        if env.config.time_one && self.timed_end != 0 && self.una >= self.timed_end {
            self.timed_end = 0;
            self.estimator.sample(self.timed_at, now);
        }
        if removed.measurable() {
            let rtt = now.saturating_since(removed.sent_at);
            self.measured = Some(rtt);
            if !env.config.time_one {
                self.estimator.sample(removed.sent_at, now);
            }
            return Some(rtt);
        }
        // RFC 7323 §4.1: a timestamp tells which copy was acknowledged, so Karn's rule falls
        // away. DEVIATION: as in Linux the exact time of a segment sent once is preferred to the
        // timestamp, whose clock counts milliseconds.
        if env.config.timestamps && segment.ts_ecr != 0 {
            self.estimator.sample(timestamp::sent_at(segment.ts_ecr, now), now);
        }
        None
    }

    /// Marks what `segment` says has arrived beyond a gap; `true` if any of it was not known.
    #[cold]
    fn read_sacks(&mut self, segment: &Segment, env: &Env<'_>) -> bool {
        let mut news = false;
        let count = usize::from(segment.sack_count).min(segment.sack.len());
        for (left, right) in &segment.sack[..count] {
            let left = self.numbering.offset(*left, self.una);
            let right = self.numbering.offset(*right, self.una);
            if let (Some(left), Some(right)) = (left, right)
                && right <= self.max
            {
                news |= self.board.sack(left, right);
            }
        }
        self.board.find_lost(env.config.dupthresh, env.config.mss);
        news
    }

    /// The acknowledgement field did not move.
    fn handle_same_ack(&mut self, segment: &Segment, env: &mut Env<'_>) {
        let same_window = segment.window == self.raw_window;
        self.read_window(segment, env);
        let duplicate = if env.config.sack {
            // RFC 6675 §2: it says that something arrived which we did not know of.
            segment.sack_count > 0 && self.read_sacks(segment, env)
        } else {
            // RFC 5681 §2: data are outstanding, it carries none, and the window is the same.
            segment.len == 0 && same_window
        };
        if duplicate && self.outstanding() > 0 {
            self.handle_duplicate(env);
        }
    }

    fn handle_duplicate(&mut self, env: &mut Env<'_>) {
        let mss = i64::from(env.config.mss);
        match self.mode {
            Mode::Open => {
                self.dupacks = self.dupacks.saturating_add(1);
                if self.dupacks == 1 {
                    self.before_dupacks = self.max;
                }
                if self.proves_loss(env) {
                    self.enter_recovery(env);
                } else if env.config.sack {
                    // RFC 6675 §5 step 3: the pipe has become smaller, which lets new data go;
                    // without Limited Transmit it must not.
                    self.inflation -= if env.config.limited_transmit { 0 } else { mss };
                } else if env.config.limited_transmit
                    && self.dupacks <= 2
                    && self.dupacks < env.config.dupthresh
                {
                    // RFC 3042 §2: one new segment for each of the first two.
                    self.inflation += mss;
                }
            }
            // RFC 5681 §3.2 step 4.
            Mode::Fast => self.inflation += mss,
            Mode::Sack | Mode::Loss => {}
        }
    }

    /// Whether a duplicate ACK starts a recovery.
    fn proves_loss(&self, env: &Env<'_>) -> bool {
        if env.config.sack {
            // RFC 6675 §5 steps 1 and 2.
            self.dupacks >= env.config.dupthresh || self.board.oldest_is_lost()
        } else {
            // RFC 6582 §3.2 step 2: copies that the receiver did not need also cause duplicates.
            self.dupacks == env.config.dupthresh && (self.guard == 0 || self.una > self.guard)
        }
    }
}
