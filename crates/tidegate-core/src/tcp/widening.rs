//! RFC 8985 §6.2 step 4: how duplicates widen the window for reordering (`tcp_rack_update_reo_wnd` of Linux 6.18).

use crate::units::Time;

/// Recoveries for which a wider reordering window holds (RFC 8985 §6.2 step 4, `TCP_RACK_RECOVERY_THRESH`).
const PERSISTENCE: u8 = 16;

/// RFC 8985 §6.2 step 4: how duplicates widen the window for reordering (`tcp_rack_update_reo_wnd`).
#[derive(Debug, Default)]
pub(super) struct Widening {
    /// Quarters of the least round trip beside the first (`reo_wnd_steps` - 1).
    steps: u8,
    /// Recoveries until it is forgotten (`reo_wnd_persist`).
    persists: u8,
    /// A duplicate was reported that reordering may have caused (`dsack_seen`).
    seen: bool,
    /// When it widened last.
    at: Time,
}

impl Widening {
    /// Quarters of the least round trip.
    pub(super) fn quarters(&self) -> u64 {
        u64::from(self.steps) + 1
    }

    /// Once a round trip: an ACK newly reports what was sent at `newest` last.
    #[inline]
    pub(super) fn handle_ack(&mut self, now: Time, newest: Time) {
        // Most often nothing has widened, and nothing does.
        if self.seen || self.steps > 0 {
            self.update(now, newest);
        }
    }

    fn update(&mut self, now: Time, newest: Time) {
        if newest < self.at {
            self.seen = false;
        }
        if std::mem::take(&mut self.seen) {
            self.steps = self.steps.saturating_add(1).min(u8::MAX - 1);
            self.at = now;
            self.persists = PERSISTENCE;
        } else if self.persists == 0 {
            self.steps = 0;
        }
    }

    /// A duplicate was reported that reordering may have caused.
    pub(super) fn handle_duplicate(&mut self) {
        self.seen = true;
    }

    /// A recovery ended that was not needless.
    pub(super) fn handle_recovered(&mut self) {
        self.persists = self.persists.saturating_sub(1);
    }

    /// A recovery was needless.
    pub(super) fn handle_superfluous(&mut self) {
        self.persists = (self.persists + 1).min(PERSISTENCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    /// A step for each round trip with duplicates, kept for 16 recoveries.
    #[test]
    fn duplicates_widen_the_window_for_reordering_once_a_round_trip() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut widening = Widening::default();
        widening.handle_ack(at(40), at(0));
        assert_eq!(widening.quarters(), 1);
        widening.handle_duplicate();
        widening.handle_ack(at(60), at(20));
        assert_eq!(widening.quarters(), 2);
        widening.handle_duplicate();
        widening.handle_ack(at(61), at(21));
        assert_eq!(widening.quarters(), 2, "the segment was sent before the last step");
        for _ in 0..PERSISTENCE {
            assert_eq!(widening.quarters(), 2);
            widening.handle_recovered();
        }
        widening.handle_ack(at(200), at(160));
        assert_eq!(widening.quarters(), 1);
    }
}
