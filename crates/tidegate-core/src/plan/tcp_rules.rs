//! Where implementations differ in what the standards leave open, or depart from them: the RFCs'
//! rules and those of the Linux kernel, each a choice of its own.

/// The rules of loss recovery, window arithmetic, timer and acknowledgements in which Linux 6.18
/// differs from the RFCs that the rest of a [`super::TcpPlan`] follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpRules {
    /// How windows are counted.
    pub arithmetic: Arithmetic,
    /// What ends slow start besides a loss.
    pub slow_start: SlowStart,
    /// How lost segments are found.
    pub loss: LossDetection,
    /// How much a sender sends while it repairs a loss.
    pub reduction: Reduction,
    /// What the least time-out is a bound of.
    pub least_rto: LeastRto,
    /// Which segments are acknowledged at once, beside [`super::TcpPlan::quick_acks`].
    pub acks: AckRule,
    /// The receiver reports data that came again (RFC 2883). Needs SACK.
    pub dsack: bool,
    /// A reduction of the window that proves needless is taken back, by timestamps (RFC 3522, 4015) or by reports of
    /// duplicates (RFC 3708). Needs SACK.
    pub undo: bool,
    /// A time-out that proves needless is taken back (F-RTO, RFC 5682). Needs SACK.
    pub frto: bool,
    /// Data leave at a pace also where the controller names no rate: so fast that slow start sends twice its window in a round
    /// trip, and congestion avoidance 1.2 times (`tcp_update_pacing_rate` in Linux). Needs SACK.
    pub paces: bool,
    /// Data leave no faster than the advice says that the receiver has heard and told (SCONE, [`crate::advice`]), as at a Linux socket
    /// with `SO_MAX_PACING_RATE`. Needs SACK.
    pub obeys_advice: bool,
    /// Where the ends agree on Accurate ECN, ACKs also tell bytes: the AccECN Option (RFC 9768 §3.2.3).
    pub accecn_option: bool,
    /// What TCP hands to the device at once. The simulator's senders hand over one segment at a time.
    pub segmentation: Segmentation,
}

impl TcpRules {
    /// What the RFCs say.
    pub const RFC: TcpRules = TcpRules {
        arithmetic: Arithmetic::Rfc,
        slow_start: SlowStart::Standard,
        loss: LossDetection::Sack,
        reduction: Reduction::Pipe,
        least_rto: LeastRto::TimeOut,
        acks: AckRule::Delayed,
        dsack: false,
        undo: false,
        frto: false,
        paces: false,
        obeys_advice: false,
        accecn_option: true,
        segmentation: Segmentation::Kernel,
    };

    /// What Linux 6.18 does.
    pub const LINUX: TcpRules = TcpRules {
        arithmetic: Arithmetic::Linux,
        slow_start: SlowStart::HyStart,
        loss: LossDetection::Rack,
        reduction: Reduction::Prr,
        least_rto: LeastRto::Variance,
        acks: AckRule::WhileBufferGrows,
        dsack: true,
        undo: true,
        frto: true,
        ..TcpRules::RFC
    };

    /// Whether every ACK is accounted for: what it newly delivered, found lost and measured.
    #[must_use]
    pub fn account(&self) -> bool {
        self.arithmetic == Arithmetic::Linux
            || self.loss == LossDetection::Rack
            || self.reduction == Reduction::Prr
            || self.takes_back()
            || self.paces
            || self.obeys_advice
            || self.slow_start == SlowStart::HyStartPlusPlus
    }

    /// Whether a reduction can be taken back.
    #[must_use]
    pub fn takes_back(&self) -> bool {
        self.undo || self.frto
    }
}

/// How windows are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// In bytes, or in real numbers of segments, by RFC 5681 and RFC 9438.
    Rfc,
    /// In whole segments, as Linux's `tcp_cong.c` and `tcp_cubic.c`: slow start counts all that an ACK
    /// acknowledges, a window grows where the flight tested it (`tcp_is_cwnd_limited`), and idleness halves
    /// it once for each time-out that passed (`tcp_cwnd_restart`). For Reno, `NewReno` and CUBIC.
    Linux,
}

/// What ends slow start besides a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStart {
    /// The threshold.
    Standard,
    /// `HyStart` of Linux's CUBIC: a train of ACKs as long as half a round trip, or a round trip that has
    /// grown by an eighth. For CUBIC with [`Arithmetic::Linux`].
    HyStart,
    /// `HyStart++` (RFC 9406), for Reno, `NewReno` and CUBIC with [`Arithmetic::Rfc`]. Needs SACK.
    HyStartPlusPlus,
}

/// How lost segments are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// By duplicate ACKs or SACKed segments (RFC 5681, 6675).
    Sack,
    /// By the time at which later segments that arrived had been sent, with tail loss probes (RFC 8985). Needs SACK.
    Rack,
}

/// How much a sender sends while it repairs a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// As long as what is in flight is below the reduced window (RFC 6675 §5).
    Pipe,
    /// In proportion to what arrives (RFC 9937). Needs SACK.
    Prr,
}

/// What the least time-out is a bound of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeastRto {
    /// The time-out (RFC 6298 §2.4).
    TimeOut,
    /// What the time-out adds to the smoothed round trip (`tcp_rtt_estimator` in Linux).
    Variance,
}

/// What TCP hands to the device at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segmentation {
    /// As many segments as the kernel sees fit: those of about a millisecond at the sender's rate, two at least and 64 KB at most
    /// (`tcp_tso_autosize` in Linux 6.18). The kernel cuts them apart behind TCP, so they leave back to back.
    Kernel,
    /// One segment.
    Off,
}

/// Which segments are acknowledged at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckRule {
    /// Every second full-sized one, and those out of order (RFC 5681 §4.2).
    Delayed,
    /// Also each that widens the window which the receiver offers (`tcp_grow_window` in Linux). The receiver
    /// then tunes its buffer as Linux does (`tcp_rcv_space_adjust`), unless the plan fixes the window.
    WhileBufferGrows,
}

/// Explicit Congestion Notification of a connection, where its controller has no need of its own ([`crate::cc::EcnNeed`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum EcnPlan {
    /// None: packets are Not-ECT.
    #[default]
    Off,
    /// RFC 3168: ACKs echo a mark until the sender says that it has reduced its window.
    Classic,
    /// RFC 9768: ACKs count the marks.
    Accurate,
}

impl EcnPlan {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            EcnPlan::Off => "off",
            EcnPlan::Classic => "classic",
            EcnPlan::Accurate => "accurate",
        }
    }
}
