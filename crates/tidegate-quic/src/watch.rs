//! What a congestion controller of quinn's knows and a connection does not tell: bytes in flight, the slow-start threshold, single round
//! trips, reductions for marks, and recovery periods.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerMetrics};
use tidegate_core::units::Rate;

/// What the controller was told last.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    in_flight: AtomicU64,
    /// [`u64::MAX`]: none.
    ssthresh: AtomicU64,
    reductions: AtomicU64,
    recoveries: AtomicU64,
    /// Bits a second that the controller wants to be sent; 0: it says nothing.
    pacing_rate: AtomicU64,
    /// User bytes have been sent.
    has_sent_data: AtomicBool,
    /// The round trip measured last that nobody has taken yet, in nanoseconds; 0: none.
    rtt: AtomicU64,
}

impl Seen {
    /// Bytes sent and neither acknowledged nor deemed lost.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight.load(Relaxed)
    }

    /// Slow-start threshold in bytes.
    pub(crate) fn ssthresh(&self) -> Option<u64> {
        Some(self.ssthresh.load(Relaxed)).filter(|bytes| (1..u64::MAX).contains(bytes))
    }

    /// How fast the controller wants packets to leave, if it says so.
    pub(crate) fn pacing_rate(&self) -> Option<Rate> {
        Some(self.pacing_rate.load(Relaxed)).filter(|bps| *bps > 0).map(Rate::from_bps)
    }

    /// The round trip that the last ACK measured, once.
    pub(crate) fn take_rtt(&self) -> Option<Duration> {
        Some(self.rtt.swap(0, Relaxed)).filter(|nanos| *nanos > 0).map(Duration::from_nanos)
    }

    /// User bytes are sent.
    pub(crate) fn note_data(&self) {
        self.has_sent_data.store(true, Relaxed);
    }

    /// Whether user bytes have been sent.
    pub(crate) fn has_sent_data(&self) -> bool {
        self.has_sent_data.load(Relaxed)
    }

    /// Times that marks made the window smaller.
    pub(crate) fn reductions(&self) -> u64 {
        self.reductions.load(Relaxed)
    }

    /// Recovery periods that a loss began (RFC 9002 §7.3.2).
    pub(crate) fn recoveries(&self) -> u64 {
        self.recoveries.load(Relaxed)
    }
}

/// A controller that is watched.
pub(crate) struct Watched {
    controller: Box<dyn Controller>,
    /// When the packet was sent that was acknowledged last: at an ACK's end it is the one with the highest number.
    acked: Option<Instant>,
    /// When the last recovery period began. What was sent before, and is lost or marked, begins no other (RFC 9002 §7.3.2).
    recovering_since: Option<Instant>,
    seen: Arc<Seen>,
}

impl Watched {
    pub(crate) fn new(controller: Box<dyn Controller>, seen: Arc<Seen>) -> Watched {
        Watched { controller, acked: None, recovering_since: None, seen }
    }

    fn note_metrics(&self) {
        let metrics = self.controller.metrics();
        self.seen.ssthresh.store(metrics.ssthresh.unwrap_or(u64::MAX), Relaxed);
        self.seen.pacing_rate.store(metrics.pacing_rate.unwrap_or(0), Relaxed);
    }
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.seen.in_flight.fetch_add(bytes, Relaxed);
        self.controller.on_sent(now, bytes, last);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.acked = Some(sent);
        self.controller.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.seen.in_flight.store(in_flight, Relaxed);
        if let Some(sent) = self.acked.take() {
            // RFC 9002 §5.1.
            let rtt = now.saturating_duration_since(sent).as_nanos();
            self.seen.rtt.store(u64::try_from(rtt).unwrap_or(u64::MAX), Relaxed);
        }
        self.controller.on_end_acks(now, in_flight, app_limited, largest);
        self.note_metrics();
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        let in_flight = self.seen.in_flight();
        self.seen.in_flight.store(in_flight.saturating_sub(lost_bytes), Relaxed);
        let is_mark = lost_bytes == 0;
        if self.recovering_since.is_none_or(|since| sent > since) {
            self.recovering_since = Some(now);
            self.seen.recoveries.fetch_add(u64::from(!is_mark), Relaxed);
        }
        let before = self.controller.window();
        self.controller.on_congestion_event(now, sent, persistent, lost_bytes);
        if is_mark && self.controller.window() < before {
            self.seen.reductions.fetch_add(1, Relaxed);
        }
        self.note_metrics();
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.controller.on_mtu_update(mtu);
    }

    fn window(&self) -> u64 {
        self.controller.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.controller.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let Watched { acked, recovering_since, ref seen, .. } = *self;
        Box::new(Watched {
            controller: self.controller.clone_box(),
            acked,
            recovering_since,
            seen: Arc::clone(seen),
        })
    }

    fn initial_window(&self) -> u64 {
        self.controller.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.controller.into_any()
    }
}
