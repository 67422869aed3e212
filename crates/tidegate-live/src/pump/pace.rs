//! How much of the time the thread is awake. A real-time thread that is always awake is
//! stopped by the kernel for 50 ms of every second, so the spin tail is given up before. And
//! how long before an instant it has to have itself woken on this machine.

use tidegate_core::units::{Span, Time};

/// Time is looked at in windows of this length.
const WINDOW: Span = Span::from_millis(50);
/// Awake for more of a window than this share, in percent, it spins no more in it.
const MOST_AWAKE: u64 = 90;
/// Rounds of the loop without a system call that would hear a wish to stop.
const ROUNDS: u32 = 256;

/// The time that the thread was awake in this window.
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

/// As late as timers are on an ordinary machine: where the estimate of the tail begins.
const TYPICAL: Span = Span::from_micros(45);

/// How long before an instant the thread has itself woken: as late as the machine's timers wake
/// it, within the limits given.
#[derive(Debug)]
pub(super) struct Ahead {
    least: Span,
    most: Span,
    /// From a wake-up to readiness.
    margin: Span,
    /// Picoseconds that the estimate goes up when a wake-up is later than it, and down otherwise.
    steps: [u64; 2],
    /// The estimate, picoseconds.
    late: u64,
}

impl Ahead {
    /// The spin tail: one wake-up in two hundred may be later.
    pub(super) fn tail(least: Span, most: Span) -> Ahead {
        Ahead {
            least,
            most: most.max(least),
            margin: Span::from_micros(5),
            steps: [5_000_000, 25_000],
            late: TYPICAL.picos().min(most.picos()),
        }
    }

    /// Without a tail: the timers' own lateness is taken off, that of one wake-up in two.
    pub(super) fn lead(most: Span) -> Ahead {
        Ahead { least: Span::ZERO, most, margin: Span::ZERO, steps: [500_000; 2], late: 0 }
    }

    #[inline]
    pub(super) fn now(&self) -> Span {
        (Span::from_picos(self.late) + self.margin).max(self.least).min(self.most)
    }

    /// A timer has woken the thread so late. Steps up and down balance where as many wake-ups are
    /// later as may be.
    #[inline]
    pub(super) fn note(&mut self, late: Span) {
        let [up, down] = self.steps;
        if late.picos() > self.late {
            self.late = (self.late + up).min(self.most.picos());
        } else {
            self.late = self.late.saturating_sub(down);
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
        let mut tail = Ahead::tail(Span::from_micros(50), Span::from_micros(200));
        assert_eq!(tail.now(), Span::from_micros(50));
        let wake_up = |on: &mut Ahead, count: u64, micros: u64| {
            (0..count).for_each(|_| on.note(Span::from_micros(micros)));
        };
        // One wake-up in fifty is 100 us late, the others 30.
        (0..500).for_each(|_| {
            wake_up(&mut tail, 49, 30);
            wake_up(&mut tail, 1, 100);
        });
        let found = tail.now().picos() / 1_000_000;
        assert!((100..=115).contains(&found), "{found} us");
        wake_up(&mut tail, 1000, 900);
        assert_eq!(tail.now(), Span::from_micros(200));
    }

    #[test]
    fn the_lead_is_what_the_timers_are_late_every_other_time() {
        let mut lead = Ahead::lead(Span::from_micros(50));
        assert_eq!(lead.now(), Span::ZERO);
        for round in 0..1000 {
            lead.note(Span::from_micros([14, 15, 16, 17, 90][round % 5]));
        }
        let found = lead.now().picos() / 1_000_000;
        assert!((14..=17).contains(&found), "{found} us");
        (0..1000).for_each(|_| lead.note(Span::from_micros(900)));
        assert_eq!(lead.now(), Span::from_micros(50));
        // One that is switched off stays off.
        let mut none = Ahead::lead(Span::ZERO);
        (0..100).for_each(|_| none.note(Span::from_micros(900)));
        assert_eq!(none.now(), Span::ZERO);
    }
}
