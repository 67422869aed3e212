//! Real-time priority, resident memory, a processor and processors that stay awake for the
//! calling thread, as far as the system allows.

use std::time::Duration;

use nix::sys::mman::{MlockAllFlags, mlockall, munlockall};
use nix::time::{ClockId, clock_gettime};

use super::awake::Awake;
use crate::priority::{ENGINE, set_realtime};
use crate::processors::Division;

/// What is asked for.
#[derive(Debug)]
pub(super) struct Wishes {
    pub(super) realtime: bool,
    /// Idle processors that do not halt.
    pub(super) awake: bool,
    /// A processor to itself.
    pub(super) division: Option<Division>,
}

/// What was granted, in words.
#[derive(Debug, Default)]
pub(super) struct Granted {
    pub(super) notes: Vec<String>,
    pub(super) warnings: Vec<String>,
    pub(super) realtime: bool,
    locked: bool,
    awake: Option<Awake>,
}

/// Asks for all of it.
pub(super) fn ask(wishes: &Wishes) -> Granted {
    let mut granted = Granted::default();
    if wishes.realtime {
        match set_realtime(ENGINE) {
            Ok(()) => {
                granted.realtime = true;
                granted
                    .notes
                    .push(format!("the engine's thread has real-time priority (SCHED_FIFO {ENGINE})"));
            }
            Err(error) => granted.warnings.push(format!(
                "the engine's thread has no real-time priority ({error}): other programs delay it"
            )),
        }
    }
    if wishes.awake {
        match Awake::ask() {
            Ok(awake) => {
                granted.awake = Some(awake);
                granted.notes.push("idle processors wait awake (PM QoS)".to_owned());
            }
            Err(error) => granted
                .notes
                .push(format!("idle processors may halt: /dev/cpu_dma_latency cannot be used ({error})")),
        }
    } else {
        granted.notes.push("idle processors may halt".to_owned());
    }
    if let Some(division) = &wishes.division
        && let Err(error) = division.keep_to_the_engines()
    {
        granted.notes.push(format!("the engine's thread has no processor to itself ({error})"));
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

/// CPU time of the calling thread.
pub(super) fn cpu_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
