//! Real-time priority and resident memory for the calling thread, as far as the system
//! allows.

use std::time::Duration;

use nix::sys::mman::{MlockAllFlags, mlockall, munlockall};
use nix::time::{ClockId, clock_gettime};

/// Above ordinary real-time work, below the kernel's own threads.
const PRIORITY: libc::c_int = 50;

/// What was granted, in words.
#[derive(Debug, Default)]
pub(super) struct Granted {
    pub(super) notes: Vec<String>,
    pub(super) warnings: Vec<String>,
    pub(super) realtime: bool,
    locked: bool,
}

/// Asks for all of it.
pub(super) fn ask(realtime: bool) -> Granted {
    let mut granted = Granted::default();
    if realtime {
        match set_policy(libc::SCHED_FIFO, PRIORITY) {
            Ok(()) => {
                granted.realtime = true;
                granted
                    .notes
                    .push(format!("the engine's thread has real-time priority (SCHED_FIFO {PRIORITY})"));
            }
            Err(error) => granted.warnings.push(format!(
                "the engine's thread has no real-time priority ({error}): other programs delay it"
            )),
        }
    }
    // What is touched later is locked then; the crate has no name for it.
    let on_fault = MlockAllFlags::from_bits_retain(libc::MCL_ONFAULT);
    match mlockall(MlockAllFlags::MCL_CURRENT | on_fault) {
        Ok(()) => {
            granted.locked = true;
            granted.notes.push("memory is locked".to_owned());
        }
        Err(error) => granted.notes.push(format!("memory is not locked ({error})")),
    }
    granted
}

impl Drop for Granted {
    fn drop(&mut self) {
        if self.locked {
            // Only the lock of what was there at the start is given back; nothing to do on failure.
            let _ = munlockall();
        }
    }
}

#[allow(unsafe_code, reason = "there is no safe wrapper")]
pub(super) fn set_policy(policy: libc::c_int, priority: libc::c_int) -> std::io::Result<()> {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the structure lives until the call returns; 0 is the calling thread.
    let done = unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) };
    if done < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

/// CPU time of the calling thread.
pub(super) fn cpu_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
