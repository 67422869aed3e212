//! Ordinary TCP sockets that never block.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrIn, accept4, bind, connect, getsockopt, listen,
    setsockopt, socket, sockopt,
};

/// A TCP socket.
pub(super) fn stream() -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    Ok(socket(AddressFamily::Inet, SockType::Stream, flags, None)?)
}

/// Begins to connect; the socket is writable when it has. Port 0: any port.
pub(super) fn begin(socket: &OwnedFd, from: SocketAddrV4, to: SocketAddrV4) -> io::Result<()> {
    bind(socket.as_raw_fd(), &SockaddrIn::from(from))?;
    match connect(socket.as_raw_fd(), &SockaddrIn::from(to)) {
        Ok(()) | Err(Errno::EINPROGRESS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Waits for connections at an address.
pub(super) fn wait(socket: &OwnedFd, at: SocketAddrV4) -> io::Result<()> {
    setsockopt(socket, sockopt::ReuseAddr, &true)?;
    bind(socket.as_raw_fd(), &SockaddrIn::from(at))?;
    listen(socket, Backlog::new(16)?)?;
    Ok(())
}

/// A connection that has come, if one has.
pub(super) fn take(listener: BorrowedFd<'_>) -> io::Result<Option<OwnedFd>> {
    match accept4(listener.as_raw_fd(), SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC) {
        Ok(raw) => Ok(Some(own(raw))),
        Err(Errno::EAGAIN | Errno::ECONNABORTED) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What went wrong with a socket, if anything did.
pub(super) fn failure(socket: &impl AsFd) -> Option<io::Error> {
    match getsockopt(socket, sockopt::SocketError) {
        Ok(0) => None,
        Ok(code) => Some(io::Error::from_raw_os_error(code)),
        Err(error) => Some(error.into()),
    }
}

#[allow(unsafe_code, reason = "nix gives the number of a new descriptor")]
fn own(raw: i32) -> OwnedFd {
    use std::os::fd::FromRawFd as _;
    // SAFETY: accept4 has just made it, and nobody else knows it.
    unsafe { OwnedFd::from_raw_fd(raw) }
}
