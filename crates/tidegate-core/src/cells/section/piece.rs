//! The cells of one train in a block of slots, as positions in fixed point.

/// Fixed point: slots in units of 2⁻³².
pub(super) const FRACTION: u32 = 32;

/// Cells of one train in a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) frame: u32,
    /// Those whose fate has not been reported to the packet.
    pub(super) cells: u32,
    /// Where the first one comes, and the next after each.
    pub(super) first: u64,
    pub(super) step: u64,
    /// Slot of the last one.
    pub(super) last: u32,
    /// It is the packet's last.
    pub(super) ends: bool,
    /// Somebody waits for the packet.
    pub(super) heard: bool,
    pub(super) tagged: bool,
}

impl Piece {
    /// Whether one of its cells comes in a slot, not after its last.
    #[inline]
    pub(super) fn comes_in(&self, slot: u32) -> bool {
        if slot == self.last {
            return true;
        }
        let begin = u64::from(slot) << FRACTION;
        if self.first >= begin {
            return self.first >> FRACTION == u64::from(slot);
        }
        // The first that comes after the slot's beginning.
        let place = (begin - self.first).div_ceil(self.step);
        (self.first + place * self.step) >> FRACTION == u64::from(slot)
    }
}
