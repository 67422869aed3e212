//! `flow.x.app.video` to the [`RequestPlan`] of a player.

use tidegate_core::plan::{
    ConnectionPlan, QoePlan, RequestLoop, RequestPlan, SizePlan, ThinkPlan, VideoPlan, VideoRule,
};
use tidegate_core::units::{Rate, Span};

use super::advice::share;
use super::congestion::python;
use super::request::{check_name, server};
use crate::check::{Form, Item};
use crate::inputs::Library;
use crate::lower::notes::Notes;
use crate::lower::values::{no_meaning, unreadable};

/// A player; `None` where something was wrong.
pub(super) fn video(
    root: &Form,
    flow: &Form,
    form: &Form,
    library: &mut Library,
    notes: &mut Notes,
) -> Option<RequestPlan> {
    check_name(flow, notes);
    let server = server(root, form, notes)?;
    let ladder = ladder(form.get("ladder")?, notes)?;
    let segment = form.span("segment")?;
    let buffer = form.span("buffer")?;
    if segment > buffer {
        let item = form.given("segment").or(form.given("buffer"))?;
        let problem = format!("a segment of {segment} does not fit into a buffer of {buffer}");
        notes.wrong(item, problem, "make buffer longer, or segment shorter");
        return None;
    }
    // Segments are whole.
    let most = Span::from_picos(buffer.picos() / segment.picos() * segment.picos());
    let join = filled(form, "join", most, notes).unwrap_or(segment);
    let resume = filled(form, "resume", most, notes).unwrap_or(join);
    let segments =
        form.span("length").map_or(u64::MAX, |length| length.picos().div_ceil(segment.picos()).max(1));
    let outstanding = form.whole("outstanding").unwrap_or(1);
    let sizes = match form.get("sizes") {
        Some(item) => Some(match library.segments(item.text()?, ladder.len()) {
            Ok(sizes) => sizes,
            Err(error) => {
                unreadable(item, &error, notes);
                return None;
            }
        }),
        None => None,
    };
    let video = VideoPlan {
        rule: rule(form, &ladder, buffer, library, notes)?,
        ladder,
        segment,
        segments,
        sizes,
        buffer,
        join,
        resume,
        outstanding,
        advice: (form.word("advice") == Some("cap")).then(|| share(form, "advice_share")),
        qoe: qoe(form.table("qoe")),
    };
    Some(RequestPlan {
        server,
        request: SizePlan::Constant(form.bytes("request").unwrap_or(300)),
        // The player chooses sizes and times.
        response: SizePlan::Constant(video.bytes(0, 0)),
        think: ThinkPlan::Constant(Span::from_picos(0)),
        request_loop: RequestLoop::Closed,
        outstanding: Some(outstanding),
        connection: ConnectionPlan::Persistent,
        count: (segments < u64::MAX).then_some(segments),
        video: Some(Box::new(video)),
    })
}

/// The bitrates of a ladder.
fn ladder(item: &Item, notes: &mut Notes) -> Option<Vec<Rate>> {
    let steps: Vec<(&Item, Rate)> =
        item.list().iter().filter_map(|step| Some((step, step.rate()?))).collect();
    for pair in steps.windows(2) {
        if let [(_, before), (step, rate)] = pair
            && rate <= before
        {
            notes.wrong(
                step,
                format!("{rate} is not above {before}, the bitrate before it"),
                "write the bitrates from the lowest to the highest",
            );
            return None;
        }
    }
    Some(steps.into_iter().map(|(_, rate)| rate).collect())
}

/// How full the buffer is to be: no fuller than whole segments fill it.
fn filled(form: &Form, key: &str, most: Span, notes: &mut Notes) -> Option<Span> {
    let span = form.span(key)?;
    if span > most {
        let item = form.get(key)?;
        let problem = format!("whole segments fill the buffer to {most}, and {span} are never there");
        notes.wrong(item, problem, format!("write \"{most}\" or less, or make buffer longer"));
    }
    Some(span)
}

fn rule(
    form: &Form,
    ladder: &[Rate],
    buffer: Span,
    library: &mut Library,
    notes: &mut Notes,
) -> Option<VideoRule> {
    let item = form.get("rule")?;
    if let Some(text) = item.text().filter(|text| text.starts_with("python:")) {
        return python(item, text, library, notes).map(VideoRule::Python);
    }
    // The name alone, or the table below the name.
    let (name, below) = match item.table().and_then(Form::only) {
        Some((name, below)) => (name, Some(below)),
        None => (item.word()?, None),
    };
    let keys = below.and_then(Item::table);
    let real = |key: &str, default: f64| keys.and_then(|keys| keys.real(key)).unwrap_or(default);
    let whole = |key: &str| keys.and_then(|keys| keys.whole(key)).unwrap_or(5) as usize;
    let span = |key: &str| keys.and_then(|keys| keys.span(key));
    Some(match name {
        "fixed" => {
            let rate = below?.rate()?;
            let Some(rung) = ladder.iter().position(|each| *each == rate) else {
                let known: Vec<String> = ladder.iter().map(ToString::to_string).collect();
                notes.wrong(
                    below?,
                    format!("{rate} is not in the ladder"),
                    format!("write one of {}", known.join(", ")),
                );
                return None;
            };
            VideoRule::Fixed(rung)
        }
        "throughput" => VideoRule::Throughput { safety: real("safety", 0.9), samples: whole("samples") },
        "bba" => {
            let reservoir = span("reservoir").unwrap_or(Span::from_picos(buffer.picos() / 8 * 3));
            let cushion = span("cushion").unwrap_or(Span::from_picos(buffer.picos() / 40 * 21));
            if reservoir.picos().saturating_add(cushion.picos()) > buffer.picos() {
                let problem = format!(
                    "a reservoir of {reservoir} and a cushion of {cushion} are more than the buffer of {buffer}"
                );
                notes.wrong(item, problem, "make them shorter, or buffer longer");
            }
            VideoRule::Bba { reservoir, cushion }
        }
        "bola" => VideoRule::Bola { gamma_p: real("gamma_p", 5.0) },
        "mpc" | "robust_mpc" => {
            let horizon = whole("horizon");
            check_horizon(item, ladder.len(), horizon, notes);
            VideoRule::Mpc { horizon, samples: whole("samples"), robust: name == "robust_mpc" }
        }
        _ => {
            no_meaning(item, name, notes);
            return None;
        }
    })
}

/// Every sequence is tried for each segment.
fn check_horizon(item: &Item, rungs: usize, horizon: usize, notes: &mut Notes) {
    const MOST: u64 = 1_000_000;
    let sequences = (rungs as u64).saturating_pow(horizon as u32);
    if sequences > MOST {
        let problem = format!(
            "{rungs} bitrates and a horizon of {horizon} are {sequences} sequences to try for each segment, and at most {MOST} are allowed"
        );
        notes.wrong(item, problem, "write a smaller horizon, such as rule.mpc.horizon = 3");
    }
}

fn qoe(form: Option<&Form>) -> QoePlan {
    let weight = |key: &str, default: f64| form.and_then(|form| form.real(key)).unwrap_or(default);
    QoePlan { switch: weight("switch", 1.0), stall: weight("stall", 3.0), join: weight("join", 3.0) }
}
