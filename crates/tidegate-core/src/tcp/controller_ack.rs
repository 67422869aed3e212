//! What the controller is told of an ACK by a sender that accounts for each, after what it proved lost is known.

use super::accounts::Accounts;
use super::ack::Known;
use super::prr::Progress;
use super::rack::Found;
use super::sender::{Mode, Sender};
use crate::cc::{Ack, Acked, Repair};
use crate::units::{Span, Time};

/// What an ACK says.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckFacts {
    /// When.
    pub(super) at: Time,
    /// Bytes by which the cumulative acknowledgement moved.
    pub(super) acked: u64,
    /// Segments newly reported as arrived, superfluous copies included.
    pub(super) segments: u64,
    /// Bytes newly reported as arrived.
    pub(super) delivered: u64,
    /// Bytes of superfluous copies that count as delivered too.
    pub(super) copied: u64,
    /// The round trip of the newest of them.
    pub(super) rtt: Option<Span>,
    /// Bytes in flight before it.
    pub(super) in_flight: u64,
    /// Bytes ever taken to be lost before it.
    pub(super) lost_before: u64,
}

impl Sender {
    /// Whether the congestion window stopped the sender in the flight of an ACK of so many bytes.
    #[inline]
    pub(super) fn is_window_limited(&self, accounts: &Accounts, bytes: u64) -> bool {
        if accounts.linux_windows {
            let controller = &self.controller;
            let allows = |most| controller.in_slow_start() && self.segments(controller.window()) < most;
            accounts.usage.is_limited(allows)
        } else {
            self.una - bytes < self.limited_end
        }
    }

    /// Tells the controller all that is known after an ACK.
    #[inline(never)]
    pub(super) fn tell_controller(&mut self, accounts: &mut Accounts, facts: &AckFacts) {
        let lost = self.board.lost_total;
        let window_limited =
            self.controller.reads_window_limited() && self.is_window_limited(accounts, facts.acked);
        let least_rtt = accounts.rack.least_rtt();
        let Some(sampler) = &mut accounts.sampler else { return };
        let rate = sampler.sample(facts.at, lost, least_rtt);
        let in_flight = self.pipe();
        self.controller.handle_ack(&Ack {
            at: facts.at,
            delivered: facts.delivered + facts.copied,
            ecn_marked: self.marks.as_ref().map_or(0, |marks| marks.marked),
            ecn_marked_bytes: self.marks.as_ref().and_then(|marks| marks.marked_bytes),
            segments: u32::try_from(facts.segments).unwrap_or(u32::MAX),
            lost: lost - facts.lost_before,
            total_lost: lost,
            in_flight_before: facts.in_flight,
            in_flight,
            rtt: facts.rtt,
            smoothed_rtt: self.estimator.smoothed(),
            una: self.una,
            max: self.max,
            repair: match self.mode {
                Mode::Open => Repair::Nothing,
                Mode::Fast | Mode::Sack => Repair::Recovery,
                Mode::Loss => Repair::TimeOut,
            },
            window_limited,
            round: sampler.round(),
            next_departure: accounts.pacer.next(),
            rate,
        });
        if self.controller.understates() {
            sampler.handle_app_limited(in_flight);
        }
    }

    /// `tcp_cong_control`: the window after the ACK.
    #[inline(always)]
    pub(super) fn answer<K: Known>(&mut self, accounts: &mut Accounts, facts: &AckFacts, found: Found) {
        if !K::SELF_CLOCKED && accounts.governed {
            return;
        }
        let AckFacts { at, acked: bytes, segments, rtt, in_flight, .. } = *facts;
        if !K::IN_ORDER && (self.mode == Mode::Sack || (accounts.yields && accounts.proportional)) {
            accounts.prr.handle_ack(Progress {
                delivered: segments,
                safe: bytes > 0 && found.lost == 0,
                in_flight: self.segments_in_flight(),
            });
        } else if K::IN_ORDER || (segments > 0 && may_widen(accounts, facts)) {
            accounts.usage.handle_window_set(at);
            self.controller.handle_acked(&Acked {
                at,
                bytes,
                segments: u32::try_from(segments).unwrap_or(u32::MAX),
                in_flight,
                rtt,
                smoothed_rtt: self.estimator.smoothed(),
                window_limited: self.is_window_limited(accounts, bytes),
            });
        }
    }
}

/// Whether the window may grow for what an ACK reports: for what it acknowledges, and where much comes late for what it SACKs too
/// (`tcp_may_raise_cwnd`).
fn may_widen(accounts: &Accounts, facts: &AckFacts) -> bool {
    facts.acked > 0 || (accounts.linux_windows && accounts.rack.is_reordered() && facts.delivered > 0)
}
