//! Service of cells at gates that are not slotted: whole trains of one input at a server of constant spacing, or cell by cell.

use super::{Cell, CellGate, CellServer, Discard, Input, Observed, Section, To};
use crate::aal5::CELL_BYTES;
use crate::cells::train::{Exact, Spacing, Train};
use crate::gate::{DropReason, Gate};
use crate::units::{Span, Time};

impl Section {
    /// Whether packet discard lets a cell in where so many wait. Of a packet it knows only the last cell (A.
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
    #[inline]
    pub(super) fn police(
        &mut self,
        gate: usize,
        input: usize,
        cell: &mut Cell,
        counted: Time,
        gates: &mut [Gate],
    ) -> bool {
        let row = &mut self.gates[gate];
        let mut unit = self.frames[cell.frame as usize].unit;
        let server = &mut gates[row.number];
        if let Some(tagged) = server.police_cell(cell.at, counted, cell.tagged, unit.stretch) {
            cell.tagged = tagged;
            return true;
        }
        unit.bytes = CELL_BYTES;
        unit.set_tagged(cell.tagged);
        server.note_refused_of_class(counted, &unit, DropReason::Policed);
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
        let mut cell = self.take(gate, input);
        let at = cell.at;
        let CellGate { number, policed, discards, .. } = self.gates[gate];
        if policed && !self.police(gate, input, &mut cell, at, gates) {
            return;
        }
        let server = &mut gates[number];
        if discards && !Self::admits(&mut self.gates[gate], input, cell, server.backlog_ahead(at).units) {
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

    /// The first train of an input through a paced server: whole where its cells come together, or where they leave the section and
    /// none of them waits; else by [`Section::run_counted`] where they leave the section, or its first cell.
    pub(super) fn run_paced(&mut self, gate: usize, input: usize, before: u64, gates: &mut [Gate]) {
        crate::work::step();
        let measured = self.measured;
        let row = &mut self.gates[gate];
        let is_observed = row.observed != Observed::Not;
        let CellGate { server: CellServer::Paced(paced), inputs, next, number, discards, delay, .. } = row
        else {
            return;
        };
        let Input { head: train, to, own, .. } = &mut inputs[input];
        let train = *train;
        let together = Self::comes_together(&train, *discards);
        let leaves = !together && *to == To::End && !*discards && train.left > 1;
        let apart = if leaves && !is_observed && train.next.at >= measured.from {
            let last_comes = train.last();
            let counts = last_comes.picos() < before && paced.end_after(last_comes) < measured.until;
            if counts { paced.serve_apart(&train) } else { None }
        } else {
            None
        };
        if !together && apart.is_none() {
            return if leaves {
                self.run_counted(gate, input, before, gates)
            } else {
                self.run_paced_cell(gate, input, gates)
            };
        }
        if apart.is_some() && !train.ends {
            own.take(paced.spacing(), &train);
        }
        inputs[input].skip_head();
        next.set(input, inputs[input].next());
        let Some(last) = apart else { return self.pass_together(gate, input, train, gates) };
        let cells = u64::from(train.left);
        gates[*number].counters_mut().pass_alike(cells, u64::from(CELL_BYTES), Span::ZERO, 0);
        let out = Exact::whole(last.end.at.saturating_add(*delay));
        self.leave(gate, Cell::of(&train, false, train.ends), Span::ZERO, last.end.at);
        self.deliver_train(gate, To::End, Train { next: out, spacing: Spacing::NONE, ..train }, gates);
    }

    /// Fast path: cells of the first train of an input at a paced server behind which the section ends. Serves and counts those that
    /// come before `before`, while there is room; skips what only a packet's last cell needs: its wait beyond its own service, its
    /// departure and its delivery. The next one, if it comes before `before`, takes the general steps. It takes half of the instructions
    /// off a flow whose packets wait in a spacer (`cell_spacing/fig-3`).
    fn run_counted(&mut self, gate: usize, input: usize, before: u64, gates: &mut [Gate]) {
        let measured = self.measured;
        let row = &mut self.gates[gate];
        let spread = (row.observed != Observed::Not).then(|| row.spreads[input]);
        let CellGate { server: CellServer::Paced(paced), inputs, next, number, .. } = row else { return };
        let Input { head, own, .. } = &mut inputs[input];
        let train = *head;
        let served_by = &mut gates[*number];
        let mut unwaited = 0;
        while head.left > u32::from(train.ends) && head.next.at.picos() < before {
            let at = head.next.at;
            paced.waiting_at(at);
            if paced.is_full(at) {
                break;
            }
            let service = paced.serve(at);
            own.start(paced.spacing(), at, head.begins);
            if let Some(spread) = spread {
                served_by.record_cell(at, spread, service.service());
            }
            if service.start.at == at && at >= measured.from && service.end.at < measured.until {
                unwaited += 1;
            } else {
                service.count(served_by.counters_mut(), at);
            }
            head.skip(1);
        }
        served_by.counters_mut().pass_alike(unwaited, u64::from(CELL_BYTES), Span::ZERO, 0);
        let (left, comes) = (head.left, head.next.at);
        inputs[input].refill();
        next.set(input, inputs[input].next());
        if left < train.left {
            let counted = Train { left: train.left - left, ends: false, ..train };
            self.deliver_train(gate, To::End, counted, gates);
        }
        if left > 0 && comes.picos() < before {
            self.run_paced_cell(gate, input, gates);
        }
    }

    /// One cell through a paced server.
    fn run_paced_cell(&mut self, gate: usize, input: usize, gates: &mut [Gate]) {
        crate::work::step();
        let cell = self.take(gate, input);
        let at = cell.at;
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
        let unshared = row.inputs[input].own.start(paced.spacing(), at, cell.begins);
        cell_service.count(gates[number].counters_mut(), at);
        if row.observed != Observed::Not {
            gates[number].record_cell(at, row.spreads[input], cell_service.service());
        }
        self.leave(gate, cell, cell_service.start.at.saturating_since(unshared.at), cell_service.end.at);
        self.deliver(gate, input, cell, cell_service.end.at.saturating_add(delay), gates);
    }

    /// Whether all cells of a train are taken at once, as a packet's are where it is segmented.
    #[inline]
    pub(super) fn comes_together(train: &Train, discards: bool) -> bool {
        train.spacing == Spacing::NONE && train.left > 1 && !discards
    }

    /// Cells that come together through a paced server.
    pub(super) fn pass_together(&mut self, gate: usize, input: usize, train: Train, gates: &mut [Gate]) {
        crate::work::step();
        let row = &mut self.gates[gate];
        let spread = (row.observed != Observed::Not).then(|| row.spreads[input]);
        let CellGate { server, inputs, delay, number, .. } = row;
        let CellServer::Paced(paced) = server else { return };
        let (at, to, number, delay, spacing) =
            (train.next.at, inputs[input].to, *number, *delay, paced.spacing());
        let cells = u64::from(train.left).min(paced.room(at)) as u32;
        let lost = train.left - cells;
        if cells > 0 {
            let (first, last) = paced.serve_together(at, cells, gates[number].counters_mut(), self.measured);
            if let Some(spread) = spread {
                gates[number].record_cells(spread, &paced.together(at, first, cells));
            }
            let ends = train.ends && lost == 0;
            // Of a packet that is served at once, cells wait only for each other; of others' waits nobody asks.
            let background = self.crossings[self.frames[train.frame as usize].crossing as usize].background;
            let wait = if train.begins && ends && (background || first.start.at == at) {
                Span::ZERO
            } else {
                let unshared = inputs[input].own.start_of_last(spacing, (at, cells), train.begins);
                last.start.at.saturating_since(unshared.at)
            };
            if ends {
                self.leave(gate, Cell::of(&train, false, true), wait, last.end.at);
            }
            let out = Exact { at: first.end.at.saturating_add(delay), ..first.end };
            self.deliver_train(gate, to, Train { next: out, spacing, left: cells, ends, ..train }, gates);
        }
        for n in cells..train.left {
            gates[number].refuse_cell(at);
            let cell = Cell::of(&train, n == 0 && train.begins, train.ends && n + 1 == train.left);
            self.lose(gate, input, cell, at, DropReason::QueueFull);
        }
    }
}
