//! The statistics of a gate's classes: counters always, and rows where the gate is recorded.

use super::count::less;
use super::{Counters, Served};
use crate::gate::GateContext;
use crate::gate::backlog::Backlog;
use crate::gate::drops::DropReason;
use crate::plan::{ClassesPlan, RecordLevel};
use crate::units::{Measured, Time};

/// The counters of one class.
#[derive(Clone, Debug)]
pub struct ClassCounters {
    /// The counters that a gate has too.
    pub counters: Counters,
    drops: [u64; DropReason::LOSSES],
}

impl ClassCounters {
    /// The reasons for which units were lost inside the measured time, and how many.
    pub fn drops(&self) -> impl Iterator<Item = (DropReason, u64)> {
        DropReason::ALL.into_iter().zip(self.drops).filter(|(_, units)| *units > 0)
    }
}

/// One row of a class' history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassRow {
    /// When.
    pub at: Time,
    /// Its number at the gate.
    pub class: u32,
    /// Units in its queue, as the gate's queue counts.
    pub queue_packets: u64,
    /// Their IP bytes.
    pub queue_bytes: u64,
    /// Bytes on the wire whose service has ended, lost ones included, since the start.
    pub delivered_bytes: u64,
    /// Units dropped since the start.
    pub dropped_packets: u64,
}

/// Counters and rows of all classes.
#[derive(Debug)]
pub(in crate::gate) struct ClassStatistics {
    measured: Measured,
    classes: Vec<ClassCounters>,
    history: Option<Box<History>>,
}

#[derive(Debug)]
struct History {
    level: RecordLevel,
    next_sample: Time,
    until: Time,
    /// The classes at the present instant.
    now: Vec<ClassRow>,
    /// When the unit in service leaves the queue of its class, with the class and the unit's IP bytes.
    leaving: Option<(Time, usize, u32)>,
    rows: Vec<ClassRow>,
}

impl ClassStatistics {
    pub(in crate::gate) fn new(plan: &ClassesPlan, context: &GateContext) -> ClassStatistics {
        let GateContext { measured, precision, record, .. } = *context;
        let class = ClassCounters { counters: Counters::new(measured, precision), drops: Default::default() };
        let rows = || Box::new(History::new(plan.classes.len(), record, measured.until));
        ClassStatistics {
            measured,
            classes: vec![class; plan.classes.len()],
            history: (record != RecordLevel::Summary).then(rows),
        }
    }

    pub(in crate::gate) fn classes(&self) -> &[ClassCounters] {
        &self.classes
    }

    /// A unit is dropped at its arrival.
    pub(in crate::gate) fn refuse(&mut self, class: usize, at: Time, wire: u32, reason: DropReason) {
        self.classes[class].counters.refuse(at, u64::from(wire));
        self.drop(class, at, reason);
    }

    /// A unit has joined the queue of its class, which holds `queue` now.
    pub(in crate::gate) fn join(&mut self, class: usize, at: Time, queue: Backlog, bytes: u32) {
        self.classes[class].counters.queue_is(at, queue);
        self.note(class, at, |row| {
            row.queue_packets += 1;
            row.queue_bytes += u64::from(bytes);
        });
    }

    /// A unit that arrived at `arrival` is dropped from the queue at `at`.
    pub(in crate::gate) fn cull(
        &mut self,
        class: usize,
        (arrival, at): (Time, Time),
        (bytes, wire): (u32, u32),
        reason: DropReason,
    ) {
        self.classes[class].counters.cull((arrival, at), (bytes, wire), reason);
        if let Some(history) = &mut self.history {
            history.advance(at);
            history.leave(at, class, bytes);
        }
        self.drop(class, at, reason);
    }

    /// A unit is marked CE at `at`.
    pub(in crate::gate) fn mark(&mut self, class: usize, at: Time, wire: u32) {
        self.classes[class].counters.mark(at, u64::from(wire));
    }

    /// The service of a unit is known. One that is in the queue for any time has joined it before; `joined`: this one
    /// has, even if it leaves at the instant of its arrival.
    #[inline]
    pub(in crate::gate) fn serve(&mut self, class: usize, served: &Served, joined: bool) {
        let Served { arrival, service, leaves, bytes, .. } = *served;
        self.classes[class].counters.serve(arrival, service.start, (leaves, u64::from(bytes)));
        let Some(history) = &mut self.history else { return };
        if leaves > arrival {
            history.leaving = Some((leaves, class, bytes));
        } else if joined {
            history.advance(arrival);
            history.leave(arrival, class, bytes);
        }
    }

    /// The unit in service ends at `end` instead. `in_queue`: it counts in the queue until then.
    pub(in crate::gate) fn reschedule(
        &mut self,
        class: usize,
        arrival: Time,
        (expected, end): (Time, Time),
        bytes: u32,
        in_queue: bool,
    ) {
        if in_queue {
            self.classes[class].counters.requeued(arrival, (expected, end), u64::from(bytes));
            if let Some((at, ..)) = self.history.as_mut().and_then(|history| history.leaving.as_mut()) {
                *at = end;
            }
        }
    }

    /// The service of a unit has ended; it goes on, or is lost.
    #[inline]
    pub(in crate::gate) fn depart(&mut self, class: usize, served: &Served, lost: Option<DropReason>) {
        let Served { arrival, service, wire, .. } = *served;
        let counters = &mut self.classes[class].counters;
        match lost {
            None => counters.deliver(arrival, service.end, u64::from(wire)),
            Some(_) => counters.lose(arrival, service.end, u64::from(wire)),
        }
        self.note(class, service.end, |row| row.delivered_bytes += u64::from(wire));
        if let Some(reason) = lost {
            self.drop(class, service.end, reason);
        }
    }

    fn drop(&mut self, class: usize, at: Time, reason: DropReason) {
        if self.measured.holds(at) && reason.is_loss() {
            self.classes[class].drops[reason as usize] += 1;
        }
        self.note(class, at, |row| row.dropped_packets += u64::from(reason.is_loss()));
    }

    fn note(&mut self, class: usize, at: Time, change: impl FnOnce(&mut ClassRow)) {
        if let Some(history) = &mut self.history {
            history.advance(at);
            change(&mut history.now[class]);
            history.event(at, class);
        }
    }

    /// Ends the recording and returns its rows; none where the gate was not recorded.
    pub(in crate::gate) fn take_history(&mut self) -> Option<Vec<ClassRow>> {
        let mut history = self.history.take()?;
        history.advance(Time::NEVER);
        Some(history.rows)
    }
}

impl History {
    fn new(classes: usize, level: RecordLevel, until: Time) -> History {
        let row = |class| ClassRow {
            at: Time::ZERO,
            class,
            queue_packets: 0,
            queue_bytes: 0,
            delivered_bytes: 0,
            dropped_packets: 0,
        };
        History {
            level,
            next_sample: Time::ZERO,
            until,
            now: (0..classes as u32).map(row).collect(),
            leaving: None,
            rows: Vec::new(),
        }
    }

    /// Writes every row before `at`, and lets the unit in service leave the queue if it does so by then.
    fn advance(&mut self, at: Time) {
        if let Some((leaves, class, bytes)) = self.leaving.filter(|(leaves, ..)| *leaves <= at) {
            self.leaving = None;
            self.leave(leaves, class, bytes);
        }
        self.sample(at);
    }

    fn leave(&mut self, at: Time, class: usize, bytes: u32) {
        self.sample(at);
        let row = &mut self.now[class];
        row.queue_packets = less(row.queue_packets, 1);
        row.queue_bytes = less(row.queue_bytes, u64::from(bytes));
        self.event(at, class);
    }

    fn sample(&mut self, at: Time) {
        let RecordLevel::Every(every) = self.level else { return };
        while self.next_sample < at.min(self.until) {
            let sample = self.next_sample;
            self.rows.extend(self.now.iter().map(|row| ClassRow { at: sample, ..*row }));
            self.next_sample = sample.saturating_add(every);
        }
    }

    fn event(&mut self, at: Time, class: usize) {
        if self.level == RecordLevel::Events && at < self.until {
            self.rows.push(ClassRow { at, ..self.now[class] });
        }
    }
}
