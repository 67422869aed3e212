//! What passes through the stages of a lap ([`crate::laps`]): ACKs at the sender, and data at the receiver.

use std::slice::Iter;

use tidegate_core::gate::Recording;
use tidegate_core::tcp::{AckStream, DataStream, Endpoint, Outgoing};
use tidegate_core::unit::{HeldBy, Unit};
use tidegate_core::units::{Span, Time};

use crate::meter::{Meter, Windows};
use crate::segments::{Headers, Numbers, ShortHeaders};

/// The ACKs of a lap, and what becomes of them at the sender.
pub(crate) struct Acks<'a, H> {
    pub(crate) units: Iter<'a, (Time, Unit)>,
    pub(crate) says: &'a mut H,
    /// An ACK that comes later is left for another way.
    pub(crate) latest: Time,
    pub(crate) headers: u32,
    pub(crate) round_trips: Recording<'a>,
    pub(crate) windows: &'a mut Windows,
    pub(crate) leaving: &'a mut Vec<(Time, Unit)>,
    /// The earliest instant at which the sender wanted to be woken.
    pub(crate) wakeup: Time,
}

impl<H: Headers> AckStream for Acks<'_, H> {
    type Header = H::Header;

    #[inline(always)]
    fn next_before(&mut self, wakeup: Time) -> Option<(Time, H::Header)> {
        let (at, _, header) = first_before(&self.units, self.says, wakeup.min(self.latest))?;
        Some((at, header))
    }

    #[inline(always)]
    fn take(&mut self) {
        if let Some((_, unit)) = self.units.next() {
            self.says.arrived(*unit);
        }
    }

    #[inline(always)]
    fn sampled(&mut self, _at: Time, rtt: Span) {
        self.round_trips.record(rtt);
    }

    #[inline(always)]
    fn sent(&mut self, at: Time, sent: Outgoing, header: H::Header) {
        self.leaving.push((at, self.says.unit(self.headers + sent.len(), header, sent.held_by())));
    }

    #[inline(always)]
    fn answered(&mut self, at: Time, window: u64, wakeup: Time) {
        self.windows.window_is(at, window);
        self.wakeup = self.wakeup.min(wakeup);
    }
}

/// The segments of a lap, and what becomes of them at the receiver.
pub(crate) struct Arrivals<'a, H> {
    pub(crate) units: Iter<'a, (Time, Unit)>,
    pub(crate) says: &'a mut H,
    pub(crate) latest: Time,
    pub(crate) headers: u32,
    pub(crate) meter: &'a mut Meter,
    pub(crate) leaving: &'a mut Vec<(Time, Unit)>,
    /// The earliest instant at which the receiver wanted to be woken.
    pub(crate) wakeup: Time,
}

impl<H: Headers> DataStream for Arrivals<'_, H> {
    type Header = H::Header;

    #[inline(always)]
    fn next_before(&mut self, wakeup: Time) -> Option<(Time, H::Header, u32)> {
        let (at, unit, header) = first_before(&self.units, self.says, wakeup.min(self.latest))?;
        self.units.next();
        self.says.arrived(unit);
        self.meter.received(at, unit.bytes, unit.cause());
        Some((at, header, unit.bytes - self.headers))
    }

    #[inline(always)]
    fn acknowledged(&mut self, at: Time, header: H::Header) {
        self.leaving.push((at, self.says.unit(self.headers, header, HeldBy::Application)));
    }

    #[inline(always)]
    fn taken(&mut self, at: Time, in_order: u64, wakeup: Time) {
        self.meter.note_in_order(at, in_order);
        self.wakeup = self.wakeup.min(wakeup);
    }
}

/// The next unit and what it says, if that is a header of this kind and it comes at `latest` at the latest.
#[inline(always)]
fn first_before<H: Headers>(
    units: &Iter<(Time, Unit)>,
    says: &H,
    latest: Time,
) -> Option<(Time, Unit, H::Header)> {
    let (at, unit) = units.as_slice().first()?;
    if *at > latest {
        return None;
    }
    Some((*at, *unit, says.read(*unit)?))
}

/// How ends take many segments of a kind of header.
pub(crate) trait Ends: Headers + Sized {
    fn answer_acks(end: &mut Endpoint, acks: &mut Acks<Self>) -> Option<(Time, Outgoing)>;
    fn take_data(end: &mut Endpoint, data: &mut Arrivals<Self>) -> Option<(Time, Outgoing)>;
}

impl Ends for Numbers {
    #[inline(always)]
    fn answer_acks(end: &mut Endpoint, acks: &mut Acks<Numbers>) -> Option<(Time, Outgoing)> {
        end.answer_usual_acks(acks)
    }

    #[inline(always)]
    fn take_data(end: &mut Endpoint, data: &mut Arrivals<Numbers>) -> Option<(Time, Outgoing)> {
        end.take_usual_data(data)
    }
}

impl Ends for ShortHeaders {
    #[inline(always)]
    fn answer_acks(end: &mut Endpoint, acks: &mut Acks<ShortHeaders>) -> Option<(Time, Outgoing)> {
        end.answer_short_acks(acks)
    }

    #[inline(always)]
    fn take_data(end: &mut Endpoint, data: &mut Arrivals<ShortHeaders>) -> Option<(Time, Outgoing)> {
        end.take_short_data(data)
    }
}
