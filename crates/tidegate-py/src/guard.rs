//! Rust without the GIL, and without panics that reach Python.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use pyo3::prelude::*;

use crate::error::InternalError;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the message of a panic inside the guard instead of printing it.
pub(crate) fn install() {
    let usual = take_hook();
    set_hook(Box::new(move |info| {
        if INSIDE.get() {
            let what = info.payload_as_str().unwrap_or("no message").to_owned();
            let place =
                info.location().map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
            PANIC.set(Some(format!("{what}{place}")));
        } else {
            usual(info);
        }
    }));
}

/// Does `work` with the GIL released; a panic becomes `InternalError`.
pub(crate) fn guarded<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| caught(work)).map_err(InternalError::new_err)
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
