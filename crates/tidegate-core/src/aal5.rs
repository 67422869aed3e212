//! ATM adaptation layer 5: how a packet is cut into 53-byte cells (ITU-T I.363.5, RFC 2684).

/// Bytes of a cell on the wire.
pub const CELL_BYTES: u32 = 53;
/// Bits of a cell on the wire.
pub const CELL_BITS: u64 = CELL_BYTES as u64 * 8;
/// Bytes of a cell that carry the packet.
pub const CELL_PAYLOAD: u32 = 48;
/// AAL5's trailer (ITU-T I.363.5).
pub(crate) const TRAILER: u32 = 8;
/// LLC/SNAP encapsulation (RFC 2684 §5.1).
pub(crate) const LLC_SNAP: u32 = 8;

/// Cells of a packet: ⌈(bytes + 8 \[+ 8\]) / 48⌉ (ITU-T I.363.5, RFC 2684).
#[must_use]
pub fn cells_of(bytes: u32, llc: bool) -> u32 {
    (bytes + TRAILER + if llc { LLC_SNAP } else { 0 }).div_ceil(CELL_PAYLOAD)
}

/// Padding bytes in those cells.
#[must_use]
pub fn padding_of(bytes: u32, llc: bool) -> u32 {
    cells_of(bytes, llc) * CELL_PAYLOAD - bytes - TRAILER - if llc { LLC_SNAP } else { 0 }
}
