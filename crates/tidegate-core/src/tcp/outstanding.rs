//! What a sender knows of the segments that are outstanding, counted for those who look at an endpoint from outside.

use super::endpoint::Endpoint;
use super::report::CaState;
use super::scoreboard::{LOST, RESENT, SACKED};
use super::sender::Mode;

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

    /// The state of congestion control as Linux names it.
    #[must_use]
    pub fn ca_state(&self) -> CaState {
        let (yields, disordered) = match &self.sender.accounts {
            Some(accounts) => (accounts.yields, accounts.disordered),
            None => (false, self.sender.dupacks > 0 || self.outstanding().sacked > 0),
        };
        match self.sender.mode {
            Mode::Loss => CaState::Loss,
            Mode::Fast | Mode::Sack => CaState::Recovery,
            Mode::Open if yields => CaState::Cwr,
            Mode::Open if disordered => CaState::Disorder,
            Mode::Open => CaState::Open,
        }
    }

    /// By how many segments some came late at most, as Linux counts it (`tcpi_reordering`); `None`: this end does not.
    #[must_use]
    pub fn reordering(&self) -> Option<u64> {
        self.sender.accounts.as_ref().map(|accounts| accounts.rack.reordering())
    }

    /// Segments of its data that ACKs say arrived marked (`tcpi_delivered_ce`); 0 without ECN.
    #[must_use]
    pub fn delivered_ce(&self) -> u64 {
        self.sender.marks.as_ref().map_or(0, |marks| marks.delivered_ce)
    }
}
