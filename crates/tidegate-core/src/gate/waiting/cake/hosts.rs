//! How many busy queues each host has in a tin.

use std::collections::BTreeMap;

use crate::plan::Isolation;

/// The hosts of one queue, as [`Hosts`] numbers them: where its units come from and where they go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    source: u32,
    destination: u32,
}

/// Busy queues by host.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    sources: Side,
    destinations: Side,
}

#[derive(Clone, Debug, Default)]
struct Side {
    number: BTreeMap<u32, u32>,
    /// Queues that are in the rotation of busy ones.
    busy: Vec<u32>,
}

impl Side {
    fn number_of(&mut self, host: u32) -> u32 {
        let next = self.busy.len() as u32;
        let number = *self.number.entry(host).or_insert(next);
        if number == next {
            self.busy.push(0);
        }
        number
    }
}

impl Isolation {
    fn by_source(self) -> bool {
        matches!(self, Isolation::DualSource | Isolation::Triple)
    }

    fn by_destination(self) -> bool {
        matches!(self, Isolation::DualDestination | Isolation::Triple)
    }
}

impl Hosts {
    /// The hosts of a new queue.
    pub(super) fn ends(&mut self, [source, destination]: [u32; 2]) -> Ends {
        let (source, destination) =
            (self.sources.number_of(source), self.destinations.number_of(destination));
        Ends { source, destination }
    }

    /// A queue becomes busy.
    pub(super) fn join(&mut self, ends: Ends) {
        self.sources.busy[ends.source as usize] += 1;
        self.destinations.busy[ends.destination as usize] += 1;
    }

    /// A queue is busy no more.
    pub(super) fn leave(&mut self, ends: Ends) {
        self.sources.busy[ends.source as usize] -= 1;
        self.destinations.busy[ends.destination as usize] -= 1;
    }

    /// Among how many queues the turn of a host is shared; 1 at least.
    pub(super) fn load(&self, isolation: Isolation, ends: Ends) -> u32 {
        let of = |asked: bool, busy: u32| if asked { busy } else { 1 };
        let source = of(isolation.by_source(), self.sources.busy[ends.source as usize]);
        let destination = of(isolation.by_destination(), self.destinations.busy[ends.destination as usize]);
        source.max(destination).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Host 7 sends three flows to hosts 1, 2 and 2; host 8 sends one to host 2.
    #[test]
    fn the_side_with_more_flows_counts() {
        let mut hosts = Hosts::default();
        let ends = [[7, 1], [7, 2], [7, 2], [8, 2]].map(|pair| hosts.ends(pair));
        ends.iter().for_each(|ends| hosts.join(*ends));
        let loads = |of: &Hosts, isolation| ends.map(|ends| of.load(isolation, ends));
        assert_eq!(loads(&hosts, Isolation::DualSource), [3, 3, 3, 1]);
        assert_eq!(loads(&hosts, Isolation::DualDestination), [1, 3, 3, 3]);
        assert_eq!(loads(&hosts, Isolation::Triple), [3, 3, 3, 3]);
        assert_eq!(loads(&hosts, Isolation::Flows), [1; 4]);
        hosts.leave(ends[1]);
        assert_eq!(loads(&hosts, Isolation::Triple), [2, 2, 2, 2]);
    }
}
