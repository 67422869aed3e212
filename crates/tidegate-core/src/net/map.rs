//! The map of the network: which stretches a route has, and whose route it is.

use std::ops::Range;

use crate::plan::CohortPlan;
use crate::units::Span;

/// Marks the end of a route, or the absence of a line, a crossing or a gate.
pub(super) const NONE: u32 = u32::MAX;

/// Whose route it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// A flow's data direction.
    Data(usize),
    /// A flow's other direction.
    Back(usize),
    /// Background traffic.
    Traffic(usize),
}

/// Where a route begins, see [`crate::net::Network::entry`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry(pub(super) u32);

/// A stretch of a route that is run through at once: gates, then a line, then the next
/// stretch. The last stretch of a route has neither gates nor a line.
#[derive(Debug)]
pub(super) struct Stretch {
    /// Its gates: a range of [`RouteMap::gates`].
    pub(super) first: u32,
    pub(super) end: u32,
    /// The line after them; [`NONE`] at the end of the route.
    pub(super) line: u32,
    /// Whose route this is.
    pub(super) route: u32,
    /// The owner's TCP hears departures from the host gates here.
    pub(super) notify: bool,
    /// Driven step by step, departures wait for their time: at most one gate.
    pub(super) steps: bool,
    /// Its gates are cell gates, and this is its number among the network's crossings; or
    /// [`NONE`].
    pub(super) crossing: u32,
    /// Driven step by step, and what leaves at the end of a service is certain ([`crate::net::fast`]).
    pub(super) certain: bool,
    /// Units that leave go on through the next stretch at once; the line stays empty.
    pub(super) through: bool,
    /// Units that reach its end are delivered at once, and do not wait on the line.
    pub(super) ahead: bool,
    /// Any of `notify`, `steps` and `crossing`: a unit that enters it leaves the fast path ([`crate::net::fast`]).
    pub(super) slow_path: bool,
    /// Pure delay on the line.
    pub(super) delay: Span,
}

/// All routes of a network. A flow's data route has twice its number, its way back one more;
/// background traffic follows.
#[derive(Debug)]
pub(super) struct RouteMap {
    /// When flows are parted into cohorts.
    pub(super) cohorts: CohortPlan,
    /// The stretches of every route, one after the other.
    pub(super) stretches: Vec<Stretch>,
    /// The gates of every stretch.
    pub(super) gates: Vec<u32>,
    /// The first stretch of each route.
    pub(super) first: Vec<u32>,
    /// Routes whose first gate hears from nobody else, and whose first stretch takes time if another follows, or if answers come to a gate
    /// that others send to: what is sent ahead of its time then has its place among what comes elsewhere at the same instant.
    pub(super) private_entries: Vec<bool>,
    /// Routes from this number on are background traffic's.
    pub(super) traffic_from: u32,
}

impl RouteMap {
    /// The places of a route's stretches among all of them.
    pub(super) fn stretches(&self, route: usize) -> Range<usize> {
        let after = self.first.get(route + 1).map_or(self.stretches.len(), |first| *first as usize);
        self.first[route] as usize..after
    }

    /// The last stretch of a flow's route that has gates or a delay.
    #[inline(always)]
    pub(super) fn last_stretch(&self, route: u32) -> u32 {
        self.first.get(route as usize + 1).map_or(self.stretches.len() as u32, |first| *first) - 2
    }

    /// The gates of a stretch.
    #[inline]
    pub(super) fn gates_of(&self, stretch: &Stretch) -> &[u32] {
        &self.gates[stretch.first as usize..stretch.end as usize]
    }

    /// How many routes flows have: they come before those of background traffic.
    pub(super) fn flow_routes(&self) -> usize {
        self.traffic_from as usize
    }

    /// How many flows there are.
    pub(super) fn flows(&self) -> usize {
        self.flow_routes() / 2
    }

    pub(super) fn owner(&self, route: u32) -> Owner {
        match route.checked_sub(self.traffic_from) {
            Some(traffic) => Owner::Traffic(traffic as usize),
            None if route.is_multiple_of(2) => Owner::Data(route as usize / 2),
            None => Owner::Back(route as usize / 2),
        }
    }

    pub(super) fn route_of(&self, owner: Owner) -> usize {
        match owner {
            Owner::Data(flow) => flow * 2,
            Owner::Back(flow) => flow * 2 + 1,
            Owner::Traffic(source) => self.traffic_from as usize + source,
        }
    }
}
