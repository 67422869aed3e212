//! Random delay after the server: one draw per unit. Units never overtake each other: a unit whose delay would let it
//! overtake leaves together with the unit in front of it.
//!
//! Example: uniform from 0 to 5 ms behind a server without delay. Services end at 0 and 1 ms, 4 ms and 1 ms are
//! drawn: both units come out at 4 ms.

use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use crate::plan::JitterPlan;
use crate::random::Stream;
use crate::units::{Span, Time};

/// A random delay with its state.
#[derive(Clone, Debug)]
pub(super) struct Jitter {
    plan: JitterPlan,
    stream: Stream,
    /// End of the last unit's service.
    ended: Time,
    /// When the last unit left.
    out: Time,
}

impl Jitter {
    /// The jitter of `plan`; `None` where there is none and no other delay `varies`.
    pub(super) fn new(
        plan: JitterPlan,
        varies: bool,
        stream: impl FnOnce() -> Stream,
    ) -> Option<Box<Jitter>> {
        let begin = || Jitter { plan, stream: stream(), ended: Time::ZERO, out: Time::ZERO };
        (varies || plan != JitterPlan::None).then(|| Box::new(begin()))
    }

    /// When the next unit leaves, if its service ends at `end` and a constant `delay` follows. Ends never decrease.
    pub(super) fn delay(&mut self, end: Time, delay: Span) -> Time {
        let drawn = match self.plan {
            JitterPlan::None => 0,
            JitterPlan::Uniform { most } => self.stream.random_range(0..=most.picos()),
            JitterPlan::Exponential { mean } => {
                let unit: f64 = Exp1.sample(&mut self.stream);
                (unit * mean.picos() as f64) as u64
            }
            JitterPlan::Wakeup { latency, pause } => {
                let idle = end.saturating_add(delay) > self.out.saturating_add(pause);
                if idle { latency.picos() } else { 0 }
            }
        };
        self.ended = end;
        self.out = self.out.max(end.saturating_add(delay).saturating_add(Span::from_picos(drawn)));
        self.out
    }

    /// End of the last unit's service.
    pub(super) fn ended(&self) -> Time {
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Seed;

    fn jitter(plan: JitterPlan) -> Jitter {
        *Jitter::new(plan, false, || Seed { seed: 3, replication: 0 }.stream("gate.link/jitter"))
            .expect("a delay")
    }

    /// Far apart, so that no unit waits for the one ahead of it.
    fn drawn(plan: JitterPlan) -> Vec<f64> {
        let mut jitter = jitter(plan);
        let ends = (0..200_000).map(|n| Time::ZERO + Span::from_millis(1000 * n));
        ends.map(|end| jitter.delay(end, Span::ZERO).saturating_since(end).as_secs_f64()).collect()
    }

    #[test]
    fn what_is_drawn_has_its_mean_and_its_spread() {
        let most = Span::from_millis(5);
        let moments = |plan| {
            let drawn = drawn(plan);
            let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
            let square = drawn.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / drawn.len() as f64;
            (mean, square.sqrt(), drawn.iter().copied().fold(0.0, f64::max))
        };
        let like = |found: (f64, f64, f64), mean: f64, deviation: f64| {
            assert!((found.0 - mean).abs() < 2e-5 && (found.1 - deviation).abs() < 3e-5, "{found:?}");
        };
        let uniform = moments(JitterPlan::Uniform { most });
        // 5 / 2 and 5 / sqrt(12) ms; standard errors are 0.003 and 0.002 ms.
        like(uniform, 0.0025, 0.001_443);
        assert!(uniform.2 <= 0.005 && uniform.2 > 0.004_999, "{uniform:?}");
        like(moments(JitterPlan::Exponential { mean: Span::from_millis(1) }), 0.001, 0.001);
    }

    #[test]
    fn after_a_pause_the_first_is_late_and_takes_others_with_it() {
        let (latency, pause) = (Span::from_micros(40), Span::from_micros(50));
        let mut jitter = jitter(JitterPlan::Wakeup { latency, pause });
        let micros = |at: u64| Time::ZERO + Span::from_micros(at);
        let out: Vec<Time> = [100, 112, 139, 151, 201, 252, 300]
            .map(|end| jitter.delay(micros(end), Span::from_micros(1000)))
            .to_vec();
        assert_eq!(out, [1140, 1140, 1140, 1151, 1201, 1292, 1300].map(micros));
    }

    #[test]
    fn nobody_overtakes() {
        let mut jitter = jitter(JitterPlan::Uniform { most: Span::from_millis(5) });
        let (mut last, mut together) = (Time::ZERO, 0);
        for n in 0..1000 {
            let end = Time::ZERO + Span::from_millis(n);
            let out = jitter.delay(end, Span::from_millis(2));
            let least = end + Span::from_millis(2);
            assert!(out >= last.max(least) && out <= last.max(least + Span::from_millis(5)));
            assert_eq!(jitter.ended(), end);
            together += u64::from(out == last);
            last = out;
        }
        assert!(together > 100, "{together}");
    }
}
