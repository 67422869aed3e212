//! Tunnels: what is inside of a packet that carries another, where the outer header is plain.

use crate::link::{Inside, bare, ethernet, half, of_type, ppp};

/// A tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tunnel {
    /// RFC 7348: an Ethernet frame behind 8 bytes, over UDP to port 4789.
    Vxlan,
    /// RFC 8926: a frame or a packet behind 8 bytes and options, over UDP to port 6081.
    Geneve,
    /// 3GPP TS 29.281: an IP packet behind 8 bytes or more, over UDP to port 2152.
    GtpU,
    /// RFC 4380: an IPv6 packet, over UDP from or to port 3544.
    Teredo,
    /// RFC 2784, RFC 2890, and RFC 2637 (PPTP): a packet or a frame behind 4 bytes or more, over IP.
    Gre,
    /// RFC 2003, RFC 4213: an IP packet over IP.
    Ip,
}

impl Tunnel {
    /// The tunnel of a UDP packet, by its ports (from, to) and what follows UDP's header.
    pub(crate) fn over_udp(ports: (u16, u16), inside: &[u8]) -> Option<Tunnel> {
        let first = *inside.first()?;
        match ports {
            // The flag I says that there is a network identifier.
            (_, 4789) if first & 0x08 != 0 => Some(Tunnel::Vxlan),
            // Version 0.
            (_, 6081) if first >> 6 == 0 => Some(Tunnel::Geneve),
            // Version 1, and a packet of a user inside.
            (_, 2152) if first >> 5 == 1 && inside.get(1) == Some(&255) => Some(Tunnel::GtpU),
            (3544, _) | (_, 3544) => Some(Tunnel::Teredo),
            _ => None,
        }
    }

    /// The tunnel of an IP packet, by its protocol.
    pub(crate) fn over_ip(protocol: u8) -> Option<Tunnel> {
        match protocol {
            4 | 41 => Some(Tunnel::Ip),
            47 => Some(Tunnel::Gre),
            _ => None,
        }
    }

    /// What is inside; `bytes` are those behind the header of UDP or IP. [`Inside::Unread`]: the header is not plain.
    pub(crate) fn inside(self, bytes: &[u8]) -> Inside<'_> {
        match self {
            Tunnel::Vxlan => bytes.get(8..).map_or(Inside::Short, ethernet),
            Tunnel::Geneve => geneve(bytes).unwrap_or(Inside::Short),
            Tunnel::GtpU => gtp(bytes).map_or(Inside::Short, bare),
            Tunnel::Teredo => teredo(bytes).map_or(Inside::Short, bare),
            Tunnel::Gre => gre(bytes).unwrap_or(Inside::Short),
            Tunnel::Ip => bare(bytes),
        }
    }

    /// Its name in notes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Tunnel::Vxlan => "VXLAN",
            Tunnel::Geneve => "Geneve",
            Tunnel::GtpU => "GTP-U",
            Tunnel::Teredo => "Teredo",
            Tunnel::Gre => "GRE",
            Tunnel::Ip => "IP in IP",
        }
    }
}

/// Version 0 and the length of the options in words, flags (O: control), and what follows by its EtherType.
fn geneve(bytes: &[u8]) -> Option<Inside<'_>> {
    let (first, flags) = (*bytes.first()?, *bytes.get(1)?);
    if flags & 0x80 != 0 {
        return Some(Inside::Unread);
    }
    let rest = bytes.get(8 + 4 * usize::from(first & 0x3f)..)?;
    Some(of_protocol(half(bytes, 2)?, rest))
}

/// Flags, type, length and endpoint; with any of the flags E, S and PN four bytes more, the last of which is the kind of the first extension.
fn gtp(bytes: &[u8]) -> Option<&[u8]> {
    let first = *bytes.first()?;
    if first & 0x07 == 0 {
        return bytes.get(8..);
    }
    let mut kind = if first & 0x04 != 0 { *bytes.get(11)? } else { 0 };
    let mut rest = bytes.get(12..)?;
    while kind != 0 {
        // In units of four bytes, this one and the kind of the next included.
        let length = 4 * usize::from(*rest.first()?);
        kind = *rest.get(..length.max(4))?.last()?;
        rest = rest.get(length.max(4)..)?;
    }
    Some(rest)
}

/// Authentication and origin, where they are there, and the packet (RFC 4380 §5.1.1).
fn teredo(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes;
    if let [0, 1, id, value, ..] = rest {
        rest = rest.get(13 + usize::from(*id) + usize::from(*value)..)?;
    }
    if let [0, 0, ..] = rest {
        rest = rest.get(8..)?;
    }
    Some(rest)
}

/// Checksum, key and sequence number, where the flags say so, and the packet by its EtherType.
fn gre(bytes: &[u8]) -> Option<Inside<'_>> {
    let (flags, protocol) = (half(bytes, 0)?, half(bytes, 2)?);
    let words = |bits: [u16; 4]| 4 * bits.iter().filter(|bit| flags & **bit != 0).count();
    match flags & 7 {
        // Checksum, key, sequence number.
        0 if flags & 0x4000 == 0 => {
            Some(of_protocol(protocol, bytes.get(4 + words([0x8000, 0x2000, 0x1000, 0])..)?))
        }
        // PPTP: the key is always there, then the sequence number and that of the acknowledgement.
        1 if protocol == 0x880b => Some(ppp(bytes.get(4 + words([0, 0x2000, 0x1000, 0x0080])..)?)),
        _ => Some(Inside::Unread),
    }
}

/// A packet by its EtherType, or an Ethernet frame.
fn of_protocol(kind: u16, bytes: &[u8]) -> Inside<'_> {
    if kind == 0x6558 { ethernet(bytes) } else { of_type(kind, bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: [u8; 4] = [0x45, 0, 0, 40];

    fn behind(header: &[u8]) -> Vec<u8> {
        [header, &PACKET].concat()
    }

    #[test]
    fn ports_and_first_bytes_tell() {
        assert_eq!(Tunnel::over_udp((50_000, 4789), &[8, 0]), Some(Tunnel::Vxlan));
        assert_eq!(Tunnel::over_udp((50_000, 4789), &[0, 0]), None);
        assert_eq!(Tunnel::over_udp((2152, 2152), &[0x30, 255]), Some(Tunnel::GtpU));
        assert_eq!(Tunnel::over_udp((2152, 2152), &[0x30, 1]), None, "an echo request");
        assert_eq!(Tunnel::over_udp((3544, 9), &[0x60]), Some(Tunnel::Teredo));
        assert_eq!(Tunnel::over_udp((1, 6081), &[0]), Some(Tunnel::Geneve));
        assert_eq!(Tunnel::over_udp((443, 443), &[8]), None);
        assert_eq!(Tunnel::over_udp((1, 4789), &[]), None);
    }

    #[test]
    fn each_header_leads_to_the_packet() {
        let frame = [&[0; 12][..], &[8, 0]].concat();
        let vxlan = [&[8, 0, 0, 0, 0, 0, 1, 0][..], &frame].concat();
        // Two words of options.
        let geneve = [&[2, 0, 0x65, 0x58, 0, 0, 1, 0][..], &[7; 8], &frame].concat();
        let geneve_ip = vec![0, 0, 8, 0, 0, 0, 1, 0];
        let gtp = vec![0x30, 255, 0, 4, 0, 0, 0, 1];
        // An extension of 4 bytes, kind 0x85, and one of 8.
        let gtp_more =
            [&[0x34, 255, 0, 20, 0, 0, 0, 1][..], &[0, 0, 0, 0x85], &[1, 0, 9, 0x40, 2, 0, 0, 0, 0, 0, 0, 0]]
                .concat();
        let teredo = vec![];
        let teredo_more = [&[0, 1, 0, 0][..], &[5; 9], &[0, 0, 1, 2, 3, 4, 5, 6]].concat();
        let gre = vec![0, 0, 8, 0];
        let gre_more = [&[0xb0, 0, 8, 0][..], &[9; 12]].concat();
        let gre_frame = [&[0x20, 0, 0x65, 0x58, 0, 0, 1, 0][..], &frame].concat();
        let gre_mpls = [&[0, 0, 0x88, 0x47][..], &[0, 1, 0x00, 64], &[0, 2, 0x01, 64]].concat();
        let pptp =
            [&[0x30, 0x81, 0x88, 0x0b][..], &[0, 8, 0, 1], &[0, 0, 0, 1], &[0, 0, 0, 2], &[0xff, 3, 0, 0x21]]
                .concat();
        for (tunnel, header) in [
            (Tunnel::Vxlan, vxlan),
            (Tunnel::Geneve, geneve),
            (Tunnel::Geneve, geneve_ip),
            (Tunnel::GtpU, gtp),
            (Tunnel::GtpU, gtp_more),
            (Tunnel::Teredo, teredo),
            (Tunnel::Teredo, teredo_more),
            (Tunnel::Gre, gre),
            (Tunnel::Gre, gre_more),
            (Tunnel::Gre, gre_frame),
            (Tunnel::Gre, gre_mpls),
            (Tunnel::Gre, pptp),
            (Tunnel::Ip, vec![]),
        ] {
            assert_eq!(tunnel.inside(&behind(&header)), Inside::Ip(&PACKET), "{tunnel:?} {header:?}");
            for bytes in 0..header.len() {
                assert_ne!(tunnel.inside(&header[..bytes]), Inside::Ip(&PACKET), "{tunnel:?} {bytes}");
            }
        }
    }

    #[test]
    fn what_is_not_plain_is_not_read() {
        assert_eq!(Tunnel::Geneve.inside(&behind(&[0, 0x80, 8, 0, 0, 0, 1, 0])), Inside::Unread);
        assert_eq!(Tunnel::Gre.inside(&behind(&[0x40, 0, 8, 0])), Inside::Unread, "with a route");
        assert_eq!(Tunnel::Gre.inside(&behind(&[0, 7, 8, 0])), Inside::Unread, "version 7");
        assert_eq!(Tunnel::Gre.inside(&behind(&[0, 0, 0x88, 0xbe])), Inside::Other(0x88be), "ERSPAN");
        assert_eq!(Tunnel::Vxlan.inside(&[8, 0]), Inside::Short);
        // An extension that ends nowhere.
        assert_eq!(Tunnel::GtpU.inside(&[0x34, 255, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0x85, 0]), Inside::Short);
    }
}
