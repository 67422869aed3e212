//! BBR as an endpoint calls it: one method for each fact, in the order of `bbr_main`.

use super::state::{Bbr, Mode, Sample, UNIT, ticks};
use crate::cc::control::ControllerNeeds;
use crate::cc::{
    Ack, Bursts, CongestionControl, ControllerSnapshot, InOrderAck, LossKind, Lost, Repair, Undone,
};
use crate::units::{Rate, Span, Time};

impl Bbr {
    /// The connection is there: at the end of the handshake, or at the first ACK where there is none.
    fn begin(&mut self, now: u64) {
        self.begun = true;
        self.min_rtt_at = ticks(now);
        self.aggregation.since = now;
    }

    /// Whole segments of so many bytes.
    #[inline]
    fn segments(&self, bytes: u64) -> u64 {
        if bytes == 0 { 0 } else { (bytes - 1) / self.mss + 1 }
    }

    /// So many bytes were ever lost.
    #[inline]
    fn note_lost(&mut self, bytes: u64) {
        if bytes != self.lost_bytes {
            self.lost_bytes = bytes;
            self.lost = self.segments(bytes);
        }
    }

    #[inline]
    fn sample<'a>(&self, ack: &'a Ack) -> Sample<'a> {
        let rate = ack.rate.as_ref().filter(|rate| rate.interval >= Span::from_micros(1));
        Sample {
            ack,
            mss: self.mss,
            lost: self.segments(ack.lost),
            acked: u64::from(ack.segments),
            rate: rate.map(|rate| (self.segments(rate.delivered), rate.interval.micros())),
            prior_delivered: rate.map_or(0, |rate| rate.prior_delivered),
            app_limited: rate.is_some_and(|rate| rate.app_limited),
            rtt: ack.rtt.map(|rtt| rtt.micros()),
        }
    }
}

impl CongestionControl for Bbr {
    fn handle_established(&mut self, at: Time, rtt: Option<Span>) {
        self.min_rtt = rtt.map(|rtt| rtt.micros());
        self.begin(at.micros());
        self.pace_by_rtt(self.min_rtt.unwrap_or(0));
    }

    /// `bbr_main`.
    #[inline(always)]
    fn handle_ack(&mut self, ack: &Ack) {
        let now = ack.at.micros();
        if !self.begun {
            self.begin(now);
        }
        if ack.segments > 0 {
            self.delivered += u64::from(ack.segments);
            self.delivered_bytes += ack.delivered;
            self.delivered_at = now;
        }
        self.note_lost(ack.total_lost);
        let sample = self.sample(ack);
        self.update_rate(&sample);
        self.update_aggregation(&sample);
        self.update_cycle(&sample);
        self.check_full(&sample);
        self.check_drain(&sample);
        self.update_min_rtt(now, &sample);
        self.update_gains();
        self.set_pace(self.pacing_gain, || sample.smoothed_rtt());
        self.set_window(&sample, ack.repair);
        self.note_fast_path(sample.acked);
    }

    #[inline(always)]
    fn hears_acks(&self) -> bool {
        true
    }

    fn bursts(&self) -> Bursts {
        Bursts::BBR
    }

    #[inline(always)]
    fn governs_repair(&self) -> bool {
        true
    }

    fn handle_lost(&mut self, lost: &Lost) {
        self.fast_path.forget();
        // `bbr_ssthresh`
        if lost.kind != (LossKind::Timeout { again: true }) {
            self.save_window();
        }
        if lost.kind.is_timeout() {
            // `tcp_enter_loss`, then `bbr_set_state`
            self.window = lost.remaining.div_ceil(self.mss) + 1;
            self.repairing = Repair::TimeOut;
            self.full.rate = 0;
            self.round_start = true;
            self.note_lost(lost.total_lost);
            self.sample_long_term(1, false);
        }
    }

    /// `bbr_undo_cwnd`; the window comes back with the end of the repair.
    fn handle_undone(&mut self, undone: &Undone) {
        self.fast_path.forget();
        // `tcp_undo_cwnd_reduction`: the threshold that `tcp_current_ssthresh` gave before.
        let before = undone.window / self.mss.max(1);
        self.ssthresh = self
            .ssthresh
            .zip(undone.ssthresh)
            .map(|(threshold, given)| threshold.max(given / self.mss.max(1)).max(before / 2 + before / 4));
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
        self.fast_path.forget();
        self.idle_restart = true;
        self.aggregation.since = at.micros();
        self.aggregation.acked = 0;
        if self.mode == Mode::ProbeBw {
            self.set_pace(UNIT, || 0);
        } else if self.mode == Mode::ProbeRtt {
            self.check_probe_rtt_done(ticks(at.micros()));
        }
    }

    fn understates(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }

    #[inline]
    fn window(&self) -> u64 {
        self.window * self.mss
    }

    #[inline(always)]
    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.pace)
    }

    fn snapshot(&self) -> ControllerSnapshot {
        ControllerSnapshot {
            window: self.window() as f64,
            ssthresh: self.ssthresh.map(|segments| segments * self.mss),
            slow_start: self.mode == Mode::Startup,
        }
    }
}

impl ControllerNeeds for Bbr {
    const FREQUENT: bool = true;
    const HEARS_MEASURED: bool = false;
    const READS_WINDOW_LIMITED: bool = false;

    #[inline]
    fn in_slow_start(&self) -> bool {
        self.mode == Mode::Startup
    }

    #[inline(always)]
    fn may_take_fast_path(&self) -> bool {
        self.fast_path.open
    }

    #[inline(always)]
    fn handle_in_order_ack(&mut self, ack: &InOrderAck) -> bool {
        self.take_fast_path(ack)
    }
}
