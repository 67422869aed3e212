//! CAKE's ACK filter: which waiting ACK a packet that has just joined makes needless (Linux `sch_cake`, `cake_ack_filter`).

use super::TinQueue;
use crate::gate::acks::AckView;
use crate::gate::waiting::line::Waiter;
use crate::plan::AckFilter;

impl TinQueue {
    /// Drops one ACK at most from the queue of the stretch `stretch`, the last packet of which has just joined. `view` is what the filter
    /// reads of a packet; `None`: it is no TCP.
    ///
    /// A needless ACK is dropped where another needless one, without a change of its ECN flags between the two, waits behind it. So the last of
    /// them stays. If aggressive, it is dropped too where it waits directly before the packet that has joined, without such a change.
    pub(in crate::gate::waiting) fn filter_acks(
        &mut self,
        stretch: u32,
        filter: AckFilter,
        view: impl Fn(&Waiter) -> Option<AckView>,
    ) -> Option<Waiter> {
        let number = self.each.number_of(stretch)?;
        let line = &mut self.each.queues[number as usize].line;
        let place = {
            let (last, before) = line.last_and_before()?;
            let joined = view(last).filter(AckView::may_replace)?;
            let mut needless: Option<(usize, u16)> = None;
            let mut found = None;
            for (place, waiter) in before.enumerate().filter(|(_, waiter)| waiter.unit.stretch == stretch) {
                let Some(ack) = view(waiter).filter(|ack| ack.connection == joined.connection) else {
                    continue;
                };
                needless = needless.filter(|(_, flags)| *flags == ack.ecn_flags());
                if !ack.is_needless_before(&joined) {
                    continue;
                }
                if let Some((first, _)) = needless {
                    found = Some(first);
                    break;
                }
                needless = Some((place, ack.ecn_flags()));
            }
            let directly_before = line.backlog().units as usize - 2;
            let alone = needless.filter(|(place, flags)| {
                filter == AckFilter::Aggressive && *place == directly_before && *flags == joined.ecn_flags()
            });
            found.or(alone.map(|(place, _)| place))?
        };
        let waiter = line.take(place)?;
        self.each.held = self.each.held.without(waiter.unit.bytes);
        Some(waiter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{CakePlan, Framing};
    use crate::random::Seed;
    use crate::tcp::flags;
    use crate::unit::{HeldBy, Unit};
    use crate::units::Time;

    /// Packets join the queue of one flow, one after the other; answers with the numbers of those that the filter drops.
    fn dropped(filter: AckFilter, packets: &[AckView]) -> Vec<usize> {
        let stream = Seed { seed: 1, replication: 0 }.stream("gate.link/aqm.bulk");
        let mut queue = TinQueue::new(CakePlan::default_for(Framing::Ip).tin(None), stream);
        let mut gone = vec![];
        for number in 0..packets.len() {
            queue.push(Waiter {
                arrival: Time::ZERO,
                unit: Unit::new(52, number as u32, HeldBy::Application),
            });
            let view = |waiter: &Waiter| packets.get(waiter.unit.handle as usize).copied();
            gone.extend(queue.filter_acks(0, filter, view).map(|waiter| waiter.unit.handle as usize));
            assert_eq!(queue.backlog().units as usize, number + 1 - gone.len());
        }
        gone
    }

    fn ack(number: u32) -> AckView {
        AckView { ack: number, flags: flags::ACK, ..AckView::default() }
    }

    /// ACKs 100, 200, 300 …: conservative keeps the last two, aggressive the last.
    #[test]
    fn conservative_keeps_one_more() {
        let acks = [100, 200, 300, 400, 500].map(ack);
        assert_eq!(dropped(AckFilter::Conservative, &acks), [0, 1, 2]);
        assert_eq!(dropped(AckFilter::Aggressive, &acks), [0, 1, 2, 3]);
    }

    /// Three repeated ACKs tell of three packets: none is dropped, and the one before them is.
    #[test]
    fn repeated_acks_are_kept() {
        let acks = [100, 200, 200, 200].map(ack);
        assert_eq!(dropped(AckFilter::Aggressive, &acks), [0]);
        assert_eq!(dropped(AckFilter::Conservative, &acks), [0; 0]);
        // A later number makes all of them needless, one with each ACK that comes.
        let more = [100, 200, 200, 200, 300, 400].map(ack);
        assert_eq!(dropped(AckFilter::Conservative, &more), [0, 1]);
    }

    /// ECE begins with the third: what is before it is dropped no more by ACKs with ECE, as the change would be lost.
    #[test]
    fn a_change_of_ecn_is_kept() {
        let with = |number| AckView { flags: flags::ACK | flags::ECE, ..ack(number) };
        let acks = [ack(100), ack(200), with(300), with(400), with(500)];
        assert_eq!(dropped(AckFilter::Aggressive, &acks), [0, 2, 3]);
        assert_eq!(dropped(AckFilter::Conservative, &acks), [0, 2]);
    }

    /// A packet with data, a FIN and another connection's ACK lie between; of the last, nothing is made needless.
    #[test]
    fn others_stay() {
        let data = AckView { is_more: true, ..ack(200) };
        let fin = AckView { flags: flags::ACK | flags::FIN, ..ack(300) };
        let other = AckView { connection: 1, ..ack(50) };
        let acks = [ack(100), data, fin, other, ack(400), ack(500)];
        // Not directly before what joins, the only needless one stays until there are two.
        assert_eq!(dropped(AckFilter::Conservative, &acks), [0]);
        assert_eq!(dropped(AckFilter::Aggressive, &acks), [0, 4]);
        let syn = AckView { flags: flags::ACK | flags::SYN, ..ack(900) };
        assert_eq!(dropped(AckFilter::Aggressive, &[ack(100), ack(200), syn]), [0]);
    }
}
