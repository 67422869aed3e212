//! GCRA as a continuous-state leaky bucket (I.371, Annex A): the second of its two algorithms, which judges every cell as the virtual
//! scheduling algorithm does.

use super::{Interval, Limit};

/// A bucket that drains one unit of content per unit of time and takes T for each cell; a
/// cell that finds more than τ in it does not conform (I.371 Annex A, Figure A.1, right).
///
/// After a conforming cell, content + last time = TAT of [`super::Gcra`].
#[derive(Clone, Debug)]
pub struct LeakyBucket {
    limit: Limit,
    /// X at `last`.
    content: Interval,
    /// LCT, the time of the last conforming cell.
    last: u64,
}

impl LeakyBucket {
    /// Empty: the first cell conforms.
    #[must_use]
    pub fn new(limit: Limit) -> LeakyBucket {
        LeakyBucket { limit, content: limit.increment().in_parts(0), last: 0 }
    }

    /// X after the last conforming cell, rounded down.
    #[must_use]
    pub fn content(&self) -> u64 {
        self.content.whole()
    }

    /// When the last conforming cell came; 0 before the first.
    #[cfg(test)]
    pub(super) fn last_conforming(&self) -> u64 {
        self.last
    }

    /// Whether a cell at `at` conforms; if it does, it is poured in. Times do not decrease.
    #[inline]
    pub fn police(&mut self, at: u64) -> bool {
        let left = self.content_at(at);
        if left.whole_minus(&self.limit.tolerance) > 0 {
            return false;
        }
        self.content = left;
        self.content.add(&self.limit.increment);
        self.last = at;
        true
    }

    /// X′ = (X − (at − LCT))⁺.
    #[inline]
    fn content_at(&self, at: u64) -> Interval {
        let elapsed = at.saturating_sub(self.last);
        let mut left = self.content;
        left.lower(elapsed);
        left
    }
}
