//! Where a flow's TCP settings come from: its own keys, then the named set's, then the base's.

use tidegate_core::plan::TcpBase;

use crate::check::{Form, Item, Value, default_item};
use crate::document::Place;
use crate::table::{Literal, TCP, WhenAbsent};

/// Where a flow's TCP settings come from, nearest first.
pub(crate) struct TcpLayers<'a> {
    own: Option<&'a Form>,
    set: Option<&'a Form>,
    pub(crate) base: TcpBase,
    pub(crate) key: String,
    pub(crate) at: Place,
}

impl<'a> TcpLayers<'a> {
    pub(crate) fn new(root: &'a Form, flow: &'a Form) -> TcpLayers<'a> {
        let own = flow.table("tcp");
        let set = own
            .and_then(|own| own.given("use"))
            .and_then(Item::text)
            .and_then(|name| {
                root.table("tcp").and_then(|sets| sets.items.iter().find(|named| named.name == name))
            })
            .and_then(|named| named.item.table());
        let key = format!("{}.tcp", flow.key);
        let base = base_of(own.and_then(|own| own.given("base")).or_else(|| set?.given("base")));
        TcpLayers { own, set, base, key, at: own.map_or(flow.at, |form| form.at) }
    }

    pub(crate) fn of_set(set: &'a Form) -> TcpLayers<'a> {
        let base = base_of(set.given("base"));
        TcpLayers { own: Some(set), set: None, base, key: set.key.clone(), at: set.at }
    }

    /// What the file says about `name`.
    pub(crate) fn given(&self, name: &str) -> Option<&'a Item> {
        let named = |form: Option<&'a Form>| form.and_then(|form| form.given(name));
        named(self.own).or_else(|| named(self.set))
    }

    /// The named set that `name` comes from, if it does.
    pub(crate) fn set_of(&self, name: &str) -> Option<&'a str> {
        let own = self.own.and_then(|form| form.given(name));
        let set = self.set.filter(|set| own.is_none() && set.section.find(name).is_some())?;
        set.given(name)?;
        self.own?.given("use")?.text()
    }

    /// What holds for `name`.
    pub(crate) fn item(&self, name: &str) -> Option<Item> {
        self.given(name)
            .cloned()
            .or_else(|| default_item(TCP.find(name)?, &self.key, self.at, Some(self.base)))
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.item(name).is_some_and(|item| matches!(item.value, Value::Flag(true)))
    }

    pub(crate) fn word(&self, name: &str) -> &'static str {
        self.item(name).and_then(|item| item.word()).unwrap_or_default()
    }
}

/// The words of `base`.
const BASES: [(&str, TcpBase); 4] = [
    ("rfc", TcpBase::Rfc),
    ("bsd44", TcpBase::Bsd44),
    ("linux", TcpBase::Linux),
    ("linux-6.18", TcpBase::Linux),
];

/// The base that a file names; where it names none, the one that the table of keys names.
fn base_of(given: Option<&Item>) -> TcpBase {
    let word = given.and_then(Item::word).or_else(|| match TCP.find("base")?.default {
        WhenAbsent::Is(Literal::Text(word)) => Some(word),
        _ => None,
    });
    let known = BASES.iter().find(|(name, _)| Some(*name) == word);
    debug_assert!(known.is_some(), "{word:?} is in the table of keys, but not in this list");
    known.map_or(TcpBase::Linux, |(_, base)| *base)
}

#[cfg(test)]
mod tests {
    use super::BASES;
    use crate::table::{Kind, TCP, TCP_SET};

    #[test]
    fn sets_take_every_key_but_use() {
        let without: Vec<_> = TCP.keys.iter().filter(|row| row.name != "use").map(|row| row.name).collect();
        let set: Vec<_> = TCP_SET.keys.iter().map(|row| row.name).collect();
        assert_eq!(without, set);
    }

    #[test]
    fn every_base_of_the_table_has_a_meaning() {
        let Some(Kind::Choice(words)) = TCP.find("base").map(|row| row.kind) else {
            panic!("base is a choice")
        };
        assert!(words.iter().map(|word| word.name).eq(BASES.map(|(name, _)| name)));
    }
}
