//! Hierarchical token buckets (M. Devera, "Hierarchical token bucket theory", 2002; Linux `sch_htb`): each node of a tree
//! has a rate of its own and a ceiling. A class whose bucket is not below zero sends of its own; another one borrows from
//! the nearest node above it whose bucket is not, if no node up to there is above its ceiling. What is sent is taken from
//! the lender's bucket and from those above it, and from the ceilings of all nodes above the class.
//!
//! Tokens are counted in 10⁻¹² bit, so that a picosecond at any whole rate is a whole number of them, and a class begins
//! at the first whole picosecond at which it may.
//!
//! Those that send at one level with one priority take turns as in `htb_lookup_leaf`: in turn are the nodes that lend, and at each of
//! them the nodes below it, down to a class. Each node remembers whose turn it is below it; when all below a node have had theirs, it is
//! the next node's turn. Siblings are in the order of the file, an inner node where its first class is.

use std::collections::BTreeMap;

use crate::plan::{HtbNode, HtbPlan};
use crate::units::{PICOS_PER_SECOND, Span, Time};

/// The tree.
#[derive(Clone, Debug)]
pub(super) struct Htb {
    nodes: Vec<Node>,
    /// Nodes that are classes: the first ones.
    classes: usize,
    /// Whose turn it is, of each priority: the first [`Node::order`] that is not over.
    turns: BTreeMap<(Siblings, u32), usize>,
    /// The lender of the class that was chosen last, with its level.
    chosen: (Option<usize>, u32),
}

/// Who takes turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Siblings {
    /// The lenders of a level: at level 0 classes that need not borrow, at the level of the gate itself the nodes without a parent.
    Lenders(u32),
    /// The nodes below this one.
    Below(usize),
}

#[derive(Clone, Debug)]
struct Node {
    parent: Option<usize>,
    /// Its place among its siblings: the number of the first class below it, or its own.
    order: usize,
    /// 0: a class; the nodes above are higher.
    level: u32,
    own: Bucket,
    ceil: Bucket,
    priority: u32,
    quantum: i64,
    /// Bytes on the wire that are left of its turn, by level.
    credits: Vec<i64>,
}

/// Tokens that come at a rate, up to a burst. They may be below zero.
#[derive(Clone, Debug)]
struct Bucket {
    rate: i128,
    burst: i128,
    tokens: i128,
    as_of: Time,
}

impl Bucket {
    fn new(rate: u64, burst: u64) -> Bucket {
        let burst = i128::from(burst) * 8 * i128::from(PICOS_PER_SECOND);
        Bucket { rate: i128::from(rate), burst, tokens: burst, as_of: Time::ZERO }
    }

    /// The first instant from `now` on at which it is not below zero.
    fn ready(&self, now: Time) -> Time {
        if self.tokens >= 0 {
            return now;
        }
        let picos = (-self.tokens + self.rate - 1) / self.rate;
        let picos = u64::try_from(picos).unwrap_or(u64::MAX);
        self.as_of.saturating_add(Span::from_picos(picos)).max(now)
    }

    fn take(&mut self, now: Time, bits: u64) {
        let elapsed = i128::from(now.saturating_since(self.as_of).picos());
        let there = (self.tokens + elapsed * self.rate).min(self.burst);
        self.tokens = there - i128::from(bits) * i128::from(PICOS_PER_SECOND);
        self.as_of = now;
    }
}

impl Htb {
    /// The first `classes` nodes are classes.
    pub(super) fn new(plan: &HtbPlan, classes: usize) -> Htb {
        let depth = |mut node: usize| {
            let mut depth = 0_u32;
            while let Some(parent) = plan.nodes[node].parent {
                (node, depth) = (parent, depth + 1);
            }
            depth
        };
        let deepest = (0..plan.nodes.len()).map(depth).max().unwrap_or(0);
        let first_below = |number: usize| {
            let is_below = |class: &usize| {
                std::iter::successors(Some(*class), |node| plan.nodes[*node].parent)
                    .any(|node| node == number)
            };
            (0..classes).find(is_below).unwrap_or(number)
        };
        let node = |(number, node): (usize, &HtbNode)| Node {
            parent: node.parent,
            order: first_below(number),
            level: if number < classes { 0 } else { deepest - depth(number) },
            own: Bucket::new(node.rate.bps(), node.burst),
            ceil: Bucket::new(node.ceil.bps(), node.ceil_burst),
            priority: node.priority,
            quantum: i64::from(node.quantum),
            credits: vec![0; deepest as usize + 2],
        };
        Htb {
            nodes: plan.nodes.iter().enumerate().map(node).collect(),
            classes,
            turns: BTreeMap::new(),
            chosen: (None, 0),
        }
    }

    /// The level of the gate itself, which lends to whoever has no parent.
    fn top(&self) -> u32 {
        self.nodes.iter().map(|node| node.level).max().unwrap_or(0) + 1
    }

    /// When a class may send, from `now` on, and the lender then with its level: the lowest of those that lend first.
    fn ready(&self, class: usize, now: Time) -> (Time, Option<usize>, u32) {
        let mut best: Option<(Time, Option<usize>, u32)> = None;
        let mut below = now;
        let mut at = Some(class);
        loop {
            let (ready, level) = match at {
                Some(node) => {
                    below = below.max(self.nodes[node].ceil.ready(now));
                    (below.max(self.nodes[node].own.ready(now)), self.nodes[node].level)
                }
                None => (below, self.top()),
            };
            if best.is_none_or(|(first, ..)| ready < first) {
                best = Some((ready, at, level));
            }
            let Some(node) = at else { break };
            at = self.nodes[node].parent;
        }
        best.unwrap_or((Time::NEVER, None, 0))
    }

    /// When a class without packets could send, from `now` on.
    pub(super) fn may_send(&self, class: usize, now: Time) -> Time {
        self.ready(class, now).0
    }

    /// The class that sends at `now`, or when the first one may. `has` says whether a class has packets.
    pub(super) fn choose(&mut self, now: Time, has: impl Fn(usize) -> bool) -> Result<usize, Time> {
        let mut earliest = Time::NEVER;
        let mut first: Option<(u32, u32)> = None;
        let mut could = Vec::new();
        for class in (0..self.classes).filter(|class| has(*class)) {
            let (ready, lender, level) = self.ready(class, now);
            earliest = earliest.min(ready);
            if ready > now {
                continue;
            }
            let rank = (level, self.nodes[class].priority);
            if first.is_none_or(|first| rank < first) {
                first = Some(rank);
                could.clear();
            }
            if first == Some(rank) {
                could.push((class, lender));
            }
        }
        let Some((level, priority)) = first else { return Err(earliest) };
        let mut class = self.next_in_turn(level, priority, &could);
        // A class that has sent more than its quantum sits out.
        while self.nodes[class].credits[level as usize] < 0 {
            let node = &mut self.nodes[class];
            node.credits[level as usize] += node.quantum;
            self.end_turn(class, level);
            class = self.next_in_turn(level, priority, &could);
        }
        self.chosen = (could.iter().find(|(of, _)| *of == class).and_then(|(_, lender)| *lender), level);
        Ok(class)
    }

    /// The class whose turn it is among those that `could` send, each with its lender, at one level with one priority
    /// (Linux `htb_lookup_leaf`).
    fn next_in_turn(&mut self, level: u32, priority: u32, could: &[(usize, Option<usize>)]) -> usize {
        let mut siblings = Siblings::Lenders(level);
        loop {
            let from = self.turns.get(&(siblings, priority)).copied().unwrap_or(0);
            let below = could.iter().filter_map(|(class, lender)| self.on_the_way(siblings, *class, *lender));
            let next = below
                .filter(|node| self.nodes[*node].order >= from)
                .min_by_key(|node| self.nodes[*node].order);
            self.turns.insert((siblings, priority), next.map_or(0, |node| self.nodes[node].order));
            siblings = match (next, siblings) {
                (Some(class), _) if class < self.classes => return class,
                (Some(node), _) => Siblings::Below(node),
                (None, Siblings::Lenders(_)) => siblings,
                // All below this node have had their turn.
                (None, Siblings::Below(node)) => {
                    let above = self.siblings_of(node, level);
                    self.turns.insert((above, priority), self.nodes[node].order + 1);
                    above
                }
            };
        }
    }

    /// Which of these siblings is a class, or is above it; `None`: no one.
    fn on_the_way(&self, siblings: Siblings, class: usize, lender: Option<usize>) -> Option<usize> {
        let mut upwards = std::iter::successors(Some(class), |node| self.nodes[*node].parent);
        match siblings {
            Siblings::Lenders(_) => lender.or_else(|| upwards.last()),
            Siblings::Below(node) => upwards.find(|below| self.nodes[*below].parent == Some(node)),
        }
    }

    /// With whom a node takes turns when classes send at this level.
    fn siblings_of(&self, node: usize, level: u32) -> Siblings {
        let Node { parent, level: own, .. } = self.nodes[node];
        parent.filter(|_| own < level).map_or(Siblings::Lenders(level), Siblings::Below)
    }

    /// The turn of a class that sends at this level is over.
    fn end_turn(&mut self, class: usize, level: u32) {
        let Node { order, priority, .. } = self.nodes[class];
        self.turns.insert((self.siblings_of(class, level), priority), order + 1);
    }

    /// The class that was chosen sends so many bytes.
    pub(super) fn charge(&mut self, now: Time, class: usize, bytes: u32) {
        let bits = u64::from(bytes) * 8;
        let (lender, level) = self.chosen;
        let mut lends = false;
        let mut at = Some(class);
        while let Some(number) = at {
            let node = &mut self.nodes[number];
            lends |= lender == Some(number);
            node.ceil.take(now, bits);
            if lends {
                node.own.take(now, bits);
            }
            at = node.parent;
        }
        let node = &mut self.nodes[class];
        let left = &mut node.credits[level as usize];
        *left -= i64::from(bytes);
        if *left < 0 {
            *left += node.quantum;
            self.end_turn(class, level);
        }
    }
}
