//! A golden table of drawn arrivals at policers and shapers.

use super::*;
use crate::golden::{Digest, compare, drawn};

#[test]
fn golden_limiters() {
    let any_units = prop::collection::vec((1u64..6, any::<bool>()), 120);
    let cases =
        drawn((increments(), increments(), 0u64..60, 0u64..400, arrivals(), any_units, releases()), 250);
    let lines: Vec<String> = cases
        .iter()
        .map(|(peak, sustained, tau, burst, arrivals, units, release)| {
            let limits = (Limit::new(*peak, *tau).unwrap(), Limit::new(*sustained, *burst).unwrap());
            let (mut gcra, mut whole, mut bucket) =
                (Gcra::new(limits.0), Gcra::new(limits.1), LeakyBucket::new(limits.0));
            let modes = [Conformance::Vbr1, Conformance::Vbr2, Conformance::Vbr3];
            let mut duals = modes.map(|mode| Dual::new(limits.0, limits.1, mode));
            let (mut shaper, mut batches) =
                (Shaper::new(limits.0, *release, *sustained), Shaper::new(limits.1, *release, *peak));
            let (mut digest, mut conforming) = (Digest::new(), 0);
            digest.add(&(
                limits.0.burst(),
                limits.1.depth(),
                limits.0.bits_per_second(424),
                limits.1.exact_bits_per_second(424),
            ));
            for (&at, &(count, low)) in arrivals.iter().zip(units) {
                digest.add(&(gcra.conforms(at), whole.earliest(at, count), whole.limit().units_in(at)));
                conforming += u32::from(gcra.police(at));
                digest.add(&(whole.police_units(at, count), bucket.police(at), bucket.content()));
                for dual in &mut duals {
                    digest.add(&(dual.police(at, low) as u8, dual.police_units(at, count, low) as u8));
                }
                digest.add(&(
                    shaper.releases_at_once(at),
                    shaper.release(at),
                    batches.release_units(at, count),
                ));
                digest.add(&(gcra.theoretical_arrival(), whole.theoretical_arrival()));
            }
            format!("arrivals {:3}, conforming {conforming:3}, digest {digest}", arrivals.len())
        })
        .collect();
    compare("limiters", &lines);
}
