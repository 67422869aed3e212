//! Many units in a row through a plain gate that stays busy: what [`Gate::pass_busy`] does for one, with what changes at each
//! kept in registers.

use crate::gate::Gate;
use crate::gate::ahead::{Ahead, Express, Pace};
use crate::gate::backlog::Backlog;
use crate::gate::books::{Recorder, Served, Waiting};
use crate::gate::queue::Queue;
use crate::gate::rate::Service;
use crate::unit::{Blame, Unit};
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
    /// So many more units may join the queue before it could be larger than ever; 0 as long as that is not known.
    spare: u64,
    /// What writes its rows.
    recorder: Option<&'a mut Recorder>,
    delay: Span,
    bytes: u32,
    index: usize,
    /// When the measured time ends.
    until: Time,
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
    /// The gate as it serves units of `bytes` without a pause, of which the first comes at `first`; `None`: its last unit had another
    /// size, or it is not such a gate, or not all that follows lies inside the measured time.
    #[inline(always)]
    pub(crate) fn stay_busy<const RECORDED: bool>(
        &mut self,
        bytes: u32,
        first: Time,
        measured: &Measured,
    ) -> Option<Busy<'_, RECORDED>> {
        if !RECORDED {
            self.end_alone();
        }
        let express = match &mut self.parts.recorded {
            Some(server) if RECORDED && self.parts.books.next_row().is_some() => server,
            // It is closed where the gate is recorded.
            _ => &mut self.express,
        };
        if !express.knows(bytes) {
            return None;
        }
        let (free, carry) = express.state();
        if first < measured.from || free >= measured.until {
            return None;
        }
        let (waiting, recorder) = self.parts.books.waiting(u64::from(bytes));
        Some(Busy {
            pace: express.pace(),
            free,
            carry,
            express,
            ahead: &mut self.parts.ahead,
            queue: &self.parts.queue,
            waiting,
            spare: 0,
            recorder: recorder.filter(|_| RECORDED),
            delay: self.parts.exit.delay(),
            bytes,
            index: self.alone.gate(),
            until: measured.until,
        })
    }
}

/// What an idle server needs to know.
struct Idle {
    free: Time,
    service: Span,
    delay: Span,
    until: Time,
}

impl Idle {
    /// The first of `units` that are `alike`, find it idle and leave inside the measured time pass it. Answers with how many, when the
    /// last of them came, and when the server is free then. Apart, so that all it needs is in registers.
    #[inline(never)]
    fn pass(self, units: &mut [(Time, Unit)], alike: impl Fn(&Unit) -> bool) -> (usize, Time, Time) {
        let Idle { mut free, service, delay, until } = self;
        let (mut taken, mut last) = (0, Time::ZERO);
        for (at, unit) in units {
            // As in [`Express::pass_idle`], neither sum overflows.
            let end = *at + service;
            if *at <= free || end >= until || !alike(unit) {
                break;
            }
            (free, last) = (end, *at);
            *at = end + delay;
            taken += 1;
        }
        (taken, last, free)
    }
}

impl<const RECORDED: bool> Busy<'_, RECORDED> {
    /// The turn of a unit that comes at `at` and finds the server idle; `None`: it does not.
    #[inline(always)]
    pub(crate) fn next_idle(&self, at: Time) -> Option<Turn> {
        if at <= self.free {
            return None;
        }
        let (service, carry) = self.pace.first_service();
        self.turn(at + service, carry)
    }

    /// What a unit gets whose service ends at `end`, if that is inside the measured time.
    #[inline(always)]
    fn turn(&self, end: Time, carry: u64) -> Option<Turn> {
        // As in [`Express::pass_idle`], neither sum overflows.
        if end >= self.until {
            return None;
        }
        Some(Turn { end, carry, out: end + self.delay })
    }

    /// That unit takes its turn.
    #[inline(always)]
    pub(crate) fn take_idle(&mut self, at: Time, turn: &Turn) {
        if RECORDED {
            self.record(at, Service { start: at, end: turn.end });
        }
        (self.free, self.carry) = (turn.end, turn.carry);
        self.waiting.pass_at_once(1);
    }

    /// Those of `units` that come before all others, are `alike` and find the server idle take their turns. Answers with how many, and when
    /// the last of them came.
    #[inline(always)]
    pub(crate) fn take_idle_ones(
        &mut self,
        units: &mut [(Time, Unit)],
        alike: impl Fn(&Unit) -> bool,
    ) -> (usize, Time) {
        if RECORDED {
            let next = units.first_mut().filter(|(_, unit)| alike(unit));
            let Some((turn, at)) = next.and_then(|(at, _)| Some((self.next_idle(*at)?, at))) else {
                return (0, Time::ZERO);
            };
            let came = std::mem::replace(at, turn.out);
            self.take_idle(came, &turn);
            return (1, came);
        }
        let (service, carry) = self.pace.first_service();
        let idle = Idle { free: self.free, service, delay: self.delay, until: self.until };
        let (taken, last, free) = idle.pass(units, alike);
        if taken > 0 {
            (self.free, self.carry) = (free, carry);
            self.waiting.pass_at_once(taken as u64);
        }
        (taken, last)
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
        if at >= self.free {
            return None;
        }
        // First, because a queue is as large as ever only if the unit comes inside the measured time.
        let (service, carry) = self.pace.service(self.carry);
        let turn = self.turn(self.free + service, carry)?;
        if self.spare == 0 {
            self.spare = self.ahead.make_room(at, self.bytes, self.queue, &mut self.waiting.most);
            if self.spare == 0 {
                return None;
            }
        }
        Some(turn)
    }

    /// The unit takes its turn. Answers with what it has waited for by then.
    #[inline(always)]
    pub(crate) fn take(&mut self, at: Time, turn: &Turn, blame: Blame) -> Blame {
        debug_assert!(
            !self.queue.is_full(self.ahead.backlog(), self.bytes),
            "a queue that was larger had room"
        );
        let start = self.free;
        let wait = Span::from_picos(start.picos() - at.picos());
        if RECORDED {
            self.record(at, Service { start, end: turn.end });
        }
        (self.free, self.carry) = (turn.end, turn.carry);
        self.spare -= 1;
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

impl Ahead {
    /// How many units of `bytes` may join the queue before it could be larger than `most`, the largest so far. If it is none at
    /// first, units that have left by `at` are forgotten, and one more may join where the queue has room: `most` follows.
    #[inline(never)]
    fn make_room(&mut self, at: Time, bytes: u32, queue: &Queue, most: &mut Backlog) -> u64 {
        let spare = self.backlog().spare(bytes, *most);
        if spare > 0 {
            return spare;
        }
        let found = self.backlog_at(at);
        if queue.is_full(found, bytes) {
            return 0;
        }
        *most = most.max(found.with(bytes));
        found.spare(bytes, *most)
    }
}
