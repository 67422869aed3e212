//! Rate laws: how a gate serves, from a constant rate to one that the network sets.

use std::sync::Arc;

use super::{
    AbrPlan, AtEnd, CellReplayPlan, DtmPlan, FollowPlan, GcraPlan, MarkovPlan, OnChange, OpportunityTrace,
    RateTrace, ReservePlan,
};
use crate::units::{Rate, Span, Speed, Time};

/// Rate laws: when does a unit of this size, started at t, end?
#[derive(Clone, Debug, PartialEq)]
pub enum RatePlan {
    /// At once.
    Unlimited,
    /// One speed for ever.
    Constant(Speed),
    /// Speeds in force from given instants; the first is at 0 and all are of one kind.
    Steps {
        /// `(from, speed)`, strictly increasing.
        steps: Vec<(Time, Speed)>,
        /// The steps begin again after this long.
        repeat: Option<Span>,
    },
    /// Tokens of `rate` up to `burst`; a unit leaves when its tokens are there and is then
    /// sent at `peak` (at once when there is none). With `peak_burst_bytes`, `peak` is the rate of a second bucket instead: a
    /// unit leaves at once when its tokens are in both.
    TokenBucket {
        /// Long-term rate.
        rate: Rate,
        /// Bucket depth in bytes on the wire.
        burst_bytes: u64,
        /// Bytes in the bucket at the start, `burst_bytes` at most; `None`: it is full.
        initial_bytes: Option<u64>,
        /// Speed of transmission, or rate of the second bucket.
        peak: Option<Rate>,
        /// Depth of the second bucket in bytes on the wire; full at the start. Only with `peak`.
        peak_burst_bytes: Option<u64>,
    },
    /// A Markov chain of rates.
    Markov(MarkovPlan),
    /// A recorded rate.
    RateTrace {
        /// The recording.
        trace: Arc<RateTrace>,
        /// What comes after its end.
        at_end: AtEnd,
    },
    /// A recording of delivery opportunities (Mahimahi).
    Opportunities {
        /// The recording.
        trace: Arc<OpportunityTrace>,
        /// What comes after its end.
        at_end: AtEnd,
    },
    /// A cellular link in two stages, as CellReplay records and plays it.
    CellReplay(Arc<CellReplayPlan>),
    /// Slots that follow the rate that arrives at the gate.
    Dtm(DtmPlan),
    /// A GCRA shaper of cells.
    Gcra(GcraPlan),
    /// A rate fed back from another gate.
    Follow(FollowPlan),
    /// A circuit: closed until its call is up.
    Reserve(ReservePlan),
    /// A source of ATM's available bit rate.
    Abr(AbrPlan),
}

/// How the speed of a law comes about: what recorders and signals need to know of it.
#[derive(Clone, Debug)]
pub enum Course<'a> {
    /// No transmission takes time.
    Unlimited,
    /// One speed for the whole run: work per second.
    Constant(u64),
    /// Constant between changes that are known ahead; [`crate::gate::rate::Profile`] walks over them.
    Pieces,
    /// Instants at which so many bytes may leave.
    Opportunities(&'a Arc<OpportunityTrace>, AtEnd),
    /// Set by the network during the run; this one is in force at the start.
    Set(Rate),
}

/// What a law says of itself.
struct LawRow {
    kind: &'static str,
    counts_packets: bool,
    is_random: bool,
    on_change: Option<OnChange>,
}

/// A new law gets an arm in each of these, and its readers need none.
impl RatePlan {
    fn row(&self) -> LawRow {
        let law = |kind| LawRow { kind, counts_packets: false, is_random: false, on_change: None };
        // Recorded and written changes are the link's own: they affect the unit under way.
        let changes = |kind, on_change| LawRow { on_change: Some(on_change), ..law(kind) };
        match self {
            RatePlan::Unlimited => law("unlimited"),
            RatePlan::Constant(Speed::Bits(_)) => law("constant"),
            RatePlan::Constant(Speed::Packets(_)) => LawRow { counts_packets: true, ..law("packets") },
            RatePlan::Steps { steps, .. } => {
                let counts_packets = matches!(steps.first(), Some((_, Speed::Packets(_))));
                LawRow { counts_packets, ..changes("steps", OnChange::Rescale) }
            }
            RatePlan::TokenBucket { .. } => law("token_bucket"),
            RatePlan::Markov(chain) => {
                LawRow { is_random: chain.rates.len() > 1, ..changes("markov", OnChange::Keep) }
            }
            RatePlan::RateTrace { .. } => changes("trace", OnChange::Rescale),
            RatePlan::Opportunities { .. } => law("trace"),
            RatePlan::CellReplay(_) => law("cellreplay"),
            RatePlan::Dtm(_) => changes("dtm", OnChange::Keep),
            RatePlan::Gcra(_) => law("gcra"),
            RatePlan::Follow(_) => changes("follow", OnChange::Keep),
            RatePlan::Reserve(_) => law("reserve"),
            RatePlan::Abr(_) => changes("abr", OnChange::Keep),
        }
    }

    /// Its key in a scenario; for one without a key of its own, a word like one.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.row().kind
    }

    /// How its speed comes about.
    #[must_use]
    pub fn course(&self) -> Course<'_> {
        match self {
            RatePlan::Unlimited => Course::Unlimited,
            RatePlan::Constant(speed) => Course::Constant(speed.work_per_second()),
            RatePlan::TokenBucket { rate, .. } => Course::Constant(rate.bps()),
            RatePlan::Gcra(gcra) => Course::Constant(gcra.bits_per_second()),
            RatePlan::Steps { .. } | RatePlan::RateTrace { .. } | RatePlan::Markov(_) => Course::Pieces,
            RatePlan::Opportunities { trace, at_end } => Course::Opportunities(trace, *at_end),
            // What the saturated link gives: the light stage has no rate of its own.
            RatePlan::CellReplay(link) => Course::Opportunities(&link.heavy, AtEnd::Repeat),
            RatePlan::Dtm(channel) => Course::Set(channel.initial),
            RatePlan::Abr(source) => Course::Set(Rate::from_bps(source.rates.initial as u64)),
            RatePlan::Follow(follow) => Course::Set(follow.initial),
            // Closed until its call is up.
            RatePlan::Reserve(_) => Course::Set(Rate::ZERO),
        }
    }

    /// Whether departures can be stated at arrivals; otherwise the gate is driven step by step.
    #[must_use]
    pub fn is_known_ahead(&self) -> bool {
        !matches!(self.course(), Course::Set(_))
    }

    /// Whether a unit's work is one packet, whatever its size; otherwise it is its bits.
    #[must_use]
    pub fn counts_packets(&self) -> bool {
        self.row().counts_packets
    }

    /// Whether its speed is drawn at random.
    #[must_use]
    pub fn is_random(&self) -> bool {
        self.row().is_random
    }

    /// What usually becomes of a unit in transmission when the speed changes; `None` where it never changes.
    #[must_use]
    pub fn default_on_change(&self) -> Option<OnChange> {
        self.row().on_change
    }

    /// Units of so many bits per second in the long run; `None`: unlimited, decided by what arrives or by
    /// feedback, or too costly to find.
    #[must_use]
    pub fn mean_units_per_second(&self, bits: f64) -> Option<f64> {
        let of_bits = |rate: Rate| Some(rate.bps() as f64 / bits);
        match self {
            RatePlan::Unlimited | RatePlan::Dtm(_) | RatePlan::Follow(_) | RatePlan::Abr(_) => None,
            RatePlan::Constant(speed) => Some(speed.units_per_second(bits)),
            RatePlan::Reserve(circuit) => of_bits(circuit.rate),
            RatePlan::Steps { steps, repeat } => Some(steps_mean(steps, *repeat, bits)),
            RatePlan::TokenBucket { rate, .. } => of_bits(*rate),
            RatePlan::Gcra(gcra) => of_bits(Rate::from_bps(gcra.bits_per_second())),
            RatePlan::Markov(chain) => of_bits(Rate::from_bps(chain.mean()? as u64)),
            RatePlan::RateTrace { trace, .. } => of_bits(trace.mean()),
            RatePlan::Opportunities { trace, .. } => of_bits(trace.mean()),
            RatePlan::CellReplay(link) => of_bits(link.heavy.mean()),
        }
    }

    /// Seconds that a unit of so many bits takes when the law is fastest; `None` where nothing bounds it. This
    /// is no mean: of a chain or a trace it is the fastest state, of opportunities the densest 100 ms.
    #[must_use]
    pub fn shortest_time(&self, bits: f64) -> Option<f64> {
        let of_bits = |rate: &Rate| bits / rate.bps() as f64;
        let shortest = |times: &mut dyn Iterator<Item = f64>| times.min_by(f64::total_cmp);
        match self {
            RatePlan::Constant(speed) => Some(speed.unit_time(bits)),
            RatePlan::Steps { steps, .. } => {
                shortest(&mut steps.iter().map(|(_, speed)| speed.unit_time(bits)))
            }
            RatePlan::Markov(chain) => shortest(&mut chain.rates.iter().map(of_bits)),
            RatePlan::RateTrace { trace, .. } => {
                shortest(&mut trace.points.iter().map(|(_, rate)| of_bits(rate)))
            }
            RatePlan::TokenBucket { rate, .. } => Some(of_bits(rate)),
            RatePlan::Gcra(gcra) => Some(bits / gcra.bits_per_second() as f64),
            RatePlan::Opportunities { trace, .. } => densest(trace, bits),
            RatePlan::CellReplay(link) => densest(&link.heavy, bits),
            RatePlan::Follow(follow) => follow.peak.as_ref().map(of_bits),
            RatePlan::Abr(source) => Some(bits / source.rates.peak),
            RatePlan::Reserve(circuit) => Some(of_bits(&circuit.rate)),
            // A channel's rate follows what arrives: other gates bound it.
            RatePlan::Unlimited | RatePlan::Dtm(_) => None,
        }
        .filter(|time| time.is_finite())
    }
}

/// The time over which a trace of opportunities is judged at its densest.
const BUSIEST: Span = Span::from_millis(100);

/// Seconds that a unit of so many bits takes when opportunities are densest. A recording shorter than [`BUSIEST`] is repeated within
/// that time.
fn densest(trace: &OpportunityTrace, bits: f64) -> Option<f64> {
    let most = trace.most_in(BUSIEST) as f64 * f64::from(trace.bytes) * 8.0;
    Some((bits * BUSIEST.as_secs_f64() / most).min(bits / trace.mean().bps() as f64))
}

/// The mean of one period, or the last step when they do not repeat.
fn steps_mean(steps: &[(Time, Speed)], repeat: Option<Span>, bits: f64) -> f64 {
    let of = |speed: &Speed| speed.units_per_second(bits);
    let Some(repeat) = repeat else { return steps.last().map_or(0.0, |(_, speed)| of(speed)) };
    let ends = steps.iter().skip(1).map(|(at, _)| at.picos()).chain([repeat.picos()]);
    let sum: f64 =
        steps.iter().zip(ends).map(|((at, speed), end)| of(speed) * (end - at.picos()) as f64).sum();
    sum / repeat.picos() as f64
}
