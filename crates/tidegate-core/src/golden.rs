//! Golden tables of drawn cases: a number that moves is noticed, whether or not a rule was written for it.
//!
//! Each table has a line for a case: a few numbers to read, a digest of all the others and, for networks and connections,
//! the steps of work that they took ([`crate::work`]: a fast path that is lost moves no result). The cases come from the
//! strategies of the property tests, drawn with a fixed key. `UPDATE_GOLDEN=1 cargo test -p tidegate-core golden`
//! writes the tables again; a commit that does so says why the numbers moved.

use std::fmt::{Debug, Write as _};
use std::path::Path;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Draws `cases` values; always the same, whatever the environment says of random tests.
pub(crate) fn drawn<S: Strategy>(strategy: S, cases: usize) -> Vec<S::Value> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[19; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    (0..cases).map(|_| strategy.new_tree(&mut runner).expect("nothing is rejected").current()).collect()
}

/// A digest (FNV-1a, 64 bits) of the numbers in what `Debug` prints. Names may change, numbers may not.
pub(crate) struct Digest(u64);

impl Digest {
    pub(crate) fn new() -> Digest {
        Digest(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn add(&mut self, value: &impl Debug) {
        let text = format!("{value:?}");
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !"._-+".contains(c));
        let numbers = words.filter(|word| {
            let digits = word.trim_start_matches(['-', '+']);
            digits.starts_with(|c: char| c.is_ascii_digit()) || ["true", "false", "None"].contains(word)
        });
        for byte in numbers.flat_map(|word| word.bytes().chain([b' '])) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

/// Compares the lines of a table with those recorded in `golden/NAME.txt`.
///
/// # Panics
///
/// Names the first line that differs.
pub(crate) fn compare(name: &str, lines: &[String]) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(format!("{name}.txt"));
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        let _ = writeln!(text, "{number:3}  {line}");
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, text).expect("the table can be written");
        return;
    }
    let recorded = std::fs::read_to_string(&file).expect("golden/ has the table");
    for (was, is) in recorded.lines().zip(text.lines()) {
        assert_eq!(was, is, "{}: recorded, and now", file.display());
    }
    assert_eq!(recorded.lines().count(), lines.len(), "{}: cases", file.display());
}
