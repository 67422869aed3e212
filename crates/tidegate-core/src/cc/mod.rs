//! Congestion control: window arithmetic, one file per controller.
//!
//! A controller is told facts ([`Ack`], [`Acked`], [`Lost`], [`Recovered`], idleness) and answers two
//! questions: how many bytes may be in flight, and how fast they may leave. It holds no
//! socket, timer or clock; the instants it needs come with the facts.
//!
//! What lives elsewhere: *which* segment is lost and when a recovery begins or ends is the
//! endpoint's ([`crate::tcp`]), and so is the inflation of the window by duplicate ACKs (RFC 5681
//! §3.2 steps 3 and 4), which is a permission to send and not a window. No controller here
//! paces yet; [`CongestionControl::pacing_rate`] is there for those that will.
//!
//! **When the window grows.** Only an ACK that arrives while data are outstanding up to a
//! point where the congestion window stopped the sender lets it grow
//! ([`Acked::window_limited`]). A sender held back by its application or by the receiver
//! has not tested its window (RFC 5681 §4.1 and RFC 7661 §1 warn of such windows; RFC 9438 §5.8 asks for this).

mod aimd;
mod cubic;
mod fixed;
mod halving;
mod linux;

#[cfg(test)]
mod tests;

use std::fmt;

use crate::plan::{Arithmetic, CongestionPlan, TcpPlan};
use crate::random::Stream;
use crate::units::{Rate, Span, Time};

pub use aimd::Aimd;
pub use cubic::Cubic;
pub use fixed::Fixed;
pub use halving::{Halving, NewReno, Policy, Reno, Tahoe};
pub use linux::{LinuxCubic, LinuxReno};

/// An acknowledgement arrived, whatever it brought. Told on every ACK, before what follows from it
/// ([`Acked`], [`Lost`]), by endpoints whose rules account for each ([`crate::plan::TcpRules::account`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// When.
    pub at: Time,
    /// Bytes that it newly reported as arrived, in order or not.
    pub delivered: u64,
    /// Segments that it newly reported as arrived.
    pub segments: u64,
    /// Of what arrived, segments that it newly reported as marked CE. Segments and not bytes, because Accurate ECN counts
    /// packets (RFC 9768 §3.2.2); by the echo of RFC 3168 or RFC 8257 all that an ACK with ECE newly reported.
    pub ecn_marked: u64,
    /// Bytes in flight after it.
    pub in_flight: u64,
    /// The round trip of the newest segment that it newly reported, unless one of them was sent twice.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time.
    pub smoothed_rtt: Span,
    /// Offset of the oldest byte not acknowledged (SND.UNA): a round is over when `una` reaches what `max` was at its start.
    pub una: u64,
    /// Offset behind the newest byte sent (SND.NXT).
    pub max: u64,
}

/// New data were acknowledged, outside fast recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acked {
    /// When the ACK arrived.
    pub at: Time,
    /// Bytes it acknowledged for the first time.
    pub bytes: u64,
    /// Segments that it newly reported as arrived.
    pub segments: u32,
    /// Bytes in flight just before it.
    pub in_flight: u64,
    /// The round trip that it measured, if it measured one.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time; zero before the first sample.
    pub smoothed_rtt: Span,
    /// The congestion window stopped the sender in the flight that this ACK belongs to; with
    /// [`Arithmetic::Linux`] also: slow start, and the window is below twice the largest flight.
    pub window_limited: bool,
}

/// How congestion was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// Duplicate ACKs or SACK.
    DupAck,
    /// The other end reported CE marks. Nothing is lost; told once per window of data (RFC 3168 §6.1.2).
    Ecn,
    /// The retransmission timer.
    Timeout {
        /// No reduction of its own: the same segment has timed out before, or (accounting endpoints) the
        /// window has been reduced for this flight.
        again: bool,
    },
}

impl LossKind {
    /// Whether the retransmission timer noticed it.
    #[must_use]
    pub fn is_timeout(self) -> bool {
        matches!(self, LossKind::Timeout { again: _ })
    }
}

/// What a controller needs of Explicit Congestion Notification. Both ends of a connection ask their controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnNeed {
    /// What the plan says ([`TcpPlan::ecn`]): a mark means what a loss means (RFC 3168 §5).
    Plan,
    /// How much of the data was marked, of segments with ECT(0): by Accurate ECN if the plan says so, else by the
    /// receiver of DCTCP, whose ACKs follow every change of CE (RFC 8257 §3.2).
    Extent,
    /// The same by Accurate ECN, of segments with ECT(1) (L4S: RFC 9331 §4.1, §4.2).
    L4s,
}

/// A loss was noticed; one fact per recovery or time-out, not one per segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// When.
    pub at: Time,
    /// FlightSize (RFC 5681 §2) without what Limited Transmit added.
    pub in_flight: u64,
    /// The most the sender was allowed to have in flight: min(cwnd, receiver's window, limit).
    pub window: u64,
    /// How it was noticed.
    pub kind: LossKind,
    /// Bytes still in flight, without what is taken to be lost.
    pub remaining: u64,
    /// Offset behind the newest byte sent (SND.NXT).
    pub max: u64,
}

/// A fast recovery without SACK has ended: everything sent before it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// FlightSize now.
    pub in_flight: u64,
}

/// What the endpoint does after a fast retransmit when there is no SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Slow start, as after a time-out (Tahoe).
    SlowStart,
    /// Fast recovery until the first new ACK (RFC 5681).
    UntilNewAck,
    /// Fast recovery until all that was outstanding is acknowledged (RFC 6582).
    UntilAllAcked,
}

/// What plots show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControllerSnapshot {
    /// Congestion window in bytes, fractions included.
    pub window: f64,
    /// Slow-start threshold in bytes; `None`: no limit, or no such thing.
    pub ssthresh: Option<u64>,
    /// The window is below the threshold.
    pub slow_start: bool,
}

/// A congestion controller. Implement it and hand it to [`crate::tcp::Endpoint::set_controller`] to try
/// one that is not built in.
pub trait CongestionControl: fmt::Debug + Send {
    /// An acknowledgement arrived, whatever it brought.
    fn handle_ack(&mut self, _ack: &Ack) {}
    /// New data were acknowledged, outside fast recovery.
    fn handle_acked(&mut self, acked: &Acked);
    /// A loss was noticed, or a mark ([`LossKind::Ecn`]).
    fn handle_lost(&mut self, lost: &Lost);
    /// A fast recovery without SACK has ended.
    fn handle_recovered(&mut self, recovered: &Recovered);
    /// Nothing was sent for longer than a time-out and something is about to be (RFC 5681
    /// §4.1), or the handshake lost a segment: the window falls to `window` if it is larger.
    fn handle_restart(&mut self, window: u64);
    /// Something is about to be sent, and nothing had been in flight for `idle`.
    fn handle_resumed(&mut self, _at: Time, _idle: Span) {}
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
    /// What it needs of ECN. With [`EcnNeed::Extent`] and [`EcnNeed::L4s`] every ACK of the connection is told
    /// ([`CongestionControl::handle_ack`]), whatever the endpoint's rules.
    fn ecn(&self) -> EcnNeed {
        EcnNeed::Plan
    }
    /// The state that plots show.
    fn snapshot(&self) -> ControllerSnapshot;
}

/// The controller of one connection: a built-in one, matched, or a boxed one from outside.
#[derive(Debug)]
#[repr(u8)]
pub enum Controller {
    /// Slow start after every loss.
    Tahoe(Tahoe),
    /// RFC 5681.
    Reno(Reno),
    /// RFC 6582.
    NewReno(NewReno),
    /// RFC 9438.
    Cubic(Cubic),
    /// Reno as Linux counts it.
    LinuxReno(LinuxReno),
    /// CUBIC as Linux counts it.
    LinuxCubic(Box<LinuxCubic>),
    /// A constant window.
    Fixed(Fixed),
    /// Anything else.
    Custom(Box<dyn CongestionControl>),
}

macro_rules! each {
    ($self:expr, $inner:ident => $what:expr) => {
        match $self {
            Controller::Tahoe($inner) => $what,
            Controller::Reno($inner) => $what,
            Controller::NewReno($inner) => $what,
            Controller::Cubic($inner) => $what,
            Controller::LinuxReno($inner) => $what,
            Controller::LinuxCubic($inner) => $what,
            Controller::Fixed($inner) => $what,
            Controller::Custom($inner) => $what,
        }
    };
}

impl Controller {
    /// The controller that `plan` asks for. `rng` serves [`crate::plan::Increase::Random`] and is
    /// needed for nothing else.
    #[must_use]
    pub fn new(plan: &TcpPlan, rng: Option<Stream>) -> Controller {
        let linux = plan.rules.arithmetic == Arithmetic::Linux && plan.sack;
        match plan.cc {
            CongestionPlan::Reno | CongestionPlan::NewReno if linux => {
                Controller::LinuxReno(LinuxReno::new(plan))
            }
            CongestionPlan::Cubic if linux => Controller::LinuxCubic(Box::new(LinuxCubic::new(plan))),
            CongestionPlan::Tahoe { .. } => Controller::Tahoe(Tahoe::new(Aimd::new(plan, rng))),
            CongestionPlan::Reno => Controller::Reno(Reno::new(Aimd::new(plan, rng))),
            CongestionPlan::NewReno => Controller::NewReno(NewReno::new(Aimd::new(plan, rng))),
            CongestionPlan::Cubic => Controller::Cubic(Cubic::new(plan)),
            CongestionPlan::Fixed { window } => {
                Controller::Fixed(Fixed::new(window.max(u64::from(plan.mss))))
            }
            CongestionPlan::Kernel(name) => {
                unreachable!("{name} is the kernel's; the simulator refuses such plans before they start")
            }
        }
    }

    /// See [`CongestionControl::handle_ack`].
    pub fn handle_ack(&mut self, ack: &Ack) {
        each!(self, inner => inner.handle_ack(ack));
    }

    /// See [`CongestionControl::handle_resumed`].
    pub fn handle_resumed(&mut self, at: Time, idle: Span) {
        each!(self, inner => inner.handle_resumed(at, idle));
    }

    /// See [`CongestionControl::handle_acked`].
    pub fn handle_acked(&mut self, acked: &Acked) {
        each!(self, inner => inner.handle_acked(acked));
    }

    /// The arithmetic of the controllers that need to know nothing of an ACK but its bytes:
    /// the short way to [`Controller::handle_acked`].
    #[inline]
    pub(crate) fn aimd_mut(&mut self) -> Option<&mut Aimd> {
        match self {
            Controller::Tahoe(tahoe) => Some(tahoe.aimd_mut()),
            Controller::Reno(reno) => Some(reno.aimd_mut()),
            Controller::NewReno(newreno) => Some(newreno.aimd_mut()),
            Controller::Cubic(_)
            | Controller::LinuxReno(_)
            | Controller::LinuxCubic(_)
            | Controller::Fixed(_)
            | Controller::Custom(_) => None,
        }
    }

    /// See [`CongestionControl::handle_lost`].
    pub fn handle_lost(&mut self, lost: &Lost) {
        each!(self, inner => inner.handle_lost(lost));
    }

    /// See [`CongestionControl::handle_recovered`].
    pub fn handle_recovered(&mut self, recovered: &Recovered) {
        each!(self, inner => inner.handle_recovered(recovered));
    }

    /// See [`CongestionControl::handle_restart`].
    pub fn handle_restart(&mut self, window: u64) {
        each!(self, inner => inner.handle_restart(window));
    }

    /// See [`CongestionControl::window`].
    #[inline]
    #[must_use]
    pub fn window(&self) -> u64 {
        each!(self, inner => inner.window())
    }

    /// See [`CongestionControl::pacing_rate`].
    #[must_use]
    pub fn pacing_rate(&self) -> Option<Rate> {
        each!(self, inner => inner.pacing_rate())
    }

    /// See [`CongestionControl::recovery`].
    #[must_use]
    pub fn recovery(&self) -> Recovery {
        each!(self, inner => inner.recovery())
    }

    /// See [`CongestionControl::ecn`].
    #[must_use]
    pub fn ecn(&self) -> EcnNeed {
        each!(self, inner => inner.ecn())
    }

    /// See [`CongestionControl::snapshot`].
    #[must_use]
    pub fn snapshot(&self) -> ControllerSnapshot {
        each!(self, inner => inner.snapshot())
    }
}
