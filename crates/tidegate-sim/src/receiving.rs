//! What happens at the receiver of a flow: segments, timers, and what it answers.

use std::slice::Iter;

use tidegate_core::net::Carrier;
use tidegate_core::tcp::{Endpoint, Header, Outgoing, Row};
use tidegate_core::unit::{Handle, Unit};
use tidegate_core::units::Time;
use tidegate_result::Side;

use crate::alarms::Alarms;
use crate::flow::Flow;
use crate::history::History;
use crate::meter::Meter;
use crate::observed::just_before;
use crate::segments::{Segments, Style};
use crate::wire::{Departures, Wire, record};

impl<N: Carrier> Wire<N> {
    /// Units come to the receiver in order of time, which may be later than the network's (run-ahead).
    #[inline(always)]
    pub(crate) fn receive(&mut self, index: usize, flow: &mut Flow, units: &[(Time, Unit)]) {
        let mut rest = units;
        while let Some((at, unit)) = rest.first() {
            if *at >= flow.receiver_undisturbed_until && !self.act_before_data(*at, index, flow) {
                self.segments.forget(*unit);
                rest = &rest[1..];
                continue;
            }
            if unit.is_named_by(Handle::Place) {
                self.take_whole_segment(*at, index, flow, *unit);
                rest = &rest[1..];
                continue;
            }
            let mut data = Data {
                units: rest.iter(),
                latest: just_before(flow.receiver_noted_from.min(self.until)),
                style: &flow.style,
                segments: &mut self.segments,
                meter: &mut flow.meter,
                history: flow.history.as_deref_mut(),
                departures: Departures {
                    network: &mut self.network,
                    entry: flow.entries[1],
                    together: flow.carried_at_once,
                    units: &mut self.leaving[1],
                },
                wakeup: Time::NEVER,
            };
            flow.receiver.handle_row(&mut data);
            data.departures.end();
            let (left, wakeup) = (data.units.len(), data.wakeup);
            debug_assert!(left < rest.len(), "nothing is due before the first segment");
            rest = &rest[rest.len() - left..];
            self.expect_acks(flow);
            self.settle_receiver(index, flow, wakeup);
        }
    }

    /// [`Wire::receive`], outlined so that the caller keeps its values in registers.
    #[inline(never)]
    pub(crate) fn receive_apart(&mut self, index: usize, flow: &mut Flow, units: &[(Time, Unit)]) {
        self.receive(index, flow, units);
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
            packets.push(record(at, index, ends, segment, unit.codepoint(), unit.bytes));
        }
        if segment.len > 0 {
            flow.meter.received(at, unit.bytes, unit.cause());
            if let Some(history) = &mut flow.history {
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

    #[inline(never)]
    pub(crate) fn wake_receiver(&mut self, at: Time, index: usize, flow: &mut Flow) {
        flow.before_receiver(at);
        flow.receiver.handle_wakeup(at);
        self.pump_receiver(at, index, flow);
    }

    /// Sends what the receiver has to send after anything but a row of data.
    fn pump_receiver(&mut self, at: Time, index: usize, flow: &mut Flow) {
        let mut departures = Departures {
            network: &mut self.network,
            entry: flow.entries[1],
            together: flow.carried_at_once,
            units: &mut self.leaving[1],
        };
        while let Some(sent) = flow.receiver.poll(at) {
            let unit = self.segments.unit_of(at, sent, (&flow.receiver, Side::Receiver), &flow.style);
            if let Some(packets) = &mut self.packets {
                let segment = self.segments.look_at(unit);
                packets.push(record(at, index, (Side::Receiver, Side::Receiver), segment, None, unit.bytes));
            }
            flow.in_network += u32::from(flow.watched_closely);
            departures.send(at, unit);
        }
        departures.end();
        self.expect_acks(flow);
        flow.note_completion(at);
        if flow.watched_closely {
            self.tell_circuits(at, index, flow);
        }
        self.settle_receiver(index, flow, Time::NEVER);
    }

    /// ACKs that have left the receiver and are certain to come to the sender are dealt with by [`Wire::run_ahead`].
    #[inline(always)]
    fn expect_acks(&mut self, flow: &mut Flow) {
        if !self.leaving[1].is_empty() {
            flow.coming.extend(self.leaving[1].drain(..));
        }
    }

    /// The receiver has done something: it is woken when it wants to be, and at `wakeup` at the latest.
    #[inline(always)]
    fn settle_receiver(&mut self, index: usize, flow: &mut Flow, wakeup: Time) {
        let wakeup = wakeup.min(flow.receiver.next_wakeup());
        if wakeup != Time::NEVER {
            flow.receiver_undisturbed_until = flow.receiver_undisturbed_until.min(wakeup);
            self.network.set_alarm(Alarms::receiver(index), wakeup);
        }
    }
}

/// Data that come to a receiver, and what becomes of them there.
struct Data<'a, N> {
    units: Iter<'a, (Time, Unit)>,
    /// Before a segment that comes later something else may have to be done.
    latest: Time,
    style: &'a Style,
    segments: &'a mut Segments,
    meter: &'a mut Meter,
    history: Option<&'a mut History>,
    departures: Departures<'a, N>,
    /// The earliest instant at which the receiver wanted to be woken.
    wakeup: Time,
}

impl<N: Carrier> Row for Data<'_, N> {
    const DATA: bool = true;

    #[inline(always)]
    fn next_before(&mut self, wakeup: Time) -> Option<(Time, Header, u32)> {
        let (at, unit) = *self.units.as_slice().first()?;
        if at > wakeup.min(self.latest) || unit.is_named_by(Handle::Place) {
            return None;
        }
        Some((at, self.segments.header_of(unit), unit.bytes - self.style.headers))
    }

    #[inline(always)]
    fn take(&mut self) {
        let Some((at, unit)) = self.units.next() else { return };
        self.meter.received(*at, unit.bytes, unit.cause());
        if let Some(history) = &mut self.history
            && unit.is_named_by(Handle::Header)
        {
            history.note_one_way(*at, self.segments.sent_at(*unit));
        }
        self.segments.let_header_go(*unit);
    }

    #[inline(always)]
    fn sent(&mut self, at: Time, sent: Outgoing, end: &Endpoint) {
        let unit = self.segments.unit_of(at, sent, (end, Side::Receiver), self.style);
        self.departures.send(at, unit);
    }

    #[inline(always)]
    fn received(&mut self, at: Time, in_order: u64, wakeup: Time) {
        self.meter.note_in_order(at, in_order);
        self.wakeup = self.wakeup.min(wakeup);
    }
}
