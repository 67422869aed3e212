//! Decimal numbers as written, without a binary fraction anywhere.

/// `digits × 10^exponent`, exactly as the text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    /// A minus sign was written.
    pub(super) negative: bool,
    digits: u128,
    exponent: i32,
}

/// Why a product is not a whole number that can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotWhole {
    /// Something is left over; the whole part is given.
    Remainder(u128),
    /// Too large.
    Overflow,
}

/// More digits than this are refused, so that products fit 128 bits.
const MOST_DIGITS: usize = 20;

impl Decimal {
    /// Reads `12`, `12.5`, `-3`, `1e6`; `None` for anything else.
    pub(super) fn read(text: &str) -> Option<Decimal> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (number, power) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let all_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && part.is_empty()) || !all_digits(whole) || !all_digits(part) {
            return None;
        }
        let part = part.trim_end_matches('0');
        let digits = format!("{whole}{part}");
        let digits = digits.trim_start_matches('0');
        if digits.is_empty() {
            return Some(Decimal { negative, digits: 0, exponent: 0 });
        }
        let exponent = power.checked_sub(i32::try_from(part.len()).ok()?)?;
        let trimmed = digits.trim_end_matches('0');
        let exponent = exponent.checked_add(i32::try_from(digits.len() - trimmed.len()).ok()?)?;
        if trimmed.len() > MOST_DIGITS || exponent.abs() > 40 {
            return None;
        }
        Some(Decimal { negative, digits: trimmed.parse().ok()?, exponent })
    }

    /// Whether it is 0.
    pub(super) fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// This number times `factor / per`, if that is whole.
    pub(super) fn times(self, factor: u128, per: u128) -> Result<u128, NotWhole> {
        let product = self.digits.checked_mul(factor).ok_or(NotWhole::Overflow)?;
        let power = 10_u128.checked_pow(self.exponent.unsigned_abs());
        let (product, divisor) = if self.exponent >= 0 {
            let power = power.ok_or(NotWhole::Overflow)?;
            (product.checked_mul(power).ok_or(NotWhole::Overflow)?, per)
        } else {
            let Some(divisor) = power.and_then(|power| power.checked_mul(per)) else {
                return if product == 0 { Ok(0) } else { Err(NotWhole::Remainder(0)) };
            };
            (product, divisor)
        };
        match product % divisor {
            0 => Ok(product / divisor),
            _ => Err(NotWhole::Remainder(product / divisor)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        let times = |text: &str, factor| Decimal::read(text).map(|number| number.times(factor, 1));
        assert_eq!(times("15.264", 1_000_000), Some(Ok(15_264_000)));
        assert_eq!(times("1e3", 1), Some(Ok(1000)));
        assert_eq!(times(".5", 10), Some(Ok(5)));
        assert_eq!(times("1.50", 2), Some(Ok(3)));
        assert_eq!(times("0.0015", 1), Some(Err(NotWhole::Remainder(0))));
        assert_eq!(times("1e40", 1), Some(Err(NotWhole::Overflow)));
        for wrong in ["", "-", ".", "1.2.3", "1e", "e5", "0x10", "1_000", "١"] {
            assert_eq!(Decimal::read(wrong), None, "{wrong}");
        }
    }
}
