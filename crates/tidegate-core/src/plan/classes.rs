//! Classes of packets at one gate, each with a queue of its own, and the scheduler that chooses among them.

use std::sync::Arc;

use super::{QueuePlan, TinsPlan};
use crate::gcra::{Limit, Release};
use crate::units::{Rate, Span};

/// The most classes of a gate.
pub const MOST_CLASSES: usize = 256;

/// With the class of a route: its packets are of that class by name, whatever they carry.
pub(crate) const NAMED: u16 = 1 << 15;

/// Classes of packets and their scheduler.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassesPlan {
    /// Which class is served next.
    pub scheduler: SchedulerPlan,
    /// The classes, in the order of the file.
    pub classes: Vec<ClassPlan>,
    /// The class of each route by its number: data of the first flow, its other direction, and so on; then background
    /// sources. A route that is not here is of the first class.
    pub of_route: Arc<[u16]>,
    /// The classes of packets that carry a codepoint of their own, as those of live runs do; `None`: theirs too is that
    /// of their route.
    pub by_codepoint: Option<Arc<ByCodepoint>>,
}

/// Classes by the codepoint of each packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByCodepoint {
    /// The class of each codepoint; `None`: that of the packet's route.
    pub classes: [Option<u16>; 64],
    /// By the number of a route: its packets are of its class by name, whatever they carry.
    pub named: Arc<[bool]>,
}

/// A class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassPlan {
    /// Its name.
    pub name: String,
    /// Its queue.
    pub queue: QueuePlan,
}

/// A scheduler, with what each class has there.
#[derive(Clone, Debug, PartialEq)]
pub enum SchedulerPlan {
    /// The first class that may be served (strict priority; IEEE 802.1Q 8.6.8.1).
    Strict(StrictPlan),
    /// Deficit round robin (Shreedhar and Varghese 1995): bytes on the wire that each class may send in its turn.
    Drr(Vec<u32>),
    /// Weighted fair queueing, packet by packet (Parekh and Gallager 1993).
    Wfq(WfqPlan),
    /// Hierarchical token buckets.
    Htb(HtbPlan),
    /// A contract for each class: virtual channels in a virtual path.
    Spacer(SpacerPlan),
    /// The tins of CAKE and its shaper.
    Cake(TinsPlan),
}

/// Classes that are shaped to contracts of their own inside the rate that they share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpacerPlan {
    /// Bytes on the wire of the unit that the contracts count: 53 at a cell gate, elsewhere 1.
    pub unit_bytes: u32,
    /// The contract of each class, in their order.
    pub classes: Vec<SpacedClass>,
}

/// The contract of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpacedClass {
    /// What leaves it keeps each of these; none: it is only served in turn.
    pub limits: Vec<Limit>,
    /// When a unit that would come too early leaves.
    pub release: Release,
}

/// What strict priority heeds beside the order.
#[derive(Clone, Debug, PartialEq)]
pub struct StrictPlan {
    /// Rate of the gate in bit/s, where a class has credit or a time gate.
    pub link: Option<Rate>,
    /// The credit-based shaper of each class (IEEE 802.1Q 8.6.8.2).
    pub credits: Vec<Option<CreditPlan>>,
    /// When the time gate of each class is open (IEEE 802.1Q 8.6.8.4); `None`: always.
    pub open: Vec<Option<Arc<OpeningsPlan>>>,
}

/// A credit-based shaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditPlan {
    /// Credit that a class gains in a second, in bits, while its packets wait: the share of the link that it has.
    pub idle_slope: Rate,
    /// Credit never rises above so many bytes.
    pub most: Option<u64>,
    /// Credit never falls below minus so many bytes.
    pub least: Option<u64>,
}

/// When a time gate is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpeningsPlan {
    /// The schedule repeats after this.
    pub cycle: Span,
    /// A cycle begins here; earlier ones came before it.
    pub offset: Span,
    /// Open from the one to the other, in order and apart. The last may end in the next cycle, before the first begins.
    pub openings: Vec<(Span, Span)>,
}

impl OpeningsPlan {
    /// The longest time that it is open at once.
    #[must_use]
    pub fn longest(&self) -> Span {
        let lengths = self.openings.iter().map(|(from, to)| to.picos() - from.picos());
        Span::from_picos(lengths.max().unwrap_or(0))
    }
}

/// Weighted fair queueing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WfqPlan {
    /// Rate of the gate in bit/s.
    pub link: Rate,
    /// The weight of each class, above zero.
    pub weights: Vec<u32>,
}

/// Hierarchical token buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtbPlan {
    /// One node for each class, in their order; then those that only lend.
    pub nodes: Vec<HtbNode>,
}

/// A node of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HtbNode {
    /// The node that it borrows from; `None`: the gate, which lends what it can carry.
    pub parent: Option<usize>,
    /// What it has of its own, above zero.
    pub rate: Rate,
    /// What it may send with what it borrows; not below `rate`.
    pub ceil: Rate,
    /// The most bytes at once above `rate` after a pause.
    pub burst: u64,
    /// The most bytes at once above `ceil`.
    pub ceil_burst: u64,
    /// Of classes that could send alike, those with the smallest number are first.
    pub priority: u32,
    /// Bytes on the wire that it sends in a turn, where others of its priority could send alike; above zero.
    pub quantum: u32,
}

impl SpacedClass {
    /// A class that is only served in turn.
    #[must_use]
    pub fn without_limit() -> SpacedClass {
        SpacedClass { limits: Vec::new(), release: Release::Earliest }
    }
}

impl SchedulerPlan {
    /// The word for it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            SchedulerPlan::Strict(_) => "strict",
            SchedulerPlan::Drr(_) => "drr",
            SchedulerPlan::Wfq(_) => "wfq",
            SchedulerPlan::Htb(_) => "htb",
            SchedulerPlan::Spacer(_) => "spacer",
            SchedulerPlan::Cake(_) => "cake",
        }
    }
}

impl ClassesPlan {
    /// Whether the queue of any class marks packets CE.
    #[must_use]
    pub fn marks(&self) -> bool {
        self.classes.iter().any(|class| class.queue.discipline.marks())
    }
    /// Whether units that are too much are dropped from the classes' queues, not when they come.
    #[must_use]
    pub fn makes_room(&self) -> bool {
        matches!(self.scheduler, SchedulerPlan::Cake(_))
    }
}
