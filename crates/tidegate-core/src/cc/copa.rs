//! Copa (Arun and Balakrishnan, NSDI 2018): the window moves towards the rate 1/(delta · queueing delay), so that 1/delta
//! packets wait on average; where other flows keep the queue full, delta follows losses.
//!
//! Windows are real numbers of segments, as in [`super::Cubic`].

use std::collections::VecDeque;

use super::control::ControllerNeeds;
use super::real_window::RealWindow;
use super::{Ack, CongestionControl, ControllerSnapshot, LossKind, Lost, Repair};
use crate::plan::TcpPlan;
use crate::units::{Rate, Span, Time};

/// §2.1: delta of the default mode.
const DELTA: f64 = 0.5;
/// §2.1: the least round trip is that of the last 10 s.
const MEMORY: Span = Span::from_secs(10);
/// §2.1: velocity doubles after so many round trips in one direction.
const SAME: u32 = 3;
/// §2.2: the queue is nearly empty below this part of the swing of the round trip in the last four.
const NEARLY_EMPTY: f64 = 0.1;
const SWING_ROUNDS: u64 = 4;
/// §2.2: others fill the queue if it was not nearly empty for so many round trips.
const PATIENCE: u64 = 5;

/// The least or the largest sample of the recent past.
#[derive(Debug, Default)]
struct Recent {
    /// Candidates, oldest first.
    samples: VecDeque<(Time, Span)>,
}

impl Recent {
    /// A sample; it makes those superfluous that `beats` says.
    fn add(&mut self, at: Time, rtt: Span, beats: impl Fn(Span, Span) -> bool) {
        while self.samples.back().is_some_and(|(_, other)| beats(rtt, *other)) {
            self.samples.pop_back();
        }
        self.samples.push_back((at, rtt));
    }

    /// Forgets what is older than `span`; the newest sample stays.
    fn best(&mut self, now: Time, span: Span) -> Span {
        while self.samples.len() > 1 && now.saturating_since(self.samples[0].0) > span {
            self.samples.pop_front();
        }
        self.samples.front().map_or(Span::ZERO, |(_, rtt)| *rtt)
    }
}

/// Copa.
#[derive(Debug)]
pub struct Copa {
    cwnd: RealWindow,
    /// The window doubles each round trip, as it does until the target rate is reached for the first time.
    slow_start: bool,
    delta: f64,
    velocity: f64,
    /// The window grows; that of the last adjustment.
    up: bool,
    /// Round trips in one direction.
    same: u32,
    /// The window a round trip ago, and SND.NXT then.
    before: f64,
    round_end: u64,
    standing: Recent,
    least: Recent,
    largest: Recent,
    /// When the queue was nearly empty last.
    emptied: Option<Time>,
    competing: bool,
    /// A loss in this round trip.
    lost: bool,
    pace: Option<Rate>,
}

impl Copa {
    /// A connection's controller at its start.
    #[must_use]
    pub fn new(plan: &TcpPlan) -> Copa {
        let cwnd = RealWindow::new(plan);
        Copa {
            cwnd,
            slow_start: true,
            delta: DELTA,
            velocity: 1.0,
            up: true,
            same: 0,
            before: cwnd.segments(),
            round_end: 0,
            standing: Recent::default(),
            least: Recent::default(),
            largest: Recent::default(),
            emptied: None,
            competing: false,
            lost: false,
            pace: None,
        }
    }

    /// The other direction: velocity is 1 again.
    fn turn(&mut self, up: bool) {
        self.up = up;
        self.same = 0;
        self.velocity = 1.0;
        self.before = self.cwnd.segments();
    }

    /// A round trip is over: velocity (§2.1 step 3) and delta (§2.2).
    fn handle_round(&mut self) {
        let up = self.cwnd.segments() > self.before;
        if up == self.up {
            self.same += 1;
            self.velocity = if self.same >= SAME { 2.0 * self.velocity } else { 1.0 };
        } else {
            self.turn(up);
        }
        self.before = self.cwnd.segments();
        if self.competing {
            // AIMD on 1/delta, never below that of the default mode.
            let packets = if self.lost { 0.5 / self.delta } else { 1.0 / self.delta + 1.0 };
            self.delta = (1.0 / packets).min(DELTA);
        }
        self.lost = false;
    }

    /// §2.2: which mode. `waiting`: the queueing delay; `swing`: the largest less the least round trip.
    fn choose_mode(&mut self, at: Time, waiting: f64, swing: f64, smoothed: Span) {
        // DEVIATION: the queue of its own slow start is nobody else's.
        if waiting < NEARLY_EMPTY * swing || swing == 0.0 || self.slow_start {
            self.emptied = Some(at);
        }
        let since = *self.emptied.get_or_insert(at);
        let competing = at.saturating_since(since) > smoothed.saturating_mul(PATIENCE);
        if self.competing && !competing {
            self.delta = DELTA;
        }
        self.competing = competing;
    }

    /// §2.1 steps 1 to 3.
    fn handle_rtt(&mut self, ack: &Ack, rtt: Span) {
        let (at, smoothed) = (ack.at, ack.smoothed_rtt);
        self.standing.add(at, rtt, |new, old| new <= old);
        self.least.add(at, rtt, |new, old| new <= old);
        self.largest.add(at, rtt, |new, old| new >= old);
        let standing = self.standing.best(at, Span::from_picos(smoothed.picos() / 2));
        let least = self.least.best(at, MEMORY);
        let largest = self.largest.best(at, smoothed.saturating_mul(SWING_ROUNDS));
        let waiting = standing.saturating_sub(least).as_secs_f64();
        let swing = largest.saturating_sub(least).as_secs_f64();
        self.choose_mode(at, waiting, swing, smoothed);
        if ack.una > self.round_end {
            self.round_end = ack.max;
            self.handle_round();
        }
        let segments = self.cwnd.in_segments(ack.delivered);
        let standing = standing.as_secs_f64();
        // cwnd / standing against 1 / (delta · waiting), without dividing by what may be zero.
        let up = self.cwnd.segments() * self.delta * waiting <= standing;
        if up && self.slow_start {
            if ack.window_limited {
                self.cwnd.set(self.cwnd.segments() + segments);
            }
        } else {
            self.slow_start = false;
            if up != self.up && self.velocity > 1.0 {
                self.turn(up);
            }
            let step = self.velocity * segments / (self.delta * self.cwnd.segments());
            if !up {
                self.cwnd.set(self.cwnd.segments() - step);
            } else if ack.window_limited {
                self.cwnd.set(self.cwnd.segments() + step);
            }
        }
        // §2.1 step 4: twice the rate, so that the window and not the pace decides.
        let bps = 16.0 * self.cwnd.segments() * self.cwnd.mss() / standing.max(1e-9);
        self.pace = Some(Rate::from_bps(bps as u64));
    }
}

impl CongestionControl for Copa {
    fn handle_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.handle_rtt(ack, rtt);
        } else if ack.repair == Repair::TimeOut && self.slow_start {
            // What is sent again measures no round trip.
            self.cwnd.set(self.cwnd.segments() + self.cwnd.in_segments(ack.delivered));
        }
    }

    fn hears_acks(&self) -> bool {
        true
    }

    fn governs_repair(&self) -> bool {
        true
    }

    fn handle_lost(&mut self, lost: &Lost) {
        match lost.kind {
            // The default mode looks at delay alone (§2.1); the other one at the end of the round trip.
            LossKind::DupAck | LossKind::Ecn => self.lost = true,
            // RFC 5681 §3.1: one segment after a time-out.
            LossKind::Timeout { again: _ } => {
                self.lost = true;
                self.cwnd.set(1.0);
                self.slow_start = true;
                self.turn(true);
            }
        }
    }

    fn handle_restart(&mut self, window: u64) {
        self.cwnd.limit(window);
        self.turn(true);
    }

    #[inline]
    fn window(&self) -> u64 {
        self.cwnd.bytes()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pace
    }

    fn snapshot(&self) -> ControllerSnapshot {
        ControllerSnapshot { ssthresh: None, slow_start: self.slow_start, ..self.cwnd.snapshot() }
    }

    fn detail(&self) -> Option<(&'static str, f64)> {
        Some(("delta", self.delta))
    }
}

impl ControllerNeeds for Copa {
    const HEARS_MEASURED: bool = false;
}
