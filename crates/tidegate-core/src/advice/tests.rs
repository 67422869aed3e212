use super::*;

/// The table of section "Rate Signals", with the digits that the draft prints.
#[test]
fn the_table_of_the_draft() {
    let printed = [
        (0, 100e3, 1e3),
        (1, 112e3, 1e3),
        (2, 126e3, 1e3),
        (3, 141e3, 1e3),
        (20, 1e6, 1e4),
        (21, 1.12e6, 1e4),
        (40, 10e6, 1e5),
        (41, 11.2e6, 1e5),
        (60, 100e6, 1e6),
        (61, 112e6, 1e6),
        (80, 1e9, 1e7),
        (81, 1.12e9, 1e7),
        (100, 10e9, 1e8),
        (101, 11.2e9, 1e8),
        (120, 100e9, 1e9),
        (121, 112e9, 1e9),
        (126, 199.5e9, 1e8),
    ];
    for (n, rate, digit) in printed {
        let said = RateSignal::from_bits(n).rate().expect("a rate").bps() as f64;
        assert!((said - rate).abs() <= digit / 2.0, "{n}: {said} beside {rate}");
    }
    assert_eq!(RateSignal::UNKNOWN.rate(), None);
}

#[test]
fn a_signal_never_says_more_than_the_rate() {
    for n in 0..127 {
        let signal = RateSignal::from_bits(n);
        let rate = signal.rate().expect("a rate");
        assert_eq!(RateSignal::not_above(rate), signal);
        assert_eq!(RateSignal::not_above(Rate::from_bps(rate.bps() + 1)), signal);
        let less = RateSignal::not_above(Rate::from_bps(rate.bps() - 1));
        assert_eq!(less.bits(), n.saturating_sub(1));
    }
    assert_eq!(RateSignal::not_above(Rate::ZERO).bits(), 0);
    assert_eq!(RateSignal::not_above(Rate::from_bps(u64::MAX)).bits(), 126);
}

#[test]
fn the_lowest_of_a_monitoring_period_applies() {
    let at = |seconds: u64| Time::from_picos(seconds * 1_000_000_000_000);
    let signal = RateSignal::from_bits;
    let mut heard = AdviceHeard::default();
    assert_eq!(heard.in_force(at(0)), RateSignal::UNKNOWN);
    heard.note(at(1), signal(30));
    heard.note(at(10), signal(20));
    heard.note(at(20), RateSignal::UNKNOWN);
    heard.note(at(30), signal(40));
    assert_eq!(heard.in_force(at(30)), signal(20));
    assert_eq!(heard.in_force(at(76)), signal(20));
    assert_eq!(heard.in_force(at(77)), signal(40));
    assert_eq!(heard.in_force(at(97)), RateSignal::UNKNOWN);
}
