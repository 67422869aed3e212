//! One TCP connection: its two hosts, what their SYNs said, and its packets.

use std::net::SocketAddr;

use crate::log::{ACK, HAS_TIMESTAMPS, Log, RST, Row, SYN};
use crate::options::MOST_BLOCKS;
use crate::packet::TcpPacket;
use crate::sequence::Space;

/// Which host of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Who opened the connection or, where that was not seen, the host with the higher port.
    Client,
    /// The other.
    Server,
}

/// What is known of one host of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Address and port.
    pub address: SocketAddr,
    /// Its SYN, or SYN-ACK, was seen.
    pub opened: bool,
    /// The number on the wire that its sequence numbers count from; none where nothing names one.
    pub first_sequence: Option<u32>,
    /// The maximum segment size that it announced (RFC 9293 §3.7.1).
    pub mss: Option<u16>,
    /// What the windows it announces are shifted by (RFC 7323 §2.3), where the capture shows it.
    pub scale: Option<u8>,
    /// It announced SACK (RFC 2018 §2).
    pub sack_permitted: bool,
    /// Packets that it sent.
    pub packets: u64,
    /// User data in them, repeated ones too, in bytes.
    pub payload: u64,
    /// The most user data in one packet, in bytes.
    pub largest: u32,
    /// Packets with more data than the other host's maximum segment size.
    pub super_segments: u64,
}

/// What a SYN said.
#[derive(Clone, Copy, Debug)]
struct Opening {
    wire: u32,
    answers: bool,
    mss: Option<u16>,
    scale: Option<u8>,
    sack_permitted: bool,
    cut: bool,
}

#[derive(Clone, Debug, Default)]
struct Half {
    space: Space,
    opening: Option<Opening>,
    packets: u64,
    payload: u64,
    largest: u32,
    super_segments: u64,
}

/// A connection of a capture.
#[derive(Clone, Debug)]
pub struct Connection {
    ends: [SocketAddr; 2],
    halves: [Half; 2],
    /// Which file of the capture it is in.
    pub file: usize,
    pub(crate) log: Log,
    first: i64,
    last: i64,
    cut: u64,
}

impl Connection {
    pub(crate) fn new(file: usize, ends: [SocketAddr; 2], first: i64) -> Connection {
        let halves = [Half::default(), Half::default()];
        Connection { ends, halves, file, log: Log::default(), first, last: first, cut: 0 }
    }

    /// Whether a packet opens another connection of the same hosts and ports.
    pub(crate) fn is_over_with(&self, packet: &TcpPacket) -> bool {
        if packet.flags & SYN == 0 || self.halves.iter().all(|half| half.packets == 0) {
            return false;
        }
        let from = self.index_of(packet.from);
        let (own, other) = (&self.halves[from].opening, &self.halves[1 - from].opening);
        match (own, other) {
            // The same SYN again.
            (Some(own), _) => own.wire != packet.seq,
            // The answer to a SYN, or two SYNs that cross (RFC 9293 §3.5), or an answer captured before its SYN.
            (None, Some(other)) => {
                if packet.flags & ACK != 0 {
                    packet.ack != other.wire.wrapping_add(1)
                } else {
                    self.halves[1 - from].payload > 0
                }
            }
            (None, None) => true,
        }
    }

    /// Adds a packet, with its row if it is to be kept; says whether it has more data than a segment.
    pub(crate) fn take(&mut self, packet: &TcpPacket, time: i64, wire: u32, keep: bool) -> bool {
        let from = self.index_of(packet.from);
        let syn = packet.flags & SYN != 0;
        // The numbers of a RST may be anything (RFC 9293 §3.10.7.1), and count for nothing else.
        let stray = packet.flags & RST != 0;
        if syn && self.halves[from].opening.is_none() {
            self.halves[from].opening = Some(Opening {
                wire: packet.seq,
                answers: packet.flags & ACK != 0,
                mss: packet.options.mss,
                scale: packet.options.scale,
                sack_permitted: packet.options.sack_permitted,
                cut: packet.cut,
            });
        }
        let own = &mut self.halves[from].space;
        let seq = if syn {
            own.see_syn(packet.seq)
        } else if stray {
            own.offset(packet.seq)
        } else {
            own.see(packet.seq)
        };
        let theirs = &mut self.halves[1 - from].space;
        let has_ack = packet.flags & ACK != 0;
        let ack = match (has_ack, stray) {
            (false, _) => 0,
            (true, true) => theirs.offset(packet.ack),
            (true, false) => theirs.see(packet.ack),
        };
        let mut blocks = [(0, 0); MOST_BLOCKS];
        for (block, (left, right)) in
            blocks.iter_mut().zip(&packet.options.blocks[..packet.options.block_count])
        {
            *block = (theirs.offset(*left), theirs.offset(*right));
        }
        let (value, echo) = packet.options.timestamps.unwrap_or_default();
        let row = Row {
            time,
            from,
            seq,
            ack,
            payload: packet.payload,
            ip_bytes: packet.ip_bytes,
            wire,
            flags: packet.flags | if packet.options.timestamps.is_some() { HAS_TIMESTAMPS } else { 0 },
            window: packet.window,
            tos: packet.tos,
            ttl: packet.ttl,
            ip_id: packet.ip_id,
            ts_value: value,
            ts_echo: echo,
            blocks,
            block_count: packet.options.block_count,
        };
        if keep {
            self.log.push(&row);
        }
        (self.first, self.last) = (self.first.min(time), self.last.max(time));
        self.cut += u64::from(packet.cut);
        let mss = self.halves[1 - from].opening.and_then(|opening| opening.mss);
        let coalesced = mss.is_some_and(|mss| packet.payload > u32::from(mss));
        let half = &mut self.halves[from];
        half.packets += 1;
        half.payload += u64::from(packet.payload);
        half.largest = half.largest.max(packet.payload);
        half.super_segments += u64::from(coalesced);
        coalesced
    }

    fn index_of(&self, from: SocketAddr) -> usize {
        usize::from(from != self.ends[0])
    }

    /// Which of the two is the client.
    pub(crate) fn client_index(&self) -> usize {
        match (&self.halves[0].opening, &self.halves[1].opening) {
            (Some(first), _) if !first.answers => 0,
            (_, Some(second)) if !second.answers => 1,
            (Some(_), _) => 1,
            (_, Some(_)) => 0,
            (None, None) => usize::from(self.ends[1].port() > self.ends[0].port()),
        }
    }

    /// What is known of a host.
    #[must_use]
    pub fn host(&self, side: Side) -> Host {
        let index = if side == Side::Client { self.client_index() } else { 1 - self.client_index() };
        let half = &self.halves[index];
        Host {
            address: self.ends[index],
            opened: half.opening.is_some(),
            first_sequence: half.space.base_wire(),
            mss: half.opening.and_then(|opening| opening.mss),
            scale: self.scale(index),
            sack_permitted: half.opening.is_some_and(|opening| opening.sack_permitted),
            packets: half.packets,
            payload: half.payload,
            largest: half.largest,
            super_segments: half.super_segments,
        }
    }

    /// Both must offer scaling, or neither scales (RFC 7323 §2.2).
    pub(crate) fn scale(&self, index: usize) -> Option<u8> {
        let read = |opening: &Option<Opening>| opening.filter(|opening| !opening.cut);
        match (read(&self.halves[index].opening), read(&self.halves[1 - index].opening)) {
            (Some(own), Some(other)) => Some(own.scale.filter(|_| other.scale.is_some()).unwrap_or(0)),
            // An answer offers it only where the SYN did.
            (Some(own), None) if own.scale.is_none() || own.answers => Some(own.scale.unwrap_or(0)),
            (None, Some(other)) if other.scale.is_none() => Some(0),
            _ => None,
        }
    }

    /// The offset that a host's sequence numbers are counted from.
    pub(crate) fn base(&self, index: usize) -> i64 {
        self.halves[index].space.base()
    }

    /// Packets of both hosts.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.log.rows
    }

    /// Bytes of memory that the packets take.
    #[must_use]
    pub fn packed_bytes(&self) -> usize {
        self.log.bytes()
    }

    /// The earliest and the latest time, in nanoseconds since the file's first packet.
    #[must_use]
    pub fn times(&self) -> (i64, i64) {
        (self.first, self.last)
    }

    /// Packets whose TCP header is cut off.
    #[must_use]
    pub fn cut_packets(&self) -> u64 {
        self.cut
    }
}
