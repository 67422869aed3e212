//! The engine's end of a device, whichever kind it is.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tidegate_core::units::Span;

use super::packet::PacketRing;
use super::tun::Tun;
use crate::clock;

/// A write waits for room at most `ROUNDS` times `ROUND_MILLIS`.
const ROUND_MILLIS: u8 = 10;
const ROUNDS: u32 = 100;

/// The engine's end of a device.
#[derive(Debug)]
pub(crate) enum Edge {
    Tun(Tun),
    Packet(PacketRing),
}

impl Edge {
    /// Takes the next packet that the kernel has for the engine: its length, and how long ago
    /// the kernel had it where that is known.
    #[inline]
    pub(crate) fn read(&mut self, room: &mut [u8]) -> io::Result<Option<(usize, Span)>> {
        match self {
            Edge::Tun(tun) => Ok(tun.read(room)?.map(|length| (length, Span::ZERO))),
            Edge::Packet(ring) => Ok(ring.read(room).map(|(length, stamp)| (length, clock::age(stamp)))),
        }
    }

    /// Packets lost because the engine did not take them in time, asked once, at the end.
    pub(crate) fn lost(&self) -> io::Result<u64> {
        match self {
            Edge::Tun(_) => Ok(0),
            Edge::Packet(ring) => ring.lost(),
        }
    }

    /// Gives a packet to the kernel; waits while it has no room.
    #[inline]
    pub(crate) fn write(&mut self, packet: &[u8]) -> io::Result<()> {
        for _ in 0..ROUNDS {
            let written = match self {
                Edge::Tun(tun) => tun.write(packet),
                Edge::Packet(ring) => ring.write(packet),
            };
            match written {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait_for_room()?,
                done => return done,
            }
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "the kernel has taken no packet for a second"))
    }

    /// Other processors have yet to receive what was written before.
    #[cold]
    fn wait_for_room(&self) -> io::Result<()> {
        let mut room = [PollFd::new(self.as_fd(), PollFlags::POLLOUT)];
        match poll(&mut room, PollTimeout::from(ROUND_MILLIS)) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Edge {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Edge::Tun(tun) => tun.as_fd(),
            Edge::Packet(ring) => ring.as_fd(),
        }
    }
}
