//! The exit of a gate, behind the server: random loss, then delay and jitter.

mod jitter;
mod loss;

use crate::gate::drops::DropReason;
use crate::gate::exit::jitter::Jitter;
use crate::gate::exit::loss::Loss;
use crate::plan::{GatePlan, RatePlan};
use crate::random::Seed;
use crate::units::{Span, Time};

/// Loss, delay and jitter of one gate.
#[derive(Debug)]
pub(super) struct Exit {
    delay: Span,
    loss: Option<Box<Loss>>,
    jitter: Option<Box<Jitter>>,
}

/// The name of the random stream of a gate's jitter.
fn jitter_stream(plan: &GatePlan) -> String {
    match plan.jitter_draw {
        0 => format!("gate.{}/jitter", plan.name),
        number => format!("gate.{}/change.{number}.jitter", plan.name),
    }
}

/// Whether the rate law has a delay behind the server that is not always the same.
fn varies_behind(plan: &GatePlan) -> bool {
    matches!(plan.rate, RatePlan::CellReplay(_))
}

impl Exit {
    pub(super) fn new(plan: &GatePlan, seed: Seed) -> Exit {
        Exit {
            delay: plan.delay,
            loss: Loss::new(plan.loss, || seed.stream(&format!("gate.{}/loss", plan.name))),
            jitter: Jitter::new(plan.jitter, varies_behind(plan), || seed.stream(&jitter_stream(plan))),
        }
    }

    /// The constant delay.
    pub(super) fn delay(&self) -> Span {
        self.delay
    }

    /// Whether units may be lost.
    pub(super) fn is_lossy(&self) -> bool {
        self.loss.is_some()
    }

    /// Whether the next unit is lost. Asked once for each unit, at the end of its service.
    #[inline(always)]
    pub(super) fn loses_next(&mut self) -> bool {
        self.loss.as_mut().is_some_and(|loss| loss.loses_next())
    }

    /// How its losses are called.
    pub(super) fn lost_by(&self) -> DropReason {
        self.loss.as_ref().map_or(DropReason::Loss, |loss| loss.reason())
    }

    /// When the next unit arrives at whatever comes next, if its service ends at `end` and the rate law keeps it `behind` the server.
    #[inline]
    pub(super) fn out_after(&mut self, end: Time, behind: Span) -> Time {
        match &mut self.jitter {
            Some(jitter) => jitter.delay(end, self.delay + behind),
            None => end.saturating_add(self.delay),
        }
    }

    /// The end of service of the last unit, which arrives at whatever comes next at `out`.
    pub(super) fn end_before(&self, out: Time) -> Time {
        match &self.jitter {
            Some(jitter) => jitter.ended(),
            None => Time::from_picos(out.picos().saturating_sub(self.delay.picos())),
        }
    }
}
