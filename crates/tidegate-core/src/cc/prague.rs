//! Prague (draft-briscoe-iccrg-prague-congestion-control): DCTCP for the Internet, by the requirements of RFC 9331 §4.3. It
//! paces, falls back on Reno where segments are lost, and short round trips gain it nothing.
//!
//! Windows are real numbers of segments, as in [`super::Cubic`].

use super::control::ControllerNeeds;
use super::dctcp::Extent;
use super::real_window::RealWindow;
use super::{Ack, Bursts, CongestionControl, ControllerSnapshot, EcnNeed, LossKind, Lost, Repair, Undone};
use crate::plan::TcpPlan;
use crate::units::{Rate, Span, Time};

/// RFC 9331 §4.3, "reduced RTT-dependence": flows with shorter round trips act as if theirs were this long.
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
    /// Segments by which the window will move, a whole one with each ACK at most (`cwnd_cnt`).
    due: f64,
    /// The window before the last loss (`loss_cwnd`).
    before_loss: f64,
    /// Bytes of user data in flight after the last ACK.
    in_flight: u64,
    /// Bytes of an IP packet with a full segment, for each byte of the segment.
    packet: f64,
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
            due: 0.0,
            before_loss: 0.0,
            in_flight: 0,
            packet: f64::from(plan.mss + plan.headers) / f64::from(plan.mss.max(1)),
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
        self.due += unmarked * ratio * ratio / self.cwnd.segments();
    }

    /// The window moves by a segment of what is due (`prague_update_cwnd`): a reduction takes as many ACKs as segments.
    fn settle(&mut self) {
        if self.due <= -1.0 {
            self.due += 1.0;
            let segments = self.cwnd.segments() - 1.0;
            if segments < LEAST {
                self.due = 0.0;
            }
            self.cwnd.reduce(segments.max(LEAST));
        } else if self.due >= 1.0 {
            self.due -= 1.0;
            self.cwnd.set(self.cwnd.segments() + 1.0);
        }
    }
}

impl CongestionControl for Prague {
    fn handle_ack(&mut self, ack: &Ack) {
        self.smoothed = ack.smoothed_rtt;
        self.in_flight = ack.in_flight;
        if ack.repair != Repair::Recovery && self.is_used(ack) {
            self.grow(ack);
        }
        self.settle();
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
                self.due -= self.cwnd.segments() * self.extent.alpha / 2.0;
            }
            // RFC 9331 §4.3: as Reno where segments are lost.
            LossKind::DupAck => {
                self.before_loss = self.cwnd.segments();
                self.due = (self.due - self.cwnd.segments()) / 2.0;
            }
            LossKind::Timeout { again } => {
                if !again {
                    self.cwnd.ssthresh = (self.cwnd.segments() / 2.0).max(LEAST);
                }
                self.before_loss = self.cwnd.segments();
                self.due = 0.0;
                self.cwnd.set(1.0);
            }
        }
    }

    fn handle_undone(&mut self, _undone: &Undone) {
        self.due = 0.0;
        self.cwnd.set(self.cwnd.segments().max(self.before_loss));
    }

    fn handle_restart(&mut self, window: u64) {
        self.cwnd.limit(window);
    }

    #[inline]
    fn window(&self) -> u64 {
        self.cwnd.bytes()
    }

    /// "Packet pacing": a window in a round trip, or what is in flight if that is more; twice as much well below the threshold. As in
    /// `prague_update_pacing_rate` a window counts with its headers, but the pacer counts bytes of user data: so the pace is a little
    /// above the window's, and the window remains the limit.
    fn pacing_rate(&self) -> Option<Rate> {
        if self.smoothed == Span::ZERO {
            return None;
        }
        let times = if self.cwnd.segments() < self.cwnd.ssthresh / 2.0 { 2.0 } else { 1.0 };
        let window = self.cwnd.bytes().max(self.in_flight) as f64;
        let bps = times * 8.0 * window * self.packet / self.smoothed.as_secs_f64();
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

impl ControllerNeeds for Prague {
    const HEARS_MEASURED: bool = false;
}
