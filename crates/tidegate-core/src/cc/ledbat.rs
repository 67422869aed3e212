//! LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus): for transfers in the background, which yield to all others. The window
//! keeps the queueing delay, by round trips, at a target, and lets the queue empty from time to time to measure the base.
//!
//! Windows are real numbers of segments, as in [`super::Cubic`].

use std::collections::VecDeque;

use super::control::ControllerNeeds;
use super::real_window::RealWindow;
use super::{Ack, CongestionControl, ControllerSnapshot, LossKind, Lost, Repair};
use crate::plan::TcpPlan;
use crate::units::{Span, Time};

/// TARGET: queueing delay.
const TARGET: Span = Span::from_millis(60);
/// Of the target, at which the first slow start ends.
const SLOW_START_END: f64 = 0.75;
/// Segments of the least window.
const LEAST: f64 = 2.0;
/// The gain is 1 divided by this at least.
const MOST_DIVISOR: f64 = 16.0;
/// The least of so many samples is the delay now (`CURRENT_FILTER` of RFC 6817 §2.4.2).
const SAMPLES: usize = 4;
/// So many minutes are remembered of the base (`BASE_HISTORY` of RFC 6817 §2.4.2).
const MINUTES: usize = 10;
/// Round trips from the end of slow start to the first slowdown, and of the least window.
const PAUSE: u64 = 2;
/// Between slowdowns, times the duration of the last.
const BETWEEN: u64 = 9;

/// Where it is between slowdowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Before the first slowdown is due.
    Start,
    /// The next one is due then.
    Until(Time),
    /// The window is least until then; the slowdown began at the other instant.
    Least(Time, Time),
    /// Slow start back to what it was; the slowdown began then.
    Back(Time),
}

/// LEDBAT++.
#[derive(Debug)]
pub struct Ledbat {
    cwnd: RealWindow,
    phase: Phase,
    /// The last samples.
    current: VecDeque<Span>,
    /// The least samples of the last minutes, newest last, and the minute of the newest.
    base: VecDeque<Span>,
    minute: u64,
}

impl Ledbat {
    /// A connection's controller at its start.
    #[must_use]
    pub fn new(plan: &TcpPlan) -> Ledbat {
        let mut cwnd = RealWindow::new(plan);
        // "Modified slow start": an initial window of two segments.
        cwnd.set(LEAST);
        Ledbat { cwnd, phase: Phase::Start, current: VecDeque::new(), base: VecDeque::new(), minute: 0 }
    }

    fn set(&mut self, cwnd: f64) {
        self.cwnd.set(cwnd.max(LEAST));
    }

    fn add_sample(&mut self, at: Time, rtt: Span) {
        if self.current.len() == SAMPLES {
            self.current.pop_front();
        }
        self.current.push_back(rtt);
        let minute = at.picos() / Span::from_secs(60).picos();
        match self.base.back_mut() {
            Some(least) if minute == self.minute => *least = rtt.min(*least),
            _ => self.base.push_back(rtt),
        }
        self.minute = minute;
        if self.base.len() > MINUTES {
            self.base.pop_front();
        }
    }

    fn base_delay(&self) -> Span {
        self.base.iter().copied().min().unwrap_or(Span::ZERO)
    }

    /// Queueing delay as a part of the target.
    fn load(&self) -> f64 {
        let now = self.current.iter().copied().min().unwrap_or(Span::ZERO);
        now.saturating_sub(self.base_delay()).as_secs_f64() / TARGET.as_secs_f64()
    }

    /// "Slower than Reno increase": 1 / min(16, ceil(2 · TARGET / base)).
    fn gain(&self) -> f64 {
        let twice = 2 * TARGET.picos();
        let times = twice.div_ceil(self.base_delay().picos().max(1)).max(1) as f64;
        1.0 / times.min(MOST_DIVISOR)
    }

    /// "Initial and periodic slowdown".
    fn choose_phase(&mut self, at: Time, smoothed: Span) {
        let pause = smoothed.saturating_mul(PAUSE);
        match self.phase {
            Phase::Start if !self.cwnd.in_slow_start() => {
                self.phase = Phase::Until(at.saturating_add(pause));
            }
            Phase::Until(due) if at >= due => {
                self.cwnd.ssthresh = self.cwnd.segments();
                self.set(LEAST);
                self.phase = Phase::Least(at.saturating_add(pause), at);
            }
            Phase::Least(end, began) if at >= end => self.phase = Phase::Back(began),
            Phase::Back(began) if !self.cwnd.in_slow_start() => {
                let took = at.saturating_since(began);
                self.phase = Phase::Until(at.saturating_add(took.saturating_mul(BETWEEN)));
            }
            Phase::Start | Phase::Until(_) | Phase::Least(..) | Phase::Back(_) => {}
        }
    }

    fn grow(&mut self, segments: f64, window_limited: bool) {
        let (load, gain) = (self.load(), self.gain());
        if self.cwnd.in_slow_start() {
            if self.phase == Phase::Start && load > SLOW_START_END {
                self.cwnd.ssthresh = self.cwnd.segments();
            } else if window_limited {
                self.set((self.cwnd.segments() + gain * segments).min(self.cwnd.ssthresh));
            }
        } else if load <= 1.0 {
            if window_limited {
                self.set(self.cwnd.segments() + gain * segments / self.cwnd.segments());
            }
        } else {
            // "Multiplicative decrease", a round trip's, spread over its ACKs.
            let round = (gain - self.cwnd.segments() * (load - 1.0)).max(-self.cwnd.segments() / 2.0);
            self.set(self.cwnd.segments() + round * segments / self.cwnd.segments());
        }
    }
}

impl CongestionControl for Ledbat {
    fn handle_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.add_sample(ack.at, rtt);
        }
        let frozen = matches!(self.phase, Phase::Least(..));
        if !frozen && ack.repair != Repair::Recovery {
            self.grow(self.cwnd.in_segments(ack.delivered), ack.window_limited);
        }
        self.choose_phase(ack.at, ack.smoothed_rtt);
    }

    fn hears_acks(&self) -> bool {
        true
    }

    /// RFC 6817 §2.4.2: a half, once a round trip; one segment after a time-out, here the least window.
    fn handle_lost(&mut self, lost: &Lost) {
        let timeout = lost.kind.is_timeout();
        let first = lost.kind != (LossKind::Timeout { again: true });
        if first {
            self.cwnd.ssthresh = (self.cwnd.segments() / 2.0).max(LEAST);
        }
        self.set(if timeout { LEAST } else { self.cwnd.ssthresh });
    }

    fn handle_restart(&mut self, window: u64) {
        self.set(self.cwnd.segments().min(self.cwnd.in_segments(window)));
    }

    #[inline]
    fn window(&self) -> u64 {
        self.cwnd.bytes()
    }

    fn snapshot(&self) -> ControllerSnapshot {
        self.cwnd.snapshot()
    }
}

impl ControllerNeeds for Ledbat {
    const HEARS_MEASURED: bool = false;
    const MAY_PACE: bool = false;
}
