//! Connections that are over, until the kernel has said goodbye on both sides. A socket that is
//! closed before would live on by itself, and its namespace with it.

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use nix::sys::socket::{Shutdown, shutdown};
use std::os::fd::AsRawFd as _;

use super::{TcpInfo, sockopt};

/// What the kernel has counted for connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Segments sent again.
    pub(super) retransmitted: u32,
    /// Time-outs, if the kernel reports them.
    pub(super) timeouts: u16,
}

impl Counts {
    pub(super) fn of(info: &TcpInfo) -> Counts {
        Counts { retransmitted: info.total_retransmitted, timeouts: info.timeouts.unwrap_or(0) }
    }

    pub(super) fn plus(self, other: Counts) -> Counts {
        Counts {
            retransmitted: self.retransmitted.saturating_add(other.retransmitted),
            timeouts: self.timeouts.saturating_add(other.timeouts),
        }
    }
}

/// The ended connections of one end of a flow.
#[derive(Debug, Default)]
pub(super) struct Ending {
    closing: Vec<Arc<OwnedFd>>,
    closed: Counts,
}

impl Ending {
    /// Says that nothing more comes from this end, and keeps the socket until the other end has
    /// said so, too.
    pub(super) fn put(&mut self, socket: Arc<OwnedFd>) {
        say_goodbye(&socket);
        self.closing.push(socket);
        self.review();
    }

    /// What all of them counted.
    pub(super) fn review(&mut self) -> Counts {
        let mut all = Counts::default();
        let closed = &mut self.closed;
        self.closing.retain(|socket| {
            let Ok(info) = TcpInfo::read(socket.as_fd()) else { return false };
            let counts = Counts::of(&info);
            if info.closed {
                *closed = closed.plus(counts);
            } else {
                all = all.plus(counts);
            }
            !info.closed
        });
        all.plus(*closed)
    }

    /// The run is over: the rest ends with a reset.
    pub(super) fn reset(&mut self) {
        for socket in self.closing.drain(..) {
            // Where it fails the socket closes in its own time: nothing depends on it.
            sockopt::close_at_once(socket.as_fd()).ok();
        }
    }
}

/// FIN, on the last segment if that has not gone yet. A socket that has said so, or whose
/// connection is gone, has nothing to say.
pub(super) fn say_goodbye(socket: &OwnedFd) {
    let _ = shutdown(socket.as_raw_fd(), Shutdown::Write);
}
