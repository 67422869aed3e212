//! What an entry of the table of columns says of one column.

use crate::rows::Column;

/// Where a column's value comes from, and its type.
#[derive(Clone, Copy, Debug)]
pub enum Value<R: 'static> {
    /// A float; NaN: nothing to say.
    F64(fn(&Of<'_, R>) -> f64),
    /// A count.
    U64(fn(&Of<'_, R>) -> u64),
    /// A count, or nothing to say.
    MaybeU64(fn(&Of<'_, R>) -> Option<u64>),
    /// A size that is small.
    U32(fn(&Of<'_, R>) -> u32),
    /// The number of a flow, a gate or a background source.
    Index(Names, fn(&Of<'_, R>) -> u32),
    /// A code, and the word for each.
    Code(&'static [&'static str], fn(&Of<'_, R>) -> u8),
}

/// What an index counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// The plan's flows.
    Flow,
    /// The plan's gates.
    Gate,
    /// The plan's background sources.
    Traffic,
    /// The names of classes, each once, in the order of the plan.
    Class,
    /// The plan's groups of flows.
    Group,
}

/// Gates that have a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gates {
    /// Every gate.
    All,
    /// Gates that pass packets.
    OfPackets,
    /// Cell gates.
    OfCells,
}

/// A row of a table, and what its columns need beside it.
#[derive(Clone, Copy, Debug)]
pub struct Of<'a, R> {
    /// Whose row it is: the number of a flow or a gate.
    pub index: u32,
    /// The row.
    pub row: &'a R,
    /// Bit rate of one slot of the gate; NaN where it has none.
    pub slot_bps: f64,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Entry<R: 'static> {
    /// Its name, with the unit at the end.
    pub name: &'static str,
    /// What it means, and when it is null.
    pub meaning: &'static str,
    /// Which gates have it.
    pub gates: Gates,
    /// Its value.
    pub value: Value<R>,
}

impl<R> Entry<R> {
    /// The column of these rows.
    pub(crate) fn of_rows(&self, rows: &[Of<'_, R>]) -> Column {
        match self.value {
            Value::F64(value) => Column::F64(rows.iter().map(value).collect()),
            Value::U64(value) => Column::U64(rows.iter().map(value).collect()),
            Value::MaybeU64(value) => Column::MaybeU64(rows.iter().map(value).collect()),
            Value::U32(value) | Value::Index(_, value) => Column::U32(rows.iter().map(value).collect()),
            Value::Code(_, value) => Column::U8(rows.iter().map(value).collect()),
        }
    }

    /// Whether `[record]` may name it: it says more than when and whose.
    #[must_use]
    pub fn can_be_named(&self) -> bool {
        self.name != "time_s" && !matches!(self.value, Value::Index(..))
    }

    pub(super) fn described(&self) -> Description {
        let (kind, words, names) = match self.value {
            Value::F64(_) => ("f64", None, None),
            Value::U64(_) => ("u64", None, None),
            Value::MaybeU64(_) => ("maybe_u64", None, None),
            Value::U32(_) => ("u32", None, None),
            Value::Index(names, _) => ("u32", None, Some(names)),
            Value::Code(words, _) => ("u8", Some(words), None),
        };
        Description { name: self.name, meaning: self.meaning, kind, words, names }
    }
}

/// What people and other languages read of a column.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// `f64`, `u64`, `maybe_u64`, `u32` or `u8`: the type of its values as bytes.
    pub kind: &'static str,
    /// The word for each code.
    pub words: Option<&'static [&'static str]>,
    /// What its numbers count.
    pub names: Option<Names>,
}
