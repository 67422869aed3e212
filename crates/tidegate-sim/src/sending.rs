//! What happens at the sender of a flow: ACKs, timers, its application, and what leaves.

use tidegate_core::net::Carrier;
use tidegate_core::unit::{Handle, Unit};
use tidegate_core::units::Time;
use tidegate_result::Side;

use crate::alarms::Alarms;
use crate::arriving::Arriving;
use crate::flow::Flow;
use crate::wire::{Wire, record};

impl<N: Carrier> Wire<N> {
    /// ACKs come to the sender in order of time, which may be later than the network's (run-ahead): one, or those that are certain to
    /// come. Answers with how many of them have been dealt with, one at least.
    #[inline(always)]
    pub(crate) fn acknowledge(&mut self, index: usize, flow: &mut Flow, units: &[(Time, Unit)]) -> usize {
        let Some((at, unit)) = units.first() else { return 0 };
        if *at >= flow.sender_undisturbed_until && !self.act_before_ack(*at, index, flow) {
            self.segments.forget(*unit);
            return 1;
        }
        if unit.is_named_by(Handle::Place) {
            self.take_segment(*at, index, flow, *unit);
            return 1;
        }
        let (mut taken, mut wakeup) = (0, Time::NEVER);
        loop {
            let mut acks = Arriving::<N, false> {
                units: units[taken..].iter(),
                latest: flow.sender_row_until,
                wakeup,
                style: &flow.style,
                meter: &mut flow.meter,
                policed: flow.policed.as_deref_mut(),
                wire: self,
            };
            flow.sender.handle_row(&mut acks);
            (taken, wakeup) = (units.len() - acks.units.len(), acks.wakeup);
            if taken == units.len() || !flow.takes_rows_of_sender(units[taken], self.until) {
                break;
            }
        }
        debug_assert!(taken > 0, "nothing is due before the first ACK");
        self.settle_sender(index, flow, wakeup);
        taken
    }

    /// Does at the sender what is due before an ACK that comes at `at`: timers, its application, rows. `false`: the run is over by then.
    #[inline(never)]
    fn act_before_ack(&mut self, at: Time, index: usize, flow: &mut Flow) -> bool {
        if at >= self.until {
            return false;
        }
        loop {
            let (timer, app) = (flow.sender.next_wakeup(), flow.app.next_wakeup());
            if timer.min(app) >= at {
                break;
            }
            if timer <= app { self.run_sender(timer, index, flow) } else { self.wake_app(app, index, flow) }
        }
        flow.before_sender(at);
        flow.look_ahead_of_sender(self.until);
        true
    }

    /// A segment with a whole header comes to the sender.
    #[inline(never)]
    fn take_segment(&mut self, at: Time, index: usize, flow: &mut Flow, unit: Unit) {
        flow.in_network -= u32::from(flow.watched_closely);
        let segment = self.segments.take(unit);
        if segment.connection != flow.style.connection {
            return self.tell_circuits(at, index, flow);
        }
        if let Some(rate) = flow.advised.as_ref().and_then(|advised| advised.advice_in(unit)) {
            flow.sender.set_most_rate(rate);
        }
        if let Some(packets) = &mut self.packets {
            let bytes = flow.ip_bytes(segment);
            packets.push(record(
                at,
                index,
                (Side::Sender, Side::Receiver),
                (segment, flow.stream_end),
                unit.codepoint(),
                bytes,
            ));
        }
        flow.sender.handle_segment(at, segment);
        if let Some(rtt) = flow.sender.take_rtt_sample() {
            flow.meter.sample_rtt(rtt);
            if let Some(member) = &flow.member {
                self.groups.note_round_trip(at, member, rtt);
            }
        }
        if flow.dialogue.is_some() {
            self.take_requests(at, index, flow);
        }
        self.pump_sender(at, index, flow);
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
        if flow.data_may_take_no_time {
            self.carry_data(index, flow);
            self.wake_receiver_by(at, index, flow);
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

    /// What the sender has to send after anything but a row of ACKs leaves it; [`Wire::run_ahead`] carries it.
    pub(crate) fn pump_sender(&mut self, at: Time, index: usize, flow: &mut Flow) {
        if let Some(policed) = &mut flow.policed {
            self.review(at, policed, &flow.sender, &flow.style);
        }
        while let Some(sent) = flow.sender.poll(at) {
            let mut unit = self.segments.unit_of(at, sent, (&flow.sender, Side::Sender), &flow.style);
            if let Some(packets) = &mut self.packets {
                let segment = self.segments.look_at(unit);
                packets.push(record(
                    at,
                    index,
                    (Side::Sender, Side::Sender),
                    (segment, flow.stream_end),
                    None,
                    unit.bytes,
                ));
            }
            if let Some(policed) = &flow.policed {
                policed.blame(&mut unit, sent.held_by(), &flow.sender);
            }
            if !sent.is_empty() {
                flow.advise_data(at, &mut unit);
            }
            flow.in_network += u32::from(flow.watched_closely);
            if flow.filtered {
                self.show(unit, index, Side::Sender);
            }
            self.depart(at, unit, Side::Sender, &flow.style);
        }
        flow.meter.windows.window_is(at, flow.sender.congestion_window());
        flow.note_history(at);
        if flow.watched_closely {
            flow.tell_group_of_sender(at, &mut self.groups);
            self.tell_circuits(at, index, flow);
        }
        self.settle_sender(index, flow, Time::NEVER);
    }

    /// What has left the sender passes the network if it has not yet, and what is certain to come to the receiver comes there, ahead of
    /// its time.
    #[inline(always)]
    pub(crate) fn carry_data(&mut self, index: usize, flow: &mut Flow) {
        self.enter_network(Side::Sender, &flow.style);
        if !self.departed[0].certain.is_empty() {
            let mut units = std::mem::take(&mut self.departed[0].certain);
            self.receive_all(index, flow, &units);
            units.clear();
            debug_assert!(self.departed[0].certain.is_empty(), "a receiver lets no data go");
            self.departed[0].certain = units;
        }
    }

    /// The sender has done something: it is woken when it wants to be, and at `wakeup` at the latest.
    #[inline(always)]
    fn settle_sender(&mut self, index: usize, flow: &mut Flow, wakeup: Time) {
        let wakeup = wakeup.min(flow.sender.next_wakeup());
        flow.sender_undisturbed_until = flow.sender_undisturbed_until.min(wakeup);
        self.network.set_alarm(Alarms::sender(index), wakeup);
    }
}
