//! Where the headers of travelling segments are kept: units carry only a number.

use tidegate_core::tcp::Segment;

/// A pool of segments; a place is used again as soon as it is free.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    places: Vec<Segment>,
    free: Vec<u32>,
}

impl Segments {
    /// A free place, to be filled; what it holds is old.
    #[inline]
    pub(crate) fn reserve(&mut self) -> (u32, &mut Segment) {
        let place = self.free.pop().unwrap_or_else(|| self.add());
        (place, &mut self.places[place as usize])
    }

    #[cold]
    fn add(&mut self) -> u32 {
        self.places.push(Segment::default());
        (self.places.len() - 1) as u32
    }

    /// Gives a place back unused.
    #[inline]
    pub(crate) fn release(&mut self, place: u32) {
        self.free.push(place);
    }

    #[inline]
    pub(crate) fn take(&mut self, place: u32) -> &Segment {
        self.free.push(place);
        &self.places[place as usize]
    }

    #[inline]
    pub(crate) fn get(&self, place: u32) -> &Segment {
        &self.places[place as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, place: u32) -> &mut Segment {
        &mut self.places[place as usize]
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.places.capacity() * size_of::<Segment>() + self.free.capacity() * 4) as u64
    }
}
