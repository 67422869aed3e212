//! Fast path of `bbr_main` for an ACK in order while BBR cycles through its gains (`BBR_PROBE_BW`).
//!
//! Computes delivered data, aggregation of ACKs and the window. Holds where the ACK ends no round trip, its sample is not among the
//! highest rates, its round trip is not the least, and the phase of the cycle does not end. Skips the filters of rate and round trip,
//! the state machine, the gains and the pace: such an ACK changes none of them.

use super::model::RATE_ROUNDS;
use super::phases::MIN_RTT_TICKS;
use super::state::{Bbr, Mode, RATE_BITS, TICK};
use crate::cc::{InOrderAck, Repair};
use crate::units::Span;

impl Bbr {
    /// After an ACK that newly reported `acked` segments: whether the fast path may be tried for the next one.
    pub(super) fn note_fast_path(&mut self, acked: u64) {
        self.fast_path.open = acked > 0
            && self.mode == Mode::ProbeBw
            && self.full.reached
            && self.has_seen_rtt
            && self.repairing == Repair::Nothing
            && !self.conserves
            && !self.idle_restart
            && !self.long_term.in_use
            && !self.long_term.sampling;
    }

    /// `bbr_main`. `false`: the conditions do not hold, and nothing has been done.
    #[inline(always)]
    pub(super) fn take_fast_path(&mut self, ack: &InOrderAck) -> bool {
        let now = ack.at.micros();
        let rate = self.highest.get();
        if ack.prior_delivered >= self.round_end
            || ack.total_lost != self.lost_bytes
            || !self.is_no_faster(ack)
            || !self.is_no_sooner(now, ack.rtt)
        {
            return false;
        }
        let before = std::mem::replace(&mut self.delivered_at, now);
        if self.is_place_over(false, ack.in_flight_before, (ack.at, ack.next_departure)) {
            self.delivered_at = before;
            return false;
        }
        self.delivered += ack.segments;
        self.delivered_bytes += ack.delivered;
        self.round_start = false;
        if self.bunch(rate, ack.segments) || self.window < self.target {
            self.window = self.approach(self.window, ack.segments);
        }
        true
    }

    /// Whether the sample cannot be one of the highest of late: its segments, over its interval, times 2²⁴ are below what would
    /// be, both rounded as [`Bbr::update_rate`] does, without a division.
    #[inline(always)]
    fn is_no_faster(&self, ack: &InOrderAck) -> bool {
        let interval = ack.interval.micros();
        let below = self.highest.indifferent_below(RATE_ROUNDS, self.rounds).saturating_mul(interval);
        // Whole segments, less than `below` / 2²⁴.
        below > 0 && ack.sampled <= ((below - 1) >> RATE_BITS).saturating_mul(self.mss)
    }

    /// Whether the round trip is not the least, nor the least so old that another must be looked for.
    #[inline(always)]
    fn is_no_sooner(&self, now: u64, rtt: Span) -> bool {
        let Some(least) = self.min_rtt else { return false };
        rtt >= Span::from_micros(least) && now < (self.min_rtt_at + MIN_RTT_TICKS + 1) * TICK
    }
}
