//! How much of the time the thread is awake. A real-time thread that is always awake is
//! stopped by the kernel for 50 ms of every second, so the spin tail is given up before.

use tidegate_core::units::{Span, Time};

/// Time is looked at in windows of this length.
const WINDOW: Span = Span::from_millis(50);
/// Awake for more of a window than this share, in percent, it spins no more in it.
const MOST_AWAKE: u64 = 80;
/// Rounds of the loop without a system call that would hear a wish to stop.
const ROUNDS: u32 = 256;

/// See the module.
#[derive(Debug)]
pub(super) struct Pace {
    window_end: Time,
    awake: Span,
    awake_since: Time,
    rounds: u32,
}

impl Pace {
    pub(super) fn new() -> Pace {
        Pace {
            window_end: Time::ZERO.saturating_add(WINDOW),
            awake: Span::ZERO,
            awake_since: Time::ZERO,
            rounds: 0,
        }
    }

    /// Whether the thread has slept enough lately to spin now.
    #[inline]
    pub(super) fn may_spin(&mut self, now: Time) -> bool {
        if now >= self.window_end {
            self.window_end = now.saturating_add(WINDOW);
            self.awake = Span::ZERO;
            self.awake_since = now;
        }
        let awake = self.awake.picos() + now.saturating_since(self.awake_since).picos();
        awake < WINDOW.picos() / 100 * MOST_AWAKE
    }

    #[inline]
    pub(super) fn sleeps(&mut self, now: Time) {
        self.awake += now.saturating_since(self.awake_since);
    }

    #[inline]
    pub(super) fn wakes(&mut self, now: Time) {
        self.awake_since = now;
    }

    /// True now and then.
    #[inline]
    pub(super) fn is_time_to_look(&mut self) -> bool {
        self.rounds = (self.rounds + 1) % ROUNDS;
        self.rounds == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO.saturating_add(Span::from_micros(micros))
    }

    #[test]
    fn four_fifths_of_a_window_are_the_most() {
        let mut pace = Pace::new();
        assert!(pace.may_spin(at(39_999)));
        assert!(!pace.may_spin(at(40_000)));
        // The next window begins.
        assert!(pace.may_spin(at(50_000)));
        pace.sleeps(at(70_000));
        pace.wakes(at(90_000));
        assert!(pace.may_spin(at(99_999)), "20 of 50 ms were slept");
    }
}
