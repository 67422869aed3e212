//! What happens at the sender of a flow: ACKs, timers, its application, and what leaves.

use tidegate_core::net::Carrier;
use tidegate_core::tcp::Outgoing;
use tidegate_core::unit::{Handle, Unit};
use tidegate_core::units::Time;
use tidegate_result::Side;

use crate::alarms::Alarms;
use crate::flow::Flow;
use crate::streams::Kind;
use crate::ways::{Any, Plain, Sampled, Watched, Way};
use crate::wire::{Wire, record};

impl<N: Carrier> Wire<N> {
    /// An ACK arrives at the sender at `at`, which may be later than the network's time (run-ahead).
    #[inline(always)]
    pub(crate) fn acknowledge(&mut self, at: Time, index: usize, flow: &mut Flow, unit: &Unit) {
        if at >= flow.sender_rests_until || !unit.is_named_by(Handle::Number) {
            return match flow.watched {
                Watched::Not => self.acknowledge_any(at, index, flow, *unit),
                Watched::NowAndThen => self.take_ack_apart::<Sampled>(at, index, flow, *unit),
                Watched::Closely => self.take_ack_apart::<Any>(at, index, flow, *unit),
            };
        }
        self.take_usual_ack::<Plain>(at, index, flow, *unit);
    }

    /// The same, where something may have to be done before.
    #[inline(never)]
    fn acknowledge_any(&mut self, at: Time, index: usize, flow: &mut Flow, unit: Unit) {
        self.take_ack::<Plain>(at, index, flow, unit);
        flow.rest_sender(self.until);
    }

    /// [`Wire::take_ack`] with registers of its own, so that callers have more for what is usual there.
    #[inline(never)]
    fn take_ack_apart<W: Way>(&mut self, at: Time, index: usize, flow: &mut Flow, unit: Unit) {
        self.take_ack::<W>(at, index, flow, unit);
    }

    #[inline(always)]
    pub(crate) fn take_ack<W: Way>(&mut self, at: Time, index: usize, flow: &mut Flow, unit: Unit) {
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
        if W::PLAIN && unit.is_named_by(Handle::Number) {
            return self.take_usual_ack::<W>(at, index, flow, unit);
        }
        self.take_other_ack::<W>(at, index, flow, unit);
    }

    /// A compact ACK of a plain flow; what was due before it has happened.
    #[inline(always)]
    fn take_usual_ack<W: Way>(&mut self, at: Time, index: usize, flow: &mut Flow, unit: Unit) {
        let timer = flow.sender.timer();
        if let Some(rtt) = flow.sender.answer_oldest_acked(at, unit.handle) {
            flow.sample_rtt::<W>(rtt);
            self.send_steadily::<W>(at, index, flow);
            // A timer that moves to a later time need not be told of.
            if flow.sender.timer() < timer {
                self.settle_sender(index, flow);
            }
            return;
        }
        self.take_other_ack::<W>(at, index, flow, unit);
    }

    /// An ACK that is not one of the oldest segment at a steady sender; what was due before it has happened.
    #[inline(never)]
    fn take_other_ack<W: Way>(&mut self, at: Time, index: usize, flow: &mut Flow, unit: Unit) {
        if W::PLAIN && unit.is_named_by(Handle::Number) {
            let next = flow.sender.answer_usual_ack(at, unit.handle);
            if let Some(rtt) = flow.sender.take_rtt_sample() {
                flow.sample_rtt::<W>(rtt);
            }
            return self.send_all::<W>(at, index, flow, next);
        }
        if W::PLAIN && unit.is_named_by(Handle::Header) {
            let ack = self.segments.headers.take(unit).header;
            let next = flow.sender.answer_short_ack(at, &ack);
            if let Some(rtt) = flow.sender.take_rtt_sample() {
                flow.sample_rtt::<W>(rtt);
            }
            return self.send_all::<W>(at, index, flow, next);
        }
        {
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
        let window = flow.sender.steady_window();
        let last_start = flow.sender.last_steady_start(window);
        while let Some((sent, number)) = flow.sender.poll_steadily(at, last_start) {
            let bytes = flow.headers + sent.len();
            let mut unit = if W::ROWS {
                self.segments.unit(at, bytes, number.to_short(), sent.held_by())
            } else {
                Unit::new(bytes, number, sent.held_by()).named_by(Handle::Number)
            };
            if let Some(due) = self.network.handle_unit_at(at, flow.entries[0], &mut unit) {
                self.receive_apart::<W>(due, index, flow, unit);
            }
        }
        flow.meter.windows.window_is(at, window);
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
            let usual = W::PLAIN && !flow.short && sent.fits_header() && !sent.is_empty();
            let mut unit = if usual && !W::ROWS {
                let bytes = flow.headers + sent.len();
                let number = flow.sender.sequence_number(sent);
                Unit::new(bytes, number, sent.held_by()).named_by(Handle::Number)
            } else {
                self.unit_with_header::<W>(at, index, flow, sent)
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
        if W::RECORDED {
            flow.note_history(at);
        }
        if !W::PLAIN {
            flow.tell_group_of_sender(at, &mut self.groups);
            self.tell_circuits(at, index, flow);
        }
        self.settle_sender(index, flow);
    }

    /// What stands for a segment that leaves the sender and has a header, short or whole.
    #[inline(never)]
    fn unit_with_header<W: Way>(&mut self, at: Time, index: usize, flow: &Flow, sent: Outgoing) -> Unit {
        let bytes = flow.headers + sent.len();
        if W::PLAIN && sent.fits_header() && !sent.is_empty() {
            self.segments.unit(at, bytes, flow.sender.short_header(at, sent), sent.held_by())
        } else {
            self.keep(at, index, flow, Side::Sender, sent)
        }
    }
}
