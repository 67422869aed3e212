//! What was asked of the kernel, and what it did.

use serde::Serialize;
use tidegate_core::plan::Plan;

use crate::endpoints::{EndReport, FlowStack, Sample, TcpInfo};
use crate::wire::FlowWire;

/// `TCPI_OPT_TIMESTAMPS`, `TCPI_OPT_SACK`, `TCPI_OPT_WSCALE`.
const TIMESTAMPS: u8 = 1;
const SACK: u8 = 2;
const SCALING: u8 = 4;

/// What of a flow's settings was found in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The flow.
    pub flow: String,
    /// In words.
    pub in_force: Vec<String>,
    /// What was not.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// Compares what every flow asked for with what its socket said.
pub(crate) fn verify(plan: &Plan, seen: &EndReport, wires: &[FlowWire]) -> Vec<Verified> {
    let check = |number: usize| {
        let name = &plan.flows[number].name;
        let mut check = Check { flow: name, verified: Vec::new(), warnings: Vec::new() };
        let (stack, facts) = (&seen.stack.flows[number], &seen.facts[number]);
        if let Some(failure) = &facts.failure {
            check.warnings.push(format!("flow.{name}: {failure}"));
        }
        match &facts.first {
            Some(first) => check.connection(stack, first, &facts.congestion),
            None => check.warnings.push(format!("flow.{name}: it was not connected by the end of the run")),
        }
        if let Some(window) = stack.window {
            let samples = seen.samples.iter().filter(|sample| sample.flow as usize == number);
            check.window(window, stack, &samples.collect::<Vec<_>>(), wires[number].most_outstanding);
        }
        Verified { flow: name.clone(), in_force: check.verified, warnings: check.warnings }
    };
    (0..plan.flows.len()).map(check).collect()
}

struct Check<'a> {
    flow: &'a str,
    verified: Vec<String>,
    warnings: Vec<String>,
}

impl Check<'_> {
    fn same<T: PartialEq + std::fmt::Display>(&mut self, key: &str, asked: T, found: T) {
        if asked == found {
            self.verified.push(format!("{key} = {found}"));
        } else {
            self.warnings
                .push(format!("flow.{}.{key}: asked {asked}, and the kernel has {found}", self.flow));
        }
    }

    fn connection(&mut self, stack: &FlowStack, first: &TcpInfo, congestion: &str) {
        self.same("tcp.cc", stack.congestion, congestion);
        self.same("tcp.mss", stack.mss, first.mss);
        self.same("tcp.sack", stack.sack, first.options & SACK != 0);
        self.same("tcp.timestamps", stack.timestamps, first.options & TIMESTAMPS != 0);
        self.same("window scaling", stack.scaling, first.options & SCALING != 0);
        self.same("tcp.initial_window (segments)", stack.initial_window, first.cwnd);
        if let Some(least) = stack.rto_min_us
            && u64::from(first.rto_us) < least
        {
            self.warnings.push(format!(
                "flow.{}.tcp.rto.min: asked {} ms, and the kernel has a time-out of {} ms",
                self.flow,
                least / 1000,
                first.rto_us / 1000
            ));
        }
    }

    /// A window is in force when, in the second half of the run, no more than it is ever out. The
    /// announced one is rounded up to what the connection's window scale can say.
    fn window(&mut self, window: u64, stack: &FlowStack, samples: &[&Sample], out: u64) {
        let announced = samples.iter().map(|sample| sample.info.peer_window).next_back();
        let Some(announced) = announced.filter(|_| out > 0) else { return };
        let mss = u64::from(stack.mss);
        let told =
            format!("{out} B ({} segments) in flight at most, {announced} B announced", out.div_ceil(mss));
        if out <= window {
            self.verified.push(format!("tcp.window = {window} B: {told}"));
        } else {
            self.warnings.push(format!(
                "flow.{}.tcp.window: asked {window} B ({} segments); there were {told}",
                self.flow,
                window / mss
            ));
        }
    }
}
