//! The controller of one connection: built-in ones are matched, so that their short ways are compiled into the endpoint.

use super::{
    Ack, Acked, Aimd, Bbr, Bbr3, CongestionControl, ControllerSnapshot, Copa, Cubic, Dctcp, EcnNeed, Fixed,
    FixedRate, Ledbat, LinuxCubic, LinuxDctcp, LinuxReno, Lost, Measured, NewReno, Prague, Recovered,
    Recovery, Reno, Tahoe, Undone, UsualAck, Vegas, Westwood, python,
};
use crate::plan::{Arithmetic, CongestionPlan, TcpPlan};
use crate::random::Stream;
use crate::units::{Rate, Span, Time};

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
    /// Westwood+.
    Westwood(Box<Westwood>),
    /// Vegas.
    Vegas(Box<Vegas>),
    /// Copa.
    Copa(Box<Copa>),
    /// LEDBAT++.
    Ledbat(Box<Ledbat>),
    /// RFC 8257.
    Dctcp(Box<Dctcp>),
    /// DCTCP as Linux counts it.
    LinuxDctcp(Box<LinuxDctcp>),
    /// Prague.
    Prague(Box<Prague>),
    /// A constant window.
    Fixed(Fixed),
    /// A constant pace.
    FixedRate(FixedRate),
    /// BBR, version 1.
    Bbr(Box<Bbr>),
    /// BBR, version 3.
    Bbr3(Box<Bbr3>),
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
            Controller::Westwood($inner) => $what,
            Controller::Vegas($inner) => $what,
            Controller::Copa($inner) => $what,
            Controller::Ledbat($inner) => $what,
            Controller::Dctcp($inner) => $what,
            Controller::LinuxDctcp($inner) => $what,
            Controller::Prague($inner) => $what,
            Controller::Fixed($inner) => $what,
            Controller::FixedRate($inner) => $what,
            Controller::Bbr($inner) => $what,
            Controller::Bbr3($inner) => $what,
            Controller::Custom($inner) => $what,
        }
    };
}

impl Controller {
    /// The controller that `plan` asks for. `rng` serves [`crate::plan::Increase::Random`] and
    /// controllers that draw ([`CongestionPlan::draws`]).
    #[must_use]
    pub fn new(plan: &TcpPlan, rng: Option<Stream>) -> Controller {
        let linux = plan.rules.arithmetic == Arithmetic::Linux && plan.sack;
        match plan.cc {
            CongestionPlan::Reno | CongestionPlan::NewReno if linux => {
                Controller::LinuxReno(LinuxReno::new(plan))
            }
            CongestionPlan::Cubic if linux => Controller::LinuxCubic(Box::new(LinuxCubic::new(plan))),
            CongestionPlan::Dctcp if linux => Controller::LinuxDctcp(Box::new(LinuxDctcp::new(plan))),
            CongestionPlan::Tahoe { .. } => Controller::Tahoe(Tahoe::new(plan, rng)),
            CongestionPlan::Reno => Controller::Reno(Reno::new(plan, rng)),
            CongestionPlan::NewReno => Controller::NewReno(NewReno::new(plan, rng)),
            CongestionPlan::Westwood => Controller::Westwood(Box::new(Westwood::new(plan))),
            CongestionPlan::Vegas => Controller::Vegas(Box::new(Vegas::new(plan))),
            CongestionPlan::Copa => Controller::Copa(Box::new(Copa::new(plan))),
            CongestionPlan::Ledbat => Controller::Ledbat(Box::new(Ledbat::new(plan))),
            CongestionPlan::Dctcp => Controller::Dctcp(Box::new(Dctcp::new(Aimd::new(plan, rng)))),
            CongestionPlan::Prague => Controller::Prague(Box::new(Prague::new(plan))),
            CongestionPlan::Cubic => Controller::Cubic(Cubic::new(plan)),
            CongestionPlan::Fixed { window } => {
                Controller::Fixed(Fixed::new(window.max(u64::from(plan.mss))))
            }
            CongestionPlan::FixedRate { rate, window } => {
                Controller::FixedRate(FixedRate::new(rate, window.max(u64::from(plan.mss))))
            }
            CongestionPlan::Bbr => Controller::Bbr(Box::new(Bbr::new(plan, rng))),
            CongestionPlan::Bbr3 => Controller::Bbr3(Box::new(Bbr3::new(plan, rng))),
            CongestionPlan::Python(own) => Controller::Custom(python::make(own, plan, rng)),
            // Until the engine hands over what steers it.
            CongestionPlan::Steered => Controller::Fixed(Fixed::new(plan.initial_window)),
            CongestionPlan::Kernel(name) => {
                unreachable!("{name} is the kernel's; the simulator refuses such plans before they start")
            }
        }
    }

    /// See [`CongestionControl::handle_established`].
    pub fn handle_established(&mut self, at: Time, rtt: Option<Span>) {
        each!(self, inner => inner.handle_established(at, rtt));
    }

    /// See [`CongestionControl::understates`].
    #[must_use]
    pub fn understates(&self) -> bool {
        each!(self, inner => inner.understates())
    }

    /// Whether [`Controller::handle_measured`] may do anything.
    #[inline]
    pub(crate) fn hears_measured(&self) -> bool {
        !matches!(self, Controller::LinuxReno(_) | Controller::Bbr(_))
    }

    /// See [`CongestionControl::handle_measured`].
    #[inline]
    pub fn handle_measured(&mut self, measured: &Measured) {
        // What most flows use needs no table of jumps.
        match self {
            Controller::LinuxCubic(cubic) => cubic.handle_measured(measured),
            other if other.hears_measured() => other.handle_measured_by_any(*measured),
            _ => {}
        }
    }

    #[inline(never)]
    fn handle_measured_by_any(&mut self, measured: Measured) {
        each!(self, inner => inner.handle_measured(&measured));
    }

    /// See [`CongestionControl::handle_ack`].
    #[inline]
    pub fn handle_ack(&mut self, ack: &Ack) {
        match self {
            Controller::Bbr(bbr) => bbr.handle_ack(ack),
            other => other.handle_ack_by_any(*ack),
        }
    }

    #[inline(never)]
    fn handle_ack_by_any(&mut self, ack: Ack) {
        each!(self, inner => inner.handle_ack(&ack));
    }

    /// Whether [`Controller::handle_usual_ack`] may do what [`Controller::handle_ack`] does.
    #[inline(always)]
    pub(crate) fn is_steady(&self) -> bool {
        matches!(self, Controller::Bbr(bbr) if bbr.is_steady())
    }

    /// The short way to [`Controller::handle_ack`]; `false`: it was not taken, and nothing has been done.
    #[inline(always)]
    pub(crate) fn handle_usual_ack(&mut self, ack: &UsualAck) -> bool {
        if let Controller::Bbr(bbr) = self { bbr.handle_usual(ack) } else { false }
    }

    /// See [`CongestionControl::hears_acks`].
    #[must_use]
    pub fn hears_acks(&self) -> bool {
        each!(self, inner => inner.hears_acks())
    }

    /// See [`CongestionControl::governs_repair`].
    #[must_use]
    pub fn governs_repair(&self) -> bool {
        each!(self, inner => inner.governs_repair())
    }

    /// See [`CongestionControl::handle_resumed`].
    pub fn handle_resumed(&mut self, at: Time, idle: Span) {
        each!(self, inner => inner.handle_resumed(at, idle));
    }

    /// See [`CongestionControl::handle_acked`].
    #[inline]
    pub fn handle_acked(&mut self, acked: &Acked) {
        match self {
            Controller::LinuxCubic(cubic) => cubic.handle_acked(acked),
            other => other.handle_acked_by_any(*acked),
        }
    }

    #[inline(never)]
    fn handle_acked_by_any(&mut self, acked: Acked) {
        each!(self, inner => inner.handle_acked(&acked));
    }

    /// Whether [`Controller::aimd_mut`] has it.
    #[inline]
    pub(crate) fn is_aimd(&self) -> bool {
        matches!(self, Controller::Tahoe(_) | Controller::Reno(_) | Controller::NewReno(_))
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
            | Controller::Westwood(_)
            | Controller::Vegas(_)
            | Controller::Copa(_)
            | Controller::Ledbat(_)
            | Controller::Dctcp(_)
            | Controller::LinuxDctcp(_)
            | Controller::Prague(_)
            | Controller::Fixed(_)
            | Controller::FixedRate(_)
            | Controller::Bbr(_)
            | Controller::Bbr3(_)
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

    /// See [`CongestionControl::handle_undone`].
    pub fn handle_undone(&mut self, undone: &Undone) {
        each!(self, inner => inner.handle_undone(undone));
    }

    /// See [`CongestionControl::handle_restart`].
    pub fn handle_restart(&mut self, window: u64) {
        each!(self, inner => inner.handle_restart(window));
    }

    /// See [`CongestionControl::window`].
    #[inline]
    #[must_use]
    pub fn window(&self) -> u64 {
        // What needs the fewest instructions beside it has a way without a table of jumps.
        match self {
            Controller::NewReno(newreno) => newreno.window(),
            Controller::LinuxCubic(cubic) => cubic.window(),
            Controller::Bbr(bbr) => bbr.window(),
            other => other.window_of_any(),
        }
    }

    #[inline(always)]
    fn window_of_any(&self) -> u64 {
        each!(self, inner => inner.window())
    }

    /// See [`CongestionControl::pacing_rate`].
    #[inline]
    #[must_use]
    pub fn pacing_rate(&self) -> Option<Rate> {
        match self {
            Controller::Bbr(bbr) => bbr.pacing_rate(),
            other => other.pacing_rate_of_any(),
        }
    }

    #[inline(never)]
    fn pacing_rate_of_any(&self) -> Option<Rate> {
        each!(self, inner => inner.pacing_rate())
    }

    /// Whether it names a rate now.
    #[inline(always)]
    pub(crate) fn names_rate(&self) -> bool {
        matches!(self, Controller::Bbr(_)) || self.pacing_rate_of_any().is_some()
    }

    /// The window in bytes and the rate of a controller by which data leave in bursts.
    #[inline(always)]
    pub(crate) fn window_and_rate(&self) -> Option<(u64, Rate)> {
        if let Controller::Bbr(bbr) = self { Some((bbr.window(), bbr.pace)) } else { None }
    }

    /// Whether it may ever name a rate. `false`: [`Controller::pacing_rate`] is always `None`.
    pub(crate) fn may_pace(&self) -> bool {
        !matches!(
            self,
            Controller::Tahoe(_)
                | Controller::Reno(_)
                | Controller::NewReno(_)
                | Controller::Cubic(_)
                | Controller::LinuxReno(_)
                | Controller::LinuxCubic(_)
        )
    }

    /// Whether it reads [`Ack::window_limited`]; else it is told `false`.
    #[inline]
    pub(crate) fn asks_for_the_limit(&self) -> bool {
        !matches!(self, Controller::Bbr(_))
    }

    /// Whether the window is below the threshold, as [`Controller::snapshot`] says.
    #[inline]
    pub(crate) fn in_slow_start(&self) -> bool {
        match self {
            Controller::LinuxReno(reno) => reno.in_slow_start(),
            Controller::LinuxCubic(cubic) => cubic.in_slow_start(),
            Controller::Bbr(bbr) => bbr.in_startup(),
            other => other.snapshot().slow_start,
        }
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

    /// See [`CongestionControl::detail`].
    #[must_use]
    pub fn detail(&self) -> Option<(&'static str, f64)> {
        each!(self, inner => inner.detail())
    }

    /// See [`CongestionControl::snapshot`].
    #[must_use]
    pub fn snapshot(&self) -> ControllerSnapshot {
        each!(self, inner => inner.snapshot())
    }
}
