//! The ingress of a gate: what happens to a unit before the queue. It is weighed in bytes on the wire, counted for those
//! who measure arrivals, and judged by the policer.

mod adviser;
mod marker;
mod police;
mod tally;

pub use marker::Marker;
pub use police::Policer;
pub use tally::Slot;

use crate::gate::ingress::adviser::Adviser;
use crate::gate::ingress::tally::Tally;
use crate::gate::statistics::Statistics;
use crate::gcra::Verdict;
use crate::plan::{Framing, GatePlan};
use crate::random::Stream;
use crate::unit::Unit;
use crate::units::{Measured, Rate, Span, Time};

/// Framing, tallies, adviser, marker and policer of one gate.
#[derive(Debug)]
pub(super) struct Ingress {
    framing: Framing,
    policer: Option<Box<Policer>>,
    marker: Option<Box<Marker>>,
    adviser: Option<Box<Adviser>>,
    tallies: Vec<Tally>,
}

impl Ingress {
    /// `stream`: what the gate's rate law draws from.
    pub(super) fn new(plan: &GatePlan, measured: Measured, stream: Stream) -> Ingress {
        let policer = |police| Box::new(Policer::new(police, plan.policed_unit(), measured));
        Ingress {
            framing: plan.framing,
            policer: plan.police.as_ref().map(policer),
            marker: plan.marker.map(|marker| Box::new(Marker::new(marker, measured))),
            adviser: plan.advice.map(|advice| Box::new(Adviser::new(&advice, &plan.rate, stream))),
            tallies: Vec::new(),
        }
    }

    /// Bytes of a unit on the wire.
    #[inline]
    pub(super) fn wire_bytes(&self, bytes: u32) -> u32 {
        self.framing.unit_bytes(bytes)
    }

    /// Whether every packet passes, and nobody counts.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.passes_all() && self.tallies.is_empty()
    }

    /// Whether there is no policer, no marker and no adviser.
    #[inline]
    fn passes_all(&self) -> bool {
        self.policer.is_none() && self.marker.is_none() && self.adviser.is_none()
    }

    /// Counts an arrival in every tally.
    pub(super) fn note_arrival(&mut self, at: Time, wire: u32) {
        self.tallies.iter_mut().for_each(|tally| tally.note_arrival(at, wire));
    }

    /// Counts a unit that is dropped at its arrival in every tally.
    pub(super) fn note_refusal(&mut self, at: Time) {
        self.tallies.iter_mut().for_each(|tally| tally.note_refusal(at));
    }

    /// Whether marker and policer let a packet pass; the one may colour it, the other tag it, and an adviser lower its rate signal. A
    /// policer of cells is not asked about packets.
    #[inline(always)]
    pub(super) fn admits(&mut self, at: Time, unit: &mut Unit, wire: u32, stats: &mut Statistics) -> bool {
        self.passes_all() || self.lets_through(at, unit, wire, stats)
    }

    fn lets_through(&mut self, at: Time, unit: &mut Unit, wire: u32, stats: &mut Statistics) -> bool {
        if let Some(adviser) = &mut self.adviser {
            adviser.handle_arrival(at, unit);
        }
        if let Some(marker) = &mut self.marker {
            let Some(marking) = marker.judge(at, unit.bytes, unit.colour()) else { return false };
            unit.set_colour(marking.colour);
            if let Some(codepoint) = marking.codepoint {
                unit.set_codepoint(codepoint);
            }
        }
        if self.policer.as_ref().is_none_or(|policer| policer.in_cells()) {
            return true;
        }
        match self.judge(at, wire, (unit.tagged(), unit.stretch), stats) {
            Verdict::Pass => true,
            Verdict::Tag => {
                unit.set_tagged(true);
                true
            }
            Verdict::Discard => false,
        }
    }

    /// The policer's verdict on a unit that arrives at `at` on `stretch`. `tagged`: it is tagged already.
    #[inline]
    pub(super) fn judge(
        &mut self,
        at: Time,
        wire: u32,
        (tagged, stretch): (bool, u32),
        stats: &mut Statistics,
    ) -> Verdict {
        let Some(policer) = &mut self.policer else { return Verdict::Pass };
        let verdict = policer.judge(at, wire, tagged, stretch);
        if verdict != Verdict::Discard {
            stats.policed(at, policer.state());
        }
        verdict
    }

    /// The network sets the rate of the gate's law.
    pub(super) fn note_rate(&mut self, rate: Rate) {
        if let Some(adviser) = &mut self.adviser {
            adviser.note_rate(rate);
        }
    }

    pub(super) fn marker(&self) -> Option<&Marker> {
        self.marker.as_deref()
    }

    pub(super) fn policer(&self) -> Option<&Policer> {
        self.policer.as_deref()
    }

    /// Adds a tally with slots of length `every` and returns its number.
    pub(super) fn add_tally(&mut self, every: Span) -> usize {
        self.tallies.push(Tally::new(every));
        self.tallies.len() - 1
    }

    /// The oldest slot of a tally, which is over. Each is returned once.
    pub(super) fn take_slot(&mut self, tally: usize) -> Slot {
        self.tallies[tally].take()
    }
}
