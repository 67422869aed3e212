use std::sync::Arc;

use proptest::prelude::*;

use super::{Client, Exchange, Server, Sizes};
use crate::plan::{ConnectionPlan, RequestLoop, RequestPlan, ServerPlan, SizePlan, ThinkPlan};
use crate::random::Seed;
use crate::random::SizeTable;
use crate::units::{Rate, Span, Time};

const SEED: Seed = Seed { seed: 5, replication: 0 };

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn plan() -> RequestPlan {
    RequestPlan {
        server: None,
        request: SizePlan::Constant(10),
        response: SizePlan::Constant(1000),
        think: ThinkPlan::Constant(Span::from_millis(100)),
        request_loop: RequestLoop::Closed,
        outstanding: Some(1),
        connection: ConnectionPlan::Persistent,
        count: None,
        video: None,
    }
}

fn client(plan: &RequestPlan) -> Client {
    Client::new(plan, at(0), SEED, "bulk")
}

#[test]
fn a_closed_loop_thinks_after_each_response() {
    let mut client = client(&plan());
    assert_eq!(client.next_wakeup(), at(100));
    client.handle_wakeup(at(100));
    assert_eq!(client.poll_begin(at(100)).map(|begin| (begin.bytes, begin.anew)), Some((10, false)));
    assert_eq!((client.next_wakeup(), client.poll_begin(at(100))), (Time::NEVER, None));
    assert_eq!(client.poll_arrived(at(110), 9), None);
    assert_eq!(client.poll_arrived(at(120), 10), Some(1010));
    assert_eq!(client.poll_ended(at(121), 5000), None, "nothing was answered");
    assert_eq!((client.answer(at(130)), client.answer(at(131))), (1000, 0));
    assert_eq!(client.poll_ended(at(139), 999), None);
    let ended = client.poll_ended(at(140), 1000).expect("it ended");
    let [asked, begun, arrived, answered, end] = [100, 100, 120, 130, 140].map(at);
    assert_eq!(ended, Exchange { request: 10, response: 1000, asked, begun, arrived, answered, ended: end });
    assert_eq!((client.next_wakeup(), client.is_busy()), (at(240), false));
    // The second one ends 10 and 1000 bytes further on.
    client.handle_wakeup(at(240));
    assert!(client.poll_begin(at(240)).is_some());
    assert_eq!((client.poll_arrived(at(250), 19), client.poll_arrived(at(250), 20)), (None, Some(1010)));
}

#[test]
fn an_open_loop_asks_on_and_what_may_not_begin_waits() {
    let mut client = client(&RequestPlan { request_loop: RequestLoop::Open, count: Some(3), ..plan() });
    client.handle_wakeup(at(250));
    assert_eq!(client.next_wakeup(), at(300));
    assert!(client.poll_begin(at(250)).is_some() && !client.may_begin());
    client.handle_wakeup(at(1000));
    assert_eq!(client.next_wakeup(), Time::NEVER, "three were asked for");
    assert_eq!(client.unfinished().map(|open| open.asked).collect::<Vec<_>>(), [100, 200, 300].map(at));
    assert_eq!((client.poll_arrived(at(1000), 10), client.answer(at(1000))), (Some(1010), 1000));
    assert_eq!(client.poll_ended(at(1100), 1000).map(|ended| ended.asked), Some(at(100)));
    assert_eq!(client.poll_begin(at(1100)).map(|begin| begin.bytes), Some(10));
    assert_eq!(client.unfinished().map(|open| open.begun).collect::<Vec<_>>(), [at(1100), Time::NEVER]);
}

#[test]
fn many_may_be_outstanding_and_end_in_order() {
    let plan = RequestPlan { request_loop: RequestLoop::Open, outstanding: None, ..plan() };
    let mut client = client(&plan);
    client.handle_wakeup(at(300));
    let begun = std::iter::from_fn(|| client.poll_begin(at(300))).count();
    assert_eq!(begun, 3);
    let arrived = std::iter::from_fn(|| client.poll_arrived(at(310), 25)).count();
    assert_eq!(
        (arrived, client.answer(at(320)), client.answer(at(330)), client.answer(at(340))),
        (2, 1000, 1000, 0)
    );
    let ended: Vec<Time> =
        std::iter::from_fn(|| client.poll_ended(at(350), 2500)).map(|one| one.asked).collect();
    assert_eq!(ended, [at(100), at(200)]);
}

#[test]
fn a_new_connection_counts_its_bytes_from_zero() {
    let mut client = client(&RequestPlan { connection: ConnectionPlan::New, ..plan() });
    for round in 0..3 {
        let now = client.next_wakeup();
        client.handle_wakeup(now);
        assert!(client.poll_begin(now).is_some_and(|begin| begin.anew), "{round}");
        assert_eq!((client.poll_arrived(now, 10), client.answer(now)), (Some(1010), 1000));
        assert!(client.poll_ended(now, 1000).is_some(), "{round}");
    }
}

#[test]
fn a_list_of_think_times_begins_again() {
    let list = vec![Span::from_millis(5), Span::from_millis(7)];
    let mut client =
        client(&RequestPlan { think: ThinkPlan::List(list), request_loop: RequestLoop::Open, ..plan() });
    client.handle_wakeup(at(30));
    assert_eq!(client.unfinished().map(|open| open.asked).collect::<Vec<_>>(), [5, 12, 17, 24, 29].map(at));
}

#[test]
fn a_server_works_in_order_and_carries_what_is_left_of_a_picosecond() {
    let mut server =
        Server::new(&ServerPlan { name: "s".to_owned(), rate: Some(Rate::from_bps(80_000_000)) });
    server.handle_request(at(0), 0, 1_000_010);
    server.handle_request(at(50), 1, 1_000_010);
    let end = Time::from_picos(100_001_000_000);
    assert_eq!((server.next_wakeup(), server.poll_response(at(100))), (end, None));
    assert_eq!((server.poll_response(end), server.poll_response(end)), (Some(0), None));
    assert_eq!(server.next_wakeup(), Time::from_picos(200_002_000_000));
    assert_eq!((server.poll_response(at(300)), server.next_wakeup()), (Some(1), Time::NEVER));
    // Idle since: a new busy period.
    server.handle_request(at(300), 2, 10);
    assert_eq!(server.next_wakeup(), at(300) + Span::from_micros(1));
    // A third of a picosecond each is carried: three bytes at 24 Tbit/s end after 1 ps.
    let mut fast =
        Server::new(&ServerPlan { name: "s".to_owned(), rate: Some(Rate::from_bps(24_000_000_000_000)) });
    (0..3).for_each(|client| fast.handle_request(at(1), client, 1));
    assert_eq!(fast.jobs_until(at(2)), [0, 0, 1]);
}

impl Server {
    /// Picoseconds after 1 ms at which each response is ready.
    fn jobs_until(&mut self, until: Time) -> Vec<u64> {
        let mut ends = Vec::new();
        while self.next_wakeup() < until {
            let end = self.next_wakeup();
            ends.push(end.saturating_since(at(1)).picos());
            assert!(self.poll_response(end).is_some());
        }
        ends
    }
}

#[test]
fn a_server_without_a_rate_answers_at_once() {
    let mut server = Server::new(&ServerPlan { name: "s".to_owned(), rate: None });
    server.handle_request(at(3), 4, 1 << 40);
    assert_eq!((server.next_wakeup(), server.poll_response(at(3))), (at(3), Some(4)));
}

fn mean_of(law: &SizePlan, count: u32) -> f64 {
    let mut sizes = Sizes::new(law, SEED.stream("sizes"));
    (0..count).map(|_| sizes.next_size() as f64).sum::<f64>() / f64::from(count)
}

#[test]
fn drawn_sizes_have_the_mean_that_is_told() {
    let table = SizeTable::cumulative(vec![(100, 0.25), (1000, 0.75), (10_000, 1.0)]).expect("it rises");
    assert!((table.mean() - (25.0 + 0.5 * 550.0 + 0.25 * 5500.0)).abs() < 1e-9);
    for law in [
        SizePlan::Constant(1460),
        SizePlan::Exponential { mean: 20_000 },
        SizePlan::Pareto { least: 1000, shape: 1.5, most: 1_000_000 },
        SizePlan::Pareto { least: 1000, shape: 1.0, most: 100_000 },
        SizePlan::LogNormal { median: 8000, sigma: 1.0, most: 100_000_000 },
        SizePlan::Table(Arc::new(table)),
        SizePlan::List(vec![10, 20, 1_000].into()),
    ] {
        let (told, drawn) = (law.mean().expect("it has a mean"), mean_of(&law, 200_000));
        assert!((drawn / told - 1.0).abs() < 0.03, "{law:?}: {drawn}, not {told}");
    }
}

#[test]
fn a_table_is_followed_between_its_points() {
    let table = SizeTable::cumulative(vec![(100, 0.25), (1000, 0.75), (10_000, 1.0)]).expect("it rises");
    assert_eq!(table.limits(), (100, 10_000));
    let mut sizes = Sizes::new(&SizePlan::Table(Arc::new(table)), SEED.stream("sizes"));
    let drawn: Vec<u64> = (0..40_000).map(|_| sizes.next_size()).collect();
    let share = |most: u64| drawn.iter().filter(|size| **size <= most).count() as f64 / 40_000.0;
    for (size, expected) in [(99, 0.0), (100, 0.25), (550, 0.5), (1000, 0.75), (5500, 0.875), (10_000, 1.0)] {
        assert!((share(size) - expected).abs() < 0.01, "{size}: {}", share(size));
    }
}

#[test]
fn tables_that_are_none_are_refused() {
    let wrong: [&[(u64, f64)]; 6] = [
        &[],
        &[(10, 0.5)],
        &[(10, 0.6), (20, 0.5), (30, 1.0)],
        &[(10, 0.5), (9, 1.0)],
        &[(10, -0.1), (20, 1.0)],
        &[(10, f64::NAN), (20, 1.0)],
    ];
    for points in wrong {
        assert_eq!(SizeTable::cumulative(points.to_vec()), None, "{points:?}");
    }
    assert!(SizeTable::cumulative(vec![(10, 1.0)]).is_some());
}

proptest! {
    /// Whatever happens between asking and the end, each exchange goes through its states once, in order, and
    /// none is lost.
    #[test]
    fn every_request_is_somewhere(
        moves in prop::collection::vec((0u8..5, 1u64..3000), 1..300),
        closed in any::<bool>(),
        outstanding in prop::option::of(1u64..4),
        count in prop::option::of(0u64..20),
    ) {
        let request_loop = if closed { RequestLoop::Closed } else { RequestLoop::Open };
        let think = ThinkPlan::Exponential(Span::from_millis(3));
        let response = SizePlan::Exponential { mean: 700 };
        let mut client = client(&RequestPlan { request_loop, outstanding, count, think, response, ..plan() });
        let (mut now, mut to_server, mut written, mut to_client, mut answered) = (at(0), 0, 0, 0, 0);
        let (mut asked, mut ended) = (0_u64, Vec::new());
        for (what, size) in moves {
            now += Span::from_micros(size);
            match what {
                0 => {
                    let before = client.unfinished().count();
                    client.handle_wakeup(now);
                    asked += (client.unfinished().count() - before) as u64;
                }
                1 => written += client.poll_begin(now).map_or(0, |begin| begin.bytes),
                2 => {
                    to_server = (to_server + size).min(written);
                    while client.poll_arrived(now, to_server).is_some() {}
                }
                3 => answered += client.answer(now),
                _ => {
                    to_client = (to_client + size).min(answered);
                    ended.extend(std::iter::from_fn(|| client.poll_ended(now, to_client)));
                }
            }
            let open = client.unfinished().filter(|one| one.begun != Time::NEVER).count() as u64;
            prop_assert!(outstanding.is_none_or(|most| open <= most));
            prop_assert_eq!(asked, ended.len() as u64 + client.unfinished().count() as u64);
        }
        prop_assert!(count.is_none_or(|count| asked <= count));
        for one in &ended {
            prop_assert!(one.asked <= one.begun && one.begun <= one.arrived);
            prop_assert!(one.arrived <= one.answered && one.answered <= one.ended && one.ended != Time::NEVER);
        }
        prop_assert!(ended.iter().map(|one| one.response).sum::<u64>() <= to_client);
    }
}

#[test]
fn messages_with_numbers_may_overtake_each_other() {
    let plan = RequestPlan {
        think: ThinkPlan::Constant(Span::from_millis(1)),
        request_loop: RequestLoop::Open,
        outstanding: Some(3),
        count: Some(5),
        ..plan()
    };
    let mut client = client(&plan);
    client.handle_wakeup(at(10));
    let begun: Vec<u64> =
        std::iter::from_fn(|| client.poll_begin(at(10))).map(|begin| begin.number).collect();
    assert_eq!(begun, [0, 1, 2]);
    // The second arrives first, and is answered first.
    assert_eq!([1, 1, 7].map(|number| client.handle_arrived(at(20), number)), [1010, 0, 0]);
    assert_eq!(client.handle_arrived(at(21), 0), 1010);
    assert_eq!(client.handle_ended(at(22), 1), None, "it is not answered yet");
    let answers: Vec<_> = std::iter::from_fn(|| client.answer_arrived(at(30))).collect();
    assert_eq!(answers, [(1, 1000), (0, 1000)]);
    let ended = client.handle_ended(at(40), 1).expect("it has come");
    assert_eq!((ended.asked, ended.arrived, ended.answered, ended.ended), (at(2), at(20), at(30), at(40)));
    assert_eq!(client.handle_ended(at(41), 1), None, "it has ended");
    // Two are open, so one more may begin; its number goes on.
    assert_eq!(client.poll_begin(at(41)).map(|begin| begin.number), Some(3));
    assert!(client.handle_ended(at(42), 0).is_some());
    let unfinished: Vec<Time> = client.unfinished().map(|exchange| exchange.asked).collect();
    assert_eq!(unfinished, [at(3), at(4), at(5)]);
    assert!(client.is_busy());
}
