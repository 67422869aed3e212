//! The rules of one connection's TCP.

use super::{AckRule, CongestionPlan, EcnPlan, TcpRules};
use crate::units::{Rate, Span};

/// Every choice of a TCP connection, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpPlan {
    /// What the other keys started from.
    pub base: TcpBase,
    /// Congestion controller.
    pub cc: CongestionPlan,
    /// Loss recovery, window arithmetic, timer and ACKs by the RFCs or as in Linux.
    pub rules: TcpRules,
    /// User bytes in a full segment.
    pub mss: u32,
    /// IP and TCP header bytes of every segment.
    pub headers: u32,
    /// Receive window and limit on bytes in flight; `None`: no limit.
    pub window: Option<u64>,
    /// How the application at the receiving end reads.
    pub read: ReadPlan,
    /// First congestion window, bytes.
    pub initial_window: u64,
    /// First slow-start threshold, bytes; `None`: no limit.
    pub initial_ssthresh: Option<u64>,
    /// How congestion avoidance grows the window.
    pub increase: Increase,
    /// Duplicate ACKs that start a fast retransmit; `None`: never.
    pub dupthresh: Option<u32>,
    /// RFC 2018 options and RFC 6675 recovery.
    pub sack: bool,
    /// RFC 3042.
    pub limited_transmit: bool,
    /// How half a window becomes a threshold.
    pub ssthresh_rounding: SsthreshRounding,
    /// After a time-out and after Tahoe's fast retransmit, send everything again from the first
    /// unacknowledged byte, as far as the window allows. `false`: skip what SACK says has arrived, and
    /// Tahoe's fast retransmit sends one segment again, as 4.3BSD-Tahoe's did.
    pub go_back_n: bool,
    /// Without SACK: after a time-out or a fast retransmit no further fast retransmit until
    /// everything that had been sent before it is acknowledged (RFC 6582 §3.2 steps 2 and 4; ns-2's
    /// `bugFix_`). `false`: three duplicate ACKs start one at any time outside fast recovery, as in 4.4BSD.
    pub guard: bool,
    /// Retransmission timer.
    pub rto: RtoPlan,
    /// Whether the coarse clocks of the two hosts tick together: those of [`RtoPlan::Estimated::tick`]
    /// and [`DelayedAckPlan::tick`]. Where there is no tick this changes nothing.
    pub phase: TickPhase,
    /// Delayed acknowledgements; `None`: one ACK per segment.
    pub delayed_ack: Option<DelayedAckPlan>,
    /// ACKs sent at once when a connection begins, whatever `delayed_ack` says (Linux's
    /// quick ACKs).
    pub quick_acks: u32,
    /// SYN, SYN-ACK, ACK before data.
    pub handshake: bool,
    /// RFC 7323 timestamps (12 bytes of options, which `headers` must already count).
    pub timestamps: bool,
    /// Time every segment, or one at a time as BSD did (Karn's rule holds in both).
    pub rtt_timing: RttTiming,
    /// RFC 5681 §4.1: an idle time longer than the RTO takes the window back to the initial.
    pub idle_restart: bool,
    /// Explicit Congestion Notification.
    pub ecn: EcnPlan,
    /// RFC 8511: a window shrinks less after a mark than after a loss.
    pub abe: bool,
}

/// Where a TCP's defaults come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpBase {
    /// The standards.
    Rfc,
    /// 4.4BSD, as in the papers.
    Bsd44,
    /// Linux 6.18, as far as [`super::TcpRules::LINUX`] goes.
    Linux,
}

impl TcpBase {
    /// What it is called in results: a version, where it has one.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            TcpBase::Rfc => "rfc",
            TcpBase::Bsd44 => "bsd44",
            TcpBase::Linux => "linux-6.18",
        }
    }
}

/// How an application reads what has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReadPlan {
    /// As soon as it arrives.
    #[default]
    AtOnce,
    /// No faster than this: the window closes where data come faster.
    AtRate(Rate),
    /// When it is told to ([`crate::tcp::Endpoint::read`]).
    ByHand,
}

/// How congestion avoidance grows the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Increase {
    /// One segment per window of acknowledged bytes (RFC 5681 §3.1, counting bytes).
    PerWindow,
    /// MSS²/cwnd at each ACK (RFC 5681 eq. (3)).
    PerAck,
    /// One segment with probability MSS/cwnd at each ACK.
    Random,
}

/// How half a flight becomes a slow-start threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SsthreshRounding {
    /// In bytes, as it is.
    Exact,
    /// Down to whole segments.
    Down,
    /// Up to whole segments.
    Up,
    /// As ns-2: down to whole segments, of the window; the window itself is halved as it is,
    /// fractions of a segment included, and is that still when recovery ends.
    Ns2,
}

/// The retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoPlan {
    /// RFC 6298.
    Estimated {
        /// Least time-out.
        min: Span,
        /// Largest time-out, back-off included.
        max: Span,
        /// Time-out before the first sample.
        initial: Span,
        /// Clock granularity G: samples and expiries are counted in whole ticks. Zero: exact.
        tick: Span,
    },
    /// A constant time-out without back-off.
    Fixed {
        /// The time-out.
        rto: Span,
        /// What starts it again.
        restart: RtoRestart,
    },
}

/// The largest window in bytes that a TCP can offer or use (RFC 7323 §2.3), so that old numbers and new ones can be told
/// apart.
pub const LARGEST_WINDOW: u64 = 1 << 30;

impl TcpPlan {
    /// Whether its senders account for every ACK: what it newly delivered, found lost and measured. Only with SACK; Tahoe
    /// never does.
    #[must_use]
    pub fn accounts(&self) -> bool {
        let wanted = self.rules.account() || self.cc.hears_acks();
        wanted && self.sack && !matches!(self.cc, CongestionPlan::Tahoe { .. })
    }

    /// What its congestion control draws from the seed, by the last part of the stream's name
    /// (`flow.NAME/sender/increase`); `None`: nothing. A controller with something of its own to draw does not draw
    /// its increase.
    #[must_use]
    pub fn draws(&self) -> Option<&'static str> {
        self.cc.draws().or((self.increase == Increase::Random).then_some("increase"))
    }

    /// Its congestion controller and its base, as every table and picture names them: `cubic, linux-6.18`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}, {}", self.cc.name(), self.base.name())
    }

    /// IP bytes of a full segment with the headers of the plan. The kernel's segments have its own headers.
    #[must_use]
    pub fn largest_packet(&self) -> u32 {
        self.mss.saturating_add(self.headers)
    }

    /// Whether its hosts have coarse clocks, of time-outs or of delayed ACKs.
    #[must_use]
    pub fn ticks(&self) -> bool {
        let time_outs = match self.rto {
            RtoPlan::Estimated { min: _, max: _, initial: _, tick } => tick > Span::ZERO,
            RtoPlan::Fixed { rto: _, restart: _ } => false,
        };
        time_outs || self.delayed_ack.is_some_and(|delayed| delayed.tick > Span::ZERO)
    }

    /// Whether an ACK is put off for longer where data come less often, as in Linux; `delayed_ack` has the least time then.
    #[must_use]
    pub fn ack_delay_follows_data(&self) -> bool {
        let least = |delayed: DelayedAckPlan| delayed.timeout == Some(DelayedAckPlan::LINUX_LEAST);
        self.rules.acks == AckRule::WhileBufferGrows && self.delayed_ack.is_some_and(least)
    }
}

/// When the coarse clocks of a host tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickPhase {
    /// Each host was switched on at an instant of its own, drawn at random, and its clocks have been
    /// ticking since. Both clocks of a 4.4BSD host start at once when it boots (`domaininit` in
    /// `kern/uipc_domain.c`; TCP/IP Illustrated vol. 2 §7.4).
    Own,
    /// All clocks tick at the multiples of their periods.
    Common,
}

/// What starts a fixed time-out again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRestart {
    /// An ACK of new data.
    Ack,
    /// That, and every segment that leaves the sending machine (its `host` gates).
    Departure,
}

/// Delayed acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAckPlan {
    /// One ACK for so many full segments.
    pub every: u32,
    /// Longest delay; `None`: for ever.
    pub timeout: Option<Span>,
    /// The timer runs in ticks of this (BSD's 200 ms): an ACK leaves at the next tick. Zero:
    /// `timeout` after the segment.
    pub tick: Span,
}

impl DelayedAckPlan {
    /// The least time for which Linux delays an ACK (`TCP_DELACK_MIN`).
    pub const LINUX_LEAST: Span = Span::from_millis(40);
}

/// Which segments give round-trip samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttTiming {
    /// Every acknowledged segment that was sent once.
    Every,
    /// One at a time.
    One,
}
