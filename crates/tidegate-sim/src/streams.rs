//! What passes through the stages of a lap ([`crate::laps`]): ACKs at the sender, and data at the receiver.

use std::marker::PhantomData;
use std::slice::Iter;

use tidegate_core::gate::Recording;
use tidegate_core::tcp::{AckStream, Counters, DataStream, Endpoint, Header, Outgoing, Shown};
use tidegate_core::unit::{Handle, HeldBy, Unit};
use tidegate_core::units::{Span, Time};

use crate::history::History;
use crate::meter::{Meter, Windows};
use crate::segments::{Segments, Stored};
use crate::ways::Way;

/// The ACKs of a lap, and what becomes of them at the sender.
pub(crate) struct Acks<'a, H, W> {
    pub(crate) units: Iter<'a, (Time, Unit)>,
    pub(crate) segments: &'a mut Segments,
    pub(crate) history: Option<&'a mut History>,
    /// An ACK that comes later is left for another way.
    pub(crate) latest: Time,
    /// Before an ACK that comes later the sender writes rows; at most `latest`.
    pub(crate) rowless: Time,
    /// Bytes of a segment.
    pub(crate) mss: f64,
    pub(crate) headers: u32,
    pub(crate) round_trips: Recording<'a>,
    pub(crate) windows: &'a mut Windows,
    pub(crate) leaving: &'a mut Vec<(Time, Unit)>,
    /// The earliest instant at which the sender's timer was to expire.
    pub(crate) wakeup: Time,
    pub(crate) way: PhantomData<(H, W)>,
}

impl<H, W> Acks<'_, H, W> {
    /// The sender writes its rows before `at`.
    #[inline(never)]
    fn write_rows(&mut self, at: Time, shown: &Shown) {
        if let Some(history) = &mut self.history {
            history.sample_sender(at, shown, self.mss);
            self.rowless = self.latest.min(history.sender_rowless_until());
        }
    }
}

impl<H: Kind, W: Way> AckStream for Acks<'_, H, W> {
    type Header = H;

    #[inline(always)]
    fn next_before(&mut self, wakeup: Time, shown: impl FnOnce() -> Shown) -> Option<(Time, H)> {
        let (at, unit) = *self.units.as_slice().first()?;
        if at > wakeup.min(self.rowless) {
            if !W::ROWS || at > wakeup.min(self.latest) {
                return None;
            }
            self.write_rows(at, &shown());
        }
        Some((at, H::read(self.segments, unit)?))
    }

    #[inline(always)]
    fn take(&mut self) {
        if let Some((_, unit)) = self.units.next() {
            H::arrived(self.segments, *unit);
        }
    }

    #[inline(always)]
    fn wakes(&mut self, wakeup: Time, shown: impl FnOnce() -> Shown) -> bool {
        let before = self.units.as_slice().first().is_some_and(|(at, _)| wakeup < *at);
        if !before || wakeup > if W::ROWS { self.latest } else { self.rowless } {
            return false;
        }
        if W::ROWS && wakeup > self.rowless {
            self.write_rows(wakeup, &shown());
        }
        true
    }

    #[inline(always)]
    fn sampled(&mut self, _at: Time, rtt: Span) {
        self.round_trips.record(rtt);
        if W::ROWS
            && let Some(history) = &mut self.history
        {
            history.round_trip = Some(rtt);
        }
    }

    #[inline(always)]
    fn sent(&mut self, at: Time, sent: Outgoing, header: H) {
        let (bytes, held_by) = (self.headers + sent.len(), sent.held_by());
        let unit = if W::ROWS {
            self.segments.unit(at, bytes, header.to_short(), held_by)
        } else {
            header.unit(self.segments, bytes, held_by)
        };
        self.leaving.push((at, unit));
    }

    #[inline(always)]
    fn answered(&mut self, at: Time, window: u64, expires: Time) {
        self.windows.window_is(at, window);
        self.wakeup = self.wakeup.min(expires);
    }

    #[inline(always)]
    fn counted(&mut self, at: Time, counters: &Counters) {
        if W::ROWS
            && let Some(history) = &mut self.history
        {
            history.mark(at, counters);
        }
    }
}

/// The segments of a lap, and what becomes of them at the receiver.
pub(crate) struct Arrivals<'a, H, W> {
    pub(crate) units: Iter<'a, (Time, Unit)>,
    pub(crate) segments: &'a mut Segments,
    pub(crate) history: Option<&'a mut History>,
    pub(crate) latest: Time,
    /// Before a segment that comes later the receiver writes rows; at most `latest`.
    pub(crate) rowless: Time,
    pub(crate) headers: u32,
    pub(crate) meter: &'a mut Meter,
    pub(crate) leaving: &'a mut Vec<(Time, Unit)>,
    /// The earliest instant at which the receiver wanted to be woken.
    pub(crate) wakeup: Time,
    pub(crate) way: PhantomData<(H, W)>,
}

impl<H: Kind, W: Way> Arrivals<'_, H, W> {
    /// The receiver writes its rows before `at`.
    #[inline(never)]
    fn write_rows(&mut self, at: Time, receiver: &Endpoint) {
        if let Some(history) = &mut self.history {
            history.sample_receiver(at, receiver);
            self.rowless = self.latest.min(history.receiver_rowless_until());
        }
    }

    /// What a unit says that is data; `None`: in another way.
    #[inline(always)]
    fn read(&mut self, at: Time, unit: Unit) -> Option<H> {
        if !W::ROWS {
            let header = H::read(self.segments, unit)?;
            H::arrived(self.segments, unit);
            return Some(header);
        }
        let stored = unit.is_named_by(Handle::Header).then(|| self.segments.headers.take(unit));
        let Stored { sent_at, header } = stored?;
        if let Some(history) = &mut self.history {
            history.note_one_way(at, sent_at);
        }
        Some(H::of_short(header))
    }
}

impl<H: Kind, W: Way> DataStream for Arrivals<'_, H, W> {
    type Header = H;

    #[inline(always)]
    fn next_before(&mut self, wakeup: Time, end: &Endpoint) -> Option<(Time, H, u32)> {
        let (at, unit) = *self.units.as_slice().first()?;
        if at > wakeup.min(self.rowless) {
            if !W::ROWS || at > wakeup.min(self.latest) {
                return None;
            }
            self.write_rows(at, end);
        }
        let header = self.read(at, unit)?;
        self.units.next();
        self.meter.received(at, unit.bytes, unit.cause());
        Some((at, header, unit.bytes - self.headers))
    }

    #[inline(always)]
    fn acknowledged(&mut self, at: Time, header: H) {
        self.leaving.push((at, header.unit(self.segments, self.headers, HeldBy::Application)));
    }

    #[inline(always)]
    fn taken(&mut self, at: Time, in_order: u64, wakeup: Time) {
        self.meter.note_in_order(at, in_order);
        self.wakeup = self.wakeup.min(wakeup);
    }
}

/// How the units of a lap say what they stand for, and how ends take many of them.
pub(crate) trait Kind: Copy {
    /// What a unit says; `None`: in another way.
    fn read(segments: &Segments, unit: Unit) -> Option<Self>;
    /// It has arrived.
    fn arrived(segments: &mut Segments, unit: Unit);
    /// A unit that says so.
    fn unit(self, segments: &mut Segments, bytes: u32, held_by: HeldBy) -> Unit;
    /// A short header with all that it says.
    fn to_short(self) -> Header;
    /// What it says.
    fn of_short(short: Header) -> Self;
    fn answer_acks<W: Way>(end: &mut Endpoint, acks: &mut Acks<Self, W>) -> Option<(Time, Outgoing)>;
    fn take_data<W: Way>(end: &mut Endpoint, data: &mut Arrivals<Self, W>) -> Option<(Time, Outgoing)>;
}

/// By its handle alone.
impl Kind for u32 {
    #[inline(always)]
    fn read(_segments: &Segments, unit: Unit) -> Option<u32> {
        unit.is_named_by(Handle::Number).then_some(unit.handle)
    }

    #[inline(always)]
    fn arrived(_segments: &mut Segments, _unit: Unit) {}

    #[inline(always)]
    fn unit(self, _segments: &mut Segments, bytes: u32, held_by: HeldBy) -> Unit {
        Unit::new(bytes, self, held_by).named_by(Handle::Number)
    }

    #[inline(always)]
    fn to_short(self) -> Header {
        Header { number: self, ..Header::default() }
    }

    #[inline(always)]
    fn of_short(short: Header) -> u32 {
        short.number
    }

    #[inline(always)]
    fn answer_acks<W: Way>(end: &mut Endpoint, acks: &mut Acks<Self, W>) -> Option<(Time, Outgoing)> {
        end.answer_usual_acks(acks)
    }

    #[inline(always)]
    fn take_data<W: Way>(end: &mut Endpoint, data: &mut Arrivals<Self, W>) -> Option<(Time, Outgoing)> {
        end.take_usual_data(data)
    }
}

/// By a short header in a pool.
impl Kind for Header {
    #[inline(always)]
    fn read(segments: &Segments, unit: Unit) -> Option<Header> {
        if !unit.is_named_by(Handle::Header) {
            return None;
        }
        // Word by word, so that what is not asked for is not loaded.
        let Header { number, window, ts_val, ts_ecr, pushed } = segments.headers.of(unit).header;
        Some(Header { number, window, ts_val, ts_ecr, pushed })
    }

    #[inline(always)]
    fn arrived(segments: &mut Segments, unit: Unit) {
        segments.headers.let_go(unit);
    }

    #[inline(always)]
    fn unit(self, segments: &mut Segments, bytes: u32, held_by: HeldBy) -> Unit {
        segments.unit(Time::ZERO, bytes, self, held_by)
    }

    #[inline(always)]
    fn to_short(self) -> Header {
        self
    }

    #[inline(always)]
    fn of_short(short: Header) -> Header {
        short
    }

    #[inline(always)]
    fn answer_acks<W: Way>(end: &mut Endpoint, acks: &mut Acks<Self, W>) -> Option<(Time, Outgoing)> {
        end.answer_short_acks(acks)
    }

    #[inline(always)]
    fn take_data<W: Way>(end: &mut Endpoint, data: &mut Arrivals<Self, W>) -> Option<(Time, Outgoing)> {
        end.take_short_data(data)
    }
}
