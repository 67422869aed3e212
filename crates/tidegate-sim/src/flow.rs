//! One flow in a run: its two endpoints, its application, and what is measured of it.

use std::sync::Arc;

use tidegate_core::app::Application;
use tidegate_core::cc::Controller;
use tidegate_core::net::{Entry, seed, start_time};
use tidegate_core::plan::{AppPlan, FlowPlan, Plan, RatePlan, RecordLevel};
use tidegate_core::tcp::{Counters, Endpoint, Segment, State};
use tidegate_core::unit::{Cause, HeldBy, Unit};
use tidegate_core::units::Time;
use tidegate_result::Side;

use crate::advised::Advised;
use crate::connection::{Maker, difference, sum};
use crate::dialogue::Dialogue;
use crate::groups::{Groups, Member};
use crate::history::History;
use crate::host::Ends;
use crate::hosted::{Hosted, counted};
use crate::meter::Meter;
use crate::policed::Policed;
use crate::segments::Style;
use crate::steering::{Steered, Steering};

/// A flow's state and measurements. The fields that nearly every packet touches come first, so that they share
/// cache lines.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Flow {
    pub(crate) sender: Endpoint,
    pub(crate) receiver: Endpoint,
    pub(crate) meter: Meter,
    /// ACKs that are certain to arrive, known ahead of their time (run-ahead).
    pub(crate) coming: Vec<(Time, Unit)>,
    /// How its segments are written, and where they enter the network.
    pub(crate) style: Style,
    /// More is to be done for it at each segment than [`tidegate_core::tcp::Row`] hears of: it sends data both ways, uses a circuit, a
    /// policer with a fixed window, advice or ECN, is recorded with others, or both its ends are looked at at one instant.
    pub(crate) watched_closely: bool,
    pub(crate) started: bool,
    /// Cached lower bound on what is due at the sender beside ACKs: timers, writes, rows and baselines, the end of the run;
    /// [`Time::ZERO`]: look ([`Flow::look_ahead_of_sender`]).
    pub(crate) sender_undisturbed_until: Time,
    /// Cached lower bound on what is due at the receiver beside data ([`Flow::look_ahead_of_receiver`]).
    pub(crate) receiver_undisturbed_until: Time,
    /// An ACK that comes up to this instant has nothing before it but the sender's timers; looked up with `sender_undisturbed_until`.
    pub(crate) sender_row_until: Time,
    /// Data that come up to this instant have nothing before them but the receiver's timers.
    pub(crate) receiver_row_until: Time,
    pub(crate) app: Application,
    /// From this instant on a baseline or a row must be noted before the sender's next event.
    pub(crate) sender_noted_from: Time,
    /// From this instant on a baseline or a row must be noted before the receiver's next event. With run-ahead, either end may be ahead
    /// of the other.
    pub(crate) receiver_noted_from: Time,
    /// The flow passes a circuit, which must know when a transfer begins and ends.
    has_circuit: bool,
    /// Data may arrive at the instant at which they leave.
    pub(crate) data_may_take_no_time: bool,
    /// It passes an ACK filter.
    pub(crate) filtered: bool,
    /// A transfer is under way, as last reported to the circuits.
    transferring: bool,
    /// The flow's units in the network, in both directions; counted only if the flow is watched closely.
    pub(crate) in_network: u32,
    /// When units that are still in the network will be dropped there, as is known ahead; of a flow with a circuit.
    pub(crate) losses: Vec<Time>,
    pub(crate) start: Time,
    pub(crate) mss: f64,
    /// The number behind the stream of a finite transfer.
    pub(crate) stream_end: Option<u32>,
    /// The client and the log of requests, for a flow with requests.
    pub(crate) dialogue: Option<Box<Dialogue>>,
    /// For a flow that is recorded together with others.
    pub(crate) member: Option<Box<Member>>,
    /// Whether a policer limits the flow, for a flow that passes one.
    pub(crate) policed: Option<Box<Policed>>,
    /// Its throughput advice, for a flow whose packets carry rate signals.
    pub(crate) advised: Option<Box<Advised>>,
    /// Who sets the window from outside, and the size of a segment, for a flow that is steered.
    pub(crate) steering: Option<(Arc<Steering>, u32)>,
    /// What the ends of earlier connections had counted.
    pub(crate) past: [Counters; 2],
    /// User bytes that the receivers of earlier connections got in order.
    pub(crate) past_in_order: u64,
    /// The hosts of a flow whose transport is not ours; `sender` and `receiver` are idle then.
    pub(crate) hosted: Option<Box<Hosted>>,
}

impl Flow {
    pub(crate) fn new(plan: &Plan, index: usize, hosts: Option<Ends>) -> Flow {
        let flow = &plan.flows[index];
        let seed = seed(plan);
        let start = start_time(seed, &format!("flow.{}/start", flow.name), flow.start);
        let recorded = plan.record.flows.as_ref().is_none_or(|chosen| chosen.binary_search(&index).is_ok());
        let history: Option<Box<History>> = (plan.record.level != RecordLevel::Summary && recorded)
            .then(|| Box::new(History::new(plan.record.level, plan.duration, index)));
        let maker = Maker { flow: flow.clone(), seed, exact: plan.exact };
        let (sender, receiver) = maker.endpoints(0);
        let dialogue = Dialogue::new(&maker, start);
        let has_circuit = has_circuit(plan, flow);
        let policed = Policed::new(plan, index).map(Box::new);
        let hosted = hosts.map(|ends| Box::new(Hosted::new(flow, ends, policed.is_some())));
        let policed = policed.filter(|_| hosted.is_none());
        let advised = Advised::new(flow, index, history.is_some());
        let parts = history.as_ref().is_none_or(|history| history.lets_ends_part());
        let observed = !parts || plan.record.packets;
        let plain = !(plan.exact || observed || dialogue.is_some() || has_circuit || sender.uses_ecn());
        let member = Member::new(plan, index);
        let filtered = hosted.is_none() && is_filtered(plan, flow);
        let shows_phase = policed.as_ref().is_some_and(|policed| policed.asks_for_phase());
        let several = shows_phase || member.is_some() || hosted.is_some() || advised.is_some();
        let watched_closely = !plain || filtered || several;
        let window = match &hosted {
            Some(hosted) => hosted.report(Side::Sender).window.unwrap_or_default() as u64,
            None => sender.congestion_window(),
        };
        let stream_end = match flow.app {
            AppPlan::Transfer { bytes } => Some(sender.number_of(bytes)),
            AppPlan::Bulk | AppPlan::Source(_) | AppPlan::Request(_) => None,
        };
        Flow {
            style: Style {
                headers: flow.tcp.headers,
                connection: 0,
                whole: watched_closely,
                numbers: sender.says_numbers_alone(),
                timed: history.is_some(),
                together: false,
                entries: [Entry::default(); 2],
            },
            watched_closely,
            dialogue,
            steering: None,
            past: [Counters::default(); 2],
            past_in_order: 0,
            app: Application::new(&flow.app, start, seed.stream(&format!("flow.{}/app", flow.name))),
            meter: Meter::new(plan, &flow.app, start, window, history),
            sender,
            receiver,
            start,
            started: false,
            sender_noted_from: Time::ZERO,
            receiver_noted_from: Time::ZERO,
            sender_undisturbed_until: Time::ZERO,
            receiver_undisturbed_until: Time::ZERO,
            sender_row_until: Time::ZERO,
            receiver_row_until: Time::ZERO,
            coming: Vec::new(),
            has_circuit,
            data_may_take_no_time: !flow.path.iter().any(|gate| plan.gates[*gate].takes_time()),
            filtered,
            transferring: false,
            in_network: 0,
            losses: Vec::new(),
            mss: f64::from(flow.tcp.mss),
            stream_end,
            member,
            policed,
            advised,
            hosted,
        }
    }

    /// Lets its sender's window be set from outside, before the run begins.
    pub(crate) fn steer_by(&mut self, steering: Arc<Steering>, mss: u32) {
        self.steering = Some((steering, mss));
        self.hand_over();
    }

    fn hand_over(&mut self) {
        if let Some((steering, mss)) = &self.steering {
            let controller = Box::new(Steered::new(steering, *mss));
            self.sender.set_controller(Controller::Custom(controller));
        }
    }

    /// What the senders of all its connections have counted.
    pub(crate) fn counted_by_sender(&self) -> Counters {
        sum(&self.past[0], self.counters(Side::Sender))
    }

    /// Says whether a transfer begins (`true`) or ends with what just happened.
    #[inline]
    pub(crate) fn transfer_changes(&mut self) -> Option<bool> {
        if !self.has_circuit || self.transferring == self.needs_its_way() {
            return None;
        }
        self.transferring = !self.transferring;
        Some(self.transferring)
    }

    /// Whether a circuit must know when its transfers begin and end.
    pub(crate) fn has_circuit(&self) -> bool {
        self.has_circuit
    }

    /// A transfer lasts while anything of the flow is in the network, while either end waits for an
    /// acknowledgement (a delayed one included) or for the handshake, and while a request is unanswered.
    fn needs_its_way(&self) -> bool {
        let waits = |end: &Endpoint| {
            !end.all_acknowledged() || matches!(end.state(), State::SynSent | State::SynReceived)
        };
        self.in_network > 0
            || waits(&self.sender)
            || waits(&self.receiver)
            || self.dialogue.as_ref().is_some_and(|dialogue| dialogue.client.is_busy())
    }

    /// IP bytes of a segment: its options beyond `headers` are SACK blocks.
    #[inline]
    pub(crate) fn ip_bytes(&self, segment: &Segment) -> u32 {
        self.style.headers + segment.len + segment.extra_option_bytes()
    }

    /// Whether one end may be handled ahead of the other: not where a row, a new connection, a circuit, advice or hosts need both ends at
    /// one instant. Of a flow that passes a policer [`crate::simulation::Simulation::start`] asks for more.
    pub(crate) fn lets_ends_part(&self) -> bool {
        self.advised.is_none()
            && self.hosted.is_none()
            && !self.has_circuit
            && self.meter.history.as_ref().is_none_or(|history| history.lets_ends_part())
            && self.dialogue.as_ref().is_none_or(|dialogue| dialogue.lets_ends_part())
    }

    /// Call after the sender did something at `at`.
    #[inline]
    pub(crate) fn tell_group_of_sender(&mut self, at: Time, groups: &mut Groups) {
        if let Some(member) = &mut self.member {
            let (past, counters) = (&self.past[0], counted(&self.hosted, Side::Sender, &self.sender));
            let counted = (
                past.segments_retransmitted + counters.segments_retransmitted,
                past.timeouts + counters.timeouts,
            );
            let window = match &self.hosted {
                Some(hosted) => hosted.report(Side::Sender).window.unwrap_or_default() as u64,
                None => self.sender.congestion_window(),
            };
            groups.note_sender(at, member, window, counted);
        }
    }

    /// Call after a segment came to the receiver at `at`.
    #[inline]
    pub(crate) fn tell_group_of_receiver(&mut self, at: Time, groups: &mut Groups) {
        if let Some(member) = &mut self.member {
            let delivered = self.past[1].delivered_bytes
                + counted(&self.hosted, Side::Receiver, &self.receiver).delivered_bytes;
            groups.note_receiver(at, member, delivered);
        }
    }

    /// Call after the receiver did something at `at`: a finite transfer ends when its last byte has come in order.
    #[inline]
    pub(crate) fn note_completion(&mut self, at: Time) {
        self.meter.note_in_order(at, self.receiver.in_order_bytes());
    }

    /// A data packet leaves its sender.
    #[inline]
    pub(crate) fn advise_data(&mut self, at: Time, unit: &mut Unit) {
        if let Some(advised) = &mut self.advised {
            advised.handle_data_sent(at, unit);
        }
    }

    /// A data packet comes to its receiver, which hears the advice that it carries.
    #[inline]
    pub(crate) fn hear_advice(&mut self, at: Time, unit: Unit) {
        let heard = self.advised.as_mut().and_then(|advised| advised.handle_data(at, unit));
        if let (Some(signal), Some(dialogue)) = (heard, &mut self.dialogue) {
            dialogue.client.handle_advice(at, signal);
        }
    }

    /// What happened inside the measured time.
    pub(crate) fn measured(&self) -> (Counters, Counters) {
        let since = |now: &Counters, then: &Option<Counters>| {
            then.as_ref().map_or_else(Counters::default, |then| difference(now, then))
        };
        let Meter { sender_baseline, receiver_baseline, .. } = &self.meter;
        let sender = sum(&self.past[0], self.counters(Side::Sender));
        let receiver = sum(&self.past[1], self.counters(Side::Receiver));
        (since(&sender, sender_baseline), since(&receiver, receiver_baseline))
    }

    /// User bytes that became readable in order inside the measured time.
    pub(crate) fn measured_in_order(&self) -> u64 {
        self.meter.receiver_baseline.map_or(0, |_| self.in_order() - self.meter.in_order_before)
    }

    /// User bytes that became readable in order since the flow began.
    pub(crate) fn in_order(&self) -> u64 {
        self.past_in_order + self.receiver_columns().in_order_bytes
    }

    /// When its finite transfer was done, or the last of its counted requests; `None` while it is not.
    pub(crate) fn done_at(&self) -> Option<Time> {
        match &self.dialogue {
            Some(dialogue) => dialogue.done_at(),
            None => self.meter.completed,
        }
    }

    /// The next connection replaces the old one; segments of the old one that are still in the network are
    /// ignored when they arrive. DEVIATION: no FIN, RST or TIME-WAIT (RFC 9293 §3.6): nothing is to be
    /// learnt of closing here, and a request's last ACK has been sent.
    pub(crate) fn reconnect(&mut self) {
        let Some(dialogue) = &self.dialogue else { return };
        let Some((sender, receiver)) = dialogue.endpoints(self.style.connection + 1) else { return };
        self.style.connection += 1;
        self.past[0] = sum(&self.past[0], self.sender.counters());
        self.past[1] = sum(&self.past[1], self.receiver.counters());
        self.past_in_order += self.receiver.in_order_bytes();
        (self.sender, self.receiver) = (sender, receiver);
        self.hand_over();
        if let Some(policed) = &mut self.policed {
            policed.reconnect();
        }
        if let Some(advised) = &mut self.advised {
            advised.reconnect();
        }
        if let Some(history) = &mut self.meter.history {
            history.reconnected(self.past, self.past_in_order);
        }
    }

    /// Bytes of rows, exchanges and what a policer has dropped: what grows as the run goes on.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.meter.history.as_ref().map_or(0, |history| history.memory_bytes())
            + self.dialogue.as_ref().map_or(0, |dialogue| dialogue.memory_bytes())
            + self.policed.as_ref().map_or(0, |policed| policed.memory_bytes())
            + self.advised.as_ref().map_or(0, |advised| advised.memory_bytes())
            + self.hosted.as_ref().map_or(0, |hosted| hosted.memory_bytes())
    }

    /// Settles what is measured when the run is over.
    pub(crate) fn finish(&mut self, until: Time) {
        self.before_sender(until);
        self.before_receiver(until);
        if let Some(hosted) = &mut self.hosted {
            hosted.finish();
            return self.meter.delivered(until, hosted.cause(until));
        }
        let held_by =
            if self.sender.all_acknowledged() { HeldBy::Application } else { self.sender.snapshot().held_by };
        let cause = match &self.policed {
            Some(policed) => policed.cause(held_by, &self.sender),
            None => Cause::sender(held_by),
        };
        self.meter.delivered(until, cause);
        if let Some(dialogue) = &mut self.dialogue {
            dialogue.finish();
        }
    }
}

/// Whether a flow passes an ACK filter.
fn is_filtered(plan: &Plan, flow: &FlowPlan) -> bool {
    flow.path.iter().chain(&flow.back).any(|gate| plan.gates[*gate].ack_filter().is_some())
}

/// Whether a flow passes a circuit.
fn has_circuit(plan: &Plan, flow: &FlowPlan) -> bool {
    let mut passed = flow.path.iter().chain(&flow.back);
    passed.any(|gate| matches!(plan.gates[*gate].rate, RatePlan::Reserve(_)))
}
