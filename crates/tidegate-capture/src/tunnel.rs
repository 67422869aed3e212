//! Tunnels over UDP, told by their ports and first bytes: what is inside is not read.

/// A tunnel over UDP, by the port that IANA gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tunnel {
    /// RFC 7348: an Ethernet frame behind 8 bytes, to port 4789.
    Vxlan,
    /// RFC 8926: a frame behind 8 bytes and options, to port 6081.
    Geneve,
    /// 3GPP TS 29.281: an IP packet behind 8 bytes or more, to port 2152.
    GtpU,
    /// RFC 4380: an IPv6 packet, from or to port 3544.
    Teredo,
}

impl Tunnel {
    /// The tunnel of a packet, by its ports (from, to) and what follows UDP's header.
    pub(crate) fn of(ports: (u16, u16), inside: &[u8]) -> Option<Tunnel> {
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

    /// What a note says of its packets.
    pub(crate) fn note(self) -> &'static str {
        match self {
            Tunnel::Vxlan => {
                "of VXLAN, in which TCP may be that is not read: take the outer headers off (over Ethernet and \
                 IPv4: editcap -C 50 IN OUT), or capture on the tunnel's own interface"
            }
            Tunnel::Geneve => {
                "of Geneve, in which TCP may be that is not read: take the outer headers off (over Ethernet \
                 and IPv4, without options: editcap -C 50 IN OUT), or capture on the tunnel's own interface"
            }
            Tunnel::GtpU => {
                "of GTP-U, in which TCP may be that is not read: take the outer headers off (over Ethernet and \
                 IPv4, without extensions: editcap -C 14:36 IN OUT), or capture behind the tunnel"
            }
            Tunnel::Teredo => {
                "of Teredo, in which TCP may be that is not read: capture on the tunnel's own interface"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_first_bytes_tell() {
        assert_eq!(Tunnel::of((50_000, 4789), &[8, 0]), Some(Tunnel::Vxlan));
        assert_eq!(Tunnel::of((50_000, 4789), &[0, 0]), None);
        assert_eq!(Tunnel::of((2152, 2152), &[0x30, 255]), Some(Tunnel::GtpU));
        assert_eq!(Tunnel::of((2152, 2152), &[0x30, 1]), None, "an echo request");
        assert_eq!(Tunnel::of((3544, 9), &[0x60]), Some(Tunnel::Teredo));
        assert_eq!(Tunnel::of((1, 6081), &[0]), Some(Tunnel::Geneve));
        assert_eq!(Tunnel::of((443, 443), &[8]), None);
        assert_eq!(Tunnel::of((1, 4789), &[]), None);
    }
}
