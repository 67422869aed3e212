//! Which processor does what where packets are many: the engine's thread keeps one to itself,
//! and the kernel's TCP receives on the others what the engine writes. Left alone, the kernel
//! receives within the engine's write, on the engine's processor: best for timing, and half the
//! throughput.

use std::io;

use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;

/// The calling thread.
const SELF: Pid = Pid::from_raw(0);
const BITS_PER_WORD: usize = 32;

/// The processors of the engine and of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    /// The processor of the engine's thread.
    pub(crate) engine: usize,
    /// The others, as the kernel writes sets of processors.
    pub(crate) others: String,
}

impl Division {
    /// The processors that this process may use, divided; none where there is only one.
    pub(crate) fn of_this_process() -> io::Result<Option<Division>> {
        let set = sched_getaffinity(SELF)?;
        let usable: Vec<usize> =
            (0..CpuSet::count()).filter(|number| set.is_set(*number) == Ok(true)).collect();
        // Where the scheduler has put this thread there was room.
        Ok(divide(&usable, sched_getcpu()?))
    }

    /// The calling thread stays on the engine's processor.
    pub(crate) fn keep_to_the_engines(&self) -> io::Result<()> {
        let mut set = CpuSet::new();
        set.set(self.engine)?;
        Ok(sched_setaffinity(SELF, &set)?)
    }
}

fn divide(usable: &[usize], here: usize) -> Option<Division> {
    let others: Vec<usize> = usable.iter().copied().filter(|number| *number != here).collect();
    (!others.is_empty()).then(|| Division { engine: here, others: mask(&others) })
}

/// A set of processors: words of 32 bits in hexadecimal, the highest first, with commas between.
fn mask(processors: &[usize]) -> String {
    let highest = processors.iter().copied().max().unwrap_or(0);
    let mut words = vec![0_u32; highest / BITS_PER_WORD + 1];
    for number in processors {
        words[number / BITS_PER_WORD] |= 1 << (number % BITS_PER_WORD);
    }
    let words: Vec<String> = words.iter().rev().map(|word| format!("{word:08x}")).collect();
    words.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_processor_is_the_engines_and_the_others_are_a_mask() {
        let divided = divide(&[0, 1, 2, 33], 1).unwrap();
        assert_eq!((divided.engine, divided.others.as_str()), (1, "00000002,00000005"));
        assert_eq!(divide(&[0, 1], 0).unwrap().others, "00000002");
    }

    #[test]
    fn one_processor_is_not_divided() {
        assert_eq!(divide(&[3], 3), None);
    }

    #[test]
    fn the_engines_thread_stays_where_it_is_put() {
        let Some(divided) = Division::of_this_process().unwrap() else { return };
        divided.keep_to_the_engines().unwrap();
        let set = sched_getaffinity(SELF).unwrap();
        let kept: Vec<usize> =
            (0..CpuSet::count()).filter(|number| set.is_set(*number) == Ok(true)).collect();
        assert_eq!(kept, [divided.engine]);
    }
}
