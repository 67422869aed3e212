//! Random input from a fixed seed: words, numbers and raw bytes in any order.

use rand::RngExt;
use tidegate_core::random::{Seed, Stream};

/// Input number `index` for the target `name`.
#[must_use]
pub fn input(name: &str, words: &[&str], index: u64) -> Vec<u8> {
    let mut stream = Seed { seed: 1, replication: index }.stream(name);
    let mut bytes = Vec::new();
    let most = [4, 12, 60][stream.random_range(0..3)];
    for _ in 0..stream.random_range(0..most) {
        piece(&mut bytes, words, &mut stream);
    }
    bytes
}

/// Adds a word (mostly), a number, or a few raw bytes.
fn piece(bytes: &mut Vec<u8>, words: &[&str], stream: &mut Stream) {
    match stream.random_range(0..40) {
        0 => bytes.extend((0..stream.random_range(1..5)).map(|_| stream.random::<u8>())),
        1..6 => {
            let digits = stream.random_range(1..=20);
            bytes.extend(stream.random_range(0..10_u64.saturating_pow(digits)).to_string().bytes());
        }
        _ if words.is_empty() => bytes.push(stream.random()),
        _ => bytes.extend(words[stream.random_range(0..words.len())].bytes()),
    }
}
