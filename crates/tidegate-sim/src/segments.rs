//! Where the headers of segments in the network are stored: a unit carries only a number. For a usual segment
//! ([`tidegate_core::tcp::Outgoing::is_usual`]) that number is the sequence or ACK number itself, no header is
//! stored, and the unit is compact. Where segments have timestamps, what is stored of nearly all of them is a short header
//! ([`tidegate_core::tcp::Outgoing::is_short`]).

use tidegate_core::tcp::{Segment, ShortHeader};
use tidegate_core::unit::{HeldBy, Unit};

/// A pool of segments; a place is used again as soon as it is free.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    places: Vec<Segment>,
    free: Vec<u32>,
    pub(crate) short: ShortHeaders,
}

/// A pool of short headers.
#[derive(Debug, Default)]
pub(crate) struct ShortHeaders {
    places: Vec<ShortHeader>,
    free: Vec<u32>,
}

/// How the units of a lap say what they stand for.
pub(crate) trait Headers {
    type Header: Copy;
    /// What a unit says; `None`: in another way.
    fn read(&self, unit: Unit) -> Option<Self::Header>;
    /// It has arrived.
    fn arrived(&mut self, unit: Unit);
    /// A unit that says so.
    fn unit(&mut self, bytes: u32, header: Self::Header, held_by: HeldBy) -> Unit;
}

/// By its handle alone.
pub(crate) struct Numbers;

impl Headers for Numbers {
    type Header = u32;

    #[inline(always)]
    fn read(&self, unit: Unit) -> Option<u32> {
        unit.is_compact().then_some(unit.handle)
    }

    #[inline(always)]
    fn arrived(&mut self, _unit: Unit) {}

    #[inline(always)]
    fn unit(&mut self, bytes: u32, number: u32, held_by: HeldBy) -> Unit {
        Unit::new_compact(bytes, number, held_by)
    }
}

impl Headers for ShortHeaders {
    type Header = ShortHeader;

    #[inline(always)]
    fn read(&self, unit: Unit) -> Option<ShortHeader> {
        unit.is_short().then(|| self.places[unit.handle as usize])
    }

    #[inline(always)]
    fn arrived(&mut self, unit: Unit) {
        self.free.push(unit.handle);
    }

    #[inline(always)]
    fn unit(&mut self, bytes: u32, header: ShortHeader, held_by: HeldBy) -> Unit {
        Unit::new_short(bytes, self.add(header), held_by)
    }
}

impl ShortHeaders {
    /// Stores one more, and says where.
    #[inline(always)]
    pub(crate) fn add(&mut self, header: ShortHeader) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| self.grow());
        self.places[place as usize] = header;
        place
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        self.places.push(ShortHeader::default());
        (self.places.len() - 1) as u32
    }

    /// That of a unit that is short and has arrived; its place may be used again.
    #[inline(always)]
    pub(crate) fn take(&mut self, unit: Unit) -> ShortHeader {
        self.free.push(unit.handle);
        self.places[unit.handle as usize]
    }
}

impl Segments {
    /// A place for one more, to be filled; what it holds is old.
    #[inline]
    pub(crate) fn add(&mut self) -> (u32, &mut Segment) {
        let place = self.free.pop().unwrap_or_else(|| self.grow());
        (place, &mut self.places[place as usize])
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        self.places.push(Segment::default());
        (self.places.len() - 1) as u32
    }

    /// A segment whose unit has arrived; its place may be used again.
    #[inline]
    pub(crate) fn take(&mut self, unit: Unit) -> &Segment {
        self.free.push(unit.handle);
        let segment = &mut self.places[unit.handle as usize];
        segment.ecn = unit.ecn();
        segment
    }

    /// The segment of a unit that is not compact.
    pub(crate) fn look_at(&self, unit: Unit) -> &Segment {
        &self.places[unit.handle as usize]
    }

    /// A unit will not arrive.
    pub(crate) fn forget(&mut self, unit: Unit) {
        if unit.is_short() {
            self.short.free.push(unit.handle);
        } else if !unit.is_compact() {
            self.free.push(unit.handle);
        }
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        let ShortHeaders { places, free } = &self.short;
        let free = self.free.capacity() + free.capacity();
        let places =
            self.places.capacity() * size_of::<Segment>() + places.capacity() * size_of::<ShortHeader>();
        (places + free * size_of::<u32>()) as u64
    }
}
