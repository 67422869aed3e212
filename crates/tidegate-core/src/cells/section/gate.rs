//! A gate of a section, and the server of its cells.

use super::input::{Cell, Input};
use super::interface::{CellCounts, Observed};
use super::own::OwnService;
use super::steps::Held;
use crate::aal5::CELL_BITS;
use crate::cells::paced::Paced;
use crate::cells::slotted::Slotted;
use crate::cells::train::Spacing;
use crate::gate::rate::Service;
use crate::plan::{GatePlan, JitterPlan, LossPlan, QueueCounts, QueueLimit, RatePlan};
use crate::random::Stream;
use crate::soonest::Soonest;
use crate::units::{Measured, Span, Speed, Time};

/// A gate of the section.
#[derive(Debug)]
pub(super) struct CellGate {
    /// Its number in the network.
    pub(super) number: usize,
    pub(super) server: CellServer,
    /// What is waiting and what is a packet's own service, where cells pass one by one.
    pub(super) pace: OwnService,
    /// Whose cell was served last there.
    pub(super) served: u32,
    pub(super) inputs: Vec<Input>,
    /// Arrival of each input's next cell.
    pub(super) next: Soonest,
    pub(super) delay: Span,
    /// How long a cell is on its wire; none where that is not always the same.
    pub(super) cell_time: Span,
    pub(super) host: bool,
    pub(super) observed: Observed,
    /// How long the gate before takes for a cell, by input.
    pub(super) spreads: Vec<Span>,
    pub(super) epd: Option<u64>,
    pub(super) ppd: bool,
    /// One of the two.
    pub(super) discards: bool,
    /// It is an ABR source: each cell's departure is reported.
    pub(super) rm_cells: Option<RmCells>,
    /// A cell that comes may let one begin sooner that waits ([`crate::plan::GatePlan::arrivals_hasten`]).
    pub(super) hastened: bool,
    /// A gate further on is an ABR source, or is hastened by what comes to it, so no departure may be found late.
    pub(super) before_prompt: bool,
    /// A tagged cell that finds as many waiting is dropped.
    pub(super) tagged: Option<u64>,
    /// Slotted, without anything that looks at single cells, before the section's end.
    pub(super) plain_slots: bool,
    /// With a policer before the queue.
    pub(super) policed: bool,
    pub(super) counts: CellCounts,
}

/// The RM cells of an ABR source: one follows each departure in so many. That departure is reported at the instant at which it happens,
/// those before it with it at the latest.
#[derive(Clone, Copy, Debug)]
pub(super) struct RmCells {
    every: u32,
    /// Departures up to the next that an RM cell follows, which is the last of them.
    pub(super) left: u32,
}

impl RmCells {
    /// The first cell of all is followed by an RM cell.
    pub(super) fn new(every: u32) -> RmCells {
        RmCells { every: every.max(1), left: 1 }
    }

    /// A cell departs.
    pub(super) fn count(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.left = self.every;
        }
    }
}

#[derive(Debug)]
pub(super) enum CellServer {
    Paced(Box<Paced>),
    Slotted(Box<Slotted>),
    /// [`Gate::pass`], cell by cell.
    Any,
    /// [`Gate::handle_unit`] and [`Gate::handle_wakeup`]: its rate is set from outside.
    Steps(Box<Held>),
}

impl CellGate {
    /// How much longer a cell that came at `at` waited than for its packet's own cells. For gates that pass one by one.
    #[inline]
    pub(super) fn excess(&mut self, input: usize, cell: Cell, at: Time, service: Service) -> Span {
        let follows = std::mem::replace(&mut self.served, input as u32) == input as u32;
        self.inputs[input].own.excess(&self.pace, (at, service), cell.begins, follows)
    }
}

/// A server for cells at a constant distance, where `plan` allows one.
pub(super) fn paced_server(plan: &GatePlan) -> Option<Paced> {
    let limit = limit(plan)?;
    let by_cell = plan.police.is_some() || plan.queue.tagged.is_some() || plan.jitter != JitterPlan::None;
    if plan.loss != LossPlan::None || by_cell {
        return None;
    }
    match &plan.rate {
        RatePlan::Constant(Speed::Bits(rate)) => {
            Some(Paced::new(Spacing::of(CELL_BITS, rate.bps()), None, limit))
        }
        RatePlan::Gcra(gcra) if gcra.limit.tolerance() == 0 => {
            let hold = Spacing::of(CELL_BITS, gcra.link.bps()).span();
            Some(Paced::new(Spacing::from(gcra.limit.increment()), Some(hold), limit))
        }
        _ => None,
    }
}

pub(super) fn slotted_server(plan: &GatePlan, order: Stream, measured: Measured) -> Slotted {
    let slot = match &plan.rate {
        RatePlan::Constant(Speed::Bits(rate)) => Spacing::of(CELL_BITS, rate.bps()),
        _ => unreachable!("the scenario's checks let slots be of one rate only"),
    };
    Slotted::new(slot, limit(plan).unwrap_or(u64::MAX), order, measured)
}

/// Cells that may wait; `None` where something else is counted.
fn limit(plan: &GatePlan) -> Option<u64> {
    match (plan.queue.limit, plan.queue.counts) {
        (QueueLimit::Unlimited, QueueCounts::Waiting) => Some(u64::MAX),
        (QueueLimit::Cells(cells), QueueCounts::Waiting) => Some(cells),
        _ => None,
    }
}
