//! ECN of a plan as the kernel is told it.

use tidegate_core::plan::{CongestionPlan, EcnPlan, Plan, TcpPlan};

use crate::{LiveError, lab};

/// The value of `net.ipv4.tcp_ecn` that asks for Accurate ECN; Linux 6.18 does not take it yet.
const ACCURATE: u8 = 3;

/// Whether a flow's packets are ECN-capable.
pub(crate) fn has_ecn(tcp: &TcpPlan) -> bool {
    needs_ecn(tcp) || tcp.ecn != EcnPlan::Off
}

/// Controllers of the kernel that have ECN whatever is set (`tcp_ca_needs_ecn`, Linux 6.18).
fn needs_ecn(tcp: &TcpPlan) -> bool {
    matches!(tcp.cc, CongestionPlan::Dctcp)
}

/// `net.ipv4.tcp_ecn` of both namespaces. Flows that have ECN whatever it says have no say.
///
/// # Errors
/// [`LiveError::Beyond`] where flows disagree, or the kernel has no Accurate ECN.
pub(super) fn setting(plan: &Plan) -> Result<u8, LiveError> {
    let mut asked = plan.flows.iter().filter(|flow| !needs_ecn(&flow.tcp));
    let Some(first) = asked.next() else { return Ok(0) };
    if let Some(other) = asked.find(|flow| flow.tcp.ecn != first.tcp.ecn) {
        return Err(LiveError::Beyond(format!(
            "flow.{}.tcp.ecn: read \"{}\", and flow.{} has \"{}\"; the kernel's setting holds for all flows",
            other.name,
            other.tcp.ecn.name(),
            first.name,
            first.tcp.ecn.name()
        )));
    }
    match first.tcp.ecn {
        EcnPlan::Off => Ok(0),
        EcnPlan::Classic => Ok(1),
        EcnPlan::Accurate if takes_accurate() => Ok(ACCURATE),
        EcnPlan::Accurate => Err(LiveError::Beyond(format!(
            "flow.{}.tcp.ecn: read \"accurate\"; the kernel here does not take net.ipv4.tcp_ecn = {ACCURATE}",
            first.name
        ))),
    }
}

fn takes_accurate() -> bool {
    let works = || std::fs::write("/proc/sys/net/ipv4/tcp_ecn", ACCURATE.to_string()).is_ok();
    lab::in_a_namespace(works).unwrap_or(false)
}
