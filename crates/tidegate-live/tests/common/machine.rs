//! Whether this machine kept time while a test ran. A shared machine stands still now and then,
//! and a live test cannot tell that from a fault of the engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A thread that asks to sleep this long, again and again.
const NAP: Duration = Duration::from_millis(1);
/// A machine that woke such a thread this much too late may have spoilt a test: it is longer than
/// any wait of a packet that a live test asserts on.
const TOO_LATE: Duration = Duration::from_millis(20);
/// What a test's process writes to standard error for the process that started it.
const SAID: &str = "the machine was late:";

/// Measures the machine until it is dropped.
pub(super) struct Watch {
    stop: Arc<AtomicBool>,
    worst_us: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts a thread that does nothing but sleep, with no priority.
    pub(super) fn start() -> Watch {
        let stop = Arc::new(AtomicBool::new(false));
        let worst_us = Arc::new(AtomicU64::new(0));
        let thread = {
            let (stop, worst_us) = (Arc::clone(&stop), Arc::clone(&worst_us));
            std::thread::spawn(move || {
                let mut before = Instant::now();
                while !stop.load(Ordering::Relaxed) {
                    std::thread::sleep(NAP);
                    let now = Instant::now();
                    let late = (now - before).saturating_sub(NAP);
                    before = now;
                    worst_us
                        .fetch_max(u64::try_from(late.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
                }
            })
        };
        Watch { stop, worst_us, thread: Some(thread) }
    }

    /// What was measured, if it excuses a failure: a sentence that [`excuses`] recognises.
    pub(super) fn excuse(&self) -> Option<String> {
        let worst = Duration::from_micros(self.worst_us.load(Ordering::Relaxed));
        (worst >= TOO_LATE).then(|| format!("{SAID} a sleep of 1 ms took {} ms", (worst + NAP).as_millis()))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It panics never.
            let _ = thread.join();
        }
    }
}

/// Whether a test's process said that its machine was late.
pub(super) fn excuses(told: &str) -> bool {
    told.contains(SAID)
}
