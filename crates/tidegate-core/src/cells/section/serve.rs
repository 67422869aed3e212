//! Service of cells at gates that are not slotted: whole trains of one input at a server of constant spacing, or cell by cell.

use super::{Cell, CellGate, CellServer, Discard, Input, Passing, Section, To};
use crate::aal5::{CELL_BITS, CELL_BYTES};
use crate::cells::paced::{CellService, Paced};
use crate::cells::slotted::Slotted;
use crate::cells::train::{Exact, Spacing, Train};
use crate::gate::rate::Service;
use crate::gate::{DropReason, Gate};
use crate::plan::{GatePlan, JitterPlan, LossPlan, QueueCounts, QueueLimit, RatePlan};
use crate::random::Stream;
use crate::units::{Measured, Span, Speed, Time};

impl Section {
    /// Whether packet discard lets a cell in where so many wait. Of a packet it knows the last cell alone (A.
    /// Romanow and S. Floyd, "Dynamics of TCP traffic over ATM networks", 1995).
    #[inline]
    pub(super) fn admits(gate: &mut CellGate, input: usize, cell: Cell, waiting: u64) -> bool {
        if !gate.discards {
            return true;
        }
        let discard = &mut gate.inputs[input].discard;
        if *discard == Discard::Undecided {
            let early = gate.epd.is_some_and(|threshold| waiting >= threshold);
            *discard = if early { Discard::All } else { Discard::Nothing };
        }
        let admitted = match discard {
            Discard::Undecided | Discard::Nothing => true,
            Discard::Rest => cell.ends,
            Discard::All => false,
        };
        if cell.ends {
            *discard = Discard::Undecided;
        }
        admitted
    }

    /// Whether a cell that came at `at` passes the policer, which may tag it. It stands before all else: packet
    /// discard, thresholds and the queue's limit see only what it lets through. What it drops
    /// counts at `counted`.
    pub(super) fn police(
        &mut self,
        gate: usize,
        input: usize,
        cell: &mut Cell,
        (at, counted): (Time, Time),
        gates: &mut [Gate],
    ) -> bool {
        let row = &mut self.gates[gate];
        let chain = self.frames[cell.frame as usize].unit.chain;
        if let Some(tagged) = gates[row.number].police_cell(at, counted, cell.tagged, chain) {
            cell.tagged = tagged;
            return true;
        }
        let discard = &mut row.inputs[input].discard;
        if cell.ends {
            *discard = Discard::Undecided;
        } else if *discard == Discard::Undecided {
            // Early discard looks at a packet's first cell, and that has not come to the queue.
            *discard = Discard::Nothing;
        }
        self.lose(gate, input, *cell, counted, DropReason::Policed);
        false
    }

    /// Why a cell is not let in where so many wait; `full`: where it would have to wait, there
    /// is no room.
    #[inline]
    pub(super) fn refuses(
        gate: &mut CellGate,
        input: usize,
        cell: Cell,
        waiting: u64,
        full: bool,
    ) -> Option<DropReason> {
        let late = cell.tagged && gate.tagged.is_some_and(|threshold| waiting >= threshold);
        if !Self::admits(gate, input, cell, waiting) {
            Some(DropReason::Discarded)
        } else if full || late {
            Some(DropReason::QueueFull)
        } else {
            None
        }
    }

    /// One cell through a gate of any kind.
    pub(super) fn run_any(&mut self, gate: usize, input: usize, gates: &mut [Gate]) {
        crate::work::step();
        let (at, mut cell) = self.take(gate, input);
        if !self.police(gate, input, &mut cell, (at, at), gates) {
            return;
        }
        let CellGate { number, .. } = self.gates[gate];
        let server = &mut gates[number];
        let waiting = server.backlog_ahead(at).units;
        if !Self::admits(&mut self.gates[gate], input, cell, waiting) {
            server.refuse_cell(at);
            return self.lose(gate, input, cell, at, DropReason::Discarded);
        }
        let frame = &mut self.frames[cell.frame as usize];
        let mut unit = frame.unit;
        unit.bytes = CELL_BYTES;
        unit.set_tagged(cell.tagged);
        server.spread_next(self.gates[gate].spreads[input]);
        match server.pass(at, &mut unit, &self.measured) {
            Some(out) => {
                let service = server.last_service();
                cell.tagged = unit.tagged();
                if cell.ends {
                    frame.unit.set_tagged(unit.tagged());
                }
                let wait = self.gates[gate].excess(input, cell, at, service);
                self.leave(gate, cell, wait, service.end);
                self.deliver(gate, input, cell, out, gates);
            }
            None => {
                let (at, reason) =
                    server.last_drop().map_or((at, DropReason::QueueFull), |drop| (drop.at, drop.reason));
                self.lose(gate, input, cell, at, reason);
            }
        }
    }

    /// Cells of the first train of an input through a paced server.
    pub(super) fn run_paced(&mut self, gate: usize, input: usize, before: u64, gates: &mut [Gate]) {
        crate::work::step();
        let measured = self.measured;
        let CellGate { server, inputs, next, number, discards, .. } = &mut self.gates[gate];
        let CellServer::Paced(paced) = server else { return };
        let Input { head: train, to, own, .. } = &mut inputs[input];
        if self.passing == Passing::OneByOne {
            return self.run_paced_cell(gate, input, gates);
        }
        if Self::comes_together(self.passing, train, *discards) {
            let together = std::mem::replace(train, Train::NONE);
            inputs[input].refill();
            next.set(input, inputs[input].next());
            return self.pass_together(gate, input, together, gates);
        }
        if *to != To::End || *discards {
            return self.run_paced_cell(gate, input, gates);
        }
        let arrives = train.last();
        let whole = train.left > 1 && arrives.picos() < before;
        if whole
            && train.next.at >= measured.from
            && paced.end_after(arrives) < measured.until
            && let Some(last) = paced.serve_apart(train)
        {
            if !train.ends {
                own.start_of_last(paced.spacing(), train, train.left);
            }
            gates[*number].counters_mut().pass_alike(
                u64::from(train.left),
                u64::from(CELL_BYTES),
                Span::ZERO,
                0,
            );
            return self.pass_whole(gate, input, last, gates);
        }
        // Cells that only have to be counted: all but the packet's last, as long as there is room.
        let counters = gates[*number].counters_mut();
        let frame = &mut self.frames[train.frame as usize];
        let least = u32::from(train.ends);
        let mut row = *train;
        let mut unwaited = 0;
        while row.left > least && row.next.at.picos() < before {
            let at = row.next.at;
            paced.waiting_at(at);
            if paced.is_full(at) {
                break;
            }
            let cell_service = paced.serve(at);
            if cell_service.start.at == at && at >= measured.from && cell_service.end.at < measured.until {
                unwaited += 1;
            } else {
                cell_service.count(counters, at);
            }
            row.left -= 1;
            row.next = row.next.plus(row.spacing);
        }
        let taken = train.left - row.left;
        if taken > 0 {
            own.start_of_last(paced.spacing(), train, taken);
        }
        counters.pass_alike(unwaited, u64::from(CELL_BYTES), Span::ZERO, 0);
        frame.arrived += taken;
        frame.left -= taken;
        row.begins &= taken == 0;
        *train = row;
        inputs[input].refill();
        next.set(input, inputs[input].next());
        if row.left == 0 && taken > 0 {
            // A part of a packet whose other cells went another way, or were lost.
            return self.settle_frame(row.frame);
        }
        if row.left > 0 && row.next.at.picos() < before {
            self.run_paced_cell(gate, input, gates);
        }
    }

    /// What remains of the first train of an input passes a paced server without waiting.
    fn pass_whole(&mut self, gate: usize, input: usize, last: CellService, gates: &mut [Gate]) {
        crate::work::step();
        let CellGate { inputs, next, delay, .. } = &mut self.gates[gate];
        let Train { left, frame: place, ends, tagged, .. } =
            std::mem::replace(&mut inputs[input].head, Train::NONE);
        let out = last.end.at.saturating_add(*delay);
        inputs[input].refill();
        next.set(input, inputs[input].next());
        let counted = left - u32::from(ends);
        let frame = &mut self.frames[place as usize];
        frame.arrived += counted;
        frame.left -= counted;
        if ends {
            let cell = Cell { frame: place, begins: false, ends, tagged, own: 0 };
            self.leave(gate, cell, Span::ZERO, last.end.at);
            self.deliver(gate, input, cell, out, gates);
        } else {
            self.settle_frame(place);
        }
    }

    /// One cell through a paced server.
    pub(super) fn run_paced_cell(&mut self, gate: usize, input: usize, gates: &mut [Gate]) {
        crate::work::step();
        let (at, cell) = self.take(gate, input);
        let row = &mut self.gates[gate];
        let (number, delay) = (row.number, row.delay);
        let (waiting, full) = match &mut row.server {
            CellServer::Paced(paced) => (paced.waiting_at(at), paced.is_full(at)),
            _ => return,
        };
        if let Some(reason) = Self::refuses(row, input, cell, waiting, full) {
            gates[number].refuse_cell(at);
            return self.lose(gate, input, cell, at, reason);
        }
        let CellServer::Paced(paced) = &mut row.server else { return };
        let cell_service = paced.serve(at);
        let alone = row.inputs[input].own.start(paced.spacing(), at, cell.begins);
        cell_service.count(gates[number].counters_mut(), at);
        self.leave(gate, cell, cell_service.start.at.saturating_since(alone.at), cell_service.end.at);
        self.deliver(gate, input, cell, cell_service.end.at.saturating_add(delay), gates);
    }

    /// Whether all cells of a train are taken at once, as a packet's are where it is segmented.
    #[inline]
    pub(super) fn comes_together(passing: Passing, train: &Train, discards: bool) -> bool {
        passing == Passing::Trains && train.spacing == Spacing::NONE && train.left > 1 && !discards
    }

    /// Cells that come together through a paced server.
    pub(super) fn pass_together(&mut self, gate: usize, input: usize, train: Train, gates: &mut [Gate]) {
        crate::work::step();
        let CellGate { server, inputs, delay, number, .. } = &mut self.gates[gate];
        let CellServer::Paced(paced) = server else { return };
        let (at, to, number, delay, spacing) =
            (train.next.at, inputs[input].to, *number, *delay, paced.spacing());
        let cells = u64::from(train.left).min(paced.room(at)) as u32;
        let lost = train.left - cells;
        if cells > 0 {
            let (first, last) = paced.serve_together(at, cells, gates[number].counters_mut(), self.measured);
            let ends = train.ends && lost == 0;
            // Of a packet that is served at once, cells wait for each other alone; of others' waits nobody asks.
            let background = self.crossings[self.frames[train.frame as usize].crossing as usize].background;
            let wait = if train.begins && ends && (background || first.start.at == at) {
                Span::ZERO
            } else {
                let alone = inputs[input].own.start_of_last(spacing, &train, cells);
                last.start.at.saturating_since(alone.at)
            };
            if ends {
                let cell = Cell { frame: train.frame, begins: false, ends, tagged: train.tagged, own: 0 };
                self.leave(gate, cell, wait, last.end.at);
            }
            let out = Exact { at: first.end.at.saturating_add(delay), ..first.end };
            self.deliver_train(gate, to, Train { next: out, spacing, left: cells, ends, ..train }, gates);
        }
        for n in cells..train.left {
            gates[number].refuse_cell(at);
            let cell = Cell {
                frame: train.frame,
                begins: n == 0 && train.begins,
                ends: train.ends && n + 1 == train.left,
                tagged: train.tagged,
                own: 0,
            };
            self.lose(gate, input, cell, at, DropReason::QueueFull);
        }
    }
}

impl CellGate {
    /// How much longer a cell that came at `at` waited than for its packet's own cells. For gates that pass one by one.
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
