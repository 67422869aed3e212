//! BBR version 3 as an endpoint calls it: one method for each fact.

use super::state::{Bbr3, Sample, State};
use crate::cc::control::ControllerNeeds;
use crate::cc::{Ack, Bursts, CongestionControl, ControllerSnapshot, LossKind, Lost, Repair};
use crate::units::{Rate, Span, Time};

impl Bbr3 {
    fn begin(&mut self, now: u64) {
        self.begun = true;
        (self.min_rtt_at, self.probed_rtt_at, self.extra_since) = (now, now, now);
    }
}

fn sample_of(ack: &Ack) -> Sample {
    let sample = Sample {
        now: ack.at.micros(),
        acked: ack.delivered,
        newly_lost: ack.lost,
        in_flight: ack.in_flight,
        rtt: ack.rtt.map(|rtt| rtt.micros()),
        window_limited: ack.window_limited,
        recovering: ack.repair != Repair::Nothing,
        ..Sample::default()
    };
    let Some(rate) = ack.rate else { return sample };
    Sample {
        valid: true,
        rate: rate.bytes_per_second(),
        delivered: rate.delivered,
        prior_delivered: rate.prior_delivered,
        sent_in_flight: rate.sent_in_flight,
        lost: rate.lost,
        app_limited: rate.app_limited,
        ..sample
    }
}

impl CongestionControl for Bbr3 {
    fn handle_established(&mut self, at: Time, rtt: Option<Span>) {
        self.begin(at.micros());
        if let Some(rtt) = rtt {
            let rtt = rtt.micros();
            (self.min_rtt, self.probed_rtt) = (Some(rtt), rtt);
            self.pace_by_rtt(rtt);
        }
    }

    /// `BBRUpdateModelAndState`, then `BBRUpdateControlParameters` (§5.2.3).
    fn handle_ack(&mut self, ack: &Ack) {
        let sample = sample_of(ack);
        if !self.begun {
            self.begin(sample.now);
        }
        if !self.has_seen_rtt && ack.smoothed_rtt > Span::ZERO {
            self.pace_by_rtt(ack.smoothed_rtt.micros());
        }
        self.delivered += ack.delivered;
        self.note_losses(&sample);
        self.update_latest(&sample);
        self.update_rate(&sample);
        self.adapt_short_term();
        self.update_aggregation(&sample);
        self.check_full(&sample);
        self.check_startup_done(&sample);
        self.check_drain_done(&sample);
        self.update_cycle(&sample);
        self.update_min_rtt(&sample);
        self.check_probe_rtt(&sample);
        self.advance_latest(&sample);
        // `BBRBoundBWForModel`
        self.rate = self.max_rate().min(self.rate_short);
        self.set_pace(self.pacing_gain);
        self.set_window(&sample);
    }

    fn hears_acks(&self) -> bool {
        true
    }

    fn bursts(&self) -> Bursts {
        Bursts::BBR
    }

    fn governs_repair(&self) -> bool {
        true
    }

    /// §5.6.4.4: the window is kept for the end of the recovery; after a time-out it is one segment more than in flight.
    fn handle_lost(&mut self, lost: &Lost) {
        if lost.kind != (LossKind::Timeout { again: true }) {
            self.save_window();
        }
        if lost.kind.is_timeout() {
            self.window = lost.remaining + self.mss;
            self.recovering = true;
        }
    }

    /// Only what a lost SYN does to the first window.
    fn handle_restart(&mut self, window: u64) {
        if self.delivered == 0 {
            self.window = self.window.min(window.max(self.mss));
        }
    }

    /// `BBRHandleRestartFromIdle` (§5.4.1).
    fn handle_resumed(&mut self, at: Time, _idle: Span) {
        self.idle_restart = true;
        self.extra_since = at.micros();
        if self.state.probes_rate() {
            self.set_pace(100);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(at.micros());
        }
    }

    fn understates(&self) -> bool {
        self.state == State::ProbeRtt
    }

    #[inline]
    fn window(&self) -> u64 {
        self.window
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::from_bps(self.pacing.saturating_mul(8)))
    }

    fn snapshot(&self) -> ControllerSnapshot {
        ControllerSnapshot {
            window: self.window as f64,
            ssthresh: None,
            slow_start: self.state == State::Startup,
        }
    }
}

impl ControllerNeeds for Bbr3 {
    const HEARS_MEASURED: bool = false;
}
