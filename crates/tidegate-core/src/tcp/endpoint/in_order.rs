//! Usual data in a row at an end that acknowledges each segment at once: what [`DataStream`] asks for, without what can bring
//! nothing.

use super::Endpoint;
use super::row::DataStream;
use crate::tcp::sender::Sender;
use crate::units::Time;

impl Endpoint {
    /// Takes data as long as they come in order and each segment is acknowledged alone and at once. `Some`: a segment that takes
    /// another way, which is not dealt with. `None`: no segment comes before the next wake-up.
    ///
    /// What is asked once, before the first of them, such segments leave as it is.
    #[inline(always)]
    pub(super) fn take_in_order(
        &mut self,
        stream: &mut impl DataStream<Header = u32>,
    ) -> Option<(Time, u32, u32)> {
        let wakeup = self.next_wakeup();
        let lengths = self.acknowledged_singly();
        loop {
            let (at, number, len) = stream.next_before(wakeup, self)?;
            if number != self.acknowledgement_number() || !lengths.contains(&len) {
                return Some((at, number, len));
            }
            self.receiver.take_acknowledged(len, &mut self.sender.counters);
            stream.acknowledged(at, self.acknowledgement_number());
            stream.taken(at, self.in_order_bytes(), wakeup);
        }
    }

    /// Usual data arrived ([`Endpoint::handle_usual_data`]) at an end that was told to expect them: the number of the usual ACK that is
    /// all that leaves. `None`: they are other data or take another way, and nothing has been done.
    #[inline(always)]
    pub fn answer_expected_data(&mut self, number: u32, len: u32) -> Option<u32> {
        let Sender { undisturbed, counters, .. } = &mut self.sender;
        let expected = self.theirs.wire(self.receiver.next());
        if len > undisturbed.longest || len < undisturbed.shortest || number != expected {
            return None;
        }
        self.receiver.take_acknowledged(len, counters);
        debug_assert!(self.acknowledged_singly().contains(&len), "something happened that was not expected");
        Some(self.acknowledgement_number())
    }

    /// A segment of `len` bytes was acknowledged at once. Expects more of them, if nothing is missing.
    #[inline(always)]
    pub fn expect_data(&mut self, len: u32) {
        if !self.receiver.has_gaps() && u64::from(len) >= self.sender.config.ack_every {
            self.expect_data_in_order();
        }
    }

    #[inline(never)]
    fn expect_data_in_order(&mut self) {
        let lengths = self.acknowledged_singly();
        let undisturbed = &mut self.sender.undisturbed;
        (undisturbed.shortest, undisturbed.longest) =
            if lengths.is_empty() { (0, 0) } else { (*lengths.start(), *lengths.end()) };
    }

    /// The lengths of segments that, in order, are acknowledged at once and by usual ACKs.
    fn acknowledged_singly(&self) -> std::ops::RangeInclusive<u32> {
        if self.plain && !self.sender.ready && self.is_quiet() {
            self.receiver.acknowledged_singly(&self.sender.config)
        } else {
            std::ops::RangeInclusive::new(1, 0)
        }
    }
}
