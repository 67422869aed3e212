//! One flow in a run: its two endpoints, its application, and what is measured of it.

use std::collections::VecDeque;

use tidegate_core::app::Application;
use tidegate_core::gate::Quantiles;
use tidegate_core::gate::rate::Window;
use tidegate_core::net::{Entry, precision, seed, start_time};
use tidegate_core::plan::{AppPlan, FlowPlan, Increase, Plan, RatePlan, RecordLevel};
use tidegate_core::random::Seed;
use tidegate_core::tcp::{Counters, Endpoint, HeldBy, Phase, Role, Segment, Snapshot};
use tidegate_core::unit::{Cause, Unit};
use tidegate_core::units::{Span, Time};
use tidegate_result::{FlowRow, Mark, MarkKind};

use crate::requests::Dialogue;

/// A flow's state and measurements; what nearly all packets touch lies together.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Flow {
    pub(crate) sender: Endpoint,
    pub(crate) receiver: Endpoint,
    pub(crate) meter: Meter,
    /// ACKs that are certain to come, told ahead of their time.
    pub(crate) coming: VecDeque<(Time, Unit)>,
    /// Where its data and its ACKs enter the network.
    pub(crate) entries: [Entry; 2],
    pub(crate) app: Application,
    pub(crate) headers: u32,
    pub(crate) started: bool,
    /// Nothing is recorded of it, data flow one way, without circuits and timestamps: segments
    /// are mostly [`tidegate_core::tcp::Outgoing::is_usual`].
    pub(crate) plain: bool,
    /// Something is still to be noted before the next thing happens to the sender.
    sender_attentive: bool,
    /// The same for the receiver; each may be ahead of the other.
    receiver_attentive: bool,
    /// Which of the flow's connections its endpoints are.
    pub(crate) connection: u32,
    /// It passes a circuit, which hears of its transfers.
    has_circuit: bool,
    /// Something that was written has not been acknowledged, as circuits were told.
    transferring: bool,
    pub(crate) start: Time,
    pub(crate) mss: f64,
    /// A flow with requests: its client and what became of them.
    pub(crate) dialogue: Option<Box<Dialogue>>,
    pub(crate) history: Option<Box<History>>,
    /// What the ends of earlier connections had counted.
    past: [Counters; 2],
}

/// What the summary needs; first what data touch, then what ACKs touch.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Meter {
    window: Window,
    /// When data came last, or the window opened.
    last_delivery: Time,
    /// IP bytes of data segments that reached the receiver inside the window.
    pub(crate) received_bytes: u64,
    /// Time owed to each cause inside the window, in picoseconds; the latest cause first.
    pub(crate) owed: Vec<(Cause, u64)>,
    /// User bytes of a finite transfer that has not come to its end yet; else `u64::MAX`.
    awaited: u64,
    pub(crate) rtt: Quantiles,
    /// Bytes times picoseconds inside the window, if nothing changes any more.
    cwnd_area: i128,
    cwnd: u64,
    pub(crate) cwnd_max: u64,
    pub(crate) completed: Option<Time>,
    /// Counters of the sender and of the receiver when the window opened.
    sender_baseline: Option<Counters>,
    receiver_baseline: Option<Counters>,
}

/// Rows of a recorded flow.
#[derive(Debug)]
pub(crate) struct History {
    level: RecordLevel,
    next_sample: Time,
    pub(crate) rows: Vec<FlowRow>,
    timeouts: u64,
    fast_retransmits: u64,
    /// Of earlier connections: user bytes received in order, segments sent again.
    past: [u64; 2],
}

impl Flow {
    pub(crate) fn new(plan: &Plan, index: usize) -> Flow {
        let flow = &plan.flows[index];
        let seed = seed(plan);
        let start = start_time(seed, &format!("flow.{}/start", flow.name), flow.start);
        let recorded = plan.record.flows.as_ref().is_none_or(|chosen| chosen.contains(&index));
        let history = (plan.record.level != RecordLevel::Summary && recorded).then(|| {
            Box::new(History {
                level: plan.record.level,
                next_sample: Time::ZERO,
                rows: Vec::new(),
                timeouts: 0,
                fast_retransmits: 0,
                past: [0; 2],
            })
        });
        let (sender, receiver) = endpoints(flow, seed, 0);
        let dialogue = Dialogue::new(flow, start, seed);
        let has_circuit = has_circuit(plan, flow);
        Flow {
            plain: history.is_none()
                && dialogue.is_none()
                && !has_circuit
                && !flow.tcp.timestamps
                && !plan.record.packets,
            dialogue,
            connection: 0,
            past: [Counters::default(); 2],
            app: Application::new(&flow.app, start, seed.stream(&format!("flow.{}/app", flow.name))),
            meter: Meter::new(plan, &flow.app, start, sender.congestion_window()),
            sender,
            receiver,
            entries: [Entry::default(); 2],
            start,
            started: false,
            sender_attentive: true,
            receiver_attentive: true,
            coming: VecDeque::new(),
            has_circuit,
            transferring: false,
            headers: flow.tcp.headers,
            mss: f64::from(flow.tcp.mss),
            history,
        }
    }

    /// A transfer of these applications lasts from a write to the acknowledgement of all that
    /// was written: says whether one begins (`true`) or ends with what just happened.
    #[inline]
    pub(crate) fn transfer_changes(&mut self) -> Option<bool> {
        if !self.has_circuit || self.transferring != self.sender.all_acknowledged() {
            return None;
        }
        self.transferring = !self.transferring;
        Some(self.transferring)
    }

    /// IP bytes of a segment: its options beyond `headers` are SACK blocks.
    #[inline]
    pub(crate) fn ip_bytes(&self, segment: &Segment) -> u32 {
        self.headers + segment.len + segment.extra_option_bytes()
    }

    /// Call before anything happens to the sender at `at`.
    #[inline]
    pub(crate) fn before_sender(&mut self, at: Time) {
        if self.sender_attentive {
            self.look_at_sender(at);
        }
    }

    /// Call before anything happens to the receiver at `at`.
    #[inline]
    pub(crate) fn before_receiver(&mut self, at: Time) {
        if self.receiver_attentive {
            self.look_at_receiver(at);
        }
    }

    #[inline(never)]
    fn look_at_sender(&mut self, at: Time) {
        if self.meter.sender_baseline.is_none() && at >= self.meter.window.from {
            self.meter.sender_baseline = Some(sum(&self.past[0], self.sender.counters()));
            self.sender_attentive = self.history.is_some();
        }
        self.sample_before(at);
    }

    #[inline(never)]
    fn look_at_receiver(&mut self, at: Time) {
        if self.meter.receiver_baseline.is_none() && at >= self.meter.window.from {
            self.meter.receiver_baseline = Some(sum(&self.past[1], self.receiver.counters()));
            self.receiver_attentive = self.history.is_some();
        }
        self.sample_before(at);
    }

    fn sample_before(&mut self, at: Time) {
        if let Some(history) = &mut self.history {
            history.sample_before(at, &self.sender, &self.receiver, self.mss);
        }
    }

    /// Call after the sender did something at `at`.
    #[inline]
    pub(crate) fn note_history(&mut self, at: Time, index: usize, marks: &mut Vec<Mark>) {
        if let Some(history) = &mut self.history {
            history.note(at, index, (&self.sender, &self.receiver, self.mss), marks);
        }
    }

    /// A finite transfer ends when its last byte has come in order.
    #[inline]
    pub(crate) fn note_completion(&mut self, at: Time) {
        if self.receiver.counters().delivered_bytes >= self.meter.awaited {
            self.meter.awaited = u64::MAX;
            self.meter.completed = Some(at);
        }
    }

    /// What happened inside the measured window.
    pub(crate) fn measured(&self) -> (Counters, Counters) {
        let since = |now: &Counters, then: &Option<Counters>| {
            then.as_ref().map_or_else(Counters::default, |then| difference(now, then))
        };
        let Meter { sender_baseline, receiver_baseline, .. } = &self.meter;
        let [sender, receiver] =
            [(0, &self.sender), (1, &self.receiver)].map(|(end, now)| sum(&self.past[end], now.counters()));
        (since(&sender, sender_baseline), since(&receiver, receiver_baseline))
    }

    /// A new connection's endpoints take the place of the old ones.
    pub(crate) fn forget_connection(&mut self, sender: Endpoint, receiver: Endpoint) {
        self.past[0] = sum(&self.past[0], self.sender.counters());
        self.past[1] = sum(&self.past[1], self.receiver.counters());
        (self.sender, self.receiver) = (sender, receiver);
        if let Some(history) = &mut self.history {
            history.past = [self.past[1].delivered_bytes, self.past[0].segments_retransmitted];
            (history.timeouts, history.fast_retransmits) = (0, 0);
        }
    }

    /// The run is over.
    pub(crate) fn finish(&mut self, until: Time) {
        self.before_sender(until);
        self.before_receiver(until);
        let idle = self.sender.snapshot().in_flight == 0;
        let snapshot = self.sender.snapshot();
        let held_by = if idle { HeldBy::Application } else { snapshot.held_by };
        self.meter.delivered(until, Cause::sender(held_by));
        if let Some(dialogue) = &mut self.dialogue {
            dialogue.finish();
        }
    }
}

/// Whether a flow passes a circuit, and its application leaves it to us to say when a transfer
/// begins and ends.
fn has_circuit(plan: &Plan, flow: &FlowPlan) -> bool {
    let mut passed = flow.path.iter().chain(&flow.back);
    matches!(flow.app, AppPlan::Bulk | AppPlan::Transfer { .. } | AppPlan::Source(_))
        && passed.any(|gate| matches!(plan.gates[*gate].rate, RatePlan::Reserve(_)))
}

/// The ends of a flow's connection of this number; the first is 0. A client opens its own.
pub(crate) fn endpoints(flow: &FlowPlan, seed: Seed, connection: u32) -> (Endpoint, Endpoint) {
    use rand::Rng as _;
    let which = if connection == 0 { String::new() } else { format!("/{connection}") };
    let name = |side: &str, what: &str| format!("flow.{}/{side}/{what}{which}", flow.name);
    let isn = |side: &str| seed.stream(&name(side, "isn")).next_u32();
    let random =
        |side: &str| (flow.tcp.increase == Increase::Random).then(|| seed.stream(&name(side, "increase")));
    // Without a handshake neither end can learn the other's number.
    let answer = if flow.tcp.handshake { isn("receiver") } else { isn("sender") };
    let (sends, receives) = match flow.app {
        AppPlan::Request(_) => (Role::Passive, Role::Active),
        _ => (Role::Active, Role::Passive),
    };
    (
        Endpoint::new(&flow.tcp, sends, isn("sender"), random("sender")),
        Endpoint::new(&flow.tcp, receives, answer, random("receiver")),
    )
}

impl Meter {
    fn new(plan: &Plan, app: &AppPlan, start: Time, cwnd: u64) -> Meter {
        let window = tidegate_core::net::window(plan);
        Meter {
            window,
            sender_baseline: None,
            receiver_baseline: None,
            rtt: Quantiles::new(precision(plan)),
            cwnd,
            cwnd_area: i128::from(cwnd) * i128::from(window.overlap(start, Time::NEVER)),
            cwnd_max: cwnd,
            last_delivery: start.max(window.from),
            owed: Vec::new(),
            received_bytes: 0,
            awaited: match app {
                AppPlan::Transfer { bytes } => *bytes,
                _ => u64::MAX,
            },
            completed: None,
        }
    }

    #[inline]
    pub(crate) fn sample_rtt(&mut self, at: Time, rtt: Span) {
        if at >= self.window.from {
            self.rtt.record(rtt);
        }
    }

    /// The window is so large from `at` on.
    #[inline]
    pub(crate) fn window_is(&mut self, at: Time, cwnd: u64) {
        if cwnd == self.cwnd {
            return;
        }
        // As if it stayed so until the end: what it differs by, for the rest of the time.
        let left = i128::from(self.window.overlap(at, Time::NEVER));
        self.cwnd_area += i128::from(cwnd.cast_signed() - self.cwnd.cast_signed()) * left;
        self.cwnd_max = if at > self.window.from { self.cwnd_max.max(cwnd) } else { cwnd };
        self.cwnd = cwnd;
    }

    /// Mean window in bytes over the part of the measured time in which the flow was there.
    pub(crate) fn cwnd_mean(&self, start: Time) -> f64 {
        let span = self.window.overlap(start, Time::NEVER);
        if span == 0 { 0.0 } else { self.cwnd_area as f64 / span as f64 }
    }

    /// A data segment of so many IP bytes came: the time since the one before is owed to what
    /// made this one come when it did.
    #[inline]
    pub(crate) fn received(&mut self, at: Time, bytes: u32, cause: Cause) {
        if at >= self.window.from {
            self.received_bytes += u64::from(bytes);
        }
        self.delivered(at, cause);
    }

    #[inline]
    fn delivered(&mut self, at: Time, cause: Cause) {
        // Never before the window opens.
        let span = at.saturating_since(self.last_delivery).picos();
        self.last_delivery = at.max(self.last_delivery);
        match self.owed.first_mut() {
            Some((latest, owed)) if *latest == cause => *owed += span,
            _ => self.owe_another(cause, span),
        }
    }

    /// Time is owed to another cause than before.
    #[inline(never)]
    fn owe_another(&mut self, cause: Cause, span: u64) {
        let known = self.owed.iter().position(|(known, _)| *known == cause);
        let place = known.unwrap_or_else(|| {
            self.owed.push((cause, 0));
            self.owed.len() - 1
        });
        self.owed[place].1 += span;
        self.owed.swap(0, place);
    }
}

impl History {
    #[inline]
    fn sample_before(&mut self, at: Time, sender: &Endpoint, receiver: &Endpoint, mss: f64) {
        if let RecordLevel::Every(every) = self.level {
            while self.next_sample < at {
                self.rows.push(row(self.next_sample, sender, receiver, mss, self.past));
                self.next_sample = self.next_sample.saturating_add(every);
            }
        }
    }

    fn note(&mut self, at: Time, flow: usize, ends: (&Endpoint, &Endpoint, f64), marks: &mut Vec<Mark>) {
        let (sender, receiver, mss) = ends;
        let counters = sender.counters();
        let mut mark = |known: &mut u64, now: u64, kind| {
            if now > *known {
                *known = now;
                marks.push(Mark { at, flow: flow as u32, kind });
            }
        };
        mark(&mut self.timeouts, counters.timeouts, MarkKind::Timeout);
        mark(&mut self.fast_retransmits, counters.fast_retransmits, MarkKind::FastRetransmit);
        if self.level == RecordLevel::Events {
            let row = row(at, sender, receiver, mss, self.past);
            // The last word at an instant counts.
            match self.rows.last_mut() {
                Some(last) if last.at == at => *last = row,
                _ => self.rows.push(row),
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.rows.capacity() * size_of::<FlowRow>()) as u64
    }
}

fn row(at: Time, sender: &Endpoint, receiver: &Endpoint, mss: f64, past: [u64; 2]) -> FlowRow {
    let Snapshot { cwnd, ssthresh, in_flight, srtt, rto, phase, held_by, .. } = sender.snapshot();
    FlowRow {
        at,
        cwnd_segments: cwnd / mss,
        ssthresh_segments: ssthresh.map_or(f64::NAN, |bytes| bytes as f64 / mss),
        in_flight_segments: in_flight as f64 / mss,
        srtt_ms: srtt.map_or(f64::NAN, |srtt| srtt.as_secs_f64() * 1e3),
        rto_ms: rto.as_secs_f64() * 1e3,
        delivered_bytes: past[0] + receiver.counters().delivered_bytes,
        retransmitted_segments: past[1] + sender.counters().segments_retransmitted,
        phase: match phase {
            Phase::SlowStart => 0,
            Phase::CongestionAvoidance => 1,
            Phase::Recovery => 2,
            Phase::Loss => 3,
        },
        held_by: held_by as u8,
    }
}

/// What two connections counted.
fn sum(one: &Counters, other: &Counters) -> Counters {
    each(one, other, |one, other| one + other)
}

fn difference(now: &Counters, then: &Counters) -> Counters {
    each(now, then, |now, then| now - then)
}

fn each(now: &Counters, then: &Counters, of: impl Fn(u64, u64) -> u64) -> Counters {
    Counters {
        segments_sent: of(now.segments_sent, then.segments_sent),
        segments_retransmitted: of(now.segments_retransmitted, then.segments_retransmitted),
        bytes_sent: of(now.bytes_sent, then.bytes_sent),
        timeouts: of(now.timeouts, then.timeouts),
        fast_retransmits: of(now.fast_retransmits, then.fast_retransmits),
        acks_sent: of(now.acks_sent, then.acks_sent),
        delivered_bytes: of(now.delivered_bytes, then.delivered_bytes),
        delivered_segments: of(now.delivered_segments, then.delivered_segments),
        duplicates_received: of(now.duplicates_received, then.duplicates_received),
        outside_window: of(now.outside_window, then.outside_window),
        acked_bytes: of(now.acked_bytes, then.acked_bytes),
    }
}
