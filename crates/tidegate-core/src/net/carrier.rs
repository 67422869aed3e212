//! The carrier of units between endpoints: the whole network, or the part of it that only one cohort of flows uses.

use crate::gate::AckView;
use crate::net::Network;
use crate::net::drops::Dropped;
use crate::net::fast::Walk;
use crate::net::map::Entry;
use crate::unit::Unit;
use crate::units::Time;

/// What an endpoint needs of the network that carries its units. The methods are those of [`Network`].
pub trait Carrier {
    /// A unit enters a route at `at`. Answers with when it comes to its end if that is certain and reported ahead.
    fn handle_unit_at(&mut self, at: Time, entry: Entry, unit: &mut Unit) -> Option<Time>;

    /// Many units enter a route that carries each of them at once ([`Network::carries_at_once`]). Those that are not dropped remain in `units`, with the times at which
    /// they reach its end.
    fn handle_units_at(&mut self, entry: Entry, units: &mut Vec<(Time, Unit)>);

    /// What an ACK filter reads of the unit that enters a route next, with this handle ([`Network::note_view`]).
    fn note_view(&mut self, route: usize, handle: u32, view: AckView);

    /// The drops that nobody has been told of yet.
    fn unreported_drops(&self) -> impl Iterator<Item = &Dropped>;

    /// Sets an alarm unless it rings earlier anyway.
    fn set_alarm(&mut self, alarm: usize, at: Time);

    /// A transfer of a flow begins (`true`) or ends.
    fn handle_transfer(&mut self, at: Time, flow: usize, begins: bool);
}

impl Carrier for Network {
    #[inline(always)]
    fn handle_unit_at(&mut self, at: Time, entry: Entry, unit: &mut Unit) -> Option<Time> {
        Network::handle_unit_at(self, at, entry, unit)
    }

    #[inline(always)]
    fn handle_units_at(&mut self, entry: Entry, units: &mut Vec<(Time, Unit)>) {
        self.pass_stretch(entry.0, units);
    }

    fn note_view(&mut self, route: usize, handle: u32, view: AckView) {
        Network::note_view(self, route, handle, view);
    }

    fn unreported_drops(&self) -> impl Iterator<Item = &Dropped> {
        Network::unreported_drops(self)
    }

    #[inline(always)]
    fn set_alarm(&mut self, alarm: usize, at: Time) {
        Network::set_alarm(self, alarm, at);
    }

    #[inline(always)]
    fn handle_transfer(&mut self, at: Time, flow: usize, begins: bool) {
        if begins {
            self.handle_transfer_begin(at, flow);
        } else {
            self.handle_transfer_end(at, flow);
        }
    }
}
