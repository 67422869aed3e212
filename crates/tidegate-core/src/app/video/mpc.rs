//! Model predictive control: the best sequence of bitrates for the next segments, if the link keeps the predicted rate.

use crate::plan::VideoPlan;

/// What is tried: a video, what is known of it, and the best choice so far.
struct Search<'a> {
    plan: &'a VideoPlan,
    /// The first segment, and the one behind the last.
    first: u64,
    end: u64,
    /// Predicted bit/s.
    rate: f64,
    best: f64,
    choice: usize,
}

/// Where the search is: segments are chosen up to here.
#[derive(Clone, Copy)]
struct Place {
    number: u64,
    /// Seconds of media time.
    buffered: f64,
    last: Option<usize>,
    /// Quality so far, Mbit/s.
    worth: f64,
    /// The first segment's bitrate.
    choice: usize,
}

/// The place in the ladder of the next segment's bitrate: the first step of the sequence with the largest quality of experience (Yin and
/// others, SIGCOMM 2015, Algorithm 1), exactly. Of equal sequences the one whose first differing bitrate is lower.
pub(super) fn choose(
    plan: &VideoPlan,
    first: u64,
    horizon: usize,
    buffered: f64,
    last: Option<usize>,
    rate: f64,
) -> usize {
    let end = (first + horizon as u64).min(plan.segments);
    let mut search = Search { plan, first, end, rate, best: f64::NEG_INFINITY, choice: 0 };
    search.try_from(Place { number: first, buffered, last, worth: 0.0, choice: 0 });
    search.choice
}

impl Search<'_> {
    fn try_from(&mut self, place: Place) {
        if place.number == self.end {
            if place.worth > self.best {
                (self.best, self.choice) = (place.worth, place.choice);
            }
            return;
        }
        // What is left is worth at most the highest bitrate for each segment.
        let most = (self.end - place.number) as f64 * megabits(self.plan, self.plan.ladder.len() - 1);
        if place.worth + most <= self.best {
            return;
        }
        for rung in 0..self.plan.ladder.len() {
            let takes = 8.0 * self.plan.bytes(place.number, rung) as f64 / self.rate;
            let stall = (takes - place.buffered).max(0.0);
            let segment = self.plan.segment.as_secs_f64();
            let changes =
                place.last.map_or(0.0, |last| (megabits(self.plan, rung) - megabits(self.plan, last)).abs());
            let qoe = self.plan.qoe;
            self.try_from(Place {
                number: place.number + 1,
                buffered: ((place.buffered - takes).max(0.0) + segment).min(self.plan.buffer.as_secs_f64()),
                last: Some(rung),
                worth: place.worth + megabits(self.plan, rung) - qoe.switch * changes - qoe.stall * stall,
                choice: if place.number == self.first { rung } else { place.choice },
            });
        }
    }
}

fn megabits(plan: &VideoPlan, rung: usize) -> f64 {
    plan.ladder[rung].bps() as f64 * 1e-6
}
