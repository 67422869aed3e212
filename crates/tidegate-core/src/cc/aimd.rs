//! The window arithmetic that Tahoe, Reno and NewReno share: slow start, congestion
//! avoidance in three styles, and the threshold after a loss (RFC 5681 §3.1).

use rand::Rng;

use super::{ControllerSnapshot, LossKind, Lost, Recovered, Undone};
use crate::plan::{Increase, SsthreshRounding, TcpPlan};
use crate::random::Stream;

/// The window counts in 1/65536 bytes, so that adding MSS²/cwnd at each ACK follows the
/// real-valued sum to some 8 bytes in a million ACKs.
const FRACTION: u32 = 16;

/// No window grows beyond this many bytes.
const LARGEST: u64 = 1 << 40;

/// A window that grows by addition and shrinks by halving.
#[derive(Debug)]
#[repr(C)]
pub struct Aimd {
    increase: Increase,
    rounding: SsthreshRounding,
    /// RFC 8511: marks take less than losses.
    abe: bool,
    /// In 1/65536 bytes.
    window: u64,
    /// Bytes; `u64::MAX`: no limit.
    ssthresh: u64,
    /// MSS² in the units in which dividing by `window` gives units of `window`.
    mss_squared: u64,
    mss: u64,
    /// Bytes acknowledged towards the next segment ([`Increase::PerWindow`]).
    credit: u64,
    rng: Option<Box<Stream>>,
}

impl Aimd {
    /// The window at the start of a connection.
    ///
    /// # Panics
    /// If the plan asks for [`Increase::Random`] and there is no stream to draw from.
    #[must_use]
    pub fn new(plan: &TcpPlan, rng: Option<Stream>) -> Aimd {
        assert!(plan.increase != Increase::Random || rng.is_some(), "increase = \"random\" needs a stream");
        let mss = u64::from(plan.mss);
        let squared = u128::from(mss * mss) << (2 * FRACTION);
        Aimd {
            window: plan.initial_window.clamp(mss, LARGEST) << FRACTION,
            ssthresh: plan.initial_ssthresh.unwrap_or(u64::MAX),
            mss,
            mss_squared: u64::try_from(squared).unwrap_or(u64::MAX),
            credit: 0,
            increase: plan.increase,
            rounding: plan.ssthresh_rounding,
            abe: plan.abe,
            rng: rng.map(Box::new),
        }
    }

    /// Whole bytes of the window.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.window >> FRACTION
    }

    /// Growth at an ACK of `bytes` new bytes that belong to a flight which the window limited.
    #[inline(always)]
    pub fn grow(&mut self, bytes: u64) {
        if self.in_slow_start() {
            // RFC 5681 §3.1 eq. (2): min(N, SMSS) per ACK.
            self.window = (self.window + (bytes.min(self.mss) << FRACTION)).min(LARGEST << FRACTION);
        } else {
            self.avoid(bytes);
        }
    }

    /// Whether the window is below the threshold.
    #[inline(always)]
    pub(super) fn in_slow_start(&self) -> bool {
        self.bytes() < self.ssthresh
    }

    /// Slow start, by so many bytes.
    pub(super) fn widen(&mut self, bytes: u64) {
        self.window = (self.window + (bytes.min(LARGEST) << FRACTION)).min(LARGEST << FRACTION);
    }

    /// The threshold is the window.
    pub(super) fn end_slow_start(&mut self) {
        self.reduce_to(self.bytes());
    }

    /// The window and the threshold, two segments at least.
    pub(super) fn reduce_to(&mut self, window: u64) {
        self.credit = 0;
        self.ssthresh = window.max(2 * self.mss);
        self.settle(self.ssthresh);
    }

    /// Congestion avoidance.
    #[inline(always)]
    fn avoid(&mut self, bytes: u64) {
        match self.increase {
            // RFC 5681 §3.1 eq. (3).
            Increase::PerAck => self.window += self.mss_squared / self.window,
            // RFC 5681 §3.1: one SMSS for each cwnd of acknowledged bytes.
            Increase::PerWindow => {
                self.credit += bytes;
                if self.credit >= self.bytes() {
                    self.credit -= self.bytes();
                    self.window += self.mss << FRACTION;
                }
            }
            Increase::Random => {
                let draw = self.rng.as_mut().map_or(u64::MAX, |rng| rng.next_u64());
                // True with probability MSS / cwnd.
                if (u128::from(draw) * u128::from(self.bytes())) >> 64 < u128::from(self.mss) {
                    self.window += self.mss << FRACTION;
                }
            }
        }
    }

    /// Sets the threshold after a loss and lets the window fall to it, or to one segment.
    pub fn shrink(&mut self, lost: &Lost, to_one_segment: bool) {
        self.credit = 0;
        self.ssthresh = self.threshold(lost);
        self.window = match self.rounding {
            _ if to_one_segment => self.mss << FRACTION,
            SsthreshRounding::Ns2 if lost.kind != LossKind::Ecn => {
                (self.window.min(lost.window << FRACTION) / 2).max(self.mss << FRACTION)
            }
            _ => self.ssthresh << FRACTION,
        };
    }

    /// Half of what was in flight, at least two segments. RFC 3168 §6.1.2: a mark takes as much as a loss.
    fn threshold(&self, lost: &Lost) -> u64 {
        let segments = |count: u64| count.max(2) * self.mss;
        if self.abe && lost.kind == LossKind::Ecn {
            // RFC 8511 §3: beta_ecn = 0.8 for Reno, at least two segments.
            return (lost.in_flight * 4 / 5).max(2 * self.mss);
        }
        match self.rounding {
            // RFC 5681 §3.1: held when the same segment times out again.
            SsthreshRounding::Exact if lost.kind == (LossKind::Timeout { again: true }) => self.ssthresh,
            // RFC 5681 §3.1 eq. (4).
            SsthreshRounding::Exact => (lost.in_flight / 2).max(2 * self.mss),
            // DEVIATION: a TCP that counts in segments (BSD; the model of the ABR paper) halves
            // w = min(cwnd, window), not FlightSize, and halves it at every time-out. The two
            // differ only when the sender does not use its window.
            // ns-2 does so with the threshold alone: its window is a real number that halves.
            SsthreshRounding::Down | SsthreshRounding::Ns2 => segments(lost.window / (2 * self.mss)),
            SsthreshRounding::Up => segments((lost.window / self.mss).div_ceil(2)),
        }
    }

    /// The window at the end of a fast recovery without SACK; in ns-2 it is the halved one, whatever is in flight.
    pub fn recover(&mut self, recovered: &Recovered) {
        if self.rounding != SsthreshRounding::Ns2 {
            // RFC 6582 §3.2 step 3, full acknowledgments, choice (1): no burst after recovery.
            self.settle(self.ssthresh.min(recovered.in_flight.max(self.mss) + self.mss));
        }
    }

    /// Sets the window, one segment at least.
    pub fn settle(&mut self, window: u64) {
        self.window = window.max(self.mss) << FRACTION;
    }

    /// It falls to so many bytes if it is larger.
    pub(super) fn restart(&mut self, window: u64) {
        self.settle(window.min(self.bytes()));
    }

    /// A reduction is taken back: window and threshold are what they were before it, if that is more (RFC 4015 §3.2).
    /// DEVIATION: the window comes back at once, as in Linux, and not through slow start.
    pub fn undo(&mut self, undone: &Undone) {
        self.window = self.window.max(undone.window << FRACTION);
        self.ssthresh = self.ssthresh.max(undone.ssthresh.unwrap_or(u64::MAX));
    }

    /// A reduction ends early: the window does not fall to the threshold.
    pub fn stay_at(&mut self, window: u64) {
        self.window = self.window.max(window << FRACTION);
    }

    /// Bytes at which slow start ends; `u64::MAX`: no limit.
    #[must_use]
    pub fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// User bytes in a full segment.
    #[must_use]
    pub fn mss(&self) -> u64 {
        self.mss
    }

    /// The state that plots show.
    #[must_use]
    pub fn snapshot(&self) -> ControllerSnapshot {
        ControllerSnapshot {
            window: self.window as f64 / f64::from(1_u32 << FRACTION),
            ssthresh: (self.ssthresh != u64::MAX).then_some(self.ssthresh),
            slow_start: self.in_slow_start(),
        }
    }
}
