//! The server of a plain gate ([`super::plain`]): when a service begins and ends, and how many units have passed.

use crate::gate::rate::Service;
use crate::gate::statistics::{Count, Passed};
use crate::serial::span_of;
use crate::units::{Span, Time};

/// The server of a plain gate: all that a unit touches at an idle one is one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(in crate::gate) struct PlainServer {
    /// End of the last unit's service; `Time::NEVER` where the gate is not plain.
    pub(super) free: Time,
    /// The size of the last unit.
    pub(super) bytes: u64,
    /// The service time of that size: whole picoseconds, and a remainder in 10⁻¹² bit.
    quotient: u64,
    remainder: u64,
    /// Work left over, in 10⁻¹² bit; less than `speed`.
    pub(super) carry: u64,
    pub(super) delay: Span,
    /// Units of the last size that arrived and were delivered inside the measured time; [`crate::gate::Gate::counters`] adds them.
    pub(super) passed: u64,
    /// The service of a unit that finds the server idle ends before, or more than its number must be noted: the end of the measured time,
    /// and at a recorded gate the next row.
    pub(super) until: Time,
    /// Of the units in `passed`, those that the recorder knows of. Of the others [`Waited`] says the rest.
    pub(super) noted: u64,
    /// Bits per second; 0 where the gate is not plain.
    speed: u64,
    /// Such units of other sizes, and those of the last size before others came.
    earlier: Count,
}

/// Of the units that have passed a recorded plain gate and are not noted, those that waited.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::gate) struct Waited {
    /// Their number.
    units: u64,
    /// The last one that waited, noted or not: how many units of its size had passed with it, when its service began, and its wait.
    last: u64,
    start: Time,
    wait: Span,
}

impl Waited {
    /// A unit that arrived at `at` has waited until `start`, and is the last of so many that have passed.
    #[inline(always)]
    pub(super) fn add(&mut self, at: Time, start: Time, passed: u64) {
        let wait = Span::from_picos(start.picos() - at.picos());
        *self = Waited { units: self.units + 1, last: passed, start, wait };
    }

    /// They are noted.
    #[inline(always)]
    pub(super) fn forget(&mut self) {
        self.units = 0;
    }
}

impl PlainServer {
    pub(in crate::gate) fn new(speed: u64, delay: Span, until: Time) -> PlainServer {
        PlainServer {
            free: if speed == 0 { Time::NEVER } else { Time::ZERO },
            bytes: 0,
            quotient: 0,
            remainder: 0,
            carry: 0,
            delay,
            passed: 0,
            until,
            noted: 0,
            speed,
            earlier: Count::default(),
        }
    }

    #[inline]
    pub(in crate::gate) fn is_plain(&self) -> bool {
        self.speed > 0
    }

    /// Units that arrived and were delivered inside the measured time.
    pub(in crate::gate) fn inside(&self) -> Count {
        Count {
            packets: self.earlier.packets + self.passed,
            bytes: self.earlier.bytes + self.passed * self.bytes,
        }
    }

    /// Units of `bytes` follow.
    #[inline]
    pub(super) fn set_size(&mut self, bytes: u32) {
        let bytes = u64::from(bytes);
        if bytes != self.bytes {
            self.earlier = self.inside();
            (self.passed, self.noted, self.bytes) = (0, 0, bytes);
            (self.quotient, self.remainder) = span_of(bytes * 8, self.speed);
        }
    }

    /// The service of a unit of the last size that comes at `at`, and the work left over then. Its end is rounded down and the
    /// remainder carried over, as in [`crate::serial::Serializer`].
    #[inline(always)]
    pub(super) fn service(&self, at: Time) -> (Service, u64) {
        let (mut start, mut picos, mut left) = (at, self.quotient, self.remainder);
        if at <= self.free {
            (start, left) = (self.free, left + self.carry);
            if left >= self.speed {
                left -= self.speed;
                picos += 1;
            }
        }
        (Service { start, end: Time::from_picos(start.picos().saturating_add(picos)) }, left)
    }

    /// Whether a unit that arrives at `at` is served at once, and no work is left over then.
    #[inline(always)]
    pub(super) fn is_idle(&self, at: Time) -> bool {
        at > self.free || (at == self.free && self.carry == 0)
    }

    /// Serves a unit of the last size that arrives at `at`, inside the measured time, and finds the server idle. Returns when it arrives
    /// at whatever comes next. `None`: its service does not end before `until`; the state is unchanged.
    #[inline(always)]
    pub(super) fn serve_idle(&mut self, at: Time, until: Time) -> Option<Time> {
        // A unit that the gate before never lets go comes never. No other sum overflows: an instant and a delay are 100 days at most, the
        // time of a unit 106 days (`span_of`), and 213 days can be represented.
        let end = at.saturating_add(Span::from_picos(self.quotient));
        if end >= until {
            return None;
        }
        (self.free, self.carry) = (end, self.remainder);
        self.passed += 1;
        Some(end + self.delay)
    }

    /// The units that are not noted, none or more, of which these waited. They are noted then.
    #[inline(always)]
    pub(in crate::gate) fn unnoted(&mut self, waited: &mut Waited) -> Passed {
        let (start, wait) = if waited.last == self.passed {
            (waited.start, waited.wait)
        } else {
            (Time::from_picos(self.free.picos().wrapping_sub(self.quotient)), Span::ZERO)
        };
        let service = Service { start, end: self.free };
        self.take_unnoted(waited, service.end, (service, wait))
    }

    /// The units that are not noted, until the beginning of this service of the next one, which came at `at` and is among those that
    /// waited if it did.
    #[inline(always)]
    pub(in crate::gate) fn unnoted_until_start(
        &mut self,
        waited: &mut Waited,
        at: Time,
        service: Service,
    ) -> Passed {
        let wait = Span::from_picos(service.start.picos() - at.picos());
        self.take_unnoted(waited, service.start, (service, wait))
    }

    #[inline(always)]
    fn take_unnoted(&mut self, waited: &mut Waited, until: Time, begun: (Service, Span)) -> Passed {
        let of = |packets| Count { packets, bytes: packets * self.bytes };
        let (ended, joined) = (of(self.passed - self.noted), of(waited.units));
        self.noted = self.passed;
        waited.forget();
        Passed { until, ended, joined, begun }
    }

    /// Serves a unit of any size, if it has the last size and arrives after the service before it; else as [`PlainServer::serve_idle`].
    #[inline(always)]
    pub(super) fn serve_if_idle(&mut self, at: Time, bytes: u32, until: Time) -> Option<Time> {
        if u64::from(bytes) != self.bytes || at <= self.free {
            return None;
        }
        self.serve_idle(at, until)
    }
}
