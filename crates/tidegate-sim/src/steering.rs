//! A controller whose window and pace are set from outside, and what it has heard since it was asked last.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tidegate_core::cc::{Ack, Acked, CongestionControl, ControllerSnapshot, Lost, Recovered};
use tidegate_core::plan::LARGEST_WINDOW;
use tidegate_core::units::{Rate, Span};

/// What the ACKs of a time said, and what was lost in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// User bytes newly reported as arrived, in order or not.
    pub delivered_bytes: u64,
    /// User bytes that ACKs proved lost.
    pub lost_bytes: u64,
    /// Segments newly reported as marked (ECN).
    pub marked_segments: u64,
    /// Samples of the round trip.
    pub round_trips: u64,
    /// Their sum in picoseconds.
    pub round_trip_sum: u128,
    /// The shortest of them.
    pub round_trip_least: Option<Span>,
}

/// What a steered connection and who steers it share.
#[derive(Debug)]
pub(crate) struct Steering {
    window: AtomicU64,
    /// Bits a second; 0: not paced.
    pacing: AtomicU64,
    heard: Mutex<Heard>,
}

impl Steering {
    pub(crate) fn new(window: u64) -> Arc<Steering> {
        Arc::new(Steering {
            window: AtomicU64::new(window),
            pacing: AtomicU64::new(0),
            heard: Mutex::default(),
        })
    }

    /// Sets window and pace, and says whether that changes anything.
    pub(crate) fn set(&self, window: u64, pacing: Option<Rate>) -> bool {
        let pacing = pacing.map_or(0, Rate::bps);
        let window = window.min(LARGEST_WINDOW);
        let before = self.window.swap(window, Ordering::Relaxed);
        self.pacing.swap(pacing, Ordering::Relaxed) != pacing || before != window
    }

    /// What was heard since the last call.
    pub(crate) fn take(&self) -> Heard {
        std::mem::take(&mut *self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The controller of one steered connection.
#[derive(Debug)]
pub(crate) struct Steered {
    steering: Arc<Steering>,
    mss: u64,
}

impl Steered {
    pub(crate) fn new(steering: &Arc<Steering>, mss: u32) -> Steered {
        Steered { steering: Arc::clone(steering), mss: u64::from(mss) }
    }
}

impl CongestionControl for Steered {
    fn handle_ack(&mut self, ack: &Ack) {
        let mut heard = self.steering.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.delivered_bytes += ack.delivered;
        heard.lost_bytes += ack.lost;
        heard.marked_segments += u64::from(ack.ecn_marked);
        if let Some(rtt) = ack.rtt {
            heard.round_trips += 1;
            heard.round_trip_sum += u128::from(rtt.picos());
            heard.round_trip_least = Some(heard.round_trip_least.map_or(rtt, |least| least.min(rtt)));
        }
    }

    fn handle_acked(&mut self, _acked: &Acked) {}

    fn handle_lost(&mut self, _lost: &Lost) {}

    fn handle_recovered(&mut self, _recovered: &Recovered) {}

    fn handle_restart(&mut self, _window: u64) {}

    fn hears_acks(&self) -> bool {
        true
    }

    fn governs_repair(&self) -> bool {
        true
    }

    fn window(&self) -> u64 {
        self.steering.window.load(Ordering::Relaxed).max(self.mss)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let bps = self.steering.pacing.load(Ordering::Relaxed);
        (bps > 0).then(|| Rate::from_bps(bps))
    }

    fn snapshot(&self) -> ControllerSnapshot {
        ControllerSnapshot { window: self.window() as f64, ssthresh: None, slow_start: false }
    }
}
