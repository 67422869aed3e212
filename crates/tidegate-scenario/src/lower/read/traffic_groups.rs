//! `traffic.x.group`: names by which sources are counted together.

use crate::check::{Form, Item};
use crate::lower::notes::Notes;

/// The name of the row of all sources in a summary.
const ALL: &str = "all";

/// The group of a source that is called `name`.
pub(super) fn group(form: &Form, name: &str) -> String {
    form.get("group").and_then(Item::text).unwrap_or(name).to_owned()
}

/// A name that means one source and a group of others is a problem, and so is the name of all sources together.
pub(super) fn check(root: &Form, notes: &mut Notes) {
    let Some(table) = root.table("traffic") else { return };
    let sources = || table.items.iter().filter_map(|named| Some((named.name.as_str(), named.item.table()?)));
    for (name, form) in sources() {
        if name == ALL {
            let problem = "the name \"all\" is reserved: it means all traffic together";
            notes.wrong_at(form.at, &form.key, problem, "use another name, such as \"background\"");
        }
        let Some(item) = form.given("group") else { continue };
        let Some(group) = item.text() else { continue };
        let of_others = sources().any(|(other, of)| other == group && self::group(of, other) != group);
        if group == ALL {
            let problem = "the name \"all\" is reserved: it means all traffic together";
            notes.wrong(item, problem, "use another name, such as \"calls\"");
        } else if group.is_empty() || group.contains('.') {
            let problem = format!("{group:?} is no name of a group");
            notes.wrong(item, problem, "write a name without dots, such as \"calls\"");
        } else if of_others {
            let problem = format!("traffic.{group} is of another group, and has the name of this one");
            notes.wrong(item, problem, "give the group a name that no source of another group has");
        }
    }
}
