//! Names in the file to numbers, and names that nothing may have.

use super::notes::Notes;
use crate::check::{Form, Item, Named};
use crate::document::Place;
use crate::spelling::value_meant;

/// A kind of table that other keys refer to by its name, such as `[gate.x]`.
pub(crate) struct Kind {
    /// The table in the file, which is also what one of them is called.
    table: &'static str,
    /// What the help adds where the file has none: what such a table needs.
    needs: &'static str,
}

pub(crate) const GATE: Kind = Kind { table: "gate", needs: "" };
pub(crate) const POOL: Kind = Kind { table: "pool", needs: " with a capacity" };
pub(crate) const SERVER: Kind = Kind { table: "server", needs: " with a rate" };

/// After this many problems no nearest name is looked for: only the first problem is shown.
const FEW: usize = 100;

/// The tables of a kind, in the order of the file.
pub(crate) fn tables<'a>(root: &'a Form, kind: &Kind) -> &'a [Named] {
    root.table(kind.table).map_or(&[], |tables| tables.items.as_slice())
}

/// The number of the table whose name the item gives, in the order of the file.
pub(crate) fn index_of(root: &Form, kind: &Kind, item: &Item, notes: &mut Notes) -> Option<usize> {
    let name = item.text()?;
    let tables = tables(root, kind);
    let found = tables.iter().position(|named| named.name == name);
    if found.is_none() {
        unknown(kind, item, name, || tables.iter().map(|named| named.name.as_str()), notes);
    }
    found
}

/// Reports a name that no table of a kind has. `names` are the ones that there are.
pub(crate) fn unknown<'a, I: Iterator<Item = &'a str>>(
    kind: &Kind,
    item: &Item,
    name: &str,
    names: impl Fn() -> I,
    notes: &mut Notes,
) {
    let Kind { table, needs } = kind;
    let meant = if notes.problems.len() < FEW { value_meant(name, names()) } else { None };
    let help = meant.unwrap_or_else(|| match names().next() {
        None => format!("add [{table}.{name}]{needs}"),
        Some(_) => format!("the {table}s are {}", names().take(20).collect::<Vec<_>>().join(", ")),
    });
    notes.wrong(item, format!("no {table} is called {name:?}"), help);
}

/// Reports a name that is also a key of `[record]`, where names and keys stand side by side.
pub(crate) fn reserved(name: &str, at: Place, key: &str, notes: &mut Notes) {
    if matches!(name, "every" | "groups" | "packets") {
        let problem = format!("the name {name:?} is a key of [record]");
        notes.wrong_at(at, key, problem, format!("use another name, such as \"{name}1\""));
    }
}
