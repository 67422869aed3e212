//! What setting a key does to a document: the same operations for the tree that is checked
//! and for the text that is kept.

use super::{Data, Entry, Node, Place, Step, dotted};
use crate::error::Problem;
use crate::spelling::key_meant;
use crate::table::{Kind, Section};

/// One primitive change.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Puts a value at a path; tables on the way are made.
    Put(Vec<Step>, Node),
    /// Takes a key away.
    Drop(Vec<Step>),
}

/// What has to be done so that `path` is `value` and the document stays of one mind: setting
/// a key of another law drops the first law, and a short form gives way to its long one.
pub(crate) fn operations(
    root: &Node,
    section: &'static Section,
    path: &[Step],
    value: Node,
) -> Result<Vec<Op>, Problem> {
    let mut ops = Vec::new();
    let mut path = path.to_vec();
    let mut here = Some(root);
    let mut rules = Some(section);
    for depth in 0..path.len() {
        let last = depth + 1 == path.len();
        let Some(current) = rules else { break };
        let step = &path[depth];
        let found = here.and_then(|node| node.entry(&step.key)).map(|entry| &entry.node);
        if let Some(what) = current.names
            && found.is_none()
            && !(last && matches!(value.data, Data::Table(_)))
        {
            return Err(unknown_name(here, what, step));
        }
        if let Some(node) = here {
            make_room(node, current, &path[..depth], step, &mut ops);
        }
        let kind = current.find(&step.key).map(|key| key.kind).or(current.others);
        let below = kind.and_then(Kind::section);
        // What is not supported yet is refused as that, whatever lies below it.
        if below.is_none() && !last && kind.is_some_and(|kind| !matches!(kind, Kind::Later)) {
            let name = dotted(&path[..=depth]);
            return Err(Problem::new(step.at, &dotted(&path), format!("{name} has no keys of its own"))
                .help(format!("set {name} itself")));
        }
        if let (true, Some(short), Some(node)) = (last, below.and_then(|below| below.short), found)
            && matches!(node.data, Data::Table(_))
            && !matches!(value.data, Data::Table(_))
        {
            path.push(Step { key: short.to_owned(), at: path[depth].at });
        }
        rules = below;
        here = found;
    }
    ops.push(Op::Put(path, value));
    Ok(ops)
}

/// Clears what would contradict `step` in the table or value `node` at `path`.
fn make_room(node: &Node, section: &Section, path: &[Step], step: &Step, ops: &mut Vec<Op>) {
    match &node.data {
        Data::Table(_) if section.beside.contains(&step.key.as_str()) => {}
        Data::Table(entries) if section.one_of => {
            let stays =
                |entry: &&Entry| entry.key == step.key || section.beside.contains(&entry.key.as_str());
            for other in entries.iter().filter(|entry| !stays(entry)) {
                let mut gone = path.to_vec();
                gone.push(Step { key: other.key.clone(), at: step.at });
                ops.push(Op::Drop(gone));
            }
        }
        Data::Table(_) => {}
        _ => {
            let mut table = Vec::new();
            if let Some(short) = section.short.filter(|short| *short != step.key) {
                table.push(Entry { key: short.to_owned(), key_at: node.at, node: node.clone() });
            }
            ops.push(Op::Put(path.to_vec(), Node { data: Data::Table(table), at: node.at }));
        }
    }
}

fn unknown_name(here: Option<&Node>, what: &str, step: &Step) -> Problem {
    let names: Vec<&str> = match here.map(|node| &node.data) {
        Some(Data::Table(entries)) => entries.iter().map(|entry| entry.key.as_str()).collect(),
        _ => Vec::new(),
    };
    let help = key_meant(&step.key, names.iter().copied()).unwrap_or_else(|| match names.is_empty() {
        true => format!("the scenario has no {what} at all"),
        false => format!("there is {}", names.join(", ")),
    });
    Problem::new(step.at, &format!("{what}.{}", step.key), format!("no {what} is called {:?}", step.key))
        .help(help)
}

impl Node {
    /// Does `op` to this tree.
    pub(crate) fn apply(&mut self, op: &Op) {
        match op {
            Op::Put(path, value) => self.put(path, value),
            Op::Drop(path) => {
                let Some((last, before)) = path.split_last() else { return };
                let mut node = self;
                for step in before {
                    let Data::Table(entries) = &mut node.data else { return };
                    let Some(entry) = entries.iter_mut().find(|entry| entry.key == step.key) else { return };
                    node = &mut entry.node;
                }
                if let Data::Table(entries) = &mut node.data {
                    entries.retain(|entry| entry.key != last.key);
                }
            }
        }
    }

    fn put(&mut self, path: &[Step], value: &Node) {
        let Some((step, rest)) = path.split_first() else {
            *self = value.clone();
            return;
        };
        if !matches!(self.data, Data::Table(_)) {
            *self = Node::table(step.at);
        }
        let Data::Table(entries) = &mut self.data else { return };
        match entries.iter_mut().find(|entry| entry.key == step.key) {
            Some(entry) => {
                entry.node.put(rest, value);
                if rest.is_empty() {
                    entry.key_at = step.at;
                }
            }
            None => {
                let mut node = Node::table(Place { ..step.at });
                node.put(rest, value);
                entries.push(Entry { key: step.key.clone(), key_at: step.at, node });
            }
        }
    }
}
