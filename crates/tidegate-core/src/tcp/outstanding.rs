//! What a sender knows of the segments that are outstanding, counted for those who look at an endpoint from outside.

use super::endpoint::Endpoint;
use super::scoreboard::{LOST, RESENT, SACKED};

/// Segments sent and not cumulatively acknowledged, by what is known of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Outstanding {
    /// All of them.
    pub segments: u64,
    /// The receiver has them, says SACK.
    pub sacked: u64,
    /// Taken for lost, whether sent again or not.
    pub lost: u64,
    /// Sent again, and neither acknowledged nor taken for lost again.
    pub retransmitted: u64,
}

impl Endpoint {
    /// Counts what is outstanding: it looks at each segment.
    #[must_use]
    pub fn outstanding(&self) -> Outstanding {
        let board = &self.sender.board;
        let mut counted = Outstanding { segments: board.next - board.first, ..Outstanding::default() };
        for number in board.first..board.next {
            let sent = board.slot(number);
            let sacked = sent.marked(SACKED);
            counted.sacked += u64::from(sacked);
            counted.lost += u64::from(sent.marked(LOST) && !sacked);
            counted.retransmitted += u64::from(sent.marked(RESENT) && !sacked);
        }
        counted
    }
}
