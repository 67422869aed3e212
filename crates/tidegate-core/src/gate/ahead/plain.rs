//! The service of a unit at a plain gate: one constant rate, IP bytes as the packet's size, a queue that counts waiting packets
//! (`GatePlan::is_simple` has the list). Most packets of a large run meet such gates.
//!
//! [`UnitRow::step`] takes one unit through such a gate, whether its server is idle or busy, and whether the gate is recorded or not. A
//! single unit is a row of one; the units of a longer row have what changes from one to the next in registers. Units that find the
//! server idle, as most do, need no more than [`PlainServer`]. At a recorded gate they are [noted together](noting).
//!
//! *Computes* what [`Gate::take`] and [`Gate::depart`] compute. *Condition*: the gate is plain. *Skips* the parts that such a gate does
//! not have, and a look at the queue as long as its largest length so far cannot be exceeded. `ahead_and_step_by_step_agree` compares it.

mod noting;

use crate::gate::ahead::{Ahead, PlainServer, Waited};
use crate::gate::drops::DropReason;
use crate::gate::exit::Exit;
use crate::gate::queue::Queue;
use crate::gate::rate::Service;
use crate::gate::statistics::{Counters, Lengths, Served, Statistics};
use crate::gate::{Gate, Parts};
use crate::unit::{Blame, Unit};
use crate::units::{Measured, Span, Time};

/// A plain gate that units of one size pass. `RECORDED`: it writes rows. `LOSSY`: it loses units behind its server, and writes none.
struct UnitRow<'a, const RECORDED: bool, const LOSSY: bool> {
    /// The server, in registers, and where it goes back to.
    server: PlainServer,
    stored: &'a mut PlainServer,
    ahead: &'a mut Ahead,
    queue: &'a Queue,
    stats: &'a mut Statistics,
    exit: &'a mut Exit,
    /// The waits of these units.
    waits: Lengths,
    /// Units that can still join before the queue could exceed its largest length so far; 0: unknown.
    spare: u64,
    index: usize,
    /// The end of the measured time; [`Time::ZERO`] where the first of these units arrives before it begins.
    until: Time,
    /// What changes the same rows is noted together: units that come until the first instant, and whose service ends until the second
    /// one ([`Statistics::alike_until`]).
    alike_until: (Time, Time),
}

/// A unit whose passage is not only counted.
enum Unusual {
    /// The queue has no place for it.
    Full,
    /// It has this service, not all of it inside the measured time.
    Outside(Service),
    /// It is lost behind the server.
    Lost(Service),
}

impl<const RECORDED: bool, const LOSSY: bool> UnitRow<'_, RECORDED, LOSSY> {
    /// A unit comes at `at`, before which all rows are written: when it arrives at whatever comes next, and what it has waited for by
    /// then. `ONE`: no other follows, so nothing is kept for it.
    #[inline(always)]
    fn step<const ONE: bool>(&mut self, at: Time, blame: Blame) -> Result<(Time, Blame), Unusual> {
        let (service, carry) = self.server.service(at);
        let waits = service.start > at;
        let bytes = self.server.bytes as u32;
        if waits {
            if self.spare == 0 {
                self.spare = self.ahead.make_room::<ONE>(at, bytes, self.queue, &mut self.stats.counters);
                if self.spare == 0 {
                    return Err(Unusual::Full);
                }
            }
            self.spare -= 1;
            if RECORDED {
                self.ahead.waited.add(at, service.start, self.server.passed + 1);
            }
        }
        let noted = RECORDED && service.end > self.alike_until.1 && self.note_start(at, service);
        (self.server.free, self.server.carry) = (service.end, carry);
        if service.end >= self.until {
            return Err(Unusual::Outside(service));
        }
        let lost = LOSSY && self.exit.loses_next();
        self.server.passed += u64::from(!lost);
        if noted {
            self.stored.noted = self.server.passed;
        }
        // It does not overflow: the measured time and a delay are 100 days at most, and 213 days can be represented.
        let out = service.end + self.server.delay;
        let fate = |blamed| if lost { Err(Unusual::Lost(service)) } else { Ok((out, blamed)) };
        if !waits {
            return fate(blame);
        }
        let wait = Span::from_picos(service.start.picos() - at.picos());
        self.ahead.join(self.ahead.backlog(), service.start, bytes);
        let counters = &mut self.stats.counters;
        if ONE {
            counters.add_wait(wait);
        } else {
            self.waits.record_some(&mut counters.waits, wait);
        }
        fate(blame.or_wait(wait, self.index))
    }

    /// The first of `units` pass as long as each finds the server idle, and is gone before the next row. Returns their number: none where
    /// units may be lost.
    #[inline(always)]
    fn serve_idle_ones(&mut self, units: &mut [(Time, Unit)]) -> usize {
        if LOSSY {
            return 0;
        }
        let (mut passed, mut until) = (0, self.idle_until());
        for (at, unit) in units {
            if self.has_rows_before(*at) {
                self.write_rows(*at);
                until = self.idle_until();
            }
            let Some(out) = self.server.serve_if_idle(*at, unit.bytes, until) else { break };
            *at = out;
            passed += 1;
        }
        passed
    }

    /// Puts the server back where it came from; who notes units has noted there how many.
    #[inline(always)]
    fn store(&mut self) {
        let PlainServer { free, carry, passed, .. } = self.server;
        (self.stored.free, self.stored.carry, self.stored.passed) = (free, carry, passed);
    }

    /// The last unit has passed.
    #[inline(always)]
    fn end(mut self) {
        self.store();
        if RECORDED {
            self.stored.until = self.idle_until();
        }
        self.stats.counters.add_waits(self.waits);
    }
}

impl Gate {
    /// The gate as units of its server's last size pass it, the first of which arrives at `first`.
    #[inline(always)]
    fn row<const RECORDED: bool, const LOSSY: bool>(
        &mut self,
        first: Time,
        measured: &Measured,
    ) -> UnitRow<'_, RECORDED, LOSSY> {
        let Gate { plain, index, parts } = self;
        let Parts { ahead, queue, stats, exit, .. } = &mut **parts;
        let server = *plain;
        let until = if first < measured.from { Time::ZERO } else { measured.until };
        let waits = Lengths::default();
        let alike_until = if RECORDED && until > Time::ZERO {
            stats.alike_until(server.free)
        } else {
            Statistics::NONE_ALIKE
        };
        let index = *index as usize;
        UnitRow {
            server,
            stored: plain,
            ahead,
            queue,
            stats,
            exit,
            waits,
            spare: 0,
            index,
            until,
            alike_until,
        }
    }

    /// A unit passes a plain gate, if the server is idle, the unit has the size of the last one, and its service lies inside the measured
    /// time and before the next row. `None`: otherwise; the state is unchanged.
    #[inline(always)]
    pub(crate) fn pass_idle(&mut self, at: Time, unit: &Unit, measured: &Measured) -> Option<Time> {
        if u64::from(unit.bytes) != self.plain.bytes || at < measured.from || !self.plain.is_idle(at) {
            return None;
        }
        self.plain.serve_idle(at, self.plain.until)
    }

    /// A unit passes a plain gate. `None`: it is dropped.
    #[inline(always)]
    pub(super) fn pass_plain<const RECORDED: bool, const LOSSY: bool>(
        &mut self,
        at: Time,
        unit: &mut Unit,
        measured: &Measured,
    ) -> Option<Time> {
        self.set_size::<RECORDED>(unit.bytes);
        let mut row = self.row::<RECORDED, LOSSY>(at, measured);
        if row.has_rows_before(at) {
            row.write_rows(at);
        }
        let passed = row.step::<true>(at, unit.blame);
        row.end();
        match passed {
            Ok((out, blame)) => {
                unit.blame = blame;
                Some(out)
            }
            Err(unusual) => self.pass_unusual(at, unit, unusual),
        }
    }

    /// Units of `bytes` follow.
    #[inline(always)]
    fn set_size<const RECORDED: bool>(&mut self, bytes: u32) {
        if RECORDED && u64::from(bytes) != self.plain.bytes {
            self.note_passed();
            self.parts.ahead.waited = Waited::default();
        }
        self.plain.set_size(bytes);
    }

    /// Handles a unit that is dropped or lost, or whose service is not all inside the measured time.
    #[cold]
    fn pass_unusual(&mut self, at: Time, unit: &mut Unit, unusual: Unusual) -> Option<Time> {
        let bytes = unit.bytes;
        self.note_passed();
        if let Unusual::Outside(service) | Unusual::Lost(service) = &unusual
            && service.start > at
        {
            unit.note_wait(service.start.saturating_since(at), self.index as usize);
        }
        let fate = match unusual {
            Unusual::Full => Err(self.refuse(at, unit, DropReason::QueueFull)),
            // Another gate never lets it go.
            Unusual::Outside(_) if at == Time::NEVER => Ok(Time::NEVER),
            Unusual::Outside(service) => {
                let Parts { ahead, stats, .. } = &mut *self.parts;
                if service.start > at {
                    let queue = ahead.join(ahead.backlog(), service.start, bytes);
                    stats.counters.queue_is(at, queue);
                }
                stats.counters.serve(at, service.start, (service.start, u64::from(bytes)));
                self.depart(&Served { arrival: at, service, leaves: service.start, bytes, wire: bytes })
            }
            Unusual::Lost(service) => Err(self.lose(at, service.end, bytes)),
        };
        self.keep_drop(fate)
    }

    /// `units` pass the gate, in order, until one of them is dropped. Returns how many have passed.
    #[inline(always)]
    pub(crate) fn pass_row(&mut self, units: &mut [(Time, Unit)], measured: &Measured) -> usize {
        let mut passed = 0;
        while let Some((at, unit)) = units.get_mut(passed) {
            if !self.plain.is_plain() {
                let Some(out) = self.pass(*at, unit, measured) else { break };
                *at = out;
                passed += 1;
                continue;
            }
            let units = &mut units[passed..];
            let (more, dropped) = if self.parts.stats.is_recorded() {
                self.pass_alike::<true, false>(units, measured)
            } else if self.parts.exit.is_lossy() {
                self.pass_alike::<false, true>(units, measured)
            } else {
                self.pass_alike::<false, false>(units, measured)
            };
            passed += more;
            if dropped {
                break;
            }
        }
        passed
    }

    /// The first of `units` pass a plain gate as long as they have one size and nothing unusual happens to one; that one passes, too,
    /// unless it is dropped. Returns the number of those that have passed, and whether the next one is dropped.
    #[inline(never)]
    fn pass_alike<const RECORDED: bool, const LOSSY: bool>(
        &mut self,
        units: &mut [(Time, Unit)],
        measured: &Measured,
    ) -> (usize, bool) {
        let Some(&(first, Unit { bytes, .. })) = units.first() else { return (0, false) };
        self.set_size::<RECORDED>(bytes);
        let mut row = self.row::<RECORDED, LOSSY>(first, measured);
        let mut passed = 0;
        let unusual = 'row: loop {
            passed += row.serve_idle_ones(&mut units[passed..]);
            loop {
                let Some((at, unit)) = units.get_mut(passed).filter(|(_, unit)| unit.bytes == bytes) else {
                    break 'row None;
                };
                match row.step::<false>(*at, unit.blame) {
                    Ok((out, blame)) => (*at, unit.blame) = (out, blame),
                    Err(what) => break 'row Some(what),
                }
                passed += 1;
                if !LOSSY
                    && units
                        .get(passed)
                        .is_some_and(|(next, _)| *next > row.server.free || row.has_rows_before(*next))
                {
                    break;
                }
            }
        };
        row.end();
        let (Some(what), Some((at, unit))) = (unusual, units.get_mut(passed)) else { return (passed, false) };
        let Some(out) = self.pass_unusual(*at, unit, what) else { return (passed, true) };
        *at = out;
        (passed + 1, false)
    }
}

impl Ahead {
    /// Number of units of `bytes` that can join before the queue could exceed its largest length so far. If it is zero, removes the units
    /// that have left by `at`; the result is then at least one where the queue has room.
    #[inline(always)]
    fn make_room<const ONE: bool>(
        &mut self,
        at: Time,
        bytes: u32,
        queue: &Queue,
        counters: &mut Counters,
    ) -> u64 {
        let found = self.backlog();
        let spare = if ONE {
            u64::from(!counters.is_larger(found.with(bytes)))
        } else {
            found.spare(bytes, counters.largest())
        };
        if spare > 0 { spare } else { self.make_new_room(at, bytes, queue, counters) }
    }

    #[inline(never)]
    fn make_new_room(&mut self, at: Time, bytes: u32, queue: &Queue, counters: &mut Counters) -> u64 {
        let found = self.backlog_at(at);
        if queue.is_full(found, bytes) {
            return 0;
        }
        counters.queue_is(at, found.with(bytes));
        found.spare(bytes, counters.largest()).max(1)
    }
}
