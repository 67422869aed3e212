//! Background traffic: packets without TCP on a list of gates.

use crate::app::ArrivalProcess;
use crate::gate::Count;
use crate::net::settings::{measured, traffic_precision};
use crate::net::transit::Transit;
use crate::plan::{Plan, SourcePlan, StartPlan};
use crate::random::Seed;
use crate::units::{Measured, Time};

/// One background source.
#[derive(Debug)]
pub(super) struct Traffic {
    pub(super) arrivals: ArrivalProcess,
    pub(super) route: usize,
    pub(super) counts: TrafficCounts,
    /// One-way delays and losses of its packets; `None`: they are not measured.
    pub(super) transit: Option<Transit>,
}

/// Packets that a background source sent, and those that arrived, inside the measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficCounts {
    /// Sent, in packets and IP bytes.
    pub sent: Count,
    /// Arrived at the end of the path.
    pub delivered: Count,
}

impl Traffic {
    pub(super) fn all(plan: &Plan, seed: Seed) -> Vec<Traffic> {
        let first_route = plan.flows.len() * 2;
        let precision = traffic_precision(plan);
        let source = |(index, row): (usize, &crate::plan::TrafficPlan)| {
            let name = format!("traffic.{}", row.name);
            let start = start_time(seed, &format!("{name}/start"), row.start);
            let arrivals = ArrivalProcess::new(&row.source, start, seed.stream(&format!("{name}/source")));
            let media = match &row.source {
                SourcePlan::Media(media) => Some(media.deadline),
                _ => None,
            };
            let transit = row.delays.then(|| Transit::new(measured(plan), precision, media));
            Traffic { arrivals, route: first_route + index, counts: TrafficCounts::default(), transit }
        };
        plan.traffic.iter().enumerate().map(source).collect()
    }
}

impl TrafficCounts {
    pub(super) fn note(count: &mut Count, measured: Measured, at: Time, more: Count) {
        if measured.holds(at) {
            count.packets += more.packets;
            count.bytes += more.bytes;
        }
    }
}

/// The instant that a start plan means in this replication; `name` names its random stream.
#[must_use]
pub fn start_time(seed: Seed, name: &str, start: StartPlan) -> Time {
    use rand::RngExt as _;
    match start {
        StartPlan::At(at) => at,
        StartPlan::Uniform(from, to) if from < to => {
            Time::from_picos(seed.stream(name).random_range(from.picos()..to.picos()))
        }
        StartPlan::Uniform(from, _) => from,
    }
}
