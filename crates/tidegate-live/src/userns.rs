//! Rootless: a user namespace in which the process is root over its own network.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};

use crate::LiveError;

/// Bits of the capability sets (linux/capability.h).
const CAP_NET_ADMIN: u64 = 1 << 12;
const CAP_SYS_ADMIN: u64 = 1 << 21;

/// Whether this process may make network namespaces as it is: root, or root of a user
/// namespace.
#[must_use]
pub fn is_capable() -> bool {
    let effective = status("CapEff:").and_then(|text| u64::from_str_radix(&text, 16).ok());
    let wanted = CAP_NET_ADMIN | CAP_SYS_ADMIN;
    effective.is_some_and(|set| set & wanted == wanted)
}

/// Says so where this process may not make network namespaces.
///
/// # Errors
/// [`LiveError::NotPermitted`].
pub fn check() -> Result<(), LiveError> {
    if is_capable() {
        return Ok(());
    }
    Err(LiveError::NotPermitted { why: "this process may not make network namespaces".to_owned() })
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
    if !is_alone() {
        return Err(LiveError::NotPermitted {
            why: "a process with several threads cannot enter a user namespace".to_owned(),
        });
    }
    become_root_inside(&Maps::new()).map_err(|error| LiveError::NotPermitted {
        why: format!("the kernel refused a user namespace: {error}"),
    })?;
    ENTERED.store(true, Ordering::Relaxed);
    Ok(())
}

/// Whether [`enter`] has made this process root inside a user namespace: the machine's own network belongs to
/// another one, and cannot be entered again (user_namespaces(7)).
pub(crate) fn has_entered() -> bool {
    ENTERED.load(Ordering::Relaxed)
}

static ENTERED: AtomicBool = AtomicBool::new(false);

/// Whether this process has one thread. A thread that has ended, and was waited for, may be counted for a moment longer.
#[allow(clippy::disallowed_methods, reason = "the kernel takes its time to forget a thread")]
fn is_alone() -> bool {
    let alone = || status("Threads:").is_some_and(|threads| threads == "1");
    (0..50).any(|_| {
        alone() || {
            std::thread::sleep(Duration::from_millis(1));
            false
        }
    })
}

/// Makes `command` start as root of a user namespace of its own: the way for programs that
/// already have several threads.
#[allow(unsafe_code, reason = "a closure that runs between fork and exec")]
pub fn place(command: &mut Command) {
    let maps = Maps::new();
    // SAFETY: between fork and exec only system calls are made, on memory that is there
    // already; no lock and no memory is taken.
    unsafe {
        command.pre_exec(move || become_root_inside(&maps));
    }
}

/// A line of `/proc/self/status`.
fn status(name: &str) -> Option<String> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().to_owned())
}

/// Who is root inside: the user outside.
struct Maps {
    users: String,
    groups: String,
}

impl Maps {
    fn new() -> Maps {
        Maps { users: format!("0 {} 1", geteuid()), groups: format!("0 {} 1", getegid()) }
    }
}

/// No memory is taken here: see [`place`].
fn become_root_inside(maps: &Maps) -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWUSER)?;
    // user_namespaces(7): without this an unprivileged user may not map groups.
    write(c"/proc/self/setgroups", "deny")?;
    write(c"/proc/self/uid_map", &maps.users)?;
    write(c"/proc/self/gid_map", &maps.groups)
}

#[allow(unsafe_code, reason = "opening a file without taking memory")]
fn write(path: &CStr, text: &str) -> io::Result<()> {
    // SAFETY: the path ends with a zero.
    let file = unsafe { libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it has just been opened and belongs to nobody else.
    let file = unsafe { OwnedFd::from_raw_fd(file) };
    // SAFETY: the text lives until the call returns.
    let written = unsafe { libc::write(file.as_raw_fd(), text.as_ptr().cast(), text.len()) };
    if written < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
