//! Gates in series that one way alone uses, passed as one while all of them are idle.
//!
//! Where a unit finds every server of a series idle, its arrival at the end is its arrival at
//! the beginning plus a constant; so is that of the next one of the same size if it comes
//! later than the longest service after it. Only then the gates are left out; before
//! anything else happens to them they receive what they missed ([`Leg::settle`]).

use crate::gate::Gate;
use crate::net::fast::gates::Gates;
use crate::net::routes::Series;
use crate::unit::{Blame, Passage, Unit};
use crate::units::{Measured, Span, Time};

/// Gates in series passed as one.
#[derive(Clone, Copy, Debug, Default)]
struct Leg {
    /// A unit that comes later than this finds every server idle.
    busy_until: Time,
    /// The longest service.
    service: Span,
    /// All services and delays.
    total: Span,
    /// The service of a unit that comes earlier than this ends at each server inside the measured time, and by its next row.
    latest: Time,
    /// Units passed as one that the gates have not counted yet.
    passed: u64,
    /// Size of the units; 0: not all servers were idle.
    bytes: u32,
    /// The last unit that was taken through gate by gate found every server idle.
    idle: bool,
}

impl Leg {
    #[inline]
    fn pass(&mut self, at: Time, bytes: u32) -> Option<Time> {
        if bytes != self.bytes || !self.admits(at) {
            return None;
        }
        Some(self.take(at))
    }

    /// Whether a unit of the right size passes as through one gate.
    #[inline(always)]
    fn admits(&self, at: Time) -> bool {
        at > self.busy_until && at < self.latest
    }

    /// Whether a unit of the right size finds every server idle, although it may not pass as through one gate.
    #[inline(always)]
    fn has_been_idle(&self, at: Time, bytes: u32) -> bool {
        bytes == self.bytes && at > self.busy_until
    }

    /// It does. Answers with when it leaves.
    #[inline(always)]
    fn take(&mut self, at: Time) -> Time {
        self.busy_until = at + self.service;
        self.passed += 1;
        at + self.total
    }

    /// Tells the gates what passed; they stand for themselves from now on.
    #[inline]
    fn settle<G: Gates + ?Sized>(&mut self, gates: &mut G, numbers: &[u32]) {
        crate::work::step();
        if self.passed > 0 {
            self.tell(gates, numbers);
        }
        self.bytes = 0;
    }

    #[inline(never)]
    fn tell<G: Gates + ?Sized>(&mut self, gates: &mut G, numbers: &[u32]) {
        let mut at = Time::from_picos(self.busy_until.picos() - self.service.picos());
        for gate in numbers {
            at = gates.at(*gate).passed_idle(at, self.passed);
        }
        self.passed = 0;
    }

    /// Gate by gate; as one from now on if every server was idle.
    #[inline(always)]
    fn walk<G: Gates + ?Sized>(
        &mut self,
        at: Time,
        bytes: u32,
        mut blame: Blame,
        gates: &mut G,
        numbers: &[u32],
        measured: &Measured,
    ) -> Result<Passage, u32> {
        crate::work::step();
        self.settle(gates, numbers);
        let (mut idle, mut out) = (true, at);
        for number in numbers {
            let gate = gates.at(*number);
            out = if let Some(out) = gate.pass_idle(out, bytes, measured) {
                out
            } else {
                idle = false;
                let (out, longer) = gate.pass_idle_or_busy(out, bytes, blame).get().ok_or(*number)?;
                blame = longer;
                out
            };
        }
        // As one only from the second unit on: where every other one waits, it is not worth it.
        if std::mem::replace(&mut self.idle, idle) && idle {
            self.open(at, bytes, gates, numbers, measured);
        }
        Ok(Passage::new(out, blame))
    }

    /// A unit that came at `at` found every server idle.
    fn open<G: Gates + ?Sized>(
        &mut self,
        at: Time,
        bytes: u32,
        gates: &mut G,
        numbers: &[u32],
        measured: &Measured,
    ) {
        crate::work::step();
        let (mut service, mut total) = (Span::ZERO, Span::ZERO);
        let mut latest = Time::NEVER;
        for gate in numbers {
            let gate = gates.at(*gate);
            let passage = gate.idle_passage();
            let ends = total + passage.service;
            let after = measured.until.min(gate.after_next_row());
            latest = latest.min(Time::from_picos(after.picos().saturating_sub(ends.picos())));
            service = service.max(passage.service);
            total = ends + passage.delay;
        }
        *self = Leg {
            busy_until: at.saturating_add(service),
            service,
            total,
            latest,
            passed: 0,
            bytes,
            idle: true,
        };
    }
}

/// A series of gates, passed as one while all of it is idle. While the slowest gate is busy the
/// gates behind it stay idle, and those before it often do: these two parts are then passed
/// as one each.
#[derive(Clone, Debug)]
pub(in crate::net) struct Cascade {
    all: Leg,
    lead: Leg,
    rest: Leg,
    slowest: u32,
    /// Place of the slowest gate among them.
    place: usize,
    gates: Vec<u32>,
    /// The gate that dropped a unit last.
    dropped_by: u32,
    /// The slowest gate is recorded. Each of the others may be recorded or not.
    recorded: bool,
    /// The one that the gates were made with.
    measured: Measured,
}

impl Cascade {
    pub(in crate::net) fn new(series: Series, all: &[Gate], measured: Measured) -> Cascade {
        let Series { gates, slowest: place } = series;
        let recorded = all[gates[place] as usize].is_plain_and_recorded();
        Cascade {
            all: Leg::default(),
            lead: Leg::default(),
            rest: Leg::default(),
            slowest: gates[place],
            place,
            gates,
            dropped_by: u32::MAX,
            recorded,
            measured,
        }
    }

    /// Its gates, in order.
    pub(in crate::net) fn gates(&self) -> &[u32] {
        &self.gates
    }

    /// Takes a unit through; the gate that drops it is the error.
    #[inline]
    pub(in crate::net) fn pass<G: Gates + ?Sized>(
        &mut self,
        at: Time,
        unit: &mut Unit,
        gates: &mut G,
    ) -> Result<Time, u32> {
        if let Some(out) = self.all.pass(at, unit.bytes) {
            return Ok(out);
        }
        let (out, blame) = self.pass_parts(at, unit.bytes, unit.blame, gates).get().ok_or(self.dropped_by)?;
        unit.blame = blame;
        Ok(out)
    }

    /// Takes units through in order, `delay` included, as long as all gates are idle, or as long as the slowest one is busy
    /// and all others are idle. Answers with how many; what it does for each is what [`Cascade::pass`] does.
    #[inline(always)]
    pub(in crate::net) fn pass_many(
        &mut self,
        units: &mut [(Time, Unit)],
        delay: Span,
        gates: &mut [Gate],
    ) -> usize {
        let Some((at, unit)) = units.first() else { return 0 };
        if self.all.bytes == unit.bytes {
            if self.all.admits(*at) { self.pass_idle_many(units, delay) } else { 0 }
        } else if self.all.bytes != 0 || self.rest.bytes != unit.bytes {
            0
        } else if self.lead_admits(*at, unit.bytes) {
            if self.recorded {
                self.pass_busy_recorded(units, delay, gates)
            } else {
                self.pass_busy_many::<false>(units, delay, gates)
            }
        } else if self.place == 1 && self.lead.bytes == 0 {
            if self.recorded {
                self.pass_bursts::<true>(units, delay, gates)
            } else {
                self.pass_bursts::<false>(units, delay, gates)
            }
        } else {
            0
        }
    }

    /// The same where the only gate before the slowest one stands for itself: every other unit may find it busy.
    #[inline(never)]
    fn pass_bursts<const RECORDED: bool>(
        &mut self,
        units: &mut [(Time, Unit)],
        delay: Span,
        gates: &mut [Gate],
    ) -> usize {
        let bytes = self.rest.bytes;
        let Ok([first, slowest]) = gates.get_disjoint_mut([self.gates[0] as usize, self.slowest as usize])
        else {
            return 0;
        };
        let Some((begin, _)) = units.first() else { return 0 };
        let Some(mut first) = first.stay_busy::<RECORDED>(bytes, *begin, &self.measured) else { return 0 };
        let Some(mut busy) = slowest.stay_busy::<RECORDED>(bytes, *begin, &self.measured) else { return 0 };
        let (mut rest, mut idle, mut passed) = (self.rest, self.lead.idle, 0);
        for (at, unit) in units {
            if unit.bytes != bytes {
                break;
            }
            // Two in a row that find it idle: from then on it is passed as a series.
            let at_once = if idle { None } else { first.next_idle(*at) };
            let Some(begun) = at_once.or_else(|| first.next(*at)) else { break };
            let Some(turn) = busy.next(begun.out) else { break };
            if !rest.admits(turn.out) {
                break;
            }
            idle = at_once.is_some();
            let blame = if idle {
                first.take_idle(*at, &begun);
                unit.blame
            } else {
                first.take(*at, &begun, unit.blame)
            };
            unit.blame = busy.take(begun.out, &turn, blame);
            *at = rest.take(turn.out).saturating_add(delay);
            passed += 1;
        }
        first.end();
        busy.end();
        (self.rest, self.lead.idle) = (rest, idle);
        passed
    }

    #[inline(always)]
    fn lead_admits(&self, at: Time, bytes: u32) -> bool {
        self.place == 0 || (self.lead.bytes == bytes && self.lead.admits(at))
    }

    #[inline(always)]
    fn pass_idle_many(&mut self, units: &mut [(Time, Unit)], delay: Span) -> usize {
        let (mut all, mut passed) = (self.all, 0);
        for (at, unit) in units {
            let Some(out) = all.pass(*at, unit.bytes) else { break };
            *at = out.saturating_add(delay);
            passed += 1;
        }
        self.all = all;
        passed
    }

    /// [`Cascade::pass_busy_many`] of recorded gates.
    #[inline(never)]
    fn pass_busy_recorded(&mut self, units: &mut [(Time, Unit)], delay: Span, gates: &mut [Gate]) -> usize {
        self.pass_busy_many::<true>(units, delay, gates)
    }

    #[inline(always)]
    fn pass_busy_many<const RECORDED: bool>(
        &mut self,
        units: &mut [(Time, Unit)],
        delay: Span,
        gates: &mut [Gate],
    ) -> usize {
        let bytes = self.rest.bytes;
        let slowest = &mut gates[self.slowest as usize];
        let (mut lead, mut rest, mut passed) = (self.lead, self.rest, 0);
        let leads = self.place > 0;
        let total = lead.total;
        let middle = |at: Time| if leads { at + total } else { at };
        let Some((begin, _)) = units.first() else { return 0 };
        let Some(mut busy) = slowest.stay_busy::<RECORDED>(bytes, middle(*begin), &self.measured) else {
            return 0;
        };
        for (at, unit) in units {
            if unit.bytes != bytes || (leads && !lead.admits(*at)) {
                break;
            }
            let middle = middle(*at);
            let Some(turn) = busy.next(middle) else { break };
            if !rest.admits(turn.out) {
                break;
            }
            if leads {
                lead.take(*at);
            }
            unit.blame = busy.take(middle, &turn, unit.blame);
            *at = rest.take(turn.out).saturating_add(delay);
            passed += 1;
        }
        busy.end();
        (self.lead, self.rest) = (lead, rest);
        passed
    }

    /// Not all of it is idle: what lies before the slowest gate, that gate, and what follows.
    #[inline(never)]
    fn pass_parts<G: Gates + ?Sized>(
        &mut self,
        at: Time,
        bytes: u32,
        blame: Blame,
        gates: &mut G,
    ) -> Passage {
        if self.all.has_been_idle(at, bytes) {
            let walked = self.all.walk(at, bytes, blame, gates, &self.gates, &self.measured);
            return self.told(walked);
        }
        self.all.settle(gates, &self.gates);
        let (mut middle, mut blame) = (at, blame);
        if self.place > 0 {
            match self.lead.pass(at, bytes) {
                Some(out) => middle = out,
                None => match self.pass_lead(at, bytes, blame, gates).get() {
                    Some(passed) => (middle, blame) = passed,
                    None => return Passage::DROPPED,
                },
            }
        }
        let slowest = gates.at(self.slowest);
        if let Some(behind) = slowest.pass_idle(middle, bytes, &self.measured) {
            return self.pass_idle_slowest((at, behind), bytes, blame, gates);
        }
        let Some((behind, blame)) = slowest.pass_idle_or_busy(middle, bytes, blame).get() else {
            self.dropped_by = self.slowest;
            return Passage::DROPPED;
        };
        match self.rest.pass(behind, bytes) {
            Some(out) => Passage::new(out, blame),
            None => self.walk_rest(behind, bytes, blame, gates),
        }
    }

    /// The slowest gate was idle at a unit that came to the series and has passed that gate at
    /// these times: perhaps all others were as well.
    #[inline(never)]
    fn pass_idle_slowest<G: Gates + ?Sized>(
        &mut self,
        (at, behind): (Time, Time),
        bytes: u32,
        blame: Blame,
        gates: &mut G,
    ) -> Passage {
        let passage = match self.rest.pass(behind, bytes) {
            Some(out) => Passage::new(out, blame),
            None => self.walk_rest(behind, bytes, blame, gates),
        };
        let (before, after) = (&self.gates[..self.place], &self.gates[self.place + 1..]);
        let idle = |leg: &Leg, numbers: &[u32]| numbers.is_empty() || leg.bytes == bytes;
        if passage.get().is_some() && idle(&self.lead, before) && idle(&self.rest, after) {
            self.lead.settle(gates, before);
            self.rest.settle(gates, after);
            self.all.open(at, bytes, gates, &self.gates, &self.measured);
        }
        passage
    }

    /// What lies before the slowest gate, where that is not known to be idle.
    #[inline(always)]
    fn pass_lead<G: Gates + ?Sized>(&mut self, at: Time, bytes: u32, blame: Blame, gates: &mut G) -> Passage {
        // A single gate, which every second unit may find busy.
        if self.place == 1 && self.lead.bytes == 0 {
            return self.pass_first(at, bytes, blame, gates);
        }
        self.walk_lead(at, bytes, blame, gates)
    }

    /// The first gate, which is all that lies before the slowest one and stands for itself.
    #[inline(always)]
    fn pass_first<G: Gates + ?Sized>(
        &mut self,
        at: Time,
        bytes: u32,
        blame: Blame,
        gates: &mut G,
    ) -> Passage {
        let number = self.gates[0];
        let first = gates.at(number);
        let out = first.pass_idle(at, bytes, &self.measured);
        let idle_before = std::mem::replace(&mut self.lead.idle, out.is_some());
        let Some(out) = out else {
            let passage = first.pass_idle_or_busy(at, bytes, blame);
            if passage.get().is_none() {
                self.dropped_by = number;
            }
            return passage;
        };
        // As one only from the second unit on, as in [`Leg::walk`].
        if idle_before {
            self.lead.open(at, bytes, gates, &self.gates[..1], &self.measured);
        }
        Passage::new(out, blame)
    }

    #[inline(never)]
    fn walk_lead<G: Gates + ?Sized>(&mut self, at: Time, bytes: u32, blame: Blame, gates: &mut G) -> Passage {
        let walked = self.lead.walk(at, bytes, blame, gates, &self.gates[..self.place], &self.measured);
        self.told(walked)
    }

    #[inline(never)]
    fn walk_rest<G: Gates + ?Sized>(&mut self, at: Time, bytes: u32, blame: Blame, gates: &mut G) -> Passage {
        let walked = self.rest.walk(at, bytes, blame, gates, &self.gates[self.place + 1..], &self.measured);
        self.told(walked)
    }

    fn told(&mut self, walked: Result<Passage, u32>) -> Passage {
        walked.unwrap_or_else(|gate| {
            self.dropped_by = gate;
            Passage::DROPPED
        })
    }

    /// Tells the gates all that passed.
    pub(in crate::net) fn settle(&mut self, gates: &mut [Gate]) {
        self.all.settle(gates, &self.gates);
        self.lead.settle(gates, &self.gates[..self.place]);
        self.rest.settle(gates, &self.gates[self.place + 1..]);
    }
}
