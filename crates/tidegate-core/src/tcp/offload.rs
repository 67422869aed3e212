//! Linux's segmentation offload: the segments that leave at an instant are handed to the device as packets of several, see
//! [`super::packets`].

use crate::plan::{Arithmetic, Segmentation, TcpRules};

/// The packet that is being handed to the device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offload {
    pub(super) at_work: bool,
    /// Segments of it that have not left.
    pub(super) left: u64,
    /// It has more than one.
    pub(super) many: bool,
    /// The last rest of a window waits.
    pub(super) waits: bool,
}

impl Offload {
    pub(super) fn new(rules: &TcpRules) -> Offload {
        let at_work = rules.segmentation == Segmentation::Kernel && rules.arithmetic == Arithmetic::Linux;
        Offload { at_work, left: 0, many: false, waits: false }
    }

    /// A segment has left: whether it is the last of a packet of several. `segments` says of how many, where it is the first.
    #[inline(always)]
    pub(super) fn next_of(&mut self, segments: impl FnOnce() -> u64) -> bool {
        if self.left == 0 {
            self.left = segments();
            self.many = self.left > 1;
        }
        self.left -= 1;
        self.left == 0 && self.many
    }

    /// What may leave has left; whether a rest of the window waits.
    pub(super) fn close(&mut self) -> bool {
        self.left = 0;
        std::mem::take(&mut self.waits)
    }
}
