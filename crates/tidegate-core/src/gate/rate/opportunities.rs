//! A trace of delivery opportunities, with Mahimahi's exact byte accounting. Each opportunity carries the same number of
//! bytes. Several small packets may share one, and a large packet may span several. What is left of an opportunity when
//! no packet waits is lost. A packet that arrives at the instant of an opportunity is too late for it.
//!
//! Example: opportunities of 1500 bytes at 1, 2 and 3 ms; packets of 1000, 1000 and 500
//! bytes wait at 0. The first leaves at 1 ms, the second at 2 ms (500 of its bytes went at
//! 1 ms), the third at 2 ms too.

use std::sync::Arc;

use crate::gate::rate::{Capacity, Service};
use crate::plan::{AtEnd, OpportunityTrace};
use crate::units::{Measured, PICOS_PER_SECOND, Span, Time};

/// A walk over the opportunities.
#[derive(Clone, Debug)]
pub struct Cursor {
    trace: Arc<OpportunityTrace>,
    at_end: AtEnd,
    index: usize,
    cycle: u64,
}

impl Cursor {
    /// A walk at the first opportunity.
    #[must_use]
    pub fn new(trace: Arc<OpportunityTrace>, at_end: AtEnd) -> Cursor {
        Cursor { trace, at_end, index: 0, cycle: 0 }
    }

    /// Bytes of an opportunity.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        self.trace.bytes
    }

    /// The instant of the opportunity under the cursor.
    #[must_use]
    pub fn at(&self) -> Time {
        match self.trace.at.get(self.index) {
            Some(at) => at.saturating_add(Span::from_picos(self.cycle)),
            None => Time::NEVER,
        }
    }

    /// Moves to the next opportunity.
    pub fn step(&mut self) {
        self.index += 1;
        if self.index == self.trace.at.len() && self.at_end == AtEnd::Repeat {
            self.index = 0;
            self.cycle = self.cycle.saturating_add(self.trace.period.picos());
        }
    }
}

/// State of the law.
#[derive(Clone, Debug)]
pub struct Opportunities {
    cursor: Cursor,
    /// Bytes left of the opportunity under the cursor.
    left: u32,
    free: Time,
    measured: Measured,
    unused: u64,
    /// Of the unit in service when the measured time ends, the bytes sent inside it.
    in_transit: u64,
}

impl Opportunities {
    /// A trace from its beginning, counted inside `measured`.
    #[must_use]
    pub fn new(trace: Arc<OpportunityTrace>, at_end: AtEnd, measured: Measured) -> Opportunities {
        let left = trace.bytes;
        let cursor = Cursor::new(trace, at_end);
        Opportunities { cursor, left, free: Time::ZERO, measured, unused: 0, in_transit: 0 }
    }

    /// When a unit begins. A unit that waited when the one before it left may use the rest of that
    /// opportunity; any other begins after its own arrival.
    pub(super) fn next_start(&mut self, arrival: Time) -> Time {
        if arrival >= self.free {
            while self.cursor.at() <= arrival && self.cursor.at() != Time::NEVER {
                self.waste();
            }
        }
        self.cursor.at()
    }

    pub(super) fn transmit(&mut self, arrival: Time, bits: u64) -> Service {
        let start = self.next_start(arrival);
        let mut need = bits / 8;
        let mut sent_inside = 0;
        let end = loop {
            let at = self.cursor.at();
            if at == Time::NEVER {
                break at;
            }
            let used = need.min(u64::from(self.left));
            need -= used;
            self.left -= used as u32;
            if self.measured.holds(at) {
                sent_inside += used;
            }
            if need == 0 {
                break at;
            }
            self.next();
        };
        if start < self.measured.until && end >= self.measured.until {
            self.in_transit = sent_inside;
        }
        if self.left == 0 {
            self.next();
        }
        self.free = end;
        Service { start, end }
    }

    fn waste(&mut self) {
        let at = self.cursor.at();
        if self.measured.holds(at) {
            self.unused += u64::from(self.left);
        }
        self.next();
    }

    fn next(&mut self) {
        self.cursor.step();
        self.left = self.cursor.trace.bytes;
    }

    pub(super) fn capacity(&self, measured: Measured) -> Capacity {
        let mut rest = self.clone();
        while rest.cursor.at() < measured.until {
            rest.waste();
        }
        let mut whole = Cursor { index: 0, cycle: 0, ..self.cursor.clone() };
        let mut offered = 0u128;
        while whole.at() < measured.until {
            if whole.at() >= measured.from {
                offered += u128::from(whole.trace.bytes);
            }
            whole.step();
        }
        let work = 8 * u128::from(PICOS_PER_SECOND);
        Capacity {
            offered: offered * work,
            unused: Some(u128::from(rest.unused) * work),
            in_transit: u128::from(self.in_transit) * work,
        }
    }
}
