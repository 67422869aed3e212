//! The first mistake of a user's code in a run, as one message with its line.

use std::cell::RefCell;

use pyo3::prelude::*;

use crate::error::ControllerError;

thread_local! {
    /// What a user's code raised first in the run that this thread does.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Whether a user's code has failed in this thread's run.
pub(crate) fn failed() -> bool {
    RAISED.with_borrow(Option::is_some)
}

/// What it raised, once.
pub(crate) fn take_failure() -> Option<PyErr> {
    RAISED.take()
}

/// Keeps the first mistake of a run as one message with the line of the user's code.
pub(super) fn note(py: Python<'_>, name: &str, raised: PyErr) {
    let message = match place(py, &raised) {
        Some(place) => format!("{place}: {}", described(py, &raised)),
        None => format!("{name}: {}", described(py, &raised)),
    };
    let error = if raised.is_instance_of::<ControllerError>(py) {
        raised
    } else {
        let told = ControllerError::new_err(message);
        told.set_cause(py, Some(raised));
        told
    };
    RAISED.with_borrow_mut(|kept| kept.get_or_insert(error).value(py).is_none());
}

/// "ZeroDivisionError: division by zero".
fn described(py: Python<'_>, raised: &PyErr) -> String {
    let kind = raised.get_type(py).name().map_or_else(|_| "error".to_owned(), |name| name.to_string());
    format!("{kind}: {}", raised.value(py))
}

/// "mine.py:12, in on_ack": the last line of the traceback.
fn place(py: Python<'_>, raised: &PyErr) -> Option<String> {
    let mut frame = raised.traceback(py)?.into_any();
    while let Ok(next) = frame.getattr("tb_next")
        && !next.is_none()
    {
        frame = next;
    }
    let line: u64 = frame.getattr("tb_lineno").ok()?.extract().ok()?;
    let code = frame.getattr("tb_frame").ok()?.getattr("f_code").ok()?;
    let file: String = code.getattr("co_filename").ok()?.extract().ok()?;
    let function: String = code.getattr("co_name").ok()?.extract().ok()?;
    Some(format!("{file}:{line}, in {function}"))
}
