//! What packets weigh on a wire.

use crate::aal5::{CELL_BYTES, cells_of};

/// Bytes of a packet on a gate's wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// The IP packet's own bytes.
    Ip,
    /// max(IP bytes + overhead, minimum).
    Overhead {
        /// Bytes added to each packet.
        overhead: u32,
        /// The least a packet takes, overhead included.
        minimum: u32,
    },
    /// Cells of 53 bytes (ITU-T I.363.5): this is a cell gate.
    Aal5 {
        /// With eight bytes of LLC/SNAP (RFC 2684).
        llc: bool,
    },
    /// Whole packets that weigh 53 bytes for each of their cells: a circuit, where no other
    /// cell ever comes between.
    CellPackets {
        /// With eight bytes of LLC/SNAP.
        llc: bool,
    },
}

impl Framing {
    /// Whether packets are cut into cells that are served one by one: this is a cell gate.
    #[must_use]
    pub fn is_cells(self) -> bool {
        matches!(self, Framing::Aal5 { .. })
    }

    /// Whether LLC/SNAP is in the cells; `None` where packets are not counted in cells.
    #[must_use]
    pub fn llc(self) -> Option<bool> {
        match self {
            Framing::Aal5 { llc } | Framing::CellPackets { llc } => Some(llc),
            Framing::Ip | Framing::Overhead { .. } => None,
        }
    }

    /// Whether LLC/SNAP is in the cells of a cell gate; `None` at other gates, also where whole packets weigh what their cells would.
    #[must_use]
    pub fn cell_gate(self) -> Option<bool> {
        self.llc().filter(|_| self.is_cells())
    }

    /// Bytes of a whole IP packet on the wire; where there are cells, 53 for each of its own.
    #[must_use]
    pub fn wire_bytes(self, packet: u32) -> u32 {
        match self {
            Framing::Aal5 { llc } | Framing::CellPackets { llc } => cells_of(packet, llc) * CELL_BYTES,
            Framing::Ip | Framing::Overhead { .. } => self.unit_bytes(packet),
        }
    }

    /// Bytes on the wire of a unit as the server is given it: a cell gate is given cells, which already
    /// have the size that they have on the wire; every other gate is given IP packets.
    #[inline]
    #[must_use]
    pub fn unit_bytes(self, unit: u32) -> u32 {
        match self {
            Framing::Ip | Framing::Aal5 { .. } => unit,
            Framing::Overhead { overhead, minimum } => unit.saturating_add(overhead).max(minimum),
            Framing::CellPackets { llc } => cells_of(unit, llc) * CELL_BYTES,
        }
    }
}
