//! A gate that tells flows their rate: it lowers the rate signals of packets that come (SCONE, section "Applying Throughput Advice
//! Signals" of the draft).

use std::collections::BTreeMap;

use crate::advice::RateSignal;
use crate::effcap::CapacityEstimator;
use crate::gate::rate::{CapacityMeter, Profile, mean_speed};
use crate::plan::{AdvicePlan, AdviceSource, Course, PresentPlan, RatePlan, Share};
use crate::random::Stream;
use crate::unit::Unit;
use crate::units::{Rate, Span, Time};

/// The rate that a gate writes into rate signals: where it comes from, and among how many flows it is shared.
#[derive(Debug)]
pub(super) struct Adviser {
    source: Source,
    share: Share,
    present: Option<Present>,
}

/// Where its rate comes from.
#[derive(Debug)]
enum Source {
    /// It does not change.
    Rate(Rate),
    /// The network sets it.
    Set(Rate),
    /// The law's speed at that instant.
    Profile(Box<Profile>),
    Estimate(Box<Estimate>),
}

#[derive(Debug)]
struct Estimate {
    meter: CapacityMeter,
    every: Span,
    /// End of the present slot.
    slot_end: Time,
    estimator: CapacityEstimator<u128>,
    /// From the slots that are over.
    rate: Option<Rate>,
}

/// When the last packet that counts came on each stretch, which stands for one direction of one flow here.
#[derive(Debug)]
struct Present {
    plan: PresentPlan,
    last: BTreeMap<u32, Time>,
}

impl Adviser {
    /// That of a gate with this rate law, which draws from `stream`.
    pub(super) fn new(plan: &AdvicePlan, law: &RatePlan, stream: Stream) -> Adviser {
        let source = match plan.source {
            AdviceSource::Rate(rate) => Source::Rate(rate),
            AdviceSource::Law => match law.course() {
                Course::Pieces => Source::Profile(Box::new(Profile::new(law, stream))),
                Course::Set(initial) => Source::Set(initial),
                Course::Constant(speed) => Source::Rate(Rate::from_bps(speed)),
                // Refused before.
                Course::Unlimited | Course::Opportunities(..) => Source::Rate(Rate::from_bps(u64::MAX)),
            },
            AdviceSource::Estimate { every, blocks } => Source::Estimate(Box::new(Estimate {
                // A rate that the network sets is refused before.
                meter: CapacityMeter::new(law, stream).unwrap_or(CapacityMeter::Constant(u64::MAX)),
                every,
                slot_end: Time::ZERO.saturating_add(every),
                estimator: CapacityEstimator::new(blocks),
                rate: None,
            })),
        };
        let present = plan.among.map(|among| Present { plan: among, last: BTreeMap::new() });
        Adviser { source, share: plan.share, present }
    }

    /// The network sets the rate of the gate's law.
    pub(super) fn note_rate(&mut self, rate: Rate) {
        if let Source::Set(set) = &mut self.source {
            *set = rate;
        }
    }

    /// A packet comes at `at`: its rate signal is lowered to what is told now.
    #[inline]
    pub(super) fn handle_arrival(&mut self, at: Time, unit: &mut Unit) {
        if let Some(present) = &mut self.present
            && (!present.plan.signalled || unit.rate_signal().is_some())
        {
            present.last.insert(unit.stretch, at);
        }
        if let Some(signal) = unit.rate_signal() {
            unit.set_rate_signal(signal.min(self.signal(at)));
        }
    }

    /// What is told at `at`; times never decrease.
    #[cold]
    fn signal(&mut self, at: Time) -> RateSignal {
        let rate = match &mut self.source {
            Source::Rate(rate) | Source::Set(rate) => Some(*rate),
            Source::Profile(profile) => {
                profile.seek(at);
                Some(Rate::from_bps(profile.now().speed))
            }
            Source::Estimate(estimate) => estimate.rate(at),
        };
        let Some(rate) = rate else { return RateSignal::UNKNOWN };
        let flows = self.present.as_mut().map_or(1, |present| present.count(at));
        RateSignal::not_above(self.share.of(u128::from(rate.bps()), flows))
    }
}

impl Present {
    fn count(&mut self, at: Time) -> u32 {
        self.last.retain(|_, last| at.saturating_since(*last) <= self.plan.within);
        self.last.len().max(1) as u32
    }
}

impl Estimate {
    /// From the slots that are over by `at`.
    fn rate(&mut self, at: Time) -> Option<Rate> {
        while self.slot_end <= at {
            let from = Time::from_picos(self.slot_end.picos() - self.every.picos());
            let sample = mean_speed(self.meter.offered(from, self.slot_end), from, self.slot_end);
            let mean = self.estimator.push(u128::from(sample));
            self.rate = Some(Share::ALL.of(mean.sum, mean.count));
            self.slot_end = self.slot_end.saturating_add(self.every);
        }
        self.rate
    }
}
