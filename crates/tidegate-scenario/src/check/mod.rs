//! The tree against the table of keys: typed values with defaults, or problems.
//!
//! What needs more than one key (paths, windows, round trips) is checked in
//! [`crate::lower`].

mod scalar;
mod value;
mod walk;
mod words;

pub(crate) use value::{Computed, Form, Item, Named, Value};
pub(crate) use walk::{Checker, default_item};
