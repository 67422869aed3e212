//! How much of the time the thread is awake. A real-time thread that is always awake is
//! stopped by the kernel for 50 ms of every second, so the spin tail is given up before. And
//! how long the tail has to be on this machine.

use tidegate_core::units::{Span, Time};

/// Time is looked at in windows of this length.
const WINDOW: Span = Span::from_millis(50);
/// Awake for more of a window than this share, in percent, it spins no more in it.
const MOST_AWAKE: u64 = 90;
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

/// How far the estimate moves when a wake-up is later than it.
const STEP: Span = Span::from_micros(5);
/// One wake-up in so many may be later than the tail is long.
const LATER_ONE_IN: u64 = 200;
/// From a wake-up to readiness.
const MARGIN: Span = Span::from_micros(10);

/// The length of the spin tail: as late as the machine's timers wake the thread, nearly
/// always, within the limits given.
#[derive(Debug)]
pub(super) struct Tail {
    least: Span,
    most: Span,
    /// Picoseconds that wake-ups are rarely later than.
    late: u64,
}

impl Tail {
    pub(super) fn new(least: Span, most: Span) -> Tail {
        Tail { least, most: most.max(least), late: 0 }
    }

    #[inline]
    pub(super) fn now(&self) -> Span {
        if self.least == Span::ZERO {
            return Span::ZERO;
        }
        (Span::from_picos(self.late) + MARGIN).max(self.least).min(self.most)
    }

    /// A timer has woken the thread so late. Steps up and down balance where one wake-up in
    /// [`LATER_ONE_IN`] is later.
    #[inline]
    pub(super) fn note(&mut self, late: Span) {
        if late.picos() > self.late {
            self.late = (self.late + STEP.picos()).min(self.most.picos());
        } else {
            self.late = self.late.saturating_sub(STEP.picos() / LATER_ONE_IN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO.saturating_add(Span::from_micros(micros))
    }

    #[test]
    fn nine_tenths_of_a_window_are_the_most() {
        let mut pace = Pace::new();
        assert!(pace.may_spin(at(44_999)));
        assert!(!pace.may_spin(at(45_000)));
        // The next window begins.
        assert!(pace.may_spin(at(50_000)));
        pace.sleeps(at(70_000));
        pace.wakes(at(90_000));
        assert!(pace.may_spin(at(99_999)), "20 of 50 ms were slept");
    }

    #[test]
    fn the_tail_follows_the_machine_within_its_limits() {
        let mut tail = Tail::new(Span::from_micros(50), Span::from_micros(200));
        assert_eq!(tail.now(), Span::from_micros(50));
        let wake_up = |on: &mut Tail, count: u64, micros: u64| {
            (0..count).for_each(|_| on.note(Span::from_micros(micros)));
        };
        // One wake-up in fifty is 100 us late, the others 30.
        (0..500).for_each(|_| {
            wake_up(&mut tail, 49, 30);
            wake_up(&mut tail, 1, 100);
        });
        let found = tail.now().picos() / 1_000_000;
        assert!((105..=120).contains(&found), "{found} us");
        wake_up(&mut tail, 1000, 900);
        assert_eq!(tail.now(), Span::from_micros(200));
        // A tail that is switched off stays off.
        let mut none = Tail::new(Span::ZERO, Span::from_micros(200));
        wake_up(&mut none, 100, 900);
        assert_eq!(none.now(), Span::ZERO);
    }
}
