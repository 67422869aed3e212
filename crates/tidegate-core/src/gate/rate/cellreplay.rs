//! A cellular link as CellReplay records and plays it, in two stages. The light stage holds what a train of packets meets that
//! comes after a pause: a base delay, then delivery opportunities at offsets from the train's beginning. The heavy stage is a
//! trace of a saturated link ([`Opportunities`]), which a packet passes by as long as nobody waits there and its train has
//! opportunities left. Both traces begin with the run and repeat.
//!
//! Let a train have begun at `b`, with a base delay `d`. A packet of `s` bytes that arrives at `a` is `r` whole milliseconds into
//! the train, the grain of the recording.
//!
//! - Opportunities at offsets before `r` are over. A packet that does not fit into what is left of one takes the next, and the rest
//!   is lost. It is released at `b + d + offset`, or at `a + d` if that is later.
//! - Behind the last opportunity a packet is released at `a + d`, or at `a` and the last offset if that is later, and takes the
//!   heavy stage.
//! - No packet is released before the one that came before it. Where that holds a packet back, it takes the heavy stage.
//! - A train ends where `a + d` is later than the last release and the gap timer, both counted from the arrival in whole
//!   milliseconds. The packet that finds that begins the next one and is released at `a + d`.
//!
//! The base delay counts as a delay behind the server: the service of a packet ends when it would have left without one, so
//! that what it waits is queueing alone, and the queue holds what has come and not been served until then.
//!
//! DEVIATION: CellReplay counts in whole milliseconds from its first packet and cuts the base delay to them; here only offsets and
//! pauses have that grain. CellReplay refuses packets above an opportunity; here such a packet spans several.
//!
//! Example: a base delay of 20 ms, opportunities of 1400 bytes at 0 and 3 ms. Of three packets of 1400 bytes at 0, the first is
//! out at 20 ms, the second at 23 ms. The third finds no opportunity: it is released at 23 ms too, beside the second, and leaves
//! at the first opportunity of the heavy trace after that.

use std::sync::Arc;

use crate::gate::rate::{Capacity, Opportunities, Service};
use crate::plan::{AtEnd, CellReplayPlan};
use crate::units::{Measured, Span, Time};

/// The grain of the recording.
const GRAIN: u64 = 1_000_000_000;

/// State of the law.
#[derive(Clone, Debug)]
pub struct CellReplay {
    plan: Arc<CellReplayPlan>,
    train: Option<ReplayTrain>,
    heavy: Opportunities,
    /// When the heavy stage is empty; `None`: no packet has taken it.
    heavy_free: Option<Time>,
    /// The last release from the light stage.
    released: Time,
    /// End of the last service, and what the packet waits behind the server.
    end: Time,
    behind: Span,
}

/// The train under way.
#[derive(Clone, Debug)]
struct ReplayTrain {
    /// Its line in the light trace.
    line: usize,
    begin: Time,
    delay: Span,
    /// The opportunity in use, and what is left of it in bytes.
    index: usize,
    left: u64,
    /// A packet begins the next train if it comes more than this and the timer after `begin`, whole milliseconds counted.
    last: Span,
}

impl CellReplay {
    /// Both traces from their beginnings; capacity, which is the heavy trace's, is counted inside `measured`.
    #[must_use]
    pub fn new(plan: Arc<CellReplayPlan>, measured: Measured) -> CellReplay {
        let heavy = Opportunities::new(plan.heavy.clone(), AtEnd::Repeat, measured);
        let (released, end) = (Time::ZERO, Time::ZERO);
        CellReplay { plan, train: None, heavy, heavy_free: None, released, end, behind: Span::ZERO }
    }

    pub(super) fn transmit(&mut self, arrival: Time, bits: u64) -> Service {
        let (out, delay) = self.out(arrival, bits);
        let begin = Time::from_picos(out.picos().saturating_sub(delay.picos()));
        self.end = if out == Time::NEVER { out } else { self.end.max(begin) };
        self.behind = out.saturating_since(self.end);
        Service { start: self.end, end: self.end }
    }

    /// [`CellReplay::transmit`] for a unit that was chosen at `now`; its times count from its arrival all the same.
    pub(super) fn transmit_chosen(&mut self, now: Time, arrival: Time, bits: u64) -> Service {
        self.end = self.end.max(now);
        self.transmit(arrival, bits)
    }

    /// The service that the next unit would have.
    pub(super) fn preview(&self, arrival: Time, bits: u64) -> Service {
        self.clone().transmit(arrival, bits)
    }

    /// How long the last unit is behind the server.
    pub(super) fn behind(&self) -> Span {
        self.behind
    }

    pub(super) fn capacity(&self, measured: Measured) -> Capacity {
        // What a train used is no part of the heavy trace.
        Capacity { unused: None, in_transit: 0, ..self.heavy.capacity(measured) }
    }

    /// When the next unit leaves the link, and the base delay of its train.
    fn out(&mut self, arrival: Time, bits: u64) -> (Time, Span) {
        let (release, delay, within) = self.light(arrival, bits / 8);
        let in_order = release >= self.released;
        self.released = self.released.max(release);
        let empty = self.heavy_free.is_none_or(|free| free < self.released);
        if within && in_order && empty {
            return (self.released, delay);
        }
        let left = self.heavy.transmit(self.released, bits).end;
        self.heavy_free = Some(left);
        (left, delay)
    }

    /// The release of the next unit from the light stage, the base delay, and whether its train had an opportunity for it.
    fn light(&mut self, arrival: Time, bytes: u64) -> (Time, Span, bool) {
        let size = u64::from(self.plan.heavy.bytes);
        let timer = self.plan.timer;
        let comes = |train: &ReplayTrain| whole_millis(arrival.saturating_since(train.begin));
        let ends = |train: &ReplayTrain| comes(train) > train.last + timer;
        let fresh = self.train.as_ref().is_none_or(ends);
        if fresh {
            let (line, delay) = self.plan.light.at(arrival);
            self.train =
                Some(ReplayTrain { line, begin: arrival, delay, index: 0, left: size, last: Span::ZERO });
        }
        let Some(train) = &mut self.train else { return (arrival, Span::ZERO, false) };
        let offsets = &self.plan.light.trains[train.line].offsets;
        let into = comes(train);
        while offsets.get(train.index).is_some_and(|offset| !fresh && *offset < into) {
            (train.index, train.left) = (train.index + 1, size);
        }
        take(train, bytes, size);
        let earliest = arrival.saturating_add(train.delay);
        match offsets.get(train.index) {
            // A train begins with its first packet, whatever the first offset is.
            Some(_) if fresh && train.index == 0 => (earliest, train.delay, true),
            Some(offset) => {
                train.last = *offset;
                let opens = train.begin.saturating_add(train.delay).saturating_add(*offset);
                (opens.max(earliest), train.delay, true)
            }
            None => {
                let longest = train.delay.max(offsets.last().copied().unwrap_or(Span::ZERO));
                train.last = into + longest.saturating_sub(train.delay);
                (arrival.saturating_add(longest), train.delay, false)
            }
        }
    }
}

/// A packet takes what is left of the present opportunity if it fits there, else the next. A packet above `size`, the bytes of an
/// opportunity, fits into none: it takes what is left of the present one and as much of the next as it needs.
fn take(train: &mut ReplayTrain, bytes: u64, size: u64) {
    if bytes <= size && train.left < bytes {
        (train.index, train.left) = (train.index + 1, size);
    }
    let mut need = bytes;
    while need > train.left {
        need -= train.left;
        (train.index, train.left) = (train.index + 1, size);
    }
    train.left -= need;
}

fn whole_millis(span: Span) -> Span {
    Span::from_picos(span.picos() / GRAIN * GRAIN)
}

#[cfg(test)]
pub(super) mod tests;
