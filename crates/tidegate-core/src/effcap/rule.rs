//! The paper's rule for M and N (Section VI): M covers one round trip, and "N: kΔ" means
//! N = (k − 1)⌈Δ/s⌉, so that the blocks together reach back over k round trips.

use super::Blocks;
use crate::units::Span;

/// M: ⌈Δ/s⌉ samples, at least one.
#[must_use]
pub fn rule_m(round_trip: Span, every: Span) -> u32 {
    u32::try_from(round_trip.picos().div_ceil(every.picos().max(1))).unwrap_or(u32::MAX).max(1)
}

/// N for k round trips: (k − 1)⌈Δ/s⌉, at least one.
#[must_use]
pub fn rule_n(round_trip: Span, every: Span, round_trips: u32) -> u32 {
    rule_m(round_trip, every).saturating_mul(round_trips.saturating_sub(1)).max(1)
}

/// Both.
#[must_use]
pub fn rule(round_trip: Span, every: Span, round_trips: u32) -> Blocks {
    Blocks { samples: rule_m(round_trip, every), blocks: rule_n(round_trip, every, round_trips) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section VII: Δ of 240 and 360 ms, s of 30 ms, N: 12Δ.
    #[test]
    fn the_papers_sessions() {
        let of = |millis| rule(Span::from_millis(millis), Span::from_millis(30), 12);
        assert_eq!((of(240).samples, of(240).blocks), (8, 88));
        assert_eq!((of(360).samples, of(360).blocks), (12, 132));
        // Section VI-A: 200 ms is seven intervals of 30 ms.
        assert_eq!(of(200).samples, 7);
        assert_eq!(rule(Span::ZERO, Span::from_millis(30), 1), Blocks::INSTCAP);
    }
}
