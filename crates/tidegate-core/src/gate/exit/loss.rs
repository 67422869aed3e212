//! Loss after the server: one draw per unit, or a count.

use rand::RngExt;

use crate::gate::drops::DropReason;
use crate::plan::LossPlan;
use crate::random::Stream;

/// A loss process with its state.
#[derive(Clone, Debug)]
pub(super) struct Loss {
    plan: LossPlan,
    stream: Stream,
    /// Of two states, the bad one.
    bad: bool,
    /// Units that passed since the last loss.
    passed: u64,
}

impl Loss {
    /// The process of `plan`; `None` where nothing is ever lost.
    pub(super) fn new(plan: LossPlan, stream: impl FnOnce() -> Stream) -> Option<Box<Loss>> {
        (plan != LossPlan::None).then(|| Box::new(Loss { plan, stream: stream(), bad: false, passed: 0 }))
    }

    /// How its losses are called.
    pub(super) fn reason(&self) -> DropReason {
        match self.plan {
            LossPlan::Every { units: _ } => DropReason::Counted,
            LossPlan::None | LossPlan::Independent { .. } | LossPlan::GilbertElliott { .. } => {
                DropReason::Loss
            }
        }
    }

    /// Whether the next unit is lost.
    pub(super) fn loses_next(&mut self) -> bool {
        match self.plan {
            LossPlan::None => false,
            LossPlan::Independent { probability } => self.stream.random_bool(probability),
            LossPlan::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                let lost = self.stream.random_bool(if self.bad { loss_bad } else { loss_good });
                let moves = self.stream.random_bool(if self.bad { bad_to_good } else { good_to_bad });
                self.bad ^= moves;
                lost
            }
            LossPlan::Every { units } => {
                let lost = self.passed + 1 >= units;
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
