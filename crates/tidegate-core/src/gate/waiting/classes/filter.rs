//! The ACK filter of CAKE at a gate: what is known of the TCP packets that come to it.

use std::sync::Arc;

use super::ClassesQueue;
use crate::gate::acks::AckView;
use crate::gate::waiting::Waiting;
use crate::gate::waiting::line::Waiter;
use crate::plan::{AckFilter, SchedulerPlan};

/// No route.
const NONE: u32 = u32::MAX;

/// What an ACK filter knows.
#[derive(Debug)]
pub(super) struct Filter {
    plan: AckFilter,
    /// The route of each stretch.
    route_of: Arc<[u32]>,
    /// The packet that has each handle, with its route; of [`NONE`], nothing is known. A handle is used again when its packet has arrived
    /// or was dropped.
    views: Vec<(u32, AckView)>,
    /// What it has dropped, until it is asked.
    dropped: Option<Waiter>,
}

impl Filter {
    pub(super) fn new(scheduler: &SchedulerPlan) -> Option<Filter> {
        let SchedulerPlan::Cake(tins) = scheduler else { return None };
        let plan = tins.ack_filter?;
        Some(Filter { plan, route_of: Arc::new([]), views: Vec::new(), dropped: None })
    }

    fn view(&self, waiter: &Waiter) -> Option<AckView> {
        let route = *self.route_of.get(waiter.unit.stretch as usize)?;
        let (noted, view) = self.views.get(waiter.unit.handle as usize)?;
        (*noted == route).then_some(*view)
    }
}

impl ClassesQueue {
    /// Says of which route each stretch is. Does nothing without an ACK filter.
    pub(in crate::gate) fn set_routes(&mut self, route_of: Arc<[u32]>) {
        if let Some(filter) = &mut self.filter {
            filter.route_of = route_of;
        }
    }

    /// Says what an ACK filter reads of the packet of `route` that has this handle from now on.
    pub(in crate::gate) fn note_view(&mut self, route: u32, handle: u32, view: AckView) {
        let Some(filter) = &mut self.filter else { return };
        let place = handle as usize;
        if filter.views.len() <= place {
            filter.views.resize(place + 1, (NONE, AckView::default()));
        }
        filter.views[place] = (route, view);
    }

    /// A unit has joined a class: the filter drops one ACK at most.
    pub(super) fn filter_acks(&mut self, class: usize, joined: &Waiter) {
        let Some(filter) = &mut self.filter else { return };
        let Waiting::Cake(queue) = &mut self.classes[class].waiting else { return };
        let dropped = queue.filter_acks(joined.unit.stretch, filter.plan, |waiter| filter.view(waiter));
        filter.dropped = dropped;
        if let Some(waiter) = dropped {
            self.forget(class, std::slice::from_ref(&waiter));
        }
    }

    /// The ACK that was dropped when the last unit joined.
    pub(in crate::gate) fn take_filtered(&mut self) -> Option<Waiter> {
        self.filter.as_mut()?.dropped.take()
    }
}
