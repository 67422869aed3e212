//! Shared by disciplines with a queue for each flow (FQ-CoDel, CAKE): the map from flows to queues, and the lists of new and old
//! queues that take turns.

use std::collections::VecDeque;

use super::line::{Line, Waiter};
use crate::gate::backlog::Backlog;

/// A flow has no queue yet.
const NONE: u32 = u32::MAX;

/// The queue of one flow; `S`: what its discipline keeps beside that.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowQueue<S> {
    pub(super) line: Line,
    /// Bytes that it may still send in this turn.
    pub(super) credits: i64,
    pub(super) state: S,
}

/// All queues.
#[derive(Clone, Debug)]
pub(super) struct FlowQueues<S> {
    pub(super) queues: Vec<FlowQueue<S>>,
    /// The queue of each flow, by the stretch that its units are on.
    of_stretch: Vec<u32>,
    /// Queues that have just begun, and others, in the order of their turns.
    pub(super) new: VecDeque<u32>,
    pub(super) old: VecDeque<u32>,
    pub(super) held: Backlog,
}

impl<S> FlowQueues<S> {
    pub(super) fn new() -> FlowQueues<S> {
        FlowQueues {
            queues: Vec::new(),
            of_stretch: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            held: Backlog::default(),
        }
    }

    /// The number of the queue of the flow whose units are on this stretch.
    #[inline]
    pub(super) fn number_of(&self, stretch: u32) -> Option<u32> {
        self.of_stretch.get(stretch as usize).copied().filter(|number| *number != NONE)
    }

    /// Gives a flow its queue.
    pub(super) fn assign(&mut self, stretch: u32, number: u32) {
        let place = stretch as usize;
        if self.of_stretch.len() <= place {
            self.of_stretch.resize(place + 1, NONE);
        }
        self.of_stretch[place] = number;
    }

    /// A unit that may be served next; the one that is, if no turn ends.
    pub(super) fn first(&self) -> Option<&Waiter> {
        self.new.iter().chain(&self.old).find_map(|number| self.queues[*number as usize].line.first())
    }

    /// Takes that unit.
    pub(super) fn take_first(&mut self) -> Option<Waiter> {
        let mut numbers = self.new.iter().chain(&self.old);
        let number = *numbers.find(|number| !self.queues[**number as usize].line.is_empty())?;
        let waiter = self.queues[number as usize].line.pop()?;
        self.held = self.held.without(waiter.unit.bytes);
        Some(waiter)
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        let lines: u64 = self.queues.iter().map(|queue| queue.line.memory_bytes()).sum();
        lines + (self.queues.capacity() * size_of::<FlowQueue<S>>() + self.of_stretch.capacity() * 4) as u64
    }
}
