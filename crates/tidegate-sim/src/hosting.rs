//! What happens at the ends of a flow of hosts: packets and alarms come, and packets leave.

use std::sync::Arc;

use tidegate_core::net::{Carrier, Dropped};
use tidegate_core::tcp::Segment;
use tidegate_core::unit::Unit;
use tidegate_core::units::Time;
use tidegate_result::{PacketRecord, Side};

use crate::alarms::{Alarm, Alarms};
use crate::flow::Flow;
use crate::host::Packet;
use crate::in_network::OnItsWay;
use crate::simulation::Simulation;
use crate::wire::{Wire, record};

impl Simulation {
    /// A unit comes to the end of its route, in a run that has hosts or must find drops; whether a host took it.
    #[inline(never)]
    pub(crate) fn attend_delivery(&mut self, at: Time, route: usize, unit: Unit) -> bool {
        let index = route / 2;
        self.find_drops(index);
        let flow = &mut self.flows[index];
        if flow.hosted.is_none() {
            return false;
        }
        let side = if route.is_multiple_of(2) { Side::Receiver } else { Side::Sender };
        self.wire.bring_to_host(at, (index, side), flow, unit);
        true
    }

    /// An alarm rings in a run that has hosts or must find drops; whether it was for a host.
    #[inline(never)]
    pub(crate) fn attend_alarm(&mut self, at: Time, alarm: Alarm) -> bool {
        if let Alarm::Sender(index) = alarm {
            self.find_drops(index);
        }
        let (index, side) = match alarm {
            Alarm::Server(_) => return false,
            Alarm::Sender(index) => (index, Some(Side::Sender)),
            Alarm::Receiver(index) => (index, Some(Side::Receiver)),
            Alarm::Application(index) => (index, None),
        };
        let flow = &mut self.flows[index];
        if flow.hosted.is_none() {
            return false;
        }
        match side {
            Some(side) => self.wire.wake_host(at, (index, side), flow),
            None if flow.dialogue.is_some() => self.wire.wake_hosted_client(at, index, flow),
            None => self.wire.open_hosts(at, index, flow),
        }
        true
    }

    /// A unit of a flow is dropped; whether it was a host's.
    pub(crate) fn attend_drop(&mut self, dropped: &Dropped, index: usize) -> bool {
        let Some(hosted) = &mut self.flows[index].hosted else { return false };
        hosted.lose(dropped);
        true
    }

    /// One end of a flow of hosts has something to send, or another wake-up, or more to say.
    pub(crate) fn touch_host(&mut self, at: Time, index: usize, side: Side) -> Result<(), String> {
        let flow = &mut self.flows[index];
        self.wire.host_acts(at, (index, side), flow, |_| {});
        match &flow.hosted_mut().fault {
            Some((_, sentence)) => Err(sentence.clone()),
            None => Ok(()),
        }
    }

    /// Does the next thing that happens before `to`, if anything does.
    pub(crate) fn take_step(&mut self, to: Time) -> bool {
        let step = self.wire.network.poll_step(to);
        step.map(|step| self.handle(step)).is_some()
    }

    /// No event happens before this.
    pub(crate) fn next_event(&self) -> Time {
        self.wire.network.next_wakeup()
    }

    /// What a host did first that ends the run.
    pub(crate) fn fault(&self) -> Option<String> {
        let faults = self.flows.iter().filter_map(|flow| flow.hosted.as_ref()?.fault.as_ref());
        faults.min_by_key(|(at, _)| *at).map(|(_, sentence)| sentence.clone())
    }
}

impl<N: Carrier> Wire<N> {
    /// The flow begins: first at its receiver, then at its sender.
    pub(crate) fn open_hosts(&mut self, at: Time, index: usize, flow: &mut Flow) {
        if std::mem::replace(&mut flow.started, true) {
            return;
        }
        // No host says when a transfer ends.
        if flow.has_circuit() {
            self.network.handle_transfer(at, index, true);
        }
        for side in [Side::Receiver, Side::Sender] {
            self.host_acts(at, (index, side), flow, |flow| {
                flow.hosted_mut().open(at, side);
            });
        }
    }

    fn wake_host(&mut self, at: Time, (index, side): (usize, Side), flow: &mut Flow) {
        let due = flow.hosted_mut().due(side);
        if at >= due {
            self.host_acts(at, (index, side), flow, |flow| flow.hosted_mut().wake(at, side));
        } else if due != Time::NEVER {
            self.network.set_alarm(alarm(index, side), due);
        }
    }

    fn bring_to_host(&mut self, at: Time, (index, side): (usize, Side), flow: &mut Flow, unit: Unit) {
        let from = side.other();
        self.capture(at, (index, from, side), flow, unit);
        let Some(way) = flow.hosted_mut().take(unit) else { return };
        let OnItsWay { packet, sent_at, data } = way;
        self.host_acts(at, (index, side), flow, |flow| {
            if data && side == Side::Receiver {
                flow.hear_advice(at, unit);
                flow.meter.received(at, unit.bytes, unit.cause());
                if let Some(history) = &mut flow.meter.history {
                    history.note_one_way(at, sent_at);
                }
            }
            flow.hosted_mut().handle_packet(at, side, (packet, data, unit.ecn()));
        });
    }

    fn sample_host(&mut self, at: Time, flow: &mut Flow) {
        let Some(rtt) = flow.hosted_mut().take_rtt_sample(at) else { return };
        flow.meter.sample_rtt(rtt);
        if let Some(member) = &flow.member {
            self.groups.note_round_trip(at, member, rtt);
        }
    }

    /// Something happens at one end at `at`; then leaves what it has to send.
    pub(crate) fn host_acts(
        &mut self,
        at: Time,
        (index, side): (usize, Side),
        flow: &mut Flow,
        what: impl FnOnce(&mut Flow),
    ) {
        match side {
            Side::Sender => flow.before_sender(at),
            Side::Receiver => flow.before_receiver(at),
        }
        what(flow);
        if flow.dialogue.is_some() {
            self.take_messages(at, (index, side), flow);
        }
        self.pump_host(at, (index, side), flow);
    }

    /// Sends what a host has to send, and asks what it says of itself.
    pub(crate) fn pump_host(&mut self, at: Time, (index, side): (usize, Side), flow: &mut Flow) {
        let entry = flow.style.entries[side as usize];
        if side == Side::Sender {
            self.sample_host(at, flow);
        }
        while let Some(mut unit) = flow.hosted_mut().poll_unit(at, side) {
            if side == Side::Sender && flow.hosted_mut().is_data(unit) {
                flow.advise_data(at, &mut unit);
            }
            self.capture(at, (index, side, side), flow, unit);
            let ahead = self.network.handle_unit_at(at, entry, &mut unit);
            debug_assert!(ahead.is_none(), "hosts are never ahead of the network");
        }
        let hosted = flow.hosted_mut();
        hosted.settle(at, side);
        let due = hosted.due(side);
        match side {
            Side::Sender => self.note_sending_host(at, flow),
            Side::Receiver => self.note_receiving_host(at, flow),
        }
        if due != Time::NEVER {
            self.network.set_alarm(alarm(index, side), due);
        }
    }

    /// A packet is seen at an end.
    fn capture(&mut self, at: Time, (index, from, seen): (usize, Side, Side), flow: &Flow, unit: Unit) {
        let Some(packets) = &mut self.packets else { return };
        let Some(packet) = flow.hosted.as_ref().and_then(|hosted| hosted.packet(unit)) else { return };
        let (segment, payload) = match packet {
            Packet::Segment(segment) => (**segment, None),
            Packet::Bytes(bytes) => (Segment::default(), Some(Arc::from(bytes.as_slice()))),
        };
        let ends = flow.stream_end.filter(|_| payload.is_none());
        let segment = Segment { ecn: unit.ecn(), ..segment };
        let dscp = if seen == from { None } else { unit.codepoint() };
        let shown = record(at, index, (seen, from), (&segment, ends), dscp, unit.bytes);
        packets.push(PacketRecord { payload, ..shown });
    }

    fn note_sending_host(&mut self, at: Time, flow: &mut Flow) {
        let window = flow.hosted_mut().report(Side::Sender).window;
        // What it says before it begins counts from there.
        flow.meter.windows.window_is(at.max(flow.start), window.unwrap_or_default() as u64);
        flow.note_history_of_host(at);
        flow.tell_group_of_sender(at, &mut self.groups);
    }

    fn note_receiving_host(&mut self, at: Time, flow: &mut Flow) {
        let in_order = flow.hosted_mut().report(Side::Receiver).in_order_bytes;
        flow.meter.note_in_order(at, in_order);
        flow.note_arrival(at);
        flow.tell_group_of_receiver(at, &mut self.groups);
    }
}

fn alarm(index: usize, side: Side) -> usize {
    match side {
        Side::Sender => Alarms::sender(index),
        Side::Receiver => Alarms::receiver(index),
    }
}
