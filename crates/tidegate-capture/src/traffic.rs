//! Packets of UDP, counted by their two ends: traffic that shared a link with the connections.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::varint::{put_signed, take_signed};

/// The UDP packets from one address and port to another.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Who sent them.
    pub from: SocketAddr,
    /// Whom they were sent to.
    pub to: SocketAddr,
    /// How many.
    pub packets: u64,
    /// Bytes of their IP packets.
    pub bytes: u64,
    log: Vec<u8>,
    last: (i64, u32),
}

impl Traffic {
    fn push(&mut self, time: i64, bytes: u32) {
        put_signed(&mut self.log, time.wrapping_sub(self.last.0));
        put_signed(&mut self.log, i64::from(bytes) - i64::from(self.last.1));
        self.last = (time, bytes);
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    /// Time in nanoseconds since the file's first packet, and bytes of the IP packet, of each packet.
    pub fn packets(&self) -> impl Iterator<Item = (i64, u32)> + '_ {
        let mut log = &self.log[..];
        let mut last = (0_i64, 0_i64);
        (0..self.packets).map(move |_| {
            last = (last.0.wrapping_add(take_signed(&mut log)), last.1 + take_signed(&mut log));
            (last.0, last.1 as u32)
        })
    }
}

/// All of them, in the order of their first packets.
#[derive(Debug, Default)]
pub(crate) struct AllTraffic {
    pub(crate) all: Vec<Traffic>,
    places: BTreeMap<(SocketAddr, SocketAddr), usize>,
}

impl AllTraffic {
    pub(crate) fn take(&mut self, from: SocketAddr, to: SocketAddr, time: i64, bytes: u32) {
        let all = &mut self.all;
        let place = *self.places.entry((from, to)).or_insert_with(|| {
            all.push(Traffic { from, to, packets: 0, bytes: 0, log: Vec::new(), last: (0, 0) });
            all.len() - 1
        });
        all[place].push(time, bytes);
    }
}
