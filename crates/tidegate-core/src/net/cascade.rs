//! Gates in series that one way alone uses, passed as one while all of them are idle.
//!
//! Where a unit finds every server of a series idle, its arrival at the end is its arrival at
//! the beginning plus a constant; so is that of the next one of the same size if it comes
//! later than the longest service after it. Only then the gates are left out; what they
//! missed they are told before anything else happens to them ([`Leg::settle`]).

use crate::gate::Gate;
use crate::gate::rate::Window;
use crate::net::routes::Series;
use crate::unit::{Blame, Passage, Unit};
use crate::units::{Span, Time};

/// Gates in series passed as one.
#[derive(Clone, Debug, Default)]
struct Leg {
    /// A unit that comes later than this finds every server idle.
    busy_until: Time,
    /// The longest service.
    service: Span,
    /// All services and delays.
    total: Span,
    /// A unit that comes earlier than this leaves the last server inside the window.
    latest: Time,
    /// Units passed as one that the gates have not been told of.
    passed: u64,
    /// Size of the units; 0: not all servers were idle.
    bytes: u32,
}

impl Leg {
    #[inline]
    fn pass(&mut self, at: Time, bytes: u32) -> Option<Time> {
        if bytes != self.bytes || at <= self.busy_until || at >= self.latest {
            return None;
        }
        self.busy_until = at + self.service;
        self.passed += 1;
        Some(at + self.total)
    }

    /// Tells the gates what passed; they stand for themselves from now on.
    #[inline]
    fn settle(&mut self, gates: &mut [Gate], numbers: &[u32]) {
        if self.passed > 0 {
            self.tell(gates, numbers);
        }
        self.bytes = 0;
    }

    #[inline(never)]
    fn tell(&mut self, gates: &mut [Gate], numbers: &[u32]) {
        let mut at = Time::from_picos(self.busy_until.picos() - self.service.picos());
        for gate in numbers {
            at = gates[*gate as usize].passed_idle(at, self.passed);
        }
        self.passed = 0;
    }

    /// A unit that came at `at` found every server idle.
    #[inline]
    fn open(&mut self, at: Time, bytes: u32, gates: &[Gate], numbers: &[u32], window: Window) {
        if numbers.len() < 2 {
            return;
        }
        let (mut service, mut total, mut delay) = (Span::ZERO, Span::ZERO, Span::ZERO);
        for gate in numbers {
            let passage = gates[*gate as usize].idle_passage();
            service = service.max(passage.service);
            delay = passage.delay;
            total = total + passage.service + delay;
        }
        *self = Leg {
            busy_until: at.saturating_add(service),
            service,
            total,
            latest: Time::from_picos((window.until.picos() + delay.picos()).saturating_sub(total.picos())),
            passed: 0,
            bytes,
        };
    }
}

/// A series of gates with its two legs: all of it, and what follows the slowest gate, which
/// stays idle behind it while that one is busy.
#[derive(Clone, Debug)]
pub(super) struct Cascade {
    all: Leg,
    rest: Leg,
    gates: Vec<u32>,
    /// Place of the first gate of `rest`.
    split: usize,
    /// The gate that dropped a unit last.
    dropped_by: u32,
}

impl Cascade {
    pub(super) fn new(series: Series) -> Cascade {
        let Series { gates, split } = series;
        Cascade { all: Leg::default(), rest: Leg::default(), gates, split, dropped_by: u32::MAX }
    }

    /// Takes a unit through; the gate that drops it is the error.
    #[inline]
    pub(super) fn pass(
        &mut self,
        at: Time,
        unit: &mut Unit,
        gates: &mut [Gate],
        window: Window,
    ) -> Result<Time, u32> {
        if let Some(out) = self.all.pass(at, unit.bytes) {
            return Ok(out);
        }
        let (out, blame) =
            self.walk(at, unit.bytes, unit.blame, gates, window).get().ok_or(self.dropped_by)?;
        unit.blame = blame;
        Ok(out)
    }

    #[inline(never)]
    fn walk(&mut self, at: Time, bytes: u32, blame: Blame, gates: &mut [Gate], window: Window) -> Passage {
        match self.walk_legs(at, bytes, blame, gates, window) {
            Ok((out, blame)) => Passage::new(out, blame),
            Err(gate) => {
                self.dropped_by = gate;
                Passage::DROPPED
            }
        }
    }

    #[inline(always)]
    fn walk_legs(
        &mut self,
        at: Time,
        bytes: u32,
        mut blame: Blame,
        gates: &mut [Gate],
        window: Window,
    ) -> Result<(Time, Blame), u32> {
        self.all.settle(gates, &self.gates);
        let (before, after) = self.gates.split_at(self.split);
        let (middle, mut idle) = walk(at, bytes, &mut blame, gates, before, window)?;
        let out = if let Some(out) = self.rest.pass(middle, bytes) {
            out
        } else {
            self.rest.settle(gates, after);
            let (out, rest_idle) = walk(middle, bytes, &mut blame, gates, after, window)?;
            if rest_idle {
                self.rest.open(middle, bytes, gates, after, window);
            }
            idle &= rest_idle;
            out
        };
        if idle {
            self.rest.settle(gates, after);
            self.all.open(at, bytes, gates, &self.gates, window);
        }
        Ok((out, blame))
    }

    /// Tells the gates all that passed.
    pub(super) fn settle(&mut self, gates: &mut [Gate]) {
        self.all.settle(gates, &self.gates);
        self.rest.settle(gates, &self.gates[self.split..]);
    }
}

/// Gate by gate; also says whether every server was idle.
#[inline(always)]
fn walk(
    mut at: Time,
    bytes: u32,
    blame: &mut Blame,
    gates: &mut [Gate],
    numbers: &[u32],
    window: Window,
) -> Result<(Time, bool), u32> {
    let mut idle = true;
    for number in numbers {
        let gate = &mut gates[*number as usize];
        at = if let Some(out) = gate.pass_idle(at, bytes, &window) {
            out
        } else {
            idle = false;
            let (out, longer) = gate.pass_busy(at, bytes, *blame).get().ok_or(*number)?;
            *blame = longer;
            out
        };
    }
    Ok((at, idle))
}
