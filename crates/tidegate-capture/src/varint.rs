//! Whole numbers in as few bytes as they need: seven bits a byte, the lowest first.

/// Appends a number: one byte below 128, ten at most.
pub(crate) fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Appends a number with a sign: small ones of either sign need few bytes.
pub(crate) fn put_signed(bytes: &mut Vec<u8>, value: i64) {
    put(bytes, ((value << 1) ^ (value >> 63)) as u64);
}

/// Takes a number off the front.
///
/// # Panics
/// If the bytes end inside a number, which nothing that [`put`] wrote does.
pub(crate) fn take(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    let mut shift = 0;
    loop {
        let (byte, rest) = bytes.split_first().expect("a number ends before its log");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return value;
        }
        shift += 7;
    }
}

/// Takes a number with a sign off the front.
pub(crate) fn take_signed(bytes: &mut &[u8]) -> i64 {
    let value = take(bytes);
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_put_is_taken(values: Vec<i64>, plain: u64) {
            let mut bytes = Vec::new();
            values.iter().for_each(|value| put_signed(&mut bytes, *value));
            put(&mut bytes, plain);
            let mut left = &bytes[..];
            for value in values {
                prop_assert_eq!(take_signed(&mut left), value);
            }
            prop_assert_eq!(take(&mut left), plain);
            prop_assert!(left.is_empty());
        }
    }
}
