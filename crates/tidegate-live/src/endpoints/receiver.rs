//! The receiving ends.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use nix::sys::epoll::EpollFlags;

use super::sockopt::{self, TcpOption};
use super::stack::Stack;
use super::watch::Watch;
use super::{Shared, sockets};
use crate::LiveError;

/// Bytes taken by one call.
const TAKE: usize = 4 << 20;
/// Readings after which the window's limit is set, every time.
const CLAMP_OFTEN: u32 = 400;
/// Later it is set once in so many.
const CLAMP_SELDOM: u32 = 64;

/// Takes connections and what comes over them, all flows on one thread.
pub(super) struct Receiver {
    shared: Arc<Shared>,
    doors: Vec<OwnedFd>,
    guests: Vec<Guest>,
    watch: Watch,
}

#[derive(Default)]
struct Guest {
    socket: Option<OwnedFd>,
    window: Option<u32>,
    delayed_ack_most_us: Option<u32>,
    readings: u32,
}

impl Receiver {
    pub(super) fn new(
        shared: Arc<Shared>,
        doors: Vec<OwnedFd>,
        stack: &Stack,
    ) -> Result<Receiver, LiveError> {
        let watch = Watch::new(&shared.wake[1])?;
        for (door, number) in doors.iter().zip(0_u64..) {
            watch.add(door, EpollFlags::EPOLLIN, number * 2)?;
        }
        let guest = |flow: &super::FlowStack| Guest {
            socket: None,
            window: flow.window.map(|window| u32::try_from(window).unwrap_or(u32::MAX)),
            delayed_ack_most_us: flow.delayed_ack_most_us,
            readings: 0,
        };
        let guests = stack.flows.iter().map(guest).collect();
        Ok(Receiver { shared, doors, guests, watch })
    }

    /// Works until the run is over, then resets every connection.
    pub(super) fn work(mut self) -> Result<(), LiveError> {
        let mut ready = Vec::new();
        while !self.shared.is_over() {
            self.watch.wait(&mut ready)?;
            for number in &ready {
                let flow = (*number / 2) as usize;
                if number.is_multiple_of(2) { self.welcome(flow)? } else { self.take(flow) }
            }
        }
        for socket in self.guests.iter().filter_map(|guest| guest.socket.as_ref()) {
            // Where it fails the socket closes in its own time: nothing depends on it.
            sockopt::close_at_once(socket.as_fd()).ok();
        }
        Ok(())
    }

    fn welcome(&mut self, flow: usize) -> Result<(), LiveError> {
        let taken = sockets::take(self.doors[flow].as_fd());
        let Some(socket) = taken.map_err(|error| LiveError::kernel("take a connection", error))? else {
            return Ok(());
        };
        let guest = &mut self.guests[flow];
        if let Some(most) = guest.delayed_ack_most_us {
            // A kernel that lacks the option keeps its own delay.
            sockopt::set(socket.as_fd(), TcpOption::DelayedAckMost, most).ok();
        }
        self.watch.add(&socket, EpollFlags::EPOLLIN, flow as u64 * 2 + 1)?;
        guest.socket = Some(socket);
        self.take(flow);
        Ok(())
    }

    fn take(&mut self, flow: usize) {
        let guest = &mut self.guests[flow];
        let Some(socket) = &guest.socket else { return };
        loop {
            match sockopt::discard(socket.as_fd(), TAKE) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    if error.kind() != io::ErrorKind::WouldBlock {
                        let text = format!("reading failed: {error}");
                        self.shared.note(flow, |facts| facts.failure = Some(text));
                    }
                    return;
                }
            }
            guest.readings = guest.readings.saturating_add(1);
            // The kernel forgets a limit that is set before data comes, and while its buffer grows.
            let often = guest.readings < CLAMP_OFTEN || guest.readings.is_multiple_of(CLAMP_SELDOM);
            if let Some(window) = guest.window.filter(|_| often) {
                // Whether it is in force is checked by what the sender hears.
                sockopt::set(socket.as_fd(), TcpOption::WindowClamp, window).ok();
            }
        }
    }
}
