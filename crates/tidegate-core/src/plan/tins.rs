//! The tins of CAKE: their flow queues, the size that a packet counts with, and the shaper in front of them (Linux `sch_cake`).

use std::sync::Arc;

use super::{Diffserv, Framing};
use crate::aal5::{CELL_BYTES, CELL_PAYLOAD};
use crate::serial::span_of;
use crate::units::{Rate, Span};

/// Among whom the rate of a tin is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Flows.
    Flows,
    /// Hosts that packets come from.
    SourceHosts,
    /// Hosts that packets go to.
    DestinationHosts,
    /// Pairs of hosts.
    HostPairs,
    /// Hosts that packets come from, and in each of them flows.
    DualSource,
    /// Hosts that packets go to, and in each of them flows.
    DualDestination,
    /// Hosts on the side where they have more flows, and in each of them flows.
    Triple,
}

/// Which ACKs are dropped as needless (Linux `sch_cake`, `cake_ack_filter`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckFilter {
    /// Those behind which another needless one waits.
    Conservative,
    /// The one directly before what has come, too.
    Aggressive,
}

/// What the shaper and the turns count of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapedBytes {
    /// Bytes on the gate's own wire.
    Wire(Framing),
    /// Bytes on the wire of a link further on.
    Beyond {
        /// Bytes added to each IP packet.
        overhead: i32,
        /// The least bytes of a packet, overhead included.
        least: u32,
        /// What the link does to them.
        link: LinkLayer,
    },
}

/// What a link does to the bytes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkLayer {
    /// Nothing.
    Plain,
    /// Cells of 53 bytes that carry 48 each.
    Atm,
    /// A byte more for each 64, or part of 64 (IEEE 802.3 64b/65b).
    Ptm,
}

/// One tin's flow queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TinPlan {
    /// COBALT of each queue.
    pub cobalt: CobaltPlan,
    /// Among whom they are shared.
    pub isolation: Isolation,
    /// The most queues.
    pub queues: u32,
    /// Bytes that a queue may send in a turn.
    pub quantum: u32,
    /// What a turn counts of a packet.
    pub bytes: ShapedBytes,
}

/// What COBALT is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CobaltPlan {
    /// The queueing delay that may stay.
    pub target: Span,
    /// How long it may be above it before the first drop.
    pub interval: Span,
    /// How long the shaper takes for the largest packet; zero without a shaper.
    pub packet_time: Span,
    /// What BLUE adds to its probability when the queue overflows, in 10⁻¹⁸.
    pub increment: u64,
    /// What BLUE takes from its probability when the queue is found empty, in 10⁻¹⁸.
    pub decrement: u64,
}

/// The shaper and the tins' turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TinsPlan {
    /// Rate of the shaper; `None`: tins take turns by their quanta.
    pub bandwidth: Option<Rate>,
    /// What it counts of a packet.
    pub bytes: ShapedBytes,
    /// Which tins there are.
    pub diffserv: Diffserv,
    /// Up to this rate a tin goes before those of lower numbers; by tin. Without a shaper they are not asked.
    pub rates: Vec<Rate>,
    /// Bytes of a turn, by tin, where there is no shaper.
    pub quanta: Vec<u32>,
    /// Units that may wait.
    pub limit: u64,
    /// IP bytes that may wait.
    pub memory: u64,
    /// What it sends on has the codepoint 0.
    pub wash: bool,
    /// ACKs that a later packet in their queue makes needless are dropped.
    pub ack_filter: Option<AckFilter>,
    /// Hosts that the packets of each route come from and go to, by its number; a route that is not here has its own.
    pub hosts: Arc<[[u32; 2]]>,
}

impl ShapedBytes {
    /// Bytes counted of a packet of so many IP bytes (Linux `cake_calc_overhead`).
    #[inline]
    #[must_use]
    pub fn of(self, packet: u32) -> u32 {
        match self {
            ShapedBytes::Wire(framing) => framing.unit_bytes(packet),
            ShapedBytes::Beyond { overhead, least, link } => {
                let bytes = packet.saturating_add_signed(overhead).max(least);
                match link {
                    LinkLayer::Plain => bytes,
                    LinkLayer::Atm => bytes.div_ceil(CELL_PAYLOAD).saturating_mul(CELL_BYTES),
                    LinkLayer::Ptm => bytes.saturating_add(bytes.div_ceil(64)),
                }
            }
        }
    }
}

/// How long so many bytes take, rounded down to a picosecond.
pub(crate) fn time_of(bytes: u32, rate: Rate) -> Span {
    Span::from_picos(span_of(u64::from(bytes) * 8, rate.bps().max(1)).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 44 bytes of overhead in cells: 1500 + 44 = 1544 bytes are 33 cells; a packet of 52 bytes is two; negative overhead
    /// takes bytes away, `least` comes before the cells.
    #[test]
    fn bytes_on_the_wire_by_hand() {
        let of = |overhead, least, link, packet| ShapedBytes::Beyond { overhead, least, link }.of(packet);
        assert_eq!(of(44, 0, LinkLayer::Atm, 1500), 33 * 53);
        assert_eq!(of(44, 0, LinkLayer::Atm, 52), 2 * 53);
        assert_eq!(of(44, 0, LinkLayer::Atm, 53), 3 * 53);
        assert_eq!(of(38, 84, LinkLayer::Plain, 40), 84);
        assert_eq!(of(-14, 0, LinkLayer::Plain, 1500), 1486);
        assert_eq!(of(-64, 0, LinkLayer::Plain, 40), 0);
        assert_eq!(of(30, 0, LinkLayer::Ptm, 1500), 1530 + 24);
        assert_eq!(of(0, 64, LinkLayer::Ptm, 40), 65);
        assert_eq!(ShapedBytes::Wire(Framing::Overhead { overhead: 38, minimum: 84 }).of(1500), 1538);
    }
}
