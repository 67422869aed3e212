//! The largest value in a sliding window of time (`lib/win_minmax.c`), estimated from three kept values.

/// A value and its time.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    at: u64,
    value: u64,
}

/// The largest value within a window of time, by Kathleen Nichols' algorithm: the best, and the best after it, twice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunningMax {
    best: [Sample; 3],
    /// With this window no candidate falls out of it at this time, nor is one due ...
    settled: (u64, u64),
    /// ... so that a value below this changes nothing.
    below: u64,
}

impl RunningMax {
    pub(super) fn get(&self) -> u64 {
        self.best[0].value
    }

    /// A value below this changes nothing if it is added now.
    #[inline]
    pub(super) fn indifferent_below(&self, window: u64, at: u64) -> u64 {
        if self.settled == (window, at) { self.below } else { 0 }
    }

    /// Takes a value; the window is `window` long (`minmax_running_max`).
    #[inline]
    pub(super) fn add(&mut self, window: u64, at: u64, value: u64) {
        if value >= self.indifferent_below(window, at) {
            self.add_any(window, at, value);
        }
    }

    #[inline(never)]
    fn add_any(&mut self, window: u64, at: u64, value: u64) {
        self.settled = (window, at);
        self.below = 0;
        let new = Sample { at, value };
        let [first, second, third] = &mut self.best;
        if value >= first.value || at - third.at > window {
            self.best = [new; 3];
            // The same again at this time would say nothing new.
            self.below = value.saturating_add(1);
            return;
        }
        if value >= second.value {
            (*second, *third) = (new, new);
        } else if value >= third.value {
            *third = new;
        }
        // As time passes, the first falls out of the window, and quarters and halves of it get candidates of their own.
        let age = at - first.at;
        if age > window {
            self.best = [*second, *third, new];
            if at - self.best[0].at > window {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if second.at == first.at && age > window / 4 {
            (*second, *third) = (new, new);
        } else if third.at == second.at && age > window / 2 {
            *third = new;
        } else {
            self.below = third.value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_the_last_ten_rounds() {
        let mut max = RunningMax::default();
        max.add(10, 0, 100);
        max.add(10, 3, 70);
        max.add(10, 6, 80);
        assert_eq!(max.get(), 100);
        max.add(10, 10, 50);
        assert_eq!(max.get(), 100);
        // The 100 of round 0 has gone: the 80 of round 6 holds until round 16.
        max.add(10, 11, 50);
        assert_eq!(max.get(), 80);
        max.add(10, 17, 40);
        assert_eq!(max.get(), 50);
        max.add(10, 18, 90);
        assert_eq!(max.get(), 90);
    }

    #[test]
    fn after_a_pause_only_the_new_value_counts() {
        let mut max = RunningMax::default();
        max.add(10, 0, 100);
        max.add(10, 11, 5);
        assert_eq!(max.get(), 5);
    }
}
