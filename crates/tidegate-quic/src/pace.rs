//! When the rate that a controller names lets the next packet leave.

use tidegate_core::plan::{CongestionPlan, QuicControl};
use tidegate_core::units::{PICOS_PER_SECOND, Rate, Span, Time};

/// What that rate counts.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    /// Nothing: quinn paces by the window, whatever its own controllers say.
    Nothing,
    /// Payloads of packets, QUIC's own headers included: what a controller measures.
    Packets,
    /// User bytes, of which `tcp.rate` is the pace.
    Data,
}

impl Pace {
    pub(crate) fn new(cc: QuicControl, tcp: CongestionPlan) -> Pace {
        match (cc, tcp) {
            (QuicControl::Tcp, CongestionPlan::FixedRate { .. }) => Pace::Data,
            (QuicControl::Tcp, _) => Pace::Packets,
            _ => Pace::Nothing,
        }
    }

    /// When the next may leave after a packet that leaves `now`, with so many user bytes in its payload; [`Time::ZERO`]: at once.
    pub(crate) fn next(self, now: Time, payload: usize, user: u64, rate: Rate) -> Time {
        let bytes = match self {
            Pace::Nothing => return Time::ZERO,
            Pace::Packets => payload as u64,
            Pace::Data => user,
        };
        let picos = u128::from(bytes) * 8 * u128::from(PICOS_PER_SECOND) / u128::from(rate.bps());
        now.saturating_add(Span::from_picos(u64::try_from(picos).unwrap_or(u64::MAX)))
    }
}
