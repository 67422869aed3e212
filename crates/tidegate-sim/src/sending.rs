//! What happens at the sender of a flow: ACKs, timers, its application, and what leaves.

use std::slice::Iter;

use tidegate_core::net::Carrier;
use tidegate_core::tcp::{Counters, Endpoint, Header, Outgoing, Row};
use tidegate_core::unit::{Handle, Unit};
use tidegate_core::units::{Span, Time};
use tidegate_result::Side;

use crate::alarms::Alarms;
use crate::flow::Flow;
use crate::history::History;
use crate::meter::Meter;
use crate::observed::just_before;
use crate::segments::{Segments, Style};
use crate::wire::{Departures, Wire, record};

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
        let latest = just_before(flow.sender_noted_from.min(self.until)).min(flow.app.next_wakeup());
        let mut acks = Acks {
            units: units.iter(),
            latest,
            style: &flow.style,
            segments: &mut self.segments,
            meter: &mut flow.meter,
            history: flow.history.as_deref_mut(),
            departures: Departures {
                network: &mut self.network,
                entry: flow.entries[0],
                together: flow.carried_at_once,
                units: &mut self.leaving[0],
            },
            wakeup: Time::NEVER,
        };
        flow.sender.handle_row(&mut acks);
        acks.departures.end();
        let (taken, wakeup) = (units.len() - acks.units.len(), acks.wakeup);
        debug_assert!(taken > 0, "nothing is due before the first ACK");
        self.receive_ahead(index, flow);
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
        if let Some(packets) = &mut self.packets {
            let bytes = flow.ip_bytes(segment);
            packets.push(record(at, index, (Side::Sender, Side::Receiver), segment, unit.codepoint(), bytes));
        }
        flow.sender.handle_segment(at, segment);
        if let Some(rtt) = flow.sender.take_rtt_sample() {
            flow.sample_rtt(rtt);
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

    /// Sends what the sender has to send after anything but a row of ACKs.
    pub(crate) fn pump_sender(&mut self, at: Time, index: usize, flow: &mut Flow) {
        if let Some(policed) = &mut flow.policed {
            policed.review(at, &flow.sender);
        }
        let mut departures = Departures {
            network: &mut self.network,
            entry: flow.entries[0],
            together: flow.carried_at_once,
            units: &mut self.leaving[0],
        };
        while let Some(sent) = flow.sender.poll(at) {
            let mut unit = self.segments.unit_of(at, sent, (&flow.sender, Side::Sender), &flow.style);
            if let Some(packets) = &mut self.packets {
                let segment = self.segments.look_at(unit);
                packets.push(record(at, index, (Side::Sender, Side::Sender), segment, None, unit.bytes));
            }
            if let Some(policed) = &flow.policed {
                policed.blame(&mut unit, sent.held_by(), &flow.sender);
            }
            flow.in_network += u32::from(flow.watched_closely);
            departures.send(at, unit);
        }
        departures.end();
        self.receive_ahead(index, flow);
        flow.meter.windows.window_is(at, flow.sender.congestion_window());
        flow.note_history(at);
        if flow.watched_closely {
            flow.tell_group_of_sender(at, &mut self.groups);
            self.tell_circuits(at, index, flow);
        }
        self.settle_sender(index, flow, Time::NEVER);
    }

    /// What has left the sender and is certain to come to the receiver comes there, ahead of its time.
    #[inline(always)]
    fn receive_ahead(&mut self, index: usize, flow: &mut Flow) {
        if !self.leaving[0].is_empty() {
            let mut units = std::mem::take(&mut self.leaving[0]);
            self.receive_apart(index, flow, &units);
            units.clear();
            self.leaving[0] = units;
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

/// ACKs that come to a sender, and what becomes of them there.
struct Acks<'a, N> {
    units: Iter<'a, (Time, Unit)>,
    /// Before an ACK that comes later something else may have to be done.
    latest: Time,
    style: &'a Style,
    segments: &'a mut Segments,
    meter: &'a mut Meter,
    history: Option<&'a mut History>,
    departures: Departures<'a, N>,
    /// The earliest instant at which the sender's timer was to expire.
    wakeup: Time,
}

impl<N: Carrier> Row for Acks<'_, N> {
    const DATA: bool = false;

    #[inline(always)]
    fn next_before(&mut self, wakeup: Time) -> Option<(Time, Header, u32)> {
        let (at, unit) = *self.units.as_slice().first()?;
        if at > wakeup.min(self.latest) || unit.is_named_by(Handle::Place) {
            return None;
        }
        Some((at, self.segments.header_of(unit), 0))
    }

    #[inline(always)]
    fn take(&mut self) {
        if let Some((_, unit)) = self.units.next() {
            self.segments.let_header_go(*unit);
        }
    }

    #[inline(always)]
    fn wakes(&mut self, wakeup: Time) -> bool {
        wakeup <= self.latest && self.units.as_slice().first().is_some_and(|(at, _)| wakeup < *at)
    }

    #[inline(always)]
    fn sampled(&mut self, _at: Time, rtt: Span) {
        self.meter.rtt.record(rtt);
        if let Some(history) = &mut self.history {
            history.round_trip = Some(rtt);
        }
    }

    #[inline(always)]
    fn sent(&mut self, at: Time, sent: Outgoing, end: &Endpoint) {
        let unit = self.segments.unit_of(at, sent, (end, Side::Sender), self.style);
        self.departures.send(at, unit);
    }

    #[inline(always)]
    fn answered(&mut self, at: Time, window: u64, expires: Time) {
        self.meter.windows.window_is(at, window);
        self.wakeup = self.wakeup.min(expires);
    }

    #[inline(always)]
    fn counted(&mut self, at: Time, counters: &Counters) {
        if let Some(history) = &mut self.history {
            history.mark(at, counters);
        }
    }
}
