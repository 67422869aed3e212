//! When each state of BBR begins and ends: start-up, drain, the cycle of gains, the probe of the round trip.

use std::cmp::Ordering;

use rand::RngExt as _;

use super::state::{Bbr, DRAIN_GAIN, HIGH_GAIN, LEAST_WINDOW, Mode, Sample, UNIT, ticks};
use crate::cc::{Ack, Repair};
use crate::units::Time;

/// `bbr_pacing_gain`: more, as much less, then six times the rate itself.
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// `bbr_cycle_rand`: the places at which the cycle may begin; all but the second.
const STARTS: usize = 7;
/// `bbr_cwnd_gain`.
const WINDOW_GAIN: u64 = 2 * UNIT;
/// `bbr_min_rtt_win_sec`, in ticks.
pub(super) const MIN_RTT_TICKS: u64 = 10 * 250;
/// `bbr_probe_rtt_mode_ms`, in ticks.
const PROBE_RTT_TICKS: u64 = 200 / 4;

impl Bbr {
    /// `bbr_update_cycle_phase`.
    #[inline(always)]
    pub(super) fn update_cycle(&mut self, sample: &Sample) {
        let Ack { at, in_flight_before, next_departure, .. } = *sample.ack;
        if self.mode == Mode::ProbeBw
            && self.is_place_over(sample.lost > 0, in_flight_before, (at, next_departure))
        {
            self.advance();
        }
    }

    /// `bbr_is_next_cycle_phase`; `in_flight`: bytes before the ACK.
    #[inline(always)]
    pub(super) fn is_place_over(&self, lost: bool, in_flight: u64, times: (Time, Time)) -> bool {
        let full_length =
            self.min_rtt.is_some_and(|least| self.delivered_at.saturating_sub(self.place_at) > least);
        match self.pacing_gain.cmp(&UNIT) {
            Ordering::Equal => full_length,
            Ordering::Greater => full_length && (lost || self.has_filled(in_flight, times)),
            Ordering::Less => full_length || self.has_drained(in_flight, times),
        }
    }

    /// Whether as much is in flight as the gain asks for.
    #[inline(never)]
    fn has_filled(&self, in_flight: u64, times: (Time, Time)) -> bool {
        self.in_flight_then(in_flight, times) >= self.target(self.highest.get(), self.pacing_gain)
    }

    /// Whether no more is in flight than the path holds.
    #[inline(never)]
    fn has_drained(&self, in_flight: u64, times: (Time, Time)) -> bool {
        self.in_flight_then(in_flight, times) <= self.target(self.highest.get(), UNIT)
    }

    /// Segments in the network at the next departure, with so many bytes in flight.
    fn in_flight_then(&self, in_flight: u64, (at, next_departure): (Time, Time)) -> u64 {
        self.in_network(in_flight.div_ceil(self.mss), next_departure.saturating_since(at).micros())
    }

    /// `bbr_advance_cycle_phase`.
    fn advance(&mut self) {
        self.place = (self.place + 1) % CYCLE.len();
        self.place_at = self.delivered_at;
    }

    /// `bbr_reset_probe_bw_mode`.
    pub(super) fn begin_cycle(&mut self) {
        self.mode = Mode::ProbeBw;
        let drawn = self.rng.as_mut().map_or(0, |rng| rng.random_range(0..STARTS));
        self.place = CYCLE.len() - 1 - drawn;
        self.advance();
    }

    /// `bbr_check_drain`.
    #[inline(always)]
    pub(super) fn check_drain(&mut self, sample: &Sample) {
        let rate = self.highest.get();
        if self.mode == Mode::Startup && self.full.reached {
            self.mode = Mode::Drain;
            self.ssthresh = Some(self.target(rate, UNIT));
        }
        if self.mode == Mode::Drain
            && self.in_flight_then(sample.ack.in_flight, (sample.ack.at, sample.ack.next_departure))
                <= self.target(rate, UNIT)
        {
            self.begin_cycle();
        }
    }

    /// Whether the ACK may have been put off.
    #[inline(always)]
    fn is_put_off(&self, sample: &Sample) -> bool {
        self.repairing == Repair::Nothing && sample.is_alone()
    }

    /// `bbr_update_min_rtt`.
    #[inline(always)]
    pub(super) fn update_min_rtt(&mut self, now: u64, sample: &Sample) {
        let tick = ticks(now);
        let expired = tick > self.min_rtt_at + MIN_RTT_TICKS;
        if let Some(rtt) = sample.rtt
            && (self.min_rtt.is_none_or(|least| rtt < least) || (expired && !self.is_put_off(sample)))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = tick;
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_window();
            self.probe_until = None;
        }
        if self.mode == Mode::ProbeRtt {
            if self.probe_until.is_none() && sample.in_flight() <= LEAST_WINDOW {
                self.probe_until = Some(tick + PROBE_RTT_TICKS);
                self.probe_round_done = false;
                self.round_end = self.delivered_bytes;
            } else if self.probe_until.is_some() {
                self.probe_round_done |= self.round_start;
                if self.probe_round_done {
                    self.check_probe_rtt_done(tick);
                }
            }
        }
        if sample.acked > 0 {
            self.idle_restart = false;
        }
    }

    /// `bbr_check_probe_rtt_done`.
    pub(super) fn check_probe_rtt_done(&mut self, tick: u64) {
        if self.probe_until.is_none_or(|until| tick <= until) {
            return;
        }
        self.min_rtt_at = tick;
        self.window = self.window.max(self.prior_window);
        if self.full.reached {
            self.begin_cycle();
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// `bbr_save_cwnd`.
    pub(super) fn save_window(&mut self) {
        self.prior_window = if self.repairing == Repair::Nothing && self.mode != Mode::ProbeRtt {
            self.window
        } else {
            self.prior_window.max(self.window)
        };
    }

    /// `bbr_update_gains`.
    #[inline(always)]
    pub(super) fn update_gains(&mut self) {
        (self.pacing_gain, self.window_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.long_term.in_use => (UNIT, WINDOW_GAIN),
            Mode::ProbeBw => (CYCLE[self.place], WINDOW_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }
}
