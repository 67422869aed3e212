//! Random input from a fixed seed: words, numbers and raw bytes in any order, or a right
//! input with a few places spoiled.

use rand::RngExt;
use tidegate_core::random::{Seed, Stream};

use crate::Target;

/// Input number `index` for a target.
#[must_use]
pub fn input(target: &Target, index: u64) -> Vec<u8> {
    let mut stream = Seed { seed: 1, replication: index }.stream(target.name);
    if !target.seeds.is_empty() && stream.random() {
        let right = target.seeds[stream.random_range(0..target.seeds.len())];
        return spoil(right.to_vec(), target, &mut stream);
    }
    let most = [4, 12, 60, 200][stream.random_range(0..4)];
    let mut bytes = Vec::new();
    for _ in 0..stream.random_range(0..most) {
        piece(&mut bytes, target.words, &mut stream);
    }
    bytes
}

/// Replaces up to four short stretches.
fn spoil(mut bytes: Vec<u8>, target: &Target, stream: &mut Stream) -> Vec<u8> {
    for _ in 0..stream.random_range(0..=4) {
        let from = stream.random_range(0..=bytes.len());
        let to = (from + stream.random_range(0..8)).min(bytes.len());
        let mut new = Vec::new();
        piece(&mut new, target.words, stream);
        bytes.splice(from..to, new);
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
