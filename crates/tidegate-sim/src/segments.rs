//! Where the headers of segments in the network are stored: a unit carries only a number. For a usual segment
//! ([`tidegate_core::tcp::Outgoing::is_usual`]) that number is the sequence or ACK number itself, no header is
//! stored, and the unit is compact.

use tidegate_core::tcp::Segment;
use tidegate_core::unit::Unit;

/// A pool of segments; a place is used again as soon as it is free.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    places: Vec<Segment>,
    free: Vec<u32>,
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
        if !unit.is_compact() {
            self.free.push(unit.handle);
        }
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.places.capacity() * size_of::<Segment>() + self.free.capacity() * 4) as u64
    }
}
