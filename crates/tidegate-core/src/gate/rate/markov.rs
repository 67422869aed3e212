//! A rate that is a function of a finite Markov chain. Random numbers are drawn as time passes, whatever the traffic:
//! every variant of a scenario sees the same link.

use rand::distr::weighted::WeightedIndex;
use rand::prelude::Distribution;
use rand_distr::{Exp1, Geometric};

use crate::plan::MarkovPlan;
use crate::random::Stream;
use crate::units::Span;

/// The chain in one of its states.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    plan: MarkovPlan,
    rows: Vec<WeightedIndex<f64>>,
    state: usize,
    stream: Stream,
}

impl Chain {
    pub(super) fn new(plan: &MarkovPlan, mut stream: Stream) -> Chain {
        let rows = plan.transitions.as_ref().map_or_else(Vec::new, |matrix| {
            matrix.iter().map(|row| WeightedIndex::new(row).expect("a row sums to 1")).collect()
        });
        let state = plan.initial.unwrap_or_else(|| {
            let weights = stationary(plan);
            WeightedIndex::new(&weights).expect("holding times are positive").sample(&mut stream)
        });
        Chain { plan: plan.clone(), rows, state, stream }
    }

    /// The speed of the present state and how long it lasts. Moves to the next state.
    pub(super) fn next(&mut self) -> (u64, Span) {
        let mean = self.plan.mean_holding[self.state].picos();
        let holding = match self.plan.step {
            None => {
                let unit: f64 = Exp1.sample(&mut self.stream);
                Span::from_picos(((unit * mean as f64) as u64).max(1))
            }
            Some(step) => {
                let leave = (step.picos() as f64 / mean as f64).min(1.0);
                let stays = Geometric::new(leave).expect("a probability").sample(&mut self.stream);
                step.saturating_mul(stays.saturating_add(1))
            }
        };
        let speed = self.plan.rates[self.state].bps();
        self.state = match self.rows.get(self.state) {
            Some(row) => row.sample(&mut self.stream),
            None => (self.state + 1) % self.plan.rates.len(),
        };
        (speed, holding)
    }
}

/// Long-run share of time in each state, up to a factor: visits × mean holding time.
fn stationary(plan: &MarkovPlan) -> Vec<f64> {
    let visits = plan.visits();
    visits.iter().zip(&plan.mean_holding).map(|(share, mean)| share * mean.picos() as f64).collect()
}

impl MarkovPlan {
    /// The long-run share of visits to each state, whatever their length; they add up to 1.
    ///
    /// States are taken out one by one, the last first (W. K. Grassmann, M. I. Taksar and D. P. Heyman,
    /// Operations Research 33(5), 1985): no differences, so no digits are lost, and n³/3 operations
    /// whether the chain mixes fast, slowly or, being periodic, not at all.
    #[must_use]
    pub fn visits(&self) -> Vec<f64> {
        let count = self.rates.len();
        let Some(matrix) = &self.transitions else { return vec![1.0 / count as f64; count] };
        let mut left = matrix.clone();
        for state in (1..count).rev() {
            let (others, gone) = left.split_at_mut(state);
            let gone = &gone[0][..state];
            let leaves: f64 = gone.iter().sum();
            for row in others {
                row[state] /= leaves;
                let through = row[state];
                if through > 0.0 {
                    row[..state].iter_mut().zip(gone).for_each(|(to, next)| *to += through * next);
                }
            }
        }
        let mut visits = vec![1.0; count];
        for state in 1..count {
            visits[state] = (0..state).map(|from| visits[from] * left[from][state]).sum();
        }
        let total: f64 = visits.iter().sum();
        visits.iter().map(|share| share / total).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Seed;
    use crate::units::Rate;

    fn plan(step: Option<Span>) -> MarkovPlan {
        MarkovPlan {
            rates: vec![Rate::from_bps(800_000), Rate::from_bps(400_000)],
            mean_holding: vec![Span::from_millis(360), Span::from_millis(120)],
            transitions: None,
            step,
            initial: None,
        }
    }

    #[test]
    fn holding_times_have_their_means() {
        for step in [None, Some(Span::from_millis(30))] {
            let mut chain = Chain::new(&plan(step), Seed { seed: 3, replication: 0 }.stream("x"));
            let mut sums = [(0.0, 0u32); 2];
            for _ in 0..40_000 {
                let (speed, holding) = chain.next();
                let slot = usize::from(speed == 400_000);
                sums[slot].0 += holding.as_secs_f64();
                sums[slot].1 += 1;
                if let Some(step) = step {
                    assert_eq!(holding.picos() % step.picos(), 0);
                }
            }
            for (slot, mean) in [(0, 0.36), (1, 0.12)] {
                let measured = sums[slot].0 / f64::from(sums[slot].1);
                assert!((measured / mean - 1.0).abs() < 0.03, "{measured} is not {mean}");
            }
        }
    }

    #[test]
    fn the_stationary_law_counts_time_not_visits() {
        let weights = stationary(&plan(None));
        assert!((weights[0] / weights[1] - 3.0).abs() < 1e-12);
        let matrix = MarkovPlan {
            rates: vec![Rate::from_bps(1); 3],
            mean_holding: vec![Span::from_secs(1); 3],
            transitions: Some(vec![vec![0.0, 1.0, 0.0], vec![0.5, 0.0, 0.5], vec![0.0, 1.0, 0.0]]),
            step: None,
            initial: None,
        };
        let shares = stationary(&matrix);
        let total: f64 = shares.iter().sum();
        assert!((shares[1] / total - 0.5).abs() < 1e-9);
    }

    #[test]
    fn visits_are_a_fixed_point_of_the_transitions() {
        // Two halves that are left once in 10^9 visits: no iteration of a few thousand steps gets there.
        let rare = 1e-9;
        let matrix = vec![
            vec![0.0, 1.0 - rare, rare, 0.0],
            vec![1.0, 0.0, 0.0, 0.0],
            vec![0.0, 2.0 * rare, 0.0, 1.0 - 2.0 * rare],
            vec![0.0, 0.0, 1.0, 0.0],
        ];
        let chain = MarkovPlan {
            rates: vec![Rate::from_bps(1); 4],
            mean_holding: vec![Span::from_secs(1); 4],
            transitions: Some(matrix.clone()),
            step: None,
            initial: None,
        };
        let visits = chain.visits();
        assert!((visits.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for to in 0..4 {
            let come: f64 = (0..4).map(|from| visits[from] * matrix[from][to]).sum();
            assert!((come - visits[to]).abs() < 1e-12, "{to}");
        }
        // What crosses one way crosses back: twice as likely from the second half, so half as long there.
        assert!((visits[0] / visits[2] - 2.0).abs() < 1e-6);
    }
}
