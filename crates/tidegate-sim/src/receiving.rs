//! What happens at the receiver of a flow: segments, timers, and what it answers.

use tidegate_core::net::Carrier;
use tidegate_core::tcp::Outgoing;
use tidegate_core::unit::{Handle, HeldBy, Unit};
use tidegate_core::units::Time;
use tidegate_result::Side;

use crate::alarms::Alarms;
use crate::flow::Flow;
use crate::segments::Stored;
use crate::ways::{Any, Plain, Sampled, Watched, Way};
use crate::wire::{Wire, record};

impl<N: Carrier> Wire<N> {
    /// A unit arrives at the receiver at `at`, which may be later than the network's time (run-ahead).
    #[inline(always)]
    pub(crate) fn receive(&mut self, at: Time, index: usize, flow: &mut Flow, unit: &Unit) {
        if at >= flow.receiver_rests_until || !unit.is_named_by(Handle::Number) {
            return match flow.watched {
                Watched::Not => self.receive_any(at, index, flow, *unit),
                Watched::NowAndThen => self.receive_apart::<Sampled>(at, index, flow, *unit),
                Watched::Closely => self.receive_apart::<Any>(at, index, flow, *unit),
            };
        }
        flow.meter.received(at, unit.bytes, unit.cause());
        let (number, bytes) = (unit.handle, unit.bytes - flow.headers);
        let answer = match flow.receiver.answer_expected_data(number, bytes) {
            None => flow.answer_other_data(at, number, bytes),
            expected => expected,
        };
        match answer {
            // The timer of delayed ACKs is off, and no other one has moved: no alarm need be set.
            Some(acknowledged) => {
                self.send_answer(
                    at,
                    flow,
                    Unit::new(flow.headers, acknowledged, HeldBy::Application).named_by(Handle::Number),
                );
                flow.note_completion(at);
            }
            None => self.answer_apart::<Plain>(at, index, flow),
        }
    }

    /// The same, where something may have to be done before.
    #[inline(never)]
    fn receive_any(&mut self, at: Time, index: usize, flow: &mut Flow, unit: Unit) {
        self.receive_at::<Plain>(at, index, flow, unit);
        flow.rest_receiver(self.until);
    }

    /// [`Wire::receive_at`] with registers of its own, so that callers have more for what is usual there.
    #[inline(never)]
    pub(crate) fn receive_apart<W: Way>(&mut self, at: Time, index: usize, flow: &mut Flow, unit: Unit) {
        self.receive_at::<W>(at, index, flow, unit);
    }

    #[inline(always)]
    pub(crate) fn receive_at<W: Way>(&mut self, at: Time, index: usize, flow: &mut Flow, unit: Unit) {
        if at >= self.until {
            return self.segments.forget(unit);
        }
        // With run-ahead, clients and timers that are due before this unit have not acted yet.
        if !W::PLAIN && flow.dialogue.is_some() {
            self.wake_client_before(at, index, flow);
        }
        while flow.receiver.next_wakeup() < at {
            self.wake_receiver(flow.receiver.next_wakeup(), index, flow);
        }
        flow.before_receiver(at);
        if !W::PLAIN {
            flow.in_network -= 1;
        }
        if W::PLAIN && unit.is_named_by(Handle::Number) {
            flow.meter.received(at, unit.bytes, unit.cause());
            flow.receiver.handle_usual_data(at, unit.handle, unit.bytes - flow.headers);
        } else if W::PLAIN && unit.is_named_by(Handle::Header) {
            flow.meter.received(at, unit.bytes, unit.cause());
            let Stored { sent_at, header } = self.segments.headers.take(unit);
            if W::ROWS {
                flow.note_one_way(at, sent_at);
            }
            let bytes = unit.bytes - flow.headers;
            if flow.short {
                flow.receiver.handle_short_data(at, header, bytes);
            } else {
                flow.receiver.handle_usual_data(at, header.number, bytes);
            }
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
                if W::RECORDED {
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

    #[inline(never)]
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
        if W::PLAIN
            && !flow.short
            && let Some(number) = flow.receiver.poll_usual_ack()
        {
            self.send_answer(
                at,
                flow,
                Unit::new(flow.headers, number, HeldBy::Application).named_by(Handle::Number),
            );
            return self.end_answer::<W>(at, index, flow);
        }
        self.answer_apart::<W>(at, index, flow);
    }

    /// The same of what is not a single usual ACK.
    #[inline(never)]
    fn answer_apart<W: Way>(&mut self, at: Time, index: usize, flow: &mut Flow) {
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
            let unit = if W::PLAIN && flow.short && sent.fits_header() && sent.is_empty() {
                let header = flow.receiver.short_header(at, sent);
                self.segments.unit(Time::ZERO, flow.headers, header, HeldBy::Application)
            } else if W::PLAIN && !flow.short && sent.fits_header() {
                let number = flow.receiver.acknowledgement_number();
                Unit::new(flow.headers, number, HeldBy::Application).named_by(Handle::Number)
            } else {
                self.keep(at, index, flow, Side::Receiver, sent)
            };
            if !W::PLAIN {
                flow.in_network += 1;
            }
            self.send_answer(at, flow, unit);
            next = flow.receiver.poll(at);
        }
        self.end_answer::<W>(at, index, flow);
    }

    /// What a receiver sends enters the network.
    #[inline(always)]
    fn send_answer(&mut self, at: Time, flow: &mut Flow, mut unit: Unit) {
        if let Some(due) = self.network.handle_unit_at(at, flow.entries[1], &mut unit) {
            flow.coming.push_back((due, unit));
        }
    }

    /// A receiver has sent all that it had to send.
    #[inline(always)]
    fn end_answer<W: Way>(&mut self, at: Time, index: usize, flow: &mut Flow) {
        flow.note_completion(at);
        if !W::PLAIN {
            self.tell_circuits(at, index, flow);
        }
        let wakeup = flow.receiver.next_wakeup();
        if wakeup != Time::NEVER {
            flow.receiver_rests_until = flow.receiver_rests_until.min(wakeup);
            self.network.set_alarm(Alarms::receiver(index), wakeup);
        }
    }
}

impl Flow {
    /// Usual data come to the receiver that it does not expect: what a usual ACK says that is all it answers with, if it is.
    #[inline(never)]
    fn answer_other_data(&mut self, at: Time, number: u32, bytes: u32) -> Option<u32> {
        self.receiver.handle_usual_data(at, number, bytes);
        let answer = self.receiver.poll_usual_ack();
        if answer.is_some() {
            self.receiver.expect_data(bytes);
        }
        answer
    }
}
