//! A gate's own history as rows: one at every sampling instant, or one at every change.
//!
//! The recorder may be informed of events ahead of their time (run-ahead states a departure at the arrival). It
//! writes rows in the order of time, whatever the order in which it is informed, so they are the same with
//! `exact` on and off.
//!
//! Where rows are written at fixed times, changes that are known ahead are added up by row; else each is applied at its
//! own instant.

mod by_row;
mod services;
mod together;

pub(crate) use together::Together;

use std::collections::VecDeque;

use self::by_row::ByRow;
use self::services::Services;
use super::Served;
use super::content::Content;
use super::count::less;
use super::level::Level;
use super::rate_in_force::RateInForce;
use super::row::{CellRow, GateRow};
use crate::gate::drops::DropReason;
use crate::gcra::Interval;
use crate::plan::{GatePlan, ROW_BYTES, RecordLevel};
use crate::random::Stream;
use crate::units::{Span, Time};

/// Writes the rows of one gate.
#[derive(Clone, Debug)]
pub(in crate::gate) struct Recorder {
    level: RecordLevel,
    until: Time,
    rate: RateInForce,
    /// What is known to change, where rows are written at fixed times.
    by_row: Option<ByRow>,
    /// Services that are known and not over, where a row is written at every change.
    services: Services,
    /// When units will be lost at the ends of their services, where a row is written at every change.
    losses: VecDeque<Time>,
    /// At a cell gate.
    content: Option<Box<Content>>,
    /// At a gate with a bucket.
    bucket: Option<Box<Level>>,
    /// The gate at the present instant; where rows are written at fixed times, without what is known to change.
    now: GateRow,
    rows: Vec<GateRow>,
    /// Where a row is written at every change: the instant of changes that no row shows yet. A later event of that
    /// instant may write the row.
    unshown: Option<Time>,
}

impl Recorder {
    /// A recorder that writes rows until `until`; `stream` is a copy of the rate law's own.
    pub(super) fn new(plan: &GatePlan, level: RecordLevel, until: Time, stream: Stream) -> Recorder {
        let is_cell = plan.is_cell_gate();
        Recorder {
            level,
            until,
            rate: RateInForce::new(&plan.rate, level, stream),
            by_row: match level {
                RecordLevel::Every(every) => Some(ByRow::new(every, until, !plan.rate.is_known_ahead())),
                _ => None,
            },
            services: Services::default(),
            losses: VecDeque::new(),
            content: is_cell.then(Box::default),
            bucket: Level::new(plan).map(Box::new),
            now: GateRow {
                drop_probability: if plan.queue.discipline.has_probability() { 0.0 } else { f64::NAN },
                ..GateRow::EMPTY
            },
            rows: Vec::with_capacity(level.first_rows(until)),
            unshown: None,
        }
    }

    /// Writes every row before `at`.
    fn advance(&mut self, at: Time) {
        let at = at.min(self.until);
        if self.by_row.is_some() {
            return self.write_due(at);
        }
        if let Some(unshown) = self.unshown.filter(|unshown| *unshown < at) {
            self.row(unshown);
        }
        loop {
            let change = self.next_change();
            if change >= at {
                return;
            }
            self.apply(change);
            self.row(change);
        }
    }

    /// Instant of the next change that is known already.
    fn next_change(&self) -> Time {
        let loss = self.losses.front().copied().unwrap_or(Time::NEVER);
        let change = self.services.next_change().min(loss).min(self.rate.next_change());
        let Some(content) = &self.content else { return change };
        change.min(content.next_change()).min(self.services.next_start())
    }

    fn apply(&mut self, change: Time) {
        let ended = self.services.apply(change, &mut self.now);
        while self.losses.pop_front_if(|at| *at <= change).is_some() {
            self.now.dropped_packets += 1;
        }
        if let Some(content) = &mut self.content {
            content.apply(change, ended);
        }
        if self.level == RecordLevel::Events {
            self.rate.at(change);
        }
    }

    /// The row of an instant until which all changes are applied.
    #[inline(always)]
    fn row(&mut self, at: Time) {
        self.unshown = None;
        self.now.at = at;
        self.now.rate_bps = self.rate.at(at);
        if let Some(content) = &self.content {
            let in_service = match &self.by_row {
                Some(by_row) => by_row.in_service(at),
                None => self.services.first(),
            };
            let fluid = content.fluid(at, in_service);
            self.now.cells = Some(CellRow { whole: content.whole(), fluid });
        }
        if let Some(bucket) = &mut self.bucket {
            self.now.tokens = bucket.bytes_at(at);
        }
        // `push` would make a copy of it first.
        self.rows.extend_from_slice(std::slice::from_ref(&self.now));
    }

    /// A unit joins the queue. [`Recorder::serve`] follows when its service is known.
    #[inline(always)]
    pub(super) fn join(&mut self, at: Time, bytes: u64) {
        self.settle(at);
        self.now.queue_packets += 1;
        self.now.queue_bytes += bytes;
        self.arrive(at, 1);
        self.event(at);
    }

    /// Cells arrive together, if this is a cell gate.
    #[inline(always)]
    fn arrive(&mut self, at: Time, cells: u64) {
        if let Some(content) = &mut self.content {
            content.arrive(at, cells, self.by_row.as_ref().map_or(Time::ZERO, ByRow::next));
        }
    }

    /// The service of a unit that has joined the queue is known.
    #[inline(always)]
    pub(super) fn serve(&mut self, served: &Served) {
        match &mut self.by_row {
            Some(by_row) => by_row.serve(served),
            None => self.services.push(served),
        }
    }

    /// A unit that has joined the queue is dropped from it at `at`.
    pub(super) fn cull(&mut self, at: Time, bytes: u64, reason: DropReason) {
        self.settle(at);
        self.now.queue_packets = less(self.now.queue_packets, 1);
        self.now.queue_bytes = less(self.now.queue_bytes, bytes);
        self.now.dropped_packets += u64::from(reason.is_loss());
        self.event(at);
    }

    /// A unit that has joined the queue leaves it at the same instant, chosen before others that wait.
    #[inline(never)]
    pub(super) fn serve_on_arrival(&mut self, served: &Served) {
        let at = served.arrival;
        self.settle(at);
        self.now.queue_packets = less(self.now.queue_packets, 1);
        self.now.queue_bytes = less(self.now.queue_bytes, u64::from(served.bytes));
        self.serve(served);
        self.event(at);
    }

    /// A unit arrives and is not in the queue for any time.
    #[inline(always)]
    pub(super) fn serve_at_once(&mut self, served: &Served) {
        let at = served.arrival;
        self.settle(at);
        self.arrive(at, 1);
        self.serve(served);
        if let (Some(content), None) = (&mut self.content, &self.by_row) {
            let ended = self.services.apply(at, &mut self.now);
            content.apply(at, ended);
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

    /// A unit is marked; another call says what becomes of it.
    pub(super) fn mark(&mut self, at: Time) {
        self.settle(at);
        self.now.marked_packets += 1;
        self.unshown = Some(at);
    }

    /// The discipline drops or marks with this probability from `at` on, which is the instant of an event.
    pub(super) fn probability(&mut self, at: Time, probability: f64) {
        // The event itself writes the row of this instant afterwards, which shows the probability.
        self.advance(at);
        self.now.drop_probability = probability;
    }

    /// A unit is lost at the end of its service.
    pub(super) fn lose(&mut self, end: Time) {
        match &mut self.by_row {
            Some(by_row) => by_row.lose(end),
            None => self.losses.push_back(end),
        }
    }

    /// The rate is set to `bps` at `at`.
    pub(super) fn set_rate(&mut self, at: Time, bps: f64) {
        self.settle(at);
        self.rate = RateInForce::Fixed(bps);
        self.event(at);
    }

    /// The last service ends at `end` instead. `in_queue`: the unit is in the queue until then.
    pub(super) fn reschedule(&mut self, end: Time, in_queue: bool) {
        match &mut self.by_row {
            Some(by_row) => by_row.reschedule(end, in_queue),
            None => self.services.reschedule(end, in_queue),
        }
    }

    /// Applies what is known to change until `at`, `at` included: such changes come before an arrival at that instant.
    #[inline(always)]
    fn settle(&mut self, at: Time) {
        if let Some(by_row) = &self.by_row {
            if at > by_row.next() {
                self.write_due(at);
            }
        } else {
            self.settle_changes(at);
        }
    }

    #[inline(never)]
    fn settle_changes(&mut self, at: Time) {
        self.advance(at);
        if self.next_change() == at && at < self.until {
            self.apply(at);
            self.unshown = Some(at);
        }
    }

    #[inline(always)]
    fn event(&mut self, at: Time) {
        if self.level == RecordLevel::Events && at < self.until {
            self.row_of_event(at);
        }
    }

    #[inline(never)]
    fn row_of_event(&mut self, at: Time) {
        // The beginning of a service has no row of its own; the next row shows the wait before it.
        self.services.begin(at, &mut self.now);
        self.row(at);
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
