//! Which alarm of the network is whose.

use tidegate_core::net::Direction;

/// What an alarm wakes: something of a flow, or a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alarm {
    Sender(usize),
    Receiver(usize),
    Application(usize),
    Server(usize),
}

/// The alarms of a run by number. Alarms of one instant ring in the order of their numbers: first the senders and
/// receivers of each flow, then the applications, then the servers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alarms {
    flows: usize,
}

impl Alarms {
    pub(crate) fn new(flows: usize) -> Alarms {
        Alarms { flows }
    }

    /// How many there are.
    pub(crate) fn count(self, servers: usize) -> usize {
        self.flows * 3 + servers
    }

    #[inline]
    pub(crate) fn sender(flow: usize) -> usize {
        flow * 2
    }

    #[inline]
    pub(crate) fn receiver(flow: usize) -> usize {
        flow * 2 + 1
    }

    #[inline]
    pub(crate) fn application(self, flow: usize) -> usize {
        self.flows * 2 + flow
    }

    #[inline]
    pub(crate) fn server(self, server: usize) -> usize {
        self.flows * 3 + server
    }

    /// The flow whose alarm it is. Not for the alarm of a server.
    #[inline]
    pub(crate) fn flow_of(self, number: usize) -> usize {
        if number >= self.flows * 2 { number - self.flows * 2 } else { number / 2 }
    }

    /// Which of its flow's alarms it is, in the order in which they ring at one instant.
    #[inline]
    pub(crate) fn part_of(self, number: usize) -> usize {
        if number >= self.flows * 2 { 2 } else { number % 2 }
    }

    /// What an alarm of a flow wakes, by [`Alarms::part_of`].
    #[inline]
    pub(crate) fn of_part(part: usize, flow: usize) -> Alarm {
        match part {
            0 => Alarm::Sender(flow),
            1 => Alarm::Receiver(flow),
            _ => Alarm::Application(flow),
        }
    }

    /// What the alarm of a number wakes.
    #[inline]
    pub(crate) fn of(self, number: usize) -> Alarm {
        match number.checked_sub(self.flows * 3) {
            Some(server) => Alarm::Server(server),
            None => Alarms::of_part(self.part_of(number), self.flow_of(number)),
        }
    }

    /// For which direction of the network it rings. In a flow that `asks` the application is a client, at the receiver;
    /// else it is at the sender.
    pub(crate) fn direction(self, number: usize, asks: impl Fn(usize) -> bool) -> Direction {
        match self.of(number) {
            Alarm::Receiver(_) => Direction::Data,
            Alarm::Application(flow) if asks(flow) => Direction::Data,
            _ => Direction::Back,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_one_alarm() {
        let alarms = Alarms::new(3);
        for flow in 0..3 {
            assert_eq!(alarms.of(Alarms::sender(flow)), Alarm::Sender(flow));
            assert_eq!(alarms.of(Alarms::receiver(flow)), Alarm::Receiver(flow));
            assert_eq!(alarms.of(alarms.application(flow)), Alarm::Application(flow));
            for (part, number) in [Alarms::sender(flow), Alarms::receiver(flow), alarms.application(flow)]
                .into_iter()
                .enumerate()
            {
                assert_eq!((alarms.flow_of(number), alarms.part_of(number)), (flow, part));
                assert_eq!(Alarms::of_part(part, flow), alarms.of(number));
            }
        }
        assert_eq!(alarms.of(alarms.server(1)), Alarm::Server(1));
        assert_eq!(alarms.count(2), alarms.server(1) + 1);
    }
}
