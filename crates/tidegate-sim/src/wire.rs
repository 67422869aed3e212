//! What lies between the endpoints of all flows: the network, the servers, and what is recorded of segments.

use tidegate_core::app::Server;
use tidegate_core::gate::AckView;
use tidegate_core::net::{Carrier, Dropped, Network, Owner};
use tidegate_core::plan::Plan;
use tidegate_core::tcp::{Endpoint, Segment, flags};
use tidegate_core::unit::Unit;
use tidegate_core::units::Time;
use tidegate_result::{PacketRecord, Side};

use crate::alarms::{Alarm, Alarms};
use crate::flow::Flow;
use crate::groups::Groups;
use crate::policed::Policed;
use crate::segments::{Segments, Style};

/// The most deliveries to one flow that are handled ahead before other flows get their turn.
const RUN_AHEAD: usize = 1 << 12;

/// The most ACKs in a row: what they let go stays in the first-level cache.
const MOST: usize = 128;

/// What lies between the endpoints: those of all flows, or of a cohort ([`crate::cohort_threads`]).
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
    /// What has left the sender and what has left the receiver of the flow whose turn it is; else empty.
    pub(crate) departed: [Departed; 2],
    /// The ACKs that a sender takes, which were [`Flow::coming`]; else empty.
    pub(crate) row: Vec<(Time, Unit)>,
}

/// Units that have left an end, and that the other end has not taken.
#[derive(Debug, Default)]
pub(crate) struct Departed {
    /// Those that wait for the others of their row before they enter the network.
    leaving: Vec<(Time, Unit)>,
    /// Those that are certain to come to the other end, with when they do.
    pub(crate) certain: Vec<(Time, Unit)>,
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
            departed: Default::default(),
            row: Vec::new(),
        }
    }

    /// [`Style::together`] of a flow.
    pub(crate) fn carries_at_once(&self, flow: &Flow) -> bool {
        !flow.watched_closely && flow.style.entries.iter().all(|entry| self.network.carries_at_once(*entry))
    }

    pub(crate) fn events_handled(&self) -> u64 {
        self.network.events_handled() + self.ahead
    }
}

impl<N: Carrier> Wire<N> {
    /// Units come to the ends of their routes, all of them to the same end. `flows`: those from number `first` on.
    #[inline(always)]
    pub(crate) fn deliver_units(&mut self, units: &[(Time, Unit)], flows: &mut [Flow], first: usize) {
        // No flow is policed where directions alternate.
        if units.first().is_some_and(|(_, unit)| unit.stretch.is_multiple_of(2)) {
            for one in units {
                let index = one.1.stretch as usize / 2;
                let flow = &mut flows[index - first];
                self.receive(index, flow, std::slice::from_ref(one));
                self.run_ahead(index, flow);
            }
        } else {
            for one in units {
                let index = one.1.stretch as usize / 2;
                let flow = &mut flows[index - first];
                self.acknowledge(index, flow, std::slice::from_ref(one));
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

    /// Call after anything happened at an end of a flow. Carries what has left both ends, delivers the ACKs that are certain to arrive,
    /// and those that follow from them. For a flow that shares no gate with others, that may be the whole run.
    #[inline]
    pub(crate) fn run_ahead(&mut self, index: usize, flow: &mut Flow) {
        self.carry_data(index, flow);
        self.carry_acks(flow);
        if !flow.coming.is_empty() {
            self.run_coming(index, flow);
        }
    }

    #[inline(never)]
    fn run_coming(&mut self, index: usize, flow: &mut Flow) {
        let mut left = RUN_AHEAD;
        let mut row = std::mem::take(&mut self.row);
        while left > 0 && !flow.coming.is_empty() {
            std::mem::swap(&mut row, &mut flow.coming);
            let mut first = 0;
            while left > 0 && first < row.len() {
                let most = if flow.style.together { MOST.min(left) } else { 1 };
                let (from, end) = (first, row.len().min(first + most));
                while first < end {
                    first += self.acknowledge(index, flow, &row[first..end]);
                }
                self.carry_data(index, flow);
                self.carry_acks(flow);
                left -= first - from;
                self.ahead += (first - from) as u64;
            }
            // The ACKs that follow from these come later than the rest.
            if first < row.len() {
                flow.coming.splice(..0, row.drain(first..));
            }
            row.clear();
        }
        self.row = row;
        // Other flows, the limits and the caller get their turn.
        if let Some((at, _)) = flow.coming.first() {
            self.network.set_alarm(Alarms::sender(index), *at);
        }
    }

    /// Shows ACK filters on its route what a unit says that leaves the end `from` of a flow. Its segment is whole.
    #[cold]
    pub(crate) fn show(&mut self, unit: Unit, index: usize, from: Side) {
        let view = AckView::from(self.segments.look_at(unit));
        self.network.note_view(2 * index + from as usize, unit.handle, view);
    }

    /// Drops of a flow's data that nobody has been told of yet, each with the number of its first byte.
    fn unreported_drops(&self, index: usize, connection: u32) -> impl Iterator<Item = (&Dropped, u32)> {
        let of_it =
            self.network.unreported_drops().filter(move |dropped| dropped.owner == Owner::Data(index));
        of_it.filter_map(move |dropped| Some((dropped, self.segments.first_byte(dropped.unit, connection)?)))
    }

    /// A unit leaves the end `from` of a flow at `at`, and enters the network, or waits for the others of its row.
    #[inline(always)]
    pub(crate) fn depart(&mut self, at: Time, unit: Unit, from: Side, style: &Style) {
        if style.together {
            self.departed[from as usize].leaving.push((at, unit));
            return;
        }
        let mut entered = unit;
        if let Some(due) = self.network.handle_unit_at(at, style.entries[from as usize], &mut entered) {
            self.departed[from as usize].certain.push((due, entered));
        }
    }

    /// What waits for the others of its row enters the network.
    #[inline(always)]
    pub(crate) fn enter_network(&mut self, from: Side, style: &Style) {
        let Departed { leaving, certain } = &mut self.departed[from as usize];
        if leaving.is_empty() {
            return;
        }
        self.network.handle_units_at(style.entries[from as usize], leaving);
        if certain.is_empty() {
            std::mem::swap(leaving, certain);
        } else {
            certain.append(leaving);
        }
    }

    /// Something has happened to the sender of a flow that passes a policer; call before the next segment that it sends is blamed. A repair
    /// begins with an ACK or a timer, never with what leaves, so it does not matter whether that has been taken from the sender.
    #[inline(always)]
    pub(crate) fn review(&mut self, at: Time, policed: &mut Policed, sender: &Endpoint, style: &Style) {
        if policed.begins_repair(sender) {
            self.enter_network(Side::Sender, style);
            policed.review(at, sender, self.unreported_drops(policed.flow(), style.connection));
        }
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
}

/// A packet as it is `seen` at one end, and whom it is `from`; `ends`: the number behind the stream of a finite transfer, where a FIN
/// is. Both applications close at once, so that FIN goes with the last data, and the other end's with what acknowledges them. It
/// stands in records alone: no packet is longer for it, and none leaves that would not have left.
pub(crate) fn record(
    at: Time,
    flow: usize,
    (seen, from): (Side, Side),
    (segment, ends): (&Segment, Option<u32>),
    dscp: Option<u8>,
    bytes: u32,
) -> PacketRecord {
    let mut segment = *segment;
    if let Some(end) = ends {
        if from == Side::Sender && segment.len > 0 && segment.seq.wrapping_add(segment.len) == end {
            segment.flags |= flags::FIN;
        }
        if from == Side::Receiver {
            let count = usize::from(segment.sack_count);
            let edges = segment.sack[..count].iter_mut().map(|(_, right)| right);
            edges.filter(|right| **right == end).for_each(|right| *right = end.wrapping_add(1));
            if segment.ack == end && segment.flags & flags::SYN == 0 {
                segment.ack = end.wrapping_add(1);
                segment.flags |= flags::FIN;
            }
        }
    }
    PacketRecord { at, flow: flow as u32, seen, from, segment, payload: None, dscp, bytes }
}
