//! Which end it is, and how far the connection is.

/// Which end begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends the SYN.
    Active,
    /// Waits for it.
    Passive,
}

/// States of a connection, by their names in RFC 9293 §3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not opened yet, or over.
    Closed,
    /// Waits for a SYN.
    Listen,
    /// Has sent a SYN.
    SynSent,
    /// Has sent a SYN and an ACK for the other's.
    SynReceived,
    /// Data may flow both ways.
    Established,
    /// This end has ended its stream, and the other has not acknowledged that.
    FinWait1,
    /// It has, and may still send.
    FinWait2,
    /// The other end has ended its stream; this one may still send.
    CloseWait,
    /// Both have ended their streams at once, and the other has not acknowledged ours.
    Closing,
    /// Both have, the other first, and it has not acknowledged ours.
    LastAck,
    /// All is acknowledged, and what is still in the network dies out.
    TimeWait,
}

impl State {
    /// Whether each end knows the other's number, and the connection is not over.
    #[must_use]
    pub fn is_synchronized(self) -> bool {
        !matches!(self, State::Closed | State::Listen | State::SynSent | State::SynReceived)
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            State::Closed => "CLOSED",
            State::Listen => "LISTEN",
            State::SynSent => "SYN-SENT",
            State::SynReceived => "SYN-RECEIVED",
            State::Established => "ESTABLISHED",
            State::FinWait1 => "FIN-WAIT-1",
            State::FinWait2 => "FIN-WAIT-2",
            State::CloseWait => "CLOSE-WAIT",
            State::Closing => "CLOSING",
            State::LastAck => "LAST-ACK",
            State::TimeWait => "TIME-WAIT",
        })
    }
}
