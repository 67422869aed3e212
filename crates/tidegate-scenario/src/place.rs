//! Places in the texts that a scenario is read from.

/// Where something was written: a source and a range of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Place {
    /// Index into [`Sources`]: 0 is the file, then one for each `--set`.
    pub(crate) source: usize,
    /// First byte.
    pub(crate) start: usize,
    /// After the last byte.
    pub(crate) end: usize,
}

/// A text that values were read from.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// File name, or `--set`.
    pub(crate) name: String,
    /// The whole text.
    pub(crate) text: String,
}

/// Every text of a scenario, the file first.
pub(crate) type Sources = Vec<Source>;
