//! Where the headers of travelling segments are kept: units carry only a number.

use tidegate_core::tcp::Segment;

/// A pool of segments; a place is used again as soon as it is free.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    places: Vec<Segment>,
    free: Vec<u32>,
}

impl Segments {
    #[inline]
    pub(crate) fn put(&mut self, segment: Segment) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = segment;
            return place;
        }
        self.places.push(segment);
        (self.places.len() - 1) as u32
    }

    #[inline]
    pub(crate) fn take(&mut self, place: u32) -> &Segment {
        self.free.push(place);
        &self.places[place as usize]
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.places.capacity() * size_of::<Segment>() + self.free.capacity() * 4) as u64
    }
}
