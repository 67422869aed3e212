//! Rows of a summary and of columns, from what the wire and the kernel told.

use tidegate_core::app::video::Download;
use tidegate_core::net::measured;
use tidegate_core::plan::{AppPlan, Plan, RecordLevel};
use tidegate_core::unit::HeldBy;
use tidegate_core::units::{Span, Time};
use tidegate_result::columns::HELD_BY_POLICER;
use tidegate_result::{
    FlowMeasure, FlowRow, FlowSummary, FlowTimes, Mark, MarkKind, RequestSummary, VideoSummary,
};

use crate::endpoints::{EndReport, Sample, TcpInfo, has_ecn};
use crate::progress::Progress;
use crate::wire::{Arrived, FlowWire};

/// `TCP_CA_CWR`, `Recovery` and `Loss`.
const REDUCED: u8 = 2;
const RECOVERY: u8 = 3;
const LOSS: u8 = 4;

/// The samples of every flow, and what happened between them.
pub(crate) struct States {
    flows: Vec<Vec<Sample>>,
    marks: Vec<Mark>,
    mss: Vec<u32>,
}

impl States {
    pub(crate) fn new(seen: &EndReport, plan: &Plan) -> States {
        let mut flows = vec![Vec::new(); plan.flows.len()];
        for sample in &seen.samples {
            flows[sample.flow as usize].push(*sample);
        }
        let mut marks = Vec::new();
        for (flow, samples) in (0..).zip(&flows) {
            marks_of(flow, samples, &mut marks);
        }
        marks.sort_by_key(|mark| (mark.at, mark.flow));
        States { flows, marks, mss: plan.flows.iter().map(|flow| flow.tcp.mss).collect() }
    }

    /// What held a flow back at the last sample before `at`.
    pub(crate) fn held_by(&self, flow: usize, at: Time) -> HeldBy {
        let samples = &self.flows[flow];
        let next = samples.partition_point(|sample| sample.at <= at);
        // Before the first sample a sender is in slow start.
        next.checked_sub(1).map_or(HeldBy::CongestionWindow, |last| held(&samples[last].info, self.mss[flow]))
    }

    pub(crate) fn marks(&self) -> Vec<Mark> {
        self.marks.clone()
    }

    fn count(&self, flow: usize, kind: MarkKind, from: Time) -> u64 {
        let found = |mark: &&Mark| mark.flow as usize == flow && mark.kind == kind && mark.at >= from;
        self.marks.iter().filter(found).count() as u64
    }

    /// Mean and largest window since `from`, segments.
    fn window(&self, flow: usize, from: Time, until: Time) -> (f64, f64) {
        let samples = &self.flows[flow];
        let (mut area, mut most) = (0.0, 0_u32);
        for (number, sample) in samples.iter().enumerate() {
            let end = samples.get(number + 1).map_or(until, |next| next.at);
            let span = end.min(until).saturating_since(sample.at.max(from));
            area += f64::from(sample.info.cwnd) * span.as_secs_f64();
            if sample.at >= from {
                most = most.max(sample.info.cwnd);
            }
        }
        let whole = until.saturating_since(from).as_secs_f64();
        (if whole > 0.0 { area / whole } else { 0.0 }, f64::from(most))
    }
}

/// Time-outs by the kernel's own count; recoveries by the state that samples show.
fn marks_of(flow: u32, samples: &[Sample], marks: &mut Vec<Mark>) {
    let (mut timeouts, mut state) = (0, 0);
    for Sample { at, info, .. } in samples {
        let more = match info.timeouts {
            Some(count) => count.saturating_sub(timeouts),
            None => u16::from(info.congestion_state == LOSS && state != LOSS),
        };
        timeouts = info.timeouts.unwrap_or(0);
        marks.extend((0..more).map(|_| Mark { at: *at, flow, kind: MarkKind::Timeout }));
        if info.congestion_state == RECOVERY && state != RECOVERY {
            marks.push(Mark { at: *at, flow, kind: MarkKind::FastRetransmit });
        }
        state = info.congestion_state;
    }
}

fn held(info: &TcpInfo, mss: u32) -> HeldBy {
    if info.unsent_bytes == 0 {
        HeldBy::Application
    } else if u64::from(info.unacked + 1) * u64::from(mss) > u64::from(info.peer_window) {
        HeldBy::ReceiverWindow
    } else {
        HeldBy::CongestionWindow
    }
}

/// One row per flow, with what the ends report of it; `kernel` is the release of the kernel whose TCP ran.
pub(crate) fn summaries(
    plan: &Plan,
    (seen, wires): (&EndReport, &[FlowWire]),
    states: &States,
    starts: &[Time],
    kernel: &str,
) -> Vec<FlowSummary> {
    let measured = measured(plan);
    let row = |(number, wire): (usize, &FlowWire)| {
        let flow = &plan.flows[number];
        let from = measured.from.max(starts[number]);
        let (cwnd_mean_segments, cwnd_max_segments) = states.window(number, from, measured.until);
        let cc = flow.tcp.cc.row().kernel.unwrap_or_else(|| flow.tcp.cc.name());
        let measure = FlowMeasure {
            cc,
            tcp: &format!("{cc}, kernel {kernel}"),
            delivered_bytes: wire.delivered_bytes,
            in_order_bytes: wire.in_order_bytes,
            received_bytes: wire.received_bytes,
            segments_sent: wire.segments_sent,
            segments_delivered: wire.delivered_segments,
            segments_received: wire.received_segments,
            segments_retransmitted: wire.segments_retransmitted,
            timeouts: states.count(number, MarkKind::Timeout, measured.from),
            marked_segments: has_ecn(&flow.tcp).then_some(wire.marked_segments),
            ecn_reductions: None,
            advice: None,
            fast_retransmits: states.count(number, MarkKind::FastRetransmit, measured.from),
            rtt: &wire.rtt,
            cwnd_mean_segments: Some(cwnd_mean_segments),
            cwnd_max_segments: Some(cwnd_max_segments),
            owed: &wire.owed,
            transferred: wire.progress.last().map_or(0, |(_, arrived)| arrived.in_order),
            times: FlowTimes {
                started: starts[number],
                completed: wire.completed,
                first_data: wire.first_data,
                requests: &seen.requests[number],
            },
        };
        FlowSummary::new(plan, flow, measure)
    };
    wires.iter().enumerate().map(row).collect()
}

/// One row per flow with requests and one of all together; and one per flow with a player of video.
pub(crate) fn requests(
    plan: &Plan,
    seen: &EndReport,
    starts: &[Time],
) -> (Vec<RequestSummary>, Vec<VideoSummary>) {
    let with = plan.flows.iter().zip(&seen.requests).zip(&seen.facts);
    let rows: Vec<_> = with
        .filter(|((flow, _), _)| matches!(flow.app, AppPlan::Request(_)))
        .map(|((flow, log), facts)| (flow, log.as_slice(), facts.client_timeouts))
        .collect();
    let logs = plan.flows.iter().zip(starts).zip(&seen.requests);
    let videos = logs.map(|((flow, start), log)| (flow, *start, log.as_slice()));
    (RequestSummary::rows(&rows, measured(plan)), VideoSummary::rows(videos, measured(plan)))
}

/// The segments of each flow's video, by flow.
pub(crate) fn segments(plan: &Plan, seen: &EndReport, starts: &[Time]) -> Vec<Vec<Download>> {
    let logs = plan.flows.iter().zip(starts).zip(&seen.requests);
    logs.map(|((flow, start), log)| tidegate_result::segments(flow, *start, log, plan.duration)).collect()
}

/// Each flow's history, as often as the plan asks; samples carry the instant at which they were read.
pub(crate) fn histories(plan: &Plan, wires: &[FlowWire], states: &States, every: Span) -> Vec<Vec<FlowRow>> {
    if plan.record.level == RecordLevel::Summary {
        return vec![Vec::new(); wires.len()];
    }
    let stride = stride(plan, every);
    let history = |(number, wire): (usize, &FlowWire)| {
        if plan.record.flows.as_ref().is_some_and(|chosen| !chosen.contains(&number)) {
            return Vec::new();
        }
        let kept = states.flows[number].iter().filter(|sample| sample.tick.is_multiple_of(stride));
        let mut received = Latest::of(&wire.progress);
        let (mut round_trip, mut one_way) = (Latest::of(&wire.round_trips), Latest::of(&wire.one_ways));
        let mut blamed = Latest::of(&wire.blamed);
        kept.map(|sample| {
            let delays = [round_trip.at(sample.at), one_way.at(sample.at)];
            let own = row(sample, received.at(sample.at).unwrap_or_default(), delays, states.mss[number]);
            let policed = blamed.at(sample.at).flatten().is_some();
            let by_policer = policed && own.held_by == HeldBy::CongestionWindow as u8;
            FlowRow { held_by: if by_policer { HELD_BY_POLICER } else { own.held_by }, ..own }
        })
        .collect()
    };
    wires.iter().enumerate().map(history).collect()
}

/// What is told of senders while a run lasts: of every so many readings a row, with what has come out of the receiver's socket.
#[derive(Debug)]
pub(crate) struct TellingFlows {
    progress: Progress,
    stride: u64,
    mss: Vec<u32>,
    /// By flow: bytes of connections before the latest, and of it.
    received: Vec<[u64; 2]>,
}

impl TellingFlows {
    pub(crate) fn new(progress: Progress, plan: &Plan, every: Span) -> TellingFlows {
        progress.begin(plan);
        TellingFlows {
            progress,
            stride: stride(plan, every),
            mss: plan.flows.iter().map(|flow| flow.tcp.mss).collect(),
            received: vec![[0; 2]; plan.flows.len()],
        }
    }

    /// A reading, and the bytes that have come out of the receiver's socket, of its latest connection.
    pub(crate) fn tell(&mut self, sample: &Sample, delivered: u64) {
        let flow = sample.flow as usize;
        let [before, latest] = &mut self.received[flow];
        if delivered < *latest {
            *before += *latest;
        }
        *latest = delivered;
        let bytes = *before + delivered;
        if sample.tick.is_multiple_of(self.stride) {
            let received = Arrived { bytes, in_order: bytes };
            self.progress.tell(flow, row(sample, received, [None; 2], self.mss[flow]));
        }
    }
}

/// Every so many readings, which are made every `every`, are a row.
fn stride(plan: &Plan, every: Span) -> u64 {
    match plan.record.level {
        RecordLevel::Summary | RecordLevel::Events => 1,
        RecordLevel::Every(asked) => (asked.picos() / every.picos().max(1)).max(1),
    }
}

/// What was noted last, of values noted in order of time.
struct Latest<'a, T> {
    noted: &'a [(Time, T)],
    known: Option<T>,
}

impl<'a, T: Copy> Latest<'a, T> {
    fn of(noted: &'a [(Time, T)]) -> Latest<'a, T> {
        Latest { noted, known: None }
    }

    /// The latest value by `at`, asked in order of time.
    fn at(&mut self, at: Time) -> Option<T> {
        while let Some(((when, value), rest)) = self.noted.split_first()
            && *when <= at
        {
            (self.known, self.noted) = (Some(*value), rest);
        }
        self.known
    }
}

fn row(sample: &Sample, received: Arrived, delays: [Option<Span>; 2], mss: u32) -> FlowRow {
    let info = &sample.info;
    let [rtt_ms, one_way_ms] = delays.map(|delay| delay.map_or(f64::NAN, |span| span.as_secs_f64() * 1e3));
    let slow = info.ssthresh.is_none_or(|threshold| info.cwnd < threshold);
    FlowRow {
        at: sample.at,
        cwnd_segments: f64::from(info.cwnd),
        ssthresh_segments: info.ssthresh.map_or(f64::NAN, f64::from),
        in_flight_segments: f64::from(info.in_flight()),
        srtt_ms: if info.rtt_us == 0 { f64::NAN } else { f64::from(info.rtt_us) / 1e3 },
        rtt_ms,
        one_way_ms,
        rto_ms: f64::from(info.rto_us) / 1e3,
        delivered_bytes: received.bytes,
        in_order_bytes: received.in_order,
        retransmitted_segments: u64::from(info.total_retransmitted),
        phase: match info.congestion_state {
            LOSS => 3,
            REDUCED | RECOVERY => 2,
            _ => u8::from(!slow),
        },
        held_by: held(info, mss) as u8,
    }
}

/// Says so where rows are asked for more often than the kernel's state is read.
pub(crate) fn sampling_warning(plan: &Plan, every: Span) -> Option<String> {
    match plan.record.level {
        RecordLevel::Every(asked) if asked < every => {
            Some(format!("record.every = {asked}: the state of flows was read only every {every}"))
        }
        RecordLevel::Events => Some(format!(
            "record.every = \"events\": the state of flows was read every {} ms; gates recorded every event",
            every.as_secs_f64() * 1e3
        )),
        _ => None,
    }
}
