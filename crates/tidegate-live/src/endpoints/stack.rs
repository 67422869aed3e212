//! A plan's TCP as the kernel can be told it: what is set, what is checked afterwards, and
//! what the kernel cannot be told.

use std::collections::BTreeMap;
use std::os::fd::AsFd as _;

use tidegate_core::plan::{FlowPlan, Plan, RtoPlan, Segmentation, TcpBase};
use tidegate_core::units::{PICOS_PER_SECOND, Span};

use super::differs::{DELAYED_ACK_MOST, TIMESTAMPS, differences};
use super::ecn;
use super::sockopt;
use crate::{LiveError, lab};

/// Segment sizes that `TCP_MAXSEG` takes.
const SEGMENTS: std::ops::RangeInclusive<u32> = 88..=32_767;
/// Largest window without scaling (RFC 9293).
const PLAIN_WINDOW: u64 = 65_535;
/// Time-outs that `net.ipv4.tcp_rto_max_ms` takes.
const RTO_MAX_MS: std::ops::RangeInclusive<u64> = 1_000..=120_000;
/// First size of a socket's receive buffer, and the largest one.
const DEFAULT_BUFFER: u64 = 131_072;
const LARGEST_BUFFER: u64 = 64 << 20;

/// The stack of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// By flow.
    pub flows: Vec<FlowStack>,
    /// System controls of both namespaces for the whole run.
    pub controls: Vec<(&'static str, String)>,
    /// Segments that TCP hands to the device at once; `None`: as the kernel does.
    pub gso_segments: Option<u32>,
    /// What the plan asks for and no setting of the kernel gives.
    pub warnings: Vec<String>,
}

/// The stack of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowStack {
    /// Congestion controller by the kernel's name.
    pub congestion: &'static str,
    /// `IP_TOS`: the codepoint of its packets.
    pub dscp: u8,
    /// `TCP_MAXSEG`: user bytes and options.
    pub max_segment: u32,
    /// User bytes of a full segment.
    pub mss: u32,
    /// RFC 2018.
    pub sack: bool,
    /// RFC 7323.
    pub timestamps: bool,
    /// RFC 7323.
    pub scaling: bool,
    /// Receive window, bytes; `None`: as large as the kernel makes it.
    pub window: Option<u64>,
    /// First congestion window, segments.
    pub initial_window: u32,
    /// Duplicate ACKs that start a fast retransmit.
    pub reordering: Option<u32>,
    /// Least time-out, µs.
    pub rto_min_us: Option<u64>,
    /// Largest time-out, ms.
    pub rto_max_ms: Option<u64>,
    /// Every segment is acknowledged at once.
    pub quick_ack: bool,
    /// Largest delay of an acknowledgement, µs.
    pub delayed_ack_most_us: Option<u32>,
    /// The socket paces whatever its controller.
    pub paces: bool,
}

impl FlowStack {
    /// System controls that a socket takes over when it is made or connects.
    pub(crate) fn controls(&self) -> Vec<(&'static str, String)> {
        let flag = |on: bool| u8::from(on).to_string();
        let mut controls = vec![
            ("net.ipv4.tcp_sack", flag(self.sack)),
            ("net.ipv4.tcp_timestamps", flag(self.timestamps)),
            ("net.ipv4.tcp_window_scaling", flag(self.scaling)),
        ];
        controls.extend(self.reordering.map(|many| ("net.ipv4.tcp_reordering", many.to_string())));
        controls.extend(self.rto_min_us.map(|least| ("net.ipv4.tcp_rto_min_us", least.to_string())));
        controls.extend(self.rto_max_ms.map(|most| ("net.ipv4.tcp_rto_max_ms", most.to_string())));
        controls
    }

    /// What its route has to say: flows that agree share one.
    pub(crate) fn route(&self) -> (u32, bool) {
        (self.initial_window, self.quick_ack)
    }
}

impl Stack {
    /// The stack of `plan`, given the congestion controllers that are there: `usable` tries one
    /// by the kernel's name, `available` lists them.
    ///
    /// # Errors
    /// [`LiveError::Beyond`] for a controller that the kernel lacks, or a segment size that it
    /// does not take.
    pub fn new(plan: &Plan, usable: &dyn Fn(&str) -> bool, available: &[String]) -> Result<Stack, LiveError> {
        let mut flows = Vec::new();
        let mut unheard: BTreeMap<Vec<String>, Vec<&str>> = BTreeMap::new();
        for flow in &plan.flows {
            flows.push(settle(flow, usable, available)?);
            let cannot = differences(&flow.tcp);
            if !cannot.is_empty() {
                unheard.entry(cannot).or_default().push(&flow.name);
            }
        }
        let mut warnings = Vec::new();
        for (keys, names) in unheard {
            warnings.push(format!(
                "{}: the kernel does not support {}; it uses its own behaviour instead",
                of_flows(&names),
                keys.join(", ")
            ));
        }
        let old = plan.flows.iter().filter(|flow| flow.tcp.base == TcpBase::Bsd44).count();
        let all_old = old == plan.flows.len() && old > 0;
        if old > 0 && !all_old {
            warnings.push(
                "only some flows have tcp.base = \"bsd44\": RACK, tail loss probes and F-RTO can be disabled only \
                 for all flows together, so they stay enabled"
                    .to_owned(),
            );
        }
        let restarts = plan.flows.iter().filter(|flow| flow.tcp.idle_restart).count();
        if restarts > 0 && restarts < plan.flows.len() {
            warnings.push(
                "tcp.idle_restart can be set only for all flows together; here it is true for all".to_owned(),
            );
        }
        let gso_segments = one_each(plan, &mut warnings).then_some(1);
        Ok(Stack {
            flows,
            controls: controls(all_old, restarts > 0, ecn::setting(plan)?),
            gso_segments,
            warnings,
        })
    }

    /// First and largest size of receive buffers: room for the largest window beside the kernel's own
    /// bookkeeping from the first byte on, and no more where every flow has a window, because
    /// the window's scale, and so how finely it can be announced, follows the largest size.
    pub(crate) fn receive_room(&self) -> (u64, u64) {
        let largest = self.flows.iter().filter_map(|flow| flow.window).max().unwrap_or(0);
        let room = largest.saturating_mul(4).clamp(DEFAULT_BUFFER, LARGEST_BUFFER);
        let all = self.flows.iter().all(|flow| flow.window.is_some());
        (room, if all { room } else { LARGEST_BUFFER })
    }

    /// The distinct routes that flows need, each with the flows that take it.
    pub(crate) fn routes(&self) -> BTreeMap<(u32, bool), Vec<usize>> {
        let mut routes: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (number, flow) in self.flows.iter().enumerate() {
            routes.entry(flow.route()).or_default().push(number);
        }
        routes
    }
}

/// Whether TCP is to hand over one segment at a time. The setting is the device's, which all flows share.
fn one_each(plan: &Plan, warnings: &mut Vec<String>) -> bool {
    let off = |flow: &&FlowPlan| flow.tcp.rules.segmentation == Segmentation::Off;
    let asked = plan.flows.iter().filter(off).count();
    let all = asked == plan.flows.len();
    if asked > 0 && !all {
        warnings.push(
            "tcp.segmentation can be set only for all flows together; here it is \"kernel\" for all"
                .to_owned(),
        );
    }
    asked > 0 && all
}

fn controls(all_old: bool, idle_restart: bool, ecn: u8) -> Vec<(&'static str, String)> {
    let mut controls = vec![
        // Nothing is remembered from one connection to the next.
        ("net.ipv4.tcp_no_metrics_save", "1".to_owned()),
        ("net.ipv4.tcp_slow_start_after_idle", u8::from(idle_restart).to_string()),
        ("net.ipv4.tcp_ecn", ecn.to_string()),
        // A window that is not asked for does not limit: as large as the kernel can make it.
        ("net.ipv4.tcp_wmem", format!("4096 262144 {LARGEST_BUFFER}")),
    ];
    if all_old {
        let off = ["tcp_recovery", "tcp_early_retrans", "tcp_frto"];
        controls.extend(off.iter().map(|name| (named(name), "0".to_owned())));
    }
    controls
}

fn named(name: &str) -> &'static str {
    match name {
        "tcp_recovery" => "net.ipv4.tcp_recovery",
        "tcp_early_retrans" => "net.ipv4.tcp_early_retrans",
        _ => "net.ipv4.tcp_frto",
    }
}

fn of_flows(names: &[&str]) -> String {
    match names {
        [one] => format!("flow.{one}"),
        [one, rest @ ..] => format!("flow.{one} and {} more", rest.len()),
        [] => String::new(),
    }
}

fn settle(
    flow: &FlowPlan,
    usable: &dyn Fn(&str) -> bool,
    available: &[String],
) -> Result<FlowStack, LiveError> {
    let tcp = &flow.tcp;
    let congestion = controller(flow, usable, available)?;
    let options = if tcp.timestamps { TIMESTAMPS } else { 0 };
    let max_segment = tcp.mss + options;
    if !SEGMENTS.contains(&max_segment) {
        return Err(LiveError::Beyond(format!(
            "flow.{}.tcp.mss: read {} B; the kernel takes {} to {} B of data and options in a segment",
            flow.name,
            tcp.mss,
            SEGMENTS.start(),
            SEGMENTS.end()
        )));
    }
    let (rto_min_us, rto_max_ms) = match tcp.rto {
        RtoPlan::Estimated { min, max, .. } => (
            Some(micros(min).max(1)),
            Some((micros(max) / 1000).clamp(*RTO_MAX_MS.start(), *RTO_MAX_MS.end())),
        ),
        RtoPlan::Fixed { .. } => (None, None),
    };
    let late = tcp.delayed_ack.and_then(|delayed| delayed.timeout);
    Ok(FlowStack {
        congestion,
        dscp: flow.dscp,
        max_segment,
        mss: tcp.mss,
        sack: tcp.sack,
        timestamps: tcp.timestamps,
        scaling: tcp.window.is_none_or(|window| window > PLAIN_WINDOW),
        window: tcp.window,
        initial_window: u32::try_from(tcp.initial_window / u64::from(tcp.mss)).unwrap_or(u32::MAX).max(1),
        reordering: tcp.dupthresh,
        rto_min_us,
        rto_max_ms,
        quick_ack: tcp.delayed_ack.is_none(),
        delayed_ack_most_us: late.filter(|late| *late < DELAYED_ACK_MOST).map(|late| micros(late) as u32),
        paces: tcp.rules.paces,
    })
}

fn controller(
    flow: &FlowPlan,
    usable: &dyn Fn(&str) -> bool,
    available: &[String],
) -> Result<&'static str, LiveError> {
    if let Some(own) = flow.own_rule() {
        return Err(LiveError::Beyond(format!(
            "flow.{}.app.video.rule: read \"{}\"; players of this engine have no Python, and the engine \"sim\" has",
            flow.name, own.name
        )));
    }
    if flow.scone.is_some() {
        return Err(LiveError::Beyond(format!(
            "flow.{}: the kernel's packets carry no rate signals; remove tcp.advice, app.video.advice and scone, or use the engine \"sim\"",
            flow.name
        )));
    }
    let kernels = flow.tcp.cc.row().kernel;
    kernels.filter(|name| usable(name)).ok_or_else(|| {
        let other = if kernels.is_none() { "; the engine \"sim\" has it" } else { "" };
        LiveError::Beyond(format!(
            "flow.{}.tcp.cc: read \"{}\"; the kernel here has {}{other}",
            flow.name,
            flow.tcp.cc.name(),
            available.join(", "),
        ))
    })
}

fn micros(span: Span) -> u64 {
    span.picos() / (PICOS_PER_SECOND / 1_000_000)
}

/// The congestion controllers that are loaded, host-wide.
///
/// # Errors
/// [`LiveError::Kernel`] when the list cannot be read.
pub fn available() -> Result<Vec<String>, LiveError> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let text =
        std::fs::read_to_string(path).map_err(|error| LiveError::kernel(format!("read {path}"), error))?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

/// Tries a congestion controller on a socket; the kernel loads its module if there is one and
/// this process may. Who is not root may have some (`tcp_allowed_congestion_control`), and any
/// in a network namespace of their own, so that is tried as well.
#[must_use]
pub fn usable(name: &str) -> bool {
    let works =
        || super::sockets::stream().is_ok_and(|socket| sockopt::set_congestion(socket.as_fd(), name).is_ok());
    works() || lab::in_a_namespace(works).unwrap_or(false)
}
