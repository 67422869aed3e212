//! What the summary needs of a flow, measured as it runs.

use tidegate_core::gate::Quantiles;
use tidegate_core::net::precision;
use tidegate_core::plan::{AppPlan, Plan};
use tidegate_core::tcp::Counters;
use tidegate_core::unit::{Cause, HeldBy};
use tidegate_core::units::{Measured, Span, Time};
use tidegate_result::FirstData;

use crate::history::History;

/// What is measured of a flow. Fields that data segments touch come first, then those that ACKs touch.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Meter {
    pub(crate) measured: Measured,
    /// Data that come before this instant are looked at: up to the measured time, and of a finite transfer the first inside it.
    looked_at_until: Time,
    /// When data last arrived, or when the measured time began.
    last_delivery: Time,
    /// IP bytes of data segments that reached the receiver inside the measured time.
    pub(crate) received_bytes: u64,
    /// Time owed to the latest cause inside the measured time, in picoseconds.
    latest: (Cause, u64),
    /// User bytes of a finite transfer that has not ended yet; otherwise `u64::MAX`.
    pub(crate) awaited: u64,
    /// Round trips of the measured time, once that has begun at the sender.
    pub(crate) rtt: Quantiles,
    pub(crate) windows: Windows,
    /// Rows and marks, for a flow that is recorded.
    pub(crate) history: Option<Box<History>>,
    /// Time owed to each cause before the latest.
    earlier: Vec<(Cause, u64)>,
    pub(crate) completed: Option<Time>,
    /// `received_bytes` then.
    received_until_completed: u64,
    /// Counters of the sender and of the receiver when the measured time began.
    pub(crate) sender_baseline: Option<Counters>,
    pub(crate) receiver_baseline: Option<Counters>,
    /// User bytes that the receiver had in order then.
    pub(crate) in_order_before: u64,
    /// When data came last before the measured time; the flow's start, if none did.
    last_before: Time,
    /// What came first inside the measured time, of a finite transfer that had begun before.
    first: First,
}

/// What came first inside the measured time.
#[derive(Debug)]
enum First {
    /// Not asked for, or not come.
    None,
    /// It came then, and the receiver has it when it does the next thing.
    Came(Time),
    Known(FirstData),
}

/// The congestion window of a flow, measured as it runs.
#[derive(Debug)]
pub(crate) struct Windows {
    measured: Measured,
    /// From when on it is known: a transport of its own may tell none before its connection is there.
    known_from: Time,
    /// Congestion window times time over the measured time, in bytes times picoseconds, assuming that the current
    /// window holds to the end.
    area: i128,
    now: u64,
    pub(crate) max: u64,
}

impl Windows {
    /// The congestion window is `window` from `at` on.
    #[inline]
    pub(crate) fn window_is(&mut self, at: Time, window: u64) {
        if window == self.now {
            return;
        }
        // Assume the new window holds to the end: add the difference for the time that is left, 100 days at most.
        if self.now == 0 && self.area == 0 {
            self.known_from = at;
        }
        let mut begin = at;
        if at <= self.measured.from {
            (begin, self.max) = (self.measured.from, 0);
        }
        let left = self.measured.until.saturating_since(begin).picos().cast_signed();
        self.area += i128::from(window.cast_signed() - self.now.cast_signed()) * i128::from(left);
        if window > self.max {
            self.max = window;
        }
        self.now = window;
    }
}

impl Meter {
    pub(crate) fn new(
        plan: &Plan,
        app: &AppPlan,
        start: Time,
        cwnd: u64,
        history: Option<Box<History>>,
    ) -> Meter {
        let measured = tidegate_core::net::measured(plan);
        let crosses = matches!(app, AppPlan::Transfer { .. }) && start < measured.from;
        Meter {
            measured,
            looked_at_until: if crosses { Time::NEVER } else { measured.from },
            last_before: start,
            first: First::None,
            history,
            sender_baseline: None,
            receiver_baseline: None,
            in_order_before: 0,
            rtt: Quantiles::new(precision(plan)),
            windows: Windows {
                measured,
                known_from: start,
                area: i128::from(cwnd) * i128::from(measured.overlap(start, Time::NEVER)),
                now: cwnd,
                max: cwnd,
            },
            last_delivery: start.max(measured.from),
            latest: (Cause::sender(HeldBy::Application), 0),
            earlier: Vec::new(),
            received_bytes: 0,
            awaited: match app {
                AppPlan::Transfer { bytes } => *bytes,
                _ => u64::MAX,
            },
            completed: None,
            received_until_completed: 0,
        }
    }

    /// An ACK has shown a round trip.
    #[inline(always)]
    pub(crate) fn sample_rtt(&mut self, rtt: Span) {
        self.rtt.record(rtt);
        if let Some(history) = &mut self.history {
            history.round_trip = Some(rtt);
        }
    }

    /// The measured time begins at the sender, which has counted so much.
    pub(crate) fn begin_at_sender(&mut self, counted: Counters) {
        self.sender_baseline = Some(counted);
        self.rtt.clear();
    }

    /// Mean window in bytes over the part of the measured time in which it was known, if there is any.
    pub(crate) fn cwnd_mean(&self) -> Option<f64> {
        let span = self.measured.overlap(self.windows.known_from, Time::NEVER);
        (span > 0).then(|| self.windows.area as f64 / span as f64)
    }

    /// A data segment of `bytes` IP bytes arrived. The time since the one before is owed to `cause`, which determined
    /// when this one arrived.
    #[inline]
    pub(crate) fn received(&mut self, at: Time, bytes: u32, cause: Cause) {
        if at < self.looked_at_until {
            if at < self.measured.from {
                self.last_before = at;
                return self.owe(cause, 0);
            }
            (self.looked_at_until, self.first) = (Time::ZERO, First::Came(at));
        }
        self.received_bytes += u64::from(bytes);
        debug_assert!(at >= self.last_delivery, "data come in order of time");
        let span = at.picos().wrapping_sub(self.last_delivery.picos());
        self.last_delivery = at;
        self.owe(cause, span);
    }

    /// Whether the first data inside the measured time are to be noted when they have come.
    pub(crate) fn awaits_first_data(&self) -> bool {
        self.looked_at_until == Time::NEVER || matches!(self.first, First::Came(_))
    }

    /// Since the measured time began, so many user bytes have come for the first time, and so many in order.
    pub(crate) fn note_first_data(&mut self, delivered_bytes: u64, in_order_bytes: u64) {
        if let First::Came(at) = self.first {
            self.first = First::Known(FirstData {
                before: self.last_before,
                at,
                delivered_bytes,
                in_order_bytes,
                received_bytes: self.received_bytes,
            });
        }
    }

    /// What came first inside the measured time, of a finite transfer that had begun before.
    pub(crate) fn first_data(&self) -> Option<FirstData> {
        match self.first {
            First::Known(first) => Some(first),
            First::None | First::Came(_) => None,
        }
    }

    /// A finite transfer ends when its last byte has come in order.
    #[inline]
    pub(crate) fn note_in_order(&mut self, at: Time, bytes: u64) {
        if bytes >= self.awaited {
            self.complete(at);
        }
    }

    /// The finite transfer is done.
    pub(crate) fn complete(&mut self, at: Time) {
        self.awaited = u64::MAX;
        self.completed = Some(at);
        self.received_until_completed = self.received_bytes;
    }

    /// IP bytes of data segments that reached the receiver inside the measured time; of a finite transfer, until it
    /// was done.
    pub(crate) fn own_received_bytes(&self) -> u64 {
        self.completed.map_or(self.received_bytes, |_| self.received_until_completed)
    }

    #[inline]
    pub(crate) fn delivered(&mut self, at: Time, cause: Cause) {
        // `last_delivery` is never before the measured time.
        let span = at.saturating_since(self.last_delivery).picos();
        self.last_delivery = at.max(self.last_delivery);
        self.owe(cause, span);
    }

    /// Time is owed to a cause.
    #[inline(always)]
    fn owe(&mut self, cause: Cause, span: u64) {
        if self.latest.0 == cause {
            self.latest.1 += span;
        } else {
            self.owe_another(cause, span);
        }
    }

    /// Time is owed to another cause than before.
    #[inline(never)]
    fn owe_another(&mut self, cause: Cause, span: u64) {
        let known = self.earlier.iter().position(|(known, _)| *known == cause);
        let before = known.map_or(0, |place| self.earlier.swap_remove(place).1);
        self.earlier.push(std::mem::replace(&mut self.latest, (cause, before + span)));
    }

    /// Time owed to each cause inside the measured time, in picoseconds; the latest cause first.
    pub(crate) fn owed(&self) -> impl Iterator<Item = (Cause, u64)> {
        std::iter::once(self.latest).chain(self.earlier.iter().copied())
    }
}
