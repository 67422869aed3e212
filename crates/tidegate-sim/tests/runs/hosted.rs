//! Flows of hosts: our own TCP as a host has the numbers of a flow, and hosts that misbehave are named.

use proptest::prelude::*;
use tidegate_core::gcra::{Interval, Limit};
use tidegate_core::plan::{
    AppPlan, CongestionPlan, ConnectionPlan, OnChange, Plan, PolicePlan, RecordLevel, RecordPlan,
    RequestLoop, RequestPlan, SizePlan, SourcePlan, StartPlan, ThinkPlan,
};
use tidegate_core::units::{Rate, Span, Time};
use tidegate_sim::host::{Ecn, Ends, Host, Lost, Outgoing, Packet, Report, Tcp};
use tidegate_sim::{
    FlowSummary, Happened, HostedRun, PacketRecord, RunError, RunResult, Side, Summary, Turn, run_hosted,
};

use crate::any::*;
use crate::offered::*;
use crate::small::*;
use crate::twin::*;

/// A run in which the flows that `hosted` chooses are our own TCP as hosts.
fn hosting(plan: &Plan, hosted: impl Fn(usize) -> bool) -> RunResult {
    let mut hosts = |flow: usize| if hosted(flow) { Tcp::ends(plan, flow) } else { None };
    run_hosted(plan, &mut hosts, &mut |_| true).expect("our TCP behaves")
}

/// The same, but for what its flows say they are.
fn differs_as_host(flows: &RunResult, mut hosts: RunResult) -> Option<String> {
    for (here, there) in flows.summary.flows.iter().zip(&mut hosts.summary.flows) {
        there.cc = here.cc;
    }
    differs(flows, &hosts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// All of a summary and of the columns, whichever of the flows are hosts, whether the other flows run ahead or not.
    #[test]
    fn our_tcp_as_a_host_has_the_numbers_of_a_flow(
        plan in prop_oneof![any_plan(), any_private_plan(), any_dumbbell(), any_busy_dumbbell()],
        mask in any::<u8>(),
        level in any_record(),
    ) {
        let plan = Plan { record: RecordPlan { level, ..plan.record }, ..plan };
        let flows = alone(1, &plan);
        let hosts = hosting(&plan, |flow| mask >> (flow % 8) & 1 == 1);
        prop_assert_eq!(differs_as_host(&flows, hosts), None);
    }
}

/// What a host of these tests does.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    /// Sends a packet each 10 ms.
    Sends,
    /// Asks to be woken a second ago, for ever.
    NeverSleeps,
    /// Always has one more packet.
    Floods,
    Panics,
    Closes,
    /// Names an instant 3 ms ahead for each packet, and always has one more.
    Holds,
    /// Its packet has no byte.
    SendsNothing,
    /// Takes what comes and says nothing.
    IsMute,
    /// Delivers what comes.
    Delivers,
}

struct Script {
    does: Does,
    now: Time,
    due: Time,
    waiting: u32,
    came: u64,
    lost: u64,
    times: Vec<Time>,
}

fn script(does: Does) -> Box<dyn Host> {
    let (now, due) = (Time::ZERO, Time::NEVER);
    Box::new(Script { does, now, due, waiting: 0, came: 0, lost: 0, times: vec![] })
}

impl Host for Script {
    fn open(&mut self, now: Time) {
        self.handle_wakeup(now);
    }

    fn handle_packet(&mut self, _now: Time, _ecn: Ecn, packet: Packet) {
        self.came += packet.into_bytes().len() as u64;
    }

    fn handle_wakeup(&mut self, now: Time) {
        self.now = now;
        self.due = now + Span::from_millis(10);
        self.waiting = 1;
        match self.does {
            Does::NeverSleeps => (self.due, self.waiting) = (Time::ZERO, 0),
            Does::IsMute | Does::Delivers => (self.due, self.waiting) = (Time::NEVER, 0),
            Does::Panics if now >= Time::ZERO + Span::from_millis(30) => panic!("too many gaps"),
            Does::Floods | Does::Holds => self.waiting = u32::MAX,
            _ => {}
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        self.waiting = self.waiting.checked_sub(1)?;
        let mut out = Outgoing::datagram(vec![0; 972]);
        match self.does {
            Does::Holds => {
                out.at = now + Span::from_millis(3);
                self.times.push(out.at);
            }
            Does::SendsNothing => out.ip_bytes = 0,
            _ => {}
        }
        Some(out)
    }

    fn next_wakeup(&mut self) -> Time {
        self.due
    }

    fn report(&self) -> Report {
        let bytes = if self.does == Does::Delivers { self.came } else { 0 };
        Report { delivered_bytes: bytes, in_order_bytes: bytes, ..Report::default() }
    }

    fn failure(&self) -> Option<String> {
        let closes = self.does == Does::Closes && self.now >= Time::ZERO + Span::from_millis(50);
        closes.then(|| "the peer sent too many gaps".to_owned())
    }

    fn handle_loss(&mut self, _lost: Lost) {
        self.lost += 1;
    }
}

fn scripted(plan: &Plan, sender: Does, receiver: Does) -> Result<RunResult, String> {
    let mut hosts = |_: usize| -> Option<Ends> { Some([script(sender), script(receiver)]) };
    run_hosted(plan, &mut hosts, &mut |_| true).map_err(|error| match error {
        RunError::Host(said) => said,
        other => panic!("{other:?}"),
    })
}

fn plain() -> Plan {
    one_link(Some(100), AppPlan::Bulk, tcp(CongestionPlan::Reno))
}

#[test]
fn a_host_that_misbehaves_is_named_with_its_end_and_the_instant() {
    let said = |sender, receiver| scripted(&plain(), sender, receiver).expect_err("it ends the run");
    for (sender, receiver, sentence) in [
        (
            Does::NeverSleeps,
            Does::Delivers,
            "flow.bulk: at 0 s the transport of its sender never sleeps: it asked to be woken 100000 times within 1 ms, \
             and neither sent a packet nor got one",
        ),
        (
            Does::Floods,
            Does::Delivers,
            "flow.bulk: at 0 s the transport of its sender sends without end: more than 100000 packets within 1 ms",
        ),
        (
            Does::Panics,
            Does::Delivers,
            "flow.bulk: at 30 ms the transport of its sender panicked: too many gaps",
        ),
        (
            Does::Sends,
            Does::Panics,
            "flow.bulk: at 30 ms the transport of its receiver panicked: too many gaps",
        ),
        (
            Does::SendsNothing,
            Does::Delivers,
            "flow.bulk: at 0 s the transport of its sender sent a packet of 0 bytes; an IP packet has 1 to 65535",
        ),
    ] {
        assert_eq!(said(sender, receiver), sentence);
    }
}

#[test]
fn a_host_that_closes_or_does_not_answer_is_warned_of() {
    let result = scripted(&plain(), Does::Closes, Does::Delivers).expect("the run goes on");
    let warning = "flow.bulk: at 50 ms its sender ended the connection: the peer sent too many gaps";
    assert_eq!(result.summary.warnings, [warning]);
    // Packets at 0, 10, ..., 50 ms.
    assert_eq!(result.summary.flows[0].segments_sent, 6);
    let mute = scripted(&plain(), Does::Sends, Does::IsMute).expect("the run goes on");
    let answers = "flow.bulk: its receiver got 999 packets, answered none and delivered nothing";
    assert_eq!(mute.summary.warnings, [answers]);
}

#[test]
fn requests_stay_ours() {
    let mut plan = plain();
    plan.flows[0].app = AppPlan::Request(Box::new(RequestPlan {
        server: None,
        request: SizePlan::Constant(100),
        response: SizePlan::Constant(10_000),
        think: ThinkPlan::Constant(Span::from_millis(10)),
        request_loop: RequestLoop::Closed,
        outstanding: Some(1),
        connection: ConnectionPlan::Persistent,
        count: None,
        video: None,
    }));
    let said = scripted(&plan, Does::Sends, Does::Delivers).expect_err("it has no client");
    assert!(said.starts_with("flow.bulk.app: read \"request\""), "{said}");
}

/// It is pacing, and no other packet is asked for meanwhile: one each 3 ms, though there is always one more.
#[test]
fn a_packet_that_names_its_instant_leaves_then() {
    let result = scripted(&plain(), Does::Holds, Does::Delivers).expect("it behaves");
    let row = &result.summary.flows[0];
    assert_eq!(row.segments_sent, 3_333);
    assert!(row.limited_by["pacing"] > 0.99, "{:?}", row.limited_by);
    assert_eq!(row.goodput_bps, Some((row.segments_received * 972 * 8) as f64 / 10.0));
    assert!(row.cwnd_mean_segments.is_none(), "who says nothing of a window has none");
}

/// A limit is reached at one instant, whoever the ends are.
#[test]
fn limits_hold_for_hosts() {
    let mut plan = plain();
    plan.limits.events = Some(2_000);
    let stopped = hosting(&plan, |_| true);
    assert!(stopped.summary.warnings[0].contains("the limit of 2000 events"));
}

/// A transfer ends when its bytes are in order, as of our own; the run ends then, and begins anew with new hosts.
#[test]
fn a_run_until_done_waits_for_hosts() {
    let mut plan = one_link(Some(20), AppPlan::Transfer { bytes: 500_000 }, tcp(CongestionPlan::NewReno));
    plan.flows.push(flow(vec![0], AppPlan::Bulk, tcp(CongestionPlan::Cubic)));
    plan.flows[1].start = StartPlan::At(Time::ZERO + Span::from_millis(300));
    plan.record.level = RecordLevel::Every(Span::from_millis(7));
    plan.until_done = true;
    assert_eq!(differs_as_host(&alone(1, &plan), hosting(&plan, |flow| flow == 0)), None);
}

/// A policer holds a host back when the packet that was dropped last fell to it.
#[test]
fn a_policer_is_blamed_for_the_window_of_a_host() {
    let mut plan = one_link(None, AppPlan::Bulk, tcp(CongestionPlan::NewReno));
    plan.gates[0] = link("link", 100, None, Span::from_millis(10));
    let byte = Interval::at_rate(8, Rate::from_bps(8_000_000)).expect("a rate");
    let peak = Limit::tokens(byte, 20_000).expect("a burst");
    plan.gates[0].police = Some(PolicePlan { peak, sustained: None, tags: false, per_flow: None });
    let own = alone(1, &plan).summary.flows[0].limited_by["policer of link"];
    let host = hosting(&plan, |_| true).summary.flows[0].limited_by["policer of link"];
    assert!(own > 0.5 && (own - host).abs() < 0.02, "{own} {host}");
}

/// What a source of our applications brings, a host sends.
#[test]
fn a_host_has_the_application_of_its_flow() {
    let source = SourcePlan::Constant { rate: Rate::from_bps(800_000), bytes: 1000 };
    let plan = one_link(Some(100), AppPlan::Source(source), tcp(CongestionPlan::Cubic));
    let row = hosting(&plan, |_| true).summary.flows[0].clone();
    assert!(row.limited_by["application"] > 0.95, "{:?}", row.limited_by);
}

/// The packets of a run as a capture shows them: without what no header says.
fn as_captured(result: RunResult) -> Vec<PacketRecord> {
    let shown = |mut packet: PacketRecord| {
        packet.segment.sent_at = Time::ZERO;
        packet.segment.sack[usize::from(packet.segment.sack_count)..].fill((0, 0));
        packet
    };
    let mut packets: Vec<PacketRecord> = result.packets.into_iter().map(shown).collect();
    // Of one instant those of different flows may stand in any order.
    packets.sort_by_key(|packet| (packet.at, packet.flow));
    packets
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// With hosts among flows: goodput is at most throughput, throughput at most what was offered, and captures show the same packets.
    #[test]
    fn accounts_balance_with_hosts(mut plan in prop_oneof![any_plan(), any_dumbbell()], mask in any::<u8>()) {
        for gate in &mut plan.gates {
            gate.on_change = OnChange::Rescale;
        }
        plan.record.level = RecordLevel::Every(Span::from_millis(7));
        plan.record.packets = true;
        let result = hosting(&plan, |flow| mask >> (flow % 8) & 1 == 1);
        goodput_is_received(&plan, &result)?;
        throughput_was_offered(&plan, &result)?;
        let (hosts, flows) = (as_captured(result), as_captured(alone(1, &plan)));
        let first = hosts.iter().zip(&flows).find(|(here, there)| here != there);
        prop_assert_eq!((first, hosts.len()), (None, flows.len()));
    }
}

/// Our TCP, kept here and answered for one thing after the other.
fn answered(plan: &Plan, flows: &[usize]) -> Result<(RunResult, u64), RunError> {
    let mut ends: Vec<(usize, Ends)> =
        flows.iter().map(|flow| (*flow, Tcp::ends(plan, *flow).expect("no requests"))).collect();
    let mut run = HostedRun::new(plan.clone(), flows, &mut |_| None)?;
    for (flow, pair) in &ends {
        for (side, host) in [Side::Sender, Side::Receiver].into_iter().zip(pair) {
            let report = host.report();
            run.tell(*flow, side, None, |said| *said = report)?;
        }
    }
    let mut lost = 0;
    while let Some(Turn { at, flow, side, what }) = run.poll_turn(&mut |_| true)? {
        assert_eq!(at, run.now());
        let pair = &mut ends.iter_mut().find(|(number, _)| *number == flow).expect("a host").1;
        match what {
            Happened::Begins => {
                let receiver = &mut pair[Side::Receiver as usize];
                receiver.open(at);
                let report = receiver.report();
                run.tell(flow, Side::Receiver, None, |said| *said = report)?;
                pair[Side::Sender as usize].open(at);
            }
            Happened::Packet(packet, ecn) => pair[side as usize].handle_packet(at, ecn, packet),
            Happened::Wakeup => pair[side as usize].handle_wakeup(at),
            Happened::Lost(packet) => {
                assert_eq!(packet.at, at, "it is told when it happens");
                lost += 1;
                continue;
            }
        }
        let host = &mut pair[side as usize];
        let rtt = if side == Side::Sender { host.take_rtt_sample() } else { None };
        let mut leaving = Vec::new();
        while let Some(out) = host.poll_transmit(at) {
            leaving.push(out);
        }
        let report = host.report();
        run.tell(flow, side, rtt, |said| *said = report)?;
        for out in leaving {
            run.send(flow, side, out)?;
        }
        let due = host.next_wakeup();
        run.wake(flow, side, (due != Time::NEVER).then_some(due))?;
    }
    run.finish(&mut |_| true).map(|(_, result)| (result, lost))
}

#[test]
fn a_run_that_is_answered_from_outside_is_that_run() {
    let mut plan = one_link(Some(20), AppPlan::Transfer { bytes: 2_000_000 }, tcp(CongestionPlan::NewReno));
    plan.flows.push(flow(vec![0], AppPlan::Bulk, tcp(CongestionPlan::Cubic)));
    plan.flows[1].start = StartPlan::At(Time::ZERO + Span::from_millis(300));
    plan.record.level = RecordLevel::Every(Span::from_millis(7));
    let until_done = Plan { until_done: true, ..plan.clone() };
    // With a length that is not enough.
    let open = Plan { duration: Time::ZERO + Span::from_millis(900), ..until_done.clone() };
    for (asked, hosted) in [&plan, &until_done, &open]
        .into_iter()
        .flat_map(|asked| [&[0][..], &[1], &[0, 1]].map(|hosted| (asked, hosted)))
    {
        let flows = alone(1, asked);
        let (result, lost) = answered(asked, hosted).expect("our TCP behaves");
        let of = |flow: &usize| flows.summary.flows[*flow].losses.dropped_packets;
        assert_eq!(lost, hosted.iter().map(of).sum::<u64>());
        let result =
            RunResult { summary: Summary { flows: named(&result, &flows), ..result.summary }, ..result };
        assert_eq!(differs(&flows, &result), None, "{hosted:?} {}", asked.until_done);
    }
}

/// The rows of one run's flows with the names of transports that another's have.
fn named(of: &RunResult, like: &RunResult) -> Vec<FlowSummary> {
    let rows = of.summary.flows.iter().zip(&like.summary.flows);
    rows.map(|(row, name)| FlowSummary { cc: name.cc, tcp: name.tcp.clone(), ..row.clone() }).collect()
}
