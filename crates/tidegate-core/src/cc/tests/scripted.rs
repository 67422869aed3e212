//! A controller whose ACKs are made up: segments of 1000 bytes over 40 ms.

use super::{MSS, plan};
use crate::cc::{Ack, CongestionControl, RateSample, Repair};
use crate::plan::{CongestionPlan, TcpPlan};
use crate::random::Stream;
use crate::units::{Span, Time};

pub(in crate::cc) const RTT: Span = Span::from_millis(40);

/// One flow's controller, of which each ACK reports all that was sent in the round trip before.
pub(in crate::cc) struct Scripted<C> {
    pub(in crate::cc) bbr: C,
    pub(in crate::cc) now: Time,
    pub(in crate::cc) delivered: u64,
    pub(in crate::cc) lost: u64,
}

impl<C: CongestionControl> Scripted<C> {
    /// One whose connection has been made.
    pub(in crate::cc) fn new(
        cc: CongestionPlan,
        make: fn(&TcpPlan, Option<Stream>) -> C,
        rng: Option<Stream>,
    ) -> Scripted<C> {
        let mut bbr = make(&plan(cc), rng);
        let now = Time::ZERO + RTT;
        bbr.handle_established(now, Some(RTT));
        Scripted { bbr, now, delivered: 0, lost: 0 }
    }

    /// `segments` arrived in `interval` and are reported at its end, and `lost` are lost; `left` are in flight then.
    pub(in crate::cc) fn ack(&mut self, segments: u64, interval: Span, left: u64, lost: u64, repair: Repair) {
        self.now += interval;
        let prior = self.delivered;
        self.delivered += segments * MSS;
        self.lost += lost * MSS;
        self.bbr.handle_ack(&Ack {
            at: self.now,
            delivered: segments * MSS,
            segments: segments as u32,
            ecn_marked: 0,
            ecn_marked_bytes: None,
            lost: lost * MSS,
            total_lost: self.lost,
            in_flight_before: (segments + left + lost) * MSS,
            in_flight: left * MSS,
            rtt: Some(interval.max(RTT)),
            smoothed_rtt: RTT,
            una: self.delivered,
            max: self.delivered + left * MSS,
            repair,
            window_limited: true,
            round: 0,
            next_departure: Time::ZERO,
            rate: Some(RateSample {
                delivered: segments * MSS,
                lost: lost * MSS,
                interval,
                prior_delivered: prior,
                total_delivered: self.delivered,
                sent_in_flight: (segments + lost) * MSS,
                app_limited: false,
                retransmitted: false,
            }),
        });
    }

    /// A round trip of so many segments, with as many in flight after it.
    pub(in crate::cc) fn round(&mut self, segments: u64) {
        self.ack(segments, RTT, segments, 0, Repair::Nothing);
    }
}
