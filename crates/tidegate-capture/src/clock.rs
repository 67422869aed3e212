//! The clock of an interface of pcapng: `if_tsresol` and `if_tsoffset` (draft-ietf-opsawg-pcapng §4.2).

use pcap_parser::{InterfaceDescriptionBlock, OptionCode};

/// Nanoseconds in a second.
const SECOND: i128 = 1_000_000_000;
/// Where the file does not say it, time is counted in units of 10^-6 s.
const USUAL: u8 = 6;
/// In finer units the 64 bits of a time do not hold a second.
const FINEST_DECIMAL: u8 = 19;
const FINEST_BINARY: u8 = 63;
/// With this bit the resolution is a power of two, else of ten.
const BINARY: u8 = 0x80;

/// How an interface counts time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    /// Units of time in a second; none where 64 bits of them do not hold a second.
    resolution: Option<u64>,
    /// Seconds to add.
    offset: i64,
    /// As the file has it.
    raw: u8,
}

impl Clock {
    /// Reads both options; each of the wrong length is as if it were not there.
    pub(crate) fn of(about: &InterfaceDescriptionBlock<'_>, big_endian: bool) -> Clock {
        let option = |code| about.options.iter().find(|each| each.code == code)?.as_bytes().ok();
        let raw = match option(OptionCode::IfTsresol) {
            Some(&[raw]) => raw,
            _ => USUAL,
        };
        let eight = option(OptionCode::IfTsoffset).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
        let read = if big_endian { i64::from_be_bytes } else { i64::from_le_bytes };
        Clock { resolution: units(raw), offset: eight.map_or(0, read), raw }
    }

    /// Nanoseconds since 1970, rounded down; none where they cannot be told.
    pub(crate) fn time(&self, ticks: u64) -> Option<i64> {
        let (ticks, resolution) = (i128::from(ticks), i128::from(self.resolution?));
        let seconds = ticks / resolution + i128::from(self.offset);
        i64::try_from(seconds * SECOND + ticks % resolution * SECOND / resolution).ok()
    }

    /// The unit in words, where it is too fine to be of use.
    pub(crate) fn too_fine(&self) -> Option<String> {
        let base = if self.raw & BINARY == 0 { 10 } else { 2 };
        self.resolution.is_none().then(|| format!("{base}^-{} s", self.raw & !BINARY))
    }
}

fn units(raw: u8) -> Option<u64> {
    let exponent = raw & !BINARY;
    match raw & BINARY {
        0 if exponent <= FINEST_DECIMAL => Some(10_u64.pow(exponent.into())),
        BINARY if exponent <= FINEST_BINARY => Some(1 << exponent),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(raw: u8, offset: i64) -> Clock {
        Clock { resolution: units(raw), offset, raw }
    }

    #[test]
    fn powers_of_ten_and_of_two_are_exact() {
        for n in 0..=FINEST_DECIMAL {
            // A unit before the second: the nanoseconds of it, rounded down.
            let below = (SECOND - SECOND / 10_i128.pow(n.into()).max(1)).min(SECOND - 1) as i64;
            let ticks = 10_u64.pow(n.into()) - 1;
            assert_eq!(clock(n, 0).time(ticks), Some(if n == 0 { 0 } else { below }), "10^-{n}");
        }
        for n in 0..=FINEST_BINARY {
            let units = 1_u64 << n;
            assert_eq!(clock(BINARY | n, 7).time(units), Some(8_000_000_000), "2^-{n}");
            let half = (n > 0).then(|| clock(BINARY | n, 0).time(units / 2));
            assert!(half.is_none_or(|half| half == Some(500_000_000)), "2^-{n}");
        }
    }

    #[test]
    fn what_64_bits_do_not_hold_is_named() {
        assert_eq!(clock(19, 0).too_fine(), None);
        assert_eq!(clock(20, 0).too_fine().as_deref(), Some("10^-20 s"));
        assert_eq!(clock(BINARY | 64, 0).too_fine().as_deref(), Some("2^-64 s"));
        assert_eq!(clock(BINARY | 64, 0).time(1), None);
        // The year 2262 is the last that nanoseconds hold.
        assert_eq!(clock(0, 0).time(u64::MAX), None);
    }
}
