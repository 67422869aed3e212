//! Proportional rate reduction (RFC 9937): how much leaves during a recovery, as Linux counts it in
//! `tcp_cwnd_reduction`.

/// One recovery; everything in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    /// Window before the loss (RFC 9937 §6: RecoverFS; Linux takes the window, not the flight).
    before: u64,
    /// Where the window is to be at the end.
    ssthresh: u64,
    /// Reported as arrived since the recovery began.
    delivered: u64,
    /// Sent since.
    out: u64,
    /// What may be in flight now.
    window: u64,
}

/// What an ACK says, in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Newly reported as arrived.
    pub(super) delivered: u64,
    /// The cumulative acknowledgement moved, and nothing was newly found lost (RFC 9937's SafeACK).
    pub(super) safe: bool,
    /// In flight after it.
    pub(super) in_flight: u64,
}

impl Prr {
    /// A recovery begins at a window of `before`, and is to end at one of `ssthresh`.
    pub(super) fn begin(&mut self, before: u64, ssthresh: u64) {
        // Until an ACK is counted the window is what it was (`tcp_init_cwnd_reduction`).
        *self = Prr { before: before.max(1), ssthresh, delivered: 0, out: 0, window: before };
    }

    /// An ACK arrived.
    pub(super) fn handle_ack(&mut self, ack: Progress) {
        if ack.delivered == 0 {
            return;
        }
        self.delivered += ack.delivered;
        let may = if ack.in_flight > self.ssthresh {
            // RFC 9937 §6: in proportion to what arrives.
            (self.ssthresh * self.delivered).div_ceil(self.before).saturating_sub(self.out)
        } else {
            // Slow start up to the threshold while ACKs are safe, else conservation of packets.
            let conserved = self.delivered.saturating_sub(self.out).max(ack.delivered);
            (conserved + u64::from(ack.safe)).min(self.ssthresh - ack.in_flight)
        };
        // The first retransmission goes in any case.
        self.window = ack.in_flight + may.max(u64::from(self.out == 0));
    }

    /// A segment left.
    pub(super) fn handle_sent(&mut self) {
        self.out += 1;
    }

    /// The window is to be no larger than so much at the end.
    pub(super) fn lower_threshold(&mut self, ssthresh: u64) {
        self.ssthresh = self.ssthresh.min(ssthresh);
    }

    /// Nothing was in flight for long: no more may be than so much.
    pub(super) fn handle_restart(&mut self, window: u64) {
        self.window = self.window.min(window);
    }

    /// What may be in flight.
    pub(super) fn window(&self) -> u64 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 20 segments the first is lost, and Reno halves (the case of RFC 9937 §7). Every second ACK lets one leave, until the
    /// flight is at the threshold.
    #[test]
    fn half_of_what_arrives_leaves() {
        let mut prr = Prr::default();
        prr.begin(20, 10);
        let (mut pipe, mut sent) = (19, Vec::new());
        for ack in 1..=19 {
            pipe -= 1;
            prr.handle_ack(Progress { delivered: 1, safe: false, in_flight: pipe });
            while pipe < prr.window() {
                pipe += 1;
                prr.handle_sent();
                sent.push(ack);
            }
        }
        assert_eq!(sent, [1, 3, 5, 7, 9, 11, 13, 15, 18, 19]);
        assert_eq!(pipe, 10);
    }

    /// 15 of 20 are lost: as much leaves as arrives, one more for each safe ACK.
    #[test]
    fn losses_of_most_of_a_window_are_repaired_by_conservation() {
        let mut prr = Prr::default();
        prr.begin(20, 10);
        prr.handle_ack(Progress { delivered: 1, safe: false, in_flight: 4 });
        assert_eq!(prr.window(), 5);
        prr.handle_sent();
        prr.handle_ack(Progress { delivered: 1, safe: true, in_flight: 4 });
        assert_eq!(prr.window(), 6);
    }
}
