//! Rust without the GIL, and without panics that reach Python. What may take long is done on a thread of its
//! own, so that Ctrl-C is answered whatever the work is at.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use pyo3::prelude::*;
use tidegate_sim::pool::PATIENCE;

use crate::error::{InternalError, RunError};

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the message of a panic inside the guard instead of printing it.
pub(crate) fn install() {
    let before = take_hook();
    set_hook(Box::new(move |info| {
        if INSIDE.get() {
            let what = info.payload_as_str().unwrap_or("no message").to_owned();
            let place =
                info.location().map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
            PANIC.set(Some(format!("{what}{place}")));
        } else {
            before(info);
        }
    }));
}

/// Does `work` with the GIL released; a panic becomes `InternalError`.
pub(crate) fn guarded<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| caught(work)).map_err(InternalError::new_err)
}

/// How often Ctrl-C is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// What the main thread of most systems has.
const STACK_BYTES: usize = 8 << 20;

/// Whether work is still wanted.
#[derive(Clone, Default)]
pub(crate) struct Wanted(Arc<AtomicBool>);

impl Wanted {
    pub(crate) fn get(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }

    fn no_more(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does `work` on another thread while this one looks for signals; the first exception that a signal handler
/// raises (`KeyboardInterrupt`) ends the wait. Work that looks at what it is given ends with it.
pub(crate) fn patiently<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Wanted) -> T + Send + 'static,
) -> PyResult<T> {
    patiently_asking(py, |_| Ok(true), work)
}

/// [`patiently`], where the wait ends too when `ask`, which is called again and again, says no.
pub(crate) fn patiently_asking<T: Send + 'static>(
    py: Python<'_>,
    mut ask: impl FnMut(Python<'_>) -> PyResult<bool>,
    work: impl FnOnce(&Wanted) -> T + Send + 'static,
) -> PyResult<T> {
    let wanted = Wanted::default();
    let (tell, told) = sync_channel(1);
    // Held by this thread alone; the lock lets it be lent while the GIL is released.
    let told = Mutex::new(told);
    let wait = |patience| told.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(patience);
    let theirs = wanted.clone();
    let thread = Builder::new().name("tidegate".to_owned()).stack_size(STACK_BYTES).spawn(move || {
        let done = caught(|| work(&theirs));
        // Nobody listens any more after Ctrl-C.
        let _ = tell.send(done);
    })?;
    let done = loop {
        match py.detach(|| wait(LOOK)) {
            Ok(done) => break done,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(InternalError::new_err("a thread ended without a result"));
            }
        }
        let stopped = match py.check_signals().and_then(|()| ask(py)) {
            Ok(true) => continue,
            Ok(false) => RunError::new_err("the run was interrupted"),
            Err(raised) => raised,
        };
        wanted.no_more();
        // Then its thread is left alone, and its result is ignored.
        let _ = py.detach(|| wait(PATIENCE));
        return Err(stopped);
    };
    // What needs a process of one thread, such as entering a user namespace, may come next.
    let _ = py.detach(|| thread.join());
    done.map_err(InternalError::new_err)
}

/// Does `work` on a thread without the GIL; a panic becomes the message of an `InternalError`.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let outer = INSIDE.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work)).map_err(|_| PANIC.take());
    INSIDE.set(outer);
    done.map_err(|message| {
        format!(
            "this is a bug in tidegate: {}; please report it with the scenario and the seed",
            message.as_deref().unwrap_or("a panic without a message")
        )
    })
}
