//! The gates of an input: an edge that colours, and the gate that is tried.

use std::sync::Arc;

use tidegate_core::gcra::{Interval, Limit, Release};
use tidegate_core::plan::{
    CakePlan, ClassPlan, ClassesPlan, CoDelPlan, ColourAction, CreditPlan, Diffserv, Discipline, DualPi2Plan,
    FqCoDelPlan, Framing, GatePlan, HtbNode, HtbPlan, MarkerPlan, MeterPlan, OpeningsPlan, PiePlan,
    QueueCounts, QueueLimit, QueuePlan, RatePlan, RedCurve, RedPlan, SchedulerPlan, SpacedClass, SpacerPlan,
    StepThreshold, StrictPlan, WfqPlan,
};
use tidegate_core::units::{Rate, Span, Speed, Time};

/// Bytes of an input that choose the tried gate.
pub(super) const HEADER: usize = 6 + CLASSES;
const CLASSES: usize = 3;

fn mbps(number: u64) -> Rate {
    Rate::from_bps(number * 1_000_000)
}

/// A quick gate that colours packets, and drops what is red or lets it pass.
pub(super) fn edge(byte: u8) -> GatePlan {
    let cir = mbps(1 + u64::from(byte >> 5));
    let cbs = 1500 * (1 + u64::from(byte >> 3 & 3));
    let meter = if byte & 1 == 0 {
        MeterPlan::SingleRate { cir, cbs, ebs: 2 * cbs }
    } else {
        MeterPlan::TwoRate { cir, cbs, pir: mbps(9), pbs: cbs }
    };
    let red = if byte & 2 == 0 { ColourAction::Remark } else { ColourAction::Drop };
    GatePlan {
        marker: (byte & 4 == 0).then_some(MarkerPlan {
            meter,
            colour_aware: false,
            actions: [ColourAction::Remark, ColourAction::Remark, red],
            codepoints: [Some(10), Some(12), None],
        }),
        rate: RatePlan::Constant(Speed::Bits(mbps(100))),
        delay: Span::from_micros(137),
        ..GatePlan::open("edge")
    }
}

/// One queue, or classes of a scheduler; `routes` routes are those of flows, the next is the media source's.
pub(super) fn tried(header: &[u8], routes: usize) -> GatePlan {
    let [kind, _, law, size, one, two, ..] = *header else { return GatePlan::open("tried") };
    let mut gate = GatePlan { rate: rate(law), ..GatePlan::open("tried") };
    if law & 0x20 != 0 {
        gate.framing = Framing::Overhead { overhead: 38, minimum: 84 };
    }
    gate.queue.limit = limit(size);
    gate.queue.counts = if size & 0x80 == 0 { QueueCounts::Waiting } else { QueueCounts::All };
    if kind & 2 == 0 {
        gate.queue.discipline = discipline(kind >> 2, (one, two));
        if kind & 0x80 != 0 {
            gate.queue.colours = [QueueLimit::Unlimited, QueueLimit::Packets(4), QueueLimit::Packets(1)];
        }
        return gate;
    }
    let bps = match gate.rate {
        RatePlan::Constant(Speed::Bits(rate)) => Some(rate.bps()),
        _ => None,
    };
    let classes = &header[6..6 + CLASSES];
    let scheduler = match bps {
        Some(bps) => scheduler(kind >> 2, bps, classes),
        // The others ask what the link carries.
        None if kind & 4 == 0 => strict(None, classes),
        None => SchedulerPlan::Drr(turns(classes)),
    };
    gate.classes = Some(Arc::new(classes_plan(scheduler, classes, routes)));
    gate
}

fn rate(byte: u8) -> RatePlan {
    let fast = mbps(1 + u64::from(byte >> 6) * 4);
    match byte & 7 {
        0 => RatePlan::Unlimited,
        1 => RatePlan::Steps {
            steps: [(0, fast), (7, Rate::from_bps(0)), (11, mbps(1))]
                .map(|(at, rate)| (Time::ZERO + Span::from_millis(at), Speed::Bits(rate)))
                .to_vec(),
            repeat: Some(Span::from_millis(20)),
        },
        2 => RatePlan::TokenBucket {
            rate: mbps(1),
            burst_bytes: 3000,
            initial_bytes: None,
            peak: (byte & 8 == 0).then_some(fast),
            peak_burst_bytes: None,
        },
        _ => RatePlan::Constant(Speed::Bits(fast)),
    }
}

fn limit(byte: u8) -> QueueLimit {
    match byte & 3 {
        0 => QueueLimit::Unlimited,
        1 => QueueLimit::Bytes(200 * u64::from(byte >> 2 & 31)),
        _ => QueueLimit::Packets(u64::from(byte >> 2 & 31)),
    }
}

/// Disciplines with short times, so that 40 ms show something.
fn discipline(kind: u8, (one, two): (u8, u8)) -> Discipline {
    let micros = |byte: u8| Span::from_micros(1 + 40 * u64::from(byte));
    let codel = CoDelPlan {
        target: micros(one),
        interval: micros(two),
        ce_threshold: (one & 1 == 0).then(|| micros(two / 8)),
    };
    match kind & 7 {
        0 => Discipline::CoDel(codel),
        1 => Discipline::Pie(PiePlan {
            target: micros(one),
            update: micros(two / 4),
            alpha: 5_000_000,
            beta: 50_000_000,
            max_burst: Span::from_millis(u64::from(one & 3)),
            ..PiePlan::DEFAULT
        }),
        2 => Discipline::FqCoDel(FqCoDelPlan {
            codel,
            queues: u32::from(one >> 6) + 1,
            quantum: 40 + 10 * u32::from(two),
            limit: u64::from(two & 31),
            memory: 9_000,
        }),
        3 => Discipline::DualPi2(DualPi2Plan {
            target: micros(one),
            update: micros(two / 4),
            step: micros(one / 8),
            ..DualPi2Plan::DEFAULT
        }),
        4 => Discipline::Cake(cake(one, two).tin(None)),
        5 => Discipline::Red(RedPlan {
            min: u64::from(one & 7),
            max: u64::from(one & 7) + 1 + u64::from(one >> 3),
            weight: 1 + 3_000_000 * u32::from(two),
            // A colour of its own, as for AF classes.
            colours: [None, None, (two & 1 == 0).then_some(RedCurve { min: 0, max: 2, max_p: 1 << 59 })],
            ..RedPlan::default_for(micros(two))
        }),
        6 => Discipline::Step(StepThreshold::Packets(u64::from(one & 15))),
        _ => Discipline::DropTail,
    }
}

fn cake(one: u8, two: u8) -> CakePlan {
    CakePlan {
        bandwidth: (one & 1 == 0).then(|| Rate::from_bps(300_000 * (1 + u64::from(one >> 3)))),
        diffserv: Diffserv::Three,
        rtt: Span::from_micros(1 + 100 * u64::from(two)),
        queues: 1 + u32::from(two & 3),
        memory: (one & 2 == 0).then(|| 200 * u64::from(two)),
        limit: if one & 4 == 0 { u64::MAX } else { u64::from(two & 31) },
        ..CakePlan::default_for(Framing::Ip)
    }
}

fn turns(classes: &[u8]) -> Vec<u32> {
    classes.iter().map(|byte| 60 + 20 * u32::from(*byte)).collect()
}

/// Strict priority; on a link of a known rate with credit, or with time gates as well.
fn strict(link: Option<(Rate, bool)>, classes: &[u8]) -> SchedulerPlan {
    let credit = |byte: &u8| {
        let (rate, _) = link?;
        let idle_slope = Rate::from_bps((rate.bps() / 8 * u64::from(byte & 1) + rate.bps() / 16).max(1));
        (byte & 2 == 0).then_some(CreditPlan {
            idle_slope,
            most: (byte & 4 == 0).then_some(3000),
            least: None,
        })
    };
    // Each is open for half of the cycle, and long enough for any packet.
    let half = Span::from_millis(13);
    let open = |(number, byte): (u64, &u8)| {
        let from = Span::from_millis(number) + Span::from_micros(u64::from(*byte));
        let plan =
            OpeningsPlan { cycle: half + half, offset: Span::ZERO, openings: vec![(from, from + half)] };
        (link.is_some_and(|(_, gates)| gates) && byte & 8 == 0).then(|| Arc::new(plan))
    };
    SchedulerPlan::Strict(StrictPlan {
        link: link.map(|(rate, _)| rate),
        credits: classes.iter().map(credit).collect(),
        open: (0..).zip(classes).map(open).collect(),
    })
}

fn scheduler(kind: u8, bps: u64, classes: &[u8]) -> SchedulerPlan {
    let link = Rate::from_bps(bps);
    match kind & 7 {
        0 => strict(Some((link, false)), classes),
        1 => strict(Some((link, true)), classes),
        2 => SchedulerPlan::Drr(turns(classes)),
        3 => SchedulerPlan::Wfq(WfqPlan {
            link,
            weights: classes.iter().map(|byte| 1 + u32::from(*byte)).collect(),
        }),
        4 => {
            SchedulerPlan::Spacer(SpacerPlan { unit_bytes: 1, classes: classes.iter().map(spaced).collect() })
        }
        5 | 6 => SchedulerPlan::Htb(htb(bps, classes)),
        _ => cake(classes[0], classes[1]).classes().scheduler,
    }
}

fn spaced(byte: &u8) -> SpacedClass {
    let increment =
        Interval::at_rate(8, Rate::from_bps(100_000 * (1 + u64::from(byte >> 2)))).expect("a rate");
    let limit = Limit::tokens(increment, 1600 + u64::from(*byte)).expect("a burst");
    SpacedClass {
        limits: if byte & 3 == 0 { vec![] } else { vec![limit] },
        release: if byte & 1 == 0 { Release::Earliest } else { Release::Tat },
    }
}

/// The last node only lends.
fn htb(bps: u64, classes: &[u8]) -> HtbPlan {
    let node = |parent: Option<usize>, byte: u8| HtbNode {
        parent,
        rate: Rate::from_bps(bps / 16 * u64::from(byte & 3) + 100_000),
        ceil: Rate::from_bps(bps),
        burst: 20 * u64::from(byte),
        ceil_burst: 1600,
        priority: u32::from(byte >> 7),
        quantum: 60 + 10 * u32::from(byte),
    };
    let lends = CLASSES;
    let mut nodes: Vec<HtbNode> =
        classes.iter().map(|byte| node((byte & 4 == 0).then_some(lends), *byte)).collect();
    nodes.push(node(None, 0xff));
    HtbPlan { nodes }
}

fn classes_plan(scheduler: SchedulerPlan, classes: &[u8], routes: usize) -> ClassesPlan {
    let tins = matches!(scheduler, SchedulerPlan::Cake(_));
    // These choose a packet by its length: nothing may replace it.
    let by_length = match &scheduler {
        SchedulerPlan::Strict(strict) => strict.open.iter().any(Option::is_some),
        SchedulerPlan::Spacer(_) => true,
        _ => false,
    };
    let class = |(number, byte): (usize, &u8)| ClassPlan {
        name: number.to_string(),
        queue: QueuePlan {
            limit: limit(byte.rotate_left(3)),
            discipline: match discipline(byte >> 5, (*byte, !byte)) {
                _ if tins => Discipline::Cake(cake(*byte, !byte).tin(None)),
                _ if by_length => Discipline::DropTail,
                discipline => discipline,
            },
            ..QueuePlan::UNLIMITED
        },
    };
    ClassesPlan {
        scheduler,
        classes: classes.iter().enumerate().map(class).collect(),
        of_route: (0..=routes).map(|route| (route / 2 % CLASSES) as u16).collect(),
        by_codepoint: None,
    }
}
