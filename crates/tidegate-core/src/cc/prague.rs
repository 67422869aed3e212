//! Prague (draft-briscoe-iccrg-prague-congestion-control): DCTCP for the Internet, by the requirements of RFC 9331 §4.3. It
//! paces, falls back on Reno where segments are lost, and short round trips gain it nothing.
//!
//! Windows are real numbers of segments, as in [`super::Cubic`].

use super::control::Control;
use super::dctcp::Extent;
use super::real_window::RealWindow;
use super::{Ack, Bursts, CongestionControl, ControllerSnapshot, EcnNeed, LossKind, Lost, Repair};
use crate::plan::TcpPlan;
use crate::units::{Rate, Span, Time};

/// "Reduced RTT-dependence": flows with shorter round trips act as if theirs were this long.
const REFERENCE: Span = Span::from_millis(25);
/// Round trips after slow start from which on they do (`prague_rtt_transition`).
const TRANSITION: u64 = 4;
/// RFC 9331 §4.3: a window of two segments at least, as the pace can be no lower without another clock.
const LEAST: f64 = 2.0;

/// Prague.
#[derive(Debug)]
pub struct Prague {
    cwnd: RealWindow,
    extent: Extent,
    /// A mark has been seen: there is an AQM, of which alpha can tell.
    marked: bool,
    /// When alpha was updated last, and when a mark reduced the window last.
    updated: Time,
    reduced: Option<Time>,
    /// Windows of data since slow start.
    rounds: u64,
    smoothed: Span,
}

impl Prague {
    /// A connection's controller at its start.
    #[must_use]
    pub fn new(plan: &TcpPlan) -> Prague {
        Prague {
            cwnd: RealWindow::new(plan),
            extent: Extent::new(u64::from(plan.mss.max(1))),
            marked: false,
            updated: Time::ZERO,
            reduced: None,
            rounds: 0,
            smoothed: Span::ZERO,
        }
    }

    /// Whether round trips shorter than the reference count as long as it.
    fn is_independent(&self) -> bool {
        !self.cwnd.in_slow_start() && self.rounds >= TRANSITION
    }

    /// Whether the window was used. The pace keeps the sender just below it, so that it seldom stops it.
    fn is_used(&self, ack: &Ack) -> bool {
        let two = self.cwnd.bytes().saturating_sub(2 * self.cwnd.mss() as u64);
        ack.window_limited || ack.in_flight_before >= two.min(self.cwnd.bytes() / 4 * 3)
    }

    /// What has to pass between updates of alpha and between reductions, besides a round trip.
    fn has_passed(&self, since: Time, now: Time) -> bool {
        !self.is_independent() || now.saturating_since(since) >= REFERENCE
    }

    /// "Moving average of ECN feedback": once a virtual round trip, and not before the first mark.
    fn update_alpha(&mut self, ack: &Ack) {
        self.extent.count(ack);
        self.marked |= ack.ecn_marked > 0;
        if !self.extent.is_over(ack) || !self.has_passed(self.updated, ack.at) {
            return;
        }
        if self.marked {
            self.extent.update(ack.max);
            self.updated = ack.at;
        } else {
            self.extent.skip(ack.max);
        }
        if !self.cwnd.in_slow_start() {
            self.rounds += 1;
        }
    }

    /// "Additive increase": segments that were not marked, also in the round trip after a reduction. The growth in a
    /// reference round trip is the same for all shorter ones: (RTT / reference)² segments in a round trip.
    fn grow(&mut self, ack: &Ack) {
        let unmarked = f64::from(ack.segments.saturating_sub(ack.ecn_marked));
        if self.cwnd.in_slow_start() {
            self.cwnd
                .set((self.cwnd.segments() + unmarked).min(self.cwnd.ssthresh.max(self.cwnd.segments())));
            return;
        }
        let short = self.is_independent() && self.smoothed < REFERENCE;
        let ratio = if short { self.smoothed.as_secs_f64() / REFERENCE.as_secs_f64() } else { 1.0 };
        self.cwnd.set(self.cwnd.segments() + unmarked * ratio * ratio / self.cwnd.segments());
    }
}

impl CongestionControl for Prague {
    fn handle_ack(&mut self, ack: &Ack) {
        self.smoothed = ack.smoothed_rtt;
        if ack.repair != Repair::Recovery && self.is_used(ack) {
            self.grow(ack);
        }
        self.update_alpha(ack);
    }

    fn hears_acks(&self) -> bool {
        true
    }

    fn governs_repair(&self) -> bool {
        true
    }

    fn handle_lost(&mut self, lost: &Lost) {
        match lost.kind {
            LossKind::Ecn => {
                if self.reduced.is_some_and(|since| !self.has_passed(since, lost.at)) {
                    return;
                }
                self.reduced = Some(lost.at);
                // "Multiplicative decrease on ECN feedback": cwnd · (1 - alpha / 2).
                let left = self.cwnd.segments() * (1.0 - self.extent.alpha / 2.0);
                self.cwnd.reduce(left.max(LEAST));
            }
            // RFC 9331 §4.3: as Reno where segments are lost.
            LossKind::DupAck => self.cwnd.reduce((self.cwnd.segments() / 2.0).max(LEAST)),
            LossKind::Timeout { again } => {
                if !again {
                    self.cwnd.ssthresh = (self.cwnd.segments() / 2.0).max(LEAST);
                }
                self.cwnd.set(1.0);
            }
        }
    }

    fn handle_restart(&mut self, window: u64) {
        self.cwnd.limit(window);
    }

    #[inline]
    fn window(&self) -> u64 {
        self.cwnd.bytes()
    }

    /// "Packet pacing": a window in a round trip, twice as much well below the threshold.
    fn pacing_rate(&self) -> Option<Rate> {
        if self.smoothed == Span::ZERO {
            return None;
        }
        let times = if self.cwnd.segments() < self.cwnd.ssthresh / 2.0 { 2.0 } else { 1.0 };
        let bps = times * 8.0 * self.cwnd.segments() * self.cwnd.mss() / self.smoothed.as_secs_f64();
        Some(Rate::from_bps(bps as u64))
    }

    /// `prague_tso_segs`: no longer than 1/4096 s, so that a burst does not fill the queue of an L4S link by itself.
    fn bursts(&self) -> Bursts {
        Bursts { shift: 12, on_short_trips: false, least: 1, single_below: Rate::ZERO }
    }

    fn ecn(&self) -> EcnNeed {
        EcnNeed::L4s
    }

    fn snapshot(&self) -> ControllerSnapshot {
        self.cwnd.snapshot()
    }

    fn detail(&self) -> Option<(&'static str, f64)> {
        Some(("alpha", self.extent.alpha))
    }
}

impl Control for Prague {
    const HEARS_MEASURED: bool = false;
}
