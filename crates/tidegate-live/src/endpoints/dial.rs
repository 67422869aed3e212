//! Sockets with the settings of a flow: those that connect, and those that wait for a connection.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use super::sockets;
use super::sockopt::{self, TcpOption};
use super::stack::FlowStack;
use crate::LiveError;

/// Begins to connect in the namespace of this thread, having set the system controls that a
/// connection takes over; `set` are those that are set already.
pub(super) fn dial(
    from: std::net::SocketAddrV4,
    to: std::net::SocketAddrV4,
    stack: &FlowStack,
    set: &mut Vec<(&'static str, String)>,
) -> Result<OwnedFd, LiveError> {
    let controls = stack.controls();
    if controls != *set {
        set_controls(&controls)?;
        *set = controls;
    }
    let failed = |error: io::Error| LiveError::kernel("connect a flow", error);
    let socket = sockets::stream().map_err(failed)?;
    configure(&socket, stack).map_err(failed)?;
    sockets::begin(&socket, from, to).map_err(failed)?;
    Ok(socket)
}

/// Opens a listening socket for a flow's connection, which takes over the settings.
pub(super) fn wait_at(at: std::net::SocketAddrV4, stack: &FlowStack) -> io::Result<OwnedFd> {
    let socket = sockets::stream()?;
    configure(&socket, stack)?;
    sockets::wait(&socket, at)?;
    Ok(socket)
}

fn configure(socket: &OwnedFd, stack: &FlowStack) -> io::Result<()> {
    sockopt::set_congestion(socket.as_fd(), stack.congestion)?;
    if stack.paces {
        sockopt::pace(socket.as_fd())?;
    }
    if stack.dscp != 0 {
        sockopt::set_dscp(socket.as_fd(), stack.dscp)?;
    }
    sockopt::set(socket.as_fd(), TcpOption::MaxSegment, stack.max_segment)
}

/// Sets system controls of the namespace of this thread.
pub(super) fn set_controls(controls: &[(&'static str, String)]) -> Result<(), LiveError> {
    controls.iter().try_for_each(|(name, value)| set_control(name, value))
}

/// Sets a system control of the namespace of this thread; one that this kernel lacks or refuses
/// is found out when the connection is checked.
fn set_control(name: &str, value: &str) -> Result<(), LiveError> {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    match std::fs::write(&path, value) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(|error| LiveError::kernel(format!("set {name} to \"{value}\""), error)),
    }
}
