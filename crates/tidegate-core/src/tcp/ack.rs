//! What an acknowledgement does to the sender.

use super::config::Config;
use super::report::Counters;
use super::scoreboard::Removed;
use super::segment::Segment;
use super::sender::{Mode, Sender};
use super::timestamp;
use crate::cc::{Acked, Controller};
use crate::units::{Span, Time};

impl Sender {
    /// The acknowledgement field of `segment` says `ack`, no more than was sent.
    #[inline]
    pub(super) fn handle_ack(
        &mut self,
        now: Time,
        ack: u64,
        segment: &Segment,
        config: &Config,
        controller: &mut Controller,
        counters: &mut Counters,
    ) {
        if ack > self.una {
            self.read_window(segment, config);
            self.handle_new_ack(now, ack, segment, config, controller, counters);
        } else if ack == self.una {
            self.handle_same_ack(now, segment, config, controller, counters);
        }
        // An ACK below SND.UNA is old news (RFC 9293 §3.10.7.4).
    }

    #[inline]
    fn read_window(&mut self, segment: &Segment, config: &Config) {
        if segment.window != self.raw_window {
            self.raw_window = segment.window;
            let window = if segment.window == u32::MAX { u64::MAX } else { u64::from(segment.window) };
            self.peer_window = window.min(config.flight_limit);
        }
    }

    #[inline]
    fn handle_new_ack(
        &mut self,
        now: Time,
        ack: u64,
        segment: &Segment,
        config: &Config,
        controller: &mut Controller,
        counters: &mut Counters,
    ) {
        let in_flight = self.pipe();
        let old = self.una;
        let bytes = ack - old;
        let removed = self.board.acknowledge(ack);
        self.una = ack;
        counters.acked_bytes += bytes;
        let rtt = self.measure(now, &removed, segment, config);
        let timer_before = self.rto_at;
        // RFC 6298 §5.2 and §5.3.
        self.rto_at = if ack == self.max { Time::NEVER } else { self.estimator.expiry(now) };
        if self.mode == Mode::Open {
            self.dupacks = 0;
            self.inflation = 0;
        } else if !self.repair_goes_on(bytes, timer_before, config, controller) {
            return;
        }
        controller.handle_acked(&Acked {
            at: now,
            bytes,
            in_flight,
            rtt,
            smoothed_rtt: self.estimator.smoothed(),
            window_limited: old < self.limited_end,
        });
    }

    /// Feeds the estimator; returns the exact round trip if there is one.
    #[inline]
    fn measure(&mut self, now: Time, removed: &Removed, segment: &Segment, config: &Config) -> Option<Span> {
        if config.time_one && self.timed_end != 0 && self.una >= self.timed_end {
            self.timed_end = 0;
            self.estimator.sample(self.timed_at, now);
        }
        if removed.measurable() {
            let rtt = now.saturating_since(removed.sent_at);
            self.measured = Some(rtt);
            if !config.time_one {
                self.estimator.sample(removed.sent_at, now);
            }
            return Some(rtt);
        }
        // RFC 7323 §4.1: a timestamp tells which copy was acknowledged, so Karn's rule falls
        // away. DEVIATION: as in Linux the exact time of a segment sent once is preferred to the
        // timestamp, whose clock counts milliseconds.
        if config.timestamps && segment.ts_ecr != 0 {
            self.estimator.sample(timestamp::sent_at(segment.ts_ecr, now), now);
        }
        None
    }

    /// The acknowledgement field did not move.
    fn handle_same_ack(
        &mut self,
        now: Time,
        segment: &Segment,
        config: &Config,
        controller: &mut Controller,
        counters: &mut Counters,
    ) {
        // RFC 5681 §2: data are outstanding, the segment carries none, and the window is the same.
        let same_window = segment.window == self.raw_window;
        self.read_window(segment, config);
        if self.outstanding() > 0 && segment.len == 0 && same_window {
            self.handle_duplicate(now, config, controller, counters);
        }
    }

    fn handle_duplicate(
        &mut self,
        now: Time,
        config: &Config,
        controller: &mut Controller,
        counters: &mut Counters,
    ) {
        match self.mode {
            Mode::Open => {
                self.dupacks = self.dupacks.saturating_add(1);
                if self.dupacks == 1 {
                    self.before_dupacks = self.max;
                }
                if self.dupacks == config.dupthresh {
                    // RFC 6582 §3.2 step 2, and RFC 5681's Reno after a time-out: copies that the
                    // receiver did not need also cause duplicate ACKs.
                    if self.guard == 0 || self.una > self.guard {
                        self.enter_recovery(now, config, controller, counters);
                    }
                } else if config.limited_transmit && self.dupacks <= 2 && self.dupacks < config.dupthresh {
                    // RFC 3042 §2: one new segment for each of the first two.
                    self.inflation += i64::from(config.mss);
                }
            }
            // RFC 5681 §3.2 step 4.
            Mode::Fast => self.inflation += i64::from(config.mss),
            Mode::Sack | Mode::Loss => {}
        }
    }
}
