//! Makes a section from the plans of its gates.

use super::frames::Crossing;
use super::gate::{CellGate, CellServer, RmCells, paced_server, slotted_server};
use super::input::{Input, To};
use super::own::OwnService;
use super::steps::Held;
use super::{CellCounts, CrossingPlan, Observed, Options, Section};
use crate::plan::{CellPlan, Framing, GatePlan, JitterPlan, RatePlan};
use crate::random::Stream;
use crate::soonest::Soonest;
use crate::units::{Measured, Span};

impl Section {
    /// A section of the gates `numbers` (upstream first) of a network of `plans`. `observed` says who looks at a gate, and `stream` gives a gate's stream for the
    /// order inside its slots.
    #[must_use]
    pub fn new(
        numbers: &[usize],
        crossings: &[CrossingPlan],
        plans: &[GatePlan],
        Options { one_by_one, report_losses_early }: Options,
        observed: &dyn Fn(usize) -> Observed,
        stream: &dyn Fn(usize) -> Stream,
        measured: Measured,
    ) -> Section {
        let gate = |number: &usize| {
            let plan = &plans[*number];
            let CellPlan { slotted, epd, ppd, .. } = plan.cells;
            let observed = match observed(*number) {
                // Slots are gone through without a look at single cells.
                Observed::Counted if slotted => Observed::Each,
                others => others,
            };
            CellGate {
                number: *number,
                server: if !plan.is_known_ahead() {
                    CellServer::Steps(Box::new(Held::new(plan.classes.is_some())))
                } else if slotted {
                    CellServer::Slotted(Box::new(slotted_server(plan, stream(*number), measured)))
                } else if one_by_one || observed == Observed::Each {
                    CellServer::Any
                } else {
                    paced_server(plan).map_or(CellServer::Any, |paced| CellServer::Paced(Box::new(paced)))
                },
                pace: OwnService::new(plan, measured, stream(*number)),
                served: 0,
                inputs: vec![],
                next: Soonest::default(),
                delay: plan.delay,
                cell_time: plan.cell_time(),
                spreads: vec![],
                host: plan.host,
                observed,
                epd,
                ppd,
                discards: epd.is_some() || ppd,
                rm_cells: match &plan.rate {
                    RatePlan::Abr(abr) => Some(RmCells::new(if one_by_one { 1 } else { abr.cells_per_rm })),
                    _ => None,
                },
                hastened: plan.arrivals_hasten(),
                before_prompt: false,
                tagged: plan.queue.tagged,
                plain_slots: slotted
                    && !ppd
                    && epd.is_none()
                    && plan.queue.tagged.is_none()
                    && plan.police.is_none()
                    && plan.jitter == JitterPlan::None
                    && observed != Observed::Each,
                policed: plan.police.is_some(),
                counts: CellCounts::default(),
            }
        };
        let mut section = Section {
            gates: numbers.iter().map(gate).collect(),
            places: numbers.iter().copied().zip(0..).collect(),
            fed_back: numbers.iter().any(|number| !plans[*number].is_known_ahead()),
            report_losses_early: report_losses_early
                || one_by_one
                || numbers.iter().any(|number| {
                    matches!(observed(*number), Observed::Each | Observed::Counted)
                        || !plans[*number].is_known_ahead()
                }),
            one_by_one,
            measured,
            ..Section::default()
        };
        for crossing in crossings {
            section.add(crossing, plans);
        }
        section.dues.build();
        section.gates.iter_mut().for_each(|row| row.next.build());
        let is_followed = |row: &CellGate| matches!(row.server, CellServer::Steps(_)) || row.inputs.len() > 1;
        section.followed =
            (0..section.gates.len()).filter(|place| is_followed(&section.gates[*place])).collect();
        section.find_before_prompt();
        section
    }

    /// Which gates cells leave for one that must know of each when it comes.
    fn find_before_prompt(&mut self) {
        for gate in (0..self.gates.len()).rev() {
            let leads = |to: To| match to {
                To::Gate { gate: next, .. } => {
                    let next = &self.gates[next as usize];
                    next.rm_cells.is_some() || next.hastened || next.before_prompt
                }
                To::End => false,
            };
            self.gates[gate].before_prompt = self.gates[gate].inputs.iter().any(|input| leads(input.to));
        }
    }

    fn add(&mut self, plan: &CrossingPlan, plans: &[GatePlan]) {
        let places: Vec<usize> =
            plan.gates.iter().filter_map(|number| self.places.get(number).copied()).collect();
        let mut to = To::End;
        for (n, gate) in places.iter().enumerate().rev() {
            let CellGate { inputs, next, plain_slots, spreads, .. } = &mut self.gates[*gate];
            spreads.push(n.checked_sub(1).map_or(Span::ZERO, |before| plans[plan.gates[before]].cell_time()));
            inputs.push(Input::new(to));
            next.push();
            *plain_slots &= to == To::End;
            to = To::Gate { gate: *gate as u32, input: inputs.len() as u32 - 1 };
        }
        let (To::Gate { gate, input }, Some(exit)) = (to, places.last()) else { return };
        let Framing::Aal5 { llc } = plans[plan.gates[0]].framing else { return };
        self.dues.push();
        self.crossings.push(Crossing {
            entry: (gate, input),
            exit: *exit as u32,
            llc,
            rule: plans[plan.gates[places.len() - 1]].cells.reassembly,
            hears_departures: plan.hears_departures,
            unawaited: plan.ends_in_background,
            background: plan.ends_in_background && !self.one_by_one,
            asks_when: plan.asks_when,
            ..Crossing::default()
        });
    }
}
