//! How the two ends of a connection agree on ECN (RFC 3168 §6.1.1, RFC 9768 §3.1). Without a handshake the plan is agreed.

use super::endpoint::{Endpoint, State};
use super::marks::Feedback;
use super::segment::{Segment, flags};
use crate::plan::EcnPlan;
use crate::unit::Ecn;

/// The flags that ECN has in a SYN.
const ALL: u16 = flags::AE | flags::CWR | flags::ECE;

impl Endpoint {
    /// A SYN arrived.
    #[cold]
    pub(super) fn hear_syn(&mut self, segment: &Segment) {
        let Some(marks) = &mut self.sender.marks else { return };
        // RFC 9768 §3.1.2 table 2; a server of RFC 3168 takes no notice of AE.
        let agreed = match (segment.flags & ALL, marks.asks) {
            (ALL, EcnPlan::Accurate) => EcnPlan::Accurate,
            (asked, _) if asked & (flags::CWR | flags::ECE) == flags::CWR | flags::ECE => EcnPlan::Classic,
            _ => EcnPlan::Off,
        };
        marks.syn_came = segment.ecn;
        marks.agree(agreed);
    }

    /// A SYN-ACK arrived.
    #[cold]
    pub(super) fn hear_syn_ack(&mut self, segment: &Segment) {
        let Some(marks) = &mut self.sender.marks else { return };
        let answer = segment.flags & ALL;
        let agreed = match marks.asks {
            // RFC 9768 §3.1.2 table 2: 010, 011, 100 and 110 say how the SYN arrived; 001 and 101 are those of older servers.
            EcnPlan::Accurate if answer == 0 || answer == ALL => EcnPlan::Off,
            EcnPlan::Accurate if answer & (flags::CWR | flags::ECE) != flags::ECE => EcnPlan::Accurate,
            EcnPlan::Accurate => EcnPlan::Classic,
            // RFC 3168 §6.1.1: ECE without CWR.
            EcnPlan::Classic if answer & (flags::CWR | flags::ECE) == flags::ECE => EcnPlan::Classic,
            EcnPlan::Classic | EcnPlan::Off => EcnPlan::Off,
        };
        marks.first_ack = agreed == EcnPlan::Accurate;
        marks.syn_came = segment.ecn;
        marks.agree(agreed);
    }

    /// What a SYN or SYN-ACK of ours says.
    #[cold]
    pub(super) fn write_syn_marks(&self, segment: &mut Segment) {
        let Some(marks) = &self.sender.marks else { return };
        segment.ecn = Ecn::NotEct;
        segment.flags |= match (self.state == State::SynReceived, marks.asks) {
            (true, _) => match marks.feedback {
                Feedback::Off => 0,
                Feedback::Classic | Feedback::Changes => flags::ECE,
                Feedback::Counted => flags::of_codepoint(marks.syn_came),
            },
            (false, EcnPlan::Off) => 0,
            (false, EcnPlan::Classic) => flags::CWR | flags::ECE,
            (false, EcnPlan::Accurate) => ALL,
        };
    }
}
