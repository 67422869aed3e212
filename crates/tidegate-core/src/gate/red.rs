//! Random early detection (RED): S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance",
//! IEEE/ACM Transactions on Networking 1(4), 1993; `gentle` is Floyd's note of 2000, `adaptive` S. Floyd, R. Gummadi and
//! S. Shenker, "Adaptive RED", 2001.
//!
//! A unit is judged when it arrives, by the average of what units found in the queue. Averages and probabilities are
//! numbers with a fraction of 53 bits, and only added, multiplied and divided, which IEEE 754 rounds alike everywhere.

use rand::RngExt;

use crate::gate::backlog::Backlog;
use crate::gate::drops::DropReason;
use crate::plan::{RedPlan, RedUnit};
use crate::random::Stream;
use crate::unit::{Ecn, Unit};
use crate::units::{Span, Time};

/// From one adaption of the largest probability to the next (Adaptive RED §4, Figure 1: `interval`).
const ADAPT_EVERY: Span = Span::from_millis(500);

/// The factor by which it falls (`beta`).
const FALLS_TO: f64 = 0.9;

/// Where it stays.
const LEAST: f64 = 0.01;
const MOST: f64 = 0.5;

/// The state of one gate.
#[derive(Clone, Debug)]
pub(super) struct Red {
    plan: RedPlan,
    stream: Stream,
    /// The average queue, in packets or bytes.
    average: f64,
    /// Units since the last mark or drop while the average was above the lower threshold; −1: none was.
    count: i64,
    /// The largest probability below the upper threshold.
    max_p: f64,
    next_adaption: Time,
}

/// What a unit finds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// In the queue.
    pub(super) queue: Backlog,
    /// Since when the server has been idle; `None`: it is not.
    pub(super) idle_since: Option<Time>,
}

impl Red {
    pub(super) fn new(plan: RedPlan, stream: Stream) -> Red {
        let max_p = plan.max_p();
        let next_adaption = Time::ZERO.saturating_add(ADAPT_EVERY);
        Red { plan, stream, average: 0.0, count: -1, max_p, next_adaption }
    }

    /// Whether a unit that arrives at `at` is marked.
    ///
    /// # Errors
    /// It would be, but its transport does not use ECN, or the average is above every threshold: it is dropped.
    pub(super) fn judge(&mut self, at: Time, unit: &Unit, found: Found) -> Result<bool, DropReason> {
        self.note(at, found);
        let (least, most) = (self.plan.least as f64, self.plan.most as f64);
        if self.average < least {
            self.count = -1;
            return Ok(false);
        }
        let capable = unit.ecn() != Ecn::NotEct;
        let upper = if self.plan.gentle { 2.0 * most } else { most };
        if self.average >= upper {
            self.count = 0;
            return Err(DropReason::Early);
        }
        self.count += 1;
        let base = if self.average < most {
            self.max_p * (self.average - least) / (most - least)
        } else {
            // Gentle: from the largest probability to 1 between the threshold and twice that.
            self.max_p + (1.0 - self.max_p) * (self.average - most) / most
        };
        // Spread evenly: p / (1 − count p).
        let rest = 1.0 - self.count as f64 * base;
        let probability = if rest > base { base / rest } else { 1.0 };
        if self.stream.random::<f64>() >= probability {
            return Ok(false);
        }
        self.count = 0;
        if capable { Ok(true) } else { Err(DropReason::Early) }
    }

    /// The average moves towards what the unit finds. While the server was idle, it moves as if so many small packets had
    /// found nothing as it could have sent.
    fn note(&mut self, at: Time, found: Found) {
        self.adapt_until(at);
        if let Some(since) = found.idle_since {
            let packets = at.saturating_since(since).picos() / self.plan.packet_time.picos().max(1);
            self.average *= power(1.0 - self.plan.weight(), packets);
        }
        let queue = match self.plan.unit {
            RedUnit::Packets => found.queue.units,
            RedUnit::Bytes => found.queue.bytes,
        };
        self.average += self.plan.weight() * (queue as f64 - self.average);
    }

    /// Adapts the largest probability at each interval until `at`: the average is to lie in the middle fifth between the
    /// thresholds.
    fn adapt_until(&mut self, at: Time) {
        if !self.plan.adaptive {
            return;
        }
        let (least, most) = (self.plan.least as f64, self.plan.most as f64);
        let (low, high) = (least + 0.4 * (most - least), least + 0.6 * (most - least));
        while self.next_adaption <= at {
            if self.average > high && self.max_p <= MOST {
                self.max_p += (self.max_p / 4.0).min(0.01);
            } else if self.average < low && self.max_p >= LEAST {
                self.max_p *= FALLS_TO;
            } else if self.average < low {
                // It has fallen as far as it may, and stays until another unit comes.
                let every = ADAPT_EVERY.picos();
                self.next_adaption = Time::from_picos((at.picos() / every + 1).saturating_mul(every));
                return;
            }
            self.next_adaption = self.next_adaption.saturating_add(ADAPT_EVERY);
        }
    }
}

/// `base` to the power of `exponent`, by squaring: the same on every platform.
fn power(base: f64, exponent: u64) -> f64 {
    let (mut square, mut left, mut product) = (base, exponent, 1.0);
    while left > 0 && product > 0.0 {
        if left & 1 == 1 {
            product *= square;
        }
        square *= square;
        left >>= 1;
    }
    product
}
