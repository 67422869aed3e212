//! Laps of a flow that shares nothing with others: ACKs, segments, path, receiver, ACKs. What [`crate::wire`] does for one
//! ACK at a time a lap does for many, stage by stage: first the sender answers every ACK that is certain to come, then
//! what it has sent passes the gates, then the receiver takes what has arrived, then its ACKs pass theirs. No stage can tell
//! the difference, because what one of them does reaches the one before it only by the next ACK. Before the first unit after a row's
//! instant an end pauses in its stage and writes the row: nothing has happened to that end in between.

use std::marker::PhantomData;

use tidegate_core::net::{Carrier, Network};
use tidegate_core::tcp::{Header, Outgoing};
use tidegate_core::unit::{Handle, Unit};
use tidegate_core::units::Time;

use crate::alarms::Alarms;
use crate::flow::Flow;
use crate::observed::just_before;
use crate::streams::{Acks, Arrivals, Kind};
use crate::ways::{Plain, Sampled, Watched, Way};
use crate::wire::{RUN_AHEAD, Wire};

/// Fewer ACKs than this are dealt with one by one.
const WORTH_WHILE: usize = 4;

/// So many are dealt with one by one after a lap that was not worth while.
const ONE_BY_ONE: usize = 256;

/// The most ACKs in one lap: what they let go stays in the first-level cache.
const MOST: usize = 128;

impl Wire<Network> {
    /// Whether a flow may run laps.
    pub(crate) fn runs_laps(&self, flow: &Flow) -> bool {
        flow.watched != Watched::Closely
            && flow.entries.iter().all(|entry| self.network.carries_at_once(*entry))
    }
}

impl<N: Carrier> Wire<N> {
    /// Delivers the ACKs that are certain to come, and those that follow from them, in laps where that is worth while.
    #[inline(never)]
    pub(crate) fn run_laps(&mut self, index: usize, flow: &mut Flow) {
        match (flow.watched == Watched::NowAndThen, flow.short) {
            (false, false) => self.run_laps_of::<u32, Plain>(index, flow),
            (false, true) => self.run_laps_of::<Header, Plain>(index, flow),
            (true, false) => self.run_laps_of::<u32, Sampled>(index, flow),
            (true, true) => self.run_laps_of::<Header, Sampled>(index, flow),
        }
        self.pause(index, flow);
    }

    #[inline(always)]
    fn run_laps_of<H: Kind, W: Way>(&mut self, index: usize, flow: &mut Flow) {
        let mut left = RUN_AHEAD;
        while left > 0 && !flow.coming.is_empty() {
            let lap = flow.one_by_one == 0
                && flow.coming.len() >= WORTH_WHILE
                && !flow.coming[0].1.is_named_by(Handle::Place);
            let taken = if lap { self.run_lap::<H, W>(index, flow, left) } else { 0 };
            left -= taken;
            if taken < WORTH_WHILE {
                if lap {
                    flow.one_by_one = if taken == 0 { 1 } else { ONE_BY_ONE };
                }
                let some = left.min(flow.one_by_one.max(1));
                let before = self.ahead;
                self.run_one_by_one::<W>(index, flow, some);
                let singly = (self.ahead - before) as usize;
                left -= singly;
                flow.one_by_one = flow.one_by_one.saturating_sub(singly);
            }
        }
    }

    #[inline(never)]
    fn run_one_by_one<W: Way>(&mut self, index: usize, flow: &mut Flow, most: usize) {
        self.run_some::<W>(index, flow, most);
    }

    /// Deals with some of the ACKs that are certain to come, at most `most`, and with all that follows from them. Answers with how many
    /// they were; 0: the next one needs another way.
    #[inline(never)]
    fn run_lap<H: Kind, W: Way>(&mut self, index: usize, flow: &mut Flow, most: usize) -> usize {
        let [mut segments, mut acks] = std::mem::take(&mut self.leaving);
        let (taken, unusual) = self.answer_acks::<H, W>(index, flow, most.min(MOST), &mut segments);
        self.network.handle_units_at(flow.entries[0], &mut segments);
        self.take_segments::<H, W>(index, flow, &segments, &mut acks);
        segments.clear();
        self.leaving = [segments, acks];
        if let Some((at, sent)) = unusual {
            self.send_all::<W>(at, index, flow, Some(sent));
        }
        taken
    }

    /// The sender's stage. Answers with how many ACKs were taken, and with a segment that is no usual one, which leaves after all others.
    #[inline(never)]
    fn answer_acks<H: Kind, W: Way>(
        &mut self,
        index: usize,
        flow: &mut Flow,
        most: usize,
        leaving: &mut Vec<(Time, Unit)>,
    ) -> (usize, Option<(Time, Outgoing)>) {
        let mut coming = std::mem::take(&mut flow.coming);
        let (some, _) = coming.as_slices();
        let mut rest = &some[..some.len().min(most)];
        let all = rest.len();
        let latest = self.before_end().min(flow.app.next_wakeup());
        let mut wakeup = Time::NEVER;
        let unusual = loop {
            if let Some((at, _)) = rest.first() {
                let next = flow.sender.next_wakeup().min(*at);
                flow.before_sender_in_turn(next, latest);
            }
            let [unobserved, no_baseline] = flow.sender_unobserved_until();
            let mut acks = Acks::<H, W> {
                units: rest.iter(),
                segments: &mut self.segments,
                history: flow.history.as_deref_mut(),
                latest: latest.min(if W::ROWS { no_baseline } else { unobserved }),
                rowless: latest.min(unobserved),
                mss: flow.mss,
                headers: flow.headers,
                round_trips: flow.meter.rtt.recording(),
                windows: &mut flow.meter.windows,
                leaving,
                wakeup,
                way: PhantomData,
            };
            let unusual = H::answer_acks(&mut flow.sender, &mut acks);
            let taken = rest.len() - acks.units.len();
            wakeup = acks.wakeup;
            acks.round_trips.end();
            rest = &rest[taken..];
            let pauses =
                rest.first().is_some_and(|(at, _)| *at > if W::ROWS { no_baseline } else { unobserved });
            if W::ROWS {
                flow.observe_sender_later();
            }
            if unusual.is_some() || !pauses || taken == 0 {
                break unusual;
            }
        };
        let taken = all - rest.len();
        coming.drain(..taken);
        flow.coming = coming;
        self.ahead += taken as u64;
        self.network.set_alarm(Alarms::sender(index), wakeup.min(flow.sender.next_wakeup()));
        (taken, unusual)
    }

    /// The receiver's stage, and the way of its ACKs.
    #[inline(never)]
    fn take_segments<H: Kind, W: Way>(
        &mut self,
        index: usize,
        flow: &mut Flow,
        segments: &[(Time, Unit)],
        leaving: &mut Vec<(Time, Unit)>,
    ) {
        let mut rest = segments;
        while let Some((next, unit)) = rest.first() {
            flow.before_receiver_in_turn(*next, self.before_end());
            let (taken, unusual) = self.take_some::<H, W>(index, flow, rest, leaving);
            if taken == 0 || unusual.is_some() {
                self.pass_acks(flow, leaving);
            }
            if let Some((at, sent)) = unusual {
                self.answer_all::<W>(at, index, flow, Some(sent));
            }
            if taken == 0 {
                self.receive_at::<W>(*next, index, flow, *unit);
            }
            rest = &rest[taken.max(1)..];
        }
        self.pass_acks(flow, leaving);
    }

    /// The receiver takes segments as long as they are usual, and no row is due. Answers with how many, and with a segment of its own
    /// that is no usual one.
    #[inline(always)]
    fn take_some<H: Kind, W: Way>(
        &mut self,
        index: usize,
        flow: &mut Flow,
        segments: &[(Time, Unit)],
        leaving: &mut Vec<(Time, Unit)>,
    ) -> (usize, Option<(Time, Outgoing)>) {
        let [unobserved, no_baseline] = flow.receiver_unobserved_until();
        let mut arrivals = Arrivals::<H, W> {
            units: segments.iter(),
            latest: self.before_end().min(if W::ROWS { no_baseline } else { unobserved }),
            rowless: self.before_end().min(unobserved),
            segments: &mut self.segments,
            history: flow.history.as_deref_mut(),
            headers: flow.headers,
            meter: &mut flow.meter,
            leaving,
            wakeup: Time::NEVER,
            way: PhantomData,
        };
        let unusual = H::take_data(&mut flow.receiver, &mut arrivals);
        let (taken, wakeup) = (segments.len() - arrivals.units.len(), arrivals.wakeup);
        if W::ROWS {
            flow.observe_receiver_later();
        }
        if wakeup != Time::NEVER {
            self.network.set_alarm(Alarms::receiver(index), wakeup);
        }
        (taken, unusual)
    }

    /// The ACKs that the receiver has sent pass their gates.
    #[inline(always)]
    fn pass_acks(&mut self, flow: &mut Flow, leaving: &mut Vec<(Time, Unit)>) {
        if !leaving.is_empty() {
            self.network.handle_units_at(flow.entries[1], leaving);
            flow.coming.extend(leaving.iter());
            leaving.clear();
        }
    }

    /// The last instant of the run.
    fn before_end(&self) -> Time {
        just_before(self.until)
    }
}
