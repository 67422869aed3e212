//! What happens at the receiver of a flow: segments, timers, and what it answers.

use tidegate_core::net::Carrier;
use tidegate_core::unit::{Handle, Unit};
use tidegate_core::units::Time;
use tidegate_result::Side;

use crate::alarms::Alarms;
use crate::arriving::Arriving;
use crate::flow::Flow;
use crate::wire::{Wire, record};

impl<N: Carrier> Wire<N> {
    /// Units come to the receiver in order of time, which may be later than the network's (run-ahead). Answers with how many of them
    /// have been dealt with, one at least.
    #[inline(always)]
    pub(crate) fn receive(&mut self, index: usize, flow: &mut Flow, units: &[(Time, Unit)]) -> usize {
        let Some((at, unit)) = units.first() else { return 0 };
        if *at >= flow.receiver_undisturbed_until && !self.act_before_data(*at, index, flow) {
            self.segments.forget(*unit);
            return 1;
        }
        if unit.is_named_by(Handle::Place) {
            self.take_whole_segment(*at, index, flow, *unit);
            return 1;
        }
        let (mut taken, mut wakeup) = (0, Time::NEVER);
        loop {
            let mut data = Arriving::<N, true> {
                units: units[taken..].iter(),
                latest: flow.receiver_row_until,
                wakeup,
                style: &flow.style,
                meter: &mut flow.meter,
                policed: None,
                wire: self,
            };
            flow.receiver.handle_row(&mut data);
            (taken, wakeup) = (units.len() - data.units.len(), data.wakeup);
            if taken == units.len() || !flow.takes_rows_of_receiver(units[taken], self.until) {
                break;
            }
        }
        debug_assert!(taken > 0, "nothing is due before the first segment");
        self.settle_receiver(index, flow, wakeup);
        taken
    }

    /// All of `units` come to the receiver.
    #[inline(never)]
    pub(crate) fn receive_all(&mut self, index: usize, flow: &mut Flow, mut units: &[(Time, Unit)]) {
        while !units.is_empty() {
            let taken = self.receive(index, flow, units);
            units = &units[taken..];
        }
    }

    /// Does at the receiver what is due before a segment that comes at `at`: timers, its client, rows. `false`: the run is over by then.
    #[inline(never)]
    fn act_before_data(&mut self, at: Time, index: usize, flow: &mut Flow) -> bool {
        if at >= self.until {
            return false;
        }
        if flow.dialogue.is_some() {
            self.wake_client_before(at, index, flow);
        }
        while flow.receiver.next_wakeup() < at {
            self.wake_receiver(flow.receiver.next_wakeup(), index, flow);
        }
        flow.before_receiver(at);
        flow.look_ahead_of_receiver(self.until);
        true
    }

    /// A segment with a whole header comes to the receiver.
    #[inline(never)]
    fn take_whole_segment(&mut self, at: Time, index: usize, flow: &mut Flow, unit: Unit) {
        flow.in_network -= u32::from(flow.watched_closely);
        let segment = self.segments.take(unit);
        if segment.connection != flow.style.connection {
            return self.tell_circuits(at, index, flow);
        }
        if let Some(packets) = &mut self.packets {
            let ends = (Side::Receiver, Side::Sender);
            packets.push(record(at, index, ends, (segment, flow.stream_end), unit.codepoint(), unit.bytes));
        }
        if segment.len > 0 {
            flow.hear_advice(at, unit);
            flow.meter.received(at, unit.bytes, unit.cause());
            if let Some(history) = &mut flow.meter.history {
                history.note_one_way(at, segment.sent_at);
            }
        }
        flow.receiver.handle_segment(at, segment);
        if flow.watched_closely {
            flow.tell_group_of_receiver(at, &mut self.groups);
            if flow.dialogue.is_some() {
                self.take_responses(at, index, flow);
            }
        }
        self.pump_receiver(at, index, flow);
    }

    /// The timers of a receiver that expire by `at`: at one instant they come before what an application writes.
    #[cold]
    pub(crate) fn wake_receiver_by(&mut self, at: Time, index: usize, flow: &mut Flow) {
        while flow.receiver.next_wakeup() <= at {
            self.wake_receiver(flow.receiver.next_wakeup(), index, flow);
        }
    }

    #[inline(never)]
    pub(crate) fn wake_receiver(&mut self, at: Time, index: usize, flow: &mut Flow) {
        flow.before_receiver(at);
        flow.receiver.handle_wakeup(at);
        self.pump_receiver(at, index, flow);
    }

    /// What the receiver has to send after anything but a row of data leaves it; [`Wire::run_ahead`] carries it.
    #[inline(always)]
    fn pump_receiver(&mut self, at: Time, index: usize, flow: &mut Flow) {
        while let Some(sent) = flow.receiver.poll(at) {
            let mut unit = self.segments.unit_of(at, sent, (&flow.receiver, Side::Receiver), &flow.style);
            if let Some(advised) = &mut flow.advised {
                advised.handle_answer_sent(at, &mut unit);
            }
            if let Some(packets) = &mut self.packets {
                let segment = self.segments.look_at(unit);
                packets.push(record(
                    at,
                    index,
                    (Side::Receiver, Side::Receiver),
                    (segment, flow.stream_end),
                    None,
                    unit.bytes,
                ));
            }
            flow.in_network += u32::from(flow.watched_closely);
            if flow.filtered {
                self.show(unit, index, Side::Receiver);
            }
            self.depart(at, unit, Side::Receiver, &flow.style);
        }
        flow.note_completion(at);
        if flow.watched_closely {
            flow.note_arrival(at);
            self.tell_circuits(at, index, flow);
        }
        self.settle_receiver(index, flow, flow.receiver.next_wakeup());
    }

    /// What has left the receiver passes the network if it has not yet. The ACKs that are certain to come to the sender are dealt with
    /// by [`Wire::run_ahead`].
    #[inline(always)]
    pub(crate) fn carry_acks(&mut self, flow: &mut Flow) {
        self.enter_network(Side::Receiver, &flow.style);
        let certain = &mut self.departed[1].certain;
        if certain.is_empty() {
            return;
        }
        if flow.coming.is_empty() {
            std::mem::swap(&mut flow.coming, certain);
        } else {
            flow.coming.append(certain);
        }
    }

    /// The receiver has done something, and wants to be woken at `wakeup`, if ever.
    #[inline(always)]
    fn settle_receiver(&mut self, index: usize, flow: &mut Flow, wakeup: Time) {
        if wakeup != Time::NEVER {
            flow.receiver_undisturbed_until = flow.receiver_undisturbed_until.min(wakeup);
            self.network.set_alarm(Alarms::receiver(index), wakeup);
        }
    }
}
