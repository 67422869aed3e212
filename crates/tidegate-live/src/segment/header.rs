//! What of a packet's first bytes is needed: the TCP header behind the IPv4 header.

/// IPv4 header with all options and TCP header with all options.
pub(crate) const ENOUGH: u32 = 120;

const PROTOCOL_TCP: u8 = 6;

/// A TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Of the first byte, or of the SYN.
    pub seq: u32,
    /// What is acknowledged.
    pub ack: u32,
    /// The connection's first packet in its direction.
    pub syn: bool,
    /// `ack` counts.
    pub is_ack: bool,
    /// The connection's last packet in its direction.
    pub fin: bool,
    /// The connection is reset.
    pub rst: bool,
    /// User bytes.
    pub payload: u32,
    /// Source and destination.
    pub ports: [u16; 2],
}

impl Header {
    /// Reads the first bytes of an IP packet of `bytes` bytes; `None`: no TCP.
    #[must_use]
    pub fn parse(first: &[u8], bytes: u32) -> Option<Header> {
        let version_ihl = *first.first()?;
        if version_ihl >> 4 != 4 || *first.get(9)? != PROTOCOL_TCP {
            return None;
        }
        let ip = usize::from(version_ihl & 0xf) * 4;
        let tcp = first.get(ip..ip + 20)?;
        let word = |at: usize| u32::from_be_bytes([tcp[at], tcp[at + 1], tcp[at + 2], tcp[at + 3]]);
        let headers = ip as u32 + u32::from(tcp[12] >> 4) * 4;
        let flags = tcp[13];
        Some(Header {
            seq: word(4),
            ack: word(8),
            syn: flags & 0x02 != 0,
            is_ack: flags & 0x10 != 0,
            fin: flags & 0x01 != 0,
            rst: flags & 0x04 != 0,
            payload: bytes.checked_sub(headers)?,
            ports: [word(0) >> 16, word(0) & 0xffff].map(|port| port as u16),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_with_timestamps_is_read() {
        let mut packet = vec![0; 52];
        packet[0] = 0x45;
        packet[9] = PROTOCOL_TCP;
        packet[20..24].copy_from_slice(&[0x13, 0x89, 0, 80]);
        packet[24..28].copy_from_slice(&77_u32.to_be_bytes());
        packet[28..32].copy_from_slice(&88_u32.to_be_bytes());
        packet[32] = 8 << 4;
        packet[33] = 0x10;
        let ports = [5001, 80];
        let header = Header {
            seq: 77,
            ack: 88,
            syn: false,
            is_ack: true,
            fin: false,
            rst: false,
            payload: 1448,
            ports,
        };
        assert_eq!(Header::parse(&packet, 1500), Some(header));
        assert_eq!(Header::parse(&packet[..30], 1500), None, "too little was kept");
        packet[9] = 17;
        assert_eq!(Header::parse(&packet, 1500), None, "UDP");
    }
}
