//! How runs use this machine, in words: `backend=packet tail=0 idle=halts`. It is the machine's
//! matter and not the scenario's, so it does not stand in scenario files.

use std::time::Duration;

use crate::lab::{Backend, Work};
use crate::pump::Idle;
use crate::run::RunOptions;

/// The variable of the environment that has the words.
pub const VARIABLE: &str = "TIDEGATE_LIVE";
/// A longer tail would never let the thread sleep.
const LONGEST_TAIL_US: u64 = 1000;

impl RunOptions {
    /// The options that the words ask for, the others as by default.
    ///
    /// # Errors
    /// What was read and what would be right.
    pub fn from_words(words: &str) -> Result<RunOptions, String> {
        let mut options = RunOptions::default();
        for word in words.split([' ', ',']).filter(|word| !word.is_empty()) {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            match key {
                "backend" => {
                    let backends =
                        [("auto", Backend::Auto), ("tun", Backend::Tun), ("packet", Backend::Packet)];
                    options.backend = choose(word, value, &backends)?;
                }
                "idle" => {
                    let idles = [("auto", Idle::Auto), ("awake", Idle::Awake), ("halts", Idle::Halts)];
                    options.pump.idle = choose(word, value, &idles)?;
                }
                "work" => {
                    let works =
                        [("auto", Work::Auto), ("together", Work::Together), ("divided", Work::Divided)];
                    options.work = choose(word, value, &works)?;
                }
                "tail" => {
                    let micros: u64 = value
                        .parse()
                        .ok()
                        .filter(|micros| *micros <= LONGEST_TAIL_US)
                        .ok_or_else(|| {
                            format!(
                                "{VARIABLE}: read \"{word}\"; the spin tail is a whole number of microseconds, 0 (none) to \
                                 {LONGEST_TAIL_US}"
                            )
                        })?;
                    options.pump.spin = Duration::from_micros(micros);
                }
                _ => {
                    return Err(format!(
                        "{VARIABLE}: read \"{word}\"; there is backend=, tail=, idle= and work=, with spaces between"
                    ));
                }
            }
        }
        Ok(options)
    }
}

fn choose<T: Copy>(word: &str, value: &str, from: &[(&str, T)]) -> Result<T, String> {
    let found = from.iter().find(|(name, _)| *name == value);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&str> = from.iter().map(|(name, _)| *name).collect();
        format!("{VARIABLE}: read \"{word}\"; it is one of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_choose_and_the_rest_stays() {
        let options = RunOptions::from_words("backend=packet tail=0,idle=halts  work=together").unwrap();
        assert_eq!(options.backend, Backend::Packet);
        assert_eq!(options.work, Work::Together);
        assert_eq!((options.pump.spin, options.pump.idle), (Duration::ZERO, Idle::Halts));
        let none = RunOptions::from_words("").unwrap();
        assert_eq!((none.backend, none.pump), (Backend::Auto, crate::PumpOptions::default()));
    }

    #[test]
    fn other_words_are_refused_with_what_there_is() {
        for (words, says) in [
            ("backend=ring", "read \"backend=ring\"; it is one of auto, tun, packet"),
            ("idle", "read \"idle\"; it is one of auto, awake, halts"),
            ("tail=50us", "read \"tail=50us\"; the spin tail is a whole number"),
            ("tail=2000", "0 (none) to 1000"),
            ("speed=9", "there is backend=, tail=, idle= and work="),
        ] {
            let error = RunOptions::from_words(words).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
