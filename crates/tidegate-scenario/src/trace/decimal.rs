//! Decimals: text to whole small units (bit/s, picoseconds), never through a float, and back.

/// Why a decimal was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Not a number.
    NotANumber,
    /// Less than zero.
    Negative,
    /// Larger than can be counted.
    TooLarge,
}

/// More small units than this are not counted.
const MOST: u128 = 10_u128.pow(30);

/// `text · 10^scale` as a whole number: `nearest("1.5", 3)` is 1500.
///
/// Accepts digits with an optional point and an optional power of ten (`1.2e6`), as
/// spreadsheets and scripts write them. What is finer than one unit is rounded to the nearest, halves upwards: measured
/// numbers have more digits than they mean. Every trace is read by this rule.
pub(super) fn nearest(text: &str, scale: i32) -> Result<u128, Refused> {
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let (number, power) = match unsigned.split_once(['e', 'E']) {
        Some((number, power)) => (number, power.parse::<i16>().map_err(|_| Refused::NotANumber)?),
        None => (unsigned, 0),
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits_only = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if (whole.is_empty() && part.is_empty()) || !digits_only(whole) || !digits_only(part) {
        return Err(Refused::NotANumber);
    }
    let digits = || whole.bytes().chain(part.bytes()).map(|digit| digit - b'0');
    if digits().all(|digit| digit == 0) {
        return Ok(0);
    }
    if negative {
        return Err(Refused::Negative);
    }
    // So many digits stand before the point once the number is scaled; the next one rounds.
    let before = i64::try_from(whole.len()).unwrap_or(i64::MAX) + i64::from(scale) + i64::from(power);
    let Ok(before) = usize::try_from(before) else { return Ok(0) };
    let mut value: u128 = 0;
    for digit in digits().chain(std::iter::repeat(0)).take(before) {
        value = value * 10 + u128::from(digit);
        if value > MOST {
            return Err(Refused::TooLarge);
        }
    }
    Ok(value + u128::from(digits().nth(before).is_some_and(|digit| digit >= 5)))
}

/// As [`nearest`], of what 64 bits can count.
pub(super) fn nearest_u64(text: &str, scale: i32) -> Result<u64, Refused> {
    nearest(text, scale)?.try_into().map_err(|_| Refused::TooLarge)
}

/// `value / 10^scale` as text without loss: `text(1500, 3)` is "1.5".
pub(super) fn text(value: u64, scale: u32) -> String {
    let unit = 10_u64.pow(scale);
    let (whole, part) = (value / unit, value % unit);
    if part == 0 {
        return whole.to_string();
    }
    let digits = scale as usize;
    format!("{whole}.{part:0digits$}").trim_end_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_are_rounded_to_the_nearest_unit() {
        assert_eq!(nearest("1.5", 3), Ok(1500));
        assert_eq!(nearest("0.1", 12), Ok(100_000_000_000));
        assert_eq!(nearest("1.2e6", 0), Ok(1_200_000));
        assert_eq!(nearest("12000000e-6", 6), Ok(12_000_000));
        assert_eq!(nearest("50671.1230", 3), Ok(50_671_123));
        // As floating-point numbers are printed: of half a bit more, of one digit too many, of thirty digits.
        assert_eq!(nearest("50671.0005", 3), Ok(50_671_001));
        assert_eq!(nearest("50671.00049999", 3), Ok(50_671_000));
        assert_eq!(nearest("0.30000000000000004", 12), Ok(300_000_000_000));
        assert_eq!(nearest("0.100000000000000005551115123126", 6), Ok(100_000));
        assert_eq!(nearest("0.5", 0), Ok(1));
        assert_eq!(nearest("0.05", 0), Ok(0));
        assert_eq!(nearest("9e-400", 12), Ok(0));
        assert_eq!(nearest("1681314020.25", 12), Ok(1_681_314_020_250_000_000_000));
        assert_eq!(nearest("-1", 0), Err(Refused::Negative));
        assert_eq!(nearest("-0.0", 0), Ok(0));
        assert_eq!(nearest_u64("18446744073709551615", 0), Ok(u64::MAX));
        assert_eq!(nearest_u64("18446744073709551616", 0), Err(Refused::TooLarge));
        assert_eq!(nearest("1e400", 0), Err(Refused::TooLarge));
        for bad in ["", ".", "-", "e5", "1e", "nan", "inf", "1_000", "0x10", "1,5", " 1", "٣"] {
            assert_eq!(nearest(bad, 0), Err(Refused::NotANumber), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn text_and_back(value: u64, scale in 0_u32..13) {
            prop_assert_eq!(nearest_u64(&text(value, scale), scale as i32), Ok(value));
        }

        #[test]
        fn any_text_is_safe(text in "\\PC*", scale in -12_i32..13) {
            let _ = nearest(&text, scale);
        }
    }
}
