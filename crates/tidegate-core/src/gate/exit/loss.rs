//! Loss after the server: one draw per unit, or a count.

use rand::distr::{Bernoulli, Distribution};

use crate::gate::drops::DropReason;
use crate::plan::LossPlan;
use crate::random::Stream;

/// A loss process with its state.
#[derive(Clone, Debug)]
pub(super) struct Loss {
    law: Law,
    stream: Stream,
    /// Of two states, the bad one.
    bad: bool,
    /// Units that passed since the last loss.
    passed: u64,
}

/// The law of a [`LossPlan`], ready to be drawn from.
#[derive(Clone, Debug)]
enum Law {
    Independent(Bernoulli),
    /// Of two states, good and bad: which units are lost, and after which the state changes.
    GilbertElliott {
        lost: [Bernoulli; 2],
        moves: [Bernoulli; 2],
    },
    /// One of so many units.
    Every {
        units: u64,
    },
}

impl Loss {
    /// The process of `plan`; `None` where nothing is ever lost.
    pub(super) fn new(plan: LossPlan, stream: impl FnOnce() -> Stream) -> Option<Box<Loss>> {
        let chance = |probability| Bernoulli::new(probability).expect("a plan has probabilities");
        let law = match plan {
            LossPlan::None => return None,
            LossPlan::Independent { probability } => Law::Independent(chance(probability)),
            LossPlan::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                Law::GilbertElliott {
                    lost: [loss_good, loss_bad].map(chance),
                    moves: [good_to_bad, bad_to_good].map(chance),
                }
            }
            LossPlan::Every { units } => Law::Every { units },
        };
        Some(Box::new(Loss { law, stream: stream(), bad: false, passed: 0 }))
    }

    /// How its losses are called.
    pub(super) fn reason(&self) -> DropReason {
        match self.law {
            Law::Every { units: _ } => DropReason::Counted,
            Law::Independent(_) | Law::GilbertElliott { .. } => DropReason::Loss,
        }
    }

    /// Whether the next unit is lost.
    pub(super) fn loses_next(&mut self) -> bool {
        match &self.law {
            Law::Independent(lost) => lost.sample(&mut self.stream),
            Law::GilbertElliott { lost, moves } => {
                let state = usize::from(self.bad);
                let is_lost = lost[state].sample(&mut self.stream);
                self.bad ^= moves[state].sample(&mut self.stream);
                is_lost
            }
            Law::Every { units } => {
                let lost = self.passed + 1 >= *units;
                self.passed = if lost { 0 } else { self.passed + 1 };
                lost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Seed;

    #[test]
    fn every_third_unit_is_lost() {
        let mut loss =
            Loss::new(LossPlan::Every { units: 3 }, || Seed { seed: 5, replication: 0 }.stream("loss"))
                .expect("a law");
        let lost: Vec<usize> = (1..=10).filter(|_| loss.loses_next()).collect();
        assert_eq!(lost, [3, 6, 9]);
        assert_eq!(loss.reason().name(), "loss by count");
    }

    #[test]
    fn gilbert_elliott_loses_its_long_run_share_in_bursts() {
        let plan =
            LossPlan::GilbertElliott { good_to_bad: 0.01, bad_to_good: 0.1, loss_good: 0.0, loss_bad: 0.5 };
        let mut loss = Loss::new(plan, || Seed { seed: 5, replication: 0 }.stream("loss")).unwrap();
        let drawn: Vec<bool> = (0..400_000).map(|_| loss.loses_next()).collect();
        let share = drawn.iter().filter(|lost| **lost).count() as f64 / drawn.len() as f64;
        // 0.01 / 0.11 of the time bad, half of it lost.
        assert!((share - 0.5 / 11.0).abs() < 0.003, "{share}");
        let pairs = drawn.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64;
        let after_loss = pairs / (share * drawn.len() as f64);
        assert!((after_loss - 0.45).abs() < 0.02, "{after_loss}");
    }
}
