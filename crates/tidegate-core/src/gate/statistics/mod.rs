//! The statistics of a gate: counters always, and rows where the gate is recorded.

mod bins;
mod classes;
mod content;
mod count;
mod counters;
mod level;
mod progression;
mod quantiles;
mod rate_in_force;
mod record;
mod row;
mod still_waiting;

pub use bins::Precision;
pub(super) use classes::ClassStatistics;
pub use classes::{ClassCounters, ClassRow};
pub use count::{Count, Phases};
pub use counters::Counters;
pub(crate) use progression::{ExactPicos, Progression};
pub(super) use quantiles::Lengths;
pub use quantiles::Quantiles;
use record::Recorder;
pub(crate) use record::Together;
pub use row::{CellRow, GateRow};
pub use still_waiting::StillWaiting;

use crate::gate::backlog::Backlog;
use crate::gate::drops::DropReason;
use crate::gate::rate::Service;
use crate::gate::{GateContext, PlainServer, Waited, rate_stream};
use crate::gcra::Interval;
use crate::plan::{GatePlan, RecordLevel};
use crate::units::{Span, Time};

/// Counters and recorder of one gate.
#[derive(Debug)]
pub(super) struct Statistics {
    /// The fast paths count here directly.
    pub(super) counters: Counters,
    recorder: Option<Box<Recorder>>,
}

/// A service, and what is noted about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    pub(super) arrival: Time,
    pub(super) service: Service,
    /// Until when the unit counts in the queue.
    pub(super) leaves: Time,
    /// IP bytes.
    pub(super) bytes: u32,
    /// Bytes on the wire.
    pub(super) wire: u32,
}

/// What changes at a plain gate by units that come before the next row, noted together: what became of them is shown by one row first,
/// the same one or a later one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    /// The last change; that row is the first one then or later.
    pub(super) until: Time,
    /// Those whose service ended.
    pub(super) ended: Count,
    /// Those that joined the queue and left it.
    pub(super) joined: Count,
    /// The last service that began, and the wait before it.
    pub(super) begun: (Service, Span),
}

impl Statistics {
    /// [`Statistics::alike_until`] where each unit is noted by itself.
    pub(super) const NONE_ALIKE: (Time, Time) = (Time::NEVER, Time::ZERO);

    pub(super) fn new(plan: &GatePlan, context: &GateContext) -> Statistics {
        let GateContext { seed, measured, precision, record, .. } = *context;
        let recorder = || Box::new(Recorder::new(plan, record, measured.until, rate_stream(plan, seed)));
        Statistics {
            counters: Counters::new(measured, precision),
            recorder: (record != RecordLevel::Summary).then(recorder),
        }
    }

    /// A unit is dropped at its arrival.
    pub(super) fn refuse(&mut self, at: Time, wire: u32) {
        self.counters.refuse(at, u64::from(wire));
        if let Some(recorder) = &mut self.recorder {
            recorder.refuse(at);
        }
    }

    /// A unit that arrived at `arrival` and has joined the queue is dropped from it at `at`.
    pub(super) fn cull(
        &mut self,
        (arrival, at): (Time, Time),
        (bytes, wire): (u32, u32),
        reason: DropReason,
    ) {
        self.counters.cull((arrival, at), (bytes, wire), reason);
        if let Some(recorder) = &mut self.recorder {
            recorder.cull(at, u64::from(bytes), reason);
        }
    }

    /// A unit is marked CE at `at`.
    pub(super) fn mark(&mut self, at: Time, wire: u32) {
        self.counters.mark(at, u64::from(wire));
        if let Some(recorder) = &mut self.recorder {
            recorder.mark(at);
        }
    }

    /// The discipline drops or marks with this probability, in 10⁻¹⁸, from `at` on.
    #[inline]
    pub(super) fn probability(&mut self, at: Time, probability: impl FnOnce() -> Option<u64>) {
        if let Some(recorder) = &mut self.recorder
            && let Some(probability) = probability()
        {
            recorder.probability(at, probability as f64 / 1e18);
        }
    }

    /// A unit joins the queue, which now holds `queue`.
    #[inline]
    pub(super) fn join(&mut self, at: Time, queue: Backlog, bytes: u32) {
        self.counters.queue_is(at, queue);
        if let Some(recorder) = &mut self.recorder {
            recorder.join(at, u64::from(bytes));
        }
    }

    /// The service of a unit is known. A unit that is in the queue for any time has joined it before; `joined`: this one has, even if it
    /// leaves at the instant of its arrival.
    #[inline(always)]
    pub(super) fn serve(&mut self, served: Served, joined: bool, tokens: Option<i128>) {
        let Served { arrival, service, leaves, bytes, .. } = served;
        self.counters.serve(arrival, service.start, (leaves, u64::from(bytes)));
        if let Some(recorder) = &mut self.recorder {
            recorder.took(service.start, tokens);
            if leaves > arrival {
                recorder.serve(&served);
            } else if joined {
                recorder.serve_on_arrival(&served);
            } else {
                recorder.serve_at_once(&served);
            }
        }
    }

    /// A unit that arrives at `at` joins a queue that counts only waiting units, or is served at once; its service is known and final.
    /// Writes rows, and counts nothing.
    #[inline]
    pub(super) fn record_passage(&mut self, at: Time, service: Service, bytes: u32) {
        let Some(recorder) = &mut self.recorder else { return };
        let served = Served { arrival: at, service, leaves: service.start, bytes, wire: bytes };
        if service.start > at {
            recorder.join(at, u64::from(bytes));
            recorder.serve(&served);
        } else {
            recorder.serve_at_once(&served);
        }
    }

    /// Units that find a plain gate idle, and whose service ends before, may be noted later ([`Statistics::note_passed`]).
    #[inline(always)]
    pub(super) fn unnoted_until(&self) -> Time {
        self.recorder.as_ref().map_or(Time::NEVER, |recorder| recorder.unnoted_until())
    }

    /// Where the service that is known last ends at `end`, what other units change is noted together ([`Passed`]) if they come until the
    /// first instant, that of the next row, and their services end until the second one, that of the first row that shows `end`.
    #[inline(always)]
    pub(super) fn alike_until(&self, end: Time) -> (Time, Time) {
        self.recorder.as_ref().map_or(Statistics::NONE_ALIKE, |recorder| recorder.alike_until(end))
    }

    /// Notes the units that have passed a plain gate and are not noted, if it is recorded, and counts nothing. To be called before anything
    /// else is recorded.
    pub(super) fn note_passed(&mut self, server: &mut PlainServer, waited: &mut Waited) {
        self.note_and_write(server, waited, Time::ZERO);
    }

    /// [`Statistics::note_passed`], and writes the rows before `at`. Returns when the next is due.
    #[inline(never)]
    pub(super) fn note_and_write(&mut self, server: &mut PlainServer, waited: &mut Waited, at: Time) -> Time {
        let Some(recorder) = &mut self.recorder else { return Time::NEVER };
        recorder.pass_and_write(&server.unnoted(waited), at)
    }

    /// [`Statistics::note_passed`], and the beginning of the next service, of a unit that came at `at`. Returns
    /// [`Statistics::alike_until`] with it.
    #[inline(never)]
    pub(super) fn note_start(
        &mut self,
        server: &mut PlainServer,
        waited: &mut Waited,
        (at, service): (Time, Service),
    ) -> (Time, Time) {
        let Some(recorder) = &mut self.recorder else { return Statistics::NONE_ALIKE };
        recorder.pass(&server.unnoted_until_start(waited, at, service));
        recorder.alike_until(service.end)
    }

    /// Writes the rows before `at`. Returns when the next is due, at a gate whose rows are written at fixed times.
    pub(super) fn record_until(&mut self, at: Time) -> Time {
        self.recorder.as_mut().map_or(Time::NEVER, |recorder| recorder.next_row(at))
    }

    /// Units of so many bytes come, are served and are gone before the next row.
    pub(super) fn record_gone(&mut self, bytes: u64) {
        if let Some(recorder) = &mut self.recorder {
            recorder.gone(bytes);
        }
    }

    /// Writes rows for units that come together, at a gate whose rows are written at fixed times, and counts nothing.
    pub(super) fn record_together(&mut self, together: &Together) {
        if let Some(recorder) = &mut self.recorder {
            recorder.pass_together(together);
        }
    }

    /// The service of a unit of so many IP bytes that has not left ends at `end` instead. `in_queue`: it counts in the queue
    /// until then.
    pub(super) fn reschedule(
        &mut self,
        arrival: Time,
        (expected, end): (Time, Time),
        bytes: u32,
        in_queue: bool,
    ) {
        if in_queue {
            self.counters.requeued(arrival, (expected, end), u64::from(bytes));
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.reschedule(end, in_queue);
        }
    }

    /// A unit that arrived at `at` is lost at the end of its service.
    pub(super) fn lose(&mut self, at: Time, end: Time, wire: u32) {
        self.counters.lose(at, end, u64::from(wire));
        if let Some(recorder) = &mut self.recorder {
            recorder.lose(end);
        }
    }

    /// The policer has let a unit pass; `tat` is the theoretical arrival time of its contract from now on.
    pub(super) fn policed(&mut self, at: Time, tat: Interval) {
        if let Some(recorder) = &mut self.recorder {
            recorder.policed(at, tat);
        }
    }

    /// The rate is set to `bps`.
    pub(super) fn set_rate(&mut self, at: Time, bps: f64) {
        if let Some(recorder) = &mut self.recorder {
            recorder.set_rate(at, bps);
        }
    }

    /// How long the next cell takes to arrive, as a fluid.
    pub(super) fn spread(&mut self, spread: Span) {
        if let Some(recorder) = &mut self.recorder {
            recorder.spread(spread);
        }
    }

    /// The rows so far; none where the gate is not recorded.
    pub(super) fn history_so_far(&self) -> &[GateRow] {
        self.recorder.as_ref().map_or(&[], |recorder| recorder.rows())
    }

    /// Ends the recording and returns its rows; `None` where the gate was not recorded.
    pub(super) fn take_history(&mut self) -> Option<Vec<GateRow>> {
        self.recorder.take().map(|recorder| recorder.finish())
    }

    /// Whether rows are written.
    pub(super) fn is_recorded(&self) -> bool {
        self.recorder.is_some()
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        self.recorder.as_ref().map_or(0, |recorder| recorder.memory_bytes())
    }
}
