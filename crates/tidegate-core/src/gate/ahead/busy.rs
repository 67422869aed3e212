//! Many units in a row through a plain gate that stays busy: what [`Gate::pass_busy`] does for one, with what changes at each
//! kept in registers.

use crate::gate::Gate;
use crate::gate::ahead::{Ahead, Express, Pace};
use crate::gate::books::Waiting;
use crate::gate::queue::Queue;
use crate::unit::Blame;
use crate::units::{Measured, Span, Time};

/// A plain gate that serves units of one size without a pause.
pub(crate) struct Busy<'a> {
    pace: Pace,
    /// When the server is free, and the work left over.
    free: Time,
    carry: u64,
    /// Where that goes back to.
    express: &'a mut Express,
    ahead: &'a mut Ahead,
    queue: &'a Queue,
    waiting: Waiting<'a>,
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
    /// The gate as it serves units of `bytes` without a pause; `None`: its last unit had another size, or it is not plain.
    #[inline(always)]
    pub(crate) fn stay_busy(&mut self, bytes: u32, measured: &Measured) -> Option<Busy<'_>> {
        if !self.express.knows(bytes) {
            return None;
        }
        let (free, carry) = self.express.state();
        Some(Busy {
            pace: self.express.pace(),
            free,
            carry,
            express: &mut self.express,
            ahead: &mut self.ahead,
            queue: &self.queue,
            waiting: self.books.counters.waiting(u64::from(bytes)),
            delay: self.exit.delay(),
            bytes,
            index: self.index,
            measured: *measured,
        })
    }
}

impl Busy<'_> {
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
    pub(crate) fn take_idle(&mut self, turn: &Turn) {
        (self.free, self.carry) = (turn.end, turn.carry);
        self.waiting.pass_at_once();
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
