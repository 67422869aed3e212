//! The one table of keys. Unknown-key checks, types, units, ranges, defaults, the JSON
//! Schema and the reference all come from here; adding a key means adding one row and the
//! line that lowers it.

mod advice;
mod aqm;
mod cake;
mod classes;
pub(crate) mod codepoints;
mod flow;
mod gate;
mod jitter;
mod marker;
mod media;
mod police;
mod pool;
mod quic;
mod rate;
mod red;
mod request;
mod tcp;
mod timers;
mod top;
mod video;

use crate::units::Dim;

#[cfg(test)]
pub(crate) use tcp::SET as TCP_SET;
pub(crate) use tcp::TCP;
pub(crate) use timers::RTO;
pub(crate) use top::ROOT;

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// true or false.
    Flag,
    /// Any text.
    Text,
    /// Text "python:FILE:CLASS" or "python:MODULE:CLASS".
    Python,
    /// A bare whole number.
    Whole { min: u64, max: u64 },
    /// A bare whole number, which may be below zero.
    Signed { min: i64, max: i64 },
    /// A bare number in `[0, 1]`, or text such as "1%".
    Probability,
    /// A bare number above 0 and up to 1, or text such as "50%".
    Share,
    /// A bare number above 0, or 0 too.
    Number { zero: bool },
    /// Text with a unit, or one of the words.
    Quantity { dim: Dim, zero: bool, words: &'static [Word] },
    /// One of the words.
    Choice(&'static [Word]),
    /// A list of at least `min` values of a kind.
    List { of: &'static Kind, min: usize },
    /// A list of exactly these.
    Tuple(&'static [Kind]),
    /// A table.
    Form(&'static Section),
    /// The first that takes what was written.
    AnyOf(&'static [Kind]),
    /// Anything: checked by hand.
    Free,
    /// A key of a later version.
    Later,
}

/// A word that a key takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Word {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The simulator refuses it.
    pub(crate) live_only: bool,
}

/// What holds when a key is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum WhenAbsent {
    /// It must not be; an example as it could stand in a file.
    Required(&'static str),
    /// A value.
    Is(Literal),
    /// A value for each `tcp.base`.
    ByBase { rfc: Literal, bsd44: Literal, linux: Literal },
    /// Something that depends on other keys, in words.
    Words(&'static str),
}

/// A value as it could stand in a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Literal {
    Text(&'static str),
    Whole(i64),
    Flag(bool),
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) default: WhenAbsent,
    pub(crate) about: &'static str,
}

/// The keys of one table of a scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Section {
    /// What it is, for headings.
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    pub(crate) keys: &'static [Key],
    /// Takes any other key, of this kind.
    pub(crate) others: Option<Kind>,
    /// The other keys are names of these ("gate"), and are checked as names.
    pub(crate) names: Option<&'static str>,
    /// A value that is no table is short for this key.
    pub(crate) short: Option<&'static str>,
    /// Exactly one key may be given; setting one drops the other.
    pub(crate) one_of: bool,
    /// Keys that may stand beside that one, or alone.
    pub(crate) beside: &'static [&'static str],
    /// Other names of keys.
    pub(crate) aliases: &'static [Alias],
    /// What to say of keys that people know from elsewhere and that are not here: key and help.
    pub(crate) hints: &'static [(&'static str, &'static str)],
}

/// Another name of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Alias {
    pub(crate) name: &'static str,
    /// The key's own name.
    pub(crate) of: &'static str,
    pub(crate) about: &'static str,
}

impl Section {
    pub(crate) fn find(&self, name: &str) -> Option<&'static Key> {
        let keys: &'static [Key] = self.keys;
        keys.iter().find(|key| key.name == name)
    }

    /// The key's own name, where another was written.
    pub(crate) fn own_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.iter().find(|alias| alias.name == name).map_or(name, |alias| alias.of)
    }

    /// A key's other names.
    pub(crate) fn aliases_of(&self, key: &str) -> impl Iterator<Item = &'static str> {
        let aliases: &'static [Alias] = self.aliases;
        let key = key.to_owned();
        aliases.iter().filter(move |alias| alias.of == key).map(|alias| alias.name)
    }
}

impl Kind {
    /// Whether it takes a size that may be given by a time or in bandwidth–delay products.
    pub(crate) fn is_relative(self) -> bool {
        matches!(self, Kind::Quantity { dim, .. } if dim.is_relative())
    }

    /// The section of a table that this kind takes.
    pub(crate) fn section(self) -> Option<&'static Section> {
        match self {
            Kind::Form(section) => Some(section),
            Kind::AnyOf(kinds) => kinds.iter().find_map(|kind| kind.section()),
            _ => None,
        }
    }
}

const fn section(title: &'static str, about: &'static str, keys: &'static [Key]) -> Section {
    Section {
        title,
        about,
        keys,
        others: None,
        names: None,
        short: None,
        one_of: false,
        beside: &[],
        aliases: &[],
        hints: &[],
    }
}

const fn one_of(title: &'static str, about: &'static str, keys: &'static [Key]) -> Section {
    Section { one_of: true, ..section(title, about, keys) }
}

const fn beside(keys: &'static [&'static str], section: Section) -> Section {
    Section { beside: keys, ..section }
}

const fn short(key: &'static str, section: Section) -> Section {
    Section { short: Some(key), ..section }
}

const fn hints(hints: &'static [(&'static str, &'static str)], section: Section) -> Section {
    Section { hints, ..section }
}

const fn aliases(aliases: &'static [Alias], section: Section) -> Section {
    Section { aliases, ..section }
}

const fn alias(name: &'static str, of: &'static str, about: &'static str) -> Alias {
    Alias { name, of, about }
}

const fn named(what: &'static str, of: Kind, about: &'static str) -> Section {
    Section { others: Some(of), names: Some(what), ..section(what, about, &[]) }
}

const fn key(name: &'static str, kind: Kind, default: WhenAbsent, about: &'static str) -> Key {
    Key { name, kind, default, about }
}

const fn later(name: &'static str, about: &'static str) -> Key {
    Key { name, kind: Kind::Later, default: WhenAbsent::Words("not supported yet"), about }
}

const fn word(name: &'static str, about: &'static str) -> Word {
    Word { name, about, live_only: false }
}

const fn text(value: &'static str) -> WhenAbsent {
    WhenAbsent::Is(Literal::Text(value))
}

const fn flag(value: bool) -> WhenAbsent {
    WhenAbsent::Is(Literal::Flag(value))
}

/// A default for each `tcp.base`.
const fn by(rfc: Literal, bsd44: Literal, linux: Literal) -> WhenAbsent {
    WhenAbsent::ByBase { rfc, bsd44, linux }
}

const fn texts(rfc: &'static str, bsd44: &'static str, linux: &'static str) -> WhenAbsent {
    by(Literal::Text(rfc), Literal::Text(bsd44), Literal::Text(linux))
}

const fn flags(rfc: bool, bsd44: bool, linux: bool) -> WhenAbsent {
    by(Literal::Flag(rfc), Literal::Flag(bsd44), Literal::Flag(linux))
}

const fn quantity(dim: Dim) -> Kind {
    Kind::Quantity { dim, zero: false, words: &[] }
}

const fn quantity_or_zero(dim: Dim) -> Kind {
    Kind::Quantity { dim, zero: true, words: &[] }
}

/// A time above zero.
const TIME: Kind = quantity(Dim::Time);
/// A time, zero included.
const TIME_0: Kind = quantity_or_zero(Dim::Time);
const NUMBER: Kind = Kind::Number { zero: false };
const NUMBER_0: Kind = Kind::Number { zero: true };
/// A size above zero.
const SIZE: Kind = quantity(Dim::Size);
/// The depth of a bucket: a size above zero, which may be given by a time or in bandwidth–delay products.
const BURST: Kind = quantity(Dim::Burst);
/// A number of slots above zero.
const SLOTS: Kind = quantity(Dim::Slots);
/// A number of slots, zero included.
const SLOTS_0: Kind = quantity_or_zero(Dim::Slots);
/// A rate above zero.
const RATE: Kind = quantity(Dim::Rate);
/// A list of gate names.
const PATH: Kind = Kind::List { of: &Kind::Text, min: 1 };
