//! What the live engine's clockwork does on this machine, beside the machine's own floor:
//! `make bench-live`, or `cargo run --release -p tidegate-live --example timing`.
//! Arguments: seconds of each run (default 5), a comma-separated choice of parts
//! (floor, timing, trip, segment, samples, goodput; default all), and what idle processors do
//! (auto, awake, halts; default auto, as in runs).
#![allow(clippy::print_stdout, reason = "its output is the table")]
#![allow(clippy::disallowed_methods, reason = "real time passes here")]

#[cfg(target_os = "linux")]
#[path = "timing/linux.rs"]
mod linux;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    #[cfg(target_os = "linux")]
    linux::main()?;
    #[cfg(not(target_os = "linux"))]
    tidegate_live::supported()?;
    Ok(())
}
