//! How closely flows are watched. Functions between endpoints and network are compiled for each way, so that the rules are written once.

/// How closely a flow is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    /// See [`Plain`].
    Not,
    /// See [`Sampled`].
    NowAndThen,
    /// See [`Any`].
    Closely,
}

/// What functions between endpoints and network have to do for a flow.
pub(crate) trait Way {
    /// The flow sends data one way only, uses no circuit, no policer and no ECN, and nobody looks at both its ends at one instant. Its
    /// segments are mostly such that a header says all ([`tidegate_core::tcp::Outgoing::fits_header`]).
    const PLAIN: bool;
    /// The flow is plain, and rows are taken of it every so often. Its data have the time of sending with them, and each end writes to a
    /// row when it passes the row's instant.
    const ROWS: bool;
    /// The flow may have a history.
    const RECORDED: bool = !Self::PLAIN || Self::ROWS;
}

/// The way of a flow that is plain and not recorded.
pub(crate) struct Plain;

/// The way of a flow that is plain but for rows every so often.
pub(crate) struct Sampled;

/// The way of all other flows.
pub(crate) struct Any;

impl Way for Plain {
    const PLAIN: bool = true;
    const ROWS: bool = false;
}

impl Way for Sampled {
    const PLAIN: bool = true;
    const ROWS: bool = true;
}

impl Way for Any {
    const PLAIN: bool = false;
    const ROWS: bool = false;
}
