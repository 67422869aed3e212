//! A gate's own history as rows: one at every sampling instant, or one at every change.
//!
//! The recorder may be informed of events ahead of their time (run-ahead states a departure at the arrival). It
//! writes rows in the order of time, whatever the order in which it is informed, so they are the same with
//! `exact` on and off.
//!
//! At a gate without cells, changes between two sampling instants are only noted. They are applied when a row is due or many are
//! noted.

mod lately;

use std::collections::VecDeque;

use super::Served;
use super::content::Content;
use super::count::less;
use super::level::Level;
use super::rate_in_force::RateInForce;
use super::row::{CellRow, GateRow};
use crate::gate::drops::DropReason;
use crate::gate::rate::Service;
use crate::gcra::Interval;
use crate::plan::{GatePlan, ROW_BYTES, RecordLevel};
use crate::random::Stream;
use crate::units::{Span, Time};

/// Writes the rows of one gate.
#[derive(Clone, Debug)]
pub(in crate::gate) struct Recorder {
    level: RecordLevel,
    /// How often a row is taken where changes in between are applied together; `None`: each is applied at its own instant.
    every: Option<Span>,
    /// They are applied once the ends of so many services are noted.
    many: usize,
    next_sample: Time,
    until: Time,
    rate: RateInForce,
    /// When units leave the queue, with their IP bytes.
    leaving: VecDeque<(Time, u64)>,
    /// When services end, with bytes on the wire.
    departing: VecDeque<(Time, u64)>,
    losses: VecDeque<Time>,
    /// Beginnings of service, with the wait before each.
    starting: VecDeque<(Time, Span)>,
    /// At a cell gate.
    content: Option<Box<Content>>,
    /// At a gate with a bucket.
    bucket: Option<Box<Level>>,
    /// The gate at the present instant.
    now: GateRow,
    rows: Vec<GateRow>,
}

impl Recorder {
    /// A recorder that writes rows until `until`; `stream` is a copy of the rate law's own.
    pub(super) fn new(plan: &GatePlan, level: RecordLevel, until: Time, stream: Stream) -> Recorder {
        let is_cell = plan.is_cell_gate();
        Recorder {
            level,
            every: match level {
                RecordLevel::Every(every) if !is_cell => Some(every),
                _ => None,
            },
            many: lately::MANY,
            next_sample: Time::ZERO,
            until,
            rate: RateInForce::new(&plan.rate, level, stream),
            leaving: VecDeque::new(),
            departing: VecDeque::new(),
            losses: VecDeque::new(),
            starting: VecDeque::new(),
            content: is_cell.then(Box::default),
            bucket: Level::new(plan).map(Box::new),
            now: GateRow {
                drop_probability: if plan.queue.discipline.has_probability() { 0.0 } else { f64::NAN },
                ..GateRow::EMPTY
            },
            rows: Vec::new(),
        }
    }

    /// Writes every row before `at`.
    fn advance(&mut self, at: Time) {
        let at = at.min(self.until);
        if let Some(every) = self.every {
            while self.next_sample < at {
                self.apply(self.next_sample);
                self.row(self.next_sample);
                self.next_sample = self.next_sample.saturating_add(every);
            }
            return;
        }
        loop {
            let change = self.next_change();
            if let RecordLevel::Every(every) = self.level {
                while self.next_sample < change.min(at) {
                    self.row(self.next_sample);
                    self.next_sample = self.next_sample.saturating_add(every);
                }
            }
            if change >= at {
                return;
            }
            self.apply(change);
            if self.level == RecordLevel::Events {
                self.row(change);
            }
        }
    }

    /// Instant of the next change that is known already.
    fn next_change(&self) -> Time {
        let front = |queue: &VecDeque<(Time, u64)>| queue.front().map_or(Time::NEVER, |(at, _)| *at);
        let loss = self.losses.front().copied().unwrap_or(Time::NEVER);
        let rate = if self.level == RecordLevel::Events { self.rate.next_change() } else { Time::NEVER };
        let content = self.content.as_ref().map_or(Time::NEVER, |content| content.next_change());
        front(&self.leaving).min(front(&self.departing)).min(loss).min(rate).min(content)
    }

    fn apply(&mut self, change: Time) {
        while let Some((_, bytes)) = self.leaving.pop_front_if(|(at, _)| *at <= change) {
            self.leave(bytes);
        }
        while let Some((_, wire)) = self.departing.pop_front_if(|(at, _)| *at <= change) {
            self.now.delivered_bytes += wire;
        }
        while self.losses.pop_front_if(|at| *at <= change).is_some() {
            self.now.dropped_packets += 1;
        }
        if let Some(content) = &mut self.content {
            content.apply(change);
        }
        if self.level == RecordLevel::Events {
            self.rate.at(change);
        }
    }

    /// A unit of so many IP bytes leaves the queue.
    fn leave(&mut self, bytes: u64) {
        self.now.queue_packets = less(self.now.queue_packets, 1);
        self.now.queue_bytes = less(self.now.queue_bytes, bytes);
    }

    /// The beginning of a service has no row of its own; the next row shows the wait before it.
    fn begin(&mut self, at: Time) {
        while let Some((_, wait)) = self.starting.pop_front_if(|(start, _)| *start <= at) {
            self.now.wait = wait;
        }
    }

    fn row(&mut self, at: Time) {
        self.begin(at);
        let rate_bps = self.rate.at(at);
        let cells =
            self.content.as_ref().map(|content| CellRow { whole: content.whole(), fluid: content.fluid(at) });
        let tokens = self.bucket.as_mut().map_or(f64::NAN, |bucket| bucket.bytes_at(at));
        self.rows.push(GateRow { at, rate_bps, tokens, cells, ..self.now });
    }

    /// A unit joins the queue. [`Recorder::serve`] follows when its service is known.
    pub(super) fn join(&mut self, at: Time, bytes: u64) {
        self.settle(at);
        self.now.queue_packets += 1;
        self.now.queue_bytes += bytes;
        if let Some(content) = &mut self.content {
            content.arrive(at);
        }
        self.event(at);
    }

    /// The service of a unit that has joined the queue is known.
    pub(super) fn serve(&mut self, served: &Served) {
        let Served { arrival, service, leaves, bytes, wire } = *served;
        self.starting.push_back((service.start, service.start.saturating_since(arrival)));
        self.leaving.push_back((leaves, u64::from(bytes)));
        self.departing.push_back((service.end, u64::from(wire)));
        if let Some(content) = &mut self.content {
            content.serve(service);
        }
    }

    /// A unit that has joined the queue is dropped from it at `at`.
    pub(super) fn cull(&mut self, at: Time, bytes: u64, reason: DropReason) {
        self.settle(at);
        self.leave(bytes);
        self.now.dropped_packets += u64::from(reason.is_loss());
        self.event(at);
    }

    /// A unit arrives and is not in the queue for any time.
    pub(super) fn serve_at_once(&mut self, at: Time, service: Service, wire: u64) {
        self.settle(at);
        self.departing.push_back((service.end, wire));
        self.starting.push_back((service.start, service.start.saturating_since(at)));
        if let Some(content) = &mut self.content {
            content.arrive(at);
            content.serve(service);
            content.apply(at);
            self.event(at);
        }
    }

    /// How long the next cell takes to arrive, as a fluid.
    pub(super) fn spread(&mut self, spread: Span) {
        if let Some(content) = &mut self.content {
            content.spread(spread);
        }
    }

    /// A unit begins its service at `start` and leaves `tokens` in the bucket of the rate law.
    pub(super) fn took(&mut self, start: Time, tokens: Option<i128>) {
        if let (Some(bucket), Some(tokens)) = (&mut self.bucket, tokens) {
            bucket.tell_law(start, tokens);
        }
    }

    /// The policer has let a unit pass at `at`. `tat` is the theoretical arrival time of its contract from now on.
    pub(super) fn policed(&mut self, at: Time, tat: Interval) {
        if let Some(bucket) = &mut self.bucket {
            bucket.tell_policer(at, tat);
        }
    }

    /// A unit is dropped at its arrival.
    pub(super) fn refuse(&mut self, at: Time) {
        self.settle(at);
        self.now.dropped_packets += 1;
        self.event(at);
    }

    /// A unit is marked; what becomes of it follows.
    pub(super) fn mark(&mut self, at: Time) {
        self.settle(at);
        self.now.marked_packets += 1;
    }

    /// The discipline drops or marks with this probability from `at` on, which is the instant of an event.
    pub(super) fn probability(&mut self, at: Time, probability: f64) {
        self.settle(at);
        self.now.drop_probability = probability;
    }

    /// A unit is lost at the end of its service.
    pub(super) fn lose(&mut self, end: Time) {
        self.losses.push_back(end);
    }

    /// The rate is set to `bps` at `at`.
    pub(super) fn set_rate(&mut self, at: Time, bps: f64) {
        self.settle(at);
        self.rate = RateInForce::Fixed(bps);
        self.event(at);
    }

    /// The last service ends at `end` instead. `in_queue`: the unit is in the queue until then.
    pub(super) fn reschedule(&mut self, end: Time, in_queue: bool) {
        if let Some((departs, _)) = self.departing.back_mut() {
            *departs = end;
        }
        if let (true, Some((leaves, _))) = (in_queue, self.leaving.back_mut()) {
            *leaves = end;
        }
    }

    /// Applies what is known to change until `at`, and at that instant: it comes before an arrival then.
    #[inline]
    fn settle(&mut self, at: Time) {
        if self.every.is_some() {
            if at > self.next_sample || self.departing.len() >= self.many {
                self.settle_many(at);
            }
            return;
        }
        self.advance(at);
        if self.next_change() == at && at < self.until {
            self.apply(at);
        }
    }

    fn event(&mut self, at: Time) {
        if self.level == RecordLevel::Events && at < self.until {
            self.row(at);
        }
    }

    /// The rows so far.
    pub(super) fn rows(&self) -> &[GateRow] {
        &self.rows
    }

    /// Bytes of the rows so far, with the table that they become.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.rows.len() as u64 * ROW_BYTES
    }

    /// The whole history.
    pub(super) fn finish(mut self) -> Vec<GateRow> {
        self.advance(Time::NEVER);
        self.rows
    }
}
