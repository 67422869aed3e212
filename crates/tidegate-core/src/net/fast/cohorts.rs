//! Cohorts ([`CohortPlan`]): flows with adjacent numbers, and the gates that only one of them passes. During a run ([`super::runs`])
//! flows are independent of each other, so several threads may take its units, each those of other cohorts. New units, alarms and
//! drops are put in the queues when the run is over (`docs/design/many-flows.md`).

use crate::gate::{AckView, Gate};
use crate::net::carrier::Carrier;
use crate::net::drops::Dropped;
use crate::net::fast::directions::Direction;
use crate::net::fast::pieces::{NOBODY, Pieces, Shares};
use crate::net::fast::stretch::FastStretch;
use crate::net::fast::walk::{Lost, Walk};
use crate::net::map::{Entry, RouteMap};
use crate::plan::CohortPlan;
use crate::unit::Unit;
use crate::units::{Measured, Time};

/// Gates that lie scattered over more pieces than these for each cohort are not parted.
const PIECES: usize = 16;
/// The owner of a gate that nobody has passed yet.
const UNKNOWN: u32 = NOBODY - 1;
/// Why a cohort meets nothing that needs an event ([`Cohorts::new`]).
const ONLY_ALARMS: &str = "there are cohorts only where alarms are the only events";

/// The gates that each cohort owns, and the effects of a run that are still to be put in the queues.
#[derive(Debug)]
pub(in crate::net) struct Cohorts {
    gates: Shares,
    left: Vec<Left>,
}

/// Effects of units handled in a run, kept until the run is over.
#[derive(Debug, Default)]
pub(in crate::net) struct Left {
    /// Units on their way to each direction.
    pub(in crate::net) sent: [Vec<(Time, Unit)>; 2],
    /// Alarms to be set.
    pub(in crate::net) alarms: Vec<(usize, Time)>,
    /// Units that were dropped.
    pub(in crate::net) lost: Vec<Lost>,
}

/// A cohort of flows during a run: the run's units that come to them, and the gates that no other flow passes.
#[derive(Debug)]
pub struct Cohort<'a> {
    units: &'a mut [(Time, Unit)],
    gates: Pieces<'a, Gate>,
    common: Common<'a>,
    sent: &'a mut [Vec<(Time, Unit)>; 2],
    alarms: &'a mut Vec<(usize, Time)>,
    lost: &'a mut Vec<Lost>,
}

/// State that all cohorts share for reading.
#[derive(Clone, Copy, Debug)]
pub(super) struct Common<'a> {
    pub(super) map: &'a RouteMap,
    pub(super) stretches: &'a [FastStretch],
    pub(super) measured: Measured,
    /// When each alarm rings.
    pub(super) due: &'a [Time],
    /// The direction of each alarm.
    pub(super) directions: &'a [Direction],
    /// The direction that is handled now.
    pub(super) running: Direction,
    /// Alarms of that direction that are due before this ring in the run.
    pub(super) until: Time,
}

impl Cohorts {
    /// The cohorts of a network in which nothing but alarms is an event of its own. `None` where a gate behind the first one of a last
    /// stretch is passed by several flows, or a unit needs events.
    pub(super) fn new(map: &RouteMap, count_of_gates: usize) -> Option<Cohorts> {
        // The flow that owns each gate.
        let mut of_gates = vec![UNKNOWN; count_of_gates];
        for route in 0..map.flow_routes() {
            let flow = (route / 2) as u32;
            for (place, stretch) in map.stretches[map.stretches(route)].iter().enumerate() {
                let mut passed = map.gates_of(stretch);
                if stretch.slow_path {
                    return None;
                }
                if place > 0
                    && let Some((shared, rest)) = passed.split_first()
                {
                    note(&mut of_gates, *shared, NOBODY)?;
                    passed = rest;
                }
                passed.iter().try_for_each(|gate| note(&mut of_gates, *gate, flow))?;
            }
        }
        let gates = Shares::new(&by_cohort(map.cohorts, of_gates));
        let count = map.flows().div_ceil(map.cohorts.size());
        let few = gates.len() <= PIECES * count;
        let left = (0..count).map(|_| Left::default()).collect();
        few.then_some(Cohorts { gates, left })
    }

    /// Parts the units of a run, which are in the order of their flows, and the gates.
    pub(super) fn part<'a>(
        &'a mut self,
        mut units: &'a mut [(Time, Unit)],
        gates: &'a mut [Gate],
        common: Common<'a>,
    ) -> Vec<Cohort<'a>> {
        let count = self.left.len();
        let each = self.gates.part(gates, count).zip(&mut self.left).enumerate();
        let cohorts = each.map(|(number, (own, Left { sent, alarms, lost }))| {
            let behind = ((number + 1) * common.map.cohorts.size() * 2) as u32;
            let first_behind = units.partition_point(|(_, unit)| unit.stretch < behind);
            let (come, rest) = std::mem::take(&mut units).split_at_mut(first_behind);
            units = rest;
            Cohort { units: come, gates: own, common, sent, alarms, lost }
        });
        cohorts.collect()
    }

    /// The effects that each cohort has kept, to be put in the queues.
    pub(in crate::net) fn left(&mut self) -> impl Iterator<Item = &mut Left> {
        self.left.iter_mut()
    }
}

/// Notes that `owner`, a flow or [`NOBODY`], passes the gate at a place; `None`: another one owns it.
fn note(owners: &mut [u32], place: u32, owner: u32) -> Option<()> {
    let known = &mut owners[place as usize];
    let may = *known == UNKNOWN || *known == owner;
    *known = owner;
    may.then_some(())
}

/// The cohorts of the flows that own something.
fn by_cohort(cohorts: CohortPlan, mut owners: Vec<u32>) -> Vec<u32> {
    for owner in &mut owners {
        *owner = if *owner >= UNKNOWN { NOBODY } else { cohorts.of(*owner as usize) as u32 };
    }
    owners
}

impl<'a> Cohort<'a> {
    /// Whether no units come to it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Its units pass the gates that no other flow passes. Answers with those that come to the ends of their routes, as
    /// [`Run::units`](super::Run::units) has them.
    pub fn take_units(&mut self) -> &'a [(Time, Unit)] {
        let units = std::mem::take(&mut self.units);
        for (_, unit) in &mut *units {
            unit.stretch = self.common.map.last_stretch(unit.stretch);
        }
        let kept = self.pass_rest(units);
        &units[..kept]
    }

    /// How many alarms were set.
    #[inline]
    #[must_use]
    pub fn alarms_set(&self) -> usize {
        self.alarms.len()
    }

    /// Hands out the alarms that were set since there were so many, as far as they ring in this run: it is left to the engine
    /// to do what is due then.
    pub fn take_alarms(&mut self, since: usize, mut take: impl FnMut(Time, usize)) {
        let Common { directions, running, until, .. } = self.common;
        let mut place = since;
        while let Some(&(alarm, at)) = self.alarms.get(place) {
            if at < until && directions[alarm] == running {
                self.alarms.swap_remove(place);
                take(at, alarm);
            } else {
                place += 1;
            }
        }
    }
}

impl<'a> Walk for Cohort<'a> {
    type Gates = Pieces<'a, Gate>;

    #[inline(always)]
    fn map(&self) -> &RouteMap {
        self.common.map
    }

    #[inline(always)]
    fn stretches(&self) -> &[FastStretch] {
        self.common.stretches
    }

    #[inline(always)]
    fn stretches_and_gates(&mut self) -> (&[FastStretch], &mut Pieces<'a, Gate>) {
        (self.common.stretches, &mut self.gates)
    }

    #[inline(always)]
    fn measured(&self) -> Measured {
        self.common.measured
    }

    #[cold]
    fn note_drop(&mut self, dropped: Dropped, route: u32) {
        self.lost.push((dropped, route));
    }

    #[inline(always)]
    fn send_in_direction(&mut self, direction: Direction, at: Time, unit: Unit) {
        self.sent[direction as usize].push((at, unit.on_next_stretch()));
    }

    #[cold]
    fn send_to_line(&mut self, _: Time, _: Unit, _: u32) {
        unreachable!("{ONLY_ALARMS}");
    }

    #[cold]
    fn leave_to_events(&mut self, _: Time, _: &Unit) -> bool {
        unreachable!("{ONLY_ALARMS}");
    }

    #[cold]
    fn note_departure(&mut self, _: u32, _: u32, _: Time) {
        unreachable!("{ONLY_ALARMS}");
    }
}

impl Carrier for Cohort<'_> {
    #[inline(always)]
    fn handle_unit_at(&mut self, at: Time, entry: Entry, unit: &mut Unit) -> Option<Time> {
        unit.stretch = entry.0;
        self.enter(at, unit)
    }

    fn handle_units_at(&mut self, entry: Entry, units: &mut Vec<(Time, Unit)>) {
        self.pass_stretch(entry.0, units);
    }

    fn note_view(&mut self, _: usize, _: u32, _: AckView) {
        unreachable!("directions do not alternate at gates that are driven step by step");
    }

    /// Nobody asks for them: no flow of a cohort passes a policer.
    fn unreported_drops(&self) -> impl Iterator<Item = &Dropped> {
        std::iter::empty()
    }

    #[inline(always)]
    fn set_alarm(&mut self, alarm: usize, at: Time) {
        if at < self.common.due[alarm] {
            self.alarms.push((alarm, at));
        }
    }

    fn handle_transfer(&mut self, _: Time, _: usize, _: bool) {
        unreachable!("directions do not alternate where there are circuits");
    }
}
