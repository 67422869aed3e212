//! Where the IP packet begins in a frame, by the capture's link type
//! (<https://www.tcpdump.org/linktypes.html>).

/// What stands behind the link's header.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Inside<'a> {
    /// An IP packet of either version.
    Ip(&'a [u8]),
    /// Another protocol, by its EtherType.
    Other(u16),
    /// The capture holds too little of the frame.
    Short,
    /// A link type that is not read.
    Unread,
}

const ETHERNET: i32 = 1;
const PPP: i32 = 9;
const NULL: i32 = 0;
const LOOP: i32 = 108;
const COOKED: i32 = 113;
const COOKED_2: i32 = 276;
/// Raw IP: the number of the standard, those that systems write, and those of one version only.
const RAW: [i32; 5] = [101, 12, 14, 228, 229];

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// 802.1Q, 802.1ad and the older number of stacked tags.
const VLANS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// PPP over Ethernet, in its session stage (RFC 2516 §4).
const PPPOE: u16 = 0x8864;
/// MPLS, to one receiver and to several (RFC 5332 §3).
const MPLS: [u16; 2] = [0x8847, 0x8848];

/// Finds the IP packet.
pub(crate) fn inside(link: i32, frame: &[u8]) -> Inside<'_> {
    match link {
        ETHERNET => ethernet(frame),
        // Linux cooked: the type stands last in version 1 and first in version 2.
        COOKED => typed(frame, 14, 16),
        COOKED_2 => typed(frame, 0, 20),
        // Four bytes of address family, of the byte order of the machine; the IP version says the same.
        NULL | LOOP => frame.get(4..).map_or(Inside::Short, bare),
        PPP => ppp(frame),
        raw if RAW.contains(&raw) => bare(frame),
        _ => Inside::Unread,
    }
}

/// An Ethernet frame.
pub(crate) fn ethernet(frame: &[u8]) -> Inside<'_> {
    typed(frame, 12, 14)
}

/// The EtherType stands at `place`, what it speaks of at `behind`.
fn typed(frame: &[u8], place: usize, behind: usize) -> Inside<'_> {
    match (half(frame, place), frame.get(behind..)) {
        (Some(kind), Some(rest)) => of_type(kind, rest),
        _ => Inside::Short,
    }
}

/// What an EtherType speaks of.
pub(crate) fn of_type(kind: u16, bytes: &[u8]) -> Inside<'_> {
    let (mut kind, mut bytes) = (kind, bytes);
    while VLANS.contains(&kind) {
        match (half(bytes, 2), bytes.get(4..)) {
            (Some(inner), Some(rest)) => (kind, bytes) = (inner, rest),
            _ => return Inside::Short,
        }
    }
    match kind {
        IPV4 | IPV6 => Inside::Ip(bytes),
        PPPOE => bytes.get(6..).map_or(Inside::Short, ppp),
        kind if MPLS.contains(&kind) => mpls(kind, bytes),
        other => Inside::Other(other),
    }
}

/// What stands behind a stack of labels (RFC 3032 §2.1), where it is an IP packet: no label says what follows.
fn mpls(kind: u16, bytes: &[u8]) -> Inside<'_> {
    let mut labels = bytes.chunks_exact(4);
    match labels.position(|label| label[2] & 1 != 0).and_then(|place| bytes.get(4 * (place + 1)..)) {
        Some(rest) => match bare(rest) {
            Inside::Other(_) => Inside::Other(kind),
            found => found,
        },
        None => Inside::Short,
    }
}

/// PPP's protocol field, one or two bytes, perhaps behind address and control (RFC 1661 §2, RFC 1662 §3.1).
pub(crate) fn ppp(bytes: &[u8]) -> Inside<'_> {
    let bytes = bytes.strip_prefix(&[0xff, 0x03]).unwrap_or(bytes);
    match bytes {
        [0x00, 0x21 | 0x57, rest @ ..] | [0x21 | 0x57, rest @ ..] => Inside::Ip(rest),
        [high, low, ..] => Inside::Other(u16::from_be_bytes([*high, *low])),
        _ => Inside::Short,
    }
}

/// An IP packet, or nothing that is known.
pub(crate) fn bare(bytes: &[u8]) -> Inside<'_> {
    match bytes.first().map(|first| first >> 4) {
        Some(4 | 6) => Inside::Ip(bytes),
        Some(_) => Inside::Other(0),
        None => Inside::Short,
    }
}

/// The 16 bits at a place.
pub(crate) fn half(bytes: &[u8], place: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(place)?, *bytes.get(place + 1)?]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: [u8; 3] = [0x45, 0, 0];

    fn behind(header: &[u8]) -> Vec<u8> {
        [header, &PACKET].concat()
    }

    #[test]
    fn each_link_type_leads_to_the_packet() {
        let ethernet = [&[0; 12][..], &[8, 0]].concat();
        let tagged = [&[0; 12][..], &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 7, 8, 0]].concat();
        let session = [&[0; 12][..], &[0x88, 0x64, 0x11, 0, 0, 1, 0, 5, 0, 0x21]].concat();
        let cooked = [&[0; 14][..], &[8, 0]].concat();
        let cooked_2 = [&[8, 0][..], &[0; 18]].concat();
        for (link, header) in [
            (1, ethernet),
            (1, tagged),
            (1, session),
            (1, [&[0; 12][..], &[0x88, 0x47], &[0, 1, 0, 64], &[0, 2, 1, 64]].concat()),
            (113, cooked),
            (276, cooked_2),
            (0, vec![2, 0, 0, 0]),
            (108, vec![0, 0, 0, 2]),
            (101, vec![]),
            (12, vec![]),
            (9, vec![0xff, 3, 0, 0x21]),
            (9, vec![0x21]),
        ] {
            assert_eq!(inside(link, &behind(&header)), Inside::Ip(&PACKET), "{link}");
        }
    }

    #[test]
    fn what_is_not_ip_is_named() {
        assert_eq!(inside(1, &[&[0; 12][..], &[8, 6], &[0; 28]].concat()), Inside::Other(0x0806));
        assert_eq!(inside(1, &[0; 13]), Inside::Short);
        assert_eq!(inside(1, &[&[0; 12][..], &[0x81, 0, 0]].concat()), Inside::Short);
        // A pseudowire: a control word, and a frame.
        let wire = [&[0; 12][..], &[0x88, 0x47, 0, 1, 1, 64], &[0; 20]].concat();
        assert_eq!(inside(1, &wire), Inside::Other(0x8847));
        assert_eq!(inside(1, &[&[0; 12][..], &[0x88, 0x47, 0, 1, 0, 64]].concat()), Inside::Short);
        assert_eq!(inside(127, &[0; 60]), Inside::Unread);
    }
}
