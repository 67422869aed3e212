//! Video in numbers: what a viewer saw.

use serde::Serialize;
use tidegate_core::app::Exchange;
use tidegate_core::app::video::{Download, Player};
use tidegate_core::plan::{AppPlan, FlowPlan, VideoPlan};
use tidegate_core::units::{Measured, Time};

/// The video of a flow in numbers. Segments count if they came in the measured time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VideoSummary {
    /// The flow's name.
    pub name: String,
    /// Segments that came.
    pub segments: u64,
    /// From the flow's start to the first picture, s; none: there was none.
    pub join_s: Option<f64>,
    /// Times without video after the first picture that began in the measured time.
    pub stalls: u64,
    /// How long there was no video after the first picture, s.
    pub stalled_s: f64,
    /// That time, of it and the time with video.
    pub rebuffering: Option<f64>,
    /// Mean bitrate of the segments.
    pub bitrate_mean_bps: Option<f64>,
    /// How often a segment had another bitrate than the one before.
    pub switches: u64,
    /// Linear quality of experience (Yin and others, SIGCOMM 2015, equation 5), Mbit/s summed over the segments: bitrates, less the
    /// weighted changes, stalls and, if playback began in the measured time, the join. The weights are those of `app.video.qoe`.
    pub qoe: Option<f64>,
}

/// The segments of a flow's video, given its start and what it asked for; none: it has no player.
#[must_use]
pub fn segments(flow: &FlowPlan, start: Time, log: &[Exchange], until: Time) -> Vec<Download> {
    watched(flow, start, log, until).map_or(Vec::new(), |(_, player)| player.asked().copied().collect())
}

fn watched<'a>(
    flow: &'a FlowPlan,
    start: Time,
    log: &[Exchange],
    until: Time,
) -> Option<(&'a VideoPlan, Player)> {
    let AppPlan::Request(requests) = &flow.app else { return None };
    let video = requests.video.as_deref()?;
    Some((video, Player::replayed(video, start, log, until)))
}

impl VideoSummary {
    /// One row for each flow with a player, given its start and its segments as exchanges; none where there is no such flow.
    #[must_use]
    pub fn rows<'a>(
        flows: impl Iterator<Item = (&'a FlowPlan, Time, &'a [Exchange])>,
        measured: Measured,
    ) -> Vec<VideoSummary> {
        flows
            .filter_map(|(flow, start, log)| {
                let (video, player) = watched(flow, start, log, measured.until)?;
                Some(VideoSummary::of(&flow.name, video, &player, measured))
            })
            .collect()
    }

    fn of(name: &str, video: &VideoPlan, player: &Player, measured: Measured) -> VideoSummary {
        let Measured { from, until } = measured;
        let mbps = |rung: usize| video.ladder[rung].bps() as f64 * 1e-6;
        let within = |begin: Time, end: Time| measured.overlap(begin, end.min(until)) as f64 * 1e-12;
        let counted: Vec<(Option<usize>, usize)> = player
            .downloads()
            .iter()
            .enumerate()
            .filter(|(_, each)| each.ended >= from)
            .map(|(place, each)| {
                (place.checked_sub(1).map(|before| player.downloads()[before].rung), each.rung)
            })
            .collect();
        let changes = counted.iter().filter_map(|(before, rung)| Some(mbps(*rung) - mbps((*before)?)));
        // (A sum of nothing would be -0.)
        let stalled = player.stalls().iter().map(|(begin, end)| within(*begin, *end));
        let stalled_s: f64 = stalled.fold(0.0, |sum, each| sum + each);
        let on_air = player.joined().map_or(0.0, |joined| within(joined, player.over().unwrap_or(until)));
        let join_s = player.joined().map(|joined| joined.saturating_since(player.begun()).as_secs_f64());
        let bitrates: f64 = counted.iter().map(|(_, rung)| mbps(*rung)).sum();
        let join = join_s.filter(|_| player.joined().is_some_and(|joined| joined >= from)).unwrap_or(0.0);
        let qoe = video.qoe;
        let segments = counted.len() as u64;
        VideoSummary {
            name: name.to_owned(),
            segments,
            join_s,
            stalls: player.stalls().iter().filter(|(begin, _)| *begin >= from).count() as u64,
            stalled_s,
            rebuffering: (on_air > 0.0).then_some(stalled_s / on_air),
            bitrate_mean_bps: (segments > 0).then(|| 1e6 * bitrates / segments as f64),
            switches: changes.clone().filter(|change| *change != 0.0).count() as u64,
            qoe: (segments > 0).then(|| {
                bitrates
                    - qoe.switch * changes.map(f64::abs).sum::<f64>()
                    - qoe.stall * stalled_s
                    - qoe.join * join
            }),
        }
    }
}
