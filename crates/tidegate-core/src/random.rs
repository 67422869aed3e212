//! Random streams by name: adding an element never changes another's luck.

mod lengths;
mod sizes;

pub use lengths::TruncatedGeometric;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};
pub use sizes::{LARGEST_MESSAGE, SizeTable};

/// The generator of every random stream.
pub type Stream = ChaCha8Rng;

/// Whom the streams of a run belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The run's seed.
    pub seed: u64,
    /// The replication; replication i of every variant sees the same network.
    pub replication: u64,
}

impl Seed {
    /// The stream of the element `name`, such as `gate.link/rate` or `flow.bulk/start`:
    /// ChaCha8 keyed with SHA-256 of (seed, replication, name).
    #[must_use]
    pub fn stream(self, name: &str) -> Stream {
        let mut hash = Sha256::new();
        hash.update(self.seed.to_le_bytes());
        hash.update(self.replication.to_le_bytes());
        hash.update(name.as_bytes());
        Stream::from_seed(hash.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn streams_differ_by_name_and_replication_and_repeat() {
        let seed = Seed { seed: 7, replication: 0 };
        let first = |whose: Seed, name| whose.stream(name).next_u64();
        assert_eq!(first(seed, "gate.a/rate"), first(seed, "gate.a/rate"));
        assert_ne!(first(seed, "gate.a/rate"), first(seed, "gate.b/rate"));
        assert_ne!(first(seed, "gate.a/rate"), first(Seed { replication: 1, ..seed }, "gate.a/rate"));
    }
}
