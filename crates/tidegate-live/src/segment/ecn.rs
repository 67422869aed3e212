//! The two bits of ECN in the IP header of a packet (RFC 3168 §5, §23.1), and the codepoint of DiffServ above them
//! (RFC 2474 §3).

use tidegate_core::unit::Ecn;

/// The codepoint of an IPv4 or IPv6 packet.
pub(crate) fn ecn(packet: &[u8]) -> Ecn {
    match packet {
        [first, tos, ..] if first >> 4 == 4 => Ecn::from_bits(*tos),
        // The traffic class begins in the first byte, four bits of it; its last two bits are ECN.
        [first, class, ..] if first >> 4 == 6 => Ecn::from_bits(class >> 4),
        _ => Ecn::NotEct,
    }
}

/// The codepoint of DiffServ of an IPv4 or IPv6 packet; 0 of any other.
pub(crate) fn codepoint(packet: &[u8]) -> u8 {
    traffic_class(packet) >> 2
}

/// The byte of which the upper six bits are the codepoint.
fn traffic_class(packet: &[u8]) -> u8 {
    match packet {
        [first, tos, ..] if first >> 4 == 4 => *tos,
        [first, second, ..] if first >> 4 == 6 => first << 4 | second >> 4,
        _ => 0,
    }
}

/// Marks a packet CE.
pub(crate) fn mark(packet: &mut [u8]) {
    set_traffic_class(packet, traffic_class(packet) | 3);
}

/// Gives a packet a codepoint of DiffServ.
pub(crate) fn set_codepoint(packet: &mut [u8], codepoint: u8) {
    set_traffic_class(packet, codepoint << 2 | traffic_class(packet) & 3);
}

/// Sets that byte; in IPv4 the header's checksum changes with it (RFC 1624 §3).
fn set_traffic_class(packet: &mut [u8], class: u8) {
    match packet {
        [first, second, ..] if *first >> 4 == 6 => {
            *first = *first & 0xf0 | class >> 4;
            *second = *second & 0x0f | class << 4;
        }
        [first, tos, ..] if *first >> 4 == 4 => {
            let before = std::mem::replace(tos, class);
            let word = u16::from_be_bytes([*first, before]);
            let changed = u16::from_be_bytes([*first, class]);
            if let Some(sum) = packet.get_mut(10..12) {
                // HC' = ~(~HC + ~m + m').
                let old = u32::from(!u16::from_be_bytes([sum[0], sum[1]]));
                let total = old + u32::from(!word) + u32::from(changed);
                let folded = (total & 0xffff) + (total >> 16);
                let folded = (folded & 0xffff) + (folded >> 16);
                sum.copy_from_slice(&(!(folded as u16)).to_be_bytes());
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(header: &[u8]) -> u16 {
        let total: u32 = header.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
        let folded = (total & 0xffff) + (total >> 16);
        ((folded & 0xffff) + (folded >> 16)) as u16
    }

    #[test]
    fn a_marked_ipv4_header_has_the_right_checksum() {
        for (tos, id) in (0..=255_u8).flat_map(|tos| [0_u16, 7, 0x1234, 0xfffe].map(|id| (tos, id))) {
            let mut packet = [0_u8; 20];
            (packet[0], packet[1], packet[8], packet[9]) = (0x45, tos, 64, 6);
            packet[4..6].copy_from_slice(&id.to_be_bytes());
            let check = !sum(&packet);
            packet[10..12].copy_from_slice(&check.to_be_bytes());
            assert_eq!(ecn(&packet), Ecn::from_bits(tos));
            mark(&mut packet);
            assert_eq!((ecn(&packet), sum(&packet), codepoint(&packet)), (Ecn::Ce, 0xffff, tos >> 2));
            for changed in [0, 46, 63] {
                set_codepoint(&mut packet, changed);
                assert_eq!((ecn(&packet), sum(&packet), codepoint(&packet)), (Ecn::Ce, 0xffff, changed));
            }
        }
    }

    #[test]
    fn ipv6_has_it_in_the_traffic_class() {
        let mut packet = [0x60, 0x25, 0, 0];
        assert_eq!(ecn(&packet), Ecn::Ect0);
        mark(&mut packet);
        assert_eq!((ecn(&packet), packet), (Ecn::Ce, [0x60, 0x35, 0, 0]));
        // A traffic class of 0xaa; the flow label behind it stays.
        let mut coded = [0x6a, 0xa7, 0xff, 0xff];
        assert_eq!((codepoint(&coded), ecn(&coded)), (0b101010, Ecn::Ect0));
        set_codepoint(&mut coded, 46);
        assert_eq!((codepoint(&coded), ecn(&coded), coded), (46, Ecn::Ect0, [0x6b, 0xa7, 0xff, 0xff]));
        assert_eq!((ecn(&[]), codepoint(&[])), (Ecn::NotEct, 0));
    }
}
