//! The simulator for a page: scenario language, simulator and results behind one function from bytes to bytes.
//!
//! A question is a message: the length of a JSON text (four bytes, least significant first), the JSON text, then the bytes of the
//! files that it names. An answer has the same form: JSON, then the bytes of columns. [`answer`] takes one and gives the other;
//! what the JSON may say stands in [`Question`] and in [`mod@reply`].
//!
//! Compiled to WebAssembly (`make wasm`) the module needs nothing from the page that loads it: no clock, no files, no threads, no
//! randomness of the machine's. Results are those of the native program to the byte.

#[cfg(target_arch = "wasm32")]
mod abi;
mod message;
mod question;
pub mod reply;

pub use question::Question;

use message::Message;

/// The answer to the question in `bytes`. What is wrong with a question is an answer too: `{"error": …}`.
#[must_use]
pub fn answer(bytes: &[u8]) -> Vec<u8> {
    let asked = Message::read(bytes).and_then(|message| Question::read(&message));
    match asked.map(|(question, files)| question.answer(files)) {
        Ok(answered) => answered.write(),
        Err(wrong) => reply::wrong_question(&wrong).write(),
    }
}
