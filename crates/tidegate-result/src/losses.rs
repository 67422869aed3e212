//! What was dropped and tagged, in the summary: at gates with a policer, of flows, of background sources.

use std::collections::BTreeMap;

use serde::Serialize;
use tidegate_core::cells::CellCounts;
use tidegate_core::gate::rate::Capacity;
use tidegate_core::gate::{DropReason, Gate};
use tidegate_core::net::{DropCounts, Network, Owner};
use tidegate_core::unit::Colour;
use tidegate_core::units::PICOS_PER_SECOND;

/// What became of a sender's packets at the gates of its path, inside the measured time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LossSummary {
    /// Its packets that gates dropped, for whatever reason; those with data, repeats included, as far as its transport tells which these
    /// are.
    pub dropped_packets: u64,
    /// Of these, packets that a policer dropped.
    pub policed_packets: u64,
    /// Its packets that policers tagged; such a packet goes on, and is the first to be dropped later.
    pub tagged_packets: u64,
    /// Its cells that policers of cell gates tagged; the name is absent where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub tagged_cells: u64,
    /// `dropped_packets` by reason, as in the table of drops; only reasons that occurred.
    pub drops: BTreeMap<&'static str, u64>,
}

/// A policer in numbers: only on gates with `police`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PoliceSummary {
    /// The contract's rate, bits on the gate's wire: the only one or, of two, the sustained (committed) one.
    pub contract_bps: f64,
    /// The most bytes that the contract could let through: what was in its bucket when the measured time
    /// began, and its rate times the length of that time.
    pub contract_bytes: f64,
    /// Bytes that conformed to it.
    pub conforming_bytes: u64,
    /// `conforming_bytes` over `contract_bytes`.
    pub contract_utilisation: f64,
    /// Packets that the policer dropped; at a cell gate, packets whose first lost cell it dropped.
    pub policed_packets: u64,
    /// Packets that it tagged; none at a cell gate.
    pub tagged_packets: Option<u64>,
    /// Cells that it dropped; only at a cell gate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policed_cells: Option<u64>,
    /// Cells that it tagged; only at a cell gate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tagged_cells: Option<u64>,
}

/// A three-colour marker in numbers: only on gates with `police.srtcm` or `police.trtcm`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ColourSummary {
    /// Packets that the marker measured as green.
    pub green_packets: u64,
    /// As yellow.
    pub yellow_packets: u64,
    /// As red.
    pub red_packets: u64,
    /// Bytes of the green ones, IP headers included.
    pub green_bytes: u64,
    /// Of the yellow ones.
    pub yellow_bytes: u64,
    /// Of the red ones.
    pub red_bytes: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Packets dropped, by the reason's name.
pub(crate) fn by_reason(counts: DropCounts) -> BTreeMap<&'static str, u64> {
    counts.iter().map(|(reason, packets)| (reason.name(), packets)).collect()
}

pub(crate) fn losses(network: &Network, owner: Owner) -> LossSummary {
    let counts = network.drops_of(owner);
    let [tagged_packets, tagged_cells] = network.tagged_of(owner);
    LossSummary {
        dropped_packets: counts.total(),
        policed_packets: counts.of(DropReason::Policed),
        tagged_packets,
        tagged_cells,
        drops: by_reason(counts),
    }
}

/// The policer of a gate at which packets were `dropped`; `cells`: what a cell gate counted.
pub(crate) fn police(gate: &Gate, dropped: DropCounts, cells: Option<CellCounts>) -> Option<PoliceSummary> {
    let policer = gate.policer()?;
    let (allowed, conforming) = (policer.allowed_bytes(), policer.conforming_bytes());
    Some(PoliceSummary {
        contract_bps: policer.contract_bps() as f64,
        contract_bytes: allowed,
        conforming_bytes: conforming,
        // A unit may pass earlier by what is left of a picosecond.
        contract_utilisation: if allowed > 0.0 { (conforming as f64 / allowed).min(1.0) } else { 0.0 },
        policed_packets: dropped.of(DropReason::Policed),
        tagged_packets: (!policer.in_cells()).then(|| policer.tagged()),
        policed_cells: cells.map(|counts| counts.lost[DropReason::Policed as usize]),
        tagged_cells: policer.in_cells().then(|| policer.tagged()),
    })
}

/// The three-colour marker of a gate.
pub(crate) fn colours(gate: &Gate) -> Option<ColourSummary> {
    let marker = gate.marker()?;
    let [green, yellow, red] =
        [Colour::Green, Colour::Yellow, Colour::Red].map(|colour| marker.coloured(colour));
    Some(ColourSummary {
        green_packets: green.packets,
        yellow_packets: yellow.packets,
        red_packets: red.packets,
        green_bytes: green.bytes,
        yellow_bytes: yellow.bytes,
        red_bytes: red.bytes,
    })
}

/// Whether a gate's policer, and not its rate law, says how much can pass.
pub(crate) fn contract_limits(gate: &Gate, capacity: Option<Capacity>, in_packets: bool) -> bool {
    let Some(policer) = gate.policer() else { return false };
    let Some(capacity) = capacity else { return true };
    let offered = capacity.offered as f64 / (8.0 * PICOS_PER_SECOND as f64);
    !policer.tags() && !in_packets && policer.allowed_bytes() < offered
}
