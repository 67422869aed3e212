//! One frame of a file, and how a file ends.

/// More bytes than any packet has: a length above it is a damaged one.
pub(crate) const MOST: usize = 1 << 26;

/// One frame.
pub(crate) struct Frame<'a> {
    /// Nanoseconds since 1970; none where the file gives none.
    pub(crate) time: Option<i64>,
    pub(crate) link: i32,
    pub(crate) bytes: &'a [u8],
    /// Its length before the capture cut it.
    pub(crate) original: u32,
}

/// How a file ended.
pub(crate) enum End {
    /// As it should.
    Whole,
    /// In the middle of something.
    Cut,
    /// Inside the file's header.
    CutHeader,
    /// At something that cannot be read.
    Damaged,
    /// The caller wants no more.
    Stopped,
    /// It is no capture.
    NotACapture,
}
