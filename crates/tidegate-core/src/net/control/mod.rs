//! Control of gates during a run: rates that are measured, fed back or set by a switch, and circuits
//! that open and close.
//!
//! A control owns the state of one such rule for all gates that have it, in groups that are woken
//! together. Gates know nothing of it. The network informs a control of what comes to its gates and leaves
//! them, wakes it when it asks for that, and goes on with the gates that it has set ([`Control`]).

mod abr;
mod admission;
mod channels;
mod circuits;
mod drive;
mod followers;

pub use admission::{Admission, Answer, CallClass, CallCounts, Grant, PoolUse};

use crate::gate::Gate;
use crate::net::control::abr::Abr;
use crate::net::control::channels::Channels;
use crate::net::control::circuits::Circuits;
use crate::net::control::followers::Followers;
use crate::net::sources::SourceKind;
use crate::plan::{Plan, RatePlan};
use crate::units::Time;

/// Marks a gate (or a flow) that a control has nothing to do with.
const NONE: u32 = u32::MAX;

/// A unit that has come to a gate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// The gate.
    pub(super) gate: usize,
    /// Whose it is.
    pub(super) route: u32,
    /// Its bytes on the wire.
    pub(super) wire: u32,
    /// The gate dropped it.
    pub(super) dropped: bool,
}

/// What the network must do after a control has been informed of an arrival or a departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing.
    Nothing,
    /// Its next wakeup may be earlier.
    Wakeup,
    /// The gates of [`Control::sets`] may go on, and its next wakeup may be earlier.
    Gates,
}

/// A rule that sets gates during the run.
///
/// Channels, followers and ABR set rates: a rate set at an instant holds for every service that begins then,
/// so what they do at an instant comes before the services that end at it. Circuits do not set a rate
/// during a service: they open gates that were closed and close gates that are idle, and may have to see that
/// a gate has fallen idle at the same instant. So what they do comes after services, but before arrivals
/// ([`Control::sets_rates`]); and only they can refuse a unit ([`Control::admits`]) and do things after
/// everything else at an instant ([`Control::next_late_event`]).
pub(super) trait Control {
    /// How many groups there are; each wakes for itself.
    fn groups(&self) -> usize;

    /// When a group wants [`Control::handle_wakeup`].
    fn next_wakeup(&self, group: usize) -> Time;

    /// Everything of a group that is due by `at`, which is now: nothing else happens before.
    fn handle_wakeup(&mut self, at: Time, group: usize, gates: &mut [Gate]);

    /// Gates that must have done all that happens to them before an instant, when the group is woken at it.
    fn needs(&self, _group: usize) -> &[usize] {
        &[]
    }

    /// Gates whose service may have begun, or may end at another time, after [`Control::handle_wakeup`] or
    /// [`Effect::Gates`].
    fn sets(&self, group: usize) -> &[usize];

    /// Whether it comes before services that end at the same instant.
    fn sets_rates(&self) -> bool {
        true
    }

    /// Whether it must hear of services that ended before it is woken: [`Control::handle_departure`].
    fn counts_departures(&self) -> bool {
        false
    }

    /// Whether it is asked about what comes to its gates, and hears of it: [`Control::admits`], [`Control::handle_arrival`].
    fn hears_arrivals(&self) -> bool {
        false
    }

    /// Whether it hears of what leaves its gates: [`Control::handle_departure`].
    fn hears_departures(&self) -> bool {
        self.counts_departures()
    }

    /// A unit that the policer let pass comes to a gate at `at`: says whether it may enter.
    /// [`Control::handle_arrival`] follows.
    fn admits(&mut self, _at: Time, _gate: usize, _gates: &mut [Gate]) -> bool {
        true
    }

    /// A unit has come to a gate at `at`.
    fn handle_arrival(&mut self, _at: Time, _arrival: Arrival, _gates: &mut [Gate]) -> Effect {
        Effect::Nothing
    }

    /// A unit with `wire` bytes on the wire has left a gate at `at`.
    fn handle_departure(&mut self, _at: Time, _gate: usize, _wire: u32, _gates: &mut [Gate]) -> Effect {
        Effect::Nothing
    }

    /// When something is to be done after everything else at the same instant.
    fn next_late_event(&self) -> Time {
        Time::NEVER
    }
}

/// All controls of a network.
#[derive(Debug)]
pub(super) struct Controls {
    channels: Channels,
    followers: Followers,
    abr: Abr,
    circuits: Option<Box<Circuits>>,
    /// The control of each gate; empty where no gate is controlled.
    of_gate: Vec<Option<Controlled>>,
}

/// The control of a gate. A gate has one rate law, and so one control at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Controlled {
    /// Which control, by its event sources.
    pub(super) by: SourceKind,
    /// The gate's group.
    pub(super) group: usize,
    /// [`Control::sets_rates`].
    pub(super) sets_rates: bool,
    /// [`Control::hears_arrivals`].
    pub(super) hears_arrivals: bool,
    /// [`Control::hears_departures`].
    pub(super) hears_departures: bool,
}

impl Controls {
    /// The kinds of event sources that controls have.
    const KINDS: [SourceKind; 4] =
        [SourceKind::Channel, SourceKind::Follower, SourceKind::Abr, SourceKind::Circuits];

    pub(super) fn new(plan: &Plan, gates: &mut [Gate]) -> Controls {
        let mut controls = Controls {
            channels: Channels::new(plan),
            followers: Followers::new(plan, gates),
            abr: Abr::new(plan, gates),
            circuits: Circuits::new(plan),
            of_gate: vec![],
        };
        // `sets` has all gates of a control, except of circuits, where it varies.
        let is_circuit = |gate: &usize| matches!(plan.gates[*gate].rate, RatePlan::Reserve(_));
        let circuits = (0..gates.len()).filter(is_circuit).map(|gate| (gate, SourceKind::Circuits, 0));
        let mut members: Vec<(usize, SourceKind, usize)> = circuits.collect();
        for (by, control) in Controls::KINDS.into_iter().filter_map(|kind| Some((kind, controls.get(kind)?)))
        {
            let of = |group| control.sets(group).iter().map(move |gate| (*gate, by, group));
            members.extend((0..control.groups()).flat_map(of));
        }
        for (gate, by, group) in members {
            controls.of_gate.resize(gates.len(), None);
            let control = controls.get(by);
            controls.of_gate[gate] = Some(Controlled {
                by,
                group,
                sets_rates: control.is_some_and(Control::sets_rates),
                hears_arrivals: control.is_some_and(Control::hears_arrivals),
                hears_departures: control.is_some_and(Control::hears_departures),
            });
        }
        controls
    }

    /// How many event sources of a kind controls have.
    pub(super) fn sources(&self, kind: SourceKind) -> usize {
        match kind {
            SourceKind::LateEvent => usize::from(self.circuits.is_some()),
            _ => self.get(kind).map_or(0, Control::groups),
        }
    }

    /// When each event source wants to be woken first.
    pub(super) fn first_wakeups(&self) -> impl Iterator<Item = (SourceKind, usize, Time)> {
        let groups = Controls::KINDS.into_iter().filter_map(|kind| Some((kind, self.get(kind)?)));
        let wakeups = groups.flat_map(|(kind, control)| {
            (0..control.groups()).map(move |group| (kind, group, control.next_wakeup(group)))
        });
        let late = self.circuits.as_ref().map(|circuits| circuits.next_late_event());
        wakeups.chain(late.map(|at| (SourceKind::LateEvent, 0, at)))
    }

    /// The control of a gate.
    #[inline]
    pub(super) fn of_gate(&self, gate: usize) -> Option<Controlled> {
        *self.of_gate.get(gate)?
    }

    /// The circuits and calls, if there are any.
    pub(super) fn circuits(&self) -> Option<&Circuits> {
        self.circuits.as_deref()
    }

    /// One of [`Control::needs`].
    fn needs(&self, kind: SourceKind, group: usize, place: usize) -> Option<usize> {
        self.get(kind)?.needs(group).get(place).copied()
    }

    /// One of [`Control::sets`].
    fn sets(&self, kind: SourceKind, group: usize, place: usize) -> Option<usize> {
        self.get(kind)?.sets(group).get(place).copied()
    }

    fn get(&self, kind: SourceKind) -> Option<&dyn Control> {
        match kind {
            SourceKind::Channel => Some(&self.channels),
            SourceKind::Follower => Some(&self.followers),
            SourceKind::Abr => Some(&self.abr),
            SourceKind::Circuits => self.circuits.as_deref().map(|circuits| circuits as &dyn Control),
            _ => None,
        }
    }

    fn get_mut(&mut self, kind: SourceKind) -> Option<&mut dyn Control> {
        match kind {
            SourceKind::Channel => Some(&mut self.channels),
            SourceKind::Follower => Some(&mut self.followers),
            SourceKind::Abr => Some(&mut self.abr),
            SourceKind::Circuits => self.circuits.as_deref_mut().map(|circuits| circuits as &mut dyn Control),
            _ => None,
        }
    }
}
