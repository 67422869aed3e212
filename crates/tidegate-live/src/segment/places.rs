//! Where a sequence number stands in its stream.

/// Turns sequence numbers into places in the stream, the first user byte being 0.
#[derive(Debug, Default)]
pub(crate) struct Places {
    first: Option<u32>,
    near: i64,
}

impl Places {
    /// The stream begins after a SYN of this number; whether it is another stream than before.
    pub(crate) fn begin(&mut self, syn: u32) -> bool {
        let first = Some(syn.wrapping_add(1));
        let other = self.first.is_some() && self.first != first;
        if self.first != first {
            (self.first, self.near) = (first, 0);
        }
        other
    }

    /// Whether a SYN, or any number, has been seen.
    pub(crate) fn has_begun(&self) -> bool {
        self.first.is_some()
    }

    /// The place of a number, which is within 2³¹ of the ones seen before.
    pub(crate) fn of(&mut self, seq: u32) -> i64 {
        let first = *self.first.get_or_insert(seq);
        let here = first.wrapping_add(self.near as u32);
        let place = self.near + i64::from(seq.wrapping_sub(here) as i32);
        self.near = self.near.max(place);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_round_and_places_do_not() {
        let mut places = Places::default();
        places.begin(u32::MAX - 10);
        assert_eq!(places.of(u32::MAX - 9), 0);
        assert_eq!(places.of(90), 100);
        assert_eq!(places.of(u32::MAX - 9), 0, "an old one");
        let mut near = 0;
        for step in 1..=20_u32 {
            near = places.of(step.wrapping_mul(1 << 29));
        }
        assert!(near > i64::from(u32::MAX), "{near}");
    }
}
