//! The usual ACK of a flow that cycles through its gains: it ends no round, shows no higher rate and no shorter round trip, and the
//! place in the cycle stays. What [`super::controller`] does then, without what can bring nothing.

use super::model::RATE_ROUNDS;
use super::phases::MIN_RTT_TICKS;
use super::state::{Bbr, Mode, RATE_BITS, Repairing, TICK, micros, span_micros};
use crate::cc::UsualAck;
use crate::units::Span;

impl Bbr {
    /// After an ACK that newly reported `acked` segments: whether nothing is left in which the next one could differ unseen.
    pub(super) fn note_steady(&mut self, acked: u64) {
        self.steady = acked > 0
            && self.mode == Mode::ProbeBw
            && self.full.reached
            && self.has_seen_rtt
            && self.repairing == Repairing::Nothing
            && !self.conserves
            && !self.idle_restart
            && !self.long_term.in_use
            && !self.long_term.sampling;
    }

    /// `bbr_main`. `false`: it is not a usual one, and nothing has been done.
    #[inline(always)]
    pub(super) fn handle_usual_ack(&mut self, ack: &UsualAck) -> bool {
        let now = micros(ack.at);
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
    fn is_no_faster(&self, ack: &UsualAck) -> bool {
        let interval = span_micros(ack.interval);
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
