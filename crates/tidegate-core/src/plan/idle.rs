//! What a packet's way takes where no other packet is on it.

use super::{FlowPlan, GatePlan, RatePlan};
use crate::aal5::cells_of;

impl FlowPlan {
    /// Seconds of a round trip without queueing and jitter: all constant delays, and the transmission of a largest packet and its ACK
    /// at the gates' rates in the long run.
    #[must_use]
    pub fn idle_round_trip_seconds(&self, gates: &[GatePlan]) -> f64 {
        let in_long_run = |gate: &GatePlan, size| {
            gate.packets_per_second(size).filter(|rate| *rate > 0.0).map(|rate| 1.0 / rate)
        };
        self.round_trip_seconds(gates) + self.transmission(gates, in_long_run)
    }

    /// The round trip of a largest packet where every gate is at its fastest and nothing waits: none is shorter.
    #[must_use]
    pub fn shortest_round_trip_seconds(&self, gates: &[GatePlan]) -> f64 {
        let at_best = |gate: &GatePlan, size| match &gate.rate {
            // A bucket is full after a pause, and so is a second one: a packet passes both at once.
            RatePlan::TokenBucket { peak_burst_bytes: Some(_), .. } => None,
            RatePlan::TokenBucket { peak, .. } => {
                peak.map(|peak| 8.0 * f64::from(gate.wire_bytes(size)) / peak.bps() as f64)
            }
            // The first packet of a train shows the base delay alone.
            RatePlan::CellReplay(_) => None,
            _ => gate.shortest_packet_time(size),
        };
        self.round_trip_seconds(gates) + self.transmission(gates, at_best)
    }

    /// Seconds of transmission of a largest packet and its ACK, of which a gate takes `time` for a packet of a size.
    fn transmission(&self, gates: &[GatePlan], time: impl Fn(&GatePlan, u32) -> Option<f64>) -> f64 {
        let service = |path: &[usize], size: u32| {
            path.chunk_by(|one, next| [one, next].iter().all(|gate| gates[**gate].is_cell_gate()))
                .map(|section| empty_passage(section, gates, size, &time))
                .sum::<f64>()
        };
        service(&self.path, self.largest_packet()) + service(&self.back, self.tcp.headers)
    }
}

/// Seconds that a packet takes through empty gates, delays apart. Cells of one packet are in
/// several gates at once: it takes its time at the slowest, and one cell's at the others.
fn empty_passage(
    section: &[usize],
    gates: &[GatePlan],
    size: u32,
    time: &impl Fn(&GatePlan, u32) -> Option<f64>,
) -> f64 {
    let each = section.iter().filter_map(|gate| {
        let gate = &gates[*gate];
        let packet = time(gate, size)?;
        Some((packet, gate.framing.cell_gate().map_or(packet, |llc| packet / f64::from(cells_of(size, llc)))))
    });
    let (sum, slowest) = each.fold((0.0, 0.0), |(sum, slowest): (f64, f64), (packet, cell)| {
        (sum + cell, slowest.max(packet - cell))
    });
    sum + slowest
}
