//! Linux's CUBIC (`tcp_cubic.c`): RFC 9438 in integers, with `HyStart`.
//!
//! Where it departs from RFC 9438: at least 5% a round trip until the first loss; the Reno-friendly window grows by the
//! constant alpha of §4.3 for good, and is no floor but lets the window grow as fast; the curve is looked at once a clock tick;
//! a time-out forgets the plateau.

use super::Window;
use super::hystart::HyStart;
use crate::cc::control::{ControllerNeeds, by_window};
use crate::cc::{Acked, CongestionControl, LossKind, Lost, MeasuredTrip};
use crate::plan::{SlowStart, TcpPlan};
use crate::units::{KERNEL_HZ, KERNEL_TICK, Span, Time};

/// `beta`, in 1/1024: what is left after a loss.
const BETA: u64 = 717;
/// RFC 8511 §3: 0.85 after a mark, with ABE, which the kernel does not have.
const BETA_ECN: u64 = 870;
/// `cube_rtt_scale` = 10 · `bic_scale`: C = 0.4 in the units of the curve.
const RTT_SCALE: u128 = 410;
/// `cube_factor`.
const CUBE_FACTOR: u64 = (1 << 40) / 410;
/// `beta_scale`: ACKs for each segment of Reno's window, in eighths of a window.
const BETA_SCALE: u64 = 8 * (1024 + BETA) / 3 / (1024 - BETA);
/// Ticks in a second.
const HZ: i64 = KERNEL_HZ as i64;

/// CUBIC in whole segments.
#[derive(Debug)]
pub struct LinuxCubic {
    window: Window,
    /// What is left after a mark, in 1/1024.
    beta_ecn: u64,
    pub(super) curve: Curve,
    hystart: Option<HyStart>,
}

/// What a time-out forgets (`bictcp_reset`). Instants are in ticks.
#[derive(Debug, Default)]
pub(super) struct Curve {
    /// ACKs for each segment by which the window grows.
    per: u64,
    /// Plateau; 0: none.
    pub(super) last_max: u64,
    last_window: u64,
    /// When `per` was computed last.
    last_time: i64,
    epoch: Option<Epoch>,
    /// Segments acknowledged towards Reno's window.
    ack_count: u64,
    /// Reno's window.
    reno: u64,
    /// Least round trip.
    delay_min: Option<Span>,
    /// `HyStart` has ended slow start.
    found: bool,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: i64,
    /// 1/1024 seconds until the curve is at `origin`.
    k: i64,
    origin: u64,
}

/// `tcp_jiffies32`.
fn ticks(at: Time) -> i64 {
    (at.picos() / KERNEL_TICK.picos()).cast_signed()
}

impl LinuxCubic {
    /// A connection's controller at its start.
    #[must_use]
    pub fn new(plan: &TcpPlan) -> LinuxCubic {
        LinuxCubic {
            window: Window::new(plan),
            beta_ecn: if plan.abe { BETA_ECN } else { BETA },
            curve: Curve::default(),
            hystart: (plan.rules.slow_start == SlowStart::HyStart).then(HyStart::default),
        }
    }

    /// `hystart_update`: whether slow start is to end.
    fn look_for_the_end(&mut self, measured: &MeasuredTrip, least: Span) {
        let Some(hystart) = &mut self.hystart else { return };
        let segments = self.window.reduced(measured.reduced);
        // `tcp_update_pacing_rate`: 200% of a window each round trip well below the threshold, 120% else.
        let percent = if segments < self.window.threshold / 2 { 200 } else { 120 };
        let smoothed = measured.smoothed_rtt.picos().max(1);
        let bytes = u128::from(segments * self.window.mss) * percent * 10_000_000_000 / u128::from(smoothed);
        let pacing = u64::try_from(bytes).unwrap_or(u64::MAX);
        if hystart.ends(measured, least, segments, pacing) {
            self.curve.found = true;
            self.window.threshold = segments;
            // Where a reduction ends (`tcp_end_cwnd_reduction`); else it is the window already.
            self.window.segments = segments;
        }
    }
}

impl Curve {
    /// `bictcp_update`: how many ACKs the next segment of the window takes.
    #[inline(always)]
    fn update(&mut self, window: u64, at: Time, acked: u64) {
        let now = ticks(at);
        self.ack_count += acked;
        if self.last_window != window || now - self.last_time > HZ / 32 {
            self.update_at(window, now, acked);
        }
    }

    #[inline(never)]
    fn update_at(&mut self, window: u64, now: i64, acked: u64) {
        if self.epoch.is_none() || now != self.last_time {
            self.last_window = window;
            self.last_time = now;
            let epoch = *self.epoch.get_or_insert_with(|| {
                self.ack_count = acked;
                self.reno = window;
                let (k, origin) = if self.last_max <= window {
                    (0, window)
                } else {
                    (cube_root(CUBE_FACTOR * (self.last_max - window)), self.last_max)
                };
                Epoch { start: now, k, origin }
            });
            let target = epoch.target(now, self.delay_min.unwrap_or(Span::ZERO));
            self.per = if target > window { window / (target - window) } else { 100 * window };
            // The curve says little as long as no plateau is known: 5% a round trip at least.
            if self.last_max == 0 {
                self.per = self.per.min(20);
            }
        }
        // As fast as Reno.
        let each = ((window * BETA_SCALE) >> 3).max(1);
        let grown = self.ack_count.saturating_sub(1) / each;
        self.ack_count -= grown * each;
        self.reno += grown;
        if self.reno > window {
            self.per = self.per.min(window / (self.reno - window));
        }
        self.per = self.per.max(2);
    }
}

impl Epoch {
    /// The curve a round trip from now, in segments.
    fn target(&self, now: i64, delay_min: Span) -> u64 {
        let t =
            ((now - self.start + (delay_min.picos().div_ceil(KERNEL_TICK.picos())).cast_signed()) << 10) / HZ;
        let offset = u128::from((t - self.k).unsigned_abs());
        let delta = u64::try_from((RTT_SCALE * offset * offset * offset) >> 40).unwrap_or(u64::MAX);
        if t < self.k { self.origin.saturating_sub(delta) } else { self.origin.saturating_add(delta) }
    }
}

/// DEVIATION: the largest integer whose cube is not above; the kernel's table and one step of Newton's are 0.2% off.
fn cube_root(value: u64) -> i64 {
    let mut root = libm::cbrt(value as f64) as u64;
    let cube = |side: u64| u128::from(side).pow(3);
    while cube(root) > u128::from(value) {
        root -= 1;
    }
    while cube(root + 1) <= u128::from(value) {
        root += 1;
    }
    root.cast_signed()
}

impl CongestionControl for LinuxCubic {
    /// `cubictcp_acked`.
    #[inline]
    fn handle_measured(&mut self, measured: &MeasuredTrip) {
        let rtt = measured.rtt;
        let lower = self.curve.delay_min.is_none_or(|least| rtt < least);
        let below = self.window.reduced(measured.reduced) < self.window.threshold;
        let looks = below && !self.curve.found && self.hystart.is_some();
        if !lower && !looks {
            return;
        }
        // Delays right after a fast recovery are of a queue that empties.
        if self.curve.epoch.is_some_and(|epoch| ticks(measured.at) - epoch.start < HZ) {
            return;
        }
        let least = self.curve.delay_min.map_or(rtt, |least| least.min(rtt));
        self.curve.delay_min = Some(least);
        if looks {
            self.look_for_the_end(measured, least);
        }
    }

    /// `cubictcp_cong_avoid`.
    #[inline]
    fn handle_acked(&mut self, acked: &Acked) {
        if !acked.window_limited {
            return;
        }
        let mut segments = u64::from(acked.segments);
        if self.window.in_slow_start() {
            segments = self.window.slow_start(segments);
            if segments == 0 {
                return;
            }
        }
        self.curve.update(self.window.segments, acked.at, segments);
        self.window.avoid(self.curve.per, segments);
    }

    /// `cubictcp_recalc_ssthresh`, and `cubictcp_state` at a time-out.
    fn handle_lost(&mut self, lost: &Lost) {
        if lost.kind != (LossKind::Timeout { again: true }) {
            self.curve.epoch = None;
            let window = self.window.segments;
            let beta = if lost.kind == LossKind::Ecn { self.beta_ecn } else { BETA };
            self.curve.last_max =
                if window < self.curve.last_max { window * (1024 + beta) / 2048 } else { window };
            self.window.reduce(window * beta / 1024);
        }
        if lost.kind.is_timeout() {
            self.curve = Curve::default();
            if let Some(hystart) = &mut self.hystart {
                hystart.begin_round(lost.at, lost.max);
            }
            self.window.collapse(lost.remaining);
        }
    }

    /// `cubictcp_cwnd_event`, `CA_EVENT_TX_START`: the curve stands still while nothing is in flight.
    fn handle_resumed(&mut self, at: Time, idle: Span) {
        if let Some(epoch) = &mut self.curve.epoch {
            let idle = (idle.picos() / KERNEL_TICK.picos()).cast_signed();
            epoch.start = (epoch.start + idle).min(ticks(at));
        }
    }

    by_window!(window);
}

impl ControllerNeeds for LinuxCubic {
    const FREQUENT: bool = true;
    const READS_WINDOW_LIMITED: bool = false;
    const MAY_PACE: bool = false;

    #[inline]
    fn in_slow_start(&self) -> bool {
        self.window.in_slow_start()
    }
}
