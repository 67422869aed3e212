//! The two bits of ECN in the IP header of a packet (RFC 3168 §5, §23.1).

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

/// Marks a packet CE; in IPv4 the header's checksum changes with it (RFC 1624 §3).
pub(crate) fn mark(packet: &mut [u8]) {
    match packet {
        [first, class, ..] if *first >> 4 == 6 => *class |= 0x30,
        [first, tos, ..] if *first >> 4 == 4 => {
            let before = *tos;
            *tos |= 3;
            let grown = u32::from(*tos - before);
            if let Some(sum) = packet.get_mut(10..12) {
                // HC' = ~(~HC + ~m + m'), and only the low byte of m grows.
                let old = u32::from(!u16::from_be_bytes([sum[0], sum[1]])) + grown;
                let folded = (old & 0xffff) + (old >> 16);
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
            assert_eq!((ecn(&packet), sum(&packet), packet[1] >> 2), (Ecn::Ce, 0xffff, tos >> 2));
        }
    }

    #[test]
    fn ipv6_has_it_in_the_traffic_class() {
        let mut packet = [0x60, 0x25, 0, 0];
        assert_eq!(ecn(&packet), Ecn::Ect0);
        mark(&mut packet);
        assert_eq!((ecn(&packet), packet), (Ecn::Ce, [0x60, 0x35, 0, 0]));
        assert_eq!(ecn(&[]), Ecn::NotEct);
    }
}
