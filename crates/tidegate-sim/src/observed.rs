//! When a flow is observed: baselines of the measured time, rows and marks.

use tidegate_core::units::{Span, Time};

use crate::connection::sum;
use crate::flow::Flow;
use crate::ways::{Watched, Way};

impl Flow {
    /// Call before anything happens to the sender at `at`.
    #[inline]
    pub(crate) fn before_sender(&mut self, at: Time) {
        if at >= self.sender_noted_from {
            self.look_at_sender(at);
        }
    }

    /// Call before anything happens to the receiver at `at`.
    #[inline]
    pub(crate) fn before_receiver(&mut self, at: Time) {
        if at >= self.receiver_noted_from {
            self.look_at_receiver(at);
        }
    }

    /// Settles anew until when its sender rests, of a run until `end`.
    pub(crate) fn rest_sender(&mut self, end: Time) {
        let wakeup = self.sender.next_wakeup().min(self.app.next_wakeup());
        self.sender_rests_until = self.rest(wakeup.min(self.sender_noted_from), end);
    }

    /// The same of its receiver.
    pub(crate) fn rest_receiver(&mut self, end: Time) {
        let wakeup = self.receiver.next_wakeup();
        self.receiver_rests_until = self.rest(wakeup.min(self.receiver_noted_from), end);
    }

    fn rest(&self, until: Time, end: Time) -> Time {
        if self.watched == Watched::Not && !self.short { until.min(end) } else { Time::ZERO }
    }

    /// Until when nothing has to be noted before an event of its sender, and until when no baseline.
    #[inline]
    pub(crate) fn sender_unobserved_until(&self) -> [Time; 2] {
        [self.sender_noted_from, self.sender_baseline_from()].map(just_before)
    }

    /// The same of its receiver.
    #[inline]
    pub(crate) fn receiver_unobserved_until(&self) -> [Time; 2] {
        [self.receiver_noted_from, self.receiver_baseline_from()].map(just_before)
    }

    /// As [`Flow::before_sender`], if that happens at `latest` at the latest and no timer of the sender comes before it.
    #[inline]
    pub(crate) fn before_sender_in_turn(&mut self, at: Time, latest: Time) {
        if at >= self.sender_noted_from && at <= latest && at <= self.sender.next_wakeup() {
            self.look_at_sender(at);
        }
    }

    /// As [`Flow::before_receiver`], under the same conditions.
    #[inline]
    pub(crate) fn before_receiver_in_turn(&mut self, at: Time, latest: Time) {
        if at >= self.receiver_noted_from && at <= latest && at <= self.receiver.next_wakeup() {
            self.look_at_receiver(at);
        }
    }

    #[inline(never)]
    fn look_at_sender(&mut self, at: Time) {
        if at >= self.sender_baseline_from() {
            self.meter.begin_at_sender(sum(&self.past[0], self.sender.counters()));
        }
        self.sample_before(at, true, self.begins_anew());
        self.observe_sender_later();
    }

    #[inline(never)]
    fn look_at_receiver(&mut self, at: Time) {
        if at >= self.receiver_baseline_from() {
            self.meter.receiver_baseline = Some(sum(&self.past[1], self.receiver.counters()));
            self.meter.in_order_before = self.past_in_order + self.receiver.in_order_bytes();
        }
        self.sample_before(at, self.begins_anew(), true);
        self.observe_receiver_later();
    }

    /// From this instant on a baseline must be noted before its sender's next event.
    fn sender_baseline_from(&self) -> Time {
        if self.meter.sender_baseline.is_none() { self.meter.measured.from } else { Time::NEVER }
    }

    /// The same of its receiver.
    fn receiver_baseline_from(&self) -> Time {
        if self.meter.receiver_baseline.is_none() { self.meter.measured.from } else { Time::NEVER }
    }

    /// Settles anew from when on something must be noted before its sender's next event.
    pub(crate) fn observe_sender_later(&mut self) {
        let rows = self.history.as_ref().map_or(Time::NEVER, |history| history.sender_rowless_until());
        let rows = rows.saturating_add(Span::from_picos(1));
        self.sender_noted_from = rows.min(self.sender_baseline_from());
    }

    /// The same of its receiver.
    pub(crate) fn observe_receiver_later(&mut self) {
        let rows = self.history.as_ref().map_or(Time::NEVER, |history| history.receiver_rowless_until());
        let rows = rows.saturating_add(Span::from_picos(1));
        self.receiver_noted_from = rows.min(self.receiver_baseline_from());
    }

    /// Whether both ends are replaced at one instant, now and then.
    fn begins_anew(&self) -> bool {
        self.dialogue.as_ref().is_some_and(|dialogue| dialogue.begins_anew())
    }

    /// The ends write to the rows before `at`: both where either may be replaced by what happens at the other.
    fn sample_before(&mut self, at: Time, sender: bool, receiver: bool) {
        if let Some(history) = &mut self.history {
            if sender {
                history.policed = self.policed.as_ref().is_some_and(|policed| policed.holds(&self.sender));
                history.sample_sender(at, &self.sender.shown(), self.mss);
            }
            if receiver {
                history.sample_receiver(at, &self.receiver);
            }
        }
    }

    /// An ACK has shown a round trip.
    #[inline]
    pub(crate) fn sample_rtt<W: Way>(&mut self, rtt: Span) {
        self.meter.rtt.record(rtt);
        if W::RECORDED
            && let Some(history) = &mut self.history
        {
            history.round_trip = Some(rtt);
        }
    }

    /// Data that were sent at `sent_at` arrived at `at`.
    #[inline]
    pub(crate) fn note_one_way(&mut self, at: Time, sent_at: Time) {
        if let Some(history) = &mut self.history {
            history.note_one_way(at, sent_at);
        }
    }

    /// Call after the sender did something at `at`.
    #[inline]
    pub(crate) fn note_history(&mut self, at: Time) {
        if let Some(history) = &mut self.history {
            history.mark(at, self.sender.counters());
            if !history.lets_ends_part() {
                history.policed = self.policed.as_ref().is_some_and(|policed| policed.holds(&self.sender));
                history.note(at, (&self.sender, &self.receiver, self.mss));
            }
        }
    }
}

/// The last instant before `at`.
pub(crate) fn just_before(at: Time) -> Time {
    Time::from_picos(at.picos().saturating_sub(1))
}
