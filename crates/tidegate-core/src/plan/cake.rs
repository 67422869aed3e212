//! What CAKE is made from (Høiland-Jørgensen, Täht and Morton, "Piece of CAKE", 2018; Linux `sch_cake`): tins for
//! codepoints, each with flow queues under COBALT, and a shaper in front of all of them.

use super::{
    AckFilter, ClassPlan, ClassesPlan, CobaltPlan, Diffserv, Discipline, Framing, Isolation, QueuePlan,
    SchedulerPlan, ShapedBytes, TinPlan, TinsPlan, time_of,
};
use crate::units::{PICOS_PER_SECOND, Rate, Span};

/// Units that Linux lets wait at most, where no memory is given: 10,240 of the MTU.
const MOST_PACKETS: u64 = 10_240;
/// The least memory of a shaper that has been given none.
const LEAST_MEMORY: u64 = 4 << 20;
/// Bytes of a turn: the rate in bytes per second divided by this.
const TURNS_PER_SECOND: u64 = 4096;
/// Bytes of the shortest turn.
const SHORTEST_TURN: u64 = 300;
/// Bytes of the longest turn.
const LONGEST_TURN: u64 = 1514;

/// Everything that may be said of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CakePlan {
    /// Rate of the shaper, above zero; `None`: the gate's own rate serves.
    pub bandwidth: Option<Rate>,
    /// What it counts of a packet.
    pub bytes: ShapedBytes,
    /// Its tins.
    pub diffserv: Diffserv,
    /// Among whom a tin is shared.
    pub isolation: Isolation,
    /// A usual round trip: CoDel's interval.
    pub rtt: Span,
    /// The queueing delay that may stay; `None`: a twentieth of `rtt`.
    pub target: Option<Span>,
    /// IP bytes of the largest packet.
    pub mtu: u32,
    /// The most queues of a tin.
    pub queues: u32,
    /// Bytes that a queue may send in a turn; `None`: by the rate of its tin.
    pub quantum: Option<u32>,
    /// What BLUE adds to its probability, in 10⁻¹⁸.
    pub increment: u64,
    /// What BLUE takes from its probability, in 10⁻¹⁸.
    pub decrement: u64,
    /// Units that may wait.
    pub limit: u64,
    /// IP bytes that may wait; `None`: four times what the shaper sends in `rtt`, 4 MiB at least and 10,240 of `mtu` at
    /// most.
    pub memory: Option<u64>,
    /// What it sends on has the codepoint 0.
    pub wash: bool,
    /// ACKs that a later packet in their queue makes needless are dropped.
    pub ack_filter: Option<AckFilter>,
}

impl CakePlan {
    /// What `tc-cake` does when it is told nothing, at a gate whose packets weigh what `framing` says.
    #[must_use]
    pub fn default_for(framing: Framing) -> CakePlan {
        CakePlan {
            bandwidth: None,
            bytes: ShapedBytes::Wire(framing),
            diffserv: Diffserv::Three,
            isolation: Isolation::Triple,
            rtt: Span::from_millis(100),
            target: None,
            mtu: 1514,
            queues: 1024,
            quantum: None,
            increment: 3_906_250_000_000_000,
            decrement: 244_140_625_000_000,
            limit: u64::MAX,
            memory: None,
            wash: false,
            ack_filter: None,
        }
    }

    /// The classes of a gate: its tins, in the order of their numbers. Nobody is in them yet.
    #[must_use]
    pub fn classes(&self) -> ClassesPlan {
        let shares = self.diffserv.shares(self.bandwidth);
        let tin = |(name, (rate, _)): (&str, &(Option<Rate>, u32))| ClassPlan {
            name: name.to_owned(),
            queue: QueuePlan { discipline: Discipline::Cake(self.tin(*rate)), ..QueuePlan::UNLIMITED },
        };
        let tins = TinsPlan {
            bandwidth: self.bandwidth,
            bytes: self.bytes,
            diffserv: self.diffserv,
            rates: shares.iter().map(|(rate, _)| rate.unwrap_or(Rate::from_bps(1))).collect(),
            quanta: shares.iter().map(|(_, quantum)| *quantum).collect(),
            limit: self.limit,
            memory: self.memory_bytes(),
            wash: self.wash,
            ack_filter: self.ack_filter,
            hosts: [].into(),
        };
        ClassesPlan {
            classes: self.diffserv.names().iter().copied().zip(&shares).map(tin).collect(),
            scheduler: SchedulerPlan::Cake(tins),
            of_route: [].into(),
            by_codepoint: None,
        }
    }

    /// The flow queues of a tin of this rate (Linux `cake_set_rate`).
    #[must_use]
    pub fn tin(&self, rate: Option<Rate>) -> TinPlan {
        let packet_time = rate.map_or(Span::ZERO, |rate| time_of(self.mtu, rate));
        let written = self.target.unwrap_or(Span::from_picos(self.rtt.picos() / 20));
        let target = Span::from_picos(packet_time.picos().saturating_mul(3) / 2).max(written);
        let interval = (self.rtt + target.saturating_sub(written)).max(target.saturating_mul(2));
        let turn = rate.map_or(LONGEST_TURN, |rate| rate.bps() / 8 / TURNS_PER_SECOND);
        let turn = turn.clamp(SHORTEST_TURN, LONGEST_TURN) as u32;
        let CakePlan { increment, decrement, .. } = *self;
        TinPlan {
            cobalt: CobaltPlan { target, interval, packet_time, increment, decrement },
            isolation: self.isolation,
            queues: self.queues,
            quantum: self.quantum.unwrap_or(turn),
            bytes: self.bytes,
        }
    }

    /// IP bytes that may wait (Linux `cake_reconfigure`).
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let most = MOST_PACKETS * u64::from(self.mtu);
        let Some(rate) = self.bandwidth else { return self.memory.unwrap_or(most) };
        // Four times rate × rtt, in bytes: half of its bits.
        let bits = u128::from(rate.bps()) * u128::from(self.rtt.picos()) / u128::from(PICOS_PER_SECOND);
        let computed = u64::try_from(bits / 2).unwrap_or(u64::MAX).max(LEAST_MEMORY).min(most);
        self.memory.unwrap_or(computed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At 1 Mbit/s a packet of 1514 bytes takes 12.112 ms, so the target is 18.168 ms and the interval 113.168 ms; the tin
    /// for bulk has a sixteenth: 193.792 ms, 290.688 ms, and twice the target.
    #[test]
    fn slow_tins_wait_for_their_packets() {
        let plan =
            CakePlan { bandwidth: Some(Rate::from_bps(1_000_000)), ..CakePlan::default_for(Framing::Ip) };
        let classes = plan.classes();
        let of = |class: usize| match classes.classes[class].queue.discipline {
            Discipline::Cake(tin) => (tin.cobalt, tin.quantum),
            other => panic!("{other:?}"),
        };
        let (best, turn) = of(0);
        let micros = Span::from_micros;
        assert_eq!(
            (best.target, best.interval, best.packet_time),
            (micros(18_168), micros(113_168), micros(12_112))
        );
        assert_eq!(turn, 300);
        let (bulk, _) = of(1);
        assert_eq!((bulk.target, bulk.interval), (micros(290_688), micros(2 * 290_688)));
        let fast = CakePlan { bandwidth: Some(Rate::from_bps(40_000_000)), ..plan };
        assert_eq!(fast.tin(fast.bandwidth).quantum, 5_000_000 / 4096);
        // Nothing is known of the rate.
        let none = plan.tin(None);
        assert_eq!(
            (none.cobalt.target, none.cobalt.interval),
            (Span::from_millis(5), Span::from_millis(100))
        );
        assert_eq!(none.quantum, 1514);
    }

    /// 1 Gbit/s × 100 ms × 4 is 50 MB, more than 10,240 packets; 50 Mbit/s make 2.5 MB, less than 4 MiB.
    #[test]
    fn memory_is_that_of_linux() {
        let of = |bps: u64| {
            CakePlan { bandwidth: Some(Rate::from_bps(bps)), ..CakePlan::default_for(Framing::Ip) }
                .memory_bytes()
        };
        assert_eq!([of(1_000_000_000), of(200_000_000), of(50_000_000)], [15_503_360, 10_000_000, 4 << 20]);
        assert_eq!(CakePlan::default_for(Framing::Ip).memory_bytes(), 15_503_360);
    }
}
