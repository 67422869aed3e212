//! Why a file cannot be read as a capture at all.

use std::io;

/// A capture that cannot be read; the message is one sentence that begins with the file's name.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file cannot be opened or read.
    #[error("{file}: {error}")]
    Io {
        /// The file as it was named.
        file: String,
        /// What the system said.
        error: io::Error,
    },
    /// The file has no bytes.
    #[error(
        "{file}: the file is empty; needed is a capture in pcap or pcapng, plain or packed by gzip, xz or zstd"
    )]
    Empty {
        /// The file as it was named.
        file: String,
    },
    /// The file is something else.
    #[error(
        "{file}: this is not a capture: it begins with {begins}, and a capture begins with a magic number of pcap, \
         pcapng, gzip, xz or zstd; a CSV or JSON of rates is read by tidegate traces info"
    )]
    Other {
        /// The file as it was named.
        file: String,
        /// Its first bytes in words.
        begins: String,
    },
    /// The file holds packets in another way.
    #[error("{file}: this is {kind}, which is not read; write it as pcap with editcap -F pcap IN OUT")]
    Named {
        /// The file as it was named.
        file: String,
        /// What it is.
        kind: &'static str,
    },
    /// There are more connections than are kept.
    #[error(
        "{file}: the capture has more than {most} connections, the most that are read; cut it with a filter, such as \
         tcpdump -r FILE -w part.pcap 'host 192.0.2.1 and port 443', or by time"
    )]
    TooMany {
        /// The file as it was named.
        file: String,
        /// The most.
        most: usize,
    },
    /// The caller asked to stop.
    #[error("{file}: reading was interrupted")]
    Interrupted {
        /// The file as it was named.
        file: String,
    },
}

/// The first bytes of a file, as text where they are text.
pub(crate) fn begins(bytes: &[u8]) -> String {
    let first = &bytes[..bytes.len().min(16)];
    if first.iter().all(|byte| byte.is_ascii_graphic() || b" \t\r\n".contains(byte)) {
        let text = String::from_utf8_lossy(first);
        return format!("the text {:?}", text.trim_end());
    }
    let digits: Vec<String> = first[..first.len().min(4)].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("the bytes {}", digits.join(" "))
}
