//! What one end of a connection with ECN remembers: how marks are reported, those that arrived, those that the other end has
//! reported.

use super::segment::flags;
use crate::cc::EcnNeed;
use crate::plan::EcnPlan;
use crate::unit::Ecn;

/// RFC 9768 §3.2.1: what the counters of CE packets begin with.
const FIRST_COUNT: u32 = 5;

/// How marks are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feedback {
    /// Not at all.
    Off,
    /// Every ACK says so until the sender says that it has reduced its window (RFC 3168 §6.1.3).
    Classic,
    /// Every ACK says of the data that it acknowledges whether they were marked (RFC 8257 §3.2).
    Changes,
    /// Every ACK has the low bits of a counter (RFC 9768 §3.2.2).
    Counted,
}

/// What a segment that leaves says, until the next one leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    pub(super) flags: u16,
    pub(super) ecn: Ecn,
    /// It acknowledges less than what has arrived.
    pub(super) ack: Option<u64>,
}

/// What one end remembers.
#[derive(Debug)]
pub(super) struct Marks {
    /// What this end asks for.
    pub(super) asks: EcnPlan,
    /// What its controller needs.
    pub(super) need: EcnNeed,
    pub(super) feedback: Feedback,
    /// The next ACK is the last segment of the handshake.
    pub(super) first_ack: bool,
    /// Linux's receivers acknowledge at once after a mark.
    pub(super) at_once: bool,
    // The receiving half.
    /// Classic: ACKs echo a mark. Otherwise: the last packet was marked.
    pub(super) echo: bool,
    /// An ACK of what came before the state changed, and that state.
    pub(super) early: Option<(u64, bool)>,
    /// Marked packets that arrived (r.cep), and as many as the last ACK reported.
    pub(super) count: u32,
    pub(super) told: u32,
    pub(super) leaving: Leaving,
    // The sending half.
    /// Marked packets that the other end has reported (s.cep).
    pub(super) heard: u32,
    /// Of these, those of the last ACK.
    pub(super) marked: u32,
    /// SND.NXT when the window was reduced last, for whatever reason, and for a mark.
    pub(super) reduced_until: u64,
    pub(super) marked_until: u64,
    /// CWR is to be set (RFC 3168 §6.1.2).
    pub(super) cwr_due: bool,
    /// ACKs that moved nothing since one did: each reported a segment out of order (RFC 5681 §4.2).
    pub(super) repeats: u64,
    /// Flags of the ACK that is being read.
    pub(super) reading: Option<u16>,
}

impl Marks {
    /// `None` without ECN.
    pub(super) fn new(plan: EcnPlan, need: EcnNeed, handshake: bool, at_once: bool) -> Option<Box<Marks>> {
        let asks = match need {
            EcnNeed::Plan => plan,
            EcnNeed::Extent if plan == EcnPlan::Off => EcnPlan::Classic,
            EcnNeed::Extent => plan,
            EcnNeed::L4s => EcnPlan::Accurate,
        };
        if asks == EcnPlan::Off {
            return None;
        }
        let mut marks = Marks {
            asks,
            need,
            feedback: Feedback::Off,
            first_ack: false,
            at_once,
            echo: false,
            early: None,
            count: FIRST_COUNT,
            told: FIRST_COUNT,
            leaving: Leaving { flags: 0, ecn: Ecn::NotEct, ack: None },
            heard: FIRST_COUNT,
            marked: 0,
            reduced_until: 0,
            marked_until: 0,
            cwr_due: false,
            repeats: 0,
            reading: None,
        };
        if !handshake {
            marks.agree(asks);
        }
        Some(Box::new(marks))
    }

    /// The two ends agree on it.
    pub(super) fn agree(&mut self, on: EcnPlan) {
        self.feedback = match on {
            EcnPlan::Off => Feedback::Off,
            EcnPlan::Classic if self.need == EcnNeed::Plan => Feedback::Classic,
            EcnPlan::Classic => Feedback::Changes,
            EcnPlan::Accurate => Feedback::Counted,
        };
    }

    /// What data segments have in their IP header.
    pub(super) fn codepoint(&self, again: bool) -> Ecn {
        match self.feedback {
            Feedback::Off => Ecn::NotEct,
            // RFC 3168 §6.1.5: not on what is sent again. Linux and RFC 9768 §2.5 allow it otherwise.
            Feedback::Classic if again => Ecn::NotEct,
            // RFC 9331 §4.1 and §4.2: ECT(1) needs accurate feedback.
            Feedback::Counted if self.need == EcnNeed::L4s => Ecn::Ect1,
            Feedback::Classic | Feedback::Changes | Feedback::Counted => Ecn::Ect0,
        }
    }

    /// What `flags` report, of an ACK that newly reported so many segments: whether there is congestion. [`Marks::marked`] has
    /// the number of segments.
    pub(super) fn read(&mut self, read: u16, newly: u64) -> bool {
        self.marked = 0;
        match self.feedback {
            Feedback::Off => false,
            Feedback::Classic | Feedback::Changes => {
                let echoed = read & flags::ECE != 0;
                self.marked = if echoed { u32::try_from(newly).unwrap_or(u32::MAX) } else { 0 };
                echoed
            }
            // An ACK that reports nothing may be an old one (RFC 9768 §3.2.2.5.2, `tcp_accecn_process`).
            Feedback::Counted if newly == 0 => false,
            Feedback::Counted => {
                let least = flags::ace(read).wrapping_sub(self.heard) & 7;
                // RFC 9768 §3.2.2.5.2: the counter may have wrapped where more than seven packets are reported, and is
                // taken to have done so as often as it can.
                let newly = u32::try_from(newly).unwrap_or(u32::MAX);
                self.marked = if newly > 7 { newly - (newly.wrapping_sub(least) & 7) } else { least };
                self.heard = self.heard.wrapping_add(self.marked);
                self.marked > 0
            }
        }
    }

    /// Whether `flags` report congestion; the same without taking note.
    pub(super) fn reports(&self, read: u16) -> bool {
        match self.feedback {
            Feedback::Off => false,
            Feedback::Classic | Feedback::Changes => read & flags::ECE != 0,
            Feedback::Counted => flags::ace(read).wrapping_sub(self.heard) & 7 != 0,
        }
    }
}
