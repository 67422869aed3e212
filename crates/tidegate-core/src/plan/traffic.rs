//! What applications and background sources send.

use std::sync::Arc;

use super::{GateIndex, HoldingPlan, MediaPlan, RequestPlan, StartPlan, TcpPlan};
use crate::aal5::{CELL_PAYLOAD, LLC_SNAP, TRAILER};
use crate::random::TruncatedGeometric;
use crate::units::{Rate, Span};

/// Applications over TCP.
#[derive(Clone, Debug, PartialEq)]
pub enum AppPlan {
    /// Always something to send.
    Bulk,
    /// So many bytes, then nothing.
    Transfer {
        /// User bytes.
        bytes: u64,
    },
    /// Writes of a fixed size at a constant rate.
    Source(SourcePlan),
    /// The other end asks, this one answers.
    Request(Box<RequestPlan>),
}

impl AppPlan {
    /// IP bytes of the largest packet that the receiver sends back: an ACK, or a segment of a request.
    #[must_use]
    pub fn largest_packet_back(&self, tcp: &TcpPlan) -> u32 {
        let request = match self {
            AppPlan::Request(requests) => requests.request.most().min(u64::from(tcp.mss)) as u32,
            AppPlan::Bulk | AppPlan::Transfer { .. } | AppPlan::Source(_) => 0,
        };
        tcp.headers.saturating_add(request)
    }

    /// How often it writes within a time, at the mean rate of the source that it is.
    #[must_use]
    pub fn writes_within(&self, span: Span) -> u64 {
        let AppPlan::Source(source) = self else { return 0 };
        let (rate, bytes) = match source {
            SourcePlan::Constant { rate, bytes }
            | SourcePlan::OnOff { rate, bytes, .. }
            | SourcePlan::Poisson { rate, bytes } => (rate, *bytes),
            // Theirs have a size of their own, a cell at least.
            SourcePlan::Messages(_) | SourcePlan::Media(_) => return 0,
        };
        let bits = u128::from(rate.bps()) * u128::from(span.picos()) / 1_000_000_000_000;
        u64::try_from(bits / (8 * u128::from(bytes.max(1)))).unwrap_or(u64::MAX)
    }
}

/// A process that brings bytes: written into TCP by an application, or sent as packets by
/// background traffic.
#[derive(Clone, Debug, PartialEq)]
pub enum SourcePlan {
    /// `bytes` at a time, evenly spaced at `rate`.
    Constant {
        /// User bytes (application) or IP bytes (traffic) per second.
        rate: Rate,
        /// Size of each write or packet.
        bytes: u32,
    },
    /// Constant rate during on periods, silent in between.
    OnOff {
        /// Rate during an on period.
        rate: Rate,
        /// Size of each write or packet.
        bytes: u32,
        /// Length of on periods.
        on: HoldingPlan,
        /// Length of off periods.
        off: HoldingPlan,
    },
    /// Exponential gaps.
    Poisson {
        /// Mean rate.
        rate: Rate,
        /// Size of each write or packet.
        bytes: u32,
    },
    /// Messages of whole cells, each one packet.
    Messages(MessagePlan),
    /// Media frames, each in packets.
    Media(Box<MediaPlan>),
}

impl SourcePlan {
    /// Bytes of the largest write or packet.
    #[must_use]
    pub fn largest(&self) -> u32 {
        match self {
            SourcePlan::Constant { bytes, .. }
            | SourcePlan::OnOff { bytes, .. }
            | SourcePlan::Poisson { bytes, .. } => *bytes,
            SourcePlan::Messages(messages) => messages.bytes(messages.most()),
            SourcePlan::Media(media) => media.largest_packet(),
        }
    }
}

/// Messages that AAL5 makes whole cells of.
#[derive(Clone, Debug, PartialEq)]
pub struct MessagePlan {
    /// Mean rate in bits of 53-byte cells, above zero.
    pub load: Rate,
    /// Exponential gaps from start to start; otherwise they are all alike.
    pub exponential: bool,
    /// Cells of a message.
    pub length: MessageLength,
    /// Leave room for LLC/SNAP in the cells.
    pub llc: bool,
}

/// Cells of a message: at least one.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageLength {
    /// Always so many.
    Constant(u32),
    /// Drawn for each.
    Geometric(Arc<TruncatedGeometric>),
}

impl MessagePlan {
    /// IP bytes of a message of so many cells.
    #[must_use]
    pub fn bytes(&self, cells: u32) -> u32 {
        cells * CELL_PAYLOAD - TRAILER - if self.llc { LLC_SNAP } else { 0 }
    }

    /// Cells of the longest message.
    #[must_use]
    pub fn most(&self) -> u32 {
        match &self.length {
            MessageLength::Constant(cells) => *cells,
            MessageLength::Geometric(lengths) => lengths.most(),
        }
    }

    /// Mean cells of a message, as written.
    #[must_use]
    pub fn mean(&self) -> u32 {
        match &self.length {
            MessageLength::Constant(cells) => *cells,
            MessageLength::Geometric(lengths) => lengths.mean(),
        }
    }
}

/// Packets without TCP on a list of gates.
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficPlan {
    /// Unique: `bg`, or `bg.2`.
    pub name: String,
    /// Sources of one group are counted together too.
    pub group: String,
    /// Gates, in order.
    pub path: Vec<GateIndex>,
    /// When it begins.
    pub start: StartPlan,
    /// What it sends.
    pub source: SourcePlan,
    /// The delay of each packet is measured.
    pub delays: bool,
}
