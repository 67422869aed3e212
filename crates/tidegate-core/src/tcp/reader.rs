//! An application that does not read at once ([`super::receiver`]): its pace, how far it has read, and the window
//! advertised last.

use crate::app::Pace;
use crate::units::Time;

/// The application at a receiver, and what it has not read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    /// How fast it reads; `None`: when [`super::receiver::Receiver::read`] is called.
    pub(super) pace: Option<Pace>,
    /// When it reads next; `NEVER`: when data come or, without a pace, on call.
    pub(super) next_at: Time,
    /// Everything below has been read.
    pub(super) read: u64,
    /// Right edge of the window advertised last (`rcv_wup` + `rcv_wnd`).
    pub(super) edge: u64,
    /// The window advertised last (`rcv_wnd`).
    pub(super) said: u64,
    /// When a delayed ACK must leave.
    pub(super) ack_at: Time,
    /// A short segment, or one with PSH, has come since the last ACK (`ICSK_ACK_PUSHED`).
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

    /// The window advertised last.
    #[inline]
    pub(super) fn said(&self) -> u64 {
        self.said
    }

    /// A segment with PSH came.
    pub(super) fn note_push(&mut self) {
        self.pushed = true;
    }
}
