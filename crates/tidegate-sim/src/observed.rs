//! When a flow is observed: baselines of the measured time, rows and marks.

use tidegate_core::unit::{Handle, Unit};
use tidegate_core::units::{Span, Time};
use tidegate_result::Side;

use crate::connection::sum;
use crate::flow::Flow;
use crate::history::History;

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

    /// Looks what is due next at the sender beside ACKs, of a run until `end`.
    pub(crate) fn look_ahead_of_sender(&mut self, end: Time) {
        self.sender_row_until = just_before(self.sender_noted_from.min(end)).min(self.app.next_wakeup());
        let due = self.sender.next_wakeup().min(self.app.next_wakeup()).min(self.sender_noted_from);
        self.sender_undisturbed_until = if self.watched_closely { Time::ZERO } else { due.min(end) };
    }

    /// Looks what is due next at the receiver beside data, of a run until `end`.
    pub(crate) fn look_ahead_of_receiver(&mut self, end: Time) {
        self.receiver_row_until = just_before(self.receiver_noted_from.min(end));
        let due = self.receiver.next_wakeup().min(self.receiver_noted_from);
        self.receiver_undisturbed_until = if self.watched_closely { Time::ZERO } else { due.min(end) };
    }

    /// What a recording or the measured time notes of the sender before the next ACK is noted, if nothing else is due there first in a
    /// run until `end`. Answers whether it is done.
    #[inline(never)]
    pub(crate) fn takes_rows_of_sender(&mut self, (at, unit): (Time, Unit), end: Time) -> bool {
        let due = self.sender.next_wakeup().min(self.app.next_wakeup()).min(end);
        if unit.is_named_by(Handle::Place) || due <= at {
            return false;
        }
        self.before_sender(at);
        self.look_ahead_of_sender(end);
        true
    }

    /// [`Flow::takes_rows_of_sender`] at the receiver, before the next data.
    #[inline(never)]
    pub(crate) fn takes_rows_of_receiver(&mut self, (at, unit): (Time, Unit), end: Time) -> bool {
        if unit.is_named_by(Handle::Place)
            || self.dialogue.is_some()
            || self.receiver.next_wakeup().min(end) <= at
        {
            return false;
        }
        self.before_receiver(at);
        self.look_ahead_of_receiver(end);
        true
    }

    #[inline(never)]
    fn look_at_sender(&mut self, at: Time) {
        if at >= self.sender_baseline_from() {
            self.meter.begin_at_sender(self.counted_by_sender());
        }
        self.sample_before(at, true, self.begins_anew());
        self.observe_sender_later();
    }

    #[inline(never)]
    fn look_at_receiver(&mut self, at: Time) {
        if at >= self.receiver_baseline_from() {
            self.meter.receiver_baseline = Some(sum(&self.past[1], self.counters(Side::Receiver)));
            self.meter.in_order_before = self.in_order();
        } else if self.meter.awaits_first_data() {
            let delivered = self.measured().1.delivered_bytes;
            self.meter.note_first_data(delivered, self.measured_in_order());
        }
        self.sample_before(at, self.begins_anew(), true);
        self.observe_receiver_later(at);
    }

    /// From this instant on a baseline must be noted before its sender's next event.
    fn sender_baseline_from(&self) -> Time {
        if self.meter.sender_baseline.is_none() { self.meter.measured.from } else { Time::NEVER }
    }

    /// From this instant on a baseline must be noted before its receiver's next event.
    fn receiver_baseline_from(&self) -> Time {
        if self.meter.receiver_baseline.is_none() { self.meter.measured.from } else { Time::NEVER }
    }

    /// Settles anew from when on something must be noted before its sender's next event.
    fn observe_sender_later(&mut self) {
        let rows = self.meter.history.as_ref().map_or(Time::NEVER, |history| history.sender_rowless_until());
        let rows = rows.saturating_add(Span::from_picos(1));
        self.sender_noted_from = rows.min(self.sender_baseline_from());
    }

    /// Settles anew from when on something must be noted before its receiver's next event, after a look at `at`.
    fn observe_receiver_later(&mut self, at: Time) {
        let rows =
            self.meter.history.as_ref().map_or(Time::NEVER, |history| history.receiver_rowless_until());
        let rows = rows.saturating_add(Span::from_picos(1));
        let next = match self.receiver_baseline_from() {
            Time::NEVER if self.meter.awaits_first_data() => at.saturating_add(Span::from_picos(1)),
            baseline => baseline,
        };
        self.receiver_noted_from = rows.min(next);
    }

    /// Whether both ends are replaced at one instant, now and then.
    fn begins_anew(&self) -> bool {
        self.dialogue.as_ref().is_some_and(|dialogue| dialogue.begins_anew())
    }

    /// The ends write to the rows before `at`: both where either may be replaced by what happens at the other.
    fn sample_before(&mut self, at: Time, sender: bool, receiver: bool) {
        if self.meter.history.is_none() {
            return;
        }
        if sender {
            let (policed, sends) = (self.is_held_by_policer(), self.sender_columns());
            if let Some(history) = &mut self.meter.history {
                history.policed = policed;
                history.sample_sender(at, &sends, self.mss);
            }
        }
        if receiver {
            let receives = self.receiver_columns();
            if let Some(history) = &mut self.meter.history {
                history.sample_receiver(at, &receives);
            }
        }
    }

    /// Call after the sender did something at `at`.
    #[inline]
    pub(crate) fn note_history(&mut self, at: Time) {
        if let Some(history) = &mut self.meter.history {
            history.mark(at, self.sender.counters());
            if !history.lets_ends_part() {
                self.note_row(at);
            }
        }
    }

    /// [`Flow::note_history`] of a flow that has hosts.
    pub(crate) fn note_history_of_host(&mut self, at: Time) {
        let counted = *self.counters(Side::Sender);
        if let Some(history) = &mut self.meter.history {
            history.mark(at, &counted);
            if !history.lets_ends_part() {
                self.note_row(at);
            }
        }
    }

    /// Call after the receiver did something at `at`: where each change has a row, bytes that have come have one.
    #[inline]
    pub(crate) fn note_arrival(&mut self, at: Time) {
        let receives = self.receiver_columns();
        let waits = |history: &History| !history.lets_ends_part() && history.is_news(&receives);
        if self.meter.history.as_deref().is_some_and(waits) {
            self.note_row(at);
        }
    }

    /// Takes a row of both ends at one instant.
    fn note_row(&mut self, at: Time) {
        let (policed, sends, receives) =
            (self.is_held_by_policer(), self.sender_columns(), self.receiver_columns());
        if let Some(history) = &mut self.meter.history {
            history.policed = policed;
            history.note(at, (&sends, &receives, self.mss));
        }
    }
}

/// The last instant before `at`.
fn just_before(at: Time) -> Time {
    Time::from_picos(at.picos().saturating_sub(1))
}
