//! Units that wait alone at a plain gate: the second of two that a sender lets go at once finds the first one in service, and nobody
//! else. What they change is noted beside the express way and booked many at a time, because a large run has thousands of
//! gates, and the lines of their queues and books are in no cache.

use crate::gate::ahead::Ahead;
use crate::gate::backlog::Backlog;
use crate::gate::books::Counters;
use crate::gate::{Gate, Parts};
use crate::unit::{Blame, Passage};
use crate::units::{Measured, Span, Time};

/// What is noted of them.
#[derive(Debug)]
pub(in crate::gate) struct Alone {
    /// The number of the gate, which stands here so that a unit that waits alone touches no third line.
    index: u32,
    /// A unit of this size has a place in an empty queue, and has had one before, so the queue is not larger than ever then; 0: not known.
    fits: u32,
    /// Waits that are not booked yet, and how often there was each. A unit that comes together with the one before waits for its whole
    /// service: whole picoseconds, or one more.
    waits: [Span; 2],
    times: [u32; 2],
    /// When the last of these units leaves the queue, which has not been told of it; [`Time::ZERO`]: there is none.
    leaves: Time,
}

impl Alone {
    pub(in crate::gate) fn new(index: usize) -> Alone {
        Alone { index: index as u32, fits: 0, waits: [Span::ZERO; 2], times: [0; 2], leaves: Time::ZERO }
    }

    /// The number of the gate.
    #[inline]
    pub(in crate::gate) fn gate(&self) -> usize {
        self.index as usize
    }

    /// Notes a wait; `false`: there is no room for it.
    #[inline(always)]
    fn note(&mut self, wait: Span) -> bool {
        for (noted, times) in self.waits.iter_mut().zip(&mut self.times) {
            if *times == 0 || (*noted == wait && *times < u32::MAX) {
                (*noted, *times) = (wait, *times + 1);
                return true;
            }
        }
        false
    }

    /// Books the waits that are noted.
    pub(in crate::gate) fn book(&self, counters: &mut Counters) {
        for (wait, times) in self.waits.iter().zip(self.times).filter(|(_, times)| *times > 0) {
            counters.wait_inside(*wait, u64::from(times));
        }
    }
}

impl Gate {
    /// Passes a unit of the last size that comes as the service of the one before ends, or waits for that behind no other, if all of it
    /// lies inside the measured time; `None`: it is another unit, and nothing has been done.
    #[inline(always)]
    pub(super) fn pass_alone(
        &mut self,
        at: Time,
        bytes: u32,
        blame: Blame,
        measured: &Measured,
    ) -> Option<Passage> {
        let Gate { express, alone, .. } = self;
        if at < measured.from || !express.knows(bytes) {
            return None;
        }
        let (start, carry) = express.state();
        let (pace, wait) = (express.pace(), start.saturating_since(at));
        // The one in service takes its whole picoseconds or one more, so whoever comes so late finds that all others have left the queue.
        if at > start || wait > pace.shortest() || (wait > Span::ZERO && bytes != alone.fits) {
            return None;
        }
        let (service, carry) = pace.service(carry);
        // As in `Express::pass_idle`, neither sum overflows.
        let end = start + service;
        if end >= measured.until {
            return None;
        }
        express.set_state((end, carry));
        express.count_one();
        let out = end + express.delay();
        if wait == Span::ZERO {
            return Some(Passage::new(out, blame));
        }
        alone.leaves = start;
        let blame = blame.or_wait(wait, alone.gate());
        if !alone.note(wait) {
            self.book_alone(wait);
        }
        Some(Passage::new(out, blame))
    }

    /// Books the waits that are noted, and notes another one.
    #[inline(never)]
    fn book_alone(&mut self, wait: Span) {
        self.alone.book(&mut self.parts.books.counters);
        self.alone.times = [0; 2];
        self.alone.note(wait);
    }

    /// The queue is told of the last unit that waited alone, before it is asked or told anything else.
    #[inline(always)]
    pub(super) fn end_alone(&mut self) {
        if self.alone.leaves != Time::ZERO {
            self.tell_queue();
        }
    }

    #[inline(never)]
    fn tell_queue(&mut self) {
        let bytes = self.express.bytes() as u32;
        self.parts.ahead.hold_alone(self.alone.leaves, bytes);
        self.alone.leaves = Time::ZERO;
    }

    /// A unit of `bytes` has waited: whether others of this size may wait alone from now on.
    #[inline(always)]
    pub(super) fn note_fit(&mut self, bytes: u32) {
        let alone = Backlog::default().with(bytes);
        let Parts { books, queue, .. } = &*self.parts;
        let fits = !books.counters.is_larger(alone) && !queue.is_full(Backlog::default(), bytes);
        self.alone.fits = if fits { bytes } else { 0 };
    }
}

impl Ahead {
    /// A unit is the only one in the queue, until `leaves`.
    fn hold_alone(&mut self, leaves: Time, bytes: u32) {
        self.leaving.clear();
        self.removed = self.joined;
        self.join(self.backlog(), leaves, bytes);
    }
}
