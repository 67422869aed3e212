//! `queue.aqm = "cake"` to classes: its tins. Who is in which is known later ([`crate::lower::place::tins`]).

use std::sync::Arc;

use tidegate_core::plan::{
    AckFilter, CakePlan, ClassesPlan, Diffserv, Framing, Isolation, LinkLayer, RatePlan, ShapedBytes,
};
use tidegate_core::units::{Rate, Span, Speed};

use crate::check::{Form, Item, Value};
use crate::lower::notes::Notes;
use crate::lower::values::{LARGEST_PACKET, LARGEST_QUANTUM, bytes_u32, choice, probability};
use crate::units::Amount;

/// The largest `mpu` that `tc-cake` takes.
const LARGEST_MPU: u32 = 256;

/// Where a queue names CAKE, and what stands below the name.
pub(crate) fn named(queue: &Form) -> Option<(&Item, Option<&Form>)> {
    let item = queue.given("aqm")?;
    match item.table().and_then(Form::only) {
        Some(("cake", below)) => Some((below, below.table())),
        Some(_) => None,
        None => (item.word() == Some("cake")).then_some((item, None)),
    }
}

/// The tins of a gate whose queue names CAKE.
pub(crate) fn tins(
    gate: &Form,
    rate: &RatePlan,
    framing: Framing,
    notes: &mut Notes,
) -> Option<Arc<ClassesPlan>> {
    let queue = gate.table("queue")?;
    let (named, form) = named(queue)?;
    // What is wrong with a cell gate is said where its queue is read.
    if framing.is_cells() {
        return None;
    }
    if matches!(rate, RatePlan::Reserve(_)) {
        let help = "give another gate on the path cake, or use another rate law";
        notes.wrong(named, "a circuit has no tins: its packets wait for its call", help);
        return None;
    }
    let mut plan = form.map_or(CakePlan::default_for(framing), |form| keys(form, framing, notes));
    match queue.get("limit").map(|limit| &limit.value) {
        Some(Value::Amount(Amount::Packets(packets))) => plan.limit = *packets,
        Some(Value::Amount(Amount::Bytes(bytes))) => plan.memory = Some(plan.memory_bytes().min(*bytes)),
        _ => {}
    }
    let bandwidth = form.and_then(|form| form.get("bandwidth"));
    if let (Some(given), Some(shaped), RatePlan::Constant(Speed::Bits(rate))) =
        (bandwidth, plan.bandwidth, rate)
        && shaped > *rate
    {
        let problem = format!("the shaper never holds a packet back: the gate has {rate}");
        notes.warn(given.at, &given.key, problem, "write a rate below that of the gate, or remove it");
    }
    if let (None, RatePlan::Constant(Speed::Bits(rate))) = (plan.bandwidth, rate) {
        warn_of_slow_link(named, &plan, *rate, notes);
    }
    Some(Arc::new(plan.classes()))
}

/// Without a bandwidth the target takes no notice of how long a packet takes (`cake_set_rate`): a slow link is not filled.
fn warn_of_slow_link(named: &Item, plan: &CakePlan, rate: Rate, notes: &mut Notes) {
    let (blind, knowing) = (plan.tin(None).cobalt.target, plan.tin(Some(rate)).cobalt);
    if plan.target.is_some() || knowing.target <= blind {
        return;
    }
    let millis = |span: Span| format!("{:.1} ms", 1e3 * span.as_secs_f64());
    let problem = format!(
        "without a bandwidth CAKE does not know that a packet takes {} here, and drops for waits above {blind}",
        millis(knowing.packet_time)
    );
    let help = format!(
        "write queue = {{ aqm.cake.bandwidth = \"{rate}\" }}, as sqm-scripts do, which makes the limit {}",
        millis(knowing.target)
    );
    notes.warn(named.at, &named.key, problem, help);
}

fn keys(form: &Form, framing: Framing, notes: &mut Notes) -> CakePlan {
    let default = CakePlan::default_for(framing);
    let mut size =
        |key: &str, most: u32| form.given(key).map(|item| bytes_u32(Some(item), most, notes).max(1));
    let mtu = size("mtu", LARGEST_PACKET);
    let quantum = size("quantum", LARGEST_QUANTUM);
    let diffserv = [
        ("diffserv3", Diffserv::Three),
        ("besteffort", Diffserv::BestEffort),
        ("diffserv4", Diffserv::Four),
        ("diffserv8", Diffserv::Eight),
    ];
    let isolation = [
        ("triple-isolate", Isolation::Triple),
        ("flows", Isolation::Flows),
        ("srchost", Isolation::SourceHosts),
        ("dsthost", Isolation::DestinationHosts),
        ("hosts", Isolation::HostPairs),
        ("dual-srchost", Isolation::DualSource),
        ("dual-dsthost", Isolation::DualDestination),
    ];
    let filters = [
        ("off", None),
        ("conservative", Some(AckFilter::Conservative)),
        ("aggressive", Some(AckFilter::Aggressive)),
    ];
    CakePlan {
        bandwidth: form.rate("bandwidth"),
        bytes: bytes(form, framing, notes),
        diffserv: choice(form.get("diffserv"), diffserv, notes),
        isolation: choice(form.get("isolation"), isolation, notes),
        rtt: form.span("rtt").unwrap_or(default.rtt),
        target: form.span("target"),
        mtu: mtu.unwrap_or(default.mtu),
        queues: form.whole("queues").map_or(default.queues, |queues| queues as u32),
        quantum,
        increment: probability(form, "blue_increment", default.increment),
        decrement: probability(form, "blue_decrement", default.decrement),
        limit: default.limit,
        memory: form.bytes("memory"),
        wash: form.flag("wash"),
        ack_filter: choice(form.get("ack_filter"), filters, notes),
    }
}

fn bytes(form: &Form, framing: Framing, notes: &mut Notes) -> ShapedBytes {
    let link = [("none", LinkLayer::Plain), ("atm", LinkLayer::Atm), ("ptm", LinkLayer::Ptm)];
    let link = choice(form.get("compensation"), link, notes);
    let least = bytes_u32(form.get("mpu"), LARGEST_MPU, notes);
    // A whole number, as it was checked.
    let overhead = form.real("overhead").map_or(0, |bytes| bytes as i32);
    let is_given = ["overhead", "mpu", "compensation"].iter().any(|key| form.given(key).is_some());
    if is_given { ShapedBytes::Beyond { overhead, least, link } } else { ShapedBytes::Wire(framing) }
}
