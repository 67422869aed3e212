//! A segment that is sent again is as long as it can be now: what lies beyond the receiver's window is cut off, and short ones behind it
//! fill it up (`__tcp_retransmit_skb`, `tcp_retrans_try_collapse` of Linux 6.18).

use super::accounts::Accounts;
use super::scoreboard::{Resend, Scoreboard, renumber};
use super::sender::Sender;

impl Sender {
    /// What of a lost segment is sent again; `goes_on`: in a packet that has begun before it.
    #[inline]
    pub(super) fn fit(&mut self, accounts: &mut Accounts, lost: Resend, goes_on: bool) -> Resend {
        let room = (self.una + self.peer_window).saturating_sub(lost.start);
        let mss = u64::from(self.config.mss);
        if !accounts.linux_windows || (u64::from(lost.len) == mss && room >= mss) {
            return lost;
        }
        self.refit(accounts, lost, if room == 0 { mss } else { room.min(mss) }, goes_on)
    }

    /// [`Sender::fit`] where there is room for so many bytes.
    #[cold]
    fn refit(&mut self, accounts: &mut Accounts, lost: Resend, room: u64, goes_on: bool) -> Resend {
        let Resend { number, .. } = lost;
        let data = self.data_of(number);
        if data > room {
            self.board.cut(number, room as u32);
            accounts.renumber(&self.board, number + 1, true);
            return self.board.describe(number);
        }
        let window_end = self.una + self.peer_window;
        while !goes_on
            && self.data_of(number) < room
            && self.board.is_joinable(number)
            && self.data_of(number) + self.data_of(number + 1) <= room
            && self.board.end_of(number + 1) <= window_end
        {
            self.board.join(number);
            accounts.renumber(&self.board, number + 2, false);
        }
        self.board.describe(number)
    }

    /// User bytes of a record: the last of the stream stands for the FIN.
    fn data_of(&self, number: u64) -> u64 {
        let fin = self.finished && self.board.end_of(number) == self.written;
        u64::from(self.board.slot(number).len()) - u64::from(fin)
    }
}

impl Accounts {
    /// The records from number `from` on have become later ones by one, or earlier ones.
    fn renumber(&mut self, board: &Scoreboard, from: u64, later: bool) {
        self.rack.renumber(from, later);
        if let Some(sampler) = &mut self.sampler {
            sampler.renumber(from, later, board);
        }
        if let Some(last) = &mut self.copied {
            renumber(last, from, later);
        }
    }
}
