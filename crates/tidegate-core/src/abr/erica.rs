//! The ERICA switch: measure the load over an interval, tell each source the larger of a fair
//! share and of what its rate would be if all rates were divided by the load.

use super::Feedback;

/// Loads up to 1 + this are not overload (δ of the ERICA paper).
const NOT_OVERLOAD: f64 = 0.1;

/// What was measured over an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalLoad {
    /// Mean capacity of the link, bit/s.
    pub capacity: f64,
    /// What came from elsewhere, bit/s.
    pub other: f64,
    /// What came from the sources, bit/s.
    pub input: f64,
    /// Sources that sent anything.
    pub active: u32,
}

/// An ABR source, as the switch knows it.
#[derive(Clone, Copy, Debug, Default)]
struct SourceState {
    /// The rate that its last RM cell named.
    rate: f64,
    /// The explicit rate sent to it in this interval: one value for each interval.
    explicit: Option<f64>,
}

/// The switch.
#[derive(Clone, Debug)]
pub struct Erica {
    /// The part of the capacity that is aimed at.
    utilisation: f64,
    /// Signals overload by the congestion bit, and no rate.
    binary: bool,
    sources: Vec<SourceState>,
    target: f64,
    load: f64,
    fair: f64,
    /// The largest rate given in the last interval, and so far in this one.
    most_before: f64,
    most: f64,
}

impl Erica {
    /// A switch for a number of sources that aims at this part of the capacity. Before the end of the
    /// first interval it limits nobody.
    #[must_use]
    pub fn new(sources: usize, utilisation: f64, binary: bool) -> Erica {
        Erica {
            utilisation,
            binary,
            sources: vec![SourceState::default(); sources],
            target: f64::INFINITY,
            load: 1.0,
            fair: f64::INFINITY,
            most_before: f64::INFINITY,
            most: f64::INFINITY,
        }
    }

    /// The end of an averaging interval.
    pub fn end_interval(&mut self, measured: IntervalLoad) {
        let left = (measured.capacity - measured.other).max(0.0);
        self.target = self.utilisation * left;
        self.load = match (measured.input > 0.0, self.target > 0.0) {
            (_, true) => measured.input / self.target,
            (true, false) => f64::INFINITY,
            (false, false) => 1.0,
        };
        self.fair = self.target / f64::from(measured.active.max(1));
        self.most_before = self.most;
        self.most = self.fair;
        self.sources.iter_mut().for_each(|source| source.explicit = None);
    }

    /// A forward RM cell says that the source sends at this rate.
    pub fn forward(&mut self, source: usize, rate: f64) {
        self.sources[source].rate = rate;
    }

    /// What the switch writes into a backward RM cell of this source.
    pub fn backward(&mut self, source: usize) -> Feedback {
        if self.binary {
            return Feedback { congested: self.load > 1.0, explicit: f64::INFINITY };
        }
        let SourceState { rate, explicit } = self.sources[source];
        let explicit = explicit.unwrap_or_else(|| self.share(rate));
        self.sources[source].explicit = Some(explicit);
        Feedback { congested: false, explicit }
    }

    fn share(&mut self, rate: f64) -> f64 {
        if self.target.is_infinite() {
            return self.target;
        }
        // Nothing sent, nothing to scale.
        let own = if rate > 0.0 { rate / self.load } else { 0.0 };
        let mut share = self.fair.max(own);
        if self.load <= 1.0 + NOT_OVERLOAD && self.most_before.is_finite() {
            share = share.max(self.most_before);
        }
        share = share.min(self.target);
        self.most = self.most.max(share);
        // From below the fair share to it first, lest many jump at once.
        if share > self.fair && rate < self.fair { self.fair } else { share }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sources that send as they are told, up to a limit each, on a link of 10 Mbit/s at 90%.
    fn settle(limits: &[f64], start: &[f64], rounds: usize, other: f64) -> Vec<f64> {
        let mut switch = Erica::new(limits.len(), 0.9, false);
        let mut rates = start.to_vec();
        for _ in 0..rounds {
            let active = rates.iter().filter(|rate| **rate > 0.0).count() as u32;
            switch.end_interval(IntervalLoad { capacity: 10e6, other, input: rates.iter().sum(), active });
            for (source, rate) in rates.iter_mut().enumerate() {
                switch.forward(source, *rate);
                *rate = switch.backward(source).explicit.min(limits[source]);
            }
        }
        rates
    }

    /// As much above the target as is not overload.
    fn is_near(rate: f64, target: f64) -> bool {
        rate > 0.999 * target && rate < (1.0 + NOT_OVERLOAD) * target
    }

    #[test]
    fn rates_become_max_min_fair() {
        let none = f64::INFINITY;
        for start in [[1e6, 1e6, 1e6], [9e6, 0.1e6, 3e6], [0.0, 0.0, 9e6]] {
            let alike = settle(&[none; 3], &start, 40, 0.0);
            assert!(
                alike.iter().all(|rate| (rate / alike[0] - 1.0).abs() < 0.01),
                "{alike:?} from {start:?}"
            );
            assert!(is_near(alike.iter().sum(), 9e6), "{alike:?} from {start:?}");
            let [one, two, three] = settle(&[1e6, none, none], &start, 60, 0.0)[..] else { panic!("three") };
            assert_eq!(one, 1e6);
            assert!((two / three - 1.0).abs() < 0.01, "{two} and {three} from {start:?}");
            assert!(is_near(two + three, 8e6), "{two} and {three} from {start:?}");
        }
    }

    #[test]
    fn what_others_take_is_not_shared_out() {
        let rates = settle(&[f64::INFINITY; 2], &[1e6, 5e6], 40, 6e6);
        assert!((rates[0] / rates[1] - 1.0).abs() < 0.01, "{rates:?}");
        assert!(is_near(rates.iter().sum(), 0.9 * 4e6), "{rates:?}");
    }

    #[test]
    fn one_value_for_each_interval() {
        let mut switch = Erica::new(1, 1.0, false);
        assert_eq!(switch.backward(0).explicit, f64::INFINITY);
        let interval = IntervalLoad { capacity: 8e6, other: 0.0, input: 16e6, active: 1 };
        switch.end_interval(interval);
        switch.forward(0, 10e6);
        assert_eq!(switch.backward(0).explicit, 8e6);
        switch.forward(0, 1e6);
        assert_eq!(switch.backward(0).explicit, 8e6);
        switch.end_interval(IntervalLoad { capacity: 0.0, ..interval });
        assert_eq!(switch.backward(0).explicit, 0.0);
    }

    #[test]
    fn the_bit_says_overload() {
        let mut switch = Erica::new(1, 0.5, true);
        switch.end_interval(IntervalLoad { capacity: 8e6, other: 0.0, input: 4e6, active: 1 });
        assert_eq!(switch.backward(0), Feedback { congested: false, explicit: f64::INFINITY });
        switch.end_interval(IntervalLoad { capacity: 8e6, other: 0.0, input: 4.1e6, active: 1 });
        assert!(switch.backward(0).congested);
    }
}
