//! What a page calls: room for a question, the answer to it, the room back. Memory is the module's own; a page writes the
//! question where [`tidegate_room`] says and reads the answer from where [`tidegate_answer`] says.
#![expect(unsafe_code, reason = "names that are exported, and memory that a page gives back")]

use std::sync::{Mutex, Once, PoisonError};

/// What the last panic said. The module cannot go on after one: load it again.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Room for `len` bytes, to be given to [`tidegate_answer`] or [`tidegate_free`].
#[unsafe(no_mangle)]
pub(crate) extern "C" fn tidegate_room(len: usize) -> *mut u8 {
    keep_panics();
    give(vec![0; len])
}

/// Takes a question of `len` bytes at `question`, which [`tidegate_room`] made. Where its answer is, in the low 32 bits, and how
/// long, in the high 32; it goes back by [`tidegate_free`].
#[unsafe(no_mangle)]
pub(crate) extern "C" fn tidegate_answer(question: *mut u8, len: usize) -> u64 {
    hand_out(crate::answer(&take(question, len)))
}

/// Gives `len` bytes at `room` back.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn tidegate_free(room: *mut u8, len: usize) {
    drop(take(room, len));
}

/// What the last panic said, as an answer that is one text.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn tidegate_panic() -> u64 {
    hand_out(PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone().into_bytes())
}

fn hand_out(bytes: Vec<u8>) -> u64 {
    let len = bytes.len() as u64;
    len << 32 | give(bytes) as usize as u64
}

fn keep_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
        }));
    });
}

fn give(bytes: Vec<u8>) -> *mut u8 {
    Box::into_raw(bytes.into_boxed_slice()).cast()
}

fn take(room: *mut u8, len: usize) -> Box<[u8]> {
    // SAFETY: a page gives back what `give` gave, with its length, once.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(room, len)) }
}
