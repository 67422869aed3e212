//! Admission to a gate's queue: which units may join it. Both ways of driving a gate ask [`Queue::admit`] about each
//! arrival. Which unit leaves the queue next, and which are dropped there, is asked in [`super::waiting`].

use super::backlog::Backlog;
use super::drops::DropReason;
use super::rate::Service;
use super::red::Red;
use super::step;
use crate::plan::{Discipline, QueueCounts, QueueLimit, QueuePlan};
use crate::random::Stream;
use crate::unit::Unit;
use crate::units::Time;

/// The rules of one gate's queue.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    discipline: Discipline,
    limit: QueueLimit,
    counts: QueueCounts,
    /// A tagged unit that finds this many units is dropped.
    tagged: Option<u64>,
    /// By the colour of a unit, where any of them has a limit.
    colours: Option<[QueueLimit; 3]>,
    /// A full queue drops units that wait in it, and admits the arrival.
    makes_room: bool,
    /// [`Discipline::Red`].
    red: Option<Box<Red>>,
}

impl Queue {
    /// `stream`: the random numbers of its discipline.
    pub(super) fn new(plan: &QueuePlan, stream: impl FnOnce() -> Stream) -> Queue {
        let QueuePlan { discipline, limit, counts, tagged, colours } = *plan;
        let colours = (colours != QueuePlan::UNLIMITED.colours).then_some(colours);
        let makes_room = matches!(discipline, Discipline::FqCoDel(_));
        let red = match discipline {
            Discipline::Red(red) => Some(Box::new(Red::new(red, stream()))),
            _ => None,
        };
        Queue { discipline, limit, counts, tagged, colours, makes_room, red }
    }

    /// This queue, changed to admit arrivals when it is full and drop units that wait in it.
    pub(super) fn making_room(self) -> Queue {
        Queue { makes_room: true, ..self }
    }

    /// Whether a unit that arrives at `at` may join the queue, and whether it is marked CE. It finds `found` in the queue,
    /// and the server idle or not. `at_once` says whether its service begins the moment it arrives: then it needs no place.
    ///
    /// # Errors
    /// Why the unit is dropped.
    #[inline(always)]
    pub(super) fn admit(
        &mut self,
        at: Time,
        (found, idle): (Backlog, bool),
        unit: &Unit,
        at_once: impl FnOnce() -> bool,
    ) -> Result<bool, DropReason> {
        // It counts every arrival in its average, those included that find the queue full.
        let by_average = match &mut self.red {
            Some(red) => red.judge(at, (found, idle), unit)?,
            None => false,
        };
        if unit.tagged() && self.tagged.is_some_and(|threshold| found.units >= threshold) {
            return Err(DropReason::QueueFull);
        }
        if let Some(limits) = &self.colours
            && is_full(limits[unit.colour() as usize], found, unit.bytes)
        {
            return Err(DropReason::QueueFull);
        }
        if !self.makes_room && self.is_full(found, unit.bytes) && !at_once() {
            return Err(DropReason::QueueFull);
        }
        match self.discipline {
            Discipline::DropTail => Ok(false),
            Discipline::Red(_) => Ok(by_average),
            Discipline::Step(threshold) => step::judge(threshold, found, unit.ecn()),
            // It decides when the unit would be served.
            Discipline::CoDel(_)
            | Discipline::Pie(_)
            | Discipline::FqCoDel(_)
            | Discipline::DualPi2(_)
            | Discipline::Cake(_) => Ok(false),
        }
    }

    /// Whether a queue that holds `found` has no place for a unit of so many IP bytes.
    #[inline]
    pub(super) fn is_full(&self, found: Backlog, bytes: u32) -> bool {
        is_full(self.limit, found, bytes)
    }

    /// The probability in 10⁻¹⁸ that the last unit was judged by; `None` where it has none at the arrival.
    #[inline]
    pub(super) fn probability(&self) -> Option<u64> {
        self.red.as_ref().map(|red| red.probability())
    }

    /// The service of a unit ends at `end`.
    #[inline]
    pub(super) fn note_end(&mut self, end: Time) {
        if let Some(red) = &mut self.red {
            red.note_end(end);
        }
    }

    /// Until when a unit counts in the queue.
    #[inline]
    pub(super) fn leaves(&self, service: Service) -> Time {
        if self.counts_service() { service.end } else { service.start }
    }

    /// Whether the unit in service counts.
    #[inline]
    pub(super) fn counts_service(&self) -> bool {
        self.counts == QueueCounts::All
    }
}

#[inline]
fn is_full(limit: QueueLimit, found: Backlog, bytes: u32) -> bool {
    match limit {
        QueueLimit::Unlimited => false,
        QueueLimit::Packets(most) | QueueLimit::Cells(most) => found.units >= most,
        QueueLimit::Bytes(most) => found.bytes + u64::from(bytes) > most,
    }
}
