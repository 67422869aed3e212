//! What packets weigh on a gate's wire.

use tidegate_core::aal5::{CELL_BYTES, cells_of};
use tidegate_core::plan::{Framing, GatePlan};

/// Bytes of an IP packet on a gate's wire.
pub(super) fn wire_bytes(gate: &GatePlan, packet: u32) -> f64 {
    match gate.framing {
        Framing::Ip => f64::from(packet),
        Framing::Overhead { overhead, minimum } => {
            (f64::from(packet) + f64::from(overhead)).max(f64::from(minimum))
        }
        Framing::Aal5 { llc } | Framing::CellPackets { llc } => {
            f64::from(cells_of(packet, llc)) * f64::from(CELL_BYTES)
        }
    }
}
