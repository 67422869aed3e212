//! Codepoints of differentiated services: their names and numbers.

use super::{Kind, Word, word};

/// A differentiated services codepoint.
pub(super) const DSCP: Kind = Kind::AnyOf(&[Kind::Choice(WORDS), Kind::Whole { min: 0, max: 63 }]);

/// Names of codepoints (IANA registry "Differentiated Services Field Codepoints").
const WORDS: &[Word] = &[
    word("DF", "0, default forwarding (RFC 2474 §4.1)"),
    word("LE", "1, lower effort (RFC 8622)"),
    word("CS1", "8, class selector (RFC 2474 §4.2.2)"),
    word("CS2", "16, likewise"),
    word("CS3", "24, likewise"),
    word("CS4", "32, likewise"),
    word("CS5", "40, likewise"),
    word("CS6", "48, likewise"),
    word("CS7", "56, likewise"),
    word("AF11", "10, assured forwarding (RFC 2597 §6)"),
    word("AF12", "12, likewise"),
    word("AF13", "14, likewise"),
    word("AF21", "18, likewise"),
    word("AF22", "20, likewise"),
    word("AF23", "22, likewise"),
    word("AF31", "26, likewise"),
    word("AF32", "28, likewise"),
    word("AF33", "30, likewise"),
    word("AF41", "34, likewise"),
    word("AF42", "36, likewise"),
    word("AF43", "38, likewise"),
    word("NQB", "45, non-queue-building (RFC 9956)"),
    word("VA", "44, voice that was admitted (RFC 5865)"),
    word("EF", "46, expedited forwarding (RFC 3246)"),
];

/// The number of a codepoint's name (IANA registry "Differentiated Services Field Codepoints").
pub(crate) fn named(name: &str) -> u8 {
    let digits: Vec<u8> = name.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
    match (name, digits.as_slice()) {
        ("LE", _) => 1,
        ("VA", _) => 44,
        ("NQB", _) => 45,
        ("EF", _) => 46,
        // RFC 2474 §4.2.2.1; RFC 2597 §6.
        (_, [selector]) => 8 * selector,
        (_, [class, precedence]) => 8 * class + 2 * precedence,
        _ => 0,
    }
}

/// A codepoint by its name, or by its number where it has none.
pub(crate) fn text(codepoint: u8) -> String {
    let found = WORDS.iter().find(|word| named(word.name) == codepoint);
    found.map_or_else(|| codepoint.to_string(), |word| word.name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codepoints_have_names() {
        let names = ["DF", "LE", "CS1", "CS7", "AF11", "AF23", "AF43", "VA", "NQB", "EF"];
        assert_eq!(names.map(named), [0, 1, 8, 56, 10, 22, 38, 44, 45, 46]);
        assert_eq!(names.map(|name| text(named(name))), names);
        assert_eq!(text(5), "5");
    }
}
