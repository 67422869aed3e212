//! Whose packet is it?

use crate::lab::{FIRST_PORT, Side};

/// Says which flow a packet belongs to; the direction is the edge it came in at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classifier {
    /// By the receiver's port (see [`crate::Lab::flow_addresses`]), or, where that is none of
    /// theirs, by the sender's: connections that follow each other have any port at the one
    /// end and the flow's at the other.
    Ports {
        /// How many flows there are.
        flows: u16,
    },
    /// Everything belongs to one flow, whatever its protocol.
    Everything {
        /// The flow.
        flow: u32,
    },
}

const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;

impl Classifier {
    /// The flow of an IPv4 packet that came in at `edge`; `None`: it belongs to no flow.
    #[inline]
    #[must_use]
    pub fn flow(self, edge: Side, packet: &[u8]) -> Option<u32> {
        match self {
            Classifier::Everything { flow } => Some(flow),
            Classifier::Ports { flows } => {
                let mut ports = ports(packet)?;
                if edge == Side::Sender {
                    ports.reverse();
                }
                let of = |port: u16| port.checked_sub(FIRST_PORT).filter(|flow| *flow < flows);
                let [receivers, senders] = ports;
                of(receivers).or_else(|| of(senders)).map(u32::from)
            }
        }
    }
}

/// The ports, source and destination, of a TCP or UDP packet that is no later fragment.
#[inline]
fn ports(packet: &[u8]) -> Option<[u16; 2]> {
    let [version_ihl, ..] = *packet else { return None };
    let protocol = *packet.get(9)?;
    let fragment = u16::from_be_bytes([*packet.get(6)?, *packet.get(7)?]) & 0x1fff;
    if version_ihl >> 4 != 4 || fragment != 0 || !matches!(protocol, PROTOCOL_TCP | PROTOCOL_UDP) {
        return None;
    }
    let place = usize::from(version_ihl & 0xf) * 4;
    let [a, b, c, d] = *packet.get(place..place + 4)?.first_chunk()?;
    Some([u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(from: u16, to: u16) -> Vec<u8> {
        let mut packet = vec![0; 40];
        packet[0] = 0x45;
        packet[9] = PROTOCOL_TCP;
        packet[20..22].copy_from_slice(&from.to_be_bytes());
        packet[22..24].copy_from_slice(&to.to_be_bytes());
        packet
    }

    #[test]
    fn both_directions_belong_to_the_flow_of_the_receivers_port() {
        let two = Classifier::Ports { flows: 2 };
        assert_eq!(two.flow(Side::Sender, &tcp(40_000, 5002)), Some(1));
        assert_eq!(two.flow(Side::Receiver, &tcp(5002, 40_000)), Some(1));
        assert_eq!(two.flow(Side::Sender, &tcp(40_000, 5003)), None);
        assert_eq!(two.flow(Side::Sender, &tcp(40_000, 80)), None);
    }

    #[test]
    fn connections_that_follow_each_other_belong_to_the_flow_of_the_servers_port() {
        let two = Classifier::Ports { flows: 2 };
        assert_eq!(two.flow(Side::Receiver, &tcp(40_000, 5002)), Some(1));
        assert_eq!(two.flow(Side::Sender, &tcp(5002, 40_000)), Some(1));
        assert_eq!(two.flow(Side::Sender, &tcp(5002, 5001)), Some(0), "the receiver's has the first word");
    }

    #[test]
    fn what_is_too_short_or_no_ipv4_is_nobodys() {
        let one = Classifier::Ports { flows: 1 };
        let packet = tcp(1, 5001);
        for bytes in 0..24 {
            assert_eq!(one.flow(Side::Sender, &packet[..bytes]), None, "{bytes} bytes");
        }
        let mut six = packet.clone();
        six[0] = 0x65;
        assert_eq!(one.flow(Side::Sender, &six), None);
    }
}
