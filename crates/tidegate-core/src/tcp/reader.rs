//! An application that does not read at once ([`super::receiver`]): how it reads, how far it has, and what was said of the window.

use crate::app::Pace;
use crate::units::Time;

/// The application at a receiver, and what it has not read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    /// How fast it reads; `None`: when it is told to.
    pub(super) pace: Option<Pace>,
    /// When it reads next; `NEVER`: when data come, or when it is told to.
    pub(super) next_at: Time,
    /// Everything below has been read.
    pub(super) read: u64,
    /// Behind the window that was said last (`rcv_wup` + `rcv_wnd`).
    pub(super) edge: u64,
    /// The window that was said last (`rcv_wnd`).
    pub(super) said: u64,
    /// When a delayed ACK must leave.
    pub(super) ack_at: Time,
    /// The last segment that came ended something: a short one, or one with PSH.
    pub(super) pushed: bool,
}

impl Reader {
    pub(super) fn new(pace: Option<Pace>, window: u64) -> Reader {
        Reader {
            pace,
            next_at: Time::NEVER,
            read: 0,
            edge: window,
            said: window,
            ack_at: Time::NEVER,
            pushed: false,
        }
    }

    /// The window that was said last.
    #[inline]
    pub(super) fn said(&self) -> u64 {
        self.said
    }

    /// A segment with PSH came.
    pub(super) fn note_push(&mut self) {
        self.pushed = true;
    }
}
