//! An endpoint beside its slow twin: the twin takes the general steps always ([`Endpoint::take_general_way`]), gets the same calls,
//! and must do the same. Every packet trace and every random transfer of these tests runs with it.

use std::ops::Deref;

use crate::cc::Controller;
use crate::plan::TcpPlan;
use crate::random::Stream;
use crate::tcp::{Endpoint, Role, Segment};
use crate::unit::HeldBy;
use crate::units::{Span, Time};
use crate::work::uncounted;

/// An endpoint whose calls its twin gets too. What only looks at it, such as [`Endpoint::snapshot`], looks at the endpoint.
pub(super) struct Twin {
    end: Endpoint,
    slow: Endpoint,
}

impl Deref for Twin {
    type Target = Endpoint;

    fn deref(&self) -> &Endpoint {
        &self.end
    }
}

impl Twin {
    pub(super) fn new(plan: &TcpPlan, role: Role, isn: u32, rng: Option<Stream>) -> Twin {
        let mut slow = Endpoint::new(plan, role, isn, rng.clone());
        slow.take_general_way();
        let mut twin = Twin { end: Endpoint::new(plan, role, isn, rng), slow };
        twin.both(|end| end.read_as_planned(plan));
        twin
    }

    /// Calls both, which must answer alike and be alike afterwards.
    fn both<R: PartialEq + std::fmt::Debug>(&mut self, call: impl Fn(&mut Endpoint) -> R) -> R {
        let answer = call(&mut self.end);
        let slow = uncounted(|| call(&mut self.slow));
        assert_eq!(answer, slow, "the slow twin answers otherwise");
        let state = |end: &Endpoint| {
            let snapshot = end.snapshot();
            let windows = (end.peer_window(), end.receive_window(), end.unread_bytes(), end.window_probes());
            (end.state(), snapshot, end.congestion_window(), *end.counters(), end.in_order_bytes(), windows)
        };
        assert_eq!(state(&self.end), state(&self.slow), "the slow twin is in another state");
        answer
    }

    /// All has been done that was to be done now: the twins come back at the same instant.
    fn settled(&self) {
        assert_eq!(self.end.next_wakeup(), self.slow.next_wakeup(), "the slow twin wakes at another time");
    }

    pub(super) fn open(&mut self, now: Time) {
        self.both(|end| end.open(now));
    }

    pub(super) fn write(&mut self, now: Time, bytes: u64) {
        self.both(|end| end.write(now, bytes));
    }

    pub(super) fn shutdown(&mut self, now: Time) {
        self.both(|end| end.shutdown(now));
    }

    pub(super) fn close(&mut self, now: Time) {
        self.both(|end| end.close(now));
    }

    pub(super) fn abort(&mut self, now: Time) {
        self.both(|end| end.abort(now));
    }

    pub(super) fn read(&mut self, now: Time, most: u64) -> u64 {
        self.both(|end| end.read(now, most))
    }

    pub(super) fn start_clock(&mut self, uptime: Span) {
        self.both(|end| end.start_clock(uptime));
    }

    pub(super) fn set_controller(&mut self, controller: impl Fn() -> Controller) {
        self.both(|end| end.set_controller(controller()));
    }

    pub(super) fn handle_segment(&mut self, now: Time, segment: &Segment) {
        self.both(|end| end.handle_segment(now, segment));
    }

    pub(super) fn handle_wakeup(&mut self, now: Time) {
        self.both(|end| end.handle_wakeup(now));
    }

    pub(super) fn handle_departure(&mut self, now: Time) {
        self.both(|end| end.handle_departure(now));
    }

    pub(super) fn take_rtt_sample(&mut self) -> Option<Span> {
        self.both(Endpoint::take_rtt_sample)
    }

    pub(super) fn poll_transmit(&mut self, now: Time) -> Option<(Segment, HeldBy)> {
        let sent = self.both(|end| end.poll_transmit(now));
        if sent.is_none() {
            self.settled();
        }
        sent
    }
}
