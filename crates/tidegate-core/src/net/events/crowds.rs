//! Crowds: the buckets of a calendar with many sources, each kept as an ordered set. The list head of such a bucket holds the
//! crowd's number in place of the first source; these numbers are larger than that of any source.

use std::collections::BTreeSet;

use crate::net::sources::EventSource;
use crate::units::Time;

/// From so many sources on a bucket is a crowd. Fewer are compared faster than a set is kept.
pub(super) const LEAST: usize = 48;

/// No source and no crowd.
pub(super) const NONE: u32 = u32::MAX;

/// The number of the first crowd: twice as many sources as any run can have.
const NAMES: u32 = 1 << 31;

/// The crowds of a calendar, each the ordered set of the sources in one bucket.
#[derive(Debug, Default)]
pub(super) struct Crowds {
    crowds: Vec<BTreeSet<(Time, EventSource)>>,
    /// Empty crowds, to be used again.
    free: Vec<usize>,
}

impl Crowds {
    /// The crowd that a list head refers to; `None`: the head is a source, or the bucket is empty.
    #[inline(always)]
    pub(super) fn named(head: u32) -> Option<usize> {
        (NAMES..NONE).contains(&head).then(|| (head - NAMES) as usize)
    }

    /// Its name.
    pub(super) fn name(crowd: usize) -> u32 {
        NAMES + crowd as u32
    }

    /// Makes a crowd of sources.
    #[cold]
    pub(super) fn gather(&mut self, sources: impl Iterator<Item = (Time, EventSource)>) -> usize {
        let crowd = self.free.pop().unwrap_or_else(|| {
            self.crowds.push(BTreeSet::new());
            self.crowds.len() - 1
        });
        // Made at once, which is cheaper than one by one.
        self.crowds[crowd] = sources.collect();
        crowd
    }

    #[cold]
    pub(super) fn insert(&mut self, crowd: usize, source: EventSource, at: Time) {
        crate::work::looks(1);
        self.crowds[crowd].insert((at, source));
    }

    /// Takes a source out; `false` if it is not there.
    pub(super) fn remove(&mut self, crowd: usize, source: EventSource, at: Time) -> bool {
        crate::work::looks(1);
        self.crowds[crowd].remove(&(at, source))
    }

    /// The first source; a crowd always has one.
    pub(super) fn first(&self, crowd: usize) -> (Time, EventSource) {
        crate::work::looks(1);
        self.crowds[crowd].first().copied().unwrap_or((Time::NEVER, NONE))
    }

    /// Takes the first source, if it is due before `until`.
    pub(super) fn pop_before(&mut self, crowd: usize, until: Time) -> Option<(Time, EventSource)> {
        self.crowds[crowd].first().filter(|(at, _)| *at < until)?;
        crate::work::looks(1);
        self.crowds[crowd].pop_first()
    }

    /// Whether a crowd is empty: then there is none from now on.
    pub(super) fn dissolve(&mut self, crowd: usize) -> bool {
        let is_empty = self.crowds[crowd].is_empty();
        if is_empty {
            self.free.push(crowd);
        }
        is_empty
    }

    /// Every source of every crowd; there are none from now on.
    pub(super) fn take_all(&mut self) -> Vec<EventSource> {
        self.free.clear();
        std::mem::take(&mut self.crowds).into_iter().flatten().map(|(_, source)| source).collect()
    }
}
