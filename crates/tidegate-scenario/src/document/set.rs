//! The text of one `--set key=value`.

use toml_edit::Key;

use super::toml::value;
use super::{Data, Node, Place, Step, dotted};
use crate::error::Problem;

/// No key of the language is deeper.
const DEEPEST: usize = 16;

const FORM: &str = "write key=value, such as flow.bulk.tcp.cc=cubic";

/// Splits and reads `text`, which is source number `source`.
pub(crate) fn parse_set(text: &str, source: usize) -> Result<(Vec<Step>, Node), Problem> {
    let everything = Place { source, start: 0, end: text.len() };
    let Some(equals) = text.find('=') else {
        return Err(Problem::new(everything, "", format!("{text:?} has no '='")).help(FORM));
    };
    let path = parse_path(&text[..equals], source, 0)?;
    let right = &text[equals + 1..];
    let offset = equals + 1 + (right.len() - right.trim_start().len());
    let right = right.trim();
    let node = match value(right, source, offset) {
        Ok(node) => node,
        Err(message) => {
            let place = Place { source, start: offset, end: offset + right.len() };
            if right.starts_with(['[', '{', '"', '\'']) {
                let first = message.lines().next().unwrap_or_default();
                return Err(Problem::new(
                    place,
                    &dotted(&path),
                    format!("this is not a TOML value: {first}"),
                ));
            }
            Node { data: Data::Text(right.to_owned()), at: place }
        }
    };
    Ok((path, node))
}

/// Reads a dotted key that begins at `offset` of its source.
pub(crate) fn parse_path(text: &str, source: usize, offset: usize) -> Result<Vec<Step>, Problem> {
    let place = Place { source, start: offset, end: offset + text.len() };
    let keys = Key::parse(text).map_err(|_| {
        Problem::new(place, "", format!("{:?} is not a dotted key", text.trim()))
            .help("write names joined by dots, such as gate.link.rate")
    })?;
    if keys.len() > DEEPEST {
        return Err(Problem::new(place, "", format!("a dotted key has at most {DEEPEST} names")));
    }
    Ok(keys.iter().map(|key| Step { key: key.get().to_owned(), at: place }).collect())
}
