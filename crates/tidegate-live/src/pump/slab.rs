//! Packets' bytes while the packets are in the network, under the number that the unit
//! carries. Room is kept in two sizes: most packets are full segments or bare headers.

/// Longer packets need a place of full size.
const SMALL: usize = 128;

#[derive(Debug)]
struct Slot {
    bytes: Box<[u8]>,
    length: usize,
    arrival: u32,
}

/// Room for the bytes of packets, in places that are used again.
#[derive(Debug)]
pub(super) struct Slab {
    slots: Vec<Slot>,
    free_full: Vec<u32>,
    free_small: Vec<u32>,
    full: usize,
}

impl Slab {
    /// Room for packets of up to `full` bytes, `ready` of each size touched beforehand.
    pub(super) fn new(full: usize, ready: usize) -> Slab {
        let full = full.max(SMALL + 1);
        let mut slab = Slab { slots: Vec::new(), free_full: Vec::new(), free_small: Vec::new(), full };
        for _ in 0..ready {
            let (large, small) = (slab.grow(full), slab.grow(SMALL));
            slab.free_full.push(large);
            slab.free_small.push(small);
        }
        slab
    }

    fn grow(&mut self, size: usize) -> u32 {
        // Written to, so that the pages are there before packets come.
        let bytes = vec![0xff; size].into_boxed_slice();
        self.slots.push(Slot { bytes, length: 0, arrival: 0 });
        self.slots.len() as u32 - 1
    }

    /// Keeps a packet.
    #[inline]
    pub(super) fn put(&mut self, packet: &[u8], arrival: u32) -> u32 {
        let (free, size) = if packet.len() <= SMALL {
            (self.free_small.pop(), SMALL)
        } else {
            (self.free_full.pop(), self.full)
        };
        let place = free.unwrap_or_else(|| self.grow(size));
        let slot = &mut self.slots[place as usize];
        slot.bytes[..packet.len()].copy_from_slice(packet);
        (slot.length, slot.arrival) = (packet.len(), arrival);
        place
    }

    /// A packet's bytes.
    #[inline]
    pub(super) fn bytes(&self, place: u32) -> &[u8] {
        let slot = &self.slots[place as usize];
        &slot.bytes[..slot.length]
    }

    /// A packet's bytes, to be changed.
    pub(super) fn bytes_mut(&mut self, place: u32) -> &mut [u8] {
        let slot = &mut self.slots[place as usize];
        &mut slot.bytes[..slot.length]
    }

    /// Gives a packet's place back and says which arrival it was.
    #[inline]
    pub(super) fn free(&mut self, place: u32) -> u32 {
        let slot = &self.slots[place as usize];
        let free = if slot.bytes.len() == SMALL { &mut self.free_small } else { &mut self.free_full };
        free.push(place);
        slot.arrival
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back_and_places_are_used_again() {
        let mut slab = Slab::new(1500, 1);
        let short = slab.put(&[1; 40], 7);
        let long = slab.put(&[2; 1500], 8);
        let more = slab.put(&[3; 129], 9);
        assert_eq!(slab.bytes(short), [1; 40]);
        assert_eq!(slab.bytes(long), [2; 1500]);
        assert_eq!(slab.bytes(more), [3; 129]);
        assert_eq!((slab.free(short), slab.free(long)), (7, 8));
        assert_eq!(slab.put(&[4; 1500], 10), long);
        assert_eq!(slab.put(&[5; 128], 11), short);
        assert_eq!(slab.bytes(more), [3; 129]);
    }
}
