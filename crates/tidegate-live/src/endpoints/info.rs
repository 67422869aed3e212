//! `TCP_INFO`: the state of a connection as the kernel tells it.

use std::io;
use std::os::fd::BorrowedFd;

use super::sockopt::{TcpOption, get_bytes};

/// Bytes of `struct tcp_info` in the newest kernel known here; older ones give fewer.
const BYTES: usize = 248;
/// Where `tcpi_total_rto` ends (Linux 6.7).
const WITH_TIMEOUTS: usize = 242;
/// `TCP_ESTABLISHED` and `TCP_CLOSE`.
const ESTABLISHED: u8 = 1;
const CLOSED: u8 = 7;
/// "No limit" in `tcpi_snd_ssthresh` (`TCP_INFINITE_SSTHRESH`).
const NO_LIMIT: u32 = 0x7fff_ffff;

/// What is read of it; see `include/uapi/linux/tcp.h`. Segments are the kernel's, of `mss` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    /// `TCP_CA_Open` 0, `Disorder` 1, `CWR` 2, `Recovery` 3, `Loss` 4.
    pub congestion_state: u8,
    /// Bits: 1 timestamps, 2 SACK, 4 window scaling.
    pub options: u8,
    /// The connection is established.
    pub established: bool,
    /// Nothing is left of the connection at this end.
    pub closed: bool,
    /// Retransmission time-out, µs, without back-off.
    pub rto_us: u32,
    /// User bytes of a segment.
    pub mss: u32,
    /// Segments sent and not acknowledged.
    pub unacked: u32,
    /// Of these, acknowledged selectively.
    pub sacked: u32,
    /// Of these, taken for lost.
    pub lost: u32,
    /// Sent again and still out.
    pub retransmitting: u32,
    /// Smoothed round-trip time, µs; 0 before the first sample.
    pub rtt_us: u32,
    /// Its variation, µs.
    pub rtt_variation_us: u32,
    /// Slow-start threshold, segments; `None`: no limit.
    pub ssthresh: Option<u32>,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Segments sent again since the start.
    pub total_retransmitted: u32,
    /// Written by the application and not yet sent.
    pub unsent_bytes: u32,
    /// User bytes in the last window's deliveries per second.
    pub delivery_rate: u64,
    /// The window that the other end announced, bytes.
    pub peer_window: u32,
    /// Time-outs since the start; `None`: this kernel does not report them (before 6.7).
    pub timeouts: Option<u16>,
}

impl TcpInfo {
    /// Asks the kernel.
    ///
    /// # Errors
    /// The kernel's: it is no TCP socket.
    pub fn read(socket: BorrowedFd<'_>) -> io::Result<TcpInfo> {
        let mut bytes = [0; BYTES];
        let length = get_bytes(socket, TcpOption::Info as i32, &mut bytes)?;
        Ok(TcpInfo::parse(&bytes, length))
    }

    fn parse(bytes: &[u8; BYTES], length: usize) -> TcpInfo {
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| {
            let mut value = [0; 8];
            value.copy_from_slice(&bytes[at..at + 8]);
            u64::from_ne_bytes(value)
        };
        TcpInfo {
            congestion_state: bytes[1],
            options: bytes[5],
            established: bytes[0] == ESTABLISHED,
            closed: bytes[0] == CLOSED,
            rto_us: word(8),
            mss: word(16),
            unacked: word(24),
            sacked: word(28),
            lost: word(32),
            retransmitting: word(36),
            rtt_us: word(68),
            rtt_variation_us: word(72),
            ssthresh: Some(word(76)).filter(|segments| *segments < NO_LIMIT),
            cwnd: word(80),
            total_retransmitted: word(100),
            unsent_bytes: word(144),
            delivery_rate: long(160),
            peer_window: word(228),
            timeouts: (length >= WITH_TIMEOUTS).then(|| u16::from_ne_bytes([bytes[240], bytes[241]])),
        }
    }

    /// Segments in the network, as RFC 6675's pipe counts them.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        (self.unacked + self.retransmitting).saturating_sub(self.sacked + self.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_kernel_puts_them() {
        let mut bytes = [0; BYTES];
        bytes[0] = 1;
        bytes[1] = 3;
        for (at, value) in [(8, 204_000_u32), (16, 1448), (24, 30), (28, 3), (32, 2), (36, 1), (76, NO_LIMIT)]
        {
            bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        }
        bytes[240..242].copy_from_slice(&7_u16.to_ne_bytes());
        let info = TcpInfo::parse(&bytes, BYTES);
        assert!(info.established);
        assert_eq!((info.congestion_state, info.rto_us, info.mss), (3, 204_000, 1448));
        assert_eq!(info.in_flight(), 26);
        assert_eq!((info.ssthresh, info.timeouts), (None, Some(7)));
        assert_eq!(TcpInfo::parse(&bytes, 232).timeouts, None, "an older kernel");
    }
}
