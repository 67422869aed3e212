//! A caller that takes captured packets while a run goes on gets those of the whole.

use tidegate_core::plan::{AppPlan, CongestionPlan};
use tidegate_core::units::{Span, Time};
use tidegate_sim::{PacketRecord, Plan, Watch, run, run_watched};

use crate::small::*;

#[derive(Default)]
struct Taking {
    begun: usize,
    taken: Vec<PacketRecord>,
    most_at_once: usize,
}

impl Watch for Taking {
    fn go_on(&mut self, _: Time) -> bool {
        true
    }

    fn begin(&mut self) {
        self.begun += 1;
        self.taken.clear();
    }

    fn packets(&mut self, seen: &mut Vec<PacketRecord>) {
        self.most_at_once = self.most_at_once.max(seen.len());
        self.taken.append(seen);
    }
}

/// A lossy link of 8 Mbit/s: about a thousand packets a second and their ACKs, each seen at both ends.
fn plan(seconds: u64) -> Plan {
    let mut plan = one_link(Some(20), AppPlan::Bulk, tcp(CongestionPlan::Cubic));
    plan.duration = Time::ZERO + Span::from_secs(seconds);
    plan.record.packets = true;
    plan
}

fn watched(plan: &Plan) -> Taking {
    let mut taking = Taking::default();
    let left = run_watched(plan, 1, &mut |_| None, &mut taking).expect("nobody interrupts").packets;
    assert_eq!(left, [], "what was taken is not in the result");
    taking
}

#[test]
fn packets_come_in_parts_and_are_those_of_the_whole() {
    let plan = plan(300);
    let taking = watched(&plan);
    assert!(taking.most_at_once < taking.taken.len() / 2, "{} at once", taking.most_at_once);
    assert!(taking.taken.is_sorted_by_key(|packet| packet.at));
    assert_eq!(taking.taken, run(&plan, &mut |_| true).expect("nobody interrupts").packets);
}

#[test]
fn a_run_that_reaches_its_limit_begins_again() {
    let mut plan = plan(10);
    plan.limits.events = Some(5_000);
    let taking = watched(&plan);
    assert_eq!(taking.begun, 2);
    assert_eq!(taking.taken, run(&plan, &mut |_| true).expect("nobody interrupts").packets);
}
