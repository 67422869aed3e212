//! CUBIC: RFC 9438, with fast convergence and the Reno-friendly region.
//!
//! Windows are real numbers of segments here. Everything but one cube root per epoch is addition,
//! multiplication and division, which are the same on every platform; the cube root is libm's
//! portable one.
//!
use super::control::ControllerNeeds;
use super::hystart_pp::HyStartPp;
use super::real_window::RealWindow;
use super::{Acked, CongestionControl, ControllerSnapshot, LossKind, Lost, MeasuredTrip, Recovered, Undone};
use crate::plan::TcpPlan;
use crate::units::Time;

/// RFC 9438 §5: C, segments per second cubed.
const C: f64 = 0.4;
/// RFC 9438 §4.6: what is left after a loss.
const BETA: f64 = 0.7;
/// RFC 8511 §3: what is left after a mark, with ABE.
const BETA_ECN: f64 = 0.85;
/// RFC 9438 §4.3: growth with the mean window of Reno, for this BETA.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// One stage of congestion avoidance (RFC 9438 §4.1.2).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Epoch {
    /// When it began; moved on by the time in which the window did not limit the sender.
    start: Time,
    /// The last ACK.
    last: Time,
    /// Seconds until the curve is back at `w_max`.
    k: f64,
    /// The plateau, segments.
    w_max: f64,
    /// Reno's window, segments.
    w_est: f64,
}

/// What a reduction changes (RFC 9438 §4.9).
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    cwnd: f64,
    ssthresh: f64,
    w_max: f64,
    cwnd_prior: f64,
    epoch: Option<Epoch>,
    flat: bool,
}

/// RFC 9438.
#[derive(Debug)]
pub struct Cubic {
    /// What is left after a mark.
    beta_ecn: f64,
    cwnd: RealWindow,
    /// The plateau for the next epoch and for fast convergence; 0: none.
    w_max: f64,
    /// Window before the last reduction, segments.
    cwnd_prior: f64,
    epoch: Option<Epoch>,
    /// The next epoch starts flat (K = 0): it follows slow start and not a reduction.
    flat: bool,
    /// RFC 9438 §4.10: `HyStart++`, as long as the first slow start lasts.
    hystart: Option<Box<HyStartPp>>,
    /// Kept where reductions may be taken back.
    before: Option<Box<Before>>,
}

impl Cubic {
    /// A connection's controller at its start.
    #[must_use]
    pub fn new(plan: &TcpPlan) -> Cubic {
        Cubic {
            beta_ecn: if plan.abe { BETA_ECN } else { BETA },
            cwnd: RealWindow::new(plan),
            w_max: 0.0,
            cwnd_prior: 0.0,
            epoch: None,
            flat: true,
            hystart: HyStartPp::new(plan),
            before: plan.rules.takes_back().then(Box::default),
        }
    }

    /// RFC 9438 §4.9: what a reduction is about to change.
    fn remember(&mut self) {
        let Cubic { cwnd, w_max, cwnd_prior, epoch, flat, .. } = *self;
        let (cwnd, ssthresh) = (cwnd.segments(), cwnd.ssthresh);
        if let Some(before) = &mut self.before {
            **before = Before { cwnd, ssthresh, w_max, cwnd_prior, epoch, flat };
        }
    }

    /// RFC 9438 §4.2: a new epoch begins with this window.
    fn begin(&mut self, at: Time) -> Epoch {
        if self.flat {
            // RFC 9438 §4.8 and §4.10: K = 0 and W_max is the window now.
            self.w_max = self.cwnd.segments();
            self.cwnd_prior = self.cwnd.segments();
            self.flat = false;
        }
        let climb = (self.w_max - self.cwnd.segments()).max(0.0);
        Epoch {
            start: at,
            last: at,
            k: libm::cbrt(climb / C),
            w_max: self.w_max,
            w_est: self.cwnd.segments(),
        }
    }

    #[inline]
    fn avoid(&mut self, acked: &Acked) {
        let mut epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin(acked.at),
        };
        let (window, segments) = (self.cwnd.segments(), self.cwnd.in_segments(acked.bytes));
        let t = acked.at.saturating_since(epoch.start).as_secs_f64();
        let rtt = acked.smoothed_rtt.as_secs_f64();
        // RFC 9438 §4.3: alpha is 1 once Reno would be back at the window before the loss.
        let alpha = if epoch.w_est >= self.cwnd_prior { 1.0 } else { ALPHA };
        epoch.w_est += alpha * segments / window;
        epoch.last = acked.at;
        let cwnd = if epoch.at(t) < epoch.w_est {
            epoch.w_est.max(window)
        } else {
            // RFC 9438 §4.2, §4.4 and §4.5. DEVIATION: the step is made once for each segment
            // that an ACK acknowledges, as Linux does, not once for each ACK: otherwise delayed
            // ACKs would keep the window half a step behind its target.
            let target = epoch.at(t + rtt).clamp(window, 1.5 * window);
            window + (target - window) * segments / window
        };
        self.epoch = Some(epoch);
        self.cwnd.set(cwnd);
    }
}

impl Epoch {
    /// RFC 9438 §4.2 eq. (1): the curve `t` seconds after the start.
    #[inline]
    fn at(&self, t: f64) -> f64 {
        let beyond = t - self.k;
        C * beyond * beyond * beyond + self.w_max
    }
}

impl CongestionControl for Cubic {
    fn handle_measured(&mut self, measured: &MeasuredTrip) {
        if self.hystart.as_mut().is_some_and(|hystart| hystart.ends(measured)) {
            self.cwnd.ssthresh = self.cwnd.segments();
            self.hystart = None;
        }
    }

    #[inline]
    fn handle_acked(&mut self, acked: &Acked) {
        if !acked.window_limited {
            // RFC 9438 §5.8: time in which the window was not used does not count.
            if let Some(epoch) = &mut self.epoch {
                epoch.start += acked.at.saturating_since(epoch.last);
                epoch.last = acked.at;
            }
        } else if self.cwnd.in_slow_start() {
            // RFC 5681 §3.1 eq. (2).
            let segments = match &self.hystart {
                Some(hystart) => self.cwnd.in_segments(hystart.growth(acked.bytes)),
                None => self.cwnd.in_segments(acked.bytes).min(1.0),
            };
            self.cwnd.set(self.cwnd.segments() + segments);
        } else {
            self.avoid(acked);
        }
    }

    fn handle_lost(&mut self, lost: &Lost) {
        self.hystart = None;
        let timeout = lost.kind.is_timeout();
        if lost.kind != (LossKind::Timeout { again: true }) {
            self.remember();
            // RFC 9438 §4.6 takes marks and losses alike; RFC 8511 does not.
            let beta = if lost.kind == LossKind::Ecn { self.beta_ecn } else { BETA };
            // RFC 9438 §4.7: a plateau below the last one leaves room for new flows.
            let shrinking = self.cwnd.segments() < self.w_max;
            self.w_max =
                if shrinking { self.cwnd.segments() * (1.0 + beta) / 2.0 } else { self.cwnd.segments() };
            self.cwnd_prior = self.cwnd.segments();
            // RFC 9438 §4.6 (and §4.8): of what was in flight, at least two segments.
            self.cwnd.ssthresh = (self.cwnd.in_segments(lost.in_flight) * beta).max(2.0);
        }
        self.epoch = None;
        self.flat = timeout;
        self.cwnd.set(if timeout { 1.0 } else { self.cwnd.ssthresh });
    }

    fn handle_recovered(&mut self, recovered: &Recovered) {
        // RFC 6582 §3.2 step 3, choice (1).
        let in_flight = self.cwnd.in_segments(recovered.in_flight).max(1.0);
        self.cwnd.set(self.cwnd.ssthresh.min(in_flight + 1.0));
    }

    /// RFC 9438 §4.9.1 and §4.9.2.
    fn handle_undone(&mut self, _undone: &Undone) {
        if let Some(before) = self.before.as_deref().copied() {
            let cwnd = self.cwnd.segments().max(before.cwnd);
            let Before { cwnd: _, ssthresh, w_max, cwnd_prior, epoch, flat } = before;
            (self.cwnd.ssthresh, self.w_max, self.cwnd_prior) = (ssthresh, w_max, cwnd_prior);
            (self.epoch, self.flat) = (epoch, flat);
            self.cwnd.set(cwnd);
        }
    }

    fn handle_restart(&mut self, window: u64) {
        self.epoch = None;
        self.cwnd.limit(window);
    }

    #[inline]
    fn window(&self) -> u64 {
        self.cwnd.bytes()
    }

    fn snapshot(&self) -> ControllerSnapshot {
        self.cwnd.snapshot()
    }
}

impl ControllerNeeds for Cubic {
    const READS_WINDOW_LIMITED: bool = false;
    const MAY_PACE: bool = false;
}
