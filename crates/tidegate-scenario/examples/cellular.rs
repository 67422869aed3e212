//! Writes a synthetic cellular link as a Mahimahi file to standard output:
//! `cargo run -p tidegate-scenario --example cellular -- SEED > link.down`.
#![allow(clippy::print_stdout, reason = "its output is the trace")]

use tidegate_core::random::Seed;
use tidegate_scenario::trace::mahimahi;
use tidegate_scenario::trace::synth::Cellular;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seed = std::env::args().nth(1).map_or(Ok(1), |text| text.parse())?;
    let trace = Cellular::default().opportunities(Seed { seed, replication: 0 })?;
    print!("{}", mahimahi::write(&trace));
    Ok(())
}
