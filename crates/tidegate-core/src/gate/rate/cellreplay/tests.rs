use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::gate::{Gate, GateContext, Precision};
use crate::plan::{GatePlan, LightTrace, OpportunityTrace, RatePlan, RecordLevel, TrainRow};
use crate::random::Seed;
use crate::unit::{HeldBy, Unit};

const MILLI: u64 = 1_000_000_000;
const MEASURED: Measured = Measured { from: Time::ZERO, until: Time::from_picos(1_000_000 * MILLI) };

/// A line of a light trace in milliseconds: when, base delay, offsets.
type Line = (u64, u64, Vec<u64>);

fn plan(lines: &[Line], heavy: &[u64], bytes: u32, timer: u64) -> Arc<CellReplayPlan> {
    let row = |(at, delay, offsets): &Line| TrainRow {
        at: Time::from_picos(at * MILLI),
        delay: Span::from_millis(*delay),
        offsets: offsets.iter().map(|offset| Span::from_millis(*offset)).collect(),
    };
    let at: Vec<Time> = heavy.iter().map(|at| Time::from_picos(at * MILLI)).collect();
    let period = Span::from_millis(heavy[heavy.len() - 1]);
    Arc::new(CellReplayPlan {
        light: Arc::new(LightTrace { trains: lines.iter().map(row).collect() }),
        heavy: Arc::new(OpportunityTrace { at, period, bytes }),
        timer: Span::from_millis(timer),
    })
}

/// When packets leave a gate of this law that has no other delay, in microseconds; arrivals in microseconds, sizes in bytes.
fn left(plan: &Arc<CellReplayPlan>, packets: &[(u64, u32)]) -> Vec<u64> {
    let mut gate = gate(plan);
    let out = packets.iter().map(|(at, bytes)| {
        let at = Time::from_picos(at * 1_000_000);
        let mut unit = Unit::new(*bytes, 0, HeldBy::Application);
        gate.pass(at, &mut unit, &MEASURED).expect("the queue is unlimited").micros()
    });
    out.collect()
}

fn gate(plan: &Arc<CellReplayPlan>) -> Gate {
    let plan = GatePlan { rate: RatePlan::CellReplay(plan.clone()), ..GatePlan::open("link") };
    let (seed, record) = (Seed { seed: 1, replication: 0 }, RecordLevel::Summary);
    Gate::new(&plan, GateContext { index: 0, seed, measured: MEASURED, precision: Precision::Fine, record })
}

/// One train all the time: 20 ms, opportunities at 0, 3 and 5 ms.
fn one_train() -> Vec<Line> {
    vec![(0, 20, vec![0, 3, 5]), (500, 20, vec![0, 3, 5]), (1000, 20, vec![])]
}

#[test]
fn a_train_has_its_opportunities_without_the_heavy_trace() {
    // The heavy trace gives nothing before 900 ms.
    let link = plan(&one_train(), &[900, 1000], 1400, 0);
    // 700 and 700 share the first. 800 does not fit beside 700 and takes the third; 600 fits beside it.
    assert_eq!(
        left(&link, &[(0, 700), (0, 700), (0, 700), (0, 800), (0, 600)]),
        [20_000, 20_000, 23_000, 25_000, 25_000]
    );
    // The opportunity at 0 is over a whole millisecond later. A packet that comes in time for one is no sooner than its base delay.
    assert_eq!(left(&link, &[(0, 700), (900, 700)]), [20_000, 20_900]);
    // 1400 at 0 take the first. At 1.5 ms, one whole millisecond into the train, a pause has ended it: a new one begins.
    assert_eq!(left(&link, &[(0, 1400), (1500, 1400), (1500, 1400)]), [20_000, 21_500, 24_500]);
    // With a gap timer of 2 ms it goes on, and the packet waits for the opportunity at 3 ms. Those of 3 ms and 5 ms are used then.
    let patient = plan(&one_train(), &[900, 1000], 1400, 2);
    assert_eq!(left(&patient, &[(0, 1400), (1500, 1400), (1500, 1400)]), [20_000, 23_000, 25_000]);
    // 5 ms after the opportunity at 0 more than the timer has passed.
    assert_eq!(left(&patient, &[(0, 1400), (5000, 1400)]), [20_000, 25_000]);
}

#[test]
fn behind_the_last_opportunity_is_the_heavy_trace() {
    let link = plan(&one_train(), &[22, 25, 27, 30], 1400, 0);
    // Three of the train, at 20, 23 and 25 ms. The fourth is released at its base delay, 20 ms, but not before the third: at 25 ms,
    // when it is too late for the opportunity at that instant. The fifth takes the next.
    let five = [(0, 1400); 5];
    assert_eq!(left(&link, &five), [20_000, 23_000, 25_000, 27_000, 30_000]);
    // The heavy trace repeats: 52 ms, 55 ms and 57 ms.
    assert_eq!(left(&link, &[(0, 1400); 8])[5..], [52_000, 55_000, 57_000]);
    // A base delay below the last offset: released at that offset, and at the opportunity after it.
    let near = plan(&[(0, 2, vec![0, 3, 5]), (500, 2, vec![0]), (1000, 2, vec![])], &[6, 7, 1000], 1400, 0);
    assert_eq!(left(&near, &[(0, 1400); 4]), [2_000, 5_000, 7_000, 1_000_000]);
}

#[test]
fn the_stages_meet() {
    let link = plan(&one_train(), &[22, 25, 40, 45, 60], 1400, 0);
    // The fourth waits for 40 ms. A packet of 10 ms begins a train and is released at 30 ms, when the fourth is still there: it queues for
    // 45 ms. One of 26 ms is released at 46 ms, when nobody waits, and passes.
    let mut packets = vec![(0, 1400); 4];
    packets.extend([(10_000, 1400), (26_000, 1400)]);
    assert_eq!(left(&link, &packets), [20_000, 23_000, 25_000, 40_000, 45_000, 46_000]);
    // Small packets share an opportunity of the heavy trace.
    let small: Vec<(u64, u32)> = (0..3).map(|_| (0, 1400)).chain([(0, 700), (0, 700), (0, 700)]).collect();
    assert_eq!(left(&link, &small)[3..], [40_000, 40_000, 45_000]);
}

#[test]
fn the_base_delay_is_on_the_line_between_two_trains() {
    let lines = [(0, 20, vec![0]), (100, 40, vec![0]), (200, 10, vec![])];
    let link = plan(&lines, &[1], 1400, 0);
    assert_eq!(left(&link, &[(25_000, 100)]), [50_000]);
    assert_eq!(left(&link, &[(100_000, 100)]), [140_000]);
    assert_eq!(left(&link, &[(190_000, 100)]), [203_000]);
    // After 200 ms it repeats. A train that is faster by more than the packets are apart holds nobody back but in order, and who is
    // held back takes the heavy trace: from 240 ms to the opportunity after it.
    assert_eq!(left(&link, &[(225_000, 100)]), [250_000]);
    assert_eq!(left(&link, &[(200_000, 100)]), [220_000]);
    let steep = plan(&[(0, 50, vec![0]), (1, 0, vec![0]), (2, 0, vec![])], &[1], 1400, 0);
    assert_eq!(left(&steep, &[(0, 100), (1_000, 100)]), [50_000, 51_000]);
}

#[test]
fn a_packet_above_an_opportunity_takes_several() {
    let link = plan(&one_train(), &[22, 26, 29, 30], 1000, 0);
    // 1500 take the first and half of the second; 1000 do not fit in what is left and take the third.
    assert_eq!(left(&link, &[(0, 1500), (0, 1000)]), [23_000, 25_000]);
    // 400 share the second.
    assert_eq!(left(&link, &[(0, 1500), (0, 400), (0, 1000), (0, 1500)]), [23_000, 23_000, 25_000, 29_000]);
}

/// The two stages by their words, without the law's own code: the light stage packet by packet, then the heavy stage as a queue that opportunities empty one after the other.
fn restated(link: &CellReplayPlan, packets: &[(u64, u32)]) -> Vec<u64> {
    let size = u64::from(link.heavy.bytes);
    let timer = link.timer.picos();
    let rows = &link.light.trains;
    let period = rows[rows.len() - 1].at.picos();
    let mut released: Vec<(u64, bool)> = Vec::new();
    let mut train: Option<Begun> = None;
    for &(at, bytes) in packets {
        let bytes = u64::from(bytes);
        let begins =
            train.as_ref().is_none_or(|(begin, .., last, _)| (at - begin) / MILLI * MILLI > last + timer);
        if begins {
            let mut into = at;
            while into >= period {
                into -= period;
            }
            let row = (0..rows.len() - 1).rfind(|row| rows[*row].at.picos() <= into).unwrap_or(0);
            let (from, to) = (rows[row].at.picos(), rows[row + 1].at.picos());
            let (low, high) = (rows[row].delay.picos(), rows[row + 1].delay.picos());
            let wide = |factor: u64, other: u64| u128::from(factor) * u128::from(other);
            // Weighted by how near the two rows are.
            let delay = match into >= from && to > from {
                true => ((wide(low, to - into) + wide(high, into - from)) / u128::from(to - from)) as u64,
                false => low,
            };
            let room: Vec<(u64, u64)> =
                rows[row].offsets.iter().map(|offset| (offset.picos(), size)).collect();
            let longest = room[room.len() - 1].0;
            train = Some((at, delay, room, 0, longest));
        }
        let (begin, delay, room, last, longest) = train.as_mut().unwrap();
        let into = (at - *begin) / MILLI * MILLI;
        room.retain(|(offset, _)| *offset >= into);
        if bytes <= size && room.first().is_some_and(|(_, left)| *left < bytes) {
            room.remove(0);
        }
        let (mut first, mut need) = (begins, bytes);
        while let Some((offset, left)) = room.first_mut() {
            if need <= *left {
                *left -= need;
                // The train begins with its first packet.
                *last = if first { 0 } else { *offset };
                need = 0;
                break;
            }
            (first, need) = (false, need - *left);
            room.remove(0);
        }
        let (mut release, mut within) = if need == 0 {
            ((*begin + *delay + *last).max(at + *delay), true)
        } else {
            *last = into + longest.saturating_sub(*delay);
            (at + (*delay).max(*longest), false)
        };
        if let Some((before, _)) = released.last().filter(|(before, _)| *before > release) {
            (release, within) = (*before, false);
        }
        released.push((release, within));
    }
    let mut heavy = Heavy { next: 0, queue: VecDeque::new(), out: vec![0; packets.len()], emptied: None };
    for (packet, &(release, within)) in released.iter().enumerate() {
        while heavy.at(&link.heavy) <= release {
            heavy.deliver(&link.heavy);
        }
        if within && heavy.queue.is_empty() && heavy.emptied.is_none_or(|emptied| emptied < release) {
            heavy.out[packet] = release;
        } else {
            heavy.queue.push_back((packet, u64::from(packets[packet].1)));
        }
    }
    while !heavy.queue.is_empty() {
        heavy.deliver(&link.heavy);
    }
    heavy.out
}

/// A train: its begin, its base delay, what is left of each opportunity, the offset of the last release, the last offset.
type Begun = (u64, u64, Vec<(u64, u64)>, u64, u64);

/// The heavy stage: packets in a queue with the bytes that they still need, and when each left.
struct Heavy {
    next: usize,
    queue: VecDeque<(usize, u64)>,
    out: Vec<u64>,
    emptied: Option<u64>,
}

impl Heavy {
    /// The instant of the next opportunity.
    fn at(&self, trace: &OpportunityTrace) -> u64 {
        let (round, index) = (self.next / trace.at.len(), self.next % trace.at.len());
        trace.at[index].picos() + round as u64 * trace.period.picos()
    }

    /// The next opportunity comes.
    fn deliver(&mut self, trace: &OpportunityTrace) {
        let (at, mut room) = (self.at(trace), u64::from(trace.bytes));
        self.next += 1;
        while room > 0
            && let Some((packet, left)) = self.queue.front_mut()
        {
            let sent = room.min(*left);
            (room, *left) = (room - sent, *left - sent);
            if *left == 0 {
                (self.out[*packet], self.emptied) = (at, Some(at));
                self.queue.pop_front();
            }
        }
    }
}

/// Small links: offsets and opportunities within some milliseconds of each other.
pub(in crate::gate::rate) fn any_link() -> impl Strategy<Value = Arc<CellReplayPlan>> {
    let offsets = prop::collection::vec(0u64..4, 1..6).prop_map(|gaps| {
        let sums = gaps.iter().scan(0, |sum, gap| {
            *sum += gap;
            Some(*sum)
        });
        sums.collect::<Vec<u64>>()
    });
    let lines = prop::collection::vec((0u64..20, 0u64..12, offsets), 2..6);
    let heavy = prop::collection::vec(0u64..6, 1..20);
    (lines, heavy, prop_oneof![Just(1400u32), 300u32..2000], 0u64..4).prop_map(
        |(rows, gaps, bytes, timer)| {
            let mut at = 0;
            let mut listed: Vec<Line> = Vec::new();
            for (gap, delay, train) in rows {
                listed.push((at, delay, train));
                at += gap;
            }
            listed.push((at + 1, 3, vec![]));
            let mut instants = vec![1];
            for gap in gaps {
                instants.push(instants[instants.len() - 1] + gap);
            }
            plan(&listed, &instants, bytes, timer)
        },
    )
}

proptest! {
    /// The gate and the two stages by their words agree on every packet, to a picosecond.
    #[test]
    fn the_gate_does_what_the_stages_say(
        link in any_link(),
        gaps in prop::collection::vec((prop_oneof![Just(0u64), 0u64..3_000, 0u64..40_000], 40u32..1500), 1..150),
    ) {
        let mut at = 0;
        let packets: Vec<(u64, u32)> = gaps.iter().map(|(gap, bytes)| {
            at += gap * 1_000_000;
            (at, *bytes)
        }).collect();
        let mut gate = gate(&link);
        let mut passed = Vec::new();
        for (arrival, bytes) in &packets {
            let mut unit = Unit::new(*bytes, 0, HeldBy::Application);
            let out = gate.pass(Time::from_picos(*arrival), &mut unit, &MEASURED).expect("the queue is unlimited");
            passed.push(out.picos());
            prop_assert!(gate.last_service().start >= Time::from_picos(*arrival));
        }
        prop_assert_eq!(passed, restated(&link, &packets));
    }
}
