//! The two hosts of a flow whose transport is not ours: what is in the network between them, what is counted of them, and what ends
//! them.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tidegate_core::gate::DropReason;
use tidegate_core::net::{Dropped, Owner};
use tidegate_core::plan::FlowPlan;
use tidegate_core::tcp::{Counters, Endpoint};
use tidegate_core::unit::{Cause, Ecn, HeldBy, Unit};
use tidegate_core::units::{Span, Time};
use tidegate_result::Side;

use crate::host::{Ends, Host, Lost, Outgoing, Packet, Report};
use crate::in_network::{InNetwork, OnItsWay};

/// So many packets, or wake-ups in vain, within [`AT_ONCE`] are more than any stack has a use for, beside those that what its
/// application writes makes.
const MOST_AT_ONCE: u64 = 100_000;
const AT_ONCE: Span = Span::from_millis(1);

/// The hosts of a flow.
pub(crate) struct Hosted {
    /// The flow's name.
    name: String,
    /// More packets than this, or wake-ups in vain, within [`AT_ONCE`] end the run.
    most_at_once: u64,
    ends: [End; 2],
    in_network: InNetwork,
    polices: bool,
    /// Drops of data that are known and not yet due, in order of time: when, the gate, and whether its policer dropped them.
    drops: VecDeque<(Time, usize, bool)>,
    /// The policer that dropped the data packet that was dropped last.
    blamed: Option<usize>,
    /// What ended the run, and when.
    pub(crate) fault: Option<(Time, String)>,
    /// What the summary warns of.
    pub(crate) warnings: Vec<String>,
}

/// One host, and what is known of it.
struct End {
    host: Box<dyn Host>,
    report: Report,
    counters: Counters,
    /// Waits for its instant.
    held: Option<Outgoing>,
    wakeup: Time,
    sent: AtOnce,
    woken: AtOnce,
    /// Data packets that came.
    received: u64,
    /// Packets of any kind that came, and that left.
    packets: [u64; 2],
    uses_ecn: bool,
    /// It is not called any more.
    over: bool,
}

/// How often something has happened in a short time.
#[derive(Default)]
struct AtOnce {
    since: Time,
    count: u32,
}

impl AtOnce {
    /// It happens at `at`; whether that is more often than `most` times.
    fn happens(&mut self, at: Time, most: u64) -> bool {
        if at.saturating_since(self.since) > AT_ONCE {
            *self = AtOnce { since: at, count: 0 };
        }
        self.count += 1;
        u64::from(self.count) > most
    }
}

impl Hosted {
    pub(crate) fn new(flow: &FlowPlan, ends: Ends, polices: bool) -> Hosted {
        Hosted {
            name: flow.name.clone(),
            most_at_once: MOST_AT_ONCE + flow.app.writes_within(AT_ONCE),
            ends: ends.map(|host| End {
                report: host.report(),
                host,
                counters: Counters::default(),
                held: None,
                wakeup: Time::NEVER,
                sent: AtOnce::default(),
                woken: AtOnce::default(),
                received: 0,
                packets: [0; 2],
                uses_ecn: false,
                over: false,
            }),
            in_network: InNetwork::default(),
            polices,
            drops: VecDeque::new(),
            blamed: None,
            fault: None,
            warnings: Vec::new(),
        }
    }

    /// What an end said of itself last.
    pub(crate) fn report(&self, side: Side) -> &Report {
        &self.ends[side as usize].report
    }

    /// What is counted of an end.
    pub(crate) fn counters(&self, side: Side) -> &Counters {
        &self.ends[side as usize].counters
    }

    /// Its data have been sent as of a transport that uses ECN.
    pub(crate) fn uses_ecn(&self) -> bool {
        let sender = &self.ends[Side::Sender as usize];
        sender.uses_ecn || sender.report.ecn_reductions.is_some()
    }

    /// It passes a policer.
    pub(crate) fn is_policed(&self) -> bool {
        self.polices
    }

    /// What its sender is.
    pub(crate) fn transport(&self) -> String {
        self.ends[Side::Sender as usize].host.name()
    }

    /// When an end is to be woken, or what it holds leaves.
    pub(crate) fn due(&self, side: Side) -> Time {
        let End { wakeup, held, over, .. } = &self.ends[side as usize];
        let held = held.as_ref().map_or(Time::NEVER, |out| out.at);
        if *over { Time::NEVER } else { held.min(*wakeup) }
    }

    /// Calls a host that can still be called. A panic is its own: it ends the run with a sentence.
    fn call<T>(&mut self, at: Time, side: Side, what: impl FnOnce(&mut dyn Host) -> T) -> Option<T> {
        let End { host, over, .. } = &mut self.ends[side as usize];
        if *over {
            return None;
        }
        match catch_unwind(AssertUnwindSafe(|| what(&mut **host))) {
            Ok(answer) => Some(answer),
            Err(panic) => {
                let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
                let said = said.unwrap_or_else(|| "it says no more".to_owned());
                self.fail(at, side, &format!("panicked: {said}"));
                None
            }
        }
    }

    /// An end has done what ends the run.
    fn fail(&mut self, at: Time, side: Side, what: &str) {
        self.ends[side as usize].over = true;
        let sentence = format!("flow.{}: at {at} the transport of its {} {what}", self.name, side.word());
        self.fault.get_or_insert((at, sentence));
    }

    pub(crate) fn open(&mut self, at: Time, side: Side) {
        self.call(at, side, |host| host.open(at));
    }

    /// An alarm rings: the end is woken, if that is due.
    pub(crate) fn wake(&mut self, at: Time, side: Side) {
        if at < self.ends[side as usize].wakeup {
            return;
        }
        let most = self.most_at_once;
        if self.ends[side as usize].woken.happens(at, most) {
            let what = format!(
                "never sleeps: it asked to be woken {most} times within 1 ms, and neither sent a packet nor got one"
            );
            return self.fail(at, side, &what);
        }
        self.call(at, side, |host| host.handle_wakeup(at));
    }

    /// The packet of a unit in the network.
    pub(crate) fn packet(&self, unit: Unit) -> Option<&Packet> {
        self.in_network.packet(unit)
    }

    /// Whether a unit in the network carries data.
    pub(crate) fn is_data(&self, unit: Unit) -> bool {
        self.in_network.is_data(unit)
    }

    /// The packet of a unit that has come to an end.
    pub(crate) fn take(&mut self, unit: Unit) -> Option<OnItsWay> {
        self.in_network.take(unit)
    }

    pub(crate) fn handle_packet(&mut self, at: Time, side: Side, (packet, data, ecn): (Packet, bool, Ecn)) {
        let end = &mut self.ends[side as usize];
        end.packets[0] += 1;
        end.woken = AtOnce::default();
        if data {
            end.received += 1;
            end.counters.ce_received += u64::from(ecn == Ecn::Ce);
        }
        self.call(at, side, |host| host.handle_packet(at, ecn, packet));
    }

    /// The application of an end writes a message.
    pub(crate) fn write_message(&mut self, at: Time, side: Side, (number, bytes): (u64, u64)) {
        self.call(at, side, |host| host.write_message(at, number, bytes));
    }

    /// A message that has come whole to an end.
    pub(crate) fn poll_message(&mut self, at: Time, side: Side) -> Option<u64> {
        self.call(at, side, |host| host.poll_message()).flatten()
    }

    pub(crate) fn take_rtt_sample(&mut self, at: Time) -> Option<Span> {
        self.call(at, Side::Sender, |host| host.take_rtt_sample()).flatten()
    }

    /// The unit of the next packet that leaves an end now. What the end names a later instant for is held until then.
    pub(crate) fn poll_unit(&mut self, at: Time, side: Side) -> Option<Unit> {
        let out = match self.ends[side as usize].held.take_if(|held| held.at <= at) {
            Some(held) => held,
            None if self.ends[side as usize].held.is_some() => return None,
            None => self.call(at, side, |host| host.poll_transmit(at)).flatten()?,
        };
        if out.at > at {
            self.ends[side as usize].held = Some(Outgoing { held_by: HeldBy::Pacing, ..out });
            return None;
        }
        if out.ip_bytes == 0 || out.ip_bytes > u32::from(u16::MAX) {
            let what = format!("sent a packet of {} bytes; an IP packet has 1 to {}", out.ip_bytes, u16::MAX);
            self.fail(at, side, &what);
            return None;
        }
        let most = self.most_at_once;
        if self.ends[side as usize].sent.happens(at, most) {
            self.fail(at, side, &format!("sends without end: more than {most} packets within 1 ms"));
            return None;
        }
        Some(self.unit_of(at, side, out))
    }

    fn unit_of(&mut self, at: Time, side: Side, out: Outgoing) -> Unit {
        let end = &mut self.ends[side as usize];
        end.woken = AtOnce::default();
        end.packets[1] += 1;
        end.counters.segments_sent += u64::from(out.data);
        end.uses_ecn |= out.ecn != Ecn::NotEct;
        let way = OnItsWay { packet: out.packet, sent_at: at, data: out.data };
        let place = self.in_network.add(way, out.ip_bytes);
        let mut unit = Unit::new(out.ip_bytes, place, out.held_by);
        unit.set_ecn(out.ecn);
        if side == Side::Sender && !out.data {
            unit = unit.without_data();
        }
        if side == Side::Sender
            && out.held_by == HeldBy::CongestionWindow
            && let Some(gate) = self.policer(at)
        {
            unit.blame_policer(gate);
        }
        unit
    }

    /// An end has been called: what it says of itself now, and when it wants to be woken.
    pub(crate) fn settle(&mut self, at: Time, side: Side) {
        let asked = self.call(at, side, |host| (host.report(), host.next_wakeup(), host.failure()));
        let Some((report, wakeup, failure)) = asked else { return };
        let end = &mut self.ends[side as usize];
        end.wakeup = wakeup.max(at);
        end.report = report;
        end.counters = Counters {
            segments_retransmitted: report.retransmitted,
            timeouts: report.timeouts,
            fast_retransmits: report.recoveries,
            duplicates_received: report.duplicates,
            ecn_reductions: report.ecn_reductions.unwrap_or_default(),
            delivered_bytes: report.delivered_bytes,
            delivered_segments: end.received.saturating_sub(report.duplicates),
            ..end.counters
        };
        if let Some(why) = failure {
            end.over = true;
            let who = side.word();
            self.warnings.push(format!("flow.{}: at {at} its {who} ended the connection: {why}", self.name));
        }
    }

    /// A gate has dropped a packet of the flow.
    pub(crate) fn lose(&mut self, dropped: &Dropped) {
        let (side, data) = match dropped.owner {
            Owner::Data(_) => (Side::Sender, true),
            _ => (Side::Receiver, false),
        };
        let Some(OnItsWay { packet, .. }) = self.take(dropped.unit) else { return };
        if data && self.polices {
            let policed = dropped.reason == DropReason::Policed;
            // A drop may be known before an earlier one at another gate is. Of two gates that drop at one instant, the one with the larger
            // number counts as the later one.
            let drop = (dropped.at, dropped.gate, policed);
            let place = self.drops.partition_point(|other| *other <= drop);
            self.drops.insert(place, drop);
        }
        let lost = Lost { at: dropped.at, gate: dropped.gate, reason: dropped.reason, packet };
        self.call(dropped.at, side, |host| host.handle_loss(lost));
    }

    /// The policer that its congestion window is small because of: the one that dropped the data packet that was dropped last, if a
    /// policer did. What a stack sees missing is not known here, as it is of our own TCP.
    fn policer(&mut self, at: Time) -> Option<usize> {
        while let Some((_, gate, policed)) = self.drops.pop_front_if(|(when, ..)| *when < at) {
            self.blamed = policed.then_some(gate);
        }
        self.blamed
    }

    /// Whether a policer is why the congestion window is small.
    pub(crate) fn is_held_by_policer(&self) -> bool {
        self.blamed.is_some()
    }

    /// What the time is owed to from the last arrival to the end of the run.
    pub(crate) fn cause(&mut self, at: Time) -> Cause {
        let report = *self.report(Side::Sender);
        let held_by = if report.in_flight == Some(0) { HeldBy::Application } else { report.held_by };
        match (held_by, self.policer(at)) {
            (HeldBy::CongestionWindow, Some(gate)) => Cause::policer(gate),
            _ => Cause::sender(held_by),
        }
    }

    /// Warns of an end that took packets, brought nothing to its application and did not answer.
    pub(crate) fn finish(&mut self) {
        let End { packets: [came, left], report, .. } = &self.ends[Side::Receiver as usize];
        if *came > 0 && *left == 0 && report.delivered_bytes == 0 {
            let what = format!("its receiver got {came} packets, answered none and delivered nothing");
            self.warnings.push(format!("flow.{}: {what}", self.name));
        }
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        self.in_network.memory_bytes() + (self.drops.capacity() * size_of::<(Time, usize, bool)>()) as u64
    }
}

/// What an end of ours or a host has counted.
pub(crate) fn counted<'a>(hosted: &'a Option<Box<Hosted>>, side: Side, end: &'a Endpoint) -> &'a Counters {
    hosted.as_ref().map_or_else(|| end.counters(), |hosted| hosted.counters(side))
}

impl fmt::Debug for Hosted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hosted").field("name", &self.name).finish_non_exhaustive()
    }
}
