//! The connections of a file, found by the two ends of a packet.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::connection::Connection;
use crate::packet::TcpPacket;

type Ends = [SocketAddr; 2];

/// All connections, in the order of their first packets.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    pub(crate) all: Vec<Connection>,
    /// The one that is open, for each pair of ends.
    open: BTreeMap<Ends, usize>,
    /// The one of the packet before, which is most often that of the next one.
    last: Option<(Ends, usize)>,
}

impl Connections {
    /// Adds a packet to its connection, with its row if it is to be kept; says whether it has more data than a segment.
    pub(crate) fn take(&mut self, file: usize, packet: &TcpPacket, time: i64, wire: u32, keep: bool) -> bool {
        let ends = if packet.from <= packet.to { [packet.from, packet.to] } else { [packet.to, packet.from] };
        let known = match self.last {
            Some((same, place)) if same == ends => Some(place),
            _ => self.open.get(&ends).copied(),
        };
        let place = match known.filter(|place| !self.all[*place].is_over_with(packet)) {
            Some(place) => place,
            None => {
                self.all.push(Connection::new(file, ends, time));
                self.open.insert(ends, self.all.len() - 1);
                self.all.len() - 1
            }
        };
        self.last = Some((ends, place));
        self.all[place].take(packet, time, wire, keep)
    }
}
