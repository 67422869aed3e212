//! Tins of CAKE: which codepoint is in which, and what each has (Linux `sch_cake`, `cake_config_diffserv3` and the others).

use crate::units::Rate;

/// How many tins there are, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diffserv {
    /// One for everything.
    BestEffort,
    /// Bulk, best effort, voice.
    Three,
    /// Bulk, best effort, video, voice.
    Four,
    /// Eight.
    Eight,
}

/// The tin of each codepoint.
const EIGHT: [u8; 64] = [
    2, 0, 1, 2, 4, 2, 2, 2, // DF, LE, TOS2, TOS4
    1, 2, 1, 2, 1, 2, 1, 2, // CS1, AF1x
    5, 2, 4, 2, 4, 2, 4, 2, // CS2, AF2x
    3, 2, 3, 2, 3, 2, 3, 2, // CS3, AF3x
    6, 2, 3, 2, 3, 2, 3, 2, // CS4, AF4x
    6, 2, 2, 2, 6, 2, 6, 2, // CS5, VA, EF
    7, 2, 2, 2, 2, 2, 2, 2, // CS6
    7, 2, 2, 2, 2, 2, 2, 2, // CS7
];

impl Diffserv {
    /// The number of the tin that packets with this codepoint are in.
    #[must_use]
    pub fn tin_of(self, codepoint: u8) -> u16 {
        let codepoint = codepoint & 63;
        match self {
            Diffserv::BestEffort => 0,
            // LE, CS1; TOS4, VA, EF, CS6, CS7.
            Diffserv::Three => match codepoint {
                1 | 8 => 1,
                4 | 44 | 46 | 48 | 56 => 2,
                _ => 0,
            },
            // LE, CS1; TOS4, CS2, AF2x, CS3, AF3x, AF4x; CS4, CS5, VA, EF, CS6, CS7.
            Diffserv::Four => match codepoint {
                1 | 8 => 1,
                4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38 => 2,
                32 | 40 | 44 | 46 | 48 | 56 => 3,
                _ => 0,
            },
            Diffserv::Eight => u16::from(EIGHT[usize::from(codepoint)]),
        }
    }

    /// The names of the tins. Where several may send, the one with the highest number goes first.
    #[must_use]
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Diffserv::BestEffort => &["best-effort"],
            Diffserv::Three => &["best-effort", "bulk", "voice"],
            Diffserv::Four => &["best-effort", "bulk", "video", "voice"],
            Diffserv::Eight => &[
                "lower-effort",
                "high-throughput",
                "best-effort",
                "video",
                "low-latency",
                "interactive",
                "voice",
                "control",
            ],
        }
    }

    /// For each tin the rate up to which it goes first, and the bytes of its turn where there is no shaper.
    #[must_use]
    pub fn shares(self, bandwidth: Option<Rate>) -> Vec<(Option<Rate>, u32)> {
        let part = |shift: u32| {
            let rate = bandwidth.map(|rate| Rate::from_bps((rate.bps() >> shift).max(1)));
            (rate, 1024 >> shift)
        };
        match self {
            Diffserv::BestEffort => vec![(bandwidth, 65_535)],
            Diffserv::Three => [0, 4, 2].map(part).to_vec(),
            Diffserv::Four => [0, 4, 1, 2].map(part).to_vec(),
            Diffserv::Eight => {
                let (mut rate, mut quantum) = (bandwidth.map(Rate::bps), 256);
                let next = |_| {
                    let share = (rate.map(|bps| Rate::from_bps(bps.max(1))), quantum);
                    rate = rate.map(|bps| (u128::from(bps) * 7 / 8) as u64);
                    quantum = quantum * 7 / 8;
                    share
                };
                (0..8).map(next).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codepoints are in the tins that the manual page of `tc-cake` names.
    #[test]
    fn codepoints_are_where_the_manual_says() {
        let of =
            |diffserv: Diffserv, codepoint: u8| diffserv.names()[usize::from(diffserv.tin_of(codepoint))];
        for (codepoint, three, four) in [
            (0, "best-effort", "best-effort"),
            (8, "bulk", "bulk"),
            (1, "bulk", "bulk"),
            (10, "best-effort", "best-effort"),
            (18, "best-effort", "video"),
            (24, "best-effort", "video"),
            (34, "best-effort", "video"),
            (32, "best-effort", "voice"),
            (40, "best-effort", "voice"),
            (44, "voice", "voice"),
            (46, "voice", "voice"),
            (48, "voice", "voice"),
            (56, "voice", "voice"),
            (63, "best-effort", "best-effort"),
        ] {
            assert_eq!((of(Diffserv::Three, codepoint), of(Diffserv::Four, codepoint)), (three, four));
            assert_eq!(of(Diffserv::BestEffort, codepoint), "best-effort");
        }
        let eight = [0, 1, 8, 24, 18, 16, 46, 48].map(|codepoint| Diffserv::Eight.tin_of(codepoint));
        assert_eq!(eight, [2, 0, 1, 3, 4, 5, 6, 7]);
    }

    /// A sixteenth for bulk, a quarter for voice, a half for video; seven eighths of the one before.
    #[test]
    fn rates_of_tins() {
        let of = |diffserv: Diffserv| -> Vec<(u64, u32)> {
            let shares = diffserv.shares(Some(Rate::from_bps(16_000_000)));
            shares.into_iter().map(|(rate, quantum)| (rate.expect("a rate").bps(), quantum)).collect()
        };
        assert_eq!(of(Diffserv::Three), [(16_000_000, 1024), (1_000_000, 64), (4_000_000, 256)]);
        assert_eq!(
            of(Diffserv::Four),
            [(16_000_000, 1024), (1_000_000, 64), (8_000_000, 512), (4_000_000, 256)]
        );
        assert_eq!(of(Diffserv::Eight)[..3], [(16_000_000, 256), (14_000_000, 224), (12_250_000, 196)]);
        assert_eq!(Diffserv::Three.shares(None)[1], (None, 64));
    }
}
