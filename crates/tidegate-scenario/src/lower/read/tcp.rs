//! `flow.x.tcp` to [`TcpPlan`].

use tidegate_core::plan::{
    AckRule, Arithmetic, CongestionPlan, DelayedAckPlan, EcnPlan, Increase, LeastRto, LossDetection,
    ReadPlan, Reduction, RtoPlan, RtoRestart, RttTiming, Segmentation, SlowStart, SsthreshRounding, TcpBase,
    TcpPlan, TcpRules, TickPhase,
};
use tidegate_core::tcp::MOST_QUICK;
use tidegate_core::units::Span;

use super::congestion;
use super::tcp_layers::TcpLayers;
use crate::check::{Form, Item, Value, default_item};
use crate::inputs::Library;
use crate::lower::notes::Notes;
use crate::lower::values::{LARGEST_PACKET, bytes_u32, choice};
use crate::spelling::value_meant;
use crate::table::{RTO, Section, TCP};
use crate::units::Amount;

/// Named sets are checked also when no flow uses them.
pub(crate) fn check_sets(sets: &Form, root: &Form, library: &mut Library, notes: &mut Notes) {
    let used = |name: &str| {
        let flows = root.table("flow").map_or(&[][..], |flows| flows.items.as_slice());
        flows
            .iter()
            .filter_map(|flow| flow.item.table()?.table("tcp")?.get("use")?.text())
            .any(|other| other == name)
    };
    for named in &sets.items {
        let Some(form) = named.item.table() else { continue };
        if !used(&named.name) {
            settle(&TcpLayers::of_set(form), None, library, notes);
            notes.warn(
                named.name_at,
                &form.key,
                "no flow uses this set",
                format!("add tcp.use = \"{}\" to a flow", named.name),
            );
        }
    }
}

/// `segment`: the bytes of a segment, where it is not `mss` that says them.
pub(crate) fn tcp(
    root: &Form,
    flow: &Form,
    segment: Option<u32>,
    library: &mut Library,
    notes: &mut Notes,
) -> TcpPlan {
    if let Some(item) = flow.table("tcp").and_then(|own| own.given("use"))
        && let Some(name) = item.text()
    {
        let sets = root.table("tcp").map_or(&[][..], |sets| sets.items.as_slice());
        if !sets.iter().any(|set| set.name == name) {
            let meant = value_meant(name, sets.iter().map(|set| set.name.as_str()));
            let help = meant.unwrap_or_else(|| format!("add [tcp.{name}]"));
            notes.wrong(item, format!("no TCP set is called {name:?}"), help);
        }
    }
    settle(&TcpLayers::new(root, flow), segment, library, notes)
}

fn settle(layers: &TcpLayers<'_>, segment: Option<u32>, library: &mut Library, notes: &mut Notes) -> TcpPlan {
    let own = bytes_u32(layers.item("mss").as_ref(), LARGEST_PACKET, notes);
    let timestamps = layers.flag("timestamps");
    let headers = headers(layers, own, timestamps, notes);
    let mss = segment.unwrap_or(own);
    let window = window(layers, "window", mss, notes);
    let cc = congestion::congestion(layers, window, library, notes);
    let plan = TcpPlan {
        base: layers.base,
        cc,
        rules: rules(layers),
        mss,
        headers,
        window,
        initial_window: initial_window(layers, mss, notes),
        initial_ssthresh: window_of(layers.item("initial_ssthresh").as_ref(), mss),
        increase: choice(
            layers.item("increase").as_ref(),
            [
                ("per window", Increase::PerWindow),
                ("per ack", Increase::PerAck),
                ("random", Increase::Random),
            ],
            notes,
        ),
        dupthresh: layers.item("dupthresh").and_then(|item| u32::try_from(item.whole()?).ok()),
        sack: layers.flag("sack"),
        limited_transmit: layers.flag("limited_transmit"),
        ssthresh_rounding: choice(
            layers.item("ssthresh_rounding").as_ref(),
            [
                ("exact", SsthreshRounding::Exact),
                ("down", SsthreshRounding::Down),
                ("up", SsthreshRounding::Up),
                ("ns2", SsthreshRounding::Ns2),
            ],
            notes,
        ),
        go_back_n: match layers.given("go_back_n") {
            Some(item) => matches!(item.value, Value::Flag(true)),
            // Slow start after every loss begins with the first byte that is missing.
            None => layers.base == TcpBase::Bsd44 || matches!(cc, CongestionPlan::Tahoe { .. }),
        },
        guard: layers.flag("guard"),
        phase: phase(layers, notes),
        rto: rto(layers, notes),
        delayed_ack: delayed_ack(layers),
        quick_acks: quick_acks(layers),
        handshake: layers.flag("handshake"),
        timestamps,
        rtt_timing: choice(
            layers.item("rtt_timing").as_ref(),
            [("every", RttTiming::Every), ("one", RttTiming::One)],
            notes,
        ),
        idle_restart: layers.flag("idle_restart"),
        ecn: match layers.word("ecn") {
            "classic" => EcnPlan::Classic,
            "accurate" => EcnPlan::Accurate,
            _ => EcnPlan::Off,
        },
        abe: layers.flag("abe"),
        // The application's keys say.
        read: ReadPlan::AtOnce,
    };
    if let (Some(item), false) = (layers.given("rate"), matches!(plan.cc, CongestionPlan::FixedRate { .. })) {
        let help = "write cc = \"fixed_rate\", or remove rate";
        notes.warn(item.at, &item.key, "rate has an effect only with cc = \"fixed_rate\"", help);
    }
    let plus_plus = plan.rules.slow_start == SlowStart::HyStartPlusPlus;
    if !plan.sack && (plan.cc.hears_acks() || plan.rules.paces || plan.rules.obeys_advice || plus_plus) {
        let (name, what) = if plan.cc.hears_acks() {
            ("cc", plan.cc.name())
        } else if plus_plus {
            ("slow_start", "slow_start = \"hystart++\"")
        } else if plan.rules.obeys_advice {
            ("advice", "advice = \"pace\"")
        } else {
            ("pacing", "pacing")
        };
        if let Some(item) =
            layers.given("sack").or_else(|| layers.given(name)).or_else(|| layers.given("base"))
        {
            notes.wrong(item, format!("{what} needs sack = true"), "add tcp.sack = true");
        }
    }
    if let (Some(item), false) =
        (layers.given("fast_retransmit"), matches!(plan.cc, CongestionPlan::Tahoe { .. }))
    {
        let help = "to disable fast retransmit in other algorithms, write dupthresh = \"never\"";
        notes.warn(item.at, &item.key, "fast_retransmit has an effect only with cc = \"tahoe\"", help);
    }
    plan
}

fn quick_acks(layers: &TcpLayers<'_>) -> u32 {
    let Some(item) = layers.item("quick_acks") else { return 0 };
    let number = item.whole().and_then(|number| u32::try_from(number).ok());
    number.unwrap_or(MOST_QUICK)
}

/// Where the flow's TCP does as Linux does and not as the RFCs.
fn rules(layers: &TcpLayers<'_>) -> TcpRules {
    let min_of = layers.given("rto").and_then(Item::table).and_then(|form| form.given("min_of"));
    let min_of = min_of
        .cloned()
        .or_else(|| default_item(RTO.find("min_of")?, &layers.key, layers.at, Some(layers.base)));
    TcpRules {
        arithmetic: match layers.word("arithmetic") {
            "linux" => Arithmetic::Linux,
            _ => Arithmetic::Rfc,
        },
        slow_start: match layers.word("slow_start") {
            "hystart" => SlowStart::HyStart,
            "hystart++" => SlowStart::HyStartPlusPlus,
            _ => SlowStart::Standard,
        },
        loss: match layers.word("loss") {
            "rack" => LossDetection::Rack,
            _ => LossDetection::Sack,
        },
        reduction: match layers.word("reduction") {
            "prr" => Reduction::Prr,
            _ => Reduction::Pipe,
        },
        least_rto: match min_of.and_then(|item| item.word()) {
            Some("variance") => LeastRto::Variance,
            _ => LeastRto::TimeOut,
        },
        acks: match layers.word("quick_acks") {
            "linux" => AckRule::WhileBufferGrows,
            _ => AckRule::Delayed,
        },
        dsack: layers.flag("dsack"),
        undo: layers.flag("undo"),
        frto: layers.flag("frto"),
        paces: layers.flag("pacing"),
        obeys_advice: layers.word("advice") == "pace",
        accecn_option: layers.flag("accecn_option"),
        segmentation: match layers.word("segmentation") {
            "off" => Segmentation::Off,
            _ => Segmentation::Kernel,
        },
    }
}

fn headers(layers: &TcpLayers<'_>, mss: u32, timestamps: bool, notes: &mut Notes) -> u32 {
    let least: u32 = if timestamps { 52 } else { 40 };
    let Some(item) = layers.given("headers") else { return least };
    let headers = bytes_u32(Some(item), LARGEST_PACKET, notes);
    if headers < least {
        let options = if timestamps { " and 12 of timestamps" } else { "" };
        let problem = format!("{headers} B is less than the headers: 20 B of IP, 20 B of TCP{options}");
        notes.wrong(item, problem, format!("write \"{least} B\" or more"));
    } else if mss.saturating_add(headers) > LARGEST_PACKET {
        let problem = format!("{headers} B of headers and {mss} B of data are more than {LARGEST_PACKET} B");
        notes.wrong(item, problem, "an IP packet cannot be larger; make mss or headers smaller");
    }
    headers
}

fn window_of(item: Option<&Item>, mss: u32) -> Option<u64> {
    match item?.value {
        Value::Amount(Amount::Bytes(bytes)) => Some(bytes),
        Value::Amount(Amount::Segments(segments)) => Some(segments.saturating_mul(u64::from(mss))),
        _ => None,
    }
}

fn window(layers: &TcpLayers<'_>, name: &str, mss: u32, notes: &mut Notes) -> Option<u64> {
    let item = layers.item(name)?;
    let window = window_of(Some(&item), mss)?;
    if window < u64::from(mss) {
        let problem = format!(
            "a window of {window} B is smaller than a segment of {mss} B: TCP could not send anything"
        );
        notes.wrong(&item, problem, "write \"1 segment\" or more");
    }
    Some(window)
}

fn initial_window(layers: &TcpLayers<'_>, mss: u32, notes: &mut Notes) -> u64 {
    let mss_bytes = u64::from(mss);
    window(layers, "initial_window", mss, notes).unwrap_or(match layers.base {
        // RFC 6928 §2
        TcpBase::Rfc => (10 * mss_bytes).min((2 * mss_bytes).max(14_600)),
        TcpBase::Bsd44 => mss_bytes,
        TcpBase::Linux => 10 * mss_bytes,
    })
}

fn rto(layers: &TcpLayers<'_>, notes: &mut Notes) -> RtoPlan {
    let form = layers.given("rto").and_then(Item::table);
    let given = |name: &str| form.and_then(|form| form.given(name));
    let base = |name: &str| of_base(&RTO, name, layers);
    if let Some(rto) = given("fixed").and_then(Item::span) {
        for name in ["min", "max", "initial", "tick"] {
            if let Some(item) = given(name) {
                let problem = format!("a fixed time-out does not use {name}");
                notes.wrong(item, problem, format!("remove fixed, or remove {name}"));
            }
        }
        let meanings = [("ack", RtoRestart::Ack), ("departure", RtoRestart::Departure)];
        return RtoPlan::Fixed { rto, restart: choice(given("restart"), meanings, notes) };
    }
    if let Some(item) = given("restart") {
        notes.wrong(
            item,
            "restart is only for a fixed time-out",
            "add fixed, such as fixed = \"480 ms\", or remove restart",
        );
    }
    let value = |name: &str| given(name).and_then(Item::span).unwrap_or_else(|| base(name));
    let tick = value("tick");
    let min = match (given("min").and_then(Item::span), given("tick"), layers.base) {
        (Some(min), _, _) => min,
        (None, Some(_), TcpBase::Bsd44) if tick > Span::ZERO => tick.saturating_mul(2),
        _ => base("min"),
    };
    let max = given("max").and_then(Item::span).unwrap_or_else(|| base("max").max(min));
    if max < min {
        if let Some(item) = given("max") {
            notes.wrong(
                item,
                format!("the longest time-out (max, {max}) is below the shortest (min, {min})"),
                "make max larger or min smaller",
            );
        }
        return RtoPlan::Estimated { min, max: min, initial: min, tick };
    }
    if let (Some(item), Some(initial)) = (given("initial"), given("initial").and_then(Item::span))
        && initial > max
    {
        notes.wrong(
            item,
            format!("the first time-out (initial, {initial}) is above the longest (max, {max})"),
            "make initial smaller or max larger",
        );
    }
    let initial = given("initial").and_then(Item::span).unwrap_or_else(|| base("initial").clamp(min, max));
    RtoPlan::Estimated { min, max, initial, tick }
}

/// When the coarse clocks of a flow's hosts tick.
fn phase(layers: &TcpLayers<'_>, notes: &mut Notes) -> TickPhase {
    let form = layers.given("rto").and_then(Item::table);
    let item = form.and_then(|form| form.given("phase"));
    choice(item, [("own", TickPhase::Own), ("common", TickPhase::Common)], notes)
}

/// The base's value of a time in a table below `tcp`.
fn of_base(section: &'static Section, name: &str, layers: &TcpLayers<'_>) -> Span {
    let item =
        section.find(name).and_then(|row| default_item(row, &layers.key, layers.at, Some(layers.base)));
    item.and_then(|item| item.span()).unwrap_or(Span::ZERO)
}

/// 4.4BSD's fast timer.
const BSD_TICK: Span = Span::from_millis(200);

fn delayed_ack(layers: &TcpLayers<'_>) -> Option<DelayedAckPlan> {
    let item = layers.item("delayed_ack")?;
    let form = match &item.value {
        Value::Flag(false) => return None,
        Value::Table(form) => Some(form),
        _ => None,
    };
    let given = |name: &str| form.and_then(|form| form.given(name));
    let section = TCP.find("delayed_ack").and_then(|row| row.kind.section())?;
    let timeout = match given("timeout").map(|late| &late.value) {
        Some(Value::Amount(Amount::Time(span))) => Some(*span),
        Some(_) => None,
        None => Some(of_base(section, "timeout", layers)),
    };
    let own_clock = layers.base == TcpBase::Bsd44 && given("timeout").is_none();
    let default = if own_clock { BSD_TICK } else { Span::ZERO };
    let every =
        form.and_then(|form| form.whole("every")).and_then(|every| u32::try_from(every).ok()).unwrap_or(2);
    Some(DelayedAckPlan { every, timeout, tick: given("tick").and_then(Item::span).unwrap_or(default) })
}
