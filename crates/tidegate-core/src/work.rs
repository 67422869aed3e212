//! Work done in small steps, counted in tests alone.
//!
//! Fast paths exist to save such steps. A result does not show whether a fast path was taken; the
//! golden tables have the number of steps beside the results, so that a fast path that is lost is noticed.
//! What is looked at one after the other is counted apart: the tests of growth ask how it grows with the size of a run.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts a step; nothing outside tests.
#[inline(always)]
pub(crate) fn step() {
    #[cfg(test)]
    STEPS.set(STEPS.get() + 1);
}

/// Steps since this was asked last on this thread.
#[cfg(test)]
pub(crate) fn take_steps() -> u64 {
    STEPS.replace(0)
}

/// Does work whose steps are not counted.
#[cfg(test)]
pub(crate) fn uncounted<R>(work: impl FnOnce() -> R) -> R {
    let before = STEPS.get();
    let result = work();
    STEPS.set(before);
    result
}

/// Counts things that were looked at one after the other: where there are more of them, this grows. Nothing outside tests.
#[inline(always)]
pub(crate) fn looks(many: usize) {
    #[cfg(test)]
    LOOKS.set(LOOKS.get() + many as u64);
    let _ = many;
}

/// What was looked at since this was asked last on this thread.
#[cfg(test)]
pub(crate) fn take_looks() -> u64 {
    LOOKS.replace(0)
}
