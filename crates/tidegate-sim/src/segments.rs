//! Where the headers of segments in the network are stored: a unit carries only a number ([`tidegate_core::unit::Handle`]).
//! A segment that says nothing but where its data begin, or what it acknowledges, has that number as its unit's handle, and no header is
//! stored. One that has timestamps too, a window or PSH has a [`Header`] here, and so have the data of a flow that is recorded every so
//! often, for the time of sending. SYNs, SACK blocks and ECN take a whole [`Segment`].

use tidegate_core::net::Entry;
use tidegate_core::tcp::{Endpoint, Header, Outgoing, Segment};
use tidegate_core::unit::{Ecn, Handle, Unit};
use tidegate_core::units::Time;
use tidegate_result::Side;

/// Headers of one kind; a place is used again as soon as it is free.
#[derive(Debug)]
pub(crate) struct HeaderPool<H> {
    places: Vec<Slot<H>>,
    /// The place that became free last; [`NONE`]: none is free.
    free: u32,
}

#[derive(Debug)]
struct Slot<H> {
    header: H,
    /// Of a free place: the one that became free before it.
    next: u32,
}

/// A header with when it was sent, which no end looks at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stored {
    pub(crate) sent_at: Time,
    pub(crate) header: Header,
}

/// How the segments of a flow are written, and where they enter the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// Bytes of a segment's headers without options of its own.
    pub(crate) headers: u32,
    /// The number of the connection that the ends belong to; a flow may open one after the other.
    pub(crate) connection: u32,
    /// Each by a whole segment: the flow is watched closely.
    pub(crate) whole: bool,
    /// By their numbers alone as a rule ([`Endpoint::says_numbers_alone`]).
    pub(crate) numbers: bool,
    /// Data with the time of sending: rows are taken of the flow.
    pub(crate) timed: bool,
    /// The units of a row enter together ([`tidegate_core::net::Carrier::handle_units_at`]), else each as it leaves: the flow is not
    /// watched closely, and its units come to both ends without an event.
    pub(crate) together: bool,
    /// Where data enter, and ACKs.
    pub(crate) entries: [Entry; 2],
}

/// The headers of all segments in the network.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    whole: HeaderPool<Segment>,
    headers: HeaderPool<Stored>,
}

/// No place.
const NONE: u32 = u32::MAX;

impl<H> Default for HeaderPool<H> {
    fn default() -> HeaderPool<H> {
        HeaderPool { places: Vec::new(), free: NONE }
    }
}

impl<H: Copy> HeaderPool<H> {
    /// That of a unit that has one in this pool.
    #[inline(always)]
    pub(crate) fn of(&self, unit: Unit) -> H {
        self.places[unit.handle as usize].header
    }

    /// Such a unit has arrived, or will not; its place may be used again, and holds its header until then.
    #[inline(always)]
    pub(crate) fn let_go(&mut self, unit: Unit) {
        self.places[unit.handle as usize].next = self.free;
        self.free = unit.handle;
    }

    fn memory_bytes(&self) -> usize {
        self.places.capacity() * size_of::<Slot<H>>()
    }
}

impl<H: Copy + Default> HeaderPool<H> {
    /// A place for one more, to be filled; what it holds is old.
    #[inline(always)]
    fn place(&mut self) -> (u32, &mut H) {
        if self.free == NONE {
            self.grow();
        }
        let number = self.free;
        let place = &mut self.places[number as usize];
        self.free = place.next;
        (number, &mut place.header)
    }

    #[cold]
    fn grow(&mut self) {
        self.free = self.places.len() as u32;
        self.places.push(Slot { header: H::default(), next: NONE });
    }
}

impl Segments {
    /// A place for one more whole header, to be filled; what it holds is old.
    #[inline]
    fn add(&mut self) -> (u32, &mut Segment) {
        self.whole.place()
    }

    /// The unit of a segment that leaves the end `from`, as [`Endpoint::poll`] gave it last. The rules of headers stand here alone: rows
    /// are of data to the receiver, and of ACKs to the sender.
    #[inline(always)]
    pub(crate) fn unit_of(
        &mut self,
        at: Time,
        sent: Outgoing,
        (end, from): (&Endpoint, Side),
        style: &Style,
    ) -> Unit {
        let expected = sent.is_empty() == (from == Side::Receiver);
        if style.whole || !sent.fits_header() || !expected {
            let (place, bytes, ecn) = self.store_whole(at, sent, end, style);
            let mut unit = Unit::new(bytes, place, sent.held_by());
            unit.set_ecn(ecn);
            return if sent.is_empty() && from == Side::Sender { unit.without_data() } else { unit };
        }
        let bytes = style.headers + sent.len();
        if style.numbers && (sent.is_empty() || !style.timed) {
            Unit::new(bytes, end.number(sent), sent.held_by()).named_by(Handle::Number)
        } else {
            let (place, stored) = self.headers.place();
            *stored = Stored { sent_at: at, header: end.header(at, sent) };
            Unit::new(bytes, place, sent.held_by()).named_by(Handle::Header)
        }
    }

    /// Stores the whole header of a segment. Returns its place, the bytes of its packet, and its codepoint of ECN.
    #[inline(never)]
    fn store_whole(&mut self, at: Time, sent: Outgoing, end: &Endpoint, style: &Style) -> (u32, u32, Ecn) {
        let (place, segment) = self.add();
        end.write_segment(at, sent, segment);
        segment.connection = style.connection;
        segment.sent_at = at;
        (place, style.headers + segment.len + segment.extra_option_bytes(), segment.ecn)
    }

    /// What a unit says that has no whole segment.
    #[inline(always)]
    pub(crate) fn header_of(&self, unit: Unit) -> Header {
        if unit.is_named_by(Handle::Number) {
            Header::of_number(unit.handle)
        } else {
            self.headers.of(unit).header
        }
    }

    /// The stored header of a unit that has arrived; its place may be used again.
    #[inline(always)]
    pub(crate) fn take_header(&mut self, unit: Unit) -> &Stored {
        self.headers.let_go(unit);
        &self.headers.places[unit.handle as usize].header
    }

    /// A segment with a whole header whose unit has arrived; its place may be used again.
    #[inline]
    pub(crate) fn take(&mut self, unit: Unit) -> &Segment {
        self.whole.let_go(unit);
        let segment = &mut self.whole.places[unit.handle as usize].header;
        segment.ecn = unit.ecn();
        segment
    }

    /// The number of the first byte of what leaves a sender; `None`: it has no data, or is not of this connection.
    pub(crate) fn first_byte(&self, unit: Unit, connection: u32) -> Option<u32> {
        if !unit.is_named_by(Handle::Place) {
            return Some(self.header_of(unit).number);
        }
        let segment = self.look_at(unit);
        (segment.connection == connection && segment.len > 0).then_some(segment.seq)
    }

    /// The segment of a unit that has a whole header.
    pub(crate) fn look_at(&self, unit: Unit) -> &Segment {
        &self.whole.places[unit.handle as usize].header
    }

    /// A unit will not arrive.
    pub(crate) fn forget(&mut self, unit: Unit) {
        if unit.is_named_by(Handle::Header) {
            self.headers.let_go(unit);
        } else if unit.is_named_by(Handle::Place) {
            self.whole.let_go(unit);
        }
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.whole.memory_bytes() + self.headers.memory_bytes()) as u64
    }
}
