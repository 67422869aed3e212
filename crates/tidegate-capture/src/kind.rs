//! Files of other programs that hold packets: named, and not read.

/// What a file is that is neither pcap nor pcapng, by its first bytes and its name, in words; `None`: it is not known.
pub(crate) fn of(first: &[u8], name: &str) -> Option<&'static str> {
    match first {
        [b's', b'n', b'o', b'o', b'p', 0, 0, 0, ..] => Some("a capture of snoop (RFC 1761)"),
        [b'R', b'T', b'S', b'S', ..] => Some("a capture of Network Monitor 1"),
        [b'G', b'M', b'B', b'U', ..] => Some("a capture of Network Monitor 2"),
        [b'T', b'R', b'S', b'N', b'I', b'F', b'F', b' ', ..] => Some("a capture of Sniffer"),
        [0xa1, 0xb2, ..] | [_, _, 0xb2, 0xa1, ..] => {
            Some("a pcap file of a version or variant that libpcap does not read")
        }
        // ERF has no magic number.
        _ if name.to_ascii_lowercase().ends_with(".erf") => Some("a capture of Endace (ERF)"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_others_are_named() {
        assert!(of(b"snoop\0\0\0\0\0\0\x02", "a").is_some_and(|kind| kind.contains("snoop")));
        assert!(of(b"GMBU\0\x02", "a.cap").is_some_and(|kind| kind.contains("Monitor 2")));
        assert!(of(&[0xa1, 0xb2, 0x34, 0xcd], "a").is_some_and(|kind| kind.contains("variant")));
        assert!(of(&[0; 16], "dag.ERF").is_some_and(|kind| kind.contains("ERF")));
        assert_eq!(of(b"<html>", "a.pcap"), None);
    }
}
