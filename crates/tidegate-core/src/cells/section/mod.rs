//! A section: consecutive cell gates between segmentation and reassembly. Their cells are computed up to an instant for all gates
//! together, upstream gates first ([`Section::advance`]).

use std::collections::{BTreeMap, VecDeque};

use self::frames::{Crossing, Frame, Loss};
use self::gate::{CellGate, CellServer};
use self::input::{Cell, Discard, Input, To};
use self::lay::{Block, MOST_INPUTS};
use super::train::{Exact, Spacing, Train};
use crate::aal5::{cells_of, padding_of};
use crate::gate::Gate;
use crate::soonest::Soonest;
use crate::unit::Unit;
use crate::units::{Measured, Span, Time};

mod block;
mod build;
mod frames;
mod gate;
mod input;
mod interface;
mod lay;
mod noted;
mod own;
mod piece;
mod serve;
mod slots;
mod steps;

pub use interface::{CellCounts, CrossingPlan, Observed, Options, Output};

const NEVER: u64 = u64::MAX;

/// Packets that may come before a section is brought forward, which bounds what it keeps.
const MOST_ENTERED: u32 = 1024;

/// Cell gates that share crossings.
#[derive(Debug, Default)]
pub struct Section {
    /// Upstream first.
    gates: Vec<CellGate>,
    /// The place of each gate of the network.
    places: BTreeMap<usize, usize>,
    /// The gates that have to be brought forward: at others nothing comes between the cells of their one input.
    followed: Vec<usize>,
    crossings: Vec<Crossing>,
    /// When the first open packet of each crossing is due.
    dues: Soonest,
    /// Crossings whose packets were counted and not reported.
    counted: Vec<u32>,
    frames: Vec<Frame>,
    /// The first loss of each packet that lost cells.
    losses: Vec<Loss>,
    free_frames: Vec<u32>,
    /// Some gate's rate is set from outside.
    fed_back: bool,
    /// It is brought forward with every packet that enters, so that losses are reported early.
    report_losses_early: bool,
    /// Each cell is handled for itself, through [`Gate::pass`] wherever it can be.
    one_by_one: bool,
    /// Packets that came since the section was brought forward.
    entered: u32,
    measured: Measured,
    outputs: VecDeque<Output>,
    /// The cells of one slot by crossing.
    due: Vec<(u32, Cell)>,
    /// Packets without a last cell, all of whose others have come to the section's end.
    settled: Vec<u32>,
    /// Kept to save allocations.
    spare: Option<Block>,
}

impl Section {
    /// A packet comes at `at`, never before the last call's.
    pub fn enter(&mut self, at: Time, crossing: usize, unit: Unit, gates: &mut [Gate]) {
        if self.must_follow() {
            self.advance(at, gates);
        }
        let Crossing { entry: (gate, input), llc, .. } = self.crossings[crossing];
        let cells = cells_of(unit.bytes, llc);
        if self.measured.from <= at && at < self.measured.until {
            let counts = &mut self.gates[gate as usize].counts;
            counts.segmented += 1;
            counts.padding_bytes += u64::from(padding_of(unit.bytes, llc));
        }
        let frame = self.open_frame(Frame {
            unit,
            crossing: crossing as u32,
            left: cells,
            arrived: 0,
            failed: false,
            endless: false,
            due: at,
        });
        if !self.crossings[crossing].background {
            self.crossings[crossing].open.push_back(frame);
        }
        let whole = Train {
            next: Exact::whole(at),
            spacing: Spacing::NONE,
            left: cells,
            frame,
            begins: true,
            ends: true,
            tagged: unit.tagged(),
        };
        if self.one_by_one {
            for n in 0..cells {
                let single = Train { left: 1, begins: n == 0, ends: n + 1 == cells, ..whole };
                self.push(gate, input, single, gates);
            }
        } else {
            self.push(gate, input, whole, gates);
        }
    }

    /// Whether the section is brought forward now: not as long as nobody waits for a packet, so
    /// that many slots are gone through at once.
    fn must_follow(&mut self) -> bool {
        self.entered += 1;
        self.report_losses_early || self.entered > MOST_ENTERED
    }

    fn open_frame(&mut self, frame: Frame) -> u32 {
        match self.free_frames.pop() {
            Some(place) => {
                self.frames[place as usize] = frame;
                place
            }
            None => {
                self.frames.push(frame);
                self.frames.len() as u32 - 1
            }
        }
    }

    /// No packet leaves before this, and none that is certain to is kept back then.
    #[must_use]
    pub fn next_wakeup(&self, gates: &[Gate]) -> Time {
        let due = Time::from_picos(self.dues.first().0);
        if !self.fed_back {
            return due;
        }
        let steps = (0..self.gates.len()).map(|gate| self.steps_wakeup(gate, gates)).min();
        due.min(steps.unwrap_or(Time::NEVER))
    }

    /// Whether a packet of a crossing that has just come changes neither what there is to tell nor when the section wakes.
    #[must_use]
    pub fn is_silent(&self, crossing: usize) -> bool {
        self.crossings[crossing].background && !self.report_losses_early && self.outputs.is_empty()
    }

    /// The first open packet of a crossing is another one, or is due at another instant.
    fn note_due(&mut self, crossing: u32) {
        let first = self.crossings[crossing as usize].open.front();
        let due = first.map_or(NEVER, |frame| self.frames[*frame as usize].due.picos());
        self.dues.set(crossing as usize, due);
    }

    /// The next thing to tell.
    pub fn take_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Handles every cell that comes to a gate before `until`, and where a rate is set from outside every service that ends by then.
    pub fn advance(&mut self, until: Time, gates: &mut [Gate]) {
        self.advance_both(until, until.saturating_add(Span::from_picos(1)), gates);
    }

    /// [`Section::advance`] to the instant `at` at which a rate is about to be set: a service that ends then is followed by one of
    /// the new rate.
    pub fn advance_before(&mut self, at: Time, gates: &mut [Gate]) {
        self.advance_both(at, at, gates);
    }

    fn advance_both(&mut self, arrivals: Time, ends: Time, gates: &mut [Gate]) {
        self.entered = 0;
        for place in 0..self.followed.len() {
            let gate = self.followed[place];
            crate::work::looks(1);
            match self.gates[gate].server {
                CellServer::Steps(_) => self.run_steps(gate, arrivals, ends, gates),
                CellServer::Slotted(_) => self.run_slots(gate, arrivals, gates),
                _ => self.merge(gate, arrivals, gates),
            }
        }
    }

    /// Cells come to a gate. A gate with one input handles them at once: nothing can come between them.
    fn push(&mut self, gate: u32, input: u32, train: Train, gates: &mut [Gate]) {
        crate::work::step();
        let CellGate { inputs, next, server, delay, host, discards, .. } = &mut self.gates[gate as usize];
        if train.ends {
            let frame = &mut self.frames[train.frame as usize];
            let crossing = &self.crossings[frame.crossing as usize];
            frame.due = match crossing.unawaited {
                true => Time::NEVER,
                false => {
                    // Not before every other cell that may come with it is known.
                    let slot = match server {
                        CellServer::Slotted(slotted) => slotted.slot.span(),
                        _ => Span::ZERO,
                    };
                    let known = train.last().saturating_add(slot).saturating_add(Span::from_picos(1));
                    // Nor is it missed before it may have come to what is next: all is reported just before.
                    let last = inputs[input as usize].to == To::End && !*host;
                    let rest = if last { delay.picos().saturating_sub(2) } else { 0 };
                    known.saturating_add(Span::from_picos(rest))
                }
            };
            if crossing.open.front() == Some(&train.frame) {
                self.dues.set(frame.crossing as usize, frame.due.picos());
            }
        }
        let is_only = inputs.len() == 1;
        if is_only && Self::comes_together(&train, *discards) && matches!(server, CellServer::Paced(_)) {
            return self.pass_together(gate as usize, 0, train, gates);
        }
        inputs[input as usize].push(train);
        next.set(input as usize, inputs[input as usize].next());
        if is_only {
            match server {
                CellServer::Slotted(_) => self.run_slots(gate as usize, Time::NEVER, gates),
                CellServer::Steps(_) => {}
                _ => self.run(gate as usize, 0, NEVER, gates),
            }
        }
    }

    /// Cells of several crossings, by time, at one instant by crossing.
    fn merge(&mut self, gate: usize, until: Time, gates: &mut [Gate]) {
        loop {
            let ((first, from), (second, second_from)) = self.gates[gate].next.two_first();
            if first >= until.picos() {
                return;
            }
            let before = second.saturating_add(u64::from(from < second_from));
            self.run(gate, from, before.min(until.picos()), gates);
        }
    }

    /// Takes the cells of one input that come before `before`.
    fn run(&mut self, gate: usize, input: usize, before: u64, gates: &mut [Gate]) {
        crate::work::step();
        while self.gates[gate].next.at(input) < before {
            match self.gates[gate].server {
                CellServer::Paced(_) => self.run_paced(gate, input, before, gates),
                _ => self.run_any(gate, input, gates),
            }
        }
    }

    /// Takes the next cell off an input.
    #[inline]
    fn take(&mut self, gate: usize, input: usize) -> Cell {
        crate::work::step();
        let CellGate { inputs, next, .. } = &mut self.gates[gate];
        let cell = inputs[input].take();
        next.set(input, inputs[input].next());
        cell
    }

    /// The run is over at `until`.
    pub fn finish(&mut self, until: Time, gates: &mut [Gate]) {
        self.advance(until, gates);
        self.tell_losses();
        for gate in &mut self.gates {
            let counters = gates[gate.number].counters_mut();
            match &mut gate.server {
                CellServer::Slotted(slotted) => slotted.tell(counters),
                CellServer::Paced(paced) => paced.tell(counters),
                CellServer::Any | CellServer::Steps(_) => {}
            }
        }
    }

    /// What a gate of the network counted beside cells, if it is one of the section's.
    #[must_use]
    pub fn counts(&self, number: usize) -> Option<CellCounts> {
        self.places.get(&number).map(|place| self.gates[*place].counts)
    }

    /// Bytes held, about.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let trains: usize =
            self.gates.iter().flat_map(|gate| &gate.inputs).map(|input| input.trains.capacity() + 1).sum();
        let held = |gate: &CellGate| match &gate.server {
            CellServer::Steps(held) => held.memory_bytes(),
            _ => 0,
        };
        let held: u64 = self.gates.iter().map(|gate| held(gate) + gate.next.memory_bytes()).sum();
        let frames = self.frames.capacity() * size_of::<Frame>() + self.losses.capacity() * size_of::<Loss>();
        held + (trains * size_of::<Train>() + frames) as u64
    }
}
