//! Usual data in a row at an end that acknowledges each segment at once: what [`DataStream`] asks for, without what can bring
//! nothing.

use super::Endpoint;
use super::stream::DataStream;
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

    /// The lengths of segments that, in order, are acknowledged at once and by usual ACKs.
    fn acknowledged_singly(&self) -> std::ops::RangeInclusive<u32> {
        if self.plain && !self.sender.ready && self.is_quiet() {
            self.receiver.acknowledged_singly(&self.sender.config)
        } else {
            std::ops::RangeInclusive::new(1, 0)
        }
    }
}
