//! This program's congestion controllers, and those that users write, as controllers of quinn's.
//!
//! Facts that quinn tells later than TCP's endpoint, or not at all:
//! - What an ACK proves lost is told after the ACK itself, so [`Ack::lost`] has it one ACK later.
//! - A mark is told, but not how much was marked; controllers that need the extent (DCTCP, Prague) are refused with the scenario.
//! - No reduction is taken back: quinn does not look for spurious losses.
//!
//! A window of N segments lets N of the largest packets go: the plan has their payload as its segment.
//!
//! A recovery period begins with a loss or a mark, and ends when a packet is acknowledged that was sent after it began (RFC 9002 §7.3.2).

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerMetrics};
use tidegate_core::cc::{self, Ack, Acked, LossKind, Lost, MeasuredTrip, Repair};
use tidegate_core::tcp::{Sampler, SentWith};
use tidegate_core::units::Rate;

use crate::clock::{Clock, span};
use crate::watch::Seen;

/// No window is larger: quinn's pacer multiplies it.
const LARGEST_WINDOW: u64 = 1 << 30;

/// A packet that is in flight, or has been.
#[derive(Clone, Copy, Debug)]
struct Record {
    sent: Instant,
    bytes: u64,
    /// Bytes of all packets up to its end.
    end: u64,
    acked: bool,
}

/// What the packets of one ACK add up to.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    bytes: u64,
    packets: u32,
    /// Of those, what was sent after the last recovery period had begun.
    new_bytes: u64,
    new_packets: u32,
    /// Bytes in flight before.
    in_flight: u64,
    /// When the newest packet was sent.
    newest: Option<Instant>,
}

struct State {
    controller: cc::Controller,
    clock: Clock,
    /// Oldest first; the first has number `first`.
    records: VecDeque<Record>,
    first: u64,
    sampler: Sampler,
    sent_bytes: u64,
    /// Where the newest packet ends that was acknowledged.
    acked_end: u64,
    in_flight: u64,
    lost_bytes: u64,
    /// Of `lost_bytes`, what the controller has been told with an ACK.
    told_lost: u64,
    last_sent: Option<Instant>,
    recovery_start: Option<Instant>,
    recovering: bool,
    batch: Batch,
    established: bool,
    seen: Arc<Seen>,
    /// Bytes of the largest packet that quinn sends now.
    largest_packet: u64,
    /// As the last ACK found it.
    estimator: Option<RttEstimator>,
}

/// A controller of this program, as quinn's.
pub(crate) struct Ours(Arc<Mutex<State>>);

impl Ours {
    /// `mtu`: bytes of the largest packet at first.
    pub(crate) fn new(controller: cc::Controller, clock: Clock, mtu: u16, seen: Arc<Seen>) -> Ours {
        Ours(Arc::new(Mutex::new(State {
            controller,
            clock,
            records: VecDeque::new(),
            first: 0,
            sampler: Sampler::default(),
            sent_bytes: 0,
            acked_end: 0,
            in_flight: 0,
            lost_bytes: 0,
            told_lost: 0,
            last_sent: None,
            recovery_start: None,
            recovering: false,
            batch: Batch::default(),
            established: false,
            seen,
            largest_packet: u64::from(mtu),
            estimator: None,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The window that quinn is to keep. quinn keeps what is in flight below it; ours may be reached.
    fn window(&self) -> u64 {
        self.controller.window().clamp(self.least_window(), LARGEST_WINDOW) + 1
    }

    /// Two packets are what RFC 9002 §7.2 recommends. DEVIATION: one for an end that has sent user bytes, as over TCP one segment goes.
    /// The others, which shake hands or only answer, need two: quinn sends no ACK while its window has no room for what it has to say
    /// beside it, and then two ends wait for each other.
    fn least_window(&self) -> u64 {
        let packets = if self.seen.has_sent_data() { 1 } else { 2 };
        packets * self.largest_packet
    }

    fn handle_sent(&mut self, now: Instant, bytes: u64) {
        let at = self.clock.time(now);
        let none_out = self.in_flight == 0;
        if none_out && let Some(last) = self.last_sent {
            self.controller.handle_resumed(at, span(now.saturating_duration_since(last)));
        }
        self.last_sent = Some(now);
        self.in_flight += bytes;
        self.sent_bytes += bytes;
        let number = self.first + self.records.len() as u64;
        let with = SentWith { none_out, in_flight: self.in_flight, lost: self.lost_bytes, repeated: false };
        self.sampler.handle_sent(at, number, self.first, with);
        self.records.push_back(Record { sent: now, bytes, end: self.sent_bytes, acked: false });
    }

    fn handle_packet_acked(&mut self, sent: Instant, bytes: u64) {
        let from = self.records.partition_point(|record| record.sent < sent);
        let found = self.records.range(from..).take_while(|record| record.sent == sent);
        let found = found.enumerate().find(|(_, record)| !record.acked && record.bytes == bytes);
        // Probes of the path MTU are not told when they are sent.
        let Some((place, _)) = found else { return };
        let record = &mut self.records[from + place];
        record.acked = true;
        self.acked_end = self.acked_end.max(record.end);
        let batch = &mut self.batch;
        if batch.packets == 0 {
            batch.in_flight = self.in_flight;
        }
        batch.bytes += bytes;
        batch.packets += 1;
        if self.recovery_start.is_none_or(|start| sent > start) {
            batch.new_bytes += bytes;
            batch.new_packets += 1;
        }
        batch.newest = batch.newest.max(Some(sent));
        self.sampler.handle_delivered(self.first + (from + place) as u64, self.clock.time(sent), bytes);
    }

    fn handle_end_of_ack(&mut self, now: Instant, in_flight: u64, app_limited: bool) {
        let batch = std::mem::take(&mut self.batch);
        self.in_flight = in_flight;
        let (Some(newest), Some(estimator)) = (batch.newest, self.estimator) else { return };
        let at = self.clock.time(now);
        let measured = now.saturating_duration_since(newest);
        // The estimate comes after the ACK; the first one is not of this path.
        let smoothed = if self.established { estimator.get() } else { measured };
        let (rtt, smoothed_rtt) = (span(measured), span(smoothed));
        if !self.established {
            self.established = true;
            self.controller.handle_established(at, Some(rtt));
        }
        if self.recovery_start.is_some_and(|start| newest > start) {
            self.recovering = false;
        }
        let (una, max) = (self.acked_end, self.sent_bytes);
        self.controller.handle_measured(&MeasuredTrip { at, rtt, smoothed_rtt, una, max, reduced: None });
        if !self.controller.governs_repair() && batch.new_packets > 0 {
            self.controller.handle_acked(&Acked {
                at,
                bytes: batch.new_bytes,
                segments: batch.new_packets,
                in_flight: batch.in_flight,
                rtt: Some(rtt),
                smoothed_rtt,
                window_limited: !app_limited,
            });
        }
        let rate = self.sampler.sample(at, self.lost_bytes, Some(span(estimator.min().min(measured))));
        if self.controller.hears_acks() {
            self.controller.handle_ack(&Ack {
                at,
                delivered: batch.bytes,
                segments: batch.packets,
                ecn_marked: 0,
                ecn_marked_bytes: None,
                lost: self.lost_bytes - self.told_lost,
                total_lost: self.lost_bytes,
                in_flight_before: batch.in_flight,
                in_flight,
                rtt: Some(rtt),
                smoothed_rtt,
                una,
                max,
                repair: if self.recovering { Repair::Recovery } else { Repair::Nothing },
                window_limited: !app_limited,
                round: self.sampler.round(),
                next_departure: at,
                rate,
            });
        }
        self.told_lost = self.lost_bytes;
        if app_limited || self.controller.understates() {
            self.sampler.handle_app_limited(in_flight);
        }
        self.forget(newest.checked_sub(estimator.conservative() * 2));
    }

    /// Forgets what is acknowledged, and what was sent before `until`: it would be lost by now, so it holds nothing but ACKs.
    fn forget(&mut self, until: Option<Instant>) {
        while let Some(record) = self.records.front()
            && (record.acked || until.is_some_and(|until| record.sent < until))
        {
            self.records.pop_front();
            self.first += 1;
        }
    }

    fn handle_congestion(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        let window = self.controller.window();
        // FlightSize (RFC 5681 §2): all from the oldest packet that is not acknowledged, whatever has been acknowledged behind it.
        let oldest = self.records.iter().find(|record| !record.acked);
        let flight = oldest.map_or(0, |record| self.sent_bytes - (record.end - record.bytes));
        let flight = flight.min(window).max(self.in_flight);
        self.lost_bytes += lost_bytes;
        self.in_flight = self.in_flight.saturating_sub(lost_bytes);
        if lost_bytes > 0 {
            // Whatever was sent before a lost packet and is not acknowledged is lost too (RFC 9002 §6.1).
            while self.records.front().is_some_and(|record| record.sent <= sent) {
                self.records.pop_front();
                self.first += 1;
            }
        }
        let begun = self.recovery_start.is_some_and(|start| sent <= start);
        if begun && !persistent {
            return;
        }
        self.recovery_start = (!persistent).then_some(now);
        self.recovering = !persistent && lost_bytes > 0;
        self.controller.handle_lost(&Lost {
            at: self.clock.time(now),
            in_flight: flight,
            window,
            kind: match (persistent, lost_bytes) {
                (true, _) => LossKind::Timeout { again: false },
                (false, 0) => LossKind::Ecn,
                (false, _) => LossKind::DupAck,
            },
            remaining: self.in_flight,
            total_lost: self.lost_bytes,
            max: self.sent_bytes,
        });
    }
}

impl Controller for Ours {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last: u64) {
        self.state().handle_sent(now, bytes);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        let _ = (now, app_limited);
        let mut state = self.state();
        state.handle_packet_acked(sent, bytes);
        state.estimator = Some(*rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _largest: Option<u64>) {
        self.state().handle_end_of_ack(now, in_flight, app_limited);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        self.state().handle_congestion(now, sent, persistent, lost_bytes);
    }

    /// The plan's segments are as long from the start as the largest packets that quinn finds.
    fn on_mtu_update(&mut self, mtu: u16) {
        self.state().largest_packet = u64::from(mtu);
    }

    fn window(&self) -> u64 {
        self.state().window()
    }

    fn metrics(&self) -> ControllerMetrics {
        let state = self.state();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = state.window();
        metrics.ssthresh = state.controller.snapshot().ssthresh;
        metrics.pacing_rate = state.controller.pacing_rate().map(Rate::bps);
        metrics
    }

    /// For another path, of which there is none here: it shares its state.
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Ours(Arc::clone(&self.0)))
    }

    fn initial_window(&self) -> u64 {
        self.window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
