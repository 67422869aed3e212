//! Options of TCP sockets that neither the standard library nor nix knows.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// An option at the TCP level that is a whole number (`include/uapi/linux/tcp.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum TcpOption {
    MaxSegment = 2,
    WindowClamp = 10,
    Info = 11,
    Congestion = 13,
    /// Since Linux 6.15.
    DelayedAckMost = 46,
}

/// Sets a whole number.
pub(crate) fn set(socket: BorrowedFd<'_>, option: TcpOption, value: u32) -> io::Result<()> {
    set_bytes(socket, libc::IPPROTO_TCP, option as i32, &value.to_ne_bytes())
}

/// Closing it sends a reset and waits for nothing: what it has to say then has no way to go.
pub(crate) fn close_at_once(socket: BorrowedFd<'_>) -> io::Result<()> {
    // struct linger { on = 1, seconds = 0 }
    let mut linger = [0; 8];
    linger[..4].copy_from_slice(&1_i32.to_ne_bytes());
    set_bytes(socket, libc::SOL_SOCKET, libc::SO_LINGER, &linger)
}

/// Sets the codepoint of what the socket sends, the upper six bits of the field (RFC 2474 §3). The lower two are ECN's, which
/// the kernel keeps for itself at TCP sockets.
pub(crate) fn set_dscp(socket: BorrowedFd<'_>, dscp: u8) -> io::Result<()> {
    let field = i32::from(dscp) << 2;
    set_bytes(socket, libc::IPPROTO_IP, libc::IP_TOS, &field.to_ne_bytes())
}

/// Chooses a congestion controller by the kernel's name.
pub(crate) fn set_congestion(socket: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    set_bytes(socket, libc::IPPROTO_TCP, TcpOption::Congestion as i32, name.as_bytes())
}

/// Has the socket pace at the rate that TCP computes: any largest rate but the default does so
/// (`sk_pacing_status` in `sk_setsockopt`, Linux 6.18), and this one never limits.
pub(crate) fn pace(socket: BorrowedFd<'_>) -> io::Result<()> {
    const LARGEST: u64 = 1 << 40;
    set_bytes(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &LARGEST.to_ne_bytes())
}

/// The congestion controller that is at work.
pub(crate) fn congestion(socket: BorrowedFd<'_>) -> io::Result<String> {
    let mut name = [0; 16];
    let length = get_bytes(socket, TcpOption::Congestion as i32, &mut name)?;
    let end = name[..length].iter().position(|byte| *byte == 0).unwrap_or(length);
    Ok(String::from_utf8_lossy(&name[..end]).into_owned())
}

/// Fills `place` with an option of the TCP level; how many bytes there are.
#[allow(unsafe_code, reason = "a system call with a buffer")]
pub(super) fn get_bytes(socket: BorrowedFd<'_>, option: i32, place: &mut [u8]) -> io::Result<usize> {
    let mut length = place.len() as libc::socklen_t;
    // SAFETY: the descriptor is open, and the buffer is as long as the kernel is told.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            option,
            place.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(length as usize) }
}

#[allow(unsafe_code, reason = "a system call with a buffer")]
fn set_bytes(socket: BorrowedFd<'_>, level: i32, option: i32, value: &[u8]) -> io::Result<()> {
    // SAFETY: the descriptor is open, and the buffer is as long as the kernel is told.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            value.as_ptr().cast(),
            value.len() as libc::socklen_t,
        )
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Takes what has come without copying it anywhere; 0 at the end of the stream.
#[allow(unsafe_code, reason = "a receive call without a buffer")]
pub(super) fn discard(socket: BorrowedFd<'_>, most: usize) -> io::Result<usize> {
    // SAFETY: with MSG_TRUNC, TCP drops what it would have copied and does not touch the buffer (tcp(7)).
    let taken = unsafe {
        libc::recv(socket.as_raw_fd(), std::ptr::null_mut(), most, libc::MSG_TRUNC | libc::MSG_DONTWAIT)
    };
    if taken < 0 { Err(io::Error::last_os_error()) } else { Ok(taken as usize) }
}
