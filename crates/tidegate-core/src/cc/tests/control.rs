//! What [`ControllerNeeds`] says may be left out changes nothing.

use super::*;
use crate::plan::{CONTROLLERS, TcpRules};

const RTT: Span = Span::from_millis(40);

/// Every built-in controller, as the RFCs have it and as Linux does.
fn all() -> impl Iterator<Item = (CongestionPlan, TcpPlan)> {
    let plans = CONTROLLERS.iter().filter(|row| !row.is_live_only()).map(|row| {
        let cc = CongestionPlan::named(row.name).expect("it has a row");
        match cc {
            CongestionPlan::Fixed { .. } => CongestionPlan::Fixed { window: 20 * MSS },
            CongestionPlan::FixedRate { .. } => {
                CongestionPlan::FixedRate { rate: Rate::from_bps(1_000_000), window: 20 * MSS }
            }
            _ => cc,
        }
    });
    plans.flat_map(|cc| {
        [TcpRules::RFC, TcpRules::LINUX].map(|rules| (cc, TcpPlan { rules, sack: true, ..plan(cc) }))
    })
}

/// A controller that is told of eight round trips, in one of which segments are lost; `limited` is what ACKs say of the window, and
/// `measures`, whether round trips are told.
fn told(plan: &TcpPlan, limited: bool, measures: bool) -> (Controller, bool) {
    let mut controller = Controller::new(plan, None);
    controller.handle_established(Time::ZERO + RTT, Some(RTT));
    let mut paces = controller.pacing_rate().is_some();
    for number in 1..=80_u64 {
        let (at, rtt) =
            (Time::ZERO + Span::from_millis(40 + 4 * number), RTT + Span::from_micros(number % 7));
        let (una, max) = (number * MSS, (number + 10) * MSS);
        if measures {
            controller.handle_measured(&MeasuredTrip { at, rtt, smoothed_rtt: RTT, una, max, reduced: None });
        }
        let window_limited = true;
        controller.handle_acked(&Acked {
            at,
            rtt: Some(rtt),
            smoothed_rtt: RTT,
            window_limited,
            ..acked(at, rtt)
        });
        if number == 40 {
            controller.handle_lost(&lost(10 * MSS, 10 * MSS, LossKind::DupAck));
        }
        controller.handle_ack(&Ack {
            at,
            delivered: MSS,
            segments: 1,
            ecn_marked: 0,
            ecn_marked_bytes: None,
            lost: 0,
            total_lost: 0,
            in_flight_before: 11 * MSS,
            in_flight: 10 * MSS,
            rtt: Some(rtt),
            smoothed_rtt: RTT,
            una,
            max,
            repair: Repair::Nothing,
            window_limited: limited,
            round: number / 10,
            next_departure: at,
            rate: Some(RateSample {
                delivered: 10 * MSS,
                lost: 0,
                interval: RTT,
                prior_delivered: (number - 1) * MSS,
                total_delivered: number * MSS,
                sent_in_flight: 10 * MSS,
                app_limited: false,
                retransmitted: false,
            }),
        });
        paces |= controller.pacing_rate().is_some();
    }
    (controller, paces)
}

#[test]
fn what_is_left_out_changes_nothing() {
    for (cc, plan) in all() {
        let (usual, paces) = told(&plan, true, true);
        let state = format!("{usual:?}");
        assert!(usual.may_pace() || !paces, "{cc:?} names a rate");
        if !usual.reads_window_limited() {
            assert_eq!(format!("{:?}", told(&plan, false, true).0), state, "{cc:?} reads `window_limited`");
        }
        if !usual.hears_measured() {
            let mut hears = told(&plan, true, false).0;
            assert_eq!(format!("{hears:?}"), state, "{cc:?} hears of round trips");
            // Past the question whether it hears.
            let (at, rtt) = (Time::ZERO + Span::from_millis(4_000), Span::from_millis(20));
            let measured =
                MeasuredTrip { at, rtt, smoothed_rtt: rtt, una: 81 * MSS, max: 91 * MSS, reduced: None };
            CongestionControl::handle_measured(&mut *hears, &measured);
            assert_eq!(format!("{hears:?}"), state, "{cc:?} hears of round trips");
        }
        assert_eq!(usual.in_slow_start(), usual.snapshot().slow_start, "{cc:?}");
    }
}

/// A plan says before there is a controller whether ACKs must be accounted for.
#[test]
fn the_plan_says_what_the_controller_says() {
    for (cc, plan) in all() {
        let (controller, paces) = told(&plan, true, true);
        assert_eq!(cc.hears_acks(), controller.hears_acks() || paces, "{cc:?}");
    }
}
