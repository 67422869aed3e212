//! Recorded arrivals of a live run, in virtual time.

use std::collections::VecDeque;

use tidegate_core::net::{Dropped, Network, Owner, Step};
use tidegate_core::plan::Plan;
use tidegate_core::unit::{Ecn, HeldBy, Unit};
use tidegate_core::units::Time;

use crate::clock::after;
use crate::pump::{self, Arrival, Departure, Word};

/// What the network made of the arrivals.
#[derive(Debug)]
pub struct Replay {
    /// As [`crate::PumpReport::departures`].
    pub departures: Vec<Departure>,
    /// As [`crate::PumpReport::drops`].
    pub drops: Vec<Dropped>,
    /// As [`crate::PumpReport::network`].
    pub network: Network,
    words: VecDeque<Word>,
    arrived: u32,
}

/// Sends the arrivals of a live run that ended at `ended` through the network of its plan in
/// virtual time, and tells circuits the same `words`. Its departures are those of the live run, to
/// the picosecond.
#[must_use]
pub fn replay(plan: &Plan, arrivals: &[Arrival], words: &[Word], ended: Time) -> Replay {
    let network = Network::new(plan, 0);
    let words = words.iter().copied().collect();
    let mut replay = Replay { departures: Vec::new(), drops: Vec::new(), network, words, arrived: 0 };
    for (number, arrival) in (0u32..).zip(arrivals) {
        replay.run_until(after(arrival.at));
        replay.tell();
        replay.arrived = number + 1;
        let mut unit = Unit::new(arrival.bytes, number, HeldBy::CongestionWindow);
        unit.set_ecn(arrival.ecn);
        unit.set_codepoint(arrival.codepoint);
        replay.network.handle_unit(arrival.at, arrival.route as usize, &mut unit);
    }
    // What happens at the end of the plan is no part of it; a run that is stopped ends after
    // what happens then.
    replay.run_until(if ended < plan.duration { after(ended) } else { plan.duration });
    replay.network.finish();
    replay
}

impl Replay {
    fn run_until(&mut self, until: Time) {
        while let Some(step) = self.network.poll_step(until) {
            match step {
                Step::Deliver { at, route, unit } => {
                    self.departures.push(Departure {
                        due: at,
                        arrival: unit.handle,
                        route: route as u32,
                        cause: unit.cause(),
                        marked: unit.ecn() == Ecn::Ce,
                        codepoint: unit.codepoint().unwrap_or_default(),
                    });
                    self.tell();
                }
                Step::Drop(dropped) if !matches!(dropped.owner, Owner::Traffic(_)) => {
                    self.drops.push(dropped)
                }
                _ => {}
            }
        }
    }

    /// The reports at this place among arrivals and departures.
    fn tell(&mut self) {
        let here = (self.arrived, self.departures.len() as u32);
        while let Some(word) = self.words.front()
            && (word.arrivals, word.departures) == here
        {
            pump::tell(&mut self.network, word.at, word.flow, word.begins);
            self.words.pop_front();
        }
    }
}
