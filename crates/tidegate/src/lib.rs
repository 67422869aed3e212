//! What TCP does over a link whose rate is controlled: the simulator of Tidegate for programs in Rust.
//!
//! A [`Scenario`] is read from TOML or JSON and checked; [`run`] runs it in virtual time. The same scenario and the
//! same seed give the same numbers, here, on the command line and in Python.
//!
//! ```
//! let text = r#"
//! duration = "10 s"
//! gate.link = { rate = "20 Mbit/s", queue = "1 BDP" }
//! flow.a = { path = ["link"], rtt = "40 ms" }
//! "#;
//! let scenario = tidegate::Scenario::from_toml(text, "link.toml", None, &[])?;
//! let run = tidegate::run(&scenario, Some(1))?;
//! let flow = &run.summary.flows[0];
//! assert!(flow.goodput_bps > Some(17e6) && flow.goodput_bps < Some(20e6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is wrong in a scenario is one message, which names the file, the line and the key:
//!
//! ```
//! let text = "duration = \"10 s\"\ngate.link.rate = \"20 Mbits\"\n";
//! let refused = tidegate::Scenario::from_toml(text, "link.toml", None, &[]).unwrap_err();
//! let message = refused.to_string();
//! assert!(message.contains("link.toml:2") && message.contains("20 Mbits"), "{message}");
//! ```
//!
//! A transport of one's own is a [`host::Host`](sim::host::Host), and [`sim::run_hosted`] runs it between the gates
//! of a scenario. A single gate, a sender or a token bucket without a scenario are in [`core`].
//!
//! | module | what it knows |
//! |---|---|
//! | [`scenario`] | the scenario language: keys, units, messages, traces |
//! | [`core`] | gates, queues, TCP endpoints, congestion controllers, and the plan of a run |
//! | [`sim`] | runs of plans, summaries and recorded columns, hosts for other transports |
//! | [`quic`] | quinn in virtual time |

pub use tidegate_core as core;
pub use tidegate_quic as quic;
pub use tidegate_scenario as scenario;
pub use tidegate_sim as sim;

pub use scenario::{Scenario, ScenarioError};
pub use sim::{RunError, RunResult, Summary};

/// Runs a scenario in virtual time and returns its summary and the columns that it records.
///
/// `seed`: every random stream derives from it; `None`: that of the scenario, and 1 where it has none.
///
/// # Errors
/// As [`sim::run_hosted`].
pub fn run(scenario: &Scenario, seed: Option<u64>) -> Result<RunResult, RunError> {
    let plan = scenario.plan(seed, 0);
    sim::run_hosted(&plan, &mut quic::hosts(&plan, None), &mut |_| true)
}
