//! Vegas as `tcp_vegas.c` of Linux 6.18: once a round trip the window is moved so that two to four segments wait in the
//! queue (Brakmo and Peterson, IEEE JSAC 13(8), 1995).

use super::Window;
use crate::cc::control::{ControllerNeeds, by_window};
use crate::cc::{Ack, Acked, CongestionControl, LossKind, Lost, MeasuredTrip, Repair};
use crate::plan::TcpPlan;
use crate::units::{Span, Time};

/// `alpha`, `beta`: segments that wait, at least and at most.
const WAITING: (u64, u64) = (2, 4);
/// `gamma`: segments that wait when slow start ends.
const GAMMA: u64 = 1;
/// Round trips with fewer samples say too little: all may be of delayed ACKs.
const SAMPLES: u32 = 2;

/// Vegas in whole segments.
#[derive(Debug)]
pub struct Vegas {
    window: Window,
    /// `doing_vegas_now`: nothing is lost or out of order.
    open: bool,
    /// The round trip is over when more than this is acknowledged (`beg_snd_nxt`).
    end: u64,
    /// Samples of this round trip, and the least of them.
    samples: u32,
    least: Span,
    /// The least of all (`baseRTT`).
    base: Span,
    /// SND.UNA and SND.NXT at the last sample.
    una: u64,
    max: u64,
}

/// No sample yet.
const NONE: Span = Span::from_picos(u64::MAX);

impl Vegas {
    /// A connection's controller at its start.
    #[must_use]
    pub fn new(plan: &TcpPlan) -> Vegas {
        Vegas {
            window: Window::new(plan),
            open: true,
            end: 0,
            samples: 0,
            least: NONE,
            base: NONE,
            una: 0,
            max: 0,
        }
    }

    /// `vegas_enable`.
    fn begin(&mut self, max: u64) {
        self.open = true;
        self.end = max;
        self.samples = 0;
        self.least = NONE;
    }

    /// The adjustment of a round trip.
    fn adjust(&mut self, acked: &Acked) {
        let window = &mut self.window;
        let (rtt, base) = (u128::from(self.least.picos()), u128::from(self.base.picos()));
        let segments = u128::from(window.segments);
        let narrow = |value: u128| u64::try_from(value).unwrap_or(u64::MAX);
        // The rate at which data arrive, times the least round trip.
        let target = narrow(segments * base / rtt);
        // Segments that wait.
        let waiting = narrow(segments * (rtt - base) / base);
        if window.in_slow_start() {
            if waiting > GAMMA {
                window.segments = window.segments.min(target + 1);
                window.threshold = window.threshold.min(window.segments);
            } else {
                window.slow_start(u64::from(acked.segments));
            }
        } else if waiting > WAITING.1 {
            window.segments -= 1;
            window.threshold = window.threshold.min(window.segments);
        } else if waiting < WAITING.0 {
            window.segments += 1;
        }
        window.segments = window.segments.max(2);
        window.remember();
    }
}

impl CongestionControl for Vegas {
    /// `tcp_vegas_pkts_acked`.
    fn handle_measured(&mut self, measured: &MeasuredTrip) {
        // Never zero: the kernel adds a microsecond.
        let rtt = measured.rtt + Span::from_micros(1);
        self.base = self.base.min(rtt);
        self.least = self.least.min(rtt);
        self.samples += 1;
        self.una = measured.una;
        self.max = measured.max;
    }

    /// `tcp_vegas_state`: samples are taken only where nothing is lost and nothing out of order.
    fn handle_ack(&mut self, ack: &Ack) {
        self.max = ack.max;
        let open = ack.repair == Repair::Nothing && ack.in_flight == ack.max - ack.una;
        if open && !self.open {
            self.begin(ack.max);
        }
        self.open = open;
    }

    fn hears_acks(&self) -> bool {
        true
    }

    /// `tcp_vegas_cong_avoid`.
    fn handle_acked(&mut self, acked: &Acked) {
        if !self.open {
            self.window.reno(acked);
        } else if self.una > self.end {
            self.end = self.max;
            if self.samples <= SAMPLES {
                self.window.reno(acked);
            } else {
                self.adjust(acked);
            }
            self.samples = 0;
            self.least = NONE;
        } else if self.window.in_slow_start() {
            self.window.slow_start(u64::from(acked.segments));
        }
    }

    /// `tcp_reno_ssthresh`.
    fn handle_lost(&mut self, lost: &Lost) {
        self.open = lost.kind == LossKind::Ecn && self.open;
        self.window.halve(lost);
    }

    /// `tcp_vegas_cwnd_event`, `CA_EVENT_TX_START`: what was measured before is stale.
    fn handle_resumed(&mut self, _at: Time, _idle: Span) {
        self.base = NONE;
        self.begin(self.max);
    }

    by_window!(window);
}

impl ControllerNeeds for Vegas {
    const READS_WINDOW_LIMITED: bool = false;
    const MAY_PACE: bool = false;
}
