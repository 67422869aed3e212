//! What a congestion controller is told, and what it answers.

use std::fmt;

use super::{Ack, Acked, ControllerSnapshot, EcnNeed, Lost, Measured, Recovered, Recovery, Undone};
use crate::units::{Rate, Span, Time};

/// A congestion controller. Implement it and hand it to [`crate::tcp::Endpoint::set_controller`] to try
/// one that is not built in.
pub trait CongestionControl: fmt::Debug + Send {
    /// The handshake is over; `rtt`: the round trip of the SYN, unless it was sent twice.
    fn handle_established(&mut self, _at: Time, _rtt: Option<Span>) {}
    /// A round trip was measured.
    fn handle_measured(&mut self, _measured: &Measured) {}
    /// An ACK has been dealt with, whatever it brought. Told only if [`CongestionControl::hears_acks`].
    fn handle_ack(&mut self, _ack: &Ack) {}
    /// Whether it is told of every ACK.
    fn hears_acks(&self) -> bool {
        false
    }
    /// Whether its window holds during the repair of a loss too; else the endpoint reduces what is sent
    /// meanwhile ([`crate::plan::Reduction`]).
    fn governs_repair(&self) -> bool {
        false
    }
    /// New data were acknowledged, outside fast recovery.
    fn handle_acked(&mut self, acked: &Acked);
    /// A loss was noticed, or a mark (`LossKind::Ecn`).
    fn handle_lost(&mut self, lost: &Lost);
    /// A fast recovery without SACK has ended.
    fn handle_recovered(&mut self, recovered: &Recovered);
    /// The last reduction has proved needless. Told where the plan lets reductions be taken back
    /// ([`crate::plan::TcpRules::takes_back`]).
    fn handle_undone(&mut self, _undone: &Undone) {}
    /// Nothing was sent for longer than a time-out and something is about to be (RFC 5681
    /// §4.1), or the handshake lost a segment: the window falls to `window` if it is larger.
    fn handle_restart(&mut self, window: u64);
    /// Something is about to be sent, and nothing had been in flight for `idle`.
    fn handle_resumed(&mut self, _at: Time, _idle: Span) {}
    /// Whether it sends less than the path may carry, so that the rates of what is sent now say little, as if the
    /// application had limited them. Asked after every ACK of which it is told.
    fn understates(&self) -> bool {
        false
    }
    /// Bytes that may be in flight; at least one segment.
    fn window(&self) -> u64;
    /// How fast they may leave; `None`: as fast as ACKs come.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    /// What a fast retransmit leads to when there is no SACK.
    fn recovery(&self) -> Recovery {
        Recovery::UntilAllAcked
    }
    /// What it needs of ECN. How much was marked is told with each ACK ([`Ack::ecn_marked`]).
    fn ecn(&self) -> EcnNeed {
        EcnNeed::Plan
    }
    /// The state that plots show.
    fn snapshot(&self) -> ControllerSnapshot;
    /// A number that says most of what it thinks of its path, and its name: DCTCP's alpha, Copa's delta.
    fn detail(&self) -> Option<(&'static str, f64)> {
        None
    }
}
