//! Channels whose slots follow the rate measured at their ingress ([`crate::dtm`]), and the
//! pools that they share. Measuring intervals are `[start, end)`: what comes at the end of
//! one belongs to the next, and a unit that starts at an update has the new rate.
//!
//! Channels of one pool that update at the same instant: first those that give back, then
//! those that ask for more, each in the order of the gates. So what one gives up another gets
//! at once, and the pool is never over-committed.

use std::collections::BTreeMap;

use crate::dtm::{Allocation, Bandwidth, Estimate, Settings};
use crate::gate::Gate;
use crate::net::control::{Arrival, Control, Effect, NONE};
use crate::plan::{DtmPlan, Estimators, Plan, RatePlan};
use crate::units::{PICOS_PER_SECOND, Span, Time};

/// All channels of a network.
#[derive(Debug, Default)]
pub(super) struct Channels {
    /// Channels that must be looked at together: those of one pool, or a single one.
    groups: Vec<Group>,
    /// Group and place in it of each gate; empty where no gate is a channel.
    places: Vec<(u32, u32)>,
}

#[derive(Debug)]
struct Group {
    /// What is left of the pool; `None`: there is always enough.
    left: Option<Bandwidth>,
    channels: Vec<Channel>,
    /// The gate of each.
    gates: Vec<usize>,
}

#[derive(Debug)]
struct Channel {
    gate: usize,
    settings: Settings,
    measure: Span,
    update_every: u32,
    /// Measurements since the last update.
    measured: u32,
    /// End of the present measuring interval.
    next: Time,
    /// One for the channel, or one for each route that passes it.
    meters: Vec<Meter>,
    /// The meter of each route, where each has its own.
    by_route: Option<BTreeMap<u32, u32>>,
    allocation: Allocation,
}

/// The arrivals in the present interval, and the estimate so far.
#[derive(Clone, Copy, Debug, Default)]
struct Meter {
    bytes: u64,
    lost: bool,
    estimate: Estimate,
}

impl Channels {
    pub(super) fn new(plan: &Plan) -> Channels {
        let pools = plan.pools.iter().map(|pool| Some(Bandwidth::of(pool.capacity)));
        let mut groups: Vec<Group> =
            pools.map(|left| Group { left, channels: Vec::new(), gates: Vec::new() }).collect();
        let mut places = Vec::new();
        for (gate, row) in plan.gates.iter().enumerate() {
            let RatePlan::Dtm(dtm) = &row.rate else { continue };
            let group = dtm.pool.unwrap_or_else(|| {
                groups.push(Group { left: None, channels: Vec::new(), gates: Vec::new() });
                groups.len() - 1
            });
            places.resize(plan.gates.len(), (NONE, NONE));
            places[gate] = (group as u32, groups[group].channels.len() as u32);
            groups[group].channels.push(Channel::new(plan, gate, dtm));
            groups[group].gates.push(gate);
        }
        for group in &mut groups {
            let used = group.channels.iter().map(|channel| channel.allocation.in_force());
            let used = used.fold(Bandwidth::default(), Bandwidth::plus);
            group.left = group.left.map(|capacity| capacity.minus(used));
            debug_assert!(group.left.is_none_or(|left| left >= Bandwidth::default()), "checked before");
        }
        Channels { groups, places }
    }

    /// Ends the measuring intervals of a group that end at `at`, where updates are due decides,
    /// and sets the gates' rates.
    fn measure(&mut self, group: usize, at: Time, gates: &mut [Gate]) {
        let group = &mut self.groups[group];
        let mut wishes: Vec<(usize, Bandwidth)> = Vec::new();
        for (place, channel) in group.channels.iter_mut().enumerate().filter(|(_, each)| each.next == at) {
            wishes.extend(channel.measure().map(|asked| (place, asked)));
        }
        let gives_back =
            |(place, asked): &(usize, Bandwidth)| *asked <= group.channels[*place].allocation.in_force();
        let (giving, asking): (Vec<_>, Vec<_>) = wishes.into_iter().partition(gives_back);
        for (place, asked) in giving.into_iter().chain(asking) {
            let channel = &mut group.channels[place];
            let before = channel.allocation.in_force();
            channel.allocation.grant(asked, group.left, &channel.settings);
            let now = channel.allocation.in_force();
            group.left = group.left.map(|left| left.plus(before).minus(now));
            debug_assert!(group.left.is_none_or(|left| left >= Bandwidth::default()), "over-committed");
            gates[channel.gate].set_rate(at, now.rate());
        }
    }
}

impl Control for Channels {
    fn groups(&self) -> usize {
        self.groups.len()
    }

    /// End of the first measuring interval in a group not over yet; never, where it is empty.
    fn next_wakeup(&self, group: usize) -> Time {
        let ends = self.groups[group].channels.iter().map(|channel| channel.next);
        ends.min().unwrap_or(Time::NEVER)
    }

    fn handle_wakeup(&mut self, at: Time, group: usize, gates: &mut [Gate]) {
        while self.next_wakeup(group) <= at {
            self.measure(group, self.next_wakeup(group), gates);
        }
    }

    fn sets(&self, group: usize) -> &[usize] {
        &self.groups[group].gates
    }

    fn hears_arrivals(&self) -> bool {
        true
    }

    /// Counts what arrives, dropped or not.
    fn handle_arrival(&mut self, _at: Time, arrival: Arrival, _gates: &mut [Gate]) -> Effect {
        let (group, place) = self.places[arrival.gate];
        let channel = &mut self.groups[group as usize].channels[place as usize];
        let meter = channel.by_route.as_ref().map_or(0, |of_route| of_route[&arrival.route]);
        let meter = &mut channel.meters[meter as usize];
        meter.bytes += u64::from(arrival.wire);
        meter.lost |= arrival.dropped;
        Effect::Nothing
    }
}

impl Channel {
    fn new(plan: &Plan, gate: usize, dtm: &DtmPlan) -> Channel {
        let by_route = (dtm.estimators == Estimators::Flow).then(|| numbered(routes_through(plan, gate)));
        let meters = by_route.as_ref().map_or(1, BTreeMap::len);
        Channel {
            gate,
            settings: dtm.settings,
            measure: dtm.measure,
            update_every: dtm.update_every,
            measured: 0,
            next: Time::ZERO.saturating_add(dtm.measure),
            meters: vec![Meter::default(); meters],
            by_route,
            allocation: Allocation::new(dtm.initial),
        }
    }

    /// The present interval is over; what an update asks for, if one is due and asks.
    fn measure(&mut self) -> Option<Bandwidth> {
        self.next = self.next.saturating_add(self.measure);
        for meter in &mut self.meters {
            let bytes = std::mem::take(&mut meter.bytes);
            let lost = std::mem::take(&mut meter.lost);
            meter.estimate.measure(rate(bytes, self.measure), lost, &self.settings);
        }
        self.measured += 1;
        if self.measured < self.update_every {
            return None;
        }
        self.measured = 0;
        let mut lost = false;
        for meter in &mut self.meters {
            lost |= meter.estimate.end_update();
        }
        let current =
            self.meters.iter().fold(0u64, |sum, meter| sum.saturating_add(meter.estimate.current()));
        self.allocation.ask(current, lost, &self.settings)
    }
}

/// Bits per second, rounded down; exact for whole bytes in 100 ms.
fn rate(bytes: u64, over: Span) -> u64 {
    let work = u128::from(bytes) * 8 * u128::from(PICOS_PER_SECOND);
    u64::try_from(work / u128::from(over.picos())).unwrap_or(u64::MAX)
}

/// The routes that pass a gate, as [`crate::net::map`] numbers them.
fn routes_through(plan: &Plan, gate: usize) -> impl Iterator<Item = u32> {
    let flows = plan.flows.iter().flat_map(|flow| [&flow.path, &flow.back]);
    let all = flows.chain(plan.traffic.iter().map(|traffic| &traffic.path));
    (0u32..).zip(all).filter(move |(_, gates)| gates.contains(&gate)).map(|(route, _)| route)
}

fn numbered(routes: impl Iterator<Item = u32>) -> BTreeMap<u32, u32> {
    routes.zip(0u32..).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_kilobytes_in_a_tenth_of_a_second() {
        assert_eq!(rate(100_000, Span::from_millis(100)), 8_000_000);
        assert_eq!(rate(1, Span::from_millis(30)), 266);
    }
}
