//! The express way through a gate of one constant speed that records nothing, loses nothing
//! at random, weighs packets by their IP bytes and counts those that wait: what nearly all
//! packets of a large run meet. Everything that a packet touches at an idle server lies in
//! one cache line.

use crate::gate::counters::Count;
use crate::gate::rate::Service;
use crate::serial::span_of;
use crate::units::{Measured, Span, Time};

/// See the module.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Express {
    /// End of the last unit's service; never, where the gate is not an express gate.
    free: Time,
    /// The last size divided, its time in whole picoseconds, and the remainder.
    bytes: u64,
    quotient: u64,
    remainder: u64,
    /// Work left over, in 10⁻¹² bit; less than `speed`.
    carry: u64,
    delay: Span,
    /// Units that came and were delivered inside the measured time.
    inside: Count,
    /// Bits per second; 0 where the gate is not an express gate.
    speed: u64,
}

/// A passage through an idle gate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdlePassage {
    pub(crate) service: Span,
    pub(crate) delay: Span,
}

impl Express {
    pub(super) fn new(speed: u64, delay: Span) -> Express {
        Express {
            free: if speed == 0 { Time::NEVER } else { Time::ZERO },
            bytes: 0,
            quotient: 0,
            remainder: 0,
            carry: 0,
            delay,
            inside: Count::default(),
            speed,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.speed > 0
    }

    /// 0 where the gate is not an express gate.
    pub(super) fn speed(&self) -> u64 {
        self.speed
    }

    pub(super) fn free(&self) -> Time {
        self.free
    }

    pub(super) fn inside(&self) -> Count {
        self.inside
    }

    /// Passes a unit through if the server has been idle, knows its time, and all of it
    /// happens inside the measured time. Says when it arrives at whatever comes next.
    #[inline]
    pub(super) fn pass_idle(&mut self, at: Time, bytes: u32, measured: &Measured) -> Option<Time> {
        let bytes = u64::from(bytes);
        if at <= self.free || bytes != self.bytes || at < measured.from {
            return None;
        }
        // Neither sum can pass the end of counted time: all three are 100 days at most, the
        // time of a unit 106 (`span_of`), and 213 can be counted.
        let end = at + Span::from_picos(self.quotient);
        if end >= measured.until {
            return None;
        }
        self.free = end;
        self.carry = self.remainder;
        self.inside.packets += 1;
        self.inside.bytes += bytes;
        Some(end + self.delay)
    }

    /// What an idle server makes of a unit of the last size.
    pub(super) fn idle_passage(&self) -> IdlePassage {
        IdlePassage { service: Span::from_picos(self.quotient), delay: self.delay }
    }

    /// So many units of the last size found the server idle, the last of them at `at`, all
    /// inside the measured time. Says when that one arrives at whatever comes next.
    pub(super) fn passed_idle(&mut self, at: Time, units: u64) -> Time {
        self.free = at + Span::from_picos(self.quotient);
        self.carry = self.remainder;
        self.inside.packets += units;
        self.inside.bytes += units * self.bytes;
        self.free + self.delay
    }

    /// Serves the next unit, rounded down with the remainder carried as a
    /// [`crate::serial::Serializer`] does.
    #[inline]
    pub(super) fn serve(&mut self, at: Time, bytes: u32) -> Service {
        let bytes = u64::from(bytes);
        if bytes != self.bytes {
            self.bytes = bytes;
            (self.quotient, self.remainder) = span_of(bytes * 8, self.speed);
        }
        let start = if at > self.free {
            self.carry = 0;
            at
        } else {
            self.free
        };
        let mut picos = self.quotient;
        self.carry += self.remainder;
        if self.carry >= self.speed {
            self.carry -= self.speed;
            picos += 1;
        }
        self.free = start.saturating_add(Span::from_picos(picos));
        Service { start, end: self.free }
    }
}
