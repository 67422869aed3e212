//! Whose transport carries a flow.

use super::TcpPlan;
use crate::units::Span;

/// Whose transport carries a flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum TransportPlan {
    /// Our TCP, as the flow's `tcp` says.
    #[default]
    Tcp,
    /// QUIC as quinn has it (RFC 9000 and 9002). The flow's `tcp` has the size of its largest payload as that of a segment, in which
    /// windows are shown.
    Quic(Box<QuicPlan>),
}

/// A connection of QUIC. What is `None` is quinn's own choice.
#[derive(Clone, Debug, PartialEq)]
pub struct QuicPlan {
    /// The congestion controller of the sender.
    pub cc: QuicControl,
    /// Bytes of the receive window, of each stream and of the connection; `None`: 1.25 MB for each stream, no limit for the connection.
    pub window: Option<u32>,
    /// IP bytes of the largest packet, from [`QuicPlan::LEAST_MTU`] to [`QuicPlan::MOST_MTU`]; `None`: quinn begins with [`QuicPlan::LEAST_MTU`] and looks for more,
    /// up to [`QuicPlan::FOUND_MTU`] (RFC 8899).
    pub mtu: Option<u32>,
    /// The round trip that a connection begins with; `None`: 333 ms (RFC 9002 §6.2.2).
    pub initial_rtt: Option<Span>,
    /// Packets carry ECT(0), and marks lower the window. `false`: they are sent as by a host that cannot set the field.
    pub ecn: bool,
    /// Data packets to an ACK (draft-ietf-quic-ack-frequency); `None`: 2 (RFC 9000 §13.2.2).
    pub ack_every: Option<u32>,
    /// Streams that the bytes are sent in, side by side; at least 1.
    pub streams: u32,
    /// What the application writes is sent in datagrams (RFC 9221), which are not sent again.
    pub datagrams: bool,
}

impl Default for QuicPlan {
    fn default() -> QuicPlan {
        QuicPlan {
            cc: QuicControl::Cubic,
            window: None,
            mtu: None,
            initial_rtt: None,
            ecn: true,
            ack_every: None,
            streams: 1,
            datagrams: false,
        }
    }
}

impl QuicPlan {
    /// IP bytes of the least MTU: a payload of 1200 bytes (RFC 9000 §14), with the headers of UDP and IPv4.
    pub const LEAST_MTU: u32 = 1228;
    /// IP bytes of the largest packet that quinn can be told: those of its handshake are padded to that size, and it writes their length in
    /// two bytes, of which a number of variable length has 14 bits (RFC 9000 §16).
    pub const MOST_MTU: u32 = 1 << 14;
    /// IP bytes of the largest packet that quinn looks for by itself.
    pub const FOUND_MTU: u32 = 1480;

    /// IP bytes of its largest packet.
    #[must_use]
    pub fn largest_packet(&self) -> u32 {
        self.mtu.unwrap_or(QuicPlan::FOUND_MTU)
    }

    /// What it is, in a few words; `tcp`: the flow's.
    #[must_use]
    pub fn label(&self, tcp: &TcpPlan) -> String {
        match self.cc {
            QuicControl::Tcp => format!("{}, {}, quinn 0.11", tcp.cc.name(), tcp.base.name()),
            _ => format!("{}, quinn 0.11", self.cc.name(tcp)),
        }
    }
}

/// A congestion controller of a QUIC sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QuicControl {
    /// quinn's own (RFC 9438).
    #[default]
    Cubic,
    /// quinn's own (RFC 9002 §7).
    NewReno,
    /// quinn's own, version 1.
    Bbr,
    /// That of the flow's `tcp`, as it is under TCP. It does not hear how much was marked, which quinn tells no controller.
    Tcp,
}

impl QuicControl {
    /// Its name in results; `tcp`: the flow's.
    #[must_use]
    pub fn name(self, tcp: &TcpPlan) -> &'static str {
        match self {
            QuicControl::Cubic => "cubic",
            QuicControl::NewReno => "newreno",
            QuicControl::Bbr => "bbr",
            QuicControl::Tcp => tcp.cc.name(),
        }
    }
}

impl TransportPlan {
    /// Its name in scenarios.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            TransportPlan::Tcp => "tcp",
            TransportPlan::Quic(_) => "quic",
        }
    }
}
