//! The flow queues of one tin of CAKE (Høiland-Jørgensen, Täht and Morton, "Piece of CAKE", 2018; Linux `sch_cake`):
//! each flow has a queue of its own under COBALT; queues take turns by bytes (DRR++), those that have just begun go first, and
//! the turns of busy queues are shared out among hosts.
//!
//! A queue is *sparse* from its first unit until it has used up its first turn, *busy* while it is in the rotation after that,
//! and *decaying* while it is empty and COBALT has not forgotten its signals. Each service looks at one decaying queue first.
//!
//! DEVIATION: Linux (`cake_hash`) finds the queue of a flow by a hash of addresses and ports, in sets of eight that are searched for a free
//! one, so that two flows share a queue only where all eight are taken. Here flows get queues in the order in which they
//! first come, keep them, and share them only where there are more flows than queues; of those that share one, the first
//! says the hosts. A flow is what takes one route: the packets of one flow of the scenario in one direction.
//!
//! DEVIATION: a host's turn is divided among its busy queues to 2⁻³² bytes, and what is left is kept for the next turn; Linux
//! rounds to a whole byte, up or down by chance.

mod cobalt;
mod filter;
mod hosts;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::flow_queues::{FlowQueue, FlowQueues};
use super::line::{Leaver, Waiter};
use crate::gate::backlog::Backlog;
use crate::plan::{Isolation, TinPlan};
use crate::random::Stream;
use crate::units::Time;

use cobalt::Cobalt;
use hosts::{Ends, Hosts};

/// The state of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Set {
    /// Idle.
    #[default]
    Idle,
    /// It has just begun.
    Sparse,
    /// It was empty when its first turn ended, and waits among the busy ones.
    SparseWaits,
    /// Busy.
    Busy,
    /// Empty, but not forgotten.
    Decaying,
}

/// Queues in the order of their turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    New,
    Old,
    Decaying,
}

/// What COBALT keeps of a flow, and the set that the flow is in.
#[derive(Clone, Debug, Default)]
struct CobaltFlow {
    cobalt: Cobalt,
    /// What its last turn was longer than `credits` says, in 2⁻³² bytes.
    rest: u64,
    set: Set,
    ends: Ends,
}

/// All queues of a tin.
#[derive(Clone, Debug)]
pub(in crate::gate) struct TinQueue {
    plan: TinPlan,
    stream: Stream,
    each: FlowQueues<CobaltFlow>,
    /// The queue of each flow, host or pair of hosts.
    of_key: BTreeMap<[u32; 2], u32>,
    /// The hosts that the units of each stretch come from and go to; of others, hosts of their own.
    hosts_of_stretch: Arc<[[u32; 2]]>,
    hosts: Hosts,
    decaying: VecDeque<u32>,
}

impl TinQueue {
    pub(super) fn new(plan: TinPlan, stream: Stream) -> TinQueue {
        TinQueue {
            plan,
            stream,
            each: FlowQueues::new(),
            of_key: BTreeMap::new(),
            hosts_of_stretch: Arc::new([]),
            hosts: Hosts::default(),
            decaying: VecDeque::new(),
        }
    }

    /// Says which hosts the units of each stretch come from and go to.
    pub(super) fn set_hosts(&mut self, of_stretch: Arc<[[u32; 2]]>) {
        self.hosts_of_stretch = of_stretch;
    }

    /// A unit joins (`cake_enqueue`).
    pub(super) fn push(&mut self, waiter: Waiter) {
        let number = self.queue_of(waiter.unit.stretch);
        self.each.held = self.each.held.with(waiter.unit.bytes);
        let queue = &mut self.each.queues[number as usize];
        queue.line.push(waiter);
        match queue.state.set {
            Set::Idle | Set::Decaying => {
                if queue.state.set == Set::Decaying {
                    self.decaying.retain(|other| *other != number);
                }
                queue.state.set = Set::Sparse;
                queue.credits = 0;
                self.give_turn(number);
                self.each.new.push_back(number);
            }
            Set::SparseWaits => self.make_busy(number),
            Set::Sparse | Set::Busy => {}
        }
    }

    /// The unit that is served next (`cake_dequeue`).
    pub(super) fn pop(&mut self, now: Time, gone: &mut Vec<Waiter>) -> Option<Leaver> {
        let mut list = if self.decaying.is_empty() { List::New } else { List::Decaying };
        while self.each.held.units > 0 {
            let Some(number) = self.list(list).front().copied() else {
                list = if list == List::New { List::Old } else { List::New };
                continue;
            };
            list = List::New;
            let queue = &mut self.each.queues[number as usize];
            if queue.credits <= 0 {
                if queue.state.set == Set::Sparse && queue.line.is_empty() {
                    queue.state.set = Set::SparseWaits;
                } else if queue.state.set == Set::Sparse {
                    self.make_busy(number);
                }
                self.give_turn(number);
                self.take_from_list(number);
                self.each.old.push_back(number);
                continue;
            }
            match self.serve(number, now, gone) {
                Some(leaver) => return Some(leaver),
                None => self.retire(number, now),
            }
        }
        None
    }

    /// A unit of this queue that goes on, after those that are dropped; `None`: it is empty.
    fn serve(&mut self, number: u32, now: Time, gone: &mut Vec<Waiter>) -> Option<Leaver> {
        let queue = &mut self.each.queues[number as usize];
        loop {
            let waiter = queue.line.pop()?;
            self.each.held = self.each.held.without(waiter.unit.bytes);
            let verdict = queue.state.cobalt.judge(&self.plan.cobalt, now, &waiter, &mut self.stream);
            // The last unit may be marked, and is not dropped.
            if verdict.dropped && !queue.line.is_empty() {
                gone.push(waiter);
                continue;
            }
            queue.credits -= i64::from(self.plan.bytes.of(waiter.unit.bytes));
            return Some(Leaver { waiter, marked: verdict.marked });
        }
    }

    /// A queue that had its turn and is empty leaves the rotation.
    fn retire(&mut self, number: u32, now: Time) {
        self.take_from_list(number);
        let queue = &mut self.each.queues[number as usize];
        queue.state.cobalt.note_empty(&self.plan.cobalt, now);
        if queue.state.set == Set::Busy {
            self.hosts.leave(queue.state.ends);
        }
        if queue.state.cobalt.is_busy(now) {
            queue.state.set = Set::Decaying;
            self.decaying.push_back(number);
        } else {
            queue.state.set = Set::Idle;
        }
    }

    /// IP bytes of the longest queue.
    pub(super) fn longest(&self) -> u64 {
        self.each.queues.iter().map(|queue| queue.line.backlog().bytes).max().unwrap_or(0)
    }

    /// Drops the first unit of the longest queue; of several, of the first (`cake_drop`).
    pub(super) fn drop_from_longest(&mut self, now: Time) -> Option<Waiter> {
        let queue = self.each.queues.iter_mut().rev().max_by_key(|queue| queue.line.backlog().bytes)?;
        let waiter = queue.line.pop()?;
        queue.state.cobalt.note_overflow(&self.plan.cobalt, now);
        self.each.held = self.each.held.without(waiter.unit.bytes);
        Some(waiter)
    }

    /// Whether the queue of the units on a stretch has any.
    pub(super) fn holds(&self, stretch: u32) -> bool {
        self.each.number_of(stretch).is_some_and(|number| !self.each.queues[number as usize].line.is_empty())
    }

    /// See [`FlowQueues::first`].
    pub(super) fn first(&self) -> Option<&Waiter> {
        self.each.first()
    }

    /// See [`FlowQueues::take_first`].
    pub(super) fn take_first(&mut self) -> Option<Waiter> {
        self.each.take_first()
    }

    pub(super) fn backlog(&self) -> Backlog {
        self.each.held
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        self.each.memory_bytes()
    }

    fn list(&self, list: List) -> &VecDeque<u32> {
        match list {
            List::New => &self.each.new,
            List::Old => &self.each.old,
            List::Decaying => &self.decaying,
        }
    }

    /// Takes a queue off the list of which it is the first.
    fn take_from_list(&mut self, number: u32) {
        let lists = [&mut self.each.new, &mut self.each.old, &mut self.decaying];
        if let Some(list) = lists.into_iter().find(|list| list.front() == Some(&number)) {
            list.pop_front();
        }
    }

    /// A sparse queue becomes busy.
    fn make_busy(&mut self, number: u32) {
        let queue = &mut self.each.queues[number as usize];
        queue.state.set = Set::Busy;
        self.hosts.join(queue.state.ends);
    }

    /// A queue gets its part of its host's turn (`cake_get_flow_quantum`).
    fn give_turn(&mut self, number: u32) {
        let queue = &mut self.each.queues[number as usize];
        let load = self.hosts.load(self.plan.isolation, queue.state.ends);
        let part = (u64::from(self.plan.quantum) << 32) / u64::from(load) + queue.state.rest;
        queue.credits += (part >> 32) as i64;
        queue.state.rest = part & u64::from(u32::MAX);
    }

    /// The queue of the flow whose units are on this stretch.
    fn queue_of(&mut self, stretch: u32) -> u32 {
        self.each.number_of(stretch).unwrap_or_else(|| self.new_queue(stretch))
    }

    #[cold]
    fn new_queue(&mut self, stretch: u32) -> u32 {
        let own = [u32::MAX - stretch; 2];
        let [source, destination] = self.hosts_of_stretch.get(stretch as usize).copied().unwrap_or(own);
        let key = match self.plan.isolation {
            Isolation::Flows | Isolation::DualSource | Isolation::DualDestination | Isolation::Triple => {
                [stretch, 0]
            }
            Isolation::SourceHosts => [source, 0],
            Isolation::DestinationHosts => [destination, 0],
            Isolation::HostPairs => [source, destination],
        };
        let next = self.of_key.len() as u32 % self.plan.queues;
        let number = *self.of_key.entry(key).or_insert(next);
        if self.each.queues.len() <= number as usize {
            let ends = self.hosts.ends([source, destination]);
            self.each.queues.push(FlowQueue {
                state: CobaltFlow { ends, ..CobaltFlow::default() },
                ..FlowQueue::default()
            });
        }
        self.each.assign(stretch, number);
        number
    }
}

#[cfg(test)]
mod tests;
