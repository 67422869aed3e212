//! Congestion control: window arithmetic, one file per controller.
//!
//! A controller is given facts ([`Ack`], [`Acked`], [`Lost`], [`MeasuredTrip`], [`Recovered`], idleness) and answers
//! two questions: how many bytes may be in flight, and how fast they may leave. It holds no
//! socket, timer or clock; the instants it needs come with the facts.
//!
//! What lives elsewhere: *which* segment is lost and when a recovery begins or ends is the endpoint's ([`crate::tcp`]).
//! So is the inflation of the window by duplicate ACKs (RFC 5681 §3.2 steps 3 and 4), which is a permission to send and
//! not a window. Pacing is the endpoint's too: a controller names the rate.
//!
//! **When the window grows.** Only an ACK that arrives while data are outstanding up to a
//! point where the congestion window stopped the sender lets it grow
//! ([`Acked::window_limited`]). A sender held back by its application or by the receiver
//! has not tested its window (RFC 5681 §4.1 and RFC 7661 §1 warn of such windows; RFC 9438 §5.8 asks for this).

mod aimd;
mod bbr;
mod bbr3;
mod control;
mod controller;
mod copa;
mod cubic;
mod dctcp;
mod facts;
mod fixed;
mod halving;
mod hystart_pp;
mod ledbat;
mod linux;
mod prague;
mod python;
mod real_window;
mod running_max;

#[cfg(test)]
mod tests;

pub use aimd::Aimd;
pub use bbr::Bbr;
pub use bbr3::Bbr3;
pub use control::CongestionControl;
pub use controller::Controller;
pub use copa::Copa;
pub use cubic::Cubic;
pub use dctcp::Dctcp;
pub use facts::{
    Ack, Acked, Bursts, ControllerSnapshot, EcnNeed, LossKind, Lost, MeasuredTrip, RateSample, Recovered,
    Recovery, Repair, Undone,
};
pub(crate) use facts::{InOrderAck, LARGEST_PACKET};
pub use fixed::Fixed;
pub use halving::{Halving, NewReno, Policy, Reno, Tahoe};
pub use ledbat::Ledbat;
pub use linux::{LinuxCubic, LinuxDctcp, LinuxReno, Vegas, Westwood};
pub use prague::Prague;
pub use python::{Maker, can_make, set_maker};
