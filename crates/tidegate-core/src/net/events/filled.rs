//! Rings of buckets with a bit for each bucket that is filled.

/// The first bucket of a ring that is filled, from `begin` on: a bit for each.
#[inline]
pub(in crate::net) fn first_filled(filled: &[u64], begin: usize) -> Option<usize> {
    let mut word = begin / 64;
    let mut bits = filled[word] & (u64::MAX << (begin % 64));
    // Once round, and the first word again for the bits before `begin`.
    for _ in 0..filled.len() {
        if bits != 0 {
            break;
        }
        word = (word + 1) % filled.len();
        bits = filled[word];
    }
    (bits != 0).then(|| word * 64 + bits.trailing_zeros() as usize)
}
