//! A golden table of drawn measurements: what the estimator asks for and gets.

use super::*;
use crate::golden::{Digest, compare, drawn};

#[test]
fn golden_estimators() {
    let any_rates = prop::collection::vec((0u64..30_000_000, prop::bool::weighted(0.2)), 1..80);
    let any_left = prop::collection::vec(prop::option::of(0u64..20_000_000), 80);
    let cases = drawn((any_settings(), any_rates, 1u32..12, 1u64..20_000_000, any_left), 200);
    let lines: Vec<String> = cases
        .iter()
        .map(|(settings, rates, update_every, initial, left)| {
            let initial = Rate::from_bps(*initial);
            let mut alone = BandwidthEstimator::new(*settings, 0, initial, *update_every).unwrap();
            // The same measurements where a pool may have less left than is asked for.
            let (mut estimate, mut pooled) = (Estimate::new(0), Allocation::new(initial));
            let (mut digest, mut decisions) = (Digest::new(), 0);
            for ((rate, lost), spare) in rates.iter().zip(left) {
                decisions += u32::from(alone.measure(*rate, *lost));
                estimate.measure(*rate, *lost, settings);
                if let Some(asked) = pooled.ask(estimate.current(), *lost, settings) {
                    let spare = spare.map(|bps| Bandwidth::of(Rate::from_bps(bps)));
                    pooled.grant(asked, spare, settings);
                }
                digest.add(&(&alone, alone.current(), alone.rate(), &estimate, &pooled, pooled.in_force()));
            }
            format!(
                "measured {:2}, decisions {decisions:2}, {:9} bit/s, digest {digest}",
                rates.len(),
                alone.rate().bps()
            )
        })
        .collect();
    compare("estimators", &lines);
}
