//! Where the headers of segments in the network are stored: a unit carries only a number ([`tidegate_core::unit::Handle`]).
//! A segment that says nothing but where its data begin, or what it acknowledges, has that number as its unit's handle, and no header is
//! stored. One that has timestamps too, a window or PSH has a [`Header`] here, and so have the data of a flow that is recorded every so
//! often, for the time of sending. SYNs, SACK blocks and ECN take a whole [`Segment`].

use tidegate_core::tcp::{Header, Segment};
use tidegate_core::unit::{Handle, HeldBy, Unit};
use tidegate_core::units::Time;

/// Headers of one kind; a place is used again as soon as it is free.
#[derive(Debug)]
pub(crate) struct Pool<H> {
    places: Vec<Place<H>>,
    /// The place that became free last; [`NONE`]: none is free.
    free: u32,
}

#[derive(Debug)]
struct Place<H> {
    header: H,
    /// Of a free place: the one that became free before it.
    next: u32,
}

/// A header with when it was sent, which no end looks at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stored {
    /// Of data of a flow that is recorded; else [`Time::ZERO`].
    pub(crate) sent_at: Time,
    pub(crate) header: Header,
}

/// The headers of all segments in the network.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    whole: Pool<Segment>,
    pub(crate) headers: Pool<Stored>,
}

/// No place.
const NONE: u32 = u32::MAX;

impl<H> Default for Pool<H> {
    fn default() -> Pool<H> {
        Pool { places: Vec::new(), free: NONE }
    }
}

impl<H: Copy> Pool<H> {
    /// Stores one more, and says where.
    #[inline(always)]
    pub(crate) fn add(&mut self, header: H) -> u32 {
        let number = self.free;
        match self.places.get_mut(number as usize) {
            Some(place) => {
                self.free = place.next;
                place.header = header;
                number
            }
            // `NONE` is beyond all places.
            None => self.grow(header),
        }
    }

    #[cold]
    fn grow(&mut self, header: H) -> u32 {
        self.places.push(Place { header, next: NONE });
        (self.places.len() - 1) as u32
    }

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

    /// That of a unit that has one in this pool and has arrived.
    #[inline(always)]
    pub(crate) fn take(&mut self, unit: Unit) -> H {
        self.let_go(unit);
        self.of(unit)
    }

    fn memory_bytes(&self) -> usize {
        self.places.capacity() * size_of::<Place<H>>()
    }
}

impl<H: Copy + Default> Pool<H> {
    /// A place for one more, to be filled; what it holds is old.
    #[inline(always)]
    fn place(&mut self) -> (u32, &mut H) {
        let number = self.free;
        let number = if number == NONE { self.grow(H::default()) } else { number };
        let place = &mut self.places[number as usize];
        self.free = place.next;
        (number, &mut place.header)
    }
}

impl Segments {
    /// A place for one more whole header, to be filled; what it holds is old.
    #[inline]
    pub(crate) fn add(&mut self) -> (u32, &mut Segment) {
        self.whole.place()
    }

    /// A unit of `bytes` IP bytes that says `header`.
    #[inline(always)]
    pub(crate) fn unit(&mut self, sent_at: Time, bytes: u32, header: Header, held_by: HeldBy) -> Unit {
        Unit::new(bytes, self.headers.add(Stored { sent_at, header }), held_by).named_by(Handle::Header)
    }

    /// A segment with a whole header whose unit has arrived; its place may be used again.
    #[inline]
    pub(crate) fn take(&mut self, unit: Unit) -> &Segment {
        self.whole.let_go(unit);
        let segment = &mut self.whole.places[unit.handle as usize].header;
        segment.ecn = unit.ecn();
        segment
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
