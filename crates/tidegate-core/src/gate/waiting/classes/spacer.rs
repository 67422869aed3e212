//! Virtual circuits in a path: each class has a contract of its own (GCRA), and what waits in it is sent at its theoretical
//! emission time or in the first free place after it. Of classes whose time has come, the one with the earliest time goes
//! first; of several with one time, the first of them.
//!
//! This is the order of a cell spacer (P. Boyer, F. Guillemin, M. Servel and J.-P. Coudreuse, "Spacing cells protects and
//! enhances utilization of ATM network links", IEEE Network 6(5), 1992): emission times are computed by virtual scheduling
//! (ITU-T I.371, Annex A), and a cell whose slot is taken is sent in the next free one. Emission times follow each other, so
//! a unit that was sent late makes no other late, as far as the contract's tolerance goes: that is counted from the instants
//! at which units were really sent, so what leaves a class always keeps its contract. With no tolerance what is late stays late.
//!
//! Example, two classes of T = 10 on a path with a slot of 8, cells waiting from 0 on. The first sends at 0, its next time
//! is 10; the second sends at 8, its next is 18. At 16 the first is due, then, at 24, the second: each sends in every other
//! slot, 16 apart.

use crate::gcra::{Gcra, Release};
use crate::plan::{SpacedClass, SpacerPlan};
use crate::soonest::Soonest;
use crate::units::Time;

/// The scheduler of a cell spacer: the contracts of the classes and the emission times of their first units.
#[derive(Clone, Debug)]
pub(super) struct Spacer {
    /// Bytes on the wire of what contracts count.
    unit: u32,
    classes: Vec<Class>,
    /// The first units of classes by their theoretical emission times.
    emissions: Soonest,
    /// Classes whose first unit has no emission time yet.
    unknown: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Class {
    /// The contract, with what was sent.
    limits: Vec<Gcra>,
    /// The contract, as if every unit had been sent at its emission time.
    planned: Vec<Gcra>,
    release: Release,
    /// Units that wait.
    waiting: u64,
    /// When the first of them is to be sent.
    emission: Option<Time>,
    /// From when on the first of them could be sent, if its emission time is not known.
    since: Option<Time>,
    /// When the unit that was taken last was to be sent, if it was the only one.
    sending: Option<Time>,
}

impl Class {
    fn new(plan: &SpacedClass) -> Class {
        let limits: Vec<Gcra> = plan.limits.iter().map(|limit| Gcra::new(*limit)).collect();
        Class {
            planned: limits.clone(),
            limits,
            release: plan.release,
            waiting: 0,
            emission: None,
            since: None,
            sending: None,
        }
    }

    /// When so many units together keep the contract, from `from` on; `None`: never.
    fn emission(&self, from: Time, units: u64) -> Option<Time> {
        let from = from.picos();
        let mut at = from;
        for (limit, planned) in self.limits.iter().zip(&self.planned) {
            let earliest = planned.earliest(from, units)?;
            let planned = match self.release {
                Release::Tat if earliest > from => earliest.max(planned.theoretical_arrival()),
                Release::Tat | Release::Earliest => earliest,
            };
            at = at.max(planned).max(limit.earliest(from, units)?);
        }
        Some(Time::from_picos(at))
    }
}

impl Spacer {
    pub(super) fn new(plan: &SpacerPlan) -> Spacer {
        let mut emissions = Soonest::default();
        plan.classes.iter().for_each(|_| emissions.push());
        emissions.build();
        Spacer {
            unit: plan.unit_bytes.max(1),
            classes: plan.classes.iter().map(Class::new).collect(),
            emissions,
            unknown: Vec::new(),
        }
    }

    fn units(&self, wire: u32) -> u64 {
        u64::from(wire.div_ceil(self.unit))
    }

    /// Whether a unit of so many bytes on the wire could ever keep the contract of its class.
    pub(super) fn fits(&self, class: usize, wire: u32) -> bool {
        let units = self.units(wire);
        self.classes[class].limits.iter().all(|limit| limit.earliest(0, units).is_some())
    }

    /// A unit comes.
    pub(super) fn arrive(&mut self, now: Time, class: usize) {
        self.classes[class].waiting += 1;
        if self.classes[class].waiting == 1 {
            self.classes[class].since = Some(now);
            self.unknown.push(class);
        }
    }

    /// A unit of the class waits no more.
    pub(super) fn leave(&mut self, class: usize) {
        let left = &mut self.classes[class];
        left.waiting = left.waiting.saturating_sub(1);
        if left.waiting == 0 {
            left.since = None;
            if let Some(emission) = left.emission.take() {
                self.emissions.set(class, Time::NEVER.picos());
                left.sending = Some(emission);
            }
        }
    }

    /// The class that sends at `now`, or when the first one may. `head` says how many bytes on the wire its first unit has.
    pub(super) fn choose(&mut self, now: Time, head: impl Fn(usize) -> Option<u32>) -> Result<usize, Time> {
        while let Some(number) = self.unknown.pop() {
            let Some(since) = self.classes[number].since.take() else { continue };
            let units = head(number).map(|wire| self.units(wire));
            let emission = units.and_then(|units| self.classes[number].emission(since, units));
            self.classes[number].emission = emission;
            self.emissions.set(number, emission.unwrap_or(Time::NEVER).picos());
        }
        let (at, class) = self.emissions.first();
        let at = Time::from_picos(at);
        if at <= now { Ok(class) } else { Err(at) }
    }

    /// When a class without units could send one of so many bytes, from `now` on.
    pub(super) fn may_send(&self, class: usize, now: Time, wire: u32) -> Time {
        self.classes[class].emission(now, self.units(wire)).unwrap_or(Time::NEVER)
    }

    /// The class that was chosen at `now` sends so many bytes.
    pub(super) fn charge(&mut self, now: Time, class: usize, wire: u32) {
        let units = self.units(wire);
        let sent = &mut self.classes[class];
        sent.limits.iter_mut().for_each(|limit| limit.count_units(now.picos(), units));
        let emission = sent.emission.take();
        self.emissions.set(class, Time::NEVER.picos());
        let planned = emission.or(sent.sending.take()).unwrap_or(now);
        sent.planned.iter_mut().for_each(|limit| limit.count_units(planned.picos(), units));
        if sent.waiting > 0 {
            sent.since = Some(planned);
            self.unknown.push(class);
        }
    }
}
