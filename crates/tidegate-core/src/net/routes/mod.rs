//! Who meets whom: routes as lists of hops, and the delay lines between gates.
//!
//! A gate that hears from one other gate only is run through at once. Where several inputs
//! meet, each gate before it keeps a line of the units on their way, in order of arrival,
//! and the event queue merges the lines' heads.

mod drafts;
mod lines;

use crate::cells::CrossingPlan;
use crate::net::map::{NONE, Owner, RouteMap, Stretch};
use crate::plan::{AppPlan, Plan};
use crate::units::Span;

use drafts::{Draft, GateKinds, drafts};
use lines::LineNumbers;

/// All routes of a plan, and what they are made of.
#[derive(Debug)]
pub(super) struct Routes {
    pub(super) map: RouteMap,
    /// Ways through sections of cell gates.
    pub(super) crossings: Vec<CrossingPlan>,
    /// Upstream first: the rank of each gate.
    pub(super) order: Vec<usize>,
    /// Pure delay on each line: that before the end of some routes.
    pub(super) line_delays: Vec<Span>,
}

impl Routes {
    /// `exact`: every gate is driven step by step, and every edge is a line. Otherwise only
    /// gates whose rate is not known ahead are, with a line before and after each.
    pub(super) fn new(plan: &Plan, exact: bool) -> Routes {
        let drafts = drafts(plan);
        let gates = GateKinds::new(plan, exact, &drafts);
        let lines = LineNumbers::new(&drafts, &gates);
        let mut routes = Routes {
            map: RouteMap {
                cohorts: plan.cohorts,
                stretches: vec![],
                gates: vec![],
                first: vec![],
                private_entries: vec![],
                traffic_from: plan.flows.len() as u32 * 2,
            },
            crossings: vec![],
            line_delays: vec![Span::ZERO; lines.count()],
            order: vec![],
        };
        for (route, draft) in drafts.iter().enumerate() {
            routes.add(route, draft, &gates, &lines);
        }
        for stretch in &mut routes.map.stretches {
            stretch.slow_path = stretch.notify || stretch.steps || stretch.crossing != NONE;
            stretch.delay = routes.line_delays.get(stretch.line as usize).copied().unwrap_or(Span::ZERO);
        }
        for (route, draft) in drafts.iter().enumerate() {
            let keeps_its_place = routes.takes_time(plan, route)
                || (!routes.goes_on(route) && routes.may_take_no_time(plan, route, &drafts, &gates));
            routes.map.private_entries.push(!exact && gates.begins_alone(draft) && keeps_its_place);
        }
        Routes { order: gates.rank, ..routes }
    }

    /// Parts a route into stretches: each ends at a line.
    fn add(&mut self, route: usize, draft: &Draft, gates: &GateKinds, lines: &LineNumbers) {
        self.map.first.push(self.map.stretches.len() as u32);
        let mut stretch = self.new_stretch(route, draft);
        for place in 0..=draft.gates.len() {
            if let Some(line) = lines.before(draft, route, place, gates) {
                let before = place.checked_sub(1).map(|before| draft.gates[before]);
                stretch.steps = before.is_some_and(|gate| gates.steps[gate]);
                if before.is_some_and(|gate| gates.cells[gate]) {
                    self.cross(&mut stretch, draft, place == draft.gates.len());
                }
                self.end_stretch(&mut stretch, line);
                if place == draft.gates.len() {
                    self.line_delays[line as usize] = draft.extra;
                }
            }
            self.map.gates.extend(draft.gates.get(place).map(|gate| *gate as u32));
        }
        self.map.stretches.push(stretch);
    }

    /// The stretch so far passes a section of cell gates; `last`: its route ends behind them.
    fn cross(&mut self, stretch: &mut Stretch, draft: &Draft, last: bool) {
        stretch.crossing = self.crossings.len() as u32;
        self.crossings.push(CrossingPlan {
            gates: self.map.gates[stretch.first as usize..].iter().map(|gate| *gate as usize).collect(),
            hears_departures: draft.notify,
            ends_in_background: last && matches!(draft.owner, Owner::Traffic(_)),
            asks_when: draft.asks_when,
        });
    }

    /// Whether what enters a route of one stretch at an instant may be at its end at that instant, and still in the order of the page
    /// "Order at one instant". Of background traffic nobody hears. At a flow's other end nothing but that end's timers comes first, and they
    /// do, if its answers enter alone and take time; requests are no answers.
    fn may_take_no_time(&self, plan: &Plan, route: usize, drafts: &[Draft], gates: &GateKinds) -> bool {
        match drafts[route].owner {
            Owner::Traffic(_) => true,
            Owner::Back(flow) if matches!(plan.flows[flow].app, AppPlan::Request(_)) => false,
            Owner::Back(_) | Owner::Data(_) => {
                gates.begins_alone(&drafts[route ^ 1]) && self.takes_time(plan, route ^ 1)
            }
        }
    }

    /// Whether another stretch follows a route's first one.
    fn goes_on(&self, route: usize) -> bool {
        self.map.stretches.get(self.map.first[route] as usize + 1).is_some_and(|next| next.line != NONE)
    }

    /// Whether a route's first stretch takes time.
    fn takes_time(&self, plan: &Plan, route: usize) -> bool {
        let first = &self.map.stretches[self.map.first[route] as usize];
        first.delay > Span::ZERO
            || self.map.gates_of(first).iter().any(|gate| plan.gates[*gate as usize].takes_time())
    }

    /// A stretch that begins here.
    fn new_stretch(&self, route: usize, draft: &Draft) -> Stretch {
        let first = self.map.gates.len() as u32;
        Stretch {
            first,
            end: first,
            line: NONE,
            route: route as u32,
            notify: draft.notify,
            steps: false,
            crossing: NONE,
            certain: false,
            through: false,
            ahead: false,
            slow_path: false,
            delay: Span::ZERO,
        }
    }

    /// The stretch so far leads into `line`; the next one begins.
    fn end_stretch(&mut self, stretch: &mut Stretch, line: u32) {
        let end = self.map.gates.len() as u32;
        self.map.stretches.push(Stretch { end, line, ..*stretch });
        *stretch = Stretch { first: end, end, line: NONE, steps: false, crossing: NONE, ..*stretch };
    }
}
