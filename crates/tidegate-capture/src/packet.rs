//! What one frame of a capture holds: the headers of IP and TCP, through `etherparse`.

use std::net::{IpAddr, SocketAddr};

use etherparse::{LaxIpSlice, TcpSlice};

use crate::link::{Inside, inside};
use crate::options::Options;
use crate::tunnel::Tunnel;

/// UDP's header.
const UDP_HEADER: usize = 8;
/// The most tunnels that a packet may be in.
const MOST_TUNNELS: u32 = 4;
/// TCP's header without options, and with the most of them.
const LEAST_HEADER: usize = 20;
const MOST_HEADER: usize = 60;

/// One frame, as far as it can be used.
#[derive(Debug)]
pub(crate) enum Seen {
    Tcp(Box<TcpPacket>),
    /// UDP: from, to, bytes of the IP packet, and the tunnel that it belongs to, if what is inside cannot be read.
    Udp(SocketAddr, SocketAddr, u32, Option<Tunnel>),
    /// Another protocol over IP, by its number.
    OverIp(u8),
    /// Another protocol, by its EtherType.
    NotIp(u16),
    /// A piece of an IP packet.
    Fragment,
    /// Too little of the packet is there.
    Short,
    /// The link type is not read.
    Unread,
}

/// The headers of one TCP packet.
#[derive(Clone, Debug)]
pub(crate) struct TcpPacket {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    /// From FIN, 1, to AE, 256, as they stand in the header (RFC 9293 §3.1, RFC 9768 §3.1).
    pub(crate) flags: u16,
    /// The window field, unscaled.
    pub(crate) window: u16,
    /// Bytes of user data, by IP's length, whatever was kept of them.
    pub(crate) payload: u32,
    /// Bytes of the IP packet.
    pub(crate) ip_bytes: u32,
    /// DSCP and ECN together: IPv4's second byte, IPv6's traffic class.
    pub(crate) tos: u8,
    pub(crate) ttl: u8,
    /// IPv4's identification; 0 for IPv6.
    pub(crate) ip_id: u16,
    pub(crate) options: Options,
    /// The capture holds less than TCP's whole header.
    pub(crate) cut: bool,
    /// The outermost tunnel that it was in; everything else is of the packet inside.
    pub(crate) within: Option<Tunnel>,
}

/// Reads a frame. `original` is its length before the capture cut it. Of a packet in tunnels, the innermost is read where it is TCP's.
pub(crate) fn read(link: i32, frame: &[u8], original: u32) -> Seen {
    match inside(link, frame) {
        Inside::Ip(bytes) => packet(Place { frame, original }, bytes, MOST_TUNNELS),
        Inside::Other(kind) => Seen::NotIp(kind),
        Inside::Short => Seen::Short,
        Inside::Unread => Seen::Unread,
    }
}

/// The frame that packets are in.
#[derive(Clone, Copy)]
struct Place<'a> {
    frame: &'a [u8],
    original: u32,
}

/// Reads an IP packet, in which there may be so many tunnels, one in the other.
fn packet(place: Place<'_>, bytes: &[u8], tunnels: u32) -> Seen {
    let Ok((ip, _)) = LaxIpSlice::from_slice(bytes) else { return Seen::Short };
    let payload = ip.payload();
    if payload.fragmented {
        return Seen::Fragment;
    }
    let before = bytes.as_ptr().addr() - place.frame.as_ptr().addr();
    let head = Head::of(&ip, place.original.saturating_sub(before as u32));
    match payload.ip_number.0 {
        6 => tcp(&head, bytes, payload.payload),
        17 => match payload.payload {
            [a, b, c, d, ..] => {
                let ports = (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d]));
                let behind = payload.payload.get(UDP_HEADER..).unwrap_or_default();
                let tunnel = Tunnel::over_udp(ports, behind);
                let found = tunnel.map(|tunnel| through(place, tunnel, behind, tunnels));
                if let Some(tcp @ Seen::Tcp(_)) = found {
                    return tcp;
                }
                let unread = matches!(found, Some(Seen::Unread | Seen::Short | Seen::Fragment));
                let [from, to] = [(head.from, ports.0), (head.to, ports.1)].map(SocketAddr::from);
                Seen::Udp(from, to, head.bytes, tunnel.filter(|_| unread))
            }
            _ => Seen::Short,
        },
        other => {
            match Tunnel::over_ip(other).map(|tunnel| through(place, tunnel, payload.payload, tunnels)) {
                Some(tcp @ Seen::Tcp(_)) => tcp,
                _ => Seen::OverIp(other),
            }
        }
    }
}

/// What is inside of a tunnel.
fn through(place: Place<'_>, tunnel: Tunnel, bytes: &[u8], tunnels: u32) -> Seen {
    match tunnel.inside(bytes) {
        Inside::Ip(inner) if tunnels > 0 => match packet(place, inner, tunnels - 1) {
            Seen::Tcp(mut tcp) => {
                tcp.within = Some(tunnel);
                Seen::Tcp(tcp)
            }
            other => other,
        },
        Inside::Other(kind) => Seen::NotIp(kind),
        Inside::Short => Seen::Short,
        Inside::Ip(_) | Inside::Unread => Seen::Unread,
    }
}

/// What is needed of IP's header.
struct Head {
    from: IpAddr,
    to: IpAddr,
    bytes: u32,
    tos: u8,
    ttl: u8,
    ip_id: u16,
}

impl Head {
    /// `on_link` is what the frame has room for: the length of packets that the sender's system handed to
    /// its card before the length was written, and of those whose length does not fit in 16 bits.
    fn of(ip: &LaxIpSlice<'_>, on_link: u32) -> Head {
        match ip {
            LaxIpSlice::Ipv4(ip) => {
                let header = ip.header();
                let length = u32::from(header.total_len());
                Head {
                    from: header.source_addr().into(),
                    to: header.destination_addr().into(),
                    bytes: if length == 0 { on_link } else { length },
                    tos: header.dcp().value() << 2 | header.ecn().value(),
                    ttl: header.ttl(),
                    ip_id: header.identification(),
                }
            }
            LaxIpSlice::Ipv6(ip) => {
                let header = ip.header();
                let length = u32::from(header.payload_length());
                Head {
                    from: header.source_addr().into(),
                    to: header.destination_addr().into(),
                    // A length of 0 is that of a jumbogram (RFC 2675 §2).
                    bytes: if length == 0 { on_link } else { 40 + length },
                    tos: header.traffic_class(),
                    ttl: header.hop_limit(),
                    ip_id: 0,
                }
            }
        }
    }
}

fn tcp(head: &Head, ip: &[u8], segment: &[u8]) -> Seen {
    // Behind a cut, zeros: they end the list of options.
    let mut whole = [0; MOST_HEADER];
    let there = segment.len().min(MOST_HEADER);
    whole[..there].copy_from_slice(&segment[..there]);
    let header = usize::from(whole[12] >> 4) * 4;
    if there < LEAST_HEADER || header < LEAST_HEADER {
        return Seen::Short;
    }
    let Ok(tcp) = TcpSlice::from_slice(&whole[..header]) else { return Seen::Short };
    let before = segment.as_ptr().addr() - ip.as_ptr().addr();
    let flags = u16::from(whole[13]) | u16::from(whole[12] & 1) << 8;
    Seen::Tcp(Box::new(TcpPacket {
        from: SocketAddr::new(head.from, tcp.source_port()),
        to: SocketAddr::new(head.to, tcp.destination_port()),
        seq: tcp.sequence_number(),
        ack: tcp.acknowledgment_number(),
        flags,
        window: tcp.window_size(),
        payload: head.bytes.saturating_sub((before + header) as u32),
        ip_bytes: head.bytes,
        tos: head.tos,
        ttl: head.ttl,
        ip_id: head.ip_id,
        // An option that the capture cut is no option.
        options: Options::read(&whole[LEAST_HEADER..there.min(header).max(LEAST_HEADER)]),
        cut: there < header,
        within: None,
    }))
}
