//! Real-time priority of threads.

/// The engine's: above ordinary real-time work, below the kernel's own threads.
pub const ENGINE: i32 = 50;

/// Gives the calling thread real-time priority (`SCHED_FIFO`), 1 to 99; threads that it
/// starts inherit it.
///
/// # Errors
/// The kernel's refusal: it takes root outside of user namespaces.
#[allow(unsafe_code, reason = "there is no safe wrapper")]
pub fn set_realtime(priority: i32) -> std::io::Result<()> {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the structure lives until the call returns; 0 is the calling thread.
    let done = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
    if done < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}
