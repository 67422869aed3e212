//! Three-colour markers (RFC 2697, RFC 2698).

use crate::units::Rate;

/// A marker at the entrance of a gate: which colour a packet gets, and what becomes of packets of each colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkerPlan {
    /// Its rates and bursts.
    pub meter: MeterPlan,
    /// The colour that a packet came with counts (RFC 2697 §3, RFC 2698 §3); otherwise it does not.
    pub colour_aware: bool,
    /// What becomes of green, yellow and red packets.
    pub actions: [ColourAction; 3],
    /// The codepoints of DiffServ (RFC 2474 §3) that green, yellow and red packets get where they are remarked; `None`:
    /// they keep theirs.
    pub codepoints: [Option<u8>; 3],
}

/// How a marker measures. Bursts are bytes of IP packets, and rates are of such bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterPlan {
    /// One rate, two bursts (RFC 2697).
    SingleRate {
        /// Committed information rate.
        cir: Rate,
        /// Committed burst size.
        cbs: u64,
        /// Excess burst size.
        ebs: u64,
    },
    /// Two rates (RFC 2698).
    TwoRate {
        /// Committed information rate.
        cir: Rate,
        /// Committed burst size.
        cbs: u64,
        /// Peak information rate.
        pir: Rate,
        /// Peak burst size.
        pbs: u64,
    },
}

/// What becomes of packets of one colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourAction {
    /// The packet goes on, and carries the colour to later gates.
    Remark,
    /// The packet goes on with the colour that it came with.
    Pass,
    /// The packet is dropped.
    Drop,
}

impl MarkerPlan {
    /// Whether it drops any colour.
    #[must_use]
    pub fn drops(&self) -> bool {
        self.actions.contains(&ColourAction::Drop)
    }
}
