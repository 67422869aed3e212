//! Laps of a flow that shares nothing with others: ACKs, segments, path, receiver, ACKs. What [`crate::wire`] does for one
//! ACK at a time a lap does for many, stage by stage: first the sender answers every ACK that is certain to come, then
//! what it has sent passes the gates, then the receiver takes what has arrived, then its ACKs pass theirs. No stage can tell
//! the difference, because what one of them does reaches the one before it only by the next ACK.

use tidegate_core::tcp::Outgoing;
use tidegate_core::unit::Unit;
use tidegate_core::units::Time;

use crate::alarms::Alarms;
use crate::flow::Flow;
use crate::segments::Numbers;
use crate::streams::{Acks, Arrivals, Ends};
use crate::wire::{RUN_AHEAD, Wire};

/// Fewer ACKs than this are dealt with one by one.
const WORTH_WHILE: usize = 4;

/// So many are dealt with one by one after a lap that was not worth while.
const ONE_BY_ONE: usize = 256;

/// The most ACKs in one lap: what they let go stays in the first-level cache.
const MOST: usize = 128;

impl Wire {
    /// Whether a flow may run laps.
    pub(crate) fn runs_laps(&self, flow: &Flow) -> bool {
        flow.plain && flow.entries.iter().all(|entry| self.network.carries_at_once(*entry))
    }

    /// Delivers the ACKs that are certain to come, and those that follow from them, in laps where that is worth while.
    #[inline(never)]
    pub(crate) fn run_laps(&mut self, index: usize, flow: &mut Flow) {
        let mut left = RUN_AHEAD;
        while left > 0 && !flow.coming.is_empty() {
            let lap = flow.one_by_one == 0
                && flow.coming.len() >= WORTH_WHILE
                && (flow.coming[0].1.is_compact() || flow.coming[0].1.is_short())
                && !flow.is_sender_observed();
            let taken = if lap { self.run_lap(index, flow, left) } else { 0 };
            left -= taken;
            if taken < WORTH_WHILE {
                if lap {
                    flow.one_by_one = if taken == 0 { 1 } else { ONE_BY_ONE };
                }
                let some = left.min(flow.one_by_one.max(1));
                let before = self.ahead;
                self.run_one_by_one(index, flow, some);
                let singly = (self.ahead - before) as usize;
                left -= singly;
                flow.one_by_one = flow.one_by_one.saturating_sub(singly);
            }
        }
        self.pause(index, flow);
    }

    #[inline(never)]
    fn run_one_by_one(&mut self, index: usize, flow: &mut Flow, most: usize) {
        self.run_some::<true>(index, flow, most);
    }

    /// Deals with some of the ACKs that are certain to come, at most `most`, and with all that follows from them. Answers with how many
    /// they were; 0: the next one needs another way.
    #[inline(never)]
    fn run_lap(&mut self, index: usize, flow: &mut Flow, most: usize) -> usize {
        let [mut segments, mut acks] = std::mem::take(&mut self.leaving);
        let most = most.min(MOST);
        // The headers are apart from the rest as long as a stage works.
        let (taken, unusual) = if flow.short {
            let mut short = std::mem::take(&mut self.segments.short);
            let answered = self.answer_acks(index, flow, most, &mut short, &mut segments);
            self.segments.short = short;
            answered
        } else {
            self.answer_acks(index, flow, most, &mut Numbers, &mut segments)
        };
        self.network.handle_units_at(flow.entries[0], &mut segments);
        self.take_segments(index, flow, &segments, &mut acks);
        segments.clear();
        self.leaving = [segments, acks];
        if let Some((at, sent)) = unusual {
            self.send_all::<true>(at, index, flow, Some(sent));
        }
        taken
    }

    /// The sender's stage. Answers with how many ACKs were taken, and with a segment that is no usual one, which leaves after all others.
    #[inline(never)]
    fn answer_acks<H: Ends>(
        &mut self,
        index: usize,
        flow: &mut Flow,
        most: usize,
        says: &mut H,
        leaving: &mut Vec<(Time, Unit)>,
    ) -> (usize, Option<(Time, Outgoing)>) {
        let (some, _) = flow.coming.as_slices();
        let some = &some[..some.len().min(most)];
        let mut acks = Acks {
            units: some.iter(),
            says,
            latest: self.before_end().min(flow.app.next_wakeup()),
            headers: flow.headers,
            round_trips: flow.meter.rtt.recording(),
            windows: &mut flow.meter.windows,
            leaving,
            wakeup: Time::NEVER,
        };
        let unusual = H::answer_acks(&mut flow.sender, &mut acks);
        let (taken, wakeup) = (some.len() - acks.units.len(), acks.wakeup);
        acks.round_trips.end();
        flow.coming.drain(..taken);
        self.ahead += taken as u64;
        self.network.set_alarm(Alarms::sender(index), wakeup);
        (taken, unusual)
    }

    /// The receiver's stage, and the way of its ACKs.
    #[inline(never)]
    fn take_segments(
        &mut self,
        index: usize,
        flow: &mut Flow,
        segments: &[(Time, Unit)],
        leaving: &mut Vec<(Time, Unit)>,
    ) {
        let mut next = 0;
        while next < segments.len() {
            let taken = if flow.is_receiver_observed() {
                0
            } else if flow.short {
                let mut short = std::mem::take(&mut self.segments.short);
                let (taken, unusual) = self.take_some(index, flow, &segments[next..], &mut short, leaving);
                self.segments.short = short;
                self.pass_acks(index, flow, leaving, unusual);
                taken
            } else {
                let (taken, unusual) = self.take_some(index, flow, &segments[next..], &mut Numbers, leaving);
                self.pass_acks(index, flow, leaving, unusual);
                taken
            };
            if taken == 0 {
                let (at, unit) = segments[next];
                self.receive_at::<true>(at, index, flow, unit);
            }
            next += taken.max(1);
        }
    }

    /// The receiver takes segments as long as they are usual. Answers with how many, and with a segment of its own that is no
    /// usual one.
    #[inline(always)]
    fn take_some<H: Ends>(
        &mut self,
        index: usize,
        flow: &mut Flow,
        segments: &[(Time, Unit)],
        says: &mut H,
        leaving: &mut Vec<(Time, Unit)>,
    ) -> (usize, Option<(Time, Outgoing)>) {
        let mut arrivals = Arrivals {
            units: segments.iter(),
            says,
            latest: self.before_end(),
            headers: flow.headers,
            meter: &mut flow.meter,
            leaving,
            wakeup: Time::NEVER,
        };
        let unusual = H::take_data(&mut flow.receiver, &mut arrivals);
        let (taken, wakeup) = (segments.len() - arrivals.units.len(), arrivals.wakeup);
        if wakeup != Time::NEVER {
            self.network.set_alarm(Alarms::receiver(index), wakeup);
        }
        (taken, unusual)
    }

    /// The ACKs that the receiver has sent pass their gates, and then what is no usual one.
    #[inline(always)]
    fn pass_acks(
        &mut self,
        index: usize,
        flow: &mut Flow,
        leaving: &mut Vec<(Time, Unit)>,
        unusual: Option<(Time, Outgoing)>,
    ) {
        self.network.handle_units_at(flow.entries[1], leaving);
        flow.coming.extend(leaving.iter());
        leaving.clear();
        if let Some((at, sent)) = unusual {
            self.answer_all::<true>(at, index, flow, Some(sent));
        }
    }

    /// The last instant of the run.
    fn before_end(&self) -> Time {
        Time::from_picos(self.until.picos().saturating_sub(1))
    }
}
