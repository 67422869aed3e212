//! What lies between the endpoints of all flows: the network, the servers, and what is recorded of segments.

use tidegate_core::app::Server;
use tidegate_core::net::Network;
use tidegate_core::plan::Plan;
use tidegate_core::tcp::{Outgoing, Segment, ShortHeader};
use tidegate_core::unit::{HeldBy, Unit};
use tidegate_core::units::Time;
use tidegate_result::{PacketRecord, Side};

use crate::alarms::Alarms;
use crate::flow::Flow;
use crate::groups::Groups;
use crate::segments::{Segments, TimedHeader};
use crate::ways::{Any, Plain, Sampled, Watched, Way};

/// The most deliveries to one flow that are handled ahead before other flows get their turn.
pub(crate) const RUN_AHEAD: usize = 1 << 12;

/// What lies between the endpoints. A function with a parameter `W` is compiled for each [`Way`] that flows are watched.
pub(crate) struct Wire {
    pub(crate) until: Time,
    pub(crate) network: Network,
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

impl Wire {
    pub(crate) fn new(plan: &Plan) -> Wire {
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

    /// An ACK arrives at the sender at `at`, which may be later than the network's time (run-ahead).
    #[inline]
    pub(crate) fn acknowledge(&mut self, at: Time, index: usize, flow: &mut Flow, unit: Unit) {
        match flow.watched {
            Watched::Not => self.take_ack::<Plain>(at, index, flow, unit),
            Watched::NowAndThen => self.take_ack::<Sampled>(at, index, flow, unit),
            Watched::Closely => self.take_ack::<Any>(at, index, flow, unit),
        }
    }

    #[inline(always)]
    fn take_ack<W: Way>(&mut self, at: Time, index: usize, flow: &mut Flow, unit: Unit) {
        if at >= self.until {
            return self.segments.forget(unit);
        }
        // With run-ahead, timers that are due before this unit have not fired yet.
        while flow.sender.next_wakeup().min(flow.app.next_wakeup()) < at {
            self.wake_earlier(index, flow);
        }
        flow.before_sender(at);
        if !W::PLAIN {
            flow.in_network -= 1;
        }
        if W::PLAIN && unit.is_compact() {
            if let Some(rtt) = flow.sender.answer_oldest_acked(at, unit.handle) {
                flow.sample_rtt::<W>(rtt);
                return self.send_steadily::<W>(at, index, flow);
            }
            let next = flow.sender.answer_usual_ack(at, unit.handle);
            if let Some(rtt) = flow.sender.take_rtt_sample() {
                flow.sample_rtt::<W>(rtt);
            }
            return self.send_all::<W>(at, index, flow, next);
        }
        if W::PLAIN && unit.is_short() {
            let ack = self.segments.short.take(unit);
            let next = flow.sender.answer_short_ack(at, &ack);
            if let Some(rtt) = flow.sender.take_rtt_sample() {
                flow.sample_rtt::<W>(rtt);
            }
            return self.send_all::<W>(at, index, flow, next);
        }
        if unit.is_compact() {
            flow.sender.handle_usual_ack(at, unit.handle);
        } else {
            let segment = self.segments.take(unit);
            if segment.connection != flow.connection {
                return self.tell_circuits(at, index, flow);
            }
            if !W::PLAIN
                && let Some(packets) = &mut self.packets
            {
                let bytes = flow.ip_bytes(segment);
                let ends = (Side::Sender, Side::Receiver);
                packets.push(record(at, index, ends, segment, unit.codepoint(), bytes));
            }
            flow.sender.handle_segment(at, segment);
        }
        if let Some(rtt) = flow.sender.take_rtt_sample() {
            flow.sample_rtt::<W>(rtt);
            if !W::PLAIN
                && let Some(member) = &flow.member
            {
                self.groups.note_round_trip(at, member, rtt);
            }
        }
        if !W::PLAIN && flow.dialogue.is_some() {
            self.take_requests(at, index, flow);
        }
        self.pump_sender(at, index, flow);
    }

    /// Sends what the window lets go after an ACK of the oldest segment ([`tidegate_core::tcp::Endpoint::answer_oldest_acked`]).
    #[inline(always)]
    fn send_steadily<W: Way>(&mut self, at: Time, index: usize, flow: &mut Flow) {
        let window = flow.sender.congestion_window();
        while let Some((sent, number)) = flow.sender.poll_steadily(at, window) {
            let mut unit = if W::ROWS {
                self.keep_timed(at, flow, sent, ShortHeader { number, ..ShortHeader::default() })
            } else {
                Unit::new_compact(flow.headers + sent.len(), number, sent.held_by())
            };
            if let Some(due) = self.network.handle_unit_at(at, flow.entries[0], &mut unit) {
                self.receive_at::<W>(due, index, flow, unit);
            }
        }
        flow.meter.windows.window_is(at, window);
        self.network.set_alarm(Alarms::sender(index), flow.sender.next_wakeup());
    }

    /// Reports to the circuits when a transfer begins or ends.
    #[inline]
    pub(crate) fn tell_circuits(&mut self, at: Time, index: usize, flow: &mut Flow) {
        match flow.transfer_changes() {
            Some(true) => self.network.handle_transfer_begin(at, index),
            Some(false) => self.network.handle_transfer_end(at, index),
            None => {}
        }
    }

    /// Runs the sender's timer or the application, whichever is due first.
    #[cold]
    fn wake_earlier(&mut self, index: usize, flow: &mut Flow) {
        let (timer, app) = (flow.sender.next_wakeup(), flow.app.next_wakeup());
        if timer <= app { self.run_sender(timer, index, flow) } else { self.wake_app(app, index, flow) }
    }

    /// A timer of the sender is due.
    fn run_sender(&mut self, at: Time, index: usize, flow: &mut Flow) {
        flow.before_sender(at);
        flow.sender.handle_wakeup(at);
        self.pump_sender(at, index, flow);
    }

    pub(crate) fn wake_sender(&mut self, at: Time, index: usize, flow: &mut Flow) {
        // Run-ahead may already have handled this timer.
        if at >= flow.sender.next_wakeup() {
            self.run_sender(at, index, flow);
        } else {
            self.network.set_alarm(Alarms::sender(index), flow.sender.next_wakeup());
        }
    }

    pub(crate) fn wake_app(&mut self, at: Time, index: usize, flow: &mut Flow) {
        if flow.started && at < flow.app.next_wakeup() {
            return;
        }
        flow.before_sender(at);
        if !flow.started {
            flow.started = true;
            flow.before_receiver(at);
            flow.receiver.open(at);
            flow.sender.open(at);
        }
        let bytes = flow.app.handle_wakeup(at);
        if bytes > 0 {
            flow.sender.write(at, bytes);
        }
        self.pump_sender(at, index, flow);
    }

    /// Sends what the sender has to send.
    pub(crate) fn pump_sender(&mut self, at: Time, index: usize, flow: &mut Flow) {
        if let Some(policed) = &mut flow.policed {
            policed.review(at, &flow.sender);
        }
        let next = flow.sender.poll(at);
        match flow.watched {
            Watched::Not => self.send_all::<Plain>(at, index, flow, next),
            Watched::NowAndThen => self.send_all::<Sampled>(at, index, flow, next),
            Watched::Closely => self.send_all::<Any>(at, index, flow, next),
        }
    }

    /// Sends `next`, what the sender's poll gave, and all that follows.
    #[inline(always)]
    pub(crate) fn send_all<W: Way>(
        &mut self,
        at: Time,
        index: usize,
        flow: &mut Flow,
        mut next: Option<Outgoing>,
    ) {
        while let Some(sent) = next {
            let mut unit = if W::ROWS && flow.is_timed(sent) {
                self.keep_timed(at, flow, sent, flow.sender.short_header(at, sent))
            } else if W::PLAIN && flow.short && sent.is_short() && !sent.is_empty() {
                let place = self.segments.short.add(flow.sender.short_header(at, sent));
                Unit::new_short(flow.headers + sent.len(), place, sent.held_by())
            } else if if W::PLAIN { !flow.short } else { flow.light } && sent.is_usual() && !sent.is_empty() {
                let bytes = flow.headers + sent.len();
                Unit::new_compact(bytes, flow.sender.sequence_number(sent), sent.held_by())
            } else {
                self.keep(at, index, flow, Side::Sender, sent)
            };
            if !W::PLAIN {
                flow.in_network += 1;
                if let Some(policed) = &flow.policed {
                    policed.blame(&mut unit, sent.held_by(), &flow.sender);
                }
            }
            if let Some(due) = self.network.handle_unit_at(at, flow.entries[0], &mut unit) {
                self.receive_at::<W>(due, index, flow, unit);
            }
            next = flow.sender.poll(at);
        }
        flow.meter.windows.window_is(at, flow.sender.congestion_window());
        if !W::PLAIN || W::ROWS {
            flow.note_history(at);
        }
        if !W::PLAIN {
            flow.tell_group_of_sender(at, &mut self.groups);
            self.tell_circuits(at, index, flow);
        }
        self.network.set_alarm(Alarms::sender(index), flow.sender.next_wakeup());
    }

    /// Records a segment that one end sends and stores its header. Returns the unit that represents it.
    #[inline]
    fn keep(&mut self, at: Time, index: usize, flow: &Flow, from: Side, sent: Outgoing) -> Unit {
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

    /// Stores the header of data that a sender sends with the time. Returns the unit that represents them.
    #[inline(always)]
    fn keep_timed(&mut self, at: Time, flow: &Flow, sent: Outgoing, says: ShortHeader) -> Unit {
        let place = self.segments.timed.add(TimedHeader { sent_at: at, says });
        Unit::new_timed(flow.headers + sent.len(), place, sent.held_by())
    }

    /// A unit arrives at the receiver at `at`, which may be later than the network's time (run-ahead).
    #[inline]
    pub(crate) fn receive(&mut self, at: Time, index: usize, flow: &mut Flow, unit: Unit) {
        match flow.watched {
            Watched::Not => self.receive_at::<Plain>(at, index, flow, unit),
            Watched::NowAndThen => self.receive_at::<Sampled>(at, index, flow, unit),
            Watched::Closely => self.receive_at::<Any>(at, index, flow, unit),
        }
    }

    #[inline(always)]
    pub(crate) fn receive_at<W: Way>(&mut self, at: Time, index: usize, flow: &mut Flow, unit: Unit) {
        if at >= self.until {
            return self.segments.forget(unit);
        }
        // With run-ahead, clients and timers that are due before this unit have not acted yet.
        if !PLAIN && flow.dialogue.is_some() {
            self.wake_client_before(at, index, flow);
        }
        while flow.receiver.next_wakeup() < at {
            self.wake_receiver(flow.receiver.next_wakeup(), index, flow);
        }
        flow.before_receiver(at);
        if !W::PLAIN {
            flow.in_network -= 1;
        }
        if W::ROWS && unit.is_timed() {
            flow.meter.received(at, unit.bytes, unit.cause());
            let TimedHeader { sent_at, says } = self.segments.timed.take(unit);
            flow.note_one_way(at, sent_at);
            let bytes = unit.bytes - flow.headers;
            if flow.short {
                flow.receiver.handle_short_data(at, &says, bytes);
            } else {
                flow.receiver.handle_usual_data(at, says.number, bytes);
            }
        } else if unit.is_compact() {
            flow.meter.received(at, unit.bytes, unit.cause());
            flow.receiver.handle_usual_data(at, unit.handle, unit.bytes - flow.headers);
        } else if W::PLAIN && unit.is_short() {
            flow.meter.received(at, unit.bytes, unit.cause());
            let data = self.segments.short.take(unit);
            flow.receiver.handle_short_data(at, &data, unit.bytes - flow.headers);
        } else {
            let segment = self.segments.take(unit);
            if segment.connection != flow.connection {
                return self.tell_circuits(at, index, flow);
            }
            if !W::PLAIN
                && let Some(packets) = &mut self.packets
            {
                let ends = (Side::Receiver, Side::Sender);
                packets.push(record(at, index, ends, segment, unit.codepoint(), unit.bytes));
            }
            if segment.len > 0 {
                flow.meter.received(at, unit.bytes, unit.cause());
                if !W::PLAIN || W::ROWS {
                    flow.note_one_way(at, segment.sent_at);
                }
            }
            flow.receiver.handle_segment(at, segment);
        }
        if !W::PLAIN {
            flow.tell_group_of_receiver(at, &mut self.groups);
        }
        if !W::PLAIN && flow.dialogue.is_some() {
            self.take_responses(at, index, flow);
        }
        self.answer::<W>(at, index, flow);
    }

    pub(crate) fn wake_receiver(&mut self, at: Time, index: usize, flow: &mut Flow) {
        flow.before_receiver(at);
        flow.receiver.handle_wakeup(at);
        match flow.watched {
            Watched::Not => self.answer::<Plain>(at, index, flow),
            Watched::NowAndThen => self.answer::<Sampled>(at, index, flow),
            Watched::Closely => self.answer::<Any>(at, index, flow),
        }
    }

    /// Sends what the receiver has to send.
    #[inline(always)]
    fn answer<W: Way>(&mut self, at: Time, index: usize, flow: &mut Flow) {
        let next = flow.receiver.poll(at);
        self.answer_all::<W>(at, index, flow, next);
    }

    /// Sends `next`, what the receiver's poll gave, and all that follows.
    #[inline(always)]
    pub(crate) fn answer_all<W: Way>(
        &mut self,
        at: Time,
        index: usize,
        flow: &mut Flow,
        mut next: Option<Outgoing>,
    ) {
        while let Some(sent) = next {
            let mut unit = if W::PLAIN && flow.short && sent.is_short() && sent.is_empty() {
                let place = self.segments.short.add(flow.receiver.short_header(at, sent));
                Unit::new_short(flow.headers, place, HeldBy::Application)
            } else if if W::PLAIN { !flow.short } else { flow.light } && sent.is_usual() {
                let number = flow.receiver.acknowledgement_number();
                Unit::new_compact(flow.headers, number, HeldBy::Application)
            } else {
                self.keep(at, index, flow, Side::Receiver, sent)
            };
            if !W::PLAIN {
                flow.in_network += 1;
            }
            if let Some(due) = self.network.handle_unit_at(at, flow.entries[1], &mut unit) {
                flow.coming.push_back((due, unit));
            }
            next = flow.receiver.poll(at);
        }
        flow.note_completion(at);
        if !W::PLAIN {
            self.tell_circuits(at, index, flow);
        }
        let wakeup = flow.receiver.next_wakeup();
        if wakeup != Time::NEVER {
            self.network.set_alarm(Alarms::receiver(index), wakeup);
        }
    }
}

/// A packet as it is `seen` at one end, and whom it is `from`.
fn record(
    at: Time,
    flow: usize,
    (seen, from): (Side, Side),
    segment: &Segment,
    dscp: Option<u8>,
    bytes: u32,
) -> PacketRecord {
    PacketRecord { at, flow: flow as u32, seen, from, segment: *segment, dscp, bytes }
}
