//! The controller of one connection, which endpoints call.
//!
//! What is called at every ACK is dispatched by a `match` here, so that it is compiled into the endpoint. All else of
//! [`CongestionControl`] is called through [`Deref`]. What a controller makes use of is said in its own file ([`ControllerNeeds`]).

use std::ops::{Deref, DerefMut};

use super::control::ControllerNeeds;
use super::{
    Ack, Acked, Aimd, Bbr, Bbr3, CongestionControl, Copa, Cubic, Dctcp, Fixed, InOrderAck, Ledbat,
    LinuxCubic, LinuxDctcp, LinuxReno, MeasuredTrip, NewReno, Prague, Reno, Tahoe, Vegas, Westwood, python,
};
use crate::plan::{Arithmetic, CongestionPlan, TcpPlan};
use crate::random::Stream;
use crate::units::Rate;

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
    /// A constant window, or a constant pace.
    Fixed(Fixed),
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
            Controller::Bbr($inner) => $what,
            Controller::Bbr3($inner) => $what,
            Controller::Custom($inner) => $what,
        }
    };
}

/// Returns `what` of a frequent controller ([`ControllerNeeds::FREQUENT`]) for which `when` holds, compiled into the caller. Both are known when
/// the program is compiled, so that the others cost a comparison.
macro_rules! inline {
    ($self:expr, $inner:ident if $when:expr => $what:expr) => {
        each!($self, $inner => if $inner.is_frequent() && $when {
            return $what;
        })
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
                Controller::Fixed(Fixed::paced(rate, window.max(u64::from(plan.mss))))
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

    /// See [`CongestionControl::handle_measured`].
    #[inline]
    pub fn handle_measured(&mut self, measured: &MeasuredTrip) {
        inline!(self, inner if inner.hears_measured() && !inner.is_aimd() => inner.handle_measured(measured));
        if self.hears_measured() {
            self.handle_measured_by_any(*measured);
        }
    }

    #[inline(never)]
    fn handle_measured_by_any(&mut self, measured: MeasuredTrip) {
        each!(self, inner => inner.handle_measured(&measured));
    }

    /// See [`CongestionControl::handle_ack`].
    #[inline]
    pub fn handle_ack(&mut self, ack: &Ack) {
        inline!(self, inner if inner.hears_acks() => inner.handle_ack(ack));
        self.handle_ack_by_any(*ack);
    }

    #[inline(never)]
    fn handle_ack_by_any(&mut self, ack: Ack) {
        each!(self, inner => inner.handle_ack(&ack));
    }

    /// See [`CongestionControl::handle_acked`].
    #[inline]
    pub fn handle_acked(&mut self, acked: &Acked) {
        inline!(self, inner if !inner.is_aimd() && !inner.governs_repair() => inner.handle_acked(acked));
        self.handle_acked_by_any(*acked);
    }

    #[inline(never)]
    fn handle_acked_by_any(&mut self, acked: Acked) {
        each!(self, inner => inner.handle_acked(&acked));
    }

    /// See [`CongestionControl::window`].
    #[inline]
    #[must_use]
    pub fn window(&self) -> u64 {
        inline!(self, inner if true => inner.window());
        self.window_of_any()
    }

    #[inline(always)]
    fn window_of_any(&self) -> u64 {
        each!(self, inner => inner.window())
    }

    /// See [`CongestionControl::pacing_rate`].
    #[inline]
    #[must_use]
    pub fn pacing_rate(&self) -> Option<Rate> {
        inline!(self, inner if inner.may_pace() => inner.pacing_rate());
        self.pacing_rate_of_any()
    }

    #[inline(never)]
    fn pacing_rate_of_any(&self) -> Option<Rate> {
        each!(self, inner => inner.pacing_rate())
    }

    /// Whether it names a rate now.
    #[inline(always)]
    pub(crate) fn names_rate(&self) -> bool {
        self.pacing_rate().is_some()
    }

    /// The window in bytes and the rate, if endpoints may send by it in bursts: that of a frequent controller.
    #[inline(always)]
    pub(crate) fn window_and_rate(&self) -> Option<(u64, Rate)> {
        inline!(self, inner if inner.may_pace() => Some((inner.window(), inner.pacing_rate()?)));
        None
    }

    /// Whether the window is below the threshold, as [`CongestionControl::snapshot`] says.
    #[inline]
    pub(crate) fn in_slow_start(&self) -> bool {
        inline!(self, inner if !inner.is_aimd() => inner.in_slow_start());
        self.in_slow_start_of_any()
    }

    #[inline(never)]
    fn in_slow_start_of_any(&self) -> bool {
        each!(self, inner => inner.in_slow_start())
    }

    /// See [`CongestionControl::understates`].
    #[inline]
    #[must_use]
    pub fn understates(&self) -> bool {
        each!(self, inner => inner.understates())
    }

    /// See [`ControllerNeeds::HEARS_MEASURED`].
    #[inline]
    pub(crate) fn hears_measured(&self) -> bool {
        each!(self, inner => inner.hears_measured())
    }

    /// See [`ControllerNeeds::READS_WINDOW_LIMITED`].
    #[inline]
    pub(crate) fn reads_window_limited(&self) -> bool {
        each!(self, inner => inner.reads_window_limited())
    }

    /// See [`ControllerNeeds::MAY_PACE`].
    pub(crate) fn may_pace(&self) -> bool {
        each!(self, inner => inner.may_pace())
    }

    /// See [`ControllerNeeds::may_take_fast_path`].
    #[inline(always)]
    pub(crate) fn may_take_fast_path(&self) -> bool {
        each!(self, inner => inner.may_take_fast_path())
    }

    /// See [`ControllerNeeds::handle_in_order_ack`].
    #[inline(always)]
    pub(crate) fn handle_in_order_ack(&mut self, ack: &InOrderAck) -> bool {
        each!(self, inner => inner.handle_in_order_ack(ack))
    }

    /// See [`ControllerNeeds::is_aimd`].
    #[inline]
    pub(crate) fn is_aimd(&self) -> bool {
        each!(self, inner => inner.is_aimd())
    }

    /// See [`ControllerNeeds::aimd_mut`].
    #[inline]
    pub(crate) fn aimd_mut(&mut self) -> Option<&mut Aimd> {
        each!(self, inner => inner.aimd_mut())
    }
}

/// All that a controller is told and asked.
impl Deref for Controller {
    type Target = dyn CongestionControl;

    fn deref(&self) -> &Self::Target {
        each!(self, inner => inner.whole())
    }
}

impl DerefMut for Controller {
    fn deref_mut(&mut self) -> &mut Self::Target {
        each!(self, inner => inner.whole_mut())
    }
}

/// A controller as an object, whether it stands in [`Controller`] itself or in a box.
trait Whole {
    fn whole(&self) -> &(dyn CongestionControl + 'static);
    fn whole_mut(&mut self) -> &mut (dyn CongestionControl + 'static);
}

impl<C: CongestionControl + 'static> Whole for C {
    fn whole(&self) -> &(dyn CongestionControl + 'static) {
        self
    }

    fn whole_mut(&mut self) -> &mut (dyn CongestionControl + 'static) {
        self
    }
}

impl Whole for dyn CongestionControl {
    fn whole(&self) -> &(dyn CongestionControl + 'static) {
        self
    }

    fn whole_mut(&mut self) -> &mut (dyn CongestionControl + 'static) {
        self
    }
}
