//! Many units in a row through a plain gate that stays busy: what [`Gate::pass_busy`] does for one, with what changes at each
//! kept in registers.

use crate::gate::Gate;
use crate::gate::ahead::{Ahead, Express, Pace};
use crate::gate::books::{Recorder, Served, Waiting};
use crate::gate::queue::Queue;
use crate::gate::rate::Service;
use crate::unit::Blame;
use crate::units::{Measured, Span, Time};

/// A plain gate that serves units of one size without a pause; `RECORDED`: it writes rows every so often.
pub(crate) struct Busy<'a, const RECORDED: bool> {
    pace: Pace,
    /// When the server is free, and the work left over.
    free: Time,
    carry: u64,
    /// Where that goes back to.
    express: &'a mut Express,
    ahead: &'a mut Ahead,
    queue: &'a Queue,
    waiting: Waiting<'a>,
    /// What writes its rows.
    recorder: Option<&'a mut Recorder>,
    delay: Span,
    bytes: u32,
    index: usize,
    measured: Measured,
}

/// What the next unit would get.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    /// When its service ends, and the work left over then.
    end: Time,
    carry: u64,
    /// When it arrives at whatever comes next.
    pub(crate) out: Time,
}

impl Gate {
    /// The gate as it serves units of `bytes` without a pause; `None`: its last unit had another size, or it is not such a
    /// gate.
    #[inline(always)]
    pub(crate) fn stay_busy<const RECORDED: bool>(
        &mut self,
        bytes: u32,
        measured: &Measured,
    ) -> Option<Busy<'_, RECORDED>> {
        let express = match &mut self.recorded {
            Some(server) if RECORDED && self.books.next_row().is_some() => server,
            // It is closed where the gate is recorded.
            _ => &mut self.express,
        };
        if !express.knows(bytes) {
            return None;
        }
        let (free, carry) = express.state();
        let (waiting, recorder) = self.books.waiting(u64::from(bytes));
        Some(Busy {
            pace: express.pace(),
            free,
            carry,
            express,
            ahead: &mut self.ahead,
            queue: &self.queue,
            waiting,
            recorder: recorder.filter(|_| RECORDED),
            delay: self.exit.delay(),
            bytes,
            index: self.index,
            measured: *measured,
        })
    }
}

impl<const RECORDED: bool> Busy<'_, RECORDED> {
    /// The turn of a unit that comes at `at` and finds the server idle; `None`: it does not.
    #[inline(always)]
    pub(crate) fn next_idle(&self, at: Time) -> Option<Turn> {
        if at <= self.free || at < self.measured.from {
            return None;
        }
        self.turn(at, 0)
    }

    /// What a unit gets whose service begins at `start`, if it ends inside the measured time.
    #[inline(always)]
    fn turn(&self, start: Time, carry: u64) -> Option<Turn> {
        let (end, carry) = self.pace.end(start, carry);
        if end >= self.measured.until {
            return None;
        }
        // It does not overflow: an instant and a delay are 100 days at most, and 213 days can be represented.
        Some(Turn { end, carry, out: end + self.delay })
    }

    /// That unit takes its turn.
    #[inline(always)]
    pub(crate) fn take_idle(&mut self, at: Time, turn: &Turn) {
        if RECORDED {
            self.record(at, Service { start: at, end: turn.end });
        }
        (self.free, self.carry) = (turn.end, turn.carry);
        self.waiting.pass_at_once();
    }

    /// Writes the rows before `at`, when a unit comes that gets this service, and notes what later rows show of it.
    #[inline(never)]
    fn record(&mut self, at: Time, service: Service) {
        if let Some(recorder) = &mut self.recorder {
            let (leaves, bytes) = (service.start, self.bytes);
            recorder.pass(&Served { arrival: at, service, leaves, bytes, wire: bytes });
        }
    }

    /// The turn of a unit that comes at `at`; `None`: it would not wait, it may be dropped, or not all of it lies inside the measured
    /// time. Nothing has been done yet.
    #[inline(always)]
    pub(crate) fn next(&mut self, at: Time) -> Option<Turn> {
        if at >= self.free || at < self.measured.from {
            return None;
        }
        // First, because a queue is as large as ever only if the unit comes inside the measured time.
        let turn = self.turn(self.free, self.carry)?;
        let queue = self.ahead.backlog().with(self.bytes);
        if self.waiting.is_larger(queue) && !self.has_room(at) {
            return None;
        }
        Some(turn)
    }

    /// Whether the queue takes one more, which may make it larger than ever; units that have left are forgotten first.
    #[inline(never)]
    fn has_room(&mut self, at: Time) -> bool {
        let found = self.ahead.backlog_at(at);
        let room = !self.queue.is_full(found, self.bytes);
        if room {
            self.waiting.queue_is(found.with(self.bytes));
        }
        room
    }

    /// The unit takes its turn. Answers with what it has waited for by then.
    #[inline(always)]
    pub(crate) fn take(&mut self, at: Time, turn: &Turn, blame: Blame) -> Blame {
        debug_assert!(
            !self.queue.is_full(self.ahead.backlog(), self.bytes),
            "a queue that was larger had room"
        );
        let start = self.free;
        let wait = start.saturating_since(at);
        if RECORDED {
            self.record(at, Service { start, end: turn.end });
        }
        (self.free, self.carry) = (turn.end, turn.carry);
        self.ahead.join(self.ahead.backlog(), start, self.bytes);
        self.waiting.pass(wait);
        blame.or_wait(wait, self.index)
    }

    /// The last unit has passed.
    #[inline(always)]
    pub(crate) fn end(self) {
        self.express.set_state((self.free, self.carry));
        self.waiting.end();
    }
}
