//! A lower bound on the time from an event to the next delivery. The live engine sleeps until shortly before
//! that moment and then polls.

use crate::net::map::NONE;
use crate::net::routes::Routes;
use crate::plan::Plan;
use crate::units::Span;

/// Lower bounds on the time from an event to the next delivery; [`Span::MAX`] where only background traffic is concerned.
#[derive(Debug)]
pub(super) struct Horizon {
    /// From the event of each gate.
    pub(super) gates: Vec<Span>,
    /// From the event of each line.
    pub(super) lines: Vec<Span>,
}

impl Horizon {
    /// `routes` with every gate still in its stretch.
    pub(super) fn new(plan: &Plan, routes: &Routes) -> Horizon {
        let mut horizon = Horizon {
            gates: vec![Span::MAX; plan.gates.len()],
            lines: vec![Span::MAX; routes.line_delays.len()],
        };
        let mut after_cells = Span::MAX;
        for route in 0..plan.flows.len() * 2 {
            let mut rest = Span::ZERO;
            for stretch in routes.map.stretches[routes.map.stretches(route)].iter().rev() {
                if stretch.line == NONE {
                    continue;
                }
                let line = &mut horizon.lines[stretch.line as usize];
                *line = rest.min(*line);
                rest += routes.line_delays[stretch.line as usize];
                if stretch.crossing != NONE {
                    after_cells = after_cells.min(rest);
                }
                for gate in routes.map.gates_of(stretch).iter().rev() {
                    let gate = *gate as usize;
                    rest += plan.gates[gate].delay;
                    horizon.gates[gate] = rest.min(horizon.gates[gate]);
                }
            }
        }
        // A section's event stands at one of its gates, whichever of its crossings it is for.
        for (gate, lead) in plan.gates.iter().zip(&mut horizon.gates) {
            if gate.is_cell_gate() {
                *lead = after_cells;
            }
        }
        horizon
    }
}
