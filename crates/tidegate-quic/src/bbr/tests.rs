//! The copy beside the original: both are told the same by a connection that runs over a link, and answer the same.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{self, BbrConfig, Controller, ControllerFactory, ControllerMetrics};
use tidegate_core::net::seed;
use tidegate_core::plan::{Plan, TransportPlan};
use tidegate_scenario::Scenario;
use tidegate_sim::run_hosted;

use super::{Bbr, Draw};
use crate::clock::Clock;
use crate::control::Control;
use crate::end::ends_controlled;

/// The phase that the original has drawn: told before the copy draws.
#[derive(Clone, Debug, Default)]
struct Same(Arc<AtomicU8>);

impl Draw for Same {
    fn draw(&mut self) -> u8 {
        self.0.load(Relaxed)
    }

    fn duplicate(&self) -> Box<dyn Draw> {
        Box::new(self.clone())
    }
}

/// Both, told the same.
struct Both {
    original: congestion::Bbr,
    copy: Bbr,
    phase: Same,
    calls: Arc<AtomicU64>,
}

impl Both {
    fn compare(&self) {
        self.calls.fetch_add(1, Relaxed);
        let told = |controller: &dyn Controller| {
            let ControllerMetrics { congestion_window, ssthresh, pacing_rate, .. } = controller.metrics();
            (controller.window(), congestion_window, ssthresh, pacing_rate)
        };
        assert_eq!(told(&self.copy), told(&self.original));
    }

    /// What the original's cycle stands at, as its debug text says; the draw leaves out 1.
    fn note_phase(&self) {
        let text = format!("{:?}", self.original);
        let offset = text.split("current_cycle_offset: ").nth(1).and_then(|rest| rest.split(',').next());
        let offset: u8 = offset.and_then(|digits| digits.parse().ok()).expect("the text has the offset");
        self.phase.0.store(if offset > 1 { offset - 1 } else { offset }, Relaxed);
    }
}

#[rustfmt::skip]
impl Controller for Both {
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.original.on_sent(now, bytes, last);
        self.copy.on_sent(now, bytes, last);
        self.compare();
    }
    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.original.on_ack(now, sent, bytes, app_limited, rtt);
        self.copy.on_ack(now, sent, bytes, app_limited, rtt);
        self.compare();
    }
    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.original.on_end_acks(now, in_flight, app_limited, largest);
        self.note_phase();
        self.copy.on_end_acks(now, in_flight, app_limited, largest);
        self.compare();
    }
    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost: u64) {
        self.original.on_congestion_event(now, sent, persistent, lost);
        self.copy.on_congestion_event(now, sent, persistent, lost);
        self.compare();
    }
    fn on_mtu_update(&mut self, mtu: u16) {
        self.original.on_mtu_update(mtu);
        self.copy.on_mtu_update(mtu);
        self.compare();
    }
    fn window(&self) -> u64 { self.original.window() }
    fn clone_box(&self) -> Box<dyn Controller> { unreachable!("there is one path") }
    fn initial_window(&self) -> u64 { self.original.initial_window() }
    fn into_any(self: Box<Self>) -> Box<dyn Any> { self }
}

struct Factory(Arc<AtomicU64>);

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, _now: Instant, mtu: u16) -> Box<dyn Controller> {
        let phase = Same::default();
        let both = Both {
            original: congestion::Bbr::new(Arc::new(BbrConfig::default()), mtu),
            copy: Bbr::new(mtu, Box::new(phase.clone())),
            phase,
            calls: Arc::clone(&self.0),
        };
        assert_eq!(both.copy.initial_window(), both.original.initial_window());
        Box::new(both)
    }
}

fn planned(gate: &str, app: &str) -> Plan {
    let text = format!(
        "duration = \"40 s\"\ngate.link = {{ {gate} }}\n\
         flow.x = {{ transport = \"quic\", path = [\"link\"], rtt = \"40 ms\", app = {app} }}\n"
    );
    Scenario::from_toml(&text, "link.toml", None, &[]).expect("the scenario is good").plan(Some(3), 0)
}

#[test]
fn the_copy_answers_as_the_original() {
    for (gate, app) in [
        (r#"rate = "20 Mbit/s", queue = "100 packets""#, "\"bulk\""),
        (r#"rate = "20 Mbit/s", queue = "20 packets", loss = "2%""#, "\"bulk\""),
        (r#"rate = "1 Gbit/s", police = { rate = "10 Mbit/s", burst = "50 kB" }"#, "\"bulk\""),
        (
            r#"rate = "20 Mbit/s", queue = "100 packets""#,
            "{ on_off = { rate = \"8 Mbit/s\", on = \"1 s\", off = \"1 s\" } }",
        ),
        (
            r#"rate.steps = [["0 s", "20 Mbit/s"], ["12 s", "5 Mbit/s"], ["25 s", "40 Mbit/s"]], queue = "200 packets""#,
            "\"bulk\"",
        ),
    ] {
        let plan = planned(gate, app);
        let calls = Arc::new(AtomicU64::new(0));
        let mut make = |number: usize| {
            let flow = &plan.flows[number];
            let TransportPlan::Quic(quic) = &flow.transport else { return None };
            let stream = |what: &str| seed(&plan).stream(what);
            let control = |_: &str, _| Arc::new(Factory(Arc::clone(&calls))) as Control;
            Some(ends_controlled(flow, quic, &stream, None, Clock::new(), &control))
        };
        let result = run_hosted(&plan, &mut make, &mut |_| true).expect("it behaves");
        assert!(result.summary.flows[0].goodput_bps > Some(1e6), "{gate}: {:?}", result.summary.flows[0]);
        assert!(calls.load(Relaxed) > 10_000, "{gate}: {calls:?}");
    }
}
