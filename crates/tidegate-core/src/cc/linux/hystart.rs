//! `HyStart` as in Linux's `tcp_cubic.c`: slow start ends before a loss where a train of ACKs has lasted half a round trip,
//! or where the round trips of a round have grown by an eighth of the least one.

use crate::cc::MeasuredTrip;
use crate::units::{Span, Time};

/// `hystart_low_window`: segments below which nothing is looked for.
pub(super) const LOW_WINDOW: u64 = 16;
/// `HYSTART_MIN_SAMPLES`.
const SAMPLES: u32 = 8;
/// `HYSTART_DELAY_MIN` and `HYSTART_DELAY_MAX`.
const DELAY: (Span, Span) = (Span::from_millis(4), Span::from_millis(16));
/// `hystart_ack_delta_us`: ACKs further apart end a train.
const TRAIN_GAP: Span = Span::from_millis(2);
/// `sk_gso_max_size`: bytes that a device may be handed at once.
const BURST: u64 = 65_536;

/// What a round of slow start has shown so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HyStart {
    /// The round is over when more than this is acknowledged.
    end: u64,
    round_start: Time,
    /// The last ACK of the train.
    last_ack: Time,
    /// Least round trip of the round.
    least: Option<Span>,
    samples: u32,
}

impl HyStart {
    /// `bictcp_hystart_reset`.
    pub(super) fn begin_round(&mut self, at: Time, max: u64) {
        *self = HyStart { end: max, round_start: at, last_ack: at, least: None, samples: 0 };
    }

    /// `hystart_update`: whether slow start is to end, at a window of `segments`; `delay_min` is the least round trip of all.
    pub(super) fn ends(
        &mut self,
        measured: &MeasuredTrip,
        delay_min: Span,
        segments: u64,
        pacing: u64,
    ) -> bool {
        if measured.una > self.end {
            self.begin_round(measured.at, measured.max);
        }
        if segments < LOW_WINDOW {
            return false;
        }
        let mut found = false;
        if measured.at.saturating_since(self.last_ack) <= TRAIN_GAP {
            self.last_ack = measured.at;
            // Nothing is paced, so half of the least round trip and of what bursts may add to it.
            let threshold = (delay_min + burst_delay(pacing)).picos() / 2;
            found = measured.at.saturating_since(self.round_start).picos() > threshold;
        }
        self.least = Some(self.least.map_or(measured.rtt, |least| least.min(measured.rtt)));
        if self.samples < SAMPLES {
            self.samples += 1;
        } else if let Some(least) = self.least {
            let eighth = Span::from_picos(delay_min.picos() / 8).max(DELAY.0).min(DELAY.1);
            found |= least > delay_min + eighth;
        }
        found
    }
}

/// `hystart_ack_delay`: what offloaded bursts may add, 1 ms at most; `pacing` in bytes a second, 0: not known.
fn burst_delay(pacing: u64) -> Span {
    if pacing == 0 {
        return Span::ZERO;
    }
    Span::from_picos((BURST * 4).saturating_mul(1_000_000) / pacing * 1_000_000).min(Span::from_millis(1))
}
