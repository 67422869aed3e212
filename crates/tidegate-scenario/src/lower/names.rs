//! Names in the file to numbers, and names that nothing may have.

use super::notes::Notes;
use crate::check::{Form, Item, Named};
use crate::document::Place;
use crate::spelling::nearest;

/// The place of a gate in the file.
pub(super) fn gate_of(root: &Form, item: &Item, notes: &mut Notes) -> Option<usize> {
    let name = item.text()?;
    let gates = root.table("gate").map_or(&[][..], |gates| gates.items.as_slice());
    let found = gates.iter().position(|gate| gate.name == name);
    if found.is_none() {
        let names = || gates.iter().map(|gate| gate.name.as_str());
        let help = match nearest(name, names()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("the gates are {}", names().take(20).collect::<Vec<_>>().join(", ")),
        };
        notes.wrong(item, format!("no gate is called {name:?}"), help);
    }
    found
}

/// The pools in the order of the file.
pub(super) fn pools_of(root: &Form) -> &[Named] {
    root.table("pool").map_or(&[][..], |pools| pools.items.as_slice())
}

/// The pool that a name means.
pub(super) fn pool_of(root: &Form, item: &Item, notes: &mut Notes) -> Option<usize> {
    let name = item.text()?;
    let pools = pools_of(root);
    let found = pools.iter().position(|pool| pool.name == name);
    if found.is_none() {
        let names = || pools.iter().map(|pool| pool.name.as_str());
        let help = match nearest(name, names()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if pools.is_empty() => format!("add [pool.{name}] with a capacity"),
            None => format!("the pools are {}", names().take(20).collect::<Vec<_>>().join(", ")),
        };
        notes.wrong(item, format!("no pool is called {name:?}"), help);
    }
    found
}

/// `[record]` tells its own keys from names, so no name may be one of them.
pub(super) fn reserved(name: &str, at: Place, key: &str, notes: &mut Notes) {
    if matches!(name, "every" | "packets") {
        let problem = format!("the name {name:?} is a key of [record]");
        notes.wrong_at(at, key, problem, format!("use another name, such as \"{name}1\""));
    }
}
