//! Codepoints of differentiated services: their names and numbers.

use super::{Kind, Word, word};

/// A differentiated services codepoint.
pub(super) const DSCP: Kind = Kind::AnyOf(&[Kind::Choice(WORDS), Kind::Whole { min: 0, max: 63 }]);

/// A name, its number and what it means.
macro_rules! codepoints {
    ($($name:literal = $number:literal, $about:literal;)*) => {
        const WORDS: &[Word] = &[$(word($name, concat!($number, ", ", $about))),*];
        const NUMBERS: &[u8] = &[$($number),*];
    };
}

// IANA registry "Differentiated Services Field Codepoints".
codepoints! {
    "DF" = 0, "default forwarding (RFC 2474 §4.1)";
    "LE" = 1, "lower effort (RFC 8622)";
    "CS1" = 8, "class selector (RFC 2474 §4.2.2)";
    "CS2" = 16, "likewise";
    "CS3" = 24, "likewise";
    "CS4" = 32, "likewise";
    "CS5" = 40, "likewise";
    "CS6" = 48, "likewise";
    "CS7" = 56, "likewise";
    "AF11" = 10, "assured forwarding (RFC 2597 §6)";
    "AF12" = 12, "likewise";
    "AF13" = 14, "likewise";
    "AF21" = 18, "likewise";
    "AF22" = 20, "likewise";
    "AF23" = 22, "likewise";
    "AF31" = 26, "likewise";
    "AF32" = 28, "likewise";
    "AF33" = 30, "likewise";
    "AF41" = 34, "likewise";
    "AF42" = 36, "likewise";
    "AF43" = 38, "likewise";
    "NQB" = 45, "non-queue-building (RFC 9956)";
    "VA" = 44, "voice that was admitted (RFC 5865)";
    "EF" = 46, "expedited forwarding (RFC 3246)";
}

/// The number of a codepoint's name; `None`: it is not in the table.
pub(crate) fn named(name: &str) -> Option<u8> {
    let (_, number) = WORDS.iter().zip(NUMBERS).find(|(word, _)| word.name == name)?;
    Some(*number)
}

/// A codepoint by its name, or by its number where it has none.
pub(crate) fn text(codepoint: u8) -> String {
    let found = WORDS.iter().zip(NUMBERS).find(|(_, number)| **number == codepoint);
    found.map_or_else(|| codepoint.to_string(), |(word, _)| word.name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codepoints_have_names() {
        let numbers = [("DF", 0), ("LE", 1), ("VA", 44), ("NQB", 45), ("EF", 46)];
        // RFC 2474 §4.2.2.1; RFC 2597 §6.
        let selectors = (1..=7).map(|class| (format!("CS{class}"), 8 * class));
        let assured = (1..=4).flat_map(|class| {
            (1..=3).map(move |precedence| (format!("AF{class}{precedence}"), 8 * class + 2 * precedence))
        });
        let all: Vec<(String, u8)> = numbers
            .map(|(name, number)| (name.to_owned(), number))
            .into_iter()
            .chain(selectors)
            .chain(assured)
            .collect();
        assert_eq!(all.len(), WORDS.len());
        for (name, number) in all {
            assert_eq!((named(&name), text(number)), (Some(number), name));
        }
        assert_eq!((named("AF51"), named("EF2"), text(5)), (None, None, "5".to_owned()));
    }
}
