//! Rows at fixed times against the definitions of their columns.

use proptest::prelude::*;

use super::*;
use crate::gate::statistics::record::Recorder;
use crate::gate::statistics::{Count, ExactPicos, Passed, Progression};
use crate::plan::{GatePlan, RecordLevel};
use crate::random::Seed;

const EVERY: u64 = 100;
const UNTIL: u64 = 3000;

/// What comes to a gate `gap` after what came before, to be served for `each`, with what happens to it.
#[derive(Clone, Copy, Debug)]
struct Coming {
    gap: u64,
    each: u64,
    bytes: u32,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// A unit, which counts in the queue until its service begins, or ends.
    One { in_service: bool },
    /// A unit that counts until its service ends, which then takes so much longer or ends sooner.
    Rescheduled { to: u64 },
    /// So many units.
    Several { units: u64, parts: u64 },
}

fn any_coming() -> impl Strategy<Value = Coming> {
    let what = prop_oneof![
        4 => any::<bool>().prop_map(|in_service| What::One { in_service }),
        1 => (1..400_u64).prop_map(|to| What::Rescheduled { to }),
        1 => (1..9_u64, 1..4_u64).prop_map(|(units, parts)| What::Several { units, parts }),
    ];
    (0..150_u64, 1..120_u64, 1..1500_u32, what).prop_map(|(gap, each, bytes, what)| Coming {
        gap,
        each,
        bytes,
        what,
    })
}

fn at(picos: u64) -> Time {
    Time::from_picos(picos)
}

/// Records all of it, and returns the units as they were served.
fn record(recorder: &mut Recorder, all: &[Coming]) -> Vec<Served> {
    let (mut now, mut free, mut served) = (0, 0, Vec::new());
    for Coming { gap, each, bytes, what } in all.iter().copied() {
        now += gap;
        let start = free.max(now);
        let mut one = Served {
            arrival: at(now),
            service: Service { start: at(start), end: at(start + each) },
            leaves: at(start),
            bytes,
            wire: bytes + 20,
        };
        match what {
            What::Several { units, parts } => {
                let first = ExactPicos { whole: start, part: 0 };
                let apart = ExactPicos { whole: each, part: parts - 1 };
                let starts = Progression { first, gap: apart, parts, terms: units };
                let together = Together { arrival: at(now), starts, each: None, bytes };
                recorder.pass_together(&together);
                for unit in 0..units {
                    let (service, _) = together.service(unit);
                    served.push(Served { service, leaves: service.start, wire: bytes, ..one });
                }
                free = together.service(units - 1).0.end.picos();
                continue;
            }
            What::One { in_service: false }
                if now <= recorder.unnoted_until().picos()
                    && start.div_ceil(EVERY) == (start + each).div_ceil(EVERY) =>
            {
                one.wire = bytes;
                let ended = Count { packets: 1, bytes: u64::from(bytes) };
                let joined = if start > now { ended } else { Count::default() };
                let begun = (one.service, one.wait());
                recorder.pass(&Passed { until: one.service.end, ended, joined, begun });
            }
            What::One { in_service: false } if start == now => recorder.serve_at_once(&one),
            What::One { in_service } => {
                one.leaves = if in_service { one.service.end } else { one.leaves };
                recorder.join(one.arrival, u64::from(bytes));
                recorder.serve(&one);
            }
            What::Rescheduled { to } => {
                one.leaves = one.service.end;
                recorder.join(one.arrival, u64::from(bytes));
                recorder.serve(&one);
                one.service.end = at(start + to);
                one.leaves = one.service.end;
                recorder.reschedule(one.service.end, true);
            }
        }
        free = one.service.end.picos();
        served.push(one);
    }
    served
}

proptest! {
    /// Each row shows what the definitions of its columns say of all units, looked at one by one.
    #[test]
    fn rows_are_as_defined(all in prop::collection::vec(any_coming(), 1..60)) {
        let level = RecordLevel::Every(Span::from_picos(EVERY));
        let stream = Seed { seed: 1, replication: 0 }.stream("rate");
        let mut recorder = Recorder::new(&GatePlan::open("gate"), level, at(UNTIL), stream);
        recorder.by_row = Some(ByRow::new(Span::from_picos(EVERY), at(UNTIL), true));
        let served = record(&mut recorder, &all);
        let rows = recorder.finish();
        prop_assert_eq!(rows.len() as u64, UNTIL / EVERY);
        for row in rows {
            let waiting = served.iter().filter(|one| one.joins() && one.arrival <= row.at && one.leaves > row.at);
            let bytes: u64 = waiting.clone().map(|one| u64::from(one.bytes)).sum();
            prop_assert_eq!((row.queue_packets, row.queue_bytes), (waiting.count() as u64, bytes), "{:?}", row.at);
            let ended = served.iter().filter(|one| one.service.end <= row.at);
            prop_assert_eq!(row.delivered_bytes, ended.map(|one| u64::from(one.wire)).sum::<u64>());
            let begun = served.iter().rfind(|one| one.arrival <= row.at && one.service.start <= row.at);
            let wait = begun.map_or(crate::gate::GateRow::NO_WAIT, Served::wait);
            prop_assert_eq!(row.wait, wait);
        }
    }
}
