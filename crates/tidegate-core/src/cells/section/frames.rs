//! Packets that are in cells: each is reported once, as reassembled or as lost with its first lost cell.

use std::collections::VecDeque;

use super::{Cell, CellGate, Discard, Output, Section, To};
use crate::cells::train::Train;
use crate::gate::{Count, DropReason, Gate};
use crate::plan::Reassembly;
use crate::unit::{LEAST_WAIT, Unit};
use crate::units::{Span, Time};

/// One route's way through the section.
#[derive(Debug, Default)]
pub(super) struct Crossing {
    /// First gate, and the input there.
    pub(super) entry: (u32, u32),
    /// The section's last gate for it.
    pub(super) exit: u32,
    pub(super) llc: bool,
    pub(super) rule: Reassembly,
    pub(super) hears_departures: bool,
    /// Nobody waits for its packets, so the section does not wake for them.
    pub(super) unawaited: bool,
    /// Deliveries of its packets are only counted.
    pub(super) background: bool,
    /// Somebody asks when they came.
    pub(super) asks_when: bool,
    /// Cells of packets without an end stand before the next packet.
    pub(super) joined: bool,
    /// Packets without an end whose other cells are not all settled.
    pub(super) endless: u32,
    /// Packets whose last cell has neither arrived nor been lost; not of those that nobody waits for.
    pub(super) open: VecDeque<u32>,
    /// Those of nobody that arrived and were not reported, and where they are on their route.
    pub(super) counted: Count,
    pub(super) stretch: u32,
}

/// A packet that has cells in the section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) unit: Unit,
    pub(super) crossing: u32,
    /// Cells whose fate is not known.
    pub(super) left: u32,
    pub(super) arrived: u32,
    pub(super) failed: bool,
    /// Its last cell was lost.
    pub(super) endless: bool,
    /// Its last cell is not known to leave before this.
    pub(super) due: Time,
}

impl Section {
    /// The last cell of a packet has waited so long for other packets and left at `end`.
    #[inline(always)]
    pub(super) fn leave(&mut self, gate: usize, cell: Cell, wait: Span, end: Time) {
        if !cell.ends {
            return;
        }
        let CellGate { number, host, .. } = self.gates[gate];
        let frame = &mut self.frames[cell.frame as usize];
        // Cells of packets that come as fast as they are served wait a picosecond now and then, by rounding.
        if wait >= LEAST_WAIT {
            frame.unit.note_wait(wait, number);
        }
        if host && self.crossings[frame.crossing as usize].hears_departures {
            self.outputs.push_back(Output::Departed { at: end, gate: number, unit: frame.unit });
        }
    }

    /// A cell goes on to what comes next, where it arrives at `at`.
    #[inline(always)]
    pub(super) fn deliver(&mut self, gate: usize, input: usize, cell: Cell, at: Time, gates: &mut [Gate]) {
        let to = self.gates[gate].inputs[input].to;
        self.deliver_train(gate, to, cell.as_train(at), gates);
    }

    #[inline]
    pub(super) fn deliver_train(&mut self, gate: usize, to: To, train: Train, gates: &mut [Gate]) {
        match to {
            To::Gate { gate: next, input } => self.push(next, input, train, gates),
            To::End => {
                let frame = &mut self.frames[train.frame as usize];
                frame.arrived += train.left;
                frame.left -= train.left;
                if train.ends {
                    self.reassemble(gate, train.frame, train.last());
                }
                self.settle_frame(train.frame);
            }
        }
    }

    /// The last cell of a packet has come to the end of the section.
    pub(super) fn reassemble(&mut self, gate: usize, place: u32, at: Time) {
        let frame = self.frames[place as usize];
        let crossing = &mut self.crossings[frame.crossing as usize];
        crossing.close(place);
        let joined = std::mem::take(&mut crossing.joined) && crossing.rule == Reassembly::Aal5;
        self.note_due(frame.crossing);
        let counts = &mut self.gates[gate].counts;
        let inside = self.measured.from <= at && at < self.measured.until;
        if frame.failed || joined {
            counts.wasted += u64::from(frame.arrived) * u64::from(inside);
        } else {
            counts.reassembled += u64::from(inside);
            self.outputs.push_back(Output::Deliver { at, unit: frame.unit });
        }
        if joined && !frame.failed {
            counts.failed += u64::from(inside);
            let gate = self.gates[gate].number;
            self.outputs.push_back(Output::Drop {
                at,
                gate,
                reason: DropReason::Reassembly,
                unit: frame.unit,
            });
        }
    }

    /// The last cell of a packet that only counts has come to the end of the section at `at`, or another
    /// instant that counts alike.
    #[inline]
    pub(super) fn count_frame(&mut self, gate: usize, place: u32, at: Time) {
        let frame = &self.frames[place as usize];
        let Frame { unit, failed, .. } = frame;
        let crossing = &mut self.crossings[frame.crossing as usize];
        if *failed || crossing.joined {
            return self.reassemble(gate, place, at);
        }
        if crossing.counted.packets == 0 {
            self.counted.push(frame.crossing);
        }
        crossing.counted.packets += 1;
        crossing.counted.bytes += u64::from(unit.bytes);
        crossing.stretch = unit.stretch;
        self.gates[gate].counts.reassembled += 1;
    }

    /// Tells of packets that only count, at `at` or another instant that counts alike.
    pub(super) fn tell_counted(&mut self, at: Time) {
        self.counted.sort_unstable();
        for number in self.counted.drain(..) {
            crate::work::looks(1);
            let crossing = &mut self.crossings[number as usize];
            let count = std::mem::take(&mut crossing.counted);
            self.outputs.push_back(Output::Counted { at, stretch: crossing.stretch, count });
        }
    }

    /// A cell was lost at `at`.
    #[cold]
    pub(super) fn lose(&mut self, gate: usize, input: usize, cell: Cell, at: Time, reason: DropReason) {
        let CellGate { inputs, ppd, counts, .. } = &mut self.gates[gate];
        counts.lost[reason as usize] += u64::from(self.measured.from <= at && at < self.measured.until);
        // What is lost after the server is not known on arrival.
        if *ppd && !reason.after_service() && !cell.ends && inputs[input].discard == Discard::Nothing {
            inputs[input].discard = Discard::Rest;
        }
        let (place, loss) = (cell.frame as usize, Loss { at, gate: gate as u32, reason });
        if self.losses.len() <= place {
            self.losses.resize(self.frames.len(), loss);
        }
        let frame = &mut self.frames[place];
        // Gates are not gone through in order of time.
        self.losses[place] = if frame.failed { self.losses[place].min(loss) } else { loss };
        frame.failed = true;
        frame.left -= 1;
        if cell.ends {
            frame.endless = true;
            let number = frame.crossing;
            let crossing = &mut self.crossings[number as usize];
            crossing.endless += 1;
            crossing.close(cell.frame);
            self.note_due(number);
        }
        self.settle_frame(cell.frame);
    }

    /// Tells of a packet that lost cells, the first of them as is known now.
    #[cold]
    fn tell_loss(&mut self, place: u32) {
        let Loss { at, gate, reason } = self.losses[place as usize];
        let CellGate { number, counts, .. } = &mut self.gates[gate as usize];
        counts.failed += u64::from(self.measured.from <= at && at < self.measured.until);
        let unit = self.frames[place as usize].unit;
        self.outputs.push_back(Output::Drop { at, gate: *number, reason, unit });
    }

    /// The run is over: tells of packets that lost cells and have others on their way.
    pub(super) fn tell_losses(&mut self) {
        for place in 0..self.frames.len() {
            let Frame { left, failed, .. } = self.frames[place];
            if left > 0 && failed {
                self.tell_loss(place as u32);
            }
        }
    }

    /// Forgets a packet when the fate of all its cells is known.
    #[inline]
    pub(super) fn settle_frame(&mut self, place: u32) {
        crate::work::step();
        let frame = self.frames[place as usize];
        if frame.left > 0 {
            return;
        }
        self.free_frames.push(place);
        if frame.failed {
            self.tell_loss(place);
        }
        if frame.endless {
            let crossing = &mut self.crossings[frame.crossing as usize];
            crossing.endless -= 1;
            crossing.joined |= frame.arrived > 0;
            let exit = crossing.exit as usize;
            // Reported at the run's end too, so the measured time does not matter more than a packet.
            self.gates[exit].counts.wasted += u64::from(frame.arrived);
        }
    }
}

/// A packet lost a cell: the earlier, at one instant the further upstream, is the less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Loss {
    at: Time,
    /// Among those of the section.
    gate: u32,
    reason: DropReason,
}

impl Crossing {
    /// Whether its packets only have to be counted as long as no last cell is lost: nobody waits for
    /// them or asks when they came, and none may be joined to one before it.
    pub(super) fn only_counts(&self) -> bool {
        self.background && !self.asks_when && !self.joined && self.endless == 0
    }

    /// The fate of a packet's last cell is known: nearly always that of the oldest packet.
    fn close(&mut self, frame: u32) {
        if let Some(place) = self.open.iter().position(|open| *open == frame) {
            self.open.remove(place);
        }
    }
}
