//! Stalls: times at which the machine kept the engine from working. What was due meanwhile leaves in one burst afterwards,
//! which one queue bears and another does not.

use tidegate_core::units::{Span, Time};

use crate::limits::HarmlessStall;

/// The stalls of a run that were longer than is harmless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stalls {
    /// Shorter ones are not counted.
    least: Span,
    /// How many.
    pub count: u32,
    /// The longest.
    pub longest: Span,
    /// When it began.
    pub at: Time,
    /// When the last one was over.
    until: Time,
}

impl Stalls {
    /// Counts those that are longer than `least`.
    pub(super) fn longer_than(least: Span) -> Stalls {
        Stalls { least, ..Stalls::default() }
    }

    /// Something was due at `due` and was done so much later. What was due during a stall belongs to it.
    #[inline]
    pub(super) fn note(&mut self, due: Time, late: Span) {
        if late > self.least {
            self.add(due, late);
        }
    }

    #[cold]
    fn add(&mut self, due: Time, late: Span) {
        self.count += u32::from(due >= self.until);
        self.until = self.until.max(due.saturating_add(late));
        if late > self.longest {
            (self.longest, self.at) = (late, due);
        }
    }

    /// What to tell, with the figures.
    pub(super) fn warning(&self, harmless: &HarmlessStall) -> Option<String> {
        let times = match self.count {
            0 => return None,
            1 => "once".to_owned(),
            more => format!("{more} times"),
        };
        let millis = |span: Span| format!("{:.3} ms", span.as_secs_f64() * 1e3);
        Some(format!(
            "the machine stopped the engine {times} for more than {} (the longest: {} at {:.3} s of the run), and what was due \
             meanwhile left in one burst. {}: drops, delays and goodput may not be those of the scenario",
            millis(harmless.span),
            millis(self.longest),
            self.at.as_secs_f64(),
            harmless.because,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn harmless() -> HarmlessStall {
        HarmlessStall { span: Span::from_millis(5), because: "The queue holds 10.0 ms".to_owned() }
    }

    /// Eight packets, one each millisecond, all written when the machine went on: one stall of 8 ms.
    #[test]
    fn what_is_due_during_a_stall_belongs_to_it() {
        let mut stalls = Stalls::longer_than(harmless().span);
        stalls.note(at(999_000), Span::from_micros(3));
        for packet in 0..8 {
            stalls.note(at(1_000_000 + packet * 1000), Span::from_micros(8000 - packet * 1000));
        }
        assert_eq!((stalls.count, stalls.longest, stalls.at), (1, Span::from_millis(8), at(1_000_000)));
        let told = stalls.warning(&harmless()).unwrap();
        assert!(
            told.starts_with(
                "the machine stopped the engine once for more than 5.000 ms (the longest: 8.000 ms at 1.000 s of the run)"
            ),
            "{told}"
        );
        assert!(told.contains("The queue holds 10.0 ms"), "{told}");
    }

    #[test]
    fn each_stall_counts_and_the_longest_is_told() {
        let mut stalls = Stalls::longer_than(harmless().span);
        for (begin, millis) in [(1_000_000, 6), (2_000_000, 7), (2_020_000, 6)] {
            stalls.note(at(begin), Span::from_millis(millis));
        }
        assert_eq!((stalls.count, stalls.longest, stalls.at), (3, Span::from_millis(7), at(2_000_000)));
        assert!(stalls.warning(&harmless()).unwrap().contains("3 times"));
    }

    /// Many packets that are a little late are the business of the 99th percentile.
    #[test]
    fn short_stalls_say_nothing() {
        let mut stalls = Stalls::longer_than(harmless().span);
        (0..1000).for_each(|packet| stalls.note(at(packet * 1000), Span::from_millis(5)));
        assert_eq!(stalls.warning(&harmless()), None);
    }
}
