//! The synthetic cellular link: repeatable, of the mean that was asked for, within the
//! statistics of the measured links it imitates.

use tidegate_core::random::Seed;
use tidegate_core::units::{FASTEST, Rate, Span};

use crate::trace::info::{InfoOptions, info, window_rates};
use crate::trace::synth::{Cellular, SynthError};
use crate::trace::*;

fn seed(seed: u64) -> Seed {
    Seed { seed, replication: 0 }
}

/// A pinned recording: a change of the model or of a random stream shows here.
#[test]
fn the_same_seed_gives_the_same_bytes() {
    let link = Cellular { duration: Span::from_secs(10), ..Cellular::default() };
    let text = mahimahi::write(&link.opportunities(seed(1)).expect("defaults work"));
    assert_eq!(text, mahimahi::write(&link.opportunities(seed(1)).expect("defaults work")));
    assert_ne!(text, mahimahi::write(&link.opportunities(seed(2)).expect("defaults work")));
    let sum = text.bytes().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    assert_eq!((text.lines().count(), sum), (4082, 18_412_405_032_567_000_741));
}

#[test]
fn the_recording_has_the_mean_that_was_asked_for() {
    for mean in [100_000, 5_000_000, 80_000_000] {
        let link = Cellular { mean: Rate::from_bps(mean), ..Cellular::default() };
        let rates = LoadedTrace::Rates(link.rates(seed(3)).expect("works"));
        let got = info(&rates, &InfoOptions::default()).mean_bps;
        assert!((got - mean as f64).abs() < 1.0, "{got}");
        let opportunities = link.opportunities(seed(3)).expect("works");
        assert_eq!(opportunities.period, Span::from_secs(120));
        let expected = mean as f64 * 120.0 / 12_000.0;
        let noise = 5.0 * expected.sqrt() + 1.0;
        assert!((opportunities.at.len() as f64 - expected).abs() < noise, "{}", opportunities.at.len());
    }
}

#[test]
fn its_opportunities_are_a_valid_file() {
    let trace = Cellular::default().opportunities(seed(5)).expect("works");
    let read = parse(mahimahi::write(&trace).as_bytes(), "t.down", None, &TraceOptions::default());
    assert_eq!(read, Ok(LoadedTrace::Opportunities(trace)));
}

/// The measured LTE links lie within these bands; so does the mean of ten synthetic ones
/// (`docs/design/cellular-model.md`).
#[test]
fn its_statistics_lie_among_measured_links() {
    let mut sums = [0.0; 5];
    for s in 0..10 {
        let trace = LoadedTrace::Opportunities(Cellular::default().opportunities(seed(s)).expect("works"));
        let tenths = window_rates(&trace, Span::from_millis(100));
        let outages = info(&trace, &InfoOptions::default());
        let seconds = info(&trace, &InfoOptions { window: Span::from_secs(1), ..InfoOptions::default() });
        let figures = [
            outages.variation,
            seconds.variation,
            outages.outage_share,
            autocorrelation(&tenths, 1),
            autocorrelation(&tenths, 10),
        ];
        for (sum, figure) in sums.iter_mut().zip(figures) {
            *sum += figure / 10.0;
        }
    }
    let bands = [(0.59, 1.04), (0.52, 0.85), (0.0166, 0.0781), (0.76, 0.87), (0.41, 0.68)];
    for (mean, (low, high)) in sums.into_iter().zip(bands) {
        assert!((low..=high).contains(&mean), "{mean} is not in {low}..{high}; all: {sums:?}");
    }
}

/// Of neighbours `lag` apart.
fn autocorrelation(values: &[f64], lag: usize) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let product = |(a, b): (&f64, &f64)| (a - mean) * (b - mean);
    let square: f64 = values.iter().zip(values).map(product).sum::<f64>() / values.len() as f64;
    let pairs = values.len() - lag;
    values.iter().zip(&values[lag..]).map(product).sum::<f64>() / pairs as f64 / square
}

#[test]
fn variability_0_without_outages_is_a_constant_rate() {
    let link = Cellular { variability: 0.0, outage_share: 0.0, ..Cellular::default() };
    let rates = link.rates(seed(1)).expect("works");
    assert!(rates.points.iter().all(|(_, rate)| *rate == link.mean));
}

#[test]
fn outages_take_their_share() {
    let link =
        Cellular { duration: Span::from_secs(20_000), step: Span::from_millis(10), ..Cellular::default() };
    let rates = link.rates(seed(1)).expect("works");
    let out = rates.points.iter().filter(|(_, rate)| *rate == Rate::ZERO).count() as f64;
    let share = out / rates.points.len() as f64;
    assert!((0.04..0.05).contains(&share), "steps wholly without service: {share}");
}

#[test]
fn wrong_parameters_are_refused_in_words() {
    let base = Cellular::default();
    let error = |link: Cellular| link.opportunities(seed(1)).expect_err("refused").to_string();
    assert_eq!(
        error(Cellular { mean: Rate::ZERO, ..base }),
        "the mean rate is 0 bit/s; it must be above 0 and at most 1 Pbit/s"
    );
    assert_eq!(
        error(Cellular { duration: Span::ZERO, ..base }),
        "the duration is 0 s, less than a step of 1 ms; choose a longer duration"
    );
    assert_eq!(
        error(Cellular { step: Span::from_micros(1500), ..base }),
        "the step is 1.5 ms; it must be a whole number of milliseconds, at least 1 ms"
    );
    for wrong in [-0.1, 4.1, f64::NAN] {
        assert!(matches!(
            Cellular { variability: wrong, ..base }.rates(seed(1)),
            Err(SynthError::Variability(_))
        ));
    }
    assert!(matches!(Cellular { outage_share: 1.0, ..base }.rates(seed(1)), Err(SynthError::OutageShare(_))));
    assert_eq!(
        error(Cellular { mean: Rate::from_bps(1), ..base }),
        "nothing would be delivered; choose a higher mean rate or a longer duration"
    );
    assert_eq!(
        error(Cellular { duration: Span::from_secs(100_000), ..base }),
        "this makes 100000000 entries, more than 50 million; choose a shorter duration or a longer step"
    );
    assert!(matches!(Cellular { mean: FASTEST, ..base }.opportunities(seed(1)), Err(SynthError::TooMany(_))));
}
