//! The SACK option (RFC 2018 §3): what the receiver has beyond a gap.

use tidegate_core::tcp::MOST_BLOCKS;

/// Kinds of options (RFC 9293 §3.1, RFC 2018 §3).
const END: u8 = 0;
const PADDING: u8 = 1;
const SACK: u8 = 5;

/// The blocks of the first bytes of an IPv4 packet with TCP, as sequence numbers; none if it has none.
pub(crate) fn sack_blocks(first: &[u8]) -> impl Iterator<Item = (u32, u32)> + '_ {
    let option = options(first).find(|(kind, _)| *kind == SACK).map_or(&[][..], |(_, value)| value);
    let edge = |bytes: &[u8]| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    option.chunks_exact(8).take(MOST_BLOCKS).map(move |block| (edge(&block[..4]), edge(&block[4..])))
}

/// Every option with its kind, without its kind and length.
fn options(first: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let ip = first.first().map_or(0, |version_ihl| usize::from(version_ihl & 0xf) * 4);
    let header = first.get(ip + 12).map_or(0, |offset| usize::from(offset >> 4) * 4);
    let mut rest = first.get(ip + 20..ip + header).unwrap_or_default();
    std::iter::from_fn(move || {
        while let [PADDING, after @ ..] = rest {
            rest = after;
        }
        let (&kind, &length) = (rest.first()?, rest.get(1)?);
        // A length counts itself and the kind; what is wrong ends the list.
        let value = rest.get(2..usize::from(length)).filter(|_| kind != END)?;
        rest = &rest[usize::from(length)..];
        Some((kind, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(options: &[u8]) -> Vec<u8> {
        let mut packet = vec![0; 40];
        packet[0] = 0x45;
        packet.extend_from_slice(options);
        packet.resize(40 + options.len().next_multiple_of(4), 0);
        packet[32] = (((packet.len() - 20) / 4) << 4) as u8;
        packet
    }

    #[test]
    fn blocks_stand_behind_timestamps() {
        let mut options = vec![1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9, 1, 1, 5, 18];
        for edge in [100_u32, 200, u32::MAX, 50] {
            options.extend(edge.to_be_bytes());
        }
        let whole = packet(&options);
        assert_eq!(sack_blocks(&whole).collect::<Vec<_>>(), [(100, 200), (u32::MAX, 50)]);
        assert_eq!(sack_blocks(&whole[..50]).count(), 0, "too little was kept");
        assert_eq!(sack_blocks(&packet(&options[..12])).count(), 0, "timestamps alone");
    }

    #[test]
    fn nonsense_has_no_blocks() {
        for options in [
            &[5][..],
            &[5, 0],
            &[5, 1],
            &[5, 200, 1],
            &[0, 5, 10, 1, 1, 1, 1, 2, 2, 2, 2],
            &[8, 2, 5, 6, 1, 1],
        ] {
            assert_eq!(sack_blocks(&packet(options)).count(), 0, "{options:?}");
        }
        assert_eq!(sack_blocks(&[]).count(), 0);
    }
}
