//! Exact decimals: text to whole small units (bit/s, picoseconds), never through a float.

/// Why a decimal was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Not a number.
    NotANumber,
    /// Less than zero.
    Negative,
    /// Finer than one unit.
    TooFine,
    /// Larger than can be counted.
    TooLarge,
}

/// `text · 10^scale` as a whole number: `scaled("1.5", 3)` is 1500.
///
/// Accepts digits with an optional point and an optional power of ten (`1.2e6`), as
/// spreadsheets and scripts write them. The result is exact or refused.
pub(super) fn scaled(text: &str, scale: i32) -> Result<u64, Refused> {
    value(text, scale, shift)
}

/// As [`scaled`], but a part finer than one unit is rounded to the nearest, halves upwards.
pub(super) fn nearest(text: &str, scale: i32) -> Result<u64, Refused> {
    value(text, scale, |number, power| {
        if power >= 0 {
            return shift(number, power);
        }
        let Some(unit) = 10_u128.checked_pow(power.unsigned_abs()) else { return Ok(0) };
        u64::try_from((number + unit / 2) / unit).map_err(|_| Refused::TooLarge)
    })
}

fn value(text: &str, scale: i32, shift: impl Fn(u128, i32) -> Result<u64, Refused>) -> Result<u64, Refused> {
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
    let part = part.trim_end_matches('0');
    let mut value: u128 = 0;
    for digit in whole.bytes().chain(part.bytes()) {
        value = value * 10 + u128::from(digit - b'0');
        if value > u128::from(u64::MAX) * 1_000_000_000 {
            return Err(Refused::TooLarge);
        }
    }
    if value == 0 {
        return Ok(0);
    }
    if negative {
        return Err(Refused::Negative);
    }
    let part_len = i32::try_from(part.len()).map_err(|_| Refused::TooFine)?;
    shift(value, scale + i32::from(power) - part_len)
}

/// `value · 10^power`, exactly.
fn shift(mut value: u128, power: i32) -> Result<u64, Refused> {
    for _ in 0..power.max(0) {
        value *= 10;
        if value > u128::from(u64::MAX) {
            return Err(Refused::TooLarge);
        }
    }
    for _ in power..0 {
        if !value.is_multiple_of(10) {
            return Err(Refused::TooFine);
        }
        value /= 10;
    }
    u64::try_from(value).map_err(|_| Refused::TooLarge)
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
    fn decimals_are_exact_or_refused() {
        assert_eq!(scaled("1.5", 3), Ok(1500));
        assert_eq!(scaled("0.1", 12), Ok(100_000_000_000));
        assert_eq!(scaled("1.2e6", 0), Ok(1_200_000));
        assert_eq!(scaled("12000000e-6", 6), Ok(12_000_000));
        assert_eq!(scaled("50671.0005", 3), Err(Refused::TooFine));
        assert_eq!(scaled("50671.1230", 3), Ok(50_671_123));
        assert_eq!(scaled("-1", 0), Err(Refused::Negative));
        assert_eq!(scaled("-0.0", 0), Ok(0));
        assert_eq!(scaled("18446744073709551615", 0), Ok(u64::MAX));
        assert_eq!(scaled("18446744073709551616", 0), Err(Refused::TooLarge));
        assert_eq!(scaled("1e400", 0), Err(Refused::TooLarge));
        for bad in ["", ".", "-", "e5", "1e", "nan", "inf", "1_000", "0x10", "1,5", " 1", "٣"] {
            assert_eq!(scaled(bad, 0), Err(Refused::NotANumber), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn text_and_back(value: u64, scale in 0_u32..13) {
            prop_assert_eq!(scaled(&text(value, scale), scale as i32), Ok(value));
        }

        #[test]
        fn any_text_is_safe(text in "\\PC*", scale in -12_i32..13) {
            let _ = scaled(&text, scale);
        }
    }
}
