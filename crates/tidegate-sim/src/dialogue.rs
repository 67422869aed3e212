//! What a flow with requests has beside its endpoints: the client at the receiver's end.

use tidegate_core::app::{Client, Exchange};
use tidegate_core::plan::{AppPlan, ConnectionPlan};
use tidegate_core::tcp::Endpoint;
use tidegate_core::units::Time;

use crate::connection::Maker;

/// What a flow with requests has beside its endpoints.
#[derive(Debug)]
pub(crate) struct Dialogue {
    pub(crate) client: Client,
    pub(crate) server: Option<usize>,
    /// Exchanges that have ended, in order; in the end those that have not, too.
    pub(crate) log: Vec<Exchange>,
    /// The endpoints have been opened.
    pub(crate) opened: bool,
    /// When the client acts next by itself: its user asks, or a request that waited begins.
    pub(crate) due: Time,
    /// So many requests are asked, if they have a number.
    count: Option<u64>,
    /// What its connections are made of, where each request has one of its own.
    anew: Option<Box<Maker>>,
}

impl Dialogue {
    /// The client of a flow that starts at `start`; none where the flow has no requests.
    pub(crate) fn new(maker: &Maker, start: Time) -> Option<Box<Dialogue>> {
        let AppPlan::Request(plan) = &maker.flow.app else { return None };
        Some(Box::new(Dialogue {
            client: Client::new(plan, start, maker.seed, &maker.flow.name),
            server: plan.server,
            log: Vec::new(),
            opened: false,
            due: start,
            count: plan.count,
            anew: (plan.connection == ConnectionPlan::New).then(|| Box::new(maker.clone())),
        }))
    }

    /// When the last of its requests ended, if it has a count of them and all have ended.
    pub(crate) fn done_at(&self) -> Option<Time> {
        let all = self.count.is_some_and(|count| self.log.len() as u64 >= count);
        if all { self.log.iter().map(|exchange| exchange.ended).max() } else { None }
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        self.client.memory_bytes() + (self.log.capacity() * size_of::<Exchange>()) as u64
    }

    /// Adds the exchanges that have not ended to the log, when the run is over.
    pub(crate) fn finish(&mut self) {
        self.log.extend(self.client.unfinished());
    }

    /// Whether client and server may each be handled at their own time. A new connection replaces both ends at one instant, and what a
    /// shared server does next depends on all its clients.
    pub(crate) fn lets_ends_part(&self) -> bool {
        !self.begins_anew() && self.server.is_none()
    }

    /// Whether each request has a connection of its own.
    pub(crate) fn begins_anew(&self) -> bool {
        self.anew.is_some()
    }

    /// The ends of connection `number`, where each request has one of its own.
    pub(crate) fn endpoints(&self, number: u32) -> Option<(Endpoint, Endpoint)> {
        self.anew.as_ref().map(|maker| maker.endpoints(number))
    }
}
