//! Many ACKs in a row at a sender that they alone clock: each takes the short way of [`crate::tcp::next_ack`] and lets one or two
//! segments go that fill the window ([`crate::tcp::clocked`]).

use super::Endpoint;
use super::heading::Heading;
use super::row::AckStream;
use crate::tcp::accounts::Accounts;
use crate::tcp::ack::SelfClocked;
use crate::tcp::clocked::Clocked;
use crate::units::Time;

impl Endpoint {
    /// Answers ACKs as long as they are such, with `accounts` as those of the sender. `Some`: when an ACK came that is dealt with,
    /// where another way says what it lets go. `None`: the next ACK takes another way, or there is none before the next wake-up.
    ///
    /// What is asked once, before the first of them, no ACK and no departure changes: ACKs without data leave the receiving half
    /// as it is, and what disturbs a sender ends its being calm, which is asked again after each ACK.
    #[inline(always)]
    pub(super) fn answer_clocked<H: Heading>(
        &mut self,
        accounts: &mut Accounts,
        stream: &mut impl AckStream<Header = H>,
    ) -> Option<Time> {
        if !(accounts.clocked && accounts.calm && accounts.probing && self.is_silent()) {
            return None;
        }
        loop {
            let (at, ack) = stream.next_before(self.next_wakeup(), || self.shown_with(Some(accounts)))?;
            if !ack.is_next::<SelfClocked>(self, accounts, at) {
                return None;
            }
            stream.take();
            if !accounts.calm || accounts.offload.left > 0 {
                return Some(at);
            }
            let window = self.sender.controller.window();
            let Some(next) = self.sender.fills_up(accounts, at, window, true) else { return Some(at) };
            if let Some(rtt) = self.take_rtt_sample() {
                stream.sampled(at, rtt);
            }
            let held = self.sender.held;
            let mut says = H::of(self, at, self.sender.next_full());
            if next == Clocked::First {
                let sent = self.sender.push_clocked(accounts, at, Clocked::First).held_back_by(held);
                stream.sent(at, sent, says);
                says = says.behind(sent.len());
            }
            let sent = self.sender.push_clocked(accounts, at, Clocked::Last).held_back_by(held);
            stream.sent(at, sent, says.pushed_if(sent.is_pushed()));
            let window = self.sender.close_clocked(accounts, at, window);
            stream.answered(at, window, self.next_wakeup());
        }
    }
}
