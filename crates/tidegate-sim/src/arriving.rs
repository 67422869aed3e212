//! Segments in a row that come to an end of a flow, and what becomes of them there.

use std::slice::Iter;

use tidegate_core::net::Carrier;
use tidegate_core::tcp::{Endpoint, Header, Outgoing, Row};
use tidegate_core::unit::{Handle, Unit};
use tidegate_core::units::{Span, Time};
use tidegate_result::Side;

use crate::meter::Meter;
use crate::policed::Policed;
use crate::segments::Style;
use crate::wire::Wire;

/// Data that come to the receiver (`DATA`), or ACKs that come to the sender, in order of time. An end takes them up to the first one
/// that has a whole segment.
pub(crate) struct Arriving<'a, N, const DATA: bool> {
    pub(crate) units: Iter<'a, (Time, Unit)>,
    /// Before a segment that comes later something else may have to be done.
    pub(crate) latest: Time,
    /// The earliest instant at which the end wanted to be woken.
    pub(crate) wakeup: Time,
    pub(crate) style: &'a Style,
    pub(crate) meter: &'a mut Meter,
    /// Of a flow that passes a policer, where ACKs come to its sender.
    pub(crate) policed: Option<&'a mut Policed>,
    pub(crate) wire: &'a mut Wire<N>,
}

impl<N: Carrier, const DATA: bool> Row for Arriving<'_, N, DATA> {
    const DATA: bool = DATA;

    #[inline(always)]
    fn next(&self) -> (Time, Header, u32) {
        let (at, unit) = self.units.as_slice()[0];
        let len = if DATA { unit.bytes - self.style.headers } else { 0 };
        (at, self.wire.segments.header_of(unit), len)
    }

    #[inline(always)]
    fn take(&mut self) {
        let Some((at, unit)) = self.units.next() else { return };
        if DATA {
            self.meter.received(*at, unit.bytes, unit.cause());
        }
        if unit.is_named_by(Handle::Header) {
            let header = self.wire.segments.take_header(*unit);
            if DATA && let Some(history) = &mut self.meter.history {
                history.note_one_way(*at, header.sent_at);
            }
        }
    }

    #[inline(always)]
    fn goes_on(&self, wakeup: Time) -> bool {
        let next = self.units.as_slice().first();
        next.is_some_and(|(at, unit)| *at <= wakeup && *at <= self.latest && !unit.is_named_by(Handle::Place))
    }

    #[inline(always)]
    fn wakes(&self, wakeup: Time) -> bool {
        wakeup <= self.latest && self.units.as_slice().first().is_some_and(|(at, _)| wakeup < *at)
    }

    #[inline(always)]
    fn sampled(&mut self, _at: Time, rtt: Span) {
        self.meter.sample_rtt(rtt);
    }

    #[inline(always)]
    fn sent(&mut self, at: Time, sent: Outgoing, end: &Endpoint) {
        let from = if DATA { Side::Receiver } else { Side::Sender };
        let mut unit = self.wire.segments.unit_of(at, sent, (end, from), self.style);
        if !DATA && let Some(policed) = &mut self.policed {
            self.wire.review(at, policed, end, self.style);
            policed.blame(&mut unit, sent.held_by(), end);
        }
        self.wire.depart(at, unit, from, self.style);
    }

    #[inline(always)]
    fn answered(&mut self, at: Time, window: u64, expires: Time) {
        self.meter.windows.window_is(at, window);
        self.wakeup = self.wakeup.min(expires);
    }

    #[inline(always)]
    fn counted(&mut self, at: Time, end: &Endpoint) {
        if let Some(policed) = &mut self.policed {
            self.wire.review(at, policed, end, self.style);
        }
        if let Some(history) = &mut self.meter.history {
            history.mark(at, end.counters());
        }
    }

    #[inline(always)]
    fn received(&mut self, at: Time, in_order: u64, wakeup: Time) {
        self.meter.note_in_order(at, in_order);
        self.wakeup = self.wakeup.min(wakeup);
    }
}
