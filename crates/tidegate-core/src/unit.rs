//! What travels through gates.

use crate::tcp::HeldBy;
use crate::units::Span;

/// A packet on its way: a small plain value. The TCP header (simulator) or the bytes (live
/// engine) stay with the engine under `handle`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Where it is on its route: index of the stretch it is on, see [`crate::net`].
    pub chain: u32,
    /// IP bytes.
    pub bytes: u32,
    /// The engine's own name for it.
    pub handle: u32,
    /// What made it come when it did.
    pub cause: Cause,
    /// Its longest wait so far, in 2²⁰ picoseconds.
    waited: u32,
    /// A policer set its loss priority: it is the first to be dropped.
    pub tagged: bool,
}

/// What a packet's arrival time is owed to: the gate that it waited longest at, or, where
/// it never waited, what had held the sender back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cause(u32);

impl Cause {
    const GATES: u32 = 3;

    /// Held back at the sender.
    #[must_use]
    pub fn sender(held_by: HeldBy) -> Cause {
        Cause(held_by as u32)
    }

    /// Waited at a gate.
    #[must_use]
    pub fn gate(gate: usize) -> Cause {
        Cause(Self::GATES + gate as u32)
    }

    /// The gate's index.
    ///
    /// # Errors
    /// The sender's own reason, where no gate is to blame.
    pub fn resolve(self) -> Result<usize, HeldBy> {
        match self.0 {
            0 => Err(HeldBy::Application),
            1 => Err(HeldBy::CongestionWindow),
            2 => Err(HeldBy::ReceiverWindow),
            gate => Ok((gate - Self::GATES) as usize),
        }
    }
}

impl Unit {
    /// A unit about to enter its route.
    #[must_use]
    pub fn new(bytes: u32, handle: u32, held_by: HeldBy) -> Unit {
        Unit { chain: 0, bytes, handle, cause: Cause::sender(held_by), waited: 0, tagged: false }
    }

    /// Notes a wait at a gate.
    #[inline]
    pub fn note_wait(&mut self, wait: Span, gate: usize) {
        let wait = u32::try_from(wait.picos() >> 20).unwrap_or(u32::MAX);
        if wait >= self.waited {
            self.waited = wait;
            self.cause = Cause::gate(gate);
        }
    }
}
