//! A 4-ary heap. The place of the entry taken last stays open: the source that was just
//! served usually comes straight back, and then one sift does for two.

use super::Entry;
use crate::units::Time;

const ARITY: usize = 4;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Heap {
    entries: Vec<Entry>,
    /// The root has been taken and not yet replaced.
    open: bool,
}

impl Heap {
    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        if self.open {
            self.open = false;
            self.sift_down(entry);
        } else {
            self.entries.push(entry);
            self.sift_up(entry);
        }
    }

    #[inline]
    pub(super) fn pop_before(&mut self, until: Time) -> Option<Entry> {
        if self.open {
            self.close();
        }
        let first = *self.entries.first()?;
        if first.at >= until {
            return None;
        }
        self.open = true;
        Some(first)
    }

    pub(super) fn next(&self) -> Time {
        if self.open {
            let children = self.entries.iter().skip(1).take(ARITY);
            return children.map(|entry| entry.at).min().unwrap_or(Time::NEVER);
        }
        self.entries.first().map_or(Time::NEVER, |entry| entry.at)
    }

    #[inline]
    fn close(&mut self) {
        self.open = false;
        let last = self.entries.pop().expect("an open heap has its root");
        if !self.entries.is_empty() {
            self.sift_down(last);
        }
    }

    fn sift_up(&mut self, entry: Entry) {
        let mut place = self.entries.len() - 1;
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.entries[parent] <= entry {
                break;
            }
            self.entries[place] = self.entries[parent];
            place = parent;
        }
        self.entries[place] = entry;
    }

    #[inline]
    fn sift_down(&mut self, entry: Entry) {
        let mut place = 0;
        loop {
            let first = place * ARITY + 1;
            let Some(children) = self.entries.get(first..) else { break };
            let Some((offset, least)) =
                children.iter().take(ARITY).enumerate().min_by_key(|(_, child)| **child)
            else {
                break;
            };
            if entry <= *least {
                break;
            }
            self.entries[place] = *least;
            place = first + offset;
        }
        self.entries[place] = entry;
    }
}
