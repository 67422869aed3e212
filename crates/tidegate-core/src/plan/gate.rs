//! The plan of a gate: its rate, queue, framing, police, loss, jitter and delay.

use std::sync::Arc;

use super::{
    AckFilter, AdvicePlan, ClassesPlan, Discipline, Framing, MarkerPlan, OnChange, QueueCounts, QueuePlan,
    RatePlan, SchedulerPlan,
};
use crate::aal5::{CELL_BITS, CELL_BYTES};
use crate::gcra::{Conformance, Limit, Release};
use crate::serial::span_of;
use crate::units::{Span, Speed};

/// One server with its queue, loss and delay.
#[derive(Clone, Debug, PartialEq)]
pub struct GatePlan {
    /// Unique: `bottleneck`; a private copy is `access/bulk.1`, the other direction of a
    /// duplex gate `trunk/back`.
    pub name: String,
    /// The queue before the server.
    pub queue: QueuePlan,
    /// Classes with queues of their own; then `queue` is all of them together, and has no discipline.
    pub classes: Option<Arc<ClassesPlan>>,
    /// When a unit started at t ends.
    pub rate: RatePlan,
    /// What happens to a unit in transmission when the rate changes.
    pub on_change: OnChange,
    /// What a packet weighs on this gate's wire.
    pub framing: Framing,
    /// Loss after the server, before the delay.
    pub loss: LossPlan,
    /// Constant delay after service.
    pub delay: Span,
    /// Random delay on top of that, drawn for each unit; units keep their order.
    pub jitter: JitterPlan,
    /// Which draw of the jitter: 0 is the gate's own, another that of a small change ([`Plan::perturbed`](super::Plan::perturbed)).
    pub jitter_draw: u64,
    /// Inside the sending machine: TCP hears each departure.
    pub host: bool,
    /// What only gates with AAL5 framing have.
    pub cells: CellPlan,
    /// A policer before the queue.
    pub police: Option<PolicePlan>,
    /// A three-colour marker before the queue.
    pub marker: Option<MarkerPlan>,
    /// What it tells flows of their rate.
    pub advice: Option<AdvicePlan>,
}

impl GatePlan {
    /// An unlimited gate without delay: passes everything at once.
    #[must_use]
    pub fn open(name: &str) -> GatePlan {
        GatePlan {
            name: name.to_owned(),
            queue: QueuePlan::UNLIMITED,
            classes: None,
            rate: RatePlan::Unlimited,
            on_change: OnChange::Keep,
            framing: Framing::Ip,
            loss: LossPlan::None,
            delay: Span::ZERO,
            jitter: JitterPlan::None,
            jitter_draw: 0,
            host: false,
            cells: CellPlan::default(),
            police: None,
            marker: None,
            advice: None,
        }
    }
}

impl GatePlan {
    /// How long a cell is on the wire of this gate; none where it is not always the same.
    #[must_use]
    pub fn cell_time(&self) -> Span {
        let rate = match &self.rate {
            RatePlan::Constant(Speed::Bits(rate)) => rate.bps(),
            RatePlan::Gcra(gcra) => gcra.link.bps(),
            _ => 0,
        };
        if rate == 0 { Span::ZERO } else { Span::from_picos(span_of(CELL_BITS, rate).0) }
    }
}

impl GatePlan {
    /// Whether units are cells here; everywhere else they are packets.
    #[must_use]
    pub fn is_cell_gate(&self) -> bool {
        self.framing.is_cells()
    }

    /// Which ACKs its queue drops as needless.
    #[must_use]
    pub fn ack_filter(&self) -> Option<AckFilter> {
        match &self.classes.as_ref()?.scheduler {
            SchedulerPlan::Cake(tins) => tins.ack_filter,
            _ => None,
        }
    }

    /// Whether every packet is at the gate for some time.
    #[must_use]
    pub fn takes_time(&self) -> bool {
        let limited =
            matches!(self.rate, RatePlan::Constant(_) | RatePlan::Steps { .. } | RatePlan::Markov(_));
        limited || self.delay > Span::ZERO
    }

    /// The delay that no unit is spared: the constant one, and the least base delay of a recorded cellular link.
    #[must_use]
    pub fn least_delay(&self) -> Span {
        match &self.rate {
            RatePlan::CellReplay(link) => self.delay + link.light.least_delay(),
            _ => self.delay,
        }
    }

    /// Whether departures can be stated at arrivals; otherwise the gate is driven step by step.
    #[must_use]
    pub fn is_known_ahead(&self) -> bool {
        self.rate.is_known_ahead() && self.queue.discipline.decides_at_arrival() && self.classes.is_none()
    }

    /// Whether a cell that comes may let one begin sooner that waits. A shaper keeps a cell that is early by more than its
    /// tolerance until the theoretical arrival time. Classes are asked anew when another cell comes, and the shaper judges
    /// the cell that is chosen at that instant: if it is early by no more than the tolerance now, it begins at once.
    #[must_use]
    pub fn arrivals_hasten(&self) -> bool {
        let RatePlan::Gcra(gcra) = &self.rate else { return false };
        self.classes.is_some() && gcra.release == Release::Tat && gcra.limit.tolerance() > 0
    }

    /// Whether nothing about the gate looks at single packets but random loss. With a constant rate it is then a plain gate, which has
    /// the arithmetic of `gate/ahead/plain.rs`, unless it both loses units and is recorded.
    #[must_use]
    pub fn is_simple(&self) -> bool {
        self.jitter == JitterPlan::None
            && self.police.is_none()
            && self.classes.is_none()
            && self.marker.is_none()
            && self.advice.is_none()
            && self.queue.discipline == Discipline::DropTail
            && self.queue.tagged.is_none()
            && self.queue.colours == QueuePlan::UNLIMITED.colours
            && self.framing == Framing::Ip
            && self.queue.counts == QueueCounts::Waiting
            && !self.rate.counts_packets()
    }

    /// Bytes of a whole IP packet on the wire; at a cell gate, of all its cells.
    #[must_use]
    pub fn wire_bytes(&self, packet: u32) -> u32 {
        self.framing.wire_bytes(packet)
    }

    /// Packets of this size per second in the long run; see [`RatePlan::mean_units_per_second`].
    #[must_use]
    pub fn packets_per_second(&self, packet: u32) -> Option<f64> {
        self.rate.mean_units_per_second(8.0 * f64::from(self.wire_bytes(packet)))
    }

    /// Seconds that a packet takes when the gate is fastest; see [`RatePlan::shortest_time`].
    #[must_use]
    pub fn shortest_packet_time(&self, packet: u32) -> Option<f64> {
        self.rate.shortest_time(8.0 * f64::from(self.wire_bytes(packet)))
    }

    /// Bytes of a policer's unit: a cell at a cell gate, elsewhere a byte.
    #[must_use]
    pub fn policed_unit(&self) -> u32 {
        if self.is_cell_gate() { CELL_BYTES } else { 1 }
    }

    /// What the policer's contract allows; `None` where nothing polices.
    #[must_use]
    pub fn contract(&self) -> Option<Contract> {
        let police = self.police.as_ref()?;
        let unit = self.policed_unit();
        let bits = u64::from(unit) * 8;
        let limit = police.contract();
        Some(Contract {
            bits_per_second: limit.bits_per_second(bits),
            burst_bytes: limit.depth() * f64::from(unit),
            rate: limit.exact_bits_per_second(bits),
            peak: police.sustained.map(|_| police.peak.exact_bits_per_second(bits)),
        })
    }
}

/// What a policer's contract allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contract {
    /// Its rate in bits on the wire per second, rounded down.
    pub bits_per_second: u64,
    /// How much may come at once after a pause, in bytes on the wire.
    pub burst_bytes: f64,
    /// Its rate in bits on the wire per second, fractions included.
    pub rate: f64,
    /// Of two rates, the peak rate, likewise.
    pub peak: Option<f64>,
}

/// A policer: units are cells at a cell gate, elsewhere bytes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicePlan {
    /// The peak rate, or the only one.
    pub peak: Limit,
    /// The sustained rate, and which units it counts.
    pub sustained: Option<(Limit, Conformance)>,
    /// With one rate: what does not conform is tagged and goes on, instead of being dropped.
    pub tags: bool,
    /// Each flow has this limit besides: a unit conforms where both limits let it, and is counted by both or by none.
    pub per_flow: Option<Limit>,
}

impl PolicePlan {
    /// The limit that the contract is known by: the only one or, of two, the sustained one.
    #[must_use]
    pub fn contract(&self) -> &Limit {
        self.sustained.as_ref().map_or(&self.peak, |(sustained, _)| sustained)
    }

    /// Whether what is above the contract goes on, tagged, instead of being dropped.
    #[must_use]
    pub fn tags_excess(&self) -> bool {
        self.tags || matches!(self.sustained, Some((_, Conformance::Vbr3)))
    }
}

/// Choices of a cell gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CellPlan {
    /// Cells leave in slots of one cell, in random order where several came in one; the rate
    /// is constant.
    pub slotted: bool,
    /// Early packet discard: a packet whose first cell here finds so many cells waiting loses all.
    pub epd: Option<u64>,
    /// Partial packet discard: a packet that lost a cell loses the rest but the last.
    pub ppd: bool,
    /// How packets are told apart after this gate, where the section ends.
    pub reassembly: Reassembly,
}

/// What becomes of a packet that follows one whose last cell was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reassembly {
    /// AAL5: the two are taken for one and fail (ITU-T I.363.5).
    #[default]
    Aal5,
    /// Nothing.
    Simple,
}

/// Delay after service that varies: drawn once per unit that is not lost, or that of a unit after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JitterPlan {
    /// None.
    None,
    /// Anything from zero to `most`, all alike.
    Uniform {
        /// The longest.
        most: Span,
    },
    /// Exponential.
    Exponential {
        /// The mean.
        mean: Span,
    },
    /// So much for a unit that comes after a pause; none for others, which wait behind it.
    Wakeup {
        /// The delay.
        latency: Span,
        /// How long no unit has left.
        pause: Span,
    },
}

impl JitterPlan {
    /// The mean of what is drawn, or that of a unit after a pause. Keeping the order makes some units wait longer than they drew.
    #[must_use]
    pub fn mean(self) -> Span {
        match self {
            JitterPlan::None => Span::ZERO,
            JitterPlan::Uniform { most } => Span::from_picos(most.picos() / 2),
            JitterPlan::Exponential { mean } => mean,
            JitterPlan::Wakeup { latency, .. } => latency,
        }
    }
}

/// Loss after service: random, drawn once per unit, or counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossPlan {
    /// None.
    None,
    /// Each unit with the same probability.
    Independent {
        /// In [0, 1].
        probability: f64,
    },
    /// Two states; the state moves after each unit.
    GilbertElliott {
        /// Probability to leave the good state after a unit.
        good_to_bad: f64,
        /// Probability to leave the bad state after a unit.
        bad_to_good: f64,
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
    },
    /// No chance: the last of every so many units, SYNs and retransmissions included.
    Every {
        /// At least 1.
        units: u64,
    },
}
