//! Deficit round robin (Shreedhar and Varghese, "Efficient Fair Queuing Using Deficit Round-Robin", SIGCOMM 1995): classes
//! take turns, and each may send its quantum in its turn; what it could not use it keeps for the next turn.

use std::collections::VecDeque;

/// Turns and deficits.
#[derive(Clone, Debug)]
pub(super) struct Drr {
    quanta: Vec<u32>,
    /// Bytes on the wire that each class may still send.
    deficits: Vec<u64>,
    /// Classes with packets, in the order of their turns.
    active: VecDeque<usize>,
    is_active: Vec<bool>,
    /// The first of them has been given its quantum.
    begun: bool,
}

impl Drr {
    pub(super) fn new(quanta: &[u32]) -> Drr {
        Drr {
            quanta: quanta.to_vec(),
            deficits: vec![0; quanta.len()],
            active: VecDeque::new(),
            is_active: vec![false; quanta.len()],
            begun: false,
        }
    }

    /// A unit of the class has come.
    pub(super) fn arrive(&mut self, class: usize) {
        if !std::mem::replace(&mut self.is_active[class], true) {
            self.active.push_back(class);
        }
    }

    /// Whose turn it is. `head` says how many bytes on the wire the first packet of a class has.
    pub(super) fn choose(&mut self, head: impl Fn(usize) -> Option<u32>) -> Option<usize> {
        loop {
            let class = *self.active.front()?;
            let Some(bytes) = head(class) else {
                // Nothing is kept for a class that had nothing more to send.
                self.active.pop_front();
                self.is_active[class] = false;
                self.deficits[class] = 0;
                self.begun = false;
                continue;
            };
            if !std::mem::replace(&mut self.begun, true) {
                self.deficits[class] += u64::from(self.quanta[class]);
            }
            if u64::from(bytes) <= self.deficits[class] {
                return Some(class);
            }
            self.active.rotate_left(1);
            self.begun = false;
        }
    }

    /// A packet of the class is sent.
    pub(super) fn charge(&mut self, class: usize, bytes: u32) {
        // The discipline of the class may have dropped the packet that was first, and taken a longer one.
        self.deficits[class] = self.deficits[class].saturating_sub(u64::from(bytes));
    }
}
