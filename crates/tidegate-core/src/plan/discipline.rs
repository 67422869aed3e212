//! Queue disciplines: which units a queue drops or marks, beside those that find it full, and which leaves it next.

use super::TinPlan;
use crate::units::Span;

/// The rule by which a queue drops units, beside those that arrive when it is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// No others.
    DropTail,
    /// A unit that finds more than this in the queue is marked CE, or dropped if its transport does not use ECN (RFC 8257
    /// §3.1).
    Step(StepThreshold),
    /// Random early detection (Floyd and Jacobson 1993).
    Red(RedPlan),
    /// Controlled delay (RFC 8289).
    CoDel(CoDelPlan),
    /// The proportional integral controller, enhanced (RFC 8033).
    Pie(PiePlan),
    /// Flow queues with controlled delay (RFC 8290).
    FqCoDel(FqCoDelPlan),
    /// Two coupled queues (RFC 9332).
    DualPi2(DualPi2Plan),
    /// Flow queues of a tin of CAKE, under COBALT.
    Cake(TinPlan),
}

/// How much a queue holds before [`Discipline::Step`] marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepThreshold {
    /// Whole packets.
    Packets(u64),
    /// IP bytes.
    Bytes(u64),
}

/// What RED is made from (Floyd and Jacobson 1993, "FJ"). Thresholds are packets or IP bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedPlan {
    /// Thresholds and average count IP bytes, not packets.
    pub in_bytes: bool,
    /// Below this average nothing is marked or dropped (FJ, `min_th`).
    pub min: u64,
    /// From this average on everything is or, if `gentle`, from twice as much on (FJ, `max_th`).
    pub max: u64,
    /// The probability near `max`, in 10⁻¹⁸ (FJ, `max_p`).
    pub max_p: u64,
    /// What one arrival counts in the average, in 10⁻⁹ (FJ, `w_q`).
    pub weight: u32,
    /// While the server is idle, an empty queue is counted once in this time (FJ, `s`).
    pub packet_time: Span,
    /// The probability is for packets of so many IP bytes, and in proportion for others (FJ, byte mode); `None`: the same
    /// for all (RFC 7141 §2.2).
    pub by_size: Option<u32>,
    /// Between `max` and twice as much the probability rises from `max_p` to 1 (Floyd 2000).
    pub gentle: bool,
    /// Units that are marked or dropped are 1/p to 2/p apart, instead of 1 to 1/p (ns-2).
    pub wait: bool,
    /// Above all thresholds ECN-capable units are dropped (RFC 3168 §7).
    pub hard_drop: bool,
    /// How `max_p` follows the average.
    pub adaptive: Option<RedAdaptivePlan>,
    /// Thresholds of green, yellow and red units, which all look at one average (weighted RED); `None`: those above.
    pub colours: [Option<RedCurve>; 3],
}

/// Where the probability of RED rises: what the thresholds of a colour are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedCurve {
    /// As [`RedPlan::min`].
    pub min: u64,
    /// As [`RedPlan::max`].
    pub max: u64,
    /// As [`RedPlan::max_p`].
    pub max_p: u64,
}

/// How RED's `max_p` follows the average (Floyd, Gummadi and Shenker 2001, "FGS", §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedAdaptivePlan {
    /// From one step to the next.
    pub interval: Span,
    /// What is added at most above the target, in 10⁻¹⁸; never more than a quarter of `max_p`.
    pub increase: u64,
    /// What is left of it below the target, in 10⁻¹⁸.
    pub decrease: u64,
    /// It falls no more once it is below this, in 10⁻¹⁸.
    pub least: u64,
    /// It rises no more once it is above this, in 10⁻¹⁸.
    pub most: u64,
    /// The target begins so far on the way from `min` to `max`, in millionths.
    pub target_low: u32,
    /// The target ends so far on the way from `min` to `max`, in millionths.
    pub target_high: u32,
}

impl RedPlan {
    /// Thresholds of 5 and 15 packets, `gentle` and a `max_p` of 0.1 (Floyd 1997 and 2000), the rest of FJ §11, for packets
    /// that take `packet_time`.
    #[must_use]
    pub fn default_for(packet_time: Span) -> RedPlan {
        RedPlan {
            in_bytes: false,
            min: 5,
            max: 15,
            max_p: 100_000_000_000_000_000,
            weight: 2_000_000,
            packet_time,
            by_size: None,
            gentle: true,
            wait: false,
            hard_drop: true,
            adaptive: None,
            colours: [None; 3],
        }
    }
}

impl RedAdaptivePlan {
    /// What FGS recommend (figure 2).
    pub const DEFAULT: RedAdaptivePlan = RedAdaptivePlan {
        interval: Span::from_millis(500),
        increase: 10_000_000_000_000_000,
        decrease: 900_000_000_000_000_000,
        least: 10_000_000_000_000_000,
        most: 500_000_000_000_000_000,
        target_low: 400_000,
        target_high: 600_000,
    };
}

/// What CoDel aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelPlan {
    /// The queueing delay that may stay (RFC 8289 §3.2 and §4.3).
    pub target: Span,
    /// How long the delay may be above it before the first drop: a round trip (RFC 8289 §4.2).
    pub interval: Span,
    /// An ECN-capable unit that waited longer than this is marked, whatever the rest says (RFC 8290
    /// §5.2.7).
    pub ce_threshold: Option<Span>,
}

/// What FQ-CoDel is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCoDelPlan {
    /// CoDel of each queue.
    pub codel: CoDelPlan,
    /// The most queues (RFC 8290 §5.2.5).
    pub queues: u32,
    /// IP bytes that a queue may send in a turn (RFC 8290 §5.2.4).
    pub quantum: u32,
    /// Units in all queues (RFC 8290 §5.2.3).
    pub limit: u64,
    /// IP bytes in all queues (Linux 4.7, `memory_limit`).
    pub memory: u64,
}

/// What PIE is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PiePlan {
    /// The delay that the controller aims at (RFC 8033 §4.2, `QDELAY_REF`).
    pub target: Span,
    /// From one update of the probability to the next (§4.2, `T_UPDATE`).
    pub update: Span,
    /// Integral gain in millionths of a hertz (§4.2).
    pub alpha: u32,
    /// Proportional gain in millionths of a hertz (§4.2).
    pub beta: u32,
    /// For so long nothing is dropped after a time without congestion (§4.4, `MAX_BURST`).
    pub max_burst: Span,
    /// Up to this probability, in 10⁻¹⁸, ECN-capable units are marked; above it they are dropped (§5.1, `mark_ecnth`).
    pub mark_below: u64,
    /// Whether drops are kept apart (§5.4).
    pub derandomize: bool,
    /// Whether a step is 0.02 at most where the probability is 0.1 or more (§5.5).
    pub cap: bool,
}

impl PiePlan {
    /// What RFC 8033 recommends (§4.2, §4.4, §5).
    pub const DEFAULT: PiePlan = PiePlan {
        target: Span::from_millis(15),
        update: Span::from_millis(15),
        alpha: 125_000,
        beta: 1_250_000,
        max_burst: Span::from_millis(150),
        mark_below: 100_000_000_000_000_000,
        derandomize: true,
        cap: true,
    };
}

/// What DualPI2 is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DualPi2Plan {
    /// The delay that the controller aims at.
    pub target: Span,
    /// From one update of the probability to the next.
    pub update: Span,
    /// Integral gain in millionths of a hertz.
    pub alpha: u32,
    /// Proportional gain in millionths of a hertz.
    pub beta: u32,
    /// k, in millionths: an L4S unit is marked with k times the base probability.
    pub coupling: u32,
    /// L4S units that waited longer are marked (`step_thresh`).
    pub step: Span,
    /// L4S units are marked that leave more L4S units than this behind, and `step` says nothing; `None`: `step` does.
    pub step_units: Option<u64>,
    /// Neither marks a unit that leaves so few L4S units behind, or fewer (`min_qlen_step`).
    pub step_spares: u64,
    /// Up to this much above `step` the probability rises from 0 to 1; zero: a step.
    pub range: Span,
    /// The share of the classic queue where both wait, in millionths.
    pub classic_share: u32,
}

impl FqCoDelPlan {
    /// What RFC 8290 recommends (§5.2).
    pub const DEFAULT: FqCoDelPlan = FqCoDelPlan {
        codel: CoDelPlan::DEFAULT,
        queues: 1024,
        quantum: 1514,
        limit: 10_240,
        memory: 32 * 1024 * 1024,
    };
}

impl DualPi2Plan {
    /// RFC 9332 Appendix A.1 with the numbers of Linux 6.17 (`dualpi2_reset_default`): gains for T = 16 ms, a step, a share.
    pub const DEFAULT: DualPi2Plan = DualPi2Plan {
        target: Span::from_millis(15),
        update: Span::from_millis(16),
        alpha: 160_000,
        beta: 3_200_000,
        coupling: 2_000_000,
        step: Span::from_millis(1),
        step_units: None,
        step_spares: 1,
        range: Span::ZERO,
        classic_share: 100_000,
    };
}

impl CoDelPlan {
    /// What RFC 8289 recommends (§5.3).
    pub const DEFAULT: CoDelPlan =
        CoDelPlan { target: Span::from_millis(5), interval: Span::from_millis(100), ce_threshold: None };
}

/// What a discipline says of itself.
struct DisciplineRow {
    name: &'static str,
    marks: bool,
    decides_at_arrival: bool,
    has_probability: bool,
    is_random: bool,
}

impl Discipline {
    /// A new discipline gets a row.
    fn row(self) -> DisciplineRow {
        let row = |name, [marks, decides_at_arrival, has_probability, is_random]: [bool; 4]| DisciplineRow {
            name,
            marks,
            decides_at_arrival,
            has_probability,
            is_random,
        };
        match self {
            // Marks, decides at arrivals, has a probability, draws.
            Discipline::DropTail => row("drop-tail", [false, true, false, false]),
            Discipline::Step(_) => row("step", [true, true, false, false]),
            Discipline::Red(_) => row("red", [true, true, true, true]),
            Discipline::CoDel(_) => row("codel", [true, false, false, false]),
            Discipline::Pie(_) => row("pie", [true, false, true, true]),
            Discipline::FqCoDel(_) => row("fq_codel", [true, false, false, false]),
            Discipline::DualPi2(_) => row("dualpi2", [true, false, true, false]),
            Discipline::Cake(_) => row("cake", [true, false, false, true]),
        }
    }

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether it marks packets CE.
    #[must_use]
    pub fn marks(self) -> bool {
        self.row().marks
    }

    /// Whether the fate of a unit is certain when it arrives. If not, its gate is driven step by step.
    #[must_use]
    pub fn decides_at_arrival(self) -> bool {
        self.row().decides_at_arrival
    }

    /// Whether it drops or marks with a probability that the rows of its gate show: of classic units, at
    /// [`Discipline::DualPi2`].
    #[must_use]
    pub fn has_probability(self) -> bool {
        self.row().has_probability
    }

    /// Whether it draws random numbers, from the stream `gate.NAME/aqm`.
    #[must_use]
    pub fn is_random(self) -> bool {
        self.row().is_random
    }
}
