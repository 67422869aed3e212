//! Totals of a gate's counters, as summaries report them.

use super::Counters;
use crate::gate::statistics::count::{Count, Phases, less};
use crate::gate::statistics::quantiles::Quantiles;
use crate::gate::statistics::still_waiting::StillWaiting;
use crate::units::Time;

/// The totals of a summary.
impl Counters {
    /// Units that arrived.
    #[must_use]
    pub fn arrived(&self) -> Phases {
        self.arrived.with(self.inside)
    }

    /// Units whose fate was decided inside the measured time: they were delivered or dropped then, whenever they had
    /// arrived. So no more than these are delivered, and no more of them are dropped.
    #[must_use]
    pub fn offered(&self) -> Count {
        self.delivered().measured().and(self.dropped())
    }

    /// Units that were dropped inside the measured time: on arrival, from the queue, or after service.
    #[must_use]
    pub fn dropped(&self) -> Count {
        self.refused.measured().and(self.culled.measured()).and(self.lost.measured())
    }

    /// The share of [`Counters::offered`] that was dropped; `None` where nothing was decided.
    #[must_use]
    pub fn loss(&self) -> Option<f64> {
        let offered = self.offered().packets;
        (offered > 0).then(|| self.dropped().packets as f64 / offered as f64)
    }

    /// Units whose service ended and that were not lost.
    #[must_use]
    pub fn delivered(&self) -> Phases {
        self.delivered.with(self.inside)
    }

    /// Units dropped at their arrival.
    #[must_use]
    pub fn refused(&self) -> Phases {
        self.refused
    }

    /// Units dropped from the queue.
    #[must_use]
    pub fn culled(&self) -> Phases {
        self.culled
    }

    /// ACKs dropped from the queue because a later packet made them needless: no losses, and not in [`Counters::culled`].
    #[must_use]
    pub fn filtered(&self) -> Phases {
        self.filtered.0
    }

    /// Units lost after service.
    #[must_use]
    pub fn lost(&self) -> Phases {
        self.lost
    }

    /// Units marked CE.
    #[must_use]
    pub fn marked(&self) -> Phases {
        self.marked
    }

    /// Waiting times of the units that arrived inside the measured time and whose service began in it.
    #[must_use]
    pub fn waits(&self) -> Quantiles {
        let mut waits = self.waits.clone();
        let joined = less(self.arrived().measured().packets, self.refused.measured().packets);
        waits.set_zeros(less(less(joined, self.unserved), self.waits.count()));
        waits
    }

    /// Units whose service had not begun when the run ended, whenever they had arrived.
    #[must_use]
    pub fn waiting(&self) -> StillWaiting {
        self.waiting
    }

    /// Largest queue inside the measured time, as the gate's queue counts; what is there at its beginning counts.
    #[must_use]
    pub fn queue_max(&self) -> u64 {
        self.queue_max.max(self.standing.units)
    }

    /// Largest queue inside the measured time in IP bytes, with what is there at its beginning.
    #[must_use]
    pub fn queue_max_bytes(&self) -> u64 {
        self.queue_max_bytes.max(self.standing.bytes)
    }

    /// Mean queue inside the measured time.
    #[must_use]
    pub fn queue_mean(&self) -> f64 {
        let span = self.measured.overlap(Time::ZERO, Time::NEVER);
        if span == 0 { 0.0 } else { self.queue_area as f64 / span as f64 }
    }

    /// Units that arrived and had not left when the run ended.
    #[must_use]
    pub fn held(&self) -> Count {
        let arrived = self.arrived().total();
        let [delivered, refused, culled, filtered, lost] =
            [self.delivered(), self.refused, self.culled, self.filtered.0, self.lost]
                .map(|phases| phases.total());
        let gone = delivered.and(refused).and(culled).and(filtered).and(lost);
        Count { packets: less(arrived.packets, gone.packets), bytes: less(arrived.bytes, gone.bytes) }
    }
}
