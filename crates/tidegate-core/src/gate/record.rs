//! A gate's own history as columns: sampled every so often, or a row at every change.
//!
//! Facts may be told ahead of their time (run-ahead states a departure at the arrival); rows
//! come out in the order of time whatever the order of telling, so they are the same with
//! `exact_events` on and off.

use std::collections::VecDeque;

use crate::gate::content::Content;
use crate::gate::level::Level;
use crate::gate::rate::{Cursor, Profile, Service};
use crate::gcra::Interval;
use crate::plan::{Course, GatePlan, RatePlan, RecordLevel};
use crate::random::Stream;
use crate::units::{Span, Time};

/// One row of a gate's history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateRow {
    /// When.
    pub at: Time,
    /// Units in the queue, as the gate's queue counts.
    pub queue_packets: u64,
    /// Their IP bytes.
    pub queue_bytes: u64,
    /// Rate in force in bit/s; NaN where the gate has none.
    pub rate_bps: f64,
    /// Bytes on the wire whose service has ended, lost ones included, since the start.
    pub delivered_bytes: u64,
    /// Units dropped since the start.
    pub dropped_packets: u64,
    /// Wait of the unit whose service began last; [`GateRow::NO_WAIT`] before the first.
    pub wait: Span,
    /// Bytes on the wire in the bucket of its token-bucket law, else of its policer's contract; NaN where it
    /// has neither.
    pub tokens: f64,
    /// At a cell gate, where the units are cells: what is in it.
    pub cells: Option<CellRow>,
}

impl GateRow {
    /// Stands for no wait so far: rows are many, and an `Option` would be as large as another column.
    pub const NO_WAIT: Span = Span::MAX;
}

/// What is in a cell gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellRow {
    /// Whole cells from their arrival to the end of their service.
    pub whole: u64,
    /// The same as a fluid that comes at the rate of the gate before and goes at this one's.
    pub fluid: f64,
}

/// What passes through a gate, as it comes to pass.
#[derive(Clone, Debug)]
pub struct Recorder {
    level: RecordLevel,
    next_sample: Time,
    until: Time,
    speed: SpeedInForce,
    leaving: VecDeque<(Time, u64)>,
    departing: VecDeque<(Time, u64)>,
    losses: VecDeque<Time>,
    /// When units that are not told of yet as served came.
    arrivals: VecDeque<Time>,
    /// Beginnings of service, with the wait before each.
    starting: VecDeque<(Time, Span)>,
    /// At a cell gate.
    content: Option<Box<Content>>,
    /// At a gate with a bucket.
    bucket: Option<Box<Level>>,
    now: GateRow,
    rows: Vec<GateRow>,
}

/// The rate in force, walked apart from the server, which may be ahead.
#[derive(Clone, Debug)]
enum SpeedInForce {
    Fixed(f64),
    Profile(Box<Profile>),
    /// Rate of opportunities: their bits inside the sampling interval or, at every change,
    /// inside the present 100 ms.
    Opportunities {
        cursor: Cursor,
        every: Span,
        begin: Time,
        bps: f64,
    },
}

const OPPORTUNITY_WINDOW: Span = Span::from_millis(100);

impl SpeedInForce {
    fn new(plan: &RatePlan, level: RecordLevel, stream: Stream) -> SpeedInForce {
        if plan.counts_packets() {
            return SpeedInForce::Fixed(f64::NAN);
        }
        match plan.course() {
            Course::Unlimited => SpeedInForce::Fixed(f64::NAN),
            Course::Constant(bps) => SpeedInForce::Fixed(bps as f64),
            Course::Set(initial) => SpeedInForce::Fixed(initial.bps() as f64),
            Course::Pieces => SpeedInForce::Profile(Box::new(Profile::new(plan, stream))),
            Course::Opportunities(trace, at_end) => SpeedInForce::Opportunities {
                cursor: Cursor::new(trace.clone(), at_end),
                every: match level {
                    RecordLevel::Every(every) => every.max(OPPORTUNITY_WINDOW),
                    _ => OPPORTUNITY_WINDOW,
                },
                begin: Time::NEVER,
                bps: 0.0,
            },
        }
    }

    fn next_change(&self) -> Time {
        match self {
            SpeedInForce::Profile(profile) => profile.now().until,
            _ => Time::NEVER,
        }
    }

    fn at(&mut self, at: Time) -> f64 {
        match self {
            SpeedInForce::Fixed(bps) => *bps,
            SpeedInForce::Profile(profile) => {
                profile.seek(at);
                profile.now().speed as f64
            }
            SpeedInForce::Opportunities { cursor, every, begin, bps } => {
                let slot = Time::from_picos(at.picos() / every.picos() * every.picos());
                if *begin != slot {
                    let mut bytes = 0u64;
                    while cursor.at() < slot.saturating_add(*every) {
                        if cursor.at() >= slot {
                            bytes += u64::from(cursor.bytes());
                        }
                        cursor.step();
                    }
                    *begin = slot;
                    *bps = bytes as f64 * 8.0 / every.as_secs_f64();
                }
                *bps
            }
        }
    }
}

impl Recorder {
    /// A recorder of a gate with this law; `stream` is a copy of the law's own.
    #[must_use]
    pub fn new(plan: &GatePlan, level: RecordLevel, until: Time, stream: Stream) -> Recorder {
        let is_cell = plan.is_cell_gate();
        Recorder {
            level,
            next_sample: Time::ZERO,
            until,
            speed: SpeedInForce::new(&plan.rate, level, stream),
            leaving: VecDeque::new(),
            departing: VecDeque::new(),
            losses: VecDeque::new(),
            arrivals: VecDeque::new(),
            starting: VecDeque::new(),
            content: is_cell.then(Box::default),
            bucket: Level::new(plan).map(Box::new),
            now: GateRow {
                at: Time::ZERO,
                queue_packets: 0,
                queue_bytes: 0,
                rate_bps: f64::NAN,
                delivered_bytes: 0,
                dropped_packets: 0,
                wait: GateRow::NO_WAIT,
                tokens: f64::NAN,
                cells: None,
            },
            rows: Vec::new(),
        }
    }

    /// Writes every row before `at`; call before telling of an arrival.
    pub fn advance(&mut self, at: Time) {
        let at = at.min(self.until);
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

    /// Instant of the next change already told.
    fn next_change(&self) -> Time {
        let front = |queue: &VecDeque<(Time, u64)>| queue.front().map_or(Time::NEVER, |(at, _)| *at);
        let loss = self.losses.front().copied().unwrap_or(Time::NEVER);
        let rate = if self.level == RecordLevel::Events { self.speed.next_change() } else { Time::NEVER };
        let content = self.content.as_ref().map_or(Time::NEVER, |content| content.next_change());
        front(&self.leaving).min(front(&self.departing)).min(loss).min(rate).min(content)
    }

    fn apply(&mut self, change: Time) {
        while self.leaving.front().is_some_and(|(at, _)| *at <= change) {
            let (_, bytes) = self.leaving.pop_front().expect("there is a front");
            self.now.queue_packets -= 1;
            self.now.queue_bytes -= bytes;
        }
        while self.departing.front().is_some_and(|(at, _)| *at <= change) {
            let (_, wire) = self.departing.pop_front().expect("there is a front");
            self.now.delivered_bytes += wire;
        }
        while self.losses.front().is_some_and(|at| *at <= change) {
            self.losses.pop_front();
            self.now.dropped_packets += 1;
        }
        if let Some(content) = &mut self.content {
            content.apply(change);
        }
        if self.level == RecordLevel::Events {
            self.speed.at(change);
        }
    }

    fn row(&mut self, at: Time) {
        // A service that begins is no change of the queue, and has no row of its own.
        while let Some((_, wait)) = self.starting.pop_front_if(|(start, _)| *start <= at) {
            self.now.wait = wait;
        }
        let rate_bps = self.speed.at(at);
        let cells =
            self.content.as_ref().map(|content| CellRow { whole: content.whole(), fluid: content.fluid(at) });
        let tokens = self.bucket.as_mut().map_or(f64::NAN, |bucket| bucket.bytes_at(at));
        self.rows.push(GateRow { at, rate_bps, tokens, cells, ..self.now });
    }

    /// A unit came and stays in the queue until its service says; [`Recorder::serve`] follows.
    pub fn arrive(&mut self, at: Time, bytes: u64) {
        self.settle(at);
        self.now.queue_packets += 1;
        self.now.queue_bytes += bytes;
        self.arrivals.push_back(at);
        if let Some(content) = &mut self.content {
            content.arrive(at);
        }
        self.event(at);
    }

    /// The oldest unit not yet told of leaves the queue at `leaves` and ends its service.
    pub fn serve(&mut self, service: Service, leaves: Time, bytes: u64, wire: u64) {
        if let Some(arrived) = self.arrivals.pop_front() {
            self.starting.push_back((service.start, service.start.saturating_since(arrived)));
        }
        self.leaving.push_back((leaves, bytes));
        self.departing.push_back((service.end, wire));
        if let Some(content) = &mut self.content {
            content.serve(service);
        }
    }

    /// A unit came and went into service at once.
    pub fn serve_at_once(&mut self, at: Time, service: Service, wire: u64) {
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

    /// The next cell comes in over such a time.
    pub fn spread(&mut self, spread: Span) {
        if let Some(content) = &mut self.content {
            content.spread(spread);
        }
    }

    /// A unit begins its service at `start` and leaves so many of the law's tokens, where it has any.
    pub(super) fn took(&mut self, start: Time, tokens: Option<i128>) {
        if let (Some(bucket), Some(tokens)) = (&mut self.bucket, tokens) {
            bucket.tell_law(start, tokens);
        }
    }

    /// The policer has judged a unit at `at`; the TAT of its contract is now this.
    pub(super) fn policed(&mut self, at: Time, tat: Interval) {
        if let Some(bucket) = &mut self.bucket {
            bucket.tell_policer(at, tat);
        }
    }

    /// A unit was refused at the door.
    pub fn refuse(&mut self, at: Time) {
        self.settle(at);
        self.now.dropped_packets += 1;
        self.event(at);
    }

    /// A unit will be lost at the end of its service.
    pub fn lose(&mut self, end: Time) {
        self.losses.push_back(end);
    }

    /// The rate is set to `bps` at `at`.
    pub fn set_rate(&mut self, at: Time, bps: f64) {
        self.settle(at);
        self.speed = SpeedInForce::Fixed(bps);
        self.event(at);
    }

    /// The unit told last ends its service at `end` instead; `counts`: it is in the queue until then.
    pub fn reschedule(&mut self, end: Time, counts: bool) {
        if let Some((departs, _)) = self.departing.back_mut() {
            *departs = end;
        }
        if let (true, Some((leaves, _))) = (counts, self.leaving.back_mut()) {
            *leaves = end;
        }
    }

    /// Changes told for this very instant come before an arrival at it.
    fn settle(&mut self, at: Time) {
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

    /// Bytes held by the rows so far.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.rows.capacity() * size_of::<GateRow>()) as u64
    }

    /// The whole history.
    #[must_use]
    pub fn finish(mut self) -> Vec<GateRow> {
        self.advance(Time::NEVER);
        self.rows
    }
}
