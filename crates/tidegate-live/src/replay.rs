//! Recorded arrivals of a live run, in virtual time.

use tidegate_core::net::{Network, Step};
use tidegate_core::plan::Plan;
use tidegate_core::tcp::HeldBy;
use tidegate_core::unit::Unit;
use tidegate_core::units::{Span, Time};

use crate::pump::{Arrival, Departure};

/// Sends the arrivals of a live run through the network of its plan in virtual time. Its
/// departures are those of the live run, to the picosecond.
#[must_use]
pub fn replay(plan: &Plan, arrivals: &[Arrival]) -> Vec<Departure> {
    let mut network = Network::new(plan, 0);
    let mut departures = Vec::new();
    for (number, arrival) in (0u32..).zip(arrivals) {
        run_until(&mut network, after(arrival.at), &mut departures);
        let mut unit = Unit::new(arrival.bytes, number, HeldBy::CongestionWindow);
        network.enter(arrival.at, arrival.route as usize, &mut unit);
    }
    run_until(&mut network, plan.duration, &mut departures);
    departures
}

fn run_until(network: &mut Network, until: Time, departures: &mut Vec<Departure>) {
    while let Some(step) = network.step(until) {
        if let Step::Deliver { at, route, unit } = step {
            let (arrival, cause) = (unit.handle, unit.cause);
            departures.push(Departure { due: at, arrival, route: route as u32, cause });
        }
    }
}

/// What happens at `at` is before it.
pub(crate) fn after(at: Time) -> Time {
    at.saturating_add(Span::from_picos(1))
}
