//! What happened to every flow, from its packets as they came to and left the edges: the
//! numbers that the simulator knows from its own endpoints. The kernel is not asked, so they
//! hold for every kernel and every congestion control.

mod data;
mod policed;

use std::collections::BTreeMap;

use tidegate_core::gate::{DropReason, Quantiles};
use tidegate_core::net::{measured, precision};
use tidegate_core::plan::{AppPlan, Plan};
use tidegate_core::unit::{Cause, HeldBy, Limiter};
use tidegate_core::units::{Measured, Span, Time};
use tidegate_result::FirstData;

use crate::pump::PumpReport;
pub use crate::segment::Header;
use crate::segment::sack_blocks;
pub use data::Arrived;
use data::{Outgoing, Reassembly};
use policed::Policed;

/// A flow as seen from its packets; counts cover the measured time.
#[derive(Debug)]
pub struct FlowWire {
    /// Data segments that came to the sender's edge.
    pub segments_sent: u64,
    /// Of these, sent again in part or whole.
    pub segments_retransmitted: u64,
    /// IP bytes of data segments that reached the receiver; of a finite transfer, until it was done.
    pub received_bytes: u64,
    /// Data segments that reached the receiver with a mark.
    pub marked_segments: u64,
    /// User bytes, each counted when it first arrived, in order or not.
    pub delivered_bytes: u64,
    /// Data segments that brought at least one byte for the first time.
    pub delivered_segments: u64,
    /// Data segments that came, repeats included.
    pub received_segments: u64,
    /// User bytes that came in order.
    pub in_order_bytes: u64,
    /// From a segment sent once to the first ACK that reports it, at the sender's edge (`Outgoing::acknowledge`).
    pub rtt: Quantiles,
    /// Picoseconds owed to each cause.
    pub owed: Vec<(Cause, u64)>,
    /// The last byte of a finite transfer.
    pub completed: Option<Time>,
    /// What came first of a finite transfer in the measured time, if it had begun before.
    pub first_data: Option<FirstData>,
    /// Most user bytes out at once in the second half of the run.
    pub most_outstanding: u64,
    /// User bytes since the start, after each instant that brought some.
    pub progress: Vec<(Time, Arrived)>,
    /// Samples of the round trip, when they were taken.
    pub round_trips: Vec<(Time, Span)>,
    /// From the sender's edge to the receiver's, of each data segment that came there, and when.
    pub one_ways: Vec<(Time, Span)>,
    /// Whose policer is to blame for a small congestion window, from each instant at which that changes.
    pub blamed: Vec<(Time, Option<usize>)>,
    last_delivery: Time,
}

/// What held a sender back at an instant, given flow and time.
pub type HeldAt<'a> = dyn Fn(usize, Time) -> HeldBy + 'a;

/// Reads every flow of a run; `starts` are when they began.
#[must_use]
pub fn read(plan: &Plan, report: &PumpReport, starts: &[Time], held: &HeldAt<'_>) -> Vec<FlowWire> {
    let measured = measured(plan);
    let mut flows: Vec<Reader> =
        plan.flows.iter().zip(starts).map(|(flow, start)| Reader::new(plan, &flow.app, *start)).collect();
    let headers: Vec<Option<Header>> = (0..report.arrivals.len()).map(|n| header(report, n)).collect();
    let fates = fates(report);
    // Whose policer held back what came in.
    let mut policers: Vec<Option<usize>> = vec![None; headers.len()];
    // Edges see their packets in this order: what comes in at its time, what leaves when it is due.
    let mut order: Vec<(Time, bool, usize)> = Vec::with_capacity(headers.len() * 2);
    order.extend(report.arrivals.iter().enumerate().map(|(n, arrival)| (arrival.at, true, n)));
    order.extend(report.departures.iter().enumerate().map(|(n, departure)| (departure.due, false, n)));
    order.sort_unstable();
    for (at, comes, number) in order {
        if at >= measured.until {
            break;
        }
        let place = if comes { number } else { report.departures[number].arrival as usize };
        let (Some(header), arrival) = (headers[place], &report.arrivals[place]) else { continue };
        let flow = (arrival.route / 2) as usize;
        let reader = &mut flows[flow];
        match (arrival.route.is_multiple_of(2), comes) {
            (true, true) => policers[place] = reader.sent(at, header, fates[place], measured),
            (true, false) => {
                let cause = report.departures[number].cause;
                let cause = match cause.limiter() {
                    Limiter::Sender(_) => held_back(held(flow, arrival.at), policers[place]),
                    _ => cause,
                };
                if header.payload > 0 {
                    reader.wire.one_ways.push((at, at.saturating_since(arrival.at)));
                }
                if report.departures[number].marked && header.payload > 0 && at >= measured.from {
                    reader.wire.marked_segments += 1;
                }
                reader.received(at, header, arrival.bytes, cause, measured);
            }
            (false, false) => reader.acknowledged(at, header, sack_blocks(first(report, place)), measured),
            (false, true) => {}
        }
    }
    let ended = report.ended.min(measured.until);
    let finish = |(flow, mut reader): (usize, Reader)| {
        let idle = reader.connections.values().all(|connection| connection.outgoing.is_idle());
        let held = if idle { HeldBy::Application } else { held(flow, ended) };
        let blamed = reader.connections.values().find_map(|connection| connection.policed.blamed());
        reader.owe(ended, held_back(held, blamed), measured);
        reader.wire
    };
    flows.into_iter().enumerate().map(finish).collect()
}

/// What time is owed to that a sender so held back spends, where a policer may be to blame for its window.
fn held_back(held: HeldBy, policer: Option<usize>) -> Cause {
    match (held, policer) {
        (HeldBy::CongestionWindow, Some(gate)) => Cause::policer(gate),
        _ => Cause::sender(held),
    }
}

/// What became of every arrival: a gate dropped it, and which, if the gate's policer did.
fn fates(report: &PumpReport) -> Vec<Option<Option<usize>>> {
    let mut fates = vec![None; report.arrivals.len()];
    for dropped in &report.drops {
        if let Some(fate) = fates.get_mut(dropped.unit.handle as usize) {
            *fate = Some((dropped.reason == DropReason::Policed).then_some(dropped.gate));
        }
    }
    fates
}

fn header(report: &PumpReport, number: usize) -> Option<Header> {
    Header::parse(first(report, number), report.arrivals[number].bytes)
}

/// The first bytes of an arrival.
fn first(report: &PumpReport, number: usize) -> &[u8] {
    let stride = report.capture_bytes as usize;
    report.capture.get(number * stride..(number + 1) * stride).unwrap_or_default()
}

#[derive(Default)]
struct Connection {
    outgoing: Outgoing,
    reassembly: Reassembly,
    policed: Policed,
}

struct Reader {
    wire: FlowWire,
    /// By the receiver's port: connections of a flow that follow each other have any.
    connections: BTreeMap<u16, Connection>,
    /// User bytes so far, of all connections.
    total: Arrived,
    transfer: Option<u64>,
    second_half: Time,
}

impl Reader {
    fn new(plan: &Plan, app: &AppPlan, start: Time) -> Reader {
        Reader {
            wire: FlowWire {
                segments_sent: 0,
                segments_retransmitted: 0,
                received_bytes: 0,
                marked_segments: 0,
                delivered_bytes: 0,
                delivered_segments: 0,
                received_segments: 0,
                in_order_bytes: 0,
                rtt: Quantiles::new(precision(plan)),
                owed: Vec::new(),
                completed: None,
                first_data: None,
                most_outstanding: 0,
                progress: Vec::new(),
                round_trips: Vec::new(),
                one_ways: Vec::new(),
                blamed: Vec::new(),
                last_delivery: start,
            },
            connections: BTreeMap::new(),
            total: Arrived::default(),
            second_half: Time::from_picos(plan.duration.picos() / 2),
            transfer: match app {
                AppPlan::Transfer { bytes } => Some(*bytes),
                _ => None,
            },
        }
    }

    /// The sender's kernel hands over a packet, and this becomes of it. Says which policer is to blame for
    /// what the congestion window has held back.
    fn sent(
        &mut self,
        at: Time,
        header: Header,
        fate: Option<Option<usize>>,
        measured: Measured,
    ) -> Option<usize> {
        let connection = self.connections.entry(header.ports[1]).or_default();
        if header.syn {
            if connection.outgoing.begin(header.seq) {
                connection.policed = Policed::default();
            }
            connection.reassembly.begin(header.seq);
        } else if header.payload > 0 {
            let (start, highest) = connection.outgoing.place(header.seq);
            let again = connection.outgoing.send(at, header.seq, header.payload);
            connection.policed.send(start, highest, again, fate);
            if at >= measured.from {
                self.wire.segments_sent += 1;
                self.wire.segments_retransmitted += u64::from(again);
            }
            if at >= self.second_half {
                self.wire.most_outstanding =
                    self.wire.most_outstanding.max(connection.outgoing.outstanding());
            }
        }
        let blamed = connection.policed.blamed();
        if self.wire.blamed.last().and_then(|(_, last)| *last) != blamed {
            self.wire.blamed.push((at, blamed));
        }
        blamed
    }

    /// A packet leaves for the sender.
    fn acknowledged(
        &mut self,
        at: Time,
        header: Header,
        blocks: impl Iterator<Item = (u32, u32)>,
        measured: Measured,
    ) {
        if !header.is_ack || header.syn {
            return;
        }
        let connection = self.connections.entry(header.ports[0]).or_default();
        let sent = connection.outgoing.acknowledge(header.ack, blocks);
        connection.policed.acknowledge(connection.outgoing.acknowledged());
        if let Some(sent) = sent {
            let took = at.saturating_since(sent);
            self.wire.round_trips.push((at, took));
            if at >= measured.from {
                self.wire.rtt.record(took);
            }
        }
    }

    /// A packet leaves for the receiver.
    fn received(&mut self, at: Time, header: Header, bytes: u32, cause: Cause, measured: Measured) {
        if header.payload == 0 {
            return;
        }
        let inside = at >= measured.from;
        let crosses = inside && self.transfer.is_some() && self.wire.received_segments == 0;
        let before = Some(self.wire.last_delivery).filter(|before| crosses && *before < measured.from);
        self.wire.received_segments += u64::from(inside);
        if inside && self.wire.completed.is_none() {
            self.wire.received_bytes += u64::from(bytes);
        }
        self.owe(at, cause, measured);
        let connection = self.connections.entry(header.ports[1]).or_default();
        let new = connection.reassembly.take(header.seq, header.payload);
        if let Some(before) = before {
            let (delivered_bytes, in_order_bytes, received_bytes) =
                (new.bytes, new.in_order, u64::from(bytes));
            self.wire.first_data =
                Some(FirstData { before, at, delivered_bytes, in_order_bytes, received_bytes });
        }
        if new.bytes == 0 {
            return;
        }
        if inside {
            self.wire.delivered_bytes += new.bytes;
            self.wire.delivered_segments += 1;
            self.wire.in_order_bytes += new.in_order;
        }
        self.total.bytes += new.bytes;
        self.total.in_order += new.in_order;
        self.wire.progress.push((at, self.total));
        if self.wire.completed.is_none() && self.transfer.is_some_and(|whole| self.total.in_order >= whole) {
            self.wire.completed = Some(at);
        }
    }

    /// The time since the delivery before is owed to what made this one come when it did.
    fn owe(&mut self, at: Time, cause: Cause, measured: Measured) {
        let span = measured.overlap(self.wire.last_delivery, at);
        self.wire.last_delivery = at.max(self.wire.last_delivery);
        match self.wire.owed.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, owed)) => *owed += span,
            None => self.wire.owed.push((cause, span)),
        }
    }
}
