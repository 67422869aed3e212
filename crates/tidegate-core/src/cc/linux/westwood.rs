//! Westwood+ as `tcp_westwood.c` of Linux 6.18: Reno whose window after a loss is what the path carried, the rate of
//! acknowledgements times the least round trip (Mascolo et al., "TCP Westwood", MobiCom 2001).

use super::Window;
use crate::cc::control::{ControllerNeeds, by_window};
use crate::cc::{Ack, Acked, CongestionControl, LossKind, Lost, MeasuredTrip, Repair};
use crate::plan::TcpPlan;
use crate::units::{KERNEL_HZ, KERNEL_TICK, Time};

/// `TCP_WESTWOOD_RTT_MIN`: HZ/20 ticks, the shortest time over which a rate is taken.
const SHORTEST: u64 = KERNEL_HZ / 20;
/// `TCP_WESTWOOD_INIT_RTT`: 20 s.
const FIRST_RTT: u64 = 20 * KERNEL_HZ;

/// Westwood+ in whole segments. Rates are in bytes a tick, times in ticks.
#[derive(Debug)]
pub struct Westwood {
    window: Window,
    /// The rate filtered once and twice (`bw_ns_est`, `bw_est`).
    once: u64,
    twice: u64,
    /// When the measurement under way began, and the bytes it counts (`rtt_win_sx`, `bk`).
    since: u64,
    bytes: u64,
    /// SND.UNA at the last ACK.
    una: u64,
    /// Bytes that duplicate ACKs have counted before the acknowledgement reached them (`accounted`).
    ahead: u64,
    rtt: u64,
    least_rtt: u64,
    /// The next round trip is the least.
    forget_least: bool,
    repairing: bool,
}

impl Westwood {
    /// A connection's controller at its start.
    #[must_use]
    pub fn new(plan: &TcpPlan) -> Westwood {
        Westwood {
            window: Window::new(plan),
            once: 0,
            twice: 0,
            since: 0,
            bytes: 0,
            una: 0,
            ahead: 0,
            rtt: FIRST_RTT,
            least_rtt: FIRST_RTT,
            forget_least: true,
            repairing: false,
        }
    }

    /// `westwood_bw_rttmin`: the window that the path carries.
    fn carried(&self) -> u64 {
        (self.twice * self.least_rtt / self.window.mss).max(2)
    }

    /// `westwood_update_window`: a rate every round trip, and no oftener than every 50 ms.
    fn measure(&mut self, at: Time) {
        let now = at.picos() / KERNEL_TICK.picos();
        let took = now.saturating_sub(self.since);
        if took <= self.rtt.max(SHORTEST) {
            return;
        }
        let rate = self.bytes / took;
        if self.once == 0 && self.twice == 0 {
            (self.once, self.twice) = (rate, rate);
        } else {
            // `westwood_do_filter`.
            self.once = (7 * self.once + rate) / 8;
            self.twice = (7 * self.twice + self.once) / 8;
        }
        self.bytes = 0;
        self.since = now;
    }

    /// `westwood_acked_count`: what an ACK stands for. A duplicate one stands for a segment, which the acknowledgement that
    /// reaches it does not count again.
    fn count(&mut self, una: u64) -> u64 {
        let mss = self.window.mss;
        let moved = una - self.una;
        self.una = una;
        if moved == 0 {
            self.ahead += mss;
            return mss;
        }
        if moved <= mss {
            return moved;
        }
        if self.ahead >= moved {
            self.ahead -= moved;
            return mss;
        }
        moved - std::mem::take(&mut self.ahead)
    }
}

impl CongestionControl for Westwood {
    /// `tcp_westwood_pkts_acked`.
    fn handle_measured(&mut self, measured: &MeasuredTrip) {
        self.rtt = measured.rtt.picos().div_ceil(KERNEL_TICK.picos()).max(1);
    }

    /// `tcp_westwood_ack`, and `CA_EVENT_COMPLETE_CWR` at the end of a recovery.
    fn handle_ack(&mut self, ack: &Ack) {
        self.measure(ack.at);
        self.bytes += self.count(ack.una);
        // `update_rtt_min`.
        let forget = std::mem::take(&mut self.forget_least);
        self.least_rtt = if forget { self.rtt } else { self.rtt.min(self.least_rtt) };
        let repairing = ack.repair == Repair::Recovery;
        if std::mem::replace(&mut self.repairing, repairing) && ack.repair == Repair::Nothing {
            self.window.reduce(self.carried());
        }
    }

    fn hears_acks(&self) -> bool {
        true
    }

    /// `tcp_reno_cong_avoid`.
    fn handle_acked(&mut self, acked: &Acked) {
        self.window.reno(acked);
    }

    /// `tcp_reno_ssthresh`, and `CA_EVENT_LOSS` at a time-out.
    fn handle_lost(&mut self, lost: &Lost) {
        match lost.kind {
            LossKind::DupAck => self.window.reduce(self.window.segments / 2),
            // DEVIATION: the kernel reduces to a half in proportion to what arrives, and then sets what the path carries.
            LossKind::Ecn => self.window.reduce(self.carried()),
            LossKind::Timeout { again } => {
                if !again {
                    self.window.reduce(self.carried());
                    self.forget_least = true;
                }
                self.window.collapse(lost.remaining);
            }
        }
    }

    by_window!(window);
}

impl ControllerNeeds for Westwood {
    const READS_WINDOW_LIMITED: bool = false;
    const MAY_PACE: bool = false;
}
