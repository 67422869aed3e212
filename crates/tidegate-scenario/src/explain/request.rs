//! Requests and servers in words.

use tidegate_core::plan::{AppPlan, FlowPlan, Plan, SizePlan, VideoPlan, VideoRule};

use super::text::{seconds_text, three_digits};
use super::{Row, consequence, rows_of, write_rows};
use crate::check::Form;
use crate::units::{bytes_text, plural};

/// What a flow's requests amount to.
pub(super) fn lines(flow: &FlowPlan, plan: &Plan) -> Vec<String> {
    let AppPlan::Request(requests) = &flow.app else { return Vec::new() };
    if let Some(video) = &requests.video {
        return video_lines(video);
    }
    let mut lines = Vec::new();
    let drawn = [("request", &requests.request), ("response", &requests.response)];
    for (what, sizes) in drawn.iter().filter(|(_, sizes)| !matches!(sizes, SizePlan::Constant(_))) {
        if let Some(mean) = sizes.mean() {
            lines.push(format!("a {what} has {} on average", bytes_text(mean as u64)));
        }
    }
    if let SizePlan::Constant(bytes) = requests.response {
        let segments = bytes.div_ceil(u64::from(flow.tcp.mss.max(1)));
        lines.push(format!("a response is {}", plural(segments, "segment")));
    }
    let server = requests.server.and_then(|server| plan.servers.get(server));
    let means = (requests.request.mean(), requests.response.mean());
    if let (Some(rate), (Some(request), Some(response))) = (server.and_then(|server| server.rate), means)
        && rate.bps() > 0
    {
        let seconds = (request + response) * 8.0 / rate.bps() as f64;
        lines.push(format!(
            "its server takes {} for a request: at most {} requests per second from all clients together",
            seconds_text(seconds),
            three_digits(1.0 / seconds)
        ));
    }
    lines
}

/// What a video amounts to.
fn video_lines(video: &VideoPlan) -> Vec<String> {
    let (Some(lowest), Some(highest)) = (video.ladder.first(), video.ladder.last()) else {
        return Vec::new();
    };
    let sizes = (video.bytes(0, 0), video.bytes(0, video.ladder.len() - 1));
    let mut lines = vec![format!(
        "a segment is {} at {lowest} and {} at {highest}",
        bytes_text(sizes.0),
        bytes_text(sizes.1)
    )];
    if video.segments < u64::MAX {
        lines.push(format!("the video has {}", plural(video.segments, "segment")));
    }
    lines.push(match &video.rule {
        VideoRule::Fixed(rung) => format!("the player always asks for {}", video.ladder[*rung]),
        VideoRule::Throughput { .. } => "the player asks for what the throughput of late carries".into(),
        VideoRule::Bba { reservoir, cushion } => {
            format!(
                "the buffer chooses the bitrate: the lowest up to {reservoir}, the highest {cushion} above it"
            )
        }
        VideoRule::Bola { .. } => "the buffer chooses the bitrate, by its utility for each byte".into(),
        VideoRule::Mpc { horizon, .. } => {
            format!("the player tries every choice for the next {}", plural(*horizon as u64, "segment"))
        }
        VideoRule::Python(own) => format!("the class {} in Python chooses the bitrate", own.class),
    });
    lines
}

/// A server: its keys, and who asks it.
pub(super) fn explain_server(name: &str, form: &Form, plan: &Plan, out: &mut String) {
    let mut rows: Vec<Row> = Vec::new();
    rows_of(form, "", &[], &mut rows);
    write_rows(&format!("server {name}"), &rows, out);
    let Some(index) = plan.servers.iter().position(|server| server.name == name) else { return };
    let clients: Vec<&str> = plan
        .flows
        .iter()
        .filter(|flow| matches!(&flow.app, AppPlan::Request(asks) if asks.server == Some(index)))
        .map(|flow| flow.name.as_str())
        .collect();
    match clients.as_slice() {
        [] => consequence("no flow sends requests to it", out),
        [one] => consequence(&format!("flow {one} sends requests to it"), out),
        [first, .., last] => {
            consequence(
                &format!(
                    "{} flows send requests to it, {first} to {last}; it serves them in the order of arrival",
                    clients.len()
                ),
                out,
            );
        }
    }
}
