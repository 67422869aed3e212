//! Work done in small steps, counted in tests alone.
//!
//! Short ways exist to save such steps. A result does not show whether a short way was taken; the
//! golden tables have the number of steps beside the results, so that a short way that is lost is noticed.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
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
