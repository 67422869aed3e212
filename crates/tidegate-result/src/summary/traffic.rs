//! Background traffic in numbers.

use serde::Serialize;
use tidegate_core::net::{Network, Owner};
use tidegate_core::plan::Plan;
use tidegate_core::units::Measured;

use crate::losses::{self, LossSummary};

/// Background traffic in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrafficSummary {
    /// Name in the scenario.
    pub name: String,
    /// Packets sent.
    pub packets_sent: u64,
    /// Packets that came to the end of their path.
    pub packets_delivered: u64,
    /// What gates dropped and tagged of them.
    #[serde(flatten)]
    pub losses: LossSummary,
    /// IP bits delivered per second.
    pub throughput_bps: f64,
}

/// One row per background source.
pub(super) fn rows(plan: &Plan, network: &Network, measured: Measured) -> Vec<TrafficSummary> {
    plan.traffic
        .iter()
        .zip(network.traffic_counts())
        .enumerate()
        .map(|(number, (row, counts))| TrafficSummary {
            losses: losses::losses(network, Owner::Traffic(number)),
            name: row.name.clone(),
            packets_sent: counts.sent.packets,
            packets_delivered: counts.delivered.packets,
            throughput_bps: counts.delivered.bytes as f64 * 8.0 / measured.seconds(),
        })
        .collect()
}
