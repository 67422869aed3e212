//! What the network does when a call without packets is made, granted, refused or over.

use super::state::Task;
use super::{Circuits, LateEvent};
use crate::net::control::admission::Answer;
use crate::plan::Blocked;
use crate::units::Time;

impl Circuits {
    /// A call without packets is made, for the first time or again.
    pub(super) fn make_call(&mut self, at: Time, by: u32, call: u64) {
        match self.admission.ask(at, self.class_of(by), call) {
            Answer::Granted => self.hold_call(at, by, call),
            Answer::Waits => {
                let leaves = self.callers[by as usize].wait(at, call);
                self.tasks.extend(leaves.map(|leaves| (leaves, Task::Leave { by, call })));
            }
            Answer::Refused => match self.callers[by as usize].blocked() {
                Blocked::Retry(after) => {
                    self.tasks.insert((at.saturating_add(after), Task::Again { by, call }));
                }
                Blocked::Wait | Blocked::Refuse => self.end_call(at, by, call),
            },
        }
    }

    /// A call without packets has been granted.
    pub(super) fn hold_call(&mut self, at: Time, by: u32, call: u64) {
        let (span, leaves) = self.callers[by as usize].grant(call);
        if let Some(leaves) = leaves {
            self.tasks.remove(&(leaves, Task::Leave { by, call }));
        }
        self.tasks.insert((at.saturating_add(span), Task::End { by, call }));
    }

    /// A call without packets is over, or lost: its user is idle, and calls again.
    pub(super) fn end_call(&mut self, at: Time, by: u32, call: u64) {
        let next = self.callers[by as usize].end(at, call);
        self.late_events.extend(next.map(|(calls_at, user)| (calls_at, LateEvent::Call { by, user })));
    }
}
