//! Gates that are driven step by step, and sections of cell gates: units come, services end, rates are
//! fed back in between.

use crate::aal5::CELL_BYTES;
use crate::cells::Output;
use crate::gate::{Departure, GateDrop};
use crate::net::Network;
use crate::net::fast::Walk;
use crate::net::map::{NONE, Stretch};
use crate::net::sources::SourceKind;
use crate::net::step::Step;
use crate::unit::Unit;
use crate::units::Time;

impl Network {
    /// A packet comes to a section of cell gates.
    #[inline(never)]
    pub(super) fn enter_section(&mut self, at: Time, unit: Unit, crossing: u32) {
        let (section, crossing) = self.sections.crossings[crossing as usize];
        self.feed_back(at, section as usize);
        let entered = &mut self.sections.sections[section as usize];
        entered.enter(at, crossing as usize, unit, &mut self.gates);
        if !entered.is_silent(crossing as usize) {
            self.collect(section as usize);
        }
    }

    /// Handles all output of a section since the last call.
    pub(super) fn collect(&mut self, section: usize) {
        while let Some(output) = self.sections.sections[section].take_output() {
            match output {
                Output::Deliver { at, unit } => {
                    let &Stretch { route, line, .. } = &self.map.stretches[unit.stretch as usize];
                    let is_last = self.map.stretches[unit.stretch as usize + 1].line == NONE;
                    if route >= self.map.traffic_from && is_last {
                        self.end_transit(at, route, unit);
                    } else {
                        self.send_to_line(at, unit, line);
                    }
                }
                Output::Counted { at, stretch, count } => {
                    self.count_delivered(at, self.map.stretches[stretch as usize].route, count);
                }
                Output::Drop { at, gate, reason, unit } => {
                    self.drop(gate as u32, GateDrop { at, reason }, unit);
                }
                Output::Served { at, gate } => {
                    if let Some(controlled) = self.controls.of_gate(gate) {
                        self.note_departure_to(controlled, at, gate, CELL_BYTES);
                    }
                }
                Output::Departed { at, gate, unit } => {
                    let flow = self.map.stretches[unit.stretch as usize].route / 2;
                    self.inform_of_departure(gate, at, flow);
                }
            }
        }
        let next = self.sections.sections[section].next_wakeup(&self.gates);
        self.schedule.wake(SourceKind::Gate, self.sections.wakes_at[section] as usize, next);
    }

    /// The event of a gate: a service ends (step by step), or a departure is to be reported.
    pub(super) fn serve_gate(&mut self, now: Time, gate: usize) -> Option<Step> {
        if let Some(section) = self.sections.waking_at(gate) {
            self.feed_back(now, section);
            self.sections.sections[section].advance(now, &mut self.gates);
            self.collect(section);
        } else if self.running_on[gate].runs_on {
            self.set_rate_until(now, gate);
            self.run_on(now, gate);
        } else {
            self.complete_until(now, gate);
            self.wake_gate(gate);
        }
        let departed = self.reports.departures.first(gate);
        if let Some((at, route, unit)) = self.reports.deliveries.pop_front() {
            if let Some((first, _)) = departed {
                self.schedule.wake(SourceKind::Gate, gate, first);
            }
            return Some(Step::Deliver { at, route, unit });
        }
        let (first, flow) = departed?;
        if first > now {
            self.schedule.wake(SourceKind::Gate, gate, first);
            return None;
        }
        if let Some(next) = self.reports.departures.pop(gate) {
            self.schedule.wake(SourceKind::Gate, gate, next);
        }
        Some(Step::Departed { at: first, flow: flow as usize })
    }

    /// Whether packets pass cell gates, whose drops are found by [`Network::find_drops`].
    #[must_use]
    pub fn has_sections(&self) -> bool {
        !self.sections.sections.is_empty()
    }

    /// Finds the drops at cell gates before `now`, the time of the event under way; [`Network::poll_drop`] returns them. Otherwise cells
    /// are handled only when a packet may reach its end, so the drop of a packet whose last cell is lost would be found late. Senders that
    /// need the drop call this.
    pub fn find_drops(&mut self, now: Time) {
        for section in 0..self.sections.sections.len() {
            self.feed_back(now, section);
            self.sections.sections[section].advance(now, &mut self.gates);
            self.collect(section);
        }
    }

    /// Step by step: a unit comes to a gate.
    pub(super) fn enter_gate(&mut self, at: Time, unit: &Unit) {
        let first = self.map.stretches[unit.stretch as usize].first;
        let index = self.map.gates[first as usize] as usize;
        self.complete_until(at, index);
        self.take(index, at, *unit);
        self.collect_departures(index, at);
        if self.running_on[index].from_arrivals {
            return self.run_on(at, index);
        }
        self.wake_gate(index);
        if !self.reports.deliveries.is_empty() {
            self.schedule.wake(SourceKind::Gate, index, at);
        }
    }

    /// Takes what is fed back to the gates of a section by `at`.
    fn feed_back(&mut self, at: Time, section: usize) {
        for place in 0..self.sections.fed_back[section].len() {
            self.set_rate_until(at, self.sections.fed_back[section][place]);
        }
    }

    /// Ends every service that is over by `at`. A rate that is set at that instant
    /// comes first: what starts then has the new rate.
    #[inline]
    fn complete_until(&mut self, at: Time, index: usize) {
        self.set_rate_until(at, index);
        while let Some(now) = self.gates[index].next_wakeup().filter(|now| *now <= at) {
            self.take_late(index, now);
            self.gates[index].handle_wakeup();
            self.collect_departures(index, now);
        }
    }

    /// Forwards the units that have left a gate since the last call, and reports those that it dropped; it is `now`.
    #[inline]
    pub(super) fn collect_departures(&mut self, index: usize, now: Time) {
        while let Some(departure) = self.gates[index].poll_departure() {
            self.let_another_go(index, now, departure);
        }
    }

    /// [`Network::let_go`], apart.
    #[inline(never)]
    fn let_another_go(&mut self, index: usize, now: Time, departure: Departure) {
        self.let_go(index, now, departure);
    }

    /// A unit has left a gate: it is forwarded, or reported as dropped.
    #[inline(always)]
    pub(super) fn let_go(&mut self, index: usize, now: Time, Departure { unit, fate }: Departure) {
        match fate {
            Ok(out) => {
                let &Stretch { notify, route, .. } = &self.map.stretches[unit.stretch as usize];
                if notify {
                    self.note_departure(index as u32, route, out);
                }
                self.go_on(out, unit);
            }
            Err(drop) => self.drop(index as u32, drop, unit),
        }
        if let Some(controlled) = self.controls.of_gate(index).filter(|control| control.hears_departures) {
            // What its queue drops never was on its wire.
            let (at, sent) = fate.map_or_else(|drop| (drop.at, drop.reason.after_service()), |_| (now, true));
            let wire = if sent { self.gates[index].wire_bytes(unit.bytes) } else { 0 };
            self.note_departure_to(controlled, at, index, wire);
        }
    }

    /// A unit has left a gate that is driven step by step.
    #[inline]
    fn go_on(&mut self, out: Time, mut unit: Unit) {
        let &Stretch { ahead, through, delay, line, route, .. } = &self.map.stretches[unit.stretch as usize];
        let delivered = if ahead {
            Some(out.saturating_add(delay))
        } else if through {
            unit.stretch += 1;
            self.enter_stretch(out, &mut unit)
        } else {
            self.send_to_line(out, unit, line);
            None
        };
        if let Some(at) = delivered {
            self.reports.deliveries.push_back((at, route as usize, unit));
        }
    }

    /// A gate wakes when a service ends or begins.
    #[inline]
    pub(super) fn wake_gate(&mut self, index: usize) {
        if let Some(end) = self.gates[index].next_wakeup() {
            self.schedule.wake(SourceKind::Gate, index, end);
        }
        self.wake_late(index);
    }
}
