//! Tahoe, Reno and NewReno: one arithmetic ([`Aimd`]) and three answers to a loss.

use std::fmt::Debug;
use std::marker::PhantomData;

use super::control::{ControllerNeeds, by_window};
use super::hystart_pp::HyStartPp;
use super::{Acked, Aimd, CongestionControl, LossKind, Lost, MeasuredTrip, Recovered, Recovery};
use crate::plan::TcpPlan;
use crate::random::Stream;

/// What tells the three apart.
pub trait Policy: Debug + Send {
    /// What a fast retransmit leads to when there is no SACK.
    const RECOVERY: Recovery;
    /// Many flows use it.
    const FREQUENT: bool = false;

    /// Whether a loss of this kind takes the window down to one segment.
    fn starts_anew(kind: LossKind) -> bool;

    /// The end of a fast recovery without SACK.
    fn recovered(aimd: &mut Aimd, recovered: &Recovered);
}

/// Slow start after every loss, however it was noticed (RFC 5681 without §3.2's fast recovery). Whether
/// duplicate ACKs start a retransmission at all is the endpoint's choice.
#[derive(Debug)]
pub struct AlwaysSlowStart;

/// RFC 5681, whose fast recovery ends at the first new ACK.
#[derive(Debug)]
pub struct Rfc5681;

/// RFC 6582, whose fast recovery lasts until all that was outstanding is acknowledged.
#[derive(Debug)]
pub struct Rfc6582;

/// Tahoe.
pub type Tahoe = Halving<AlwaysSlowStart>;
/// Reno.
pub type Reno = Halving<Rfc5681>;
/// NewReno.
pub type NewReno = Halving<Rfc6582>;

impl Policy for AlwaysSlowStart {
    const RECOVERY: Recovery = Recovery::SlowStart;

    fn starts_anew(kind: LossKind) -> bool {
        // RFC 3168 §5: a mark halves the window, and nothing has to be sent again.
        kind != LossKind::Ecn
    }

    fn recovered(_aimd: &mut Aimd, _recovered: &Recovered) {}
}

impl Policy for Rfc5681 {
    const RECOVERY: Recovery = Recovery::UntilNewAck;

    fn starts_anew(kind: LossKind) -> bool {
        // RFC 5681 §3.1: the loss window of one segment after a time-out; §3.2 step 2 otherwise.
        kind.is_timeout()
    }

    fn recovered(_aimd: &mut Aimd, _recovered: &Recovered) {
        // RFC 5681 §3.2 step 6: cwnd = ssthresh, where it has been since the loss.
    }
}

impl Policy for Rfc6582 {
    const RECOVERY: Recovery = Recovery::UntilAllAcked;
    const FREQUENT: bool = true;

    fn starts_anew(kind: LossKind) -> bool {
        kind.is_timeout()
    }

    fn recovered(aimd: &mut Aimd, recovered: &Recovered) {
        aimd.recover(recovered);
    }
}

/// A controller whose window grows by addition and shrinks by halving.
#[derive(Debug)]
pub struct Halving<P> {
    aimd: Aimd,
    /// `HyStart++`, as long as the first slow start lasts.
    hystart: Option<Box<HyStartPp>>,
    policy: PhantomData<P>,
}

impl<P: Policy> Halving<P> {
    /// A connection's controller at its start.
    #[must_use]
    pub fn new(plan: &TcpPlan, rng: Option<Stream>) -> Halving<P> {
        Halving { aimd: Aimd::new(plan, rng), hystart: HyStartPp::new(plan), policy: PhantomData }
    }
}

impl<P: Policy> CongestionControl for Halving<P> {
    fn handle_measured(&mut self, measured: &MeasuredTrip) {
        if self.hystart.as_mut().is_some_and(|hystart| hystart.ends(measured)) {
            // RFC 9406 §4.2: ssthresh = cwnd.
            self.aimd.end_slow_start();
            self.hystart = None;
        }
    }

    fn handle_acked(&mut self, acked: &Acked) {
        if !acked.window_limited {
            return;
        }
        match &self.hystart {
            Some(hystart) if self.aimd.in_slow_start() => self.aimd.widen(hystart.growth(acked.bytes)),
            _ => self.aimd.grow(acked.bytes),
        }
    }

    fn handle_lost(&mut self, lost: &Lost) {
        self.hystart = None;
        self.aimd.shrink(lost, P::starts_anew(lost.kind));
    }

    fn handle_recovered(&mut self, recovered: &Recovered) {
        P::recovered(&mut self.aimd, recovered);
    }

    fn recovery(&self) -> Recovery {
        P::RECOVERY
    }

    by_window!(aimd);
}

impl<P: Policy> ControllerNeeds for Halving<P> {
    const FREQUENT: bool = P::FREQUENT;
    const MAY_PACE: bool = false;

    #[inline(always)]
    fn is_aimd(&self) -> bool {
        true
    }

    #[inline(always)]
    fn aimd_mut(&mut self) -> Option<&mut Aimd> {
        Some(&mut self.aimd)
    }

    #[inline]
    fn in_slow_start(&self) -> bool {
        self.aimd.in_slow_start()
    }
}
