//! The traits of congestion controllers: [`CongestionControl`], which a user may implement too, and `ControllerNeeds`,
//! which says what endpoints may leave out for a built-in one.

use std::fmt;

use super::{
    Ack, Acked, Aimd, Bursts, ControllerSnapshot, EcnNeed, InOrderAck, Lost, MeasuredTrip, Recovered,
    Recovery, Undone,
};
use crate::units::{Rate, Span, Time};

/// A congestion controller. Implement it and hand it to [`crate::tcp::Endpoint::set_controller`] to try
/// one that is not built in.
pub trait CongestionControl: fmt::Debug + Send {
    /// The handshake is over; `rtt`: the round trip of the SYN, unless it was sent twice.
    fn handle_established(&mut self, _at: Time, _rtt: Option<Span>) {}
    /// A round trip was measured.
    fn handle_measured(&mut self, _measured: &MeasuredTrip) {}
    /// An ACK has been handled, of new data or not. Called only if [`CongestionControl::hears_acks`].
    fn handle_ack(&mut self, _ack: &Ack) {}
    /// Whether [`CongestionControl::handle_ack`] is called.
    fn hears_acks(&self) -> bool {
        false
    }
    /// Whether its window holds during the repair of a loss too; else the endpoint reduces what is sent
    /// meanwhile ([`crate::plan::Reduction`]).
    fn governs_repair(&self) -> bool {
        false
    }
    /// New data were acknowledged, outside fast recovery.
    fn handle_acked(&mut self, _acked: &Acked) {}
    /// A loss was noticed, or a mark (`LossKind::Ecn`).
    fn handle_lost(&mut self, lost: &Lost);
    /// A fast recovery without SACK has ended.
    fn handle_recovered(&mut self, _recovered: &Recovered) {}
    /// The last reduction has proved needless. Called where the plan lets reductions be taken back
    /// ([`crate::plan::TcpRules::takes_back`]).
    fn handle_undone(&mut self, _undone: &Undone) {}
    /// A proportional reduction ends before the window has come to the threshold: it stays at so many bytes.
    fn handle_reduction_ended(&mut self, _window: u64) {}
    /// Nothing was sent for longer than a time-out and something is about to be (RFC 5681
    /// §4.1), or the handshake lost a segment: the window falls to `window` if it is larger.
    fn handle_restart(&mut self, window: u64);
    /// Something is about to be sent, and nothing had been in flight for `idle`.
    fn handle_resumed(&mut self, _at: Time, _idle: Span) {}
    /// Whether it sends less than the path may carry, so that the rates of what is sent now say little, as if the
    /// application had limited them. Asked after every [`CongestionControl::handle_ack`].
    fn understates(&self) -> bool {
        false
    }
    /// Bytes that may be in flight; at least one segment.
    fn window(&self) -> u64;
    /// How fast they may leave; `None`: as fast as ACKs come.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    /// How much may leave at once at its rate, where Linux's segmentation offload is at work.
    fn bursts(&self) -> Bursts {
        Bursts::LINUX
    }
    /// What a fast retransmit leads to when there is no SACK.
    fn recovery(&self) -> Recovery {
        Recovery::UntilAllAcked
    }
    /// What it needs of ECN. Each ACK says how much was marked ([`Ack::ecn_marked`]).
    fn ecn(&self) -> EcnNeed {
        EcnNeed::Plan
    }
    /// The state that plots show.
    fn snapshot(&self) -> ControllerSnapshot;
    /// The name and value of the number that says most about its view of the path: DCTCP's alpha, Copa's delta.
    fn detail(&self) -> Option<(&'static str, f64)> {
        None
    }
}

/// What endpoints can leave out for a controller of [`super::Controller`], without a different result. Constants, so
/// that the question costs nothing. The defaults leave out nothing and are right for every controller.
pub(super) trait ControllerNeeds: CongestionControl {
    /// Many flows use it: what it does at each ACK is compiled into endpoints.
    const FREQUENT: bool = false;
    /// [`CongestionControl::handle_measured`] does something.
    const HEARS_MEASURED: bool = true;
    /// It reads [`Ack::window_limited`]. For other controllers endpoints leave that at `false`.
    const READS_WINDOW_LIMITED: bool = true;
    /// [`CongestionControl::pacing_rate`] may be a rate.
    const MAY_PACE: bool = true;

    /// [`ControllerNeeds::FREQUENT`].
    #[inline(always)]
    fn is_frequent(&self) -> bool {
        Self::FREQUENT
    }

    /// [`ControllerNeeds::HEARS_MEASURED`].
    #[inline(always)]
    fn hears_measured(&self) -> bool {
        Self::HEARS_MEASURED
    }

    /// [`ControllerNeeds::READS_WINDOW_LIMITED`].
    #[inline(always)]
    fn reads_window_limited(&self) -> bool {
        Self::READS_WINDOW_LIMITED
    }

    /// [`ControllerNeeds::MAY_PACE`].
    #[inline(always)]
    fn may_pace(&self) -> bool {
        Self::MAY_PACE
    }

    /// Whether [`ControllerNeeds::aimd_mut`] returns any.
    #[inline(always)]
    fn is_aimd(&self) -> bool {
        false
    }

    /// The arithmetic of a controller that reads nothing of an ACK but its bytes: its
    /// [`CongestionControl::handle_acked`] only calls [`Aimd::grow`], if the window was used up.
    #[inline(always)]
    fn aimd_mut(&mut self) -> Option<&mut Aimd> {
        None
    }

    /// [`ControllerSnapshot::slow_start`].
    #[inline]
    fn in_slow_start(&self) -> bool {
        self.snapshot().slow_start
    }

    /// Whether [`ControllerNeeds::handle_in_order_ack`] may do what [`CongestionControl::handle_ack`] does at the next ACK.
    #[inline(always)]
    fn may_take_fast_path(&self) -> bool {
        false
    }

    /// Fast path of [`CongestionControl::handle_ack`]; `false`: its conditions do not hold, and nothing has been done.
    #[inline(always)]
    fn handle_in_order_ack(&mut self, _ack: &InOrderAck) -> bool {
        false
    }
}

impl ControllerNeeds for dyn CongestionControl {}

/// Methods of [`CongestionControl`] that a controller leaves to its window, the field of this name.
macro_rules! by_window {
    ($window:ident) => {
        fn handle_undone(&mut self, undone: &crate::cc::Undone) {
            self.$window.undo(undone);
        }

        fn handle_reduction_ended(&mut self, window: u64) {
            self.$window.stay_at(window);
        }

        fn handle_restart(&mut self, window: u64) {
            self.$window.restart(window);
        }

        #[inline]
        fn window(&self) -> u64 {
            self.$window.bytes()
        }

        fn snapshot(&self) -> crate::cc::ControllerSnapshot {
            self.$window.snapshot()
        }
    };
}
pub(super) use by_window;
