//! What lies between the endpoints of all flows: the network, the servers, and what is recorded of segments.

use tidegate_core::app::Server;
use tidegate_core::net::{Carrier, Network};
use tidegate_core::plan::Plan;
use tidegate_core::tcp::{Outgoing, Segment};
use tidegate_core::unit::Unit;
use tidegate_core::units::Time;
use tidegate_result::{PacketRecord, Side};

use crate::alarms::{Alarm, Alarms};
use crate::flow::Flow;
use crate::groups::Groups;
use crate::segments::Segments;
use crate::ways::{Any, Plain, Sampled, Watched, Way};

/// The most deliveries to one flow that are handled ahead before other flows get their turn.
pub(crate) const RUN_AHEAD: usize = 1 << 12;

/// What lies between the endpoints: those of all flows, or of a cohort ([`crate::crew`]). A function with a parameter `W` is compiled for
/// each [`Way`] that flows are watched.
pub(crate) struct Wire<N> {
    pub(crate) until: Time,
    pub(crate) network: N,
    pub(crate) servers: Vec<Server>,
    pub(crate) alarms: Alarms,
    pub(crate) segments: Segments,
    pub(crate) packets: Option<Vec<PacketRecord>>,
    pub(crate) groups: Groups,
    /// Deliveries handled ahead of their time, which were no events of the network.
    pub(crate) ahead: u64,
    /// What leaves a sender and a receiver in a lap ([`crate::laps`]); empty between them.
    pub(crate) leaving: [Vec<(Time, Unit)>; 2],
}

impl Wire<Network> {
    pub(crate) fn new(plan: &Plan) -> Wire<Network> {
        let alarms = Alarms::new(plan.flows.len());
        Wire {
            until: plan.duration,
            network: Network::new(plan, alarms.count(plan.servers.len())),
            servers: plan.servers.iter().map(Server::new).collect(),
            alarms,
            segments: Segments::default(),
            packets: plan.record.packets.then(Vec::new),
            groups: Groups::new(plan),
            ahead: 0,
            leaving: [Vec::new(), Vec::new()],
        }
    }

    pub(crate) fn events_handled(&self) -> u64 {
        self.network.events_handled() + self.ahead
    }
}

impl<N: Carrier> Wire<N> {
    /// Units come to the ends of their routes, all of them to the same end. `flows`: those from number `first` on.
    #[inline(always)]
    pub(crate) fn deliver_units(&mut self, units: &[(Time, Unit)], flows: &mut [Flow], first: usize) {
        // No flow is policed where halves take turns.
        if units.first().is_some_and(|(_, unit)| unit.chain.is_multiple_of(2)) {
            for (at, unit) in units {
                let index = unit.chain as usize / 2;
                let flow = &mut flows[index - first];
                self.receive(*at, index, flow, unit);
                self.run_ahead(index, flow);
            }
        } else {
            for (at, unit) in units {
                let index = unit.chain as usize / 2;
                let flow = &mut flows[index - first];
                self.acknowledge(*at, index, flow, unit);
                self.run_ahead(index, flow);
            }
        }
    }

    /// An alarm of a flow rings.
    pub(crate) fn ring(&mut self, at: Time, alarm: Alarm, index: usize, flow: &mut Flow) {
        if !flow.losses.is_empty() {
            self.count_losses(at, index, flow);
        }
        match alarm {
            Alarm::Sender(_) => self.wake_sender(at, index, flow),
            Alarm::Receiver(_) => self.wake_receiver(at, index, flow),
            Alarm::Application(_) if flow.dialogue.is_some() => self.wake_client(at, index, flow),
            Alarm::Application(_) => {
                self.wake_app(at, index, flow);
                self.network.set_alarm(self.alarms.application(index), flow.app.next_wakeup());
            }
            // It is no flow's.
            Alarm::Server(_) => return,
        }
        self.run_ahead(index, flow);
    }

    /// Delivers the ACKs that are certain to arrive, and those that follow from them. For a flow that shares no gate
    /// with others, that may be the whole run.
    #[inline]
    pub(crate) fn run_ahead(&mut self, index: usize, flow: &mut Flow) {
        if !flow.coming.is_empty() {
            self.run_any(index, flow);
        }
    }

    #[inline(never)]
    fn run_any(&mut self, index: usize, flow: &mut Flow) {
        if flow.runs_laps {
            (flow.sender_rests_until, flow.receiver_rests_until) = (Time::ZERO, Time::ZERO);
            return self.run_laps(index, flow);
        }
        match flow.watched {
            Watched::Not => self.run_coming::<Plain>(index, flow),
            Watched::NowAndThen => self.run_coming::<Sampled>(index, flow),
            Watched::Closely => self.run_coming::<Any>(index, flow),
        }
    }

    fn run_coming<W: Way>(&mut self, index: usize, flow: &mut Flow) {
        self.run_some::<W>(index, flow, RUN_AHEAD);
        self.pause(index, flow);
    }

    /// After so many deliveries as are handled ahead.
    #[inline]
    pub(crate) fn pause(&mut self, index: usize, flow: &Flow) {
        // Other flows, the limits and the caller get their turn.
        if let Some((at, _)) = flow.coming.front() {
            self.network.set_alarm(Alarms::sender(index), *at);
        }
    }

    /// Delivers so many of them, one by one; fewer, where there are no more.
    #[inline(always)]
    pub(crate) fn run_some<W: Way>(&mut self, index: usize, flow: &mut Flow, most: usize) {
        for _ in 0..most {
            let Some((at, unit)) = flow.coming.pop_front() else { return };
            self.ahead += 1;
            self.take_ack::<W>(at, index, flow, unit);
        }
    }

    /// The sender has done something: it is woken when it wants to be.
    #[inline(always)]
    pub(crate) fn settle_sender(&mut self, index: usize, flow: &mut Flow) {
        let wakeup = flow.sender.next_wakeup();
        flow.sender_rests_until = flow.sender_rests_until.min(wakeup);
        self.network.set_alarm(Alarms::sender(index), wakeup);
    }

    /// Reports to the circuits when a transfer begins or ends.
    #[inline]
    pub(crate) fn tell_circuits(&mut self, at: Time, index: usize, flow: &mut Flow) {
        if let Some(begins) = flow.transfer_changes() {
            self.network.handle_transfer(at, index, begins);
        }
    }

    /// A unit of a flow that is watched closely is dropped at `at`. A gate may know that ahead; until then it is in the network, and the
    /// flow's circuit stays.
    pub(crate) fn lose(&mut self, now: Time, at: Time, index: usize, flow: &mut Flow) {
        if at > now && flow.has_circuit() {
            flow.losses.push(at);
            self.network.set_alarm(self.alarms.application(index), at);
        } else {
            flow.in_network -= 1;
            self.tell_circuits(at, index, flow);
        }
    }

    /// Counts units that have been dropped by `now`, and sets the alarm for those that will be.
    fn count_losses(&mut self, now: Time, index: usize, flow: &mut Flow) {
        if let Some(last) =
            flow.losses.extract_if(.., |at| *at <= now).inspect(|_| flow.in_network -= 1).max()
        {
            self.tell_circuits(last, index, flow);
        }
        if let Some(next) = flow.losses.iter().min() {
            self.network.set_alarm(self.alarms.application(index), *next);
        }
    }

    /// Records a segment that one end sends and stores its header. Returns the unit that represents it.
    #[inline]
    pub(crate) fn keep(&mut self, at: Time, index: usize, flow: &Flow, from: Side, sent: Outgoing) -> Unit {
        let end = if from == Side::Sender { &flow.sender } else { &flow.receiver };
        let (place, segment) = self.segments.add();
        end.write_segment(at, sent, segment);
        segment.connection = flow.connection;
        segment.sent_at = at;
        let bytes = flow.ip_bytes(segment);
        let mut unit = Unit::new(bytes, place, sent.held_by());
        unit.set_ecn(segment.ecn);
        if let Some(packets) = &mut self.packets {
            packets.push(record(at, index, (from, from), segment, None, bytes));
        }
        unit
    }
}

/// A packet as it is `seen` at one end, and whom it is `from`.
pub(crate) fn record(
    at: Time,
    flow: usize,
    (seen, from): (Side, Side),
    segment: &Segment,
    dscp: Option<u8>,
    bytes: u32,
) -> PacketRecord {
    PacketRecord { at, flow: flow as u32, seen, from, segment: *segment, dscp, bytes }
}
