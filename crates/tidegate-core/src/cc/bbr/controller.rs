//! What BBR is told, and what it answers.

use super::state::{Bbr, Mode, Repairing, Sample, UNIT, micros, ticks};
use crate::cc::{
    Ack, Acked, CongestionControl, ControllerSnapshot, LossKind, Lost, RateSample, Recovered, Repair, Undone,
};
use crate::units::{Rate, Span, Time};

impl Bbr {
    /// The connection is there: at the end of the handshake, or at the first ACK where there is none.
    fn begin(&mut self, now: u64) {
        self.begun = true;
        self.min_rtt_at = ticks(now);
        self.aggregation.since = now;
    }

    fn sample(&self, ack: &Ack) -> Sample {
        let rate = ack.rate.filter(|rate| rate.interval >= Span::from_micros(1));
        Sample {
            lost: ack.lost.div_ceil(self.mss),
            acked: u64::from(ack.segments),
            in_flight_before: ack.in_flight_before.div_ceil(self.mss),
            in_flight: ack.in_flight.div_ceil(self.mss),
            rate: rate.map(|rate| (rate.delivered.div_ceil(self.mss), rate.interval.picos() / 1_000_000)),
            prior_delivered: rate.map_or(0, |rate| rate.prior_delivered),
            app_limited: rate.is_some_and(|rate| rate.app_limited),
            rtt: ack.rtt.map(|rtt| rtt.picos() / 1_000_000),
            delayed: ack.delivered < self.mss && rate.is_some_and(|rate| self.is_alone(ack, &rate)),
            until_departure: ack.next_departure.saturating_since(ack.at).picos() / 1_000_000,
            smoothed_rtt: ack.smoothed_rtt.picos() / 1_000_000,
        }
    }

    /// A single short segment, and nothing else arrived since it was sent.
    fn is_alone(&self, ack: &Ack, rate: &RateSample) -> bool {
        ack.segments == 1 && rate.delivered == ack.delivered && self.repairing == Repairing::Nothing
    }
}

impl CongestionControl for Bbr {
    fn handle_established(&mut self, at: Time, rtt: Option<Span>) {
        self.min_rtt = rtt.map(|rtt| rtt.picos() / 1_000_000);
        self.begin(micros(at));
        self.pace_by_rtt(self.min_rtt.unwrap_or(0));
    }

    /// `bbr_main`.
    fn handle_ack(&mut self, ack: &Ack) {
        let now = micros(ack.at);
        if !self.begun {
            self.begin(now);
        }
        if ack.segments > 0 {
            self.delivered += u64::from(ack.segments);
            self.delivered_bytes += ack.delivered;
            self.delivered_at = now;
        }
        self.lost = ack.total_lost.div_ceil(self.mss);
        let sample = self.sample(ack);
        self.update_rate(&sample);
        self.update_aggregation(&sample);
        self.update_cycle(&sample);
        self.check_full(&sample);
        self.check_drain(&sample);
        self.update_min_rtt(now, &sample);
        self.update_gains();
        self.set_pace(self.pacing_gain, sample.smoothed_rtt);
        let repairing = match ack.repair {
            Repair::Nothing => Repairing::Nothing,
            Repair::Recovery => Repairing::Recovery,
            Repair::TimeOut => Repairing::TimeOut,
        };
        self.set_window(&sample, repairing);
    }

    fn hears_acks(&self) -> bool {
        true
    }

    fn governs_repair(&self) -> bool {
        true
    }

    fn handle_acked(&mut self, _acked: &Acked) {}

    fn handle_lost(&mut self, lost: &Lost) {
        // `bbr_ssthresh`
        if lost.kind != (LossKind::Timeout { again: true }) {
            self.save_window();
        }
        if lost.kind.is_timeout() {
            // `tcp_enter_loss`, then `bbr_set_state`
            self.window = lost.remaining.div_ceil(self.mss) + 1;
            self.repairing = Repairing::TimeOut;
            self.full.rate = 0;
            self.round_start = true;
            self.lost = lost.total_lost.div_ceil(self.mss);
            self.sample_long_term(1, false);
        }
    }

    fn handle_recovered(&mut self, _recovered: &Recovered) {}

    /// `bbr_undo_cwnd`; the window comes back with the end of the repair.
    fn handle_undone(&mut self, _undone: &Undone) {
        self.full.rate = 0;
        self.full.rounds = 0;
        self.forget_long_term();
    }

    /// Only what a lost SYN does to the first window: Linux leaves BBR's window alone after idle times.
    fn handle_restart(&mut self, window: u64) {
        if self.delivered_bytes == 0 {
            self.window = self.window.min((window / self.mss).max(1));
        }
    }

    /// `bbr_cwnd_event` (`CA_EVENT_TX_START`): nothing was in flight, because the application had nothing to send.
    fn handle_resumed(&mut self, at: Time, _idle: Span) {
        self.idle_restart = true;
        self.aggregation.since = micros(at);
        self.aggregation.acked = 0;
        if self.mode == Mode::ProbeBw {
            self.set_pace(UNIT, 0);
        } else if self.mode == Mode::ProbeRtt {
            self.check_probe_rtt_done(ticks(micros(at)));
        }
    }

    fn understates(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }

    #[inline]
    fn window(&self) -> u64 {
        self.window * self.mss
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::from_bps(self.pacing.saturating_mul(8)))
    }

    fn snapshot(&self) -> ControllerSnapshot {
        ControllerSnapshot {
            window: self.window() as f64,
            ssthresh: self.ssthresh.map(|segments| segments * self.mss),
            slow_start: self.mode == Mode::Startup,
        }
    }
}
