//! How long Linux puts an ACK off, which follows how often data come (`icsk_ack.ato` in `tcp_event_data_recv`, `tcp_send_delayed_ack` and
//! `tcp_delack_timer_handler` of Linux 6.18). RFC 1122 §4.2.3.2 wants less than half a second.

use super::timers::nearest_ticks;
use crate::plan::DelayedAckPlan;
use crate::units::{KERNEL_TICK, Span};

/// The least delay, in ticks.
const LEAST: u64 = DelayedAckPlan::LINUX_LEAST.picos() / KERNEL_TICK.picos();
/// The longest: a tick less than the shortest time-out of the sender (`tcp_delack_max`).
const MOST: u64 = 49;

/// The delay before the round trip bounds it, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AckTimeout(u64);

impl AckTimeout {
    pub(super) const LEAST: AckTimeout = AckTimeout(LEAST);
    /// A gap below this, between data, leaves the least delay as it is: half of it, to the nearest tick.
    pub(super) const SHORT_GAP: Span =
        Span::from_picos(KERNEL_TICK.picos() * LEAST / 2 + KERNEL_TICK.picos() / 2);

    pub(super) fn span(self) -> Span {
        KERNEL_TICK.saturating_mul(self.0)
    }

    /// Data came `gap` after the last ones, to an end whose time-out is `rto` (`tcp_event_data_recv`).
    pub(super) fn handle_gap(&mut self, gap: Span, rto: Span) {
        let gap = nearest_ticks(gap);
        if gap <= LEAST / 2 {
            self.0 = self.0 / 2 + LEAST / 2;
        } else if gap < self.0 {
            self.0 = (self.0 / 2 + gap).min(nearest_ticks(rto));
        }
    }

    /// No data came, and none left, before the ACK had to (`tcp_delack_timer_handler`).
    pub(super) fn handle_expiry(&mut self, interactive: bool, rto: Span) {
        self.0 = if interactive { LEAST } else { (2 * self.0).min(nearest_ticks(rto)) };
    }

    /// How much longer than the least an ACK is put off where a round trip takes `rtt`: no longer than that (`tcp_send_delayed_ack`).
    pub(super) fn beyond_least(self, rtt: Span) -> Span {
        let trip = rtt.picos().div_ceil(KERNEL_TICK.picos());
        KERNEL_TICK.saturating_mul(self.0.min(trip).min(MOST).saturating_sub(LEAST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTO: Span = Span::from_millis(300);

    fn after(gaps_ms: &[u64]) -> u64 {
        let mut timeout = AckTimeout::LEAST;
        for gap in gaps_ms {
            timeout.handle_gap(Span::from_millis(*gap), RTO);
        }
        timeout.span().picos() / 1_000_000_000
    }

    #[test]
    fn it_follows_gaps_between_half_of_it_and_all() {
        assert_eq!(after(&[20, 0, 12]), 40);
        // 5 + 7, 6 + 7, 6 + 7 ticks.
        assert_eq!(after(&[28]), 48);
        assert_eq!(after(&[28, 28]), 52);
        assert_eq!(after(&[28, 28, 28]), 52);
        // A gap as long as the delay leaves it, and short ones shorten it.
        assert_eq!(after(&[40, 60, 200]), 40);
        assert_eq!(after(&[36, 36, 36, 36, 1]), 52);
        assert_eq!(after(&[36, 36, 36, 36, 1, 1, 1, 1]), 40);
    }

    #[test]
    fn an_ack_that_had_to_leave_alone_doubles_it_up_to_the_time_out() {
        let mut timeout = AckTimeout::LEAST;
        timeout.handle_expiry(false, RTO);
        assert_eq!(timeout.span(), Span::from_millis(80));
        // Then a gap between data may be longer.
        timeout.handle_gap(Span::from_millis(48), RTO);
        assert_eq!(timeout.span(), Span::from_millis(88));
        for _ in 0..3 {
            timeout.handle_expiry(false, RTO);
        }
        assert_eq!(timeout.span(), RTO);
        timeout.handle_expiry(true, RTO);
        assert_eq!(timeout, AckTimeout::LEAST);
    }

    #[test]
    fn no_ack_waits_longer_than_a_round_trip_or_the_longest_delay() {
        let mut timeout = AckTimeout::LEAST;
        assert_eq!(timeout.beyond_least(Span::from_millis(500)), Span::ZERO);
        timeout.handle_expiry(false, RTO);
        for (rtt_ms, beyond_ms) in [(10, 0), (40, 0), (41, 4), (60, 20), (80, 40), (500, 40)] {
            assert_eq!(timeout.beyond_least(Span::from_millis(rtt_ms)), Span::from_millis(beyond_ms));
        }
        timeout.handle_expiry(false, RTO);
        timeout.handle_expiry(false, RTO);
        assert_eq!(timeout.beyond_least(Span::from_millis(500)), Span::from_millis(156));
    }
}
