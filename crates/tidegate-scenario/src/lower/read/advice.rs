//! Throughput advice: `gate.x.advice` to [`AdvicePlan`], `flow.x.scone` to [`SconePlan`].

use tidegate_core::advice::RateSignal;
use tidegate_core::effcap::Blocks;
use tidegate_core::plan::{
    AdvicePlan, AdviceSource, AppPlan, Course, GatePlan, PresentPlan, RatePlan, SconePlan, Share, TcpPlan,
};
use tidegate_core::units::{PICOS_PER_SECOND, Rate};

use crate::check::{Form, Item};
use crate::lower::changes::check_clock;
use crate::lower::notes::Notes;

/// What a gate tells, all else of it given; `None` where it tells nothing, or something was wrong.
pub(super) fn advice(root: &Form, form: &Form, plan: &GatePlan, notes: &mut Notes) -> Option<AdvicePlan> {
    let item = form.given("advice")?;
    let table = form.table("advice")?;
    if plan.framing.is_cells() {
        notes.wrong(
            item,
            "a cell gate has no advice for packets",
            "remove advice, or framing; rate.abr tells the rate of cells",
        );
        return None;
    }
    let given = |name: &str| table.given(name);
    let source = match (given("rate"), table.table("effcap")) {
        (Some(rate), Some(_)) => {
            notes.wrong(rate, "effcap already says which rate is told", "keep either rate or effcap");
            return None;
        }
        (_, Some(effcap)) => estimate(root, item, effcap, plan, notes)?,
        (rate, None) => told(rate.unwrap_or(item), rate, plan, notes)?,
    };
    if let (Some(present), None) = (given("present"), given("among")) {
        let help = "add among = \"flows\" or among = \"listeners\", or remove present";
        notes.warn(present.at, &present.key, "present has an effect only with among", help);
    }
    let advice = AdvicePlan {
        source,
        share: share(table, "share"),
        among: table
            .word("among")
            .zip(table.span("present"))
            .map(|(word, within)| PresentPlan { within, signalled: word == "listeners" }),
    };
    let least = RateSignal::from_bits(0).rate().unwrap_or(Rate::ZERO);
    if let Some(told) = advice.constant(&plan.rate).filter(|told| *told < least) {
        let item = given("rate").unwrap_or(item);
        let problem = format!("{told} is below the least that a rate signal says, so flows are told {least}");
        notes.warn(item.at, &item.key, problem, format!("advise \"{least}\" or more, or remove advice"));
    }
    Some(advice)
}

/// A key that is a share of something.
pub(super) fn share(form: &Form, name: &str) -> Share {
    Share::from_parts((form.real(name).unwrap_or(1.0) * PICOS_PER_SECOND as f64).round() as u64)
}

/// The rate that is told: a number, the contract's, or the law's.
fn told(item: &Item, rate: Option<&Item>, plan: &GatePlan, notes: &mut Notes) -> Option<AdviceSource> {
    if let Some(rate) = rate.and_then(Item::rate) {
        return Some(AdviceSource::Rate(rate));
    }
    if rate.and_then(Item::word) == Some("contract") {
        let policed = plan.contract().map(|contract| Rate::from_bps(contract.bits_per_second));
        let shaped =
            if let RatePlan::TokenBucket { rate: tokens, .. } = &plan.rate { Some(*tokens) } else { None };
        let Some(contract) = policed.or(shaped) else {
            notes.wrong(
                item,
                "this gate has no policer and no token bucket, and so no contract",
                "write \"law\" or a rate, or add police",
            );
            return None;
        };
        return Some(AdviceSource::Rate(contract));
    }
    if counts_packets(item, plan, notes) {
        return None;
    }
    let problem = match (&plan.rate, plan.rate.course()) {
        (RatePlan::Reserve(_), _) => "a circuit has no rate before its call is up",
        (_, Course::Unlimited) => "this gate has no rate",
        (_, Course::Opportunities(..)) => "a trace of delivery opportunities has no rate at an instant",
        _ => return Some(AdviceSource::Law),
    };
    let help = match plan.rate.course() {
        Course::Opportunities(..) => "write a rate such as \"2 Mbit/s\", or effcap = {}",
        _ => "write a rate such as \"2 Mbit/s\"",
    };
    notes.wrong(item, problem, help);
    None
}

fn estimate(
    root: &Form,
    item: &Item,
    effcap: &Form,
    plan: &GatePlan,
    notes: &mut Notes,
) -> Option<AdviceSource> {
    if counts_packets(item, plan, notes) {
        return None;
    }
    let problem = match plan.rate.course() {
        Course::Unlimited => "this gate has no rate that could be measured",
        Course::Set(_) => "the rate of this gate is set during the run, and is not measured",
        Course::Constant(_) | Course::Pieces | Course::Opportunities(..) => {
            check_clock(root, effcap.get("every"), "the rate is measured", notes);
            let count = |name: &str| effcap.whole(name).and_then(|count| u32::try_from(count).ok());
            let blocks = Blocks { samples: count("m")?, blocks: count("n")? };
            return Some(AdviceSource::Estimate { every: effcap.span("every")?, blocks });
        }
    };
    notes.wrong(item, problem, "write a rate such as \"2 Mbit/s\"");
    None
}

fn counts_packets(item: &Item, plan: &GatePlan, notes: &mut Notes) -> bool {
    let counts = plan.rate.counts_packets();
    if counts {
        notes.wrong(
            item,
            "the rate of this gate counts packets, and advice is in bits",
            "write a rate such as \"2 Mbit/s\"",
        );
    }
    counts
}

/// Which data packets of a flow carry a rate signal.
pub(super) fn scone(form: &Form, app: &AppPlan, tcp: &TcpPlan) -> Option<SconePlan> {
    let watches = matches!(app, AppPlan::Request(requests) if requests.video.as_ref().is_some_and(|video| video.advice.is_some()));
    if form.given("scone").is_none() && !watches && !tcp.rules.obeys_advice {
        return None;
    }
    let table = form.table("scone");
    let first = table.and_then(|table| table.whole("first"));
    let every = table.and_then(|table| table.span("every"));
    Some(SconePlan {
        first: first.and_then(|first| u32::try_from(first).ok()).unwrap_or(SconePlan::DEFAULT.first),
        every: every.unwrap_or(SconePlan::DEFAULT.every),
    })
}
