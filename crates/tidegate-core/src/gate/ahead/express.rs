//! The express way through a plain gate: one constant rate, no random loss, IP bytes as the packet's
//! size, a queue that counts waiting packets (`GatePlan::is_plain` has the list). Most packets of a large run meet such
//! gates. Everything that a packet touches at an idle plain gate lies in one cache line.

use crate::gate::books::Count;
use crate::gate::rate::Service;
use crate::serial::span_of;
use crate::units::{Measured, Span, Time};

/// The server of a plain gate, and counters of the units that pass it without the books.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(in crate::gate) struct Express {
    /// End of the last unit's service; `Time::NEVER` where the express way is closed.
    free: Time,
    /// The size of the last unit.
    bytes: u64,
    /// The service time of that size: whole picoseconds, and a remainder in 10⁻¹² bit.
    quotient: u64,
    remainder: u64,
    /// Work left over, in 10⁻¹² bit; less than `speed`.
    carry: u64,
    delay: Span,
    /// Units of the last size that arrived and were delivered inside the measured time, and that the books have not counted.
    passed: u64,
    /// Bits per second; 0 where the express way is closed.
    speed: u64,
    /// Such units of other sizes, and those of the last size before others came.
    earlier: Count,
}

/// How a server serves units of one size.
#[derive(Clone, Copy, Debug)]
pub(in crate::gate) struct Pace {
    quotient: u64,
    remainder: u64,
    speed: u64,
}

impl Pace {
    /// How long a service takes that begins with nothing left over, and the work left over then.
    #[inline(always)]
    pub(in crate::gate) fn first_service(self) -> (Span, u64) {
        (Span::from_picos(self.quotient), self.remainder)
    }

    /// No service is shorter.
    #[inline(always)]
    pub(in crate::gate) fn shortest(self) -> Span {
        Span::from_picos(self.quotient)
    }

    /// How long a service takes that begins with so much work left over, and the work left over then.
    #[inline(always)]
    pub(in crate::gate) fn service(self, carry: u64) -> (Span, u64) {
        let (mut picos, mut left) = (self.quotient, carry + self.remainder);
        if left >= self.speed {
            left -= self.speed;
            picos += 1;
        }
        (Span::from_picos(picos), left)
    }
}

impl Express {
    pub(in crate::gate) fn new(speed: u64, delay: Span) -> Express {
        Express {
            free: if speed == 0 { Time::NEVER } else { Time::ZERO },
            bytes: 0,
            quotient: 0,
            remainder: 0,
            carry: 0,
            delay,
            passed: 0,
            speed,
            earlier: Count::default(),
        }
    }

    pub(in crate::gate) fn is_open(&self) -> bool {
        self.speed > 0
    }

    pub(in crate::gate) fn free(&self) -> Time {
        self.free
    }

    /// The size of the last unit.
    pub(in crate::gate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Units that arrived and were delivered inside the measured time, and that the books have not counted.
    pub(in crate::gate) fn inside(&self) -> Count {
        Count {
            packets: self.earlier.packets + self.passed,
            bytes: self.earlier.bytes + self.passed * self.bytes,
        }
    }

    /// Passes a unit if the server has been idle, the unit has the last size, and arrival and departure lie inside
    /// the measured time. Returns when it arrives at whatever comes next.
    #[inline]
    pub(in crate::gate) fn pass_idle(&mut self, at: Time, bytes: u32, measured: &Measured) -> Option<Time> {
        let bytes = u64::from(bytes);
        if at <= self.free || bytes != self.bytes || at < measured.from {
            return None;
        }
        // Neither sum overflows: an instant and a delay are 100 days at most, the time of a unit 106 days
        // (`span_of`), and 213 days can be represented.
        let end = at + Span::from_picos(self.quotient);
        if end >= measured.until {
            return None;
        }
        self.free = end;
        self.carry = self.remainder;
        self.passed += 1;
        Some(end + self.delay)
    }

    /// Whether it serves units of this size, and the last one had it.
    #[inline]
    pub(in crate::gate) fn knows(&self, bytes: u32) -> bool {
        self.speed > 0 && u64::from(bytes) == self.bytes
    }

    /// The constant delay behind the server.
    #[inline(always)]
    pub(in crate::gate) fn delay(&self) -> Span {
        self.delay
    }

    /// Serves the next unit. Its end is rounded down and the remainder carried over, as in
    /// [`crate::serial::Serializer`].
    #[inline]
    pub(in crate::gate) fn serve(&mut self, at: Time, bytes: u32) -> Service {
        let bytes = u64::from(bytes);
        if bytes != self.bytes {
            self.earlier = self.inside();
            (self.passed, self.bytes) = (0, bytes);
            (self.quotient, self.remainder) = span_of(bytes * 8, self.speed);
        }
        let (start, carry) = if at > self.free { (at, 0) } else { (self.free, self.carry) };
        let (service, carry) = self.pace().service(carry);
        (self.free, self.carry) = (start.saturating_add(service), carry);
        Service { start, end: self.free }
    }

    /// How it serves units of the last size.
    #[inline(always)]
    pub(in crate::gate) fn pace(&self) -> Pace {
        Pace { quotient: self.quotient, remainder: self.remainder, speed: self.speed }
    }

    /// Counts a unit of the last size that arrived and is delivered inside the measured time.
    #[inline(always)]
    pub(in crate::gate) fn count_one(&mut self) {
        self.passed += 1;
    }

    /// When the server is free, and the work left over.
    #[inline(always)]
    pub(in crate::gate) fn state(&self) -> (Time, u64) {
        (self.free, self.carry)
    }

    /// Sets those.
    #[inline(always)]
    pub(in crate::gate) fn set_state(&mut self, (free, carry): (Time, u64)) {
        (self.free, self.carry) = (free, carry);
    }
}
