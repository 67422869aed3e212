//! Gates with classes.

use std::sync::Arc;

use super::*;
use crate::gcra::Release;
use crate::plan::{
    AckFilter, CakePlan, ClassPlan, ClassesPlan, CreditPlan, Diffserv, HtbNode, HtbPlan, OpeningsPlan,
    SchedulerPlan, SpacedClass, SpacerPlan, StrictPlan, TinsPlan, WfqPlan,
};

/// How many classes the gates of these tests have.
const CLASSES: usize = 4;

fn openings(cycle: u64, cuts: &[u64; CLASSES]) -> Vec<Option<Arc<OpeningsPlan>>> {
    let micros = Span::from_micros;
    let opening = |(class, cut): (u64, &u64)| {
        // The third may always send; the others in parts of a cycle that overlap.
        (class != 2).then(|| {
            let from = 100 * class + cut;
            let openings = vec![(micros(from), micros(from + cycle / 2))];
            Arc::new(OpeningsPlan { cycle: micros(cycle), offset: micros(*cut), openings })
        })
    };
    (0..).zip(cuts).map(opening).collect()
}

/// Schedulers; `kind` says which. Contracts count units of so many bytes.
fn scheduler(kind: u8, bps: u64, numbers: [u64; CLASSES], unit: u32) -> SchedulerPlan {
    let link = Rate::from_bps(bps);
    let strict = |shapes: bool, gates: bool| {
        let credit = |(class, part): (usize, &u64)| {
            (shapes && class != 3).then(|| CreditPlan {
                idle_slope: Rate::from_bps((bps / 12 * (part % 3 + 1)).max(1)),
                most: part.is_multiple_of(2).then_some(3000),
                least: None,
            })
        };
        SchedulerPlan::Strict(StrictPlan {
            link: (shapes || gates).then_some(link),
            credits: numbers.iter().enumerate().map(credit).collect(),
            // Long enough for any packet: 1538 bytes at 1 Mbit/s.
            open: if gates { openings(26_000, &numbers) } else { vec![None; CLASSES] },
        })
    };
    let node = |parent: Option<usize>, number: u64| HtbNode {
        parent,
        rate: Rate::from_bps(100_000 + 300_000 * (number % 7)),
        ceil: Rate::from_bps(3_000_000 + 1_000_000 * (number % 3)),
        burst: 100 * number,
        ceil_burst: 3000,
        priority: (number % 2) as u32,
        quantum: 100 + 200 * number as u32,
    };
    match kind {
        0 => strict(false, false),
        1 => SchedulerPlan::Drr(numbers.iter().map(|number| 100 + 100 * *number as u32).collect()),
        2 => SchedulerPlan::Wfq(WfqPlan {
            link,
            weights: numbers.iter().map(|number| *number as u32 + 1).collect(),
        }),
        3 => strict(true, false),
        4 => strict(false, true),
        5 => strict(true, true),
        7 => {
            let limit = |number: u64| {
                let increment =
                    Interval::at_rate(8 * u64::from(unit), Rate::from_bps(300_000 * (number + 1)));
                let burst = if unit > 1 { 1 + number / 8 } else { 1500 + 50 * number };
                Limit::tokens(increment.expect("a rate"), burst).expect("a burst")
            };
            let class = |number: &u64| SpacedClass {
                // The first of them without a contract.
                limits: if *number == 0 { vec![] } else { vec![limit(*number)] },
                release: if number.is_multiple_of(2) { Release::Earliest } else { Release::Tat },
            };
            SchedulerPlan::Spacer(SpacerPlan {
                unit_bytes: unit,
                classes: numbers.iter().map(class).collect(),
            })
        }
        8 => SchedulerPlan::Cake(TinsPlan {
            bandwidth: numbers[0].is_multiple_of(2).then(|| Rate::from_bps(bps / 2 + 1)),
            bytes: ShapedBytes::Beyond { overhead: numbers[1] as i32 - 20, least: 64, link: LinkLayer::Ptm },
            diffserv: Diffserv::Four,
            rates: numbers.iter().map(|number| Rate::from_bps(bps * (number + 1) / 80 + 1)).collect(),
            quanta: numbers.iter().map(|number| 60 + 30 * *number as u32).collect(),
            limit: numbers[2],
            memory: 3000 * (numbers[3] + 1),
            wash: false,
            // No unit here is known to be TCP's.
            ack_filter: Some(AckFilter::Aggressive),
            hosts: (0..6u32).map(|route| [route % 3, route % 2]).collect(),
        }),
        _ => {
            let parents = [Some(4), Some(4), Some(5), None, Some(5), None];
            let nodes =
                parents.iter().zip(numbers.iter().cycle()).map(|(parent, number)| node(*parent, *number));
            SchedulerPlan::Htb(HtbPlan { nodes: nodes.collect() })
        }
    }
}

/// Whether a scheduler serves whatever waits.
fn conserves_work(kind: u8) -> bool {
    kind < 3
}

fn with_classes(
    gate: GatePlan,
    kind: u8,
    numbers: [u64; CLASSES],
    queues: Vec<(QueueLimit, Discipline)>,
) -> GatePlan {
    let bps = match gate.rate {
        RatePlan::Constant(Speed::Bits(rate)) => Some(rate.bps()),
        _ => None,
    };
    // What needs a constant rate has another scheduler elsewhere.
    let kind = match (bps, &gate.rate) {
        (None, RatePlan::Opportunities { .. } | RatePlan::CellReplay(_)) => kind % 2,
        (None, _) if (2..=5).contains(&kind) => kind % 2,
        _ => kind,
    };
    // Nothing slower: every packet has to fit where its time gate is open.
    let kind = if bps.is_some_and(|bps| bps < 1_000_000) && (kind == 4 || kind == 5) { 3 } else { kind };
    let class = |(number, (limit, discipline)): (usize, (QueueLimit, Discipline))| ClassPlan {
        name: number.to_string(),
        queue: QueuePlan {
            limit: match limit {
                QueueLimit::Packets(limit) | QueueLimit::Bytes(limit) if gate.is_cell_gate() => {
                    QueueLimit::Cells(limit)
                }
                limit => limit,
            },
            // Time gates and spacers choose a packet by its length: nothing may replace it.
            discipline: match discipline {
                _ if kind == 4 || kind == 5 || kind == 7 => Discipline::DropTail,
                _ if gate.is_cell_gate() => Discipline::DropTail,
                // The tins of CAKE have queues of CAKE.
                Discipline::Cake(_) => discipline,
                _ if kind == 8 => Discipline::Cake(CakePlan::default_for(Framing::Ip).tin(None)),
                other => other,
            },
            ..QueuePlan::UNLIMITED
        },
    };
    let classes = ClassesPlan {
        scheduler: scheduler(kind, bps.unwrap_or(1_000_000), numbers, gate.policed_unit()),
        classes: queues.into_iter().enumerate().map(class).collect(),
        of_route: (0..64).map(|route| (route % CLASSES) as u16).collect(),
        by_codepoint: None,
    };
    let queue = QueuePlan { discipline: Discipline::DropTail, ..gate.queue };
    GatePlan { queue, classes: Some(Arc::new(classes)), ..gate }
}

/// What turns a gate into one with classes.
#[derive(Clone, Debug)]
pub(crate) struct Dress {
    kind: u8,
    numbers: [u64; CLASSES],
    queues: Vec<(QueueLimit, Discipline)>,
}

impl Dress {
    pub(crate) fn put_on(self, gate: GatePlan) -> GatePlan {
        with_classes(gate, self.kind, self.numbers, self.queues)
    }
}

pub(crate) fn any_dress() -> BoxedStrategy<Dress> {
    let limit = prop_oneof![
        2 => Just(QueueLimit::Unlimited),
        2 => (0u64..10).prop_map(QueueLimit::Packets),
        1 => (0u64..9000).prop_map(QueueLimit::Bytes),
    ];
    let discipline = prop_oneof![3 => Just(Discipline::DropTail), 1 => any_judge()];
    let queues = prop::collection::vec((limit, discipline), CLASSES);
    (0u8..9, any::<[u8; CLASSES]>(), queues)
        .prop_map(|(kind, numbers, queues)| Dress {
            kind,
            numbers: numbers.map(|number| u64::from(number) % 40),
            queues,
        })
        .boxed()
}

fn gate(plan: &GatePlan, record: RecordLevel) -> Gate {
    let mut gate = Gate::new(plan, context(record));
    gate.set_members((0..8).map(|stretch| (stretch % CLASSES) as u16).collect());
    gate
}

type Came = (Time, u32, u32);

fn arrivals() -> impl Strategy<Value = Vec<Came>> {
    let gap = prop_oneof![2 => Just(0u64), 3 => 0u64..2_000_000_000, 1 => (0u64..4).prop_map(|ms| ms * 1_000_000_000)];
    prop::collection::vec((gap, 40u32..1500, 0u32..8), 1..250).prop_map(|rows| {
        let mut at = Time::ZERO;
        let row = |(after, bytes, stretch): (u64, u32, u32)| {
            at += Span::from_picos(after / 1000 * 1000);
            (at, bytes, stretch)
        };
        rows.into_iter().map(row).collect()
    })
}

/// Which units left or were dropped, in order.
fn drive_all(gate: &mut Gate, arrivals: &[Came], until: Time) -> Vec<(u32, Fate)> {
    let mut gone = vec![];
    fn wake(gate: &mut Gate, until: Time, gone: &mut Vec<(u32, Fate)>) {
        while gate.next_wakeup().is_some_and(|at| at <= until) {
            gate.handle_wakeup();
            while let Some(Departure { unit, fate }) = gate.poll_departure() {
                gone.push((unit.handle, fate));
            }
        }
    }
    for (handle, (at, bytes, stretch)) in (0..).zip(arrivals) {
        wake(gate, *at, &mut gone);
        let mut unit = unit(*bytes, handle);
        unit.stretch = *stretch;
        if let Err(drop) = gate.handle_unit(*at, unit) {
            gone.push((handle, Err(drop)));
        }
        while let Some(left) = gate.poll_departure() {
            gone.push((left.unit.handle, left.fate));
        }
    }
    wake(gate, until, &mut gone);
    gone
}

proptest! {
    /// Every unit has one fate, those of one flow leave in the order in which they came, and what is counted of the classes
    /// adds up to what is counted of the gate, whatever the scheduler, the law and the queues.
    #[test]
    fn classes_conserve_units(
        (plan, dress) in (any_gate(), any_dress()),
        came in arrivals(),
        record in prop_oneof![
            Just(RecordLevel::Summary),
            Just(RecordLevel::Every(Span::from_millis(1))),
            Just(RecordLevel::Events),
        ],
    ) {
        let plan = dress.put_on(plan);
        let mut gate = gate(&plan, record);
        let gone = drive_all(&mut gate, &came, MEASURED.until);
        let mut seen = vec![false; came.len()];
        let (mut last, mut last_out) = ([None; 8 * 4], Time::ZERO);
        for (handle, fate) in &gone {
            prop_assert!(!std::mem::replace(&mut seen[*handle as usize], true), "{} twice", handle);
            let (_, _, stretch) = came[*handle as usize];
            if let Ok(out) = fate {
                prop_assert!(*out >= last_out);
                last_out = *out;
                // DualPI2 and FQ-CoDel have several lines in a class: of one flow and codepoint all are in one.
                let place = 4 * stretch as usize + (*handle % 4) as usize;
                prop_assert!(last[place].replace(*handle).is_none_or(|last| last < *handle));
            }
        }
        gate.settle();
        let sum = |of: &dyn Fn(&Counters) -> u64| -> (u64, u64) {
            let classes = gate.class_counters().iter().map(|class| of(&class.counters)).sum();
            (classes, of(&gate.counters()))
        };
        for of in [
            (&|of: &Counters| of.arrived().total().bytes) as &dyn Fn(&Counters) -> u64,
            &|of| of.delivered().total().bytes,
            &|of| of.refused().total().packets,
            &|of| of.culled().total().packets,
            &|of| of.lost().total().packets,
            &|of| of.marked().total().packets,
            &|of| of.held().packets,
            &|of| of.waits().count(),
        ] {
            let (classes, whole) = sum(of);
            prop_assert_eq!(classes, whole);
        }
        let dropped = |one: &&(u32, Fate)| one.1.is_err_and(|drop| drop.at >= MEASURED.from && drop.at < MEASURED.until);
        let counted: u64 = gate.class_counters().iter().flat_map(|class| class.drops()).map(|(_, count)| count).sum();
        let each: Vec<_> = gate.class_counters().iter().map(|class| class.drops().collect::<Vec<_>>()).collect();
        let lost: Vec<_> = gone.iter().filter(dropped).collect();
        prop_assert_eq!(counted, lost.len() as u64, "{:?} {:?}", each, lost);
        let mean: f64 = gate.class_counters().iter().map(|class| class.counters.queue_mean()).sum();
        prop_assert!((mean - gate.counters().queue_mean()).abs() < 1e-9);
        let rows = gate.take_class_history();
        prop_assert_eq!(rows.is_some(), record != RecordLevel::Summary);
        // At each sample the classes hold together what the gate holds.
        if let (Some(rows), RecordLevel::Every(_), Some(whole)) = (rows, record, gate.take_history()) {
            prop_assert_eq!(rows.len(), CLASSES * whole.len());
            for (parts, row) in rows.chunks(CLASSES).zip(whole) {
                prop_assert_eq!(parts[0].at, row.at);
                prop_assert_eq!(parts.iter().map(|part| part.queue_packets).sum::<u64>(), row.queue_packets);
                prop_assert_eq!(parts.iter().map(|part| part.queue_bytes).sum::<u64>(), row.queue_bytes);
                prop_assert_eq!(parts.iter().map(|part| part.delivered_bytes).sum::<u64>(), row.delivered_bytes);
                prop_assert_eq!(parts.iter().map(|part| part.dropped_packets).sum::<u64>(), row.dropped_packets);
            }
        }
    }

    /// Strict priority, deficit round robin and weighted fair queueing never leave the server idle while units wait: it is
    /// empty whenever a gate without classes is.
    #[test]
    fn work_is_conserved(bps in 1_000_000u64..50_000_000, dress in any_dress(), came in arrivals()) {
        let plain = link(bps, QueueLimit::Unlimited);
        let kind = dress.kind % 3;
        prop_assert!(conserves_work(kind));
        let queues = vec![(QueueLimit::Unlimited, Discipline::DropTail); CLASSES];
        let plan = Dress { kind, queues, ..dress }.put_on(plain.clone());
        let far = Time::from_picos(1 << 62);
        let ends = |gone: Vec<(u32, Fate)>| -> Vec<Time> { gone.iter().filter_map(|(_, fate)| fate.ok()).collect() };
        let classed = ends(drive_all(&mut gate(&plan, RecordLevel::Summary), &came, far));
        let plain = ends(drive_all(&mut Gate::new(&plain, context(RecordLevel::Summary)), &came, far));
        prop_assert_eq!(classed.len(), came.len());
        for (n, end) in plain.iter().enumerate() {
            if came.get(n + 1).is_none_or(|(at, ..)| at >= end) {
                prop_assert_eq!(classed[n], *end);
            }
        }
    }
}

/// A queue of nothing: what cannot begin when it comes is dropped, by class.
#[test]
fn a_class_without_room() {
    let queues = vec![(QueueLimit::Packets(0), Discipline::DropTail); CLASSES];
    // 1000 bytes take a millisecond.
    let plan = with_classes(link(8_000_000, QueueLimit::Unlimited), 0, [0; CLASSES], queues);
    let mut gate = gate(&plan, RecordLevel::Summary);
    let at = |micros: u64| Time::ZERO + Span::from_micros(micros);
    let came = [(at(0), 1000, 1), (at(500), 1000, 0), (at(1000), 1000, 0), (at(3000), 1000, 2)];
    let gone = drive_all(&mut gate, &came, at(9000));
    let fates: Vec<_> = gone.iter().map(|(handle, fate)| (*handle, fate.is_ok())).collect();
    assert_eq!(fates, [(1, false), (0, true), (2, true), (3, true)]);
}

/// A small packet takes the place of a large one that waits for tokens, and begins at the instant at which it comes: it has been in
/// the queue of its class for no time.
#[test]
fn what_joins_and_begins_at_once_is_not_held() {
    let fq_codel = Discipline::FqCoDel(FqCoDelPlan { limit: 1, ..FqCoDelPlan::DEFAULT });
    let bucket = RatePlan::TokenBucket {
        rate: Rate::from_bps(8_000_000),
        burst_bytes: 500,
        initial_bytes: Some(100),
        peak: None,
        peak_burst_bytes: None,
    };
    let link = GatePlan { rate: bucket, ..link(8_000_000, QueueLimit::Unlimited) };
    let queues = vec![(QueueLimit::Unlimited, fq_codel); CLASSES];
    let plan = with_classes(link, 0, [0; CLASSES], queues);
    for record in [RecordLevel::Every(Span::from_millis(1)), RecordLevel::Events] {
        let mut gate = gate(&plan, record);
        let gone = drive_all(&mut gate, &[(Time::ZERO, 444, 4), (Time::ZERO, 40, 0)], MEASURED.until);
        let fates: Vec<_> = gone.iter().map(|(handle, fate)| (*handle, fate.is_ok())).collect();
        assert_eq!(fates, [(0, false), (1, true)]);
        gate.settle();
        let rows = gate.take_class_history().expect("rows");
        let last = rows.iter().rfind(|row| row.class == 0).expect("a row of the class");
        assert_eq!((last.queue_packets, last.queue_bytes, last.delivered_bytes), (0, 0, 40));
    }
}

/// A class of 8 Mbit/s with a bucket of a byte at a gate without a rate: each packet of 1000 bytes begins when the bucket is
/// not below zero again, to the picosecond.
#[test]
fn tokens_are_waited_for_exactly() {
    let node = HtbNode {
        parent: None,
        rate: Rate::from_bps(7_000_000),
        ceil: Rate::from_bps(7_000_000),
        burst: 1,
        ceil_burst: 1,
        priority: 0,
        quantum: 1000,
    };
    let class = ClassPlan { name: "a".to_owned(), queue: QueuePlan::UNLIMITED };
    let classes = ClassesPlan {
        scheduler: SchedulerPlan::Htb(HtbPlan { nodes: vec![node] }),
        classes: vec![class],
        of_route: Arc::new([]),
        by_codepoint: None,
    };
    let plan = GatePlan { classes: Some(Arc::new(classes)), ..GatePlan::open("shaper") };
    let mut gate = Gate::new(&plan, context(RecordLevel::Summary));
    let came = vec![(Time::ZERO, 1000, 0); 4];
    let ends: Vec<u64> = drive_all(&mut gate, &came, Time::from_picos(1 << 60))
        .into_iter()
        .map(|(_, fate)| fate.expect("it passes").picos())
        .collect();
    // After n packets n × 8000 bits less 8 have to come: ⌈(8000 n - 8) × 10¹² / 7 × 10⁶⌉.
    let due = |n: u64| if n == 0 { 0 } else { ((8000 * n - 8) * 1_000_000).div_ceil(7) };
    assert_eq!(ends, [due(0), due(1), due(2), due(3)]);
}
