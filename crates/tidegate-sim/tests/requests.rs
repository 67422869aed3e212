//! Requests where every instant is known: response times to the picosecond, servers that are
//! shared, connections that begin anew, losses at either end.

#![allow(missing_docs, reason = "tests")]

mod plans;
mod twin;

use proptest::prelude::*;
use tidegate_core::app::Exchange;
use tidegate_core::plan::{
    AppPlan, Blocked, CongestionPlan, ConnectionPlan, DelayedAckPlan, Demand, FlowPlan, GatePlan, LossPlan,
    OnChange, Plan, PoolOrder, PoolPlan, RatePlan, RecordLevel, RequestLoop, RequestPlan, ReservationPlan,
    ReservePlan, ServerPlan, SizePlan, StartPlan, TcpPlan, ThinkPlan, TransportPlan,
};
use tidegate_core::units::{Rate, Span, Speed, Time};
use tidegate_sim::{RunResult, Side};
use twin::whole;

fn millis(millis: u64) -> Span {
    Span::from_millis(millis)
}

fn at(span: Span) -> Time {
    Time::ZERO + span
}

/// One ACK for each segment, a window as large as need be, no handshake.
fn tcp() -> TcpPlan {
    TcpPlan {
        initial_window: 1_000_000,
        sack: false,
        limited_transmit: false,
        delayed_ack: None,
        handshake: false,
        idle_restart: false,
        ..plans::tcp(CongestionPlan::Reno)
    }
}

fn requests() -> RequestPlan {
    RequestPlan {
        server: Some(0),
        request: SizePlan::Constant(100),
        response: SizePlan::Constant(9_900),
        think: ThinkPlan::Constant(millis(500)),
        request_loop: RequestLoop::Closed,
        outstanding: Some(1),
        connection: ConnectionPlan::Persistent,
        count: None,
        video: None,
    }
}

fn gate(name: &str, mbps: u64, delay: Span) -> GatePlan {
    let mut gate = GatePlan::open(name);
    gate.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(mbps * 1_000_000)));
    gate.delay = delay;
    gate
}

/// Responses over 8 Mbit/s and 10 ms, requests over 1 Mbit/s and 20 ms, a server at 1 MB/s.
fn plan(flows: Vec<(RequestPlan, TcpPlan)>) -> Plan {
    let mut plan = Plan::empty(at(Span::from_secs(10)));
    plan.gates = vec![gate("down", 8, millis(10)), gate("up", 1, millis(20))];
    plan.servers = vec![ServerPlan { name: "s".to_owned(), rate: Some(Rate::from_bps(8_000_000)) }];
    plan.record.level = RecordLevel::Events;
    for (n, (requests, tcp)) in flows.into_iter().enumerate() {
        plan.flows.push(FlowPlan {
            dscp: 0,
            scone: None,
            name: format!("client{n}"),
            path: vec![0],
            back: vec![1],
            back_delay: Span::ZERO,
            start: StartPlan::At(Time::ZERO),
            app: AppPlan::Request(Box::new(requests)),
            transport: TransportPlan::Tcp,
            tcp,
        });
    }
    plan
}

/// From asking to arriving, to answering, to the end, in microseconds.
fn parts(one: &Exchange) -> [u64; 3] {
    [(one.arrived, one.asked), (one.answered, one.arrived), (one.ended, one.answered)]
        .map(|(to, from)| to.saturating_since(from).picos() / 1_000_000)
}

#[test]
fn a_response_time_by_hand() {
    let result = whole(&plan(vec![(requests(), tcp())]));
    // 140 B at 1 Mbit/s and 20 ms; 10 kB at 1 MB/s; 9 segments of 1040 B and one of 940 B at 8 Mbit/s and 10 ms.
    assert_eq!(parts(&result.requests[0][0]), [1_120 + 20_000, 10_000, 9 * 1_040 + 940 + 10_000]);
    assert!(result.requests[0].iter().all(|one| parts(one) == parts(&result.requests[0][0])));
    let asked: Vec<Time> = result.requests[0].iter().take(2).map(|one| one.asked).collect();
    assert_eq!(asked, [at(millis(500)), at(millis(500 + 500) + Span::from_micros(51_420))]);
    let row = &result.summary.requests[0];
    assert_eq!((row.response_mean_s, row.response_p99_s), (Some(0.05142), Some(0.05142)));
    assert_eq!((row.asked, row.unfinished), (18, 0));
    assert_eq!(result.summary.requests[1].name, "all");
}

#[test]
fn a_shared_server_answers_in_the_order_of_arrival() {
    let later = RequestPlan { think: ThinkPlan::Constant(millis(501)), ..requests() };
    let result = whole(&plan(vec![(later, tcp()), (requests(), tcp())]));
    let [second, first] = [0, 1].map(|flow| result.requests[flow][0]);
    assert_eq!(parts(&first)[1], 10_000);
    // It came 1 ms after and, with its 140 B behind the other's, 120 us after that.
    assert_eq!(second.answered.saturating_since(first.answered), millis(10));
    assert_eq!(parts(&second)[1], 20_000 - 1_120);
}

#[test]
fn a_new_connection_begins_with_a_small_window_and_a_handshake() {
    let slow = TcpPlan { initial_window: 1_000, ..tcp() };
    let anew = RequestPlan { connection: ConnectionPlan::New, count: Some(9), ..requests() };
    let run_with =
        |requests: &RequestPlan, tcp: &TcpPlan| whole(&plan(vec![(requests.clone(), tcp.clone())]));
    let times = |result: &RunResult| -> Vec<[u64; 3]> { result.requests[0].iter().map(parts).collect() };
    let persistent = times(&run_with(&requests(), &slow));
    let each = times(&run_with(&anew, &slow));
    // The first is the same; then one has grown its window and the other has not.
    assert_eq!(each[0], persistent[0]);
    assert!(persistent[1][2] < persistent[0][2] && each.iter().all(|one| *one == each[0]));
    // A handshake is a round trip of two segments of 40 B: 320 us up, 40 us down, 30 ms of delays.
    let shaken = run_with(&anew, &TcpPlan { handshake: true, ..slow });
    assert!(shaken.requests[0].iter().all(|one| parts(one)[0] == each[0][0] + 30_360));
    // Over the whole run the flow counts all of its connections.
    let goodput = shaken.summary.flows[0].goodput_bps.expect("it was measured");
    assert!((goodput - 9.0 * 9_900.0 * 8.0 / 10.0).abs() < 1e-6);
    // All were over before the measured time.
    let mut late = plan(vec![(anew, slow)]);
    late.warmup = Time::ZERO + millis(9_000);
    assert_eq!(whole(&late).summary.flows[0].goodput_bps, None);
    assert!(shaken.flows[0].windows(2).all(|rows| rows[0].delivered_bytes <= rows[1].delivered_bytes));
}

#[test]
fn a_capture_shows_connections_by_their_ports() {
    let anew = RequestPlan { connection: ConnectionPlan::New, count: Some(3), ..requests() };
    let mut plan = plan(vec![(anew, TcpPlan { handshake: true, ..tcp() })]);
    plan.record.packets = true;
    let result = whole(&plan);
    let mut connections: Vec<u32> = result.packets.iter().map(|packet| packet.segment.connection).collect();
    connections.dedup();
    assert_eq!(connections, [0, 1, 2]);
    let mut file = Vec::new();
    tidegate_sim::pcap::write(&plan, &result.packets, Side::Sender, &mut file).expect("memory holds it");
    for port in [40_000_u16, 40_001, 40_002] {
        assert!(file.windows(2).any(|pair| pair == port.to_be_bytes()), "{port}");
    }
}

#[test]
fn an_open_loop_counts_the_wait_behind_others() {
    let open = |outstanding| RequestPlan {
        think: ThinkPlan::Constant(millis(10)),
        request_loop: RequestLoop::Open,
        outstanding,
        count: Some(4),
        ..requests()
    };
    let one = whole(&plan(vec![(open(Some(1)), tcp())]));
    let begun: Vec<Time> = one.requests[0].iter().map(|one| one.begun).collect();
    let ended: Vec<Time> = one.requests[0].iter().map(|one| one.ended).collect();
    assert_eq!(begun[1..], ended[..3], "each begins with the end of the one before");
    assert_eq!(one.requests[0][3].asked, at(millis(40)));
    let many = whole(&plan(vec![(open(None), tcp())]));
    assert!(many.requests[0].iter().all(|each| each.begun == each.asked));
    // The server works 10 ms on each, the link a little more: they queue at the link.
    assert!(many.summary.requests[1].response_mean_s < one.summary.requests[1].response_mean_s);
}

#[test]
fn losses_at_both_ends_are_repaired_and_counted() {
    let mut plan = plan(vec![(requests(), tcp()), (requests(), tcp())]);
    plan.gates[0].loss = LossPlan::Independent { probability: 0.1 };
    plan.gates[1].loss = LossPlan::Independent { probability: 0.2 };
    plan.duration = at(Span::from_secs(100));
    let result = whole(&plan);
    let all = result.summary.requests.last().expect("there are requests");
    assert!(all.client_timeouts > 5, "{}", all.client_timeouts);
    assert!(all.finished > 100 && all.unfinished <= 2, "{all:?}");
    assert!(result.summary.flows.iter().all(|flow| flow.timeouts + flow.fast_retransmits > 5));
    for one in result.requests.iter().flatten().filter(|one| one.ended != Time::NEVER) {
        let least = [21_120, 10_000, 20_300];
        assert!(parts(one).iter().zip(least).all(|(took, least)| *took >= least), "{one:?}");
    }
}

#[test]
fn what_had_not_ended_is_told_as_well() {
    let mut plan =
        plan(vec![(RequestPlan { response: SizePlan::Constant(100_000_000), ..requests() }, tcp())]);
    plan.warmup = at(millis(100));
    let result = whole(&plan);
    let row = &result.summary.requests[0];
    assert_eq!((row.asked, row.finished, row.response_mean_s), (1, 0, None));
    assert_eq!(row.response_mean_with_unfinished_s, Some(9.5));
    assert_eq!(result.requests[0].len(), 1);
    // Asked before the warm-up ends, it does not count.
    plan.warmup = at(millis(501));
    assert_eq!(whole(&plan).summary.requests[0].asked, 0);
}

/// The same network, but the responses come through a circuit of 8 Mbit/s for each client, out of a pool for
/// `fit` circuits, and what clients send goes back through its other direction. Beyond both lies `up`, slow for ACKs.
fn over_circuits(flows: Vec<(RequestPlan, TcpPlan)>, fit: u64, hold: Span) -> Plan {
    let mut plan = plan(flows);
    let rate = Rate::from_bps(8_000_000);
    for (reservation, flow) in plan.flows.iter_mut().enumerate() {
        for name in ["there", "back"] {
            let mut circuit = gate(&format!("{name}{reservation}"), 8, millis(10));
            circuit.rate = RatePlan::Reserve(ReservePlan { reservation, rate });
            circuit.on_change = OnChange::Keep;
            plan.gates.push(circuit);
        }
        let first = plan.gates.len() - 2;
        (flow.path, flow.back) = (vec![0, first], vec![first + 1, 1]);
        plan.reservations.push(ReservationPlan {
            name: flow.name.clone(),
            demands: vec![Demand { pool: 0, rate }],
            setup: Span::ZERO,
            hold: Some(hold),
            blocked: Blocked::Wait,
        });
    }
    let capacity = Rate::from_bps(fit * rate.bps());
    plan.pools = vec![PoolPlan { name: "pool".to_owned(), capacity, order: PoolOrder::Asked }];
    plan.duration = at(Span::from_secs(60));
    plan
}

fn delayed(tcp: TcpPlan) -> TcpPlan {
    let timeout = Some(millis(100));
    TcpPlan { delayed_ack: Some(DelayedAckPlan { every: 2, timeout, tick: Span::ZERO }), ..tcp }
}

fn calls_made(result: &RunResult) -> u64 {
    result.summary.pools[0].calls.expect("circuits make calls").calls_offered
}

/// A circuit stays until the server has the last ACK, whether that waits at another gate or is put off: thirty
/// responses are thirty calls, however short the circuit is held. A handshake of its own, at the start of a
/// connection that lasts, is one call more; before each request it belongs to the request's call.
#[test]
fn a_response_is_one_call() {
    let thirty = RequestPlan { count: Some(30), ..requests() };
    let anew = RequestPlan { connection: ConnectionPlan::New, ..thirty.clone() };
    let shaken = TcpPlan { handshake: true, ..tcp() };
    for hold in [Span::ZERO, millis(1), millis(100)] {
        for each in [tcp, || delayed(tcp())] {
            let calls = |requests: &RequestPlan, tcp: TcpPlan| {
                let result = whole(&over_circuits(vec![(requests.clone(), tcp)], 1, hold));
                assert_eq!(result.summary.requests[0].finished, 30);
                assert_eq!(result.summary.flows[0].timeouts, 0);
                calls_made(&result)
            };
            assert_eq!(calls(&thirty, each()), 30, "{hold}");
            let with_handshake = TcpPlan { delayed_ack: each().delayed_ack, ..shaken.clone() };
            assert_eq!(calls(&thirty, with_handshake.clone()), 31, "{hold}");
            assert_eq!(calls(&anew, with_handshake), 30, "{hold}");
        }
    }
}

/// Two clients and room for one circuit: nobody's last ACK waits in the line for calls.
#[test]
fn an_ack_does_not_wait_for_a_call() {
    let two = |_| (RequestPlan { count: Some(30), ..requests() }, delayed(tcp()));
    let mut plan = over_circuits([(); 2].map(two).into(), 1, Span::ZERO);
    plan.flows[1].start = StartPlan::At(at(millis(7)));
    let result = whole(&plan);
    assert_eq!(calls_made(&result), 60);
    let finished: u64 = result.summary.requests.iter().take(2).map(|row| row.finished).sum();
    let timeouts: u64 = result.summary.flows.iter().map(|flow| flow.timeouts).sum();
    assert_eq!((finished, timeouts), (60, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is lost, put off or sent twice: a response is one call, and in the end all has been given back.
    #[test]
    fn a_response_is_one_call_whatever_is_lost(
        loss in [0.0..0.15, 0.0..0.15],
        delays in [0_u64..60, 0_u64..60],
        hold in prop_oneof![Just(0_u64), 0_u64..300],
        clients in 1_usize..4,
        fit in 1_u64..3,
        (anew, handshake, delay_acks, sack, guard) in any::<(bool, bool, bool, bool, bool)>(),
        seed in any::<u64>(),
    ) {
        // Longer than a few time-outs, so that transfers do not run into each other.
        let connection = if anew { ConnectionPlan::New } else { ConnectionPlan::Persistent };
        let asks = RequestPlan { count: Some(5), think: ThinkPlan::Constant(Span::from_secs(200)), connection, ..requests() };
        let tcp = TcpPlan { handshake, sack, guard, ..if delay_acks { delayed(tcp()) } else { tcp() } };
        let mut plan = over_circuits(vec![(asks, tcp); clients], fit, millis(hold));
        for gate in 0..2 {
            plan.gates[gate].loss = LossPlan::Independent { probability: loss[gate] };
            plan.gates[gate].delay = millis(delays[gate]);
        }
        plan.seed = seed;
        plan.duration = at(Span::from_secs(4000));
        let result = whole(&plan);
        let finished: u64 = result.summary.requests.iter().take(clients).map(|row| row.finished).sum();
        let pool = &result.summary.pools[0];
        prop_assert_eq!(finished, 5 * clients as u64);
        let shakes_apart = if handshake && !anew { clients as u64 } else { 0 };
        prop_assert_eq!(calls_made(&result), finished + shakes_apart);
        prop_assert!(pool.reserved_max_bps <= Some(pool.capacity_bps));
        // Nothing is held longer than it is needed: mostly, nothing goes on.
        prop_assert!(pool.reserved_mean_bps < 0.2 * pool.capacity_bps as f64);
    }
}
