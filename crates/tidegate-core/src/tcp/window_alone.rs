//! ACKs in order, one after the other, at a sender that does not account for ACKs: each acknowledges the oldest segment, nothing is
//! repaired, reported or in doubt, and the congestion window alone says what leaves. The steps of the ACK are those of [`super::ack`],
//! without SACK blocks and recovery; what leaves is a full segment, without asking application and receiver.

use super::ack::InOrder;
use super::sender::{Mode, Sender};
use crate::units::{Span, Time};

/// The most ACKs in a row.
const MOST: u64 = 128;

impl Sender {
    /// In how many of the next in-order ACKs the window alone will have a say: neither the application nor the receiver.
    pub(super) fn acks_of_window_alone(&self) -> u64 {
        if !self.is_in_order() {
            return 0;
        }
        // With each ACK a segment leaves the network, and the window grows by a segment at most.
        let (mss, window) = (u64::from(self.config.mss), self.controller.window());
        let received = self.peer_window.saturating_sub(window) / mss;
        let written = self.written.saturating_sub(self.max.max(self.una + window)) / (2 * mss);
        received.min(written).saturating_sub(1).min(MOST)
    }

    /// Whether nothing is being repaired, reported or in doubt.
    fn is_in_order(&self) -> bool {
        let undisturbed = self.mode == Mode::Open
            && self.board.is_unmarked()
            && self.board.holes() == 0
            && self.dupacks == 0
            && self.inflation == 0;
        undisturbed && !self.ready && !self.timers.is_off() && self.controller.is_aimd()
    }

    /// An ACK of the oldest segment, where others are out: the round trip of that one. `None`: it is another ACK, and nothing has
    /// been done.
    #[inline(always)]
    pub(super) fn handle_oldest_acked(&mut self, now: Time, number: u32) -> Option<Span> {
        let sent = *self.board.slot(self.board.first);
        let ack = number.wrapping_sub(self.numbering.wire(0));
        if sent.end != ack || self.board.next - self.board.first < 2 {
            return None;
        }
        let bytes = u64::from(sent.len());
        debug_assert_eq!((self.una + bytes) as u32, ack, "records have no holes between them");
        self.handle_new_ack::<InOrder>(now, bytes, None)
    }
}
