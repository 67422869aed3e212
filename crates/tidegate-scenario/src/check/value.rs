//! Typed values, each with its place.

use tidegate_core::dtm::Slots;
use tidegate_core::units::{Rate, Span, Speed};

use crate::document::Place;
use crate::table::Section;
use crate::units::Amount;

/// A value with its place, and whether it was written or is a default.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) value: Value,
    pub(crate) at: Place,
    /// Dotted key, for messages.
    pub(crate) key: String,
    pub(crate) given: bool,
    /// Where a size was given by a time or in bandwidth–delay products: what was written and how it was
    /// computed. The value is what it came to.
    pub(crate) computed: Option<Computed>,
}

/// How a size came about that was not written as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Computed {
    /// As written, such as `0.5 BDP`.
    pub(crate) written: String,
    /// What it is made of, such as `0.5 × 20 Mbit/s × 40 ms`.
    pub(crate) from: String,
}

/// A value after the table has had its say.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Flag(bool),
    Whole(u64),
    Real(f64),
    Text(String),
    /// One of a key's words.
    Word(&'static str),
    /// What was written with a unit.
    Amount(Amount),
    List(Vec<Item>),
    Table(Form),
    /// Checked by hand, from the tree.
    Free,
}

/// A table: its items in the order written, the defaults after them.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) section: &'static Section,
    pub(crate) at: Place,
    /// Dotted key of the table.
    pub(crate) key: String,
    pub(crate) items: Vec<Named>,
}

/// An item under its name.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) name_at: Place,
    pub(crate) item: Item,
}

impl Form {
    /// The value of `name`, written or default.
    pub(crate) fn get(&self, name: &str) -> Option<&Item> {
        debug_assert!(
            name == "use" || self.section.find(name).is_some() || self.section.others.is_some(),
            "{name} is not a key of {}",
            self.section.title
        );
        self.items.iter().find(|named| named.name == name).map(|named| &named.item)
    }

    /// The item at a dotted key below this table; none below what is checked by hand.
    pub(crate) fn at<'a>(&self, path: impl Iterator<Item = &'a str>) -> Option<&Item> {
        let (mut form, mut found) = (Some(self), None);
        for step in path {
            let name = form?.section.own_name(step);
            let item = &form?.items.iter().find(|named| named.name == name)?.item;
            form = item.table();
            found = Some(item);
        }
        found
    }

    /// The value of `name`, if it was written.
    pub(crate) fn given(&self, name: &str) -> Option<&Item> {
        self.get(name).filter(|item| item.given)
    }

    /// The only item written, of a section where exactly one may be; what may stand beside it is none.
    pub(crate) fn only(&self) -> Option<(&str, &Item)> {
        let alone = |name: &str| !self.section.beside.contains(&name);
        self.items
            .iter()
            .find(|named| named.item.given && alone(&named.name))
            .map(|named| (named.name.as_str(), &named.item))
    }

    pub(crate) fn table(&self, name: &str) -> Option<&Form> {
        self.get(name).and_then(Item::table)
    }

    pub(crate) fn list(&self, name: &str) -> &[Item] {
        self.get(name).map_or(&[], Item::list)
    }

    pub(crate) fn span(&self, name: &str) -> Option<Span> {
        self.get(name).and_then(Item::span)
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|item| matches!(item.value, Value::Flag(true)))
    }

    pub(crate) fn whole(&self, name: &str) -> Option<u64> {
        self.get(name).and_then(Item::whole)
    }

    pub(crate) fn slots(&self, name: &str) -> Option<Slots> {
        self.get(name).and_then(Item::slots)
    }

    pub(crate) fn bytes(&self, name: &str) -> Option<u64> {
        self.get(name).and_then(Item::bytes)
    }

    pub(crate) fn word(&self, name: &str) -> Option<&'static str> {
        self.get(name).and_then(Item::word)
    }

    pub(crate) fn rate(&self, name: &str) -> Option<Rate> {
        self.get(name).and_then(Item::rate)
    }

    pub(crate) fn cells(&self, name: &str) -> Option<u64> {
        self.get(name).and_then(Item::cells)
    }

    pub(crate) fn real(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(Item::real)
    }
}

impl Item {
    /// What was read, in one spelling: `1 Mbit/s` and `1000 kbit/s` are the same. None where it is checked by hand.
    pub(crate) fn reading(&self) -> Option<String> {
        if let Some(computed) = &self.computed {
            return Some(computed.written.clone());
        }
        match &self.value {
            Value::List(items) => {
                let items: Option<Vec<String>> = items.iter().map(Item::reading).collect();
                Some(format!("{:?}", items?))
            }
            Value::Table(form) => {
                let reading = |named: &Named| Some((named.name.clone(), named.item.reading()?));
                let mut items: Vec<(String, String)> =
                    form.items.iter().map(reading).collect::<Option<_>>()?;
                items.sort_unstable();
                Some(format!("{items:?}"))
            }
            Value::Free => None,
            value => Some(format!("{value:?}")),
        }
    }

    pub(crate) fn table(&self) -> Option<&Form> {
        match &self.value {
            Value::Table(form) => Some(form),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> &[Item] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn span(&self) -> Option<Span> {
        match self.value {
            Value::Amount(Amount::Time(span)) => Some(span),
            _ => None,
        }
    }

    pub(crate) fn speed(&self) -> Option<Speed> {
        match self.value {
            Value::Amount(Amount::Speed(speed)) => Some(speed),
            _ => None,
        }
    }

    pub(crate) fn rate(&self) -> Option<Rate> {
        match self.value {
            Value::Amount(Amount::Speed(Speed::Bits(rate))) => Some(rate),
            _ => None,
        }
    }

    pub(crate) fn whole(&self) -> Option<u64> {
        match self.value {
            Value::Whole(number) => Some(number),
            _ => None,
        }
    }

    pub(crate) fn slots(&self) -> Option<Slots> {
        match self.value {
            Value::Amount(Amount::Slots(slots)) => Some(slots),
            _ => None,
        }
    }

    pub(crate) fn bytes(&self) -> Option<u64> {
        match self.value {
            Value::Amount(Amount::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }

    pub(crate) fn cells(&self) -> Option<u64> {
        match self.value {
            Value::Amount(Amount::Cells(cells)) => Some(cells),
            _ => None,
        }
    }

    pub(crate) fn real(&self) -> Option<f64> {
        match self.value {
            Value::Real(number) => Some(number),
            _ => None,
        }
    }

    pub(crate) fn word(&self) -> Option<&'static str> {
        match self.value {
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}
