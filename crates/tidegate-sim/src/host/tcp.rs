//! Our own TCP as a host: a flow of it has the numbers of a flow without hosts.

use tidegate_core::app::Application;
use tidegate_core::net::{seed, start_time};
use tidegate_core::plan::{AppPlan, Plan};
use tidegate_core::tcp::{Endpoint, Segment};
use tidegate_core::unit::Ecn;
use tidegate_core::units::{Span, Time};

use super::{Ends, Host, Outgoing, Packet, Report};
use crate::connection::Maker;

/// An end of a flow of our own TCP, with its application, as a host: for comparing, and as an example. It has none of
/// the simulator's fast paths, so it takes about twenty times as many instructions as a flow without hosts.
#[derive(Debug)]
pub struct Tcp {
    end: Endpoint,
    /// At the sender's end only.
    app: Option<Application>,
    headers: u32,
    name: String,
}

impl Tcp {
    /// The ends of a flow of the plan, by number; `None` for one with requests.
    #[must_use]
    pub fn ends(plan: &Plan, flow: usize) -> Option<Ends> {
        let row = &plan.flows[flow];
        if matches!(row.app, AppPlan::Request(_)) {
            return None;
        }
        let seed = seed(plan);
        let start = start_time(seed, &format!("flow.{}/start", row.name), row.start);
        let app = Application::new(&row.app, start, seed.stream(&format!("flow.{}/app", row.name)));
        let (sender, receiver) = Maker { flow: row.clone(), seed, exact: plan.exact }.endpoints(0);
        let host = |end, writes: Option<Application>| -> Box<dyn Host> {
            Box::new(Tcp { end, app: writes, headers: row.tcp.headers, name: row.tcp.label() })
        };
        Some([host(sender, Some(app)), host(receiver, None)])
    }

    /// Writes what its application has by now.
    fn write(&mut self, now: Time) {
        let bytes = self.app.as_mut().map_or(0, |app| app.handle_wakeup(now));
        if bytes > 0 {
            self.end.write(now, bytes);
        }
    }
}

impl Host for Tcp {
    fn open(&mut self, now: Time) {
        self.end.open(now);
        self.write(now);
    }

    fn handle_packet(&mut self, now: Time, ecn: Ecn, packet: Packet) {
        if let Packet::Segment(mut segment) = packet {
            segment.ecn = ecn;
            self.end.handle_segment(now, &segment);
        }
    }

    fn handle_wakeup(&mut self, now: Time) {
        if self.end.next_wakeup() <= now {
            self.end.handle_wakeup(now);
        }
        self.write(now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        let sent = self.end.poll(now)?;
        let mut segment = Box::new(Segment::default());
        self.end.write_segment(now, sent, &mut segment);
        Some(Outgoing {
            ip_bytes: self.headers + segment.len + segment.extra_option_bytes(),
            ecn: segment.ecn,
            held_by: sent.held_by(),
            data: segment.len > 0,
            at: now,
            packet: Packet::Segment(segment),
        })
    }

    fn next_wakeup(&mut self) -> Time {
        self.end.next_wakeup().min(self.app.as_ref().map_or(Time::NEVER, Application::next_wakeup))
    }

    fn report(&self) -> Report {
        let (counters, shown) = (self.end.counters(), self.end.shown());
        Report {
            delivered_bytes: counters.delivered_bytes,
            in_order_bytes: self.end.in_order_bytes(),
            duplicates: counters.duplicates_received + counters.outside_window,
            window: Some(shown.cwnd),
            ssthresh: shown.ssthresh,
            in_flight: Some(shown.in_flight),
            srtt: shown.srtt,
            rto: Some(shown.rto),
            phase: Some(shown.phase),
            held_by: shown.held_by,
            retransmitted: counters.segments_retransmitted,
            timeouts: counters.timeouts,
            recoveries: counters.fast_retransmits,
            ecn_reductions: self.end.uses_ecn().then_some(counters.ecn_reductions),
        }
    }

    fn take_rtt_sample(&mut self) -> Option<Span> {
        self.end.take_rtt_sample()
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}
