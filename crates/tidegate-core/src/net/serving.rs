//! Gates that are driven step by step, and sections of cell gates: units come, services end, rates are
//! fed back in between.

use crate::aal5::CELL_BYTES;
use crate::cells::Output;
use crate::gate::{Count, Departure};
use crate::net::events::Source;
use crate::net::routes::{Chain, NONE};
use crate::net::{Dropped, Network, Step};
use crate::unit::Unit;
use crate::units::Time;

impl Network {
    /// A packet comes to a section of cell gates.
    #[inline(never)]
    pub(super) fn enter_section(&mut self, at: Time, unit: Unit, circuit: u32) {
        let (section, circuit) = self.sections.circuits[circuit as usize];
        self.feed_back(at, section as usize);
        let entered = &mut self.sections.sections[section as usize];
        entered.enter(at, circuit as usize, unit, &mut self.gates);
        if !entered.is_silent(circuit as usize) {
            self.collect(section as usize);
        }
    }

    /// Takes what a section has to tell.
    pub(super) fn collect(&mut self, section: usize) {
        while let Some(output) = self.sections.sections[section].take_output() {
            match output {
                Output::Deliver { at, unit } => {
                    let chain = self.chains[unit.chain as usize];
                    let after = self.chains[unit.chain as usize + 1];
                    if chain.route >= self.traffic_routes && after.line == NONE {
                        let count = Count { packets: 1, bytes: u64::from(unit.bytes) };
                        self.count_delivered(at, chain.route, count);
                    } else {
                        self.send(at, unit, chain.line);
                    }
                }
                Output::Counted { at, chain, count } => {
                    self.count_delivered(at, self.chains[chain as usize].route, count);
                }
                Output::Drop { at, gate, reason, unit } => {
                    let route = self.chains[unit.chain as usize].route;
                    let owner = self.owner(route);
                    self.note_drop(Dropped { at, gate, owner, reason, unit }, route);
                }
                Output::Served { at, gate } => {
                    if let Some(group) = self.abr.group_of(gate) {
                        self.note_abr(gate, group, at, CELL_BYTES);
                    }
                }
                Output::Departed { at, gate, unit } => {
                    let flow = self.chains[unit.chain as usize].route / 2;
                    let departures = &mut self.departures[gate];
                    departures.push_back((at, flow));
                    self.events.wake(gate as Source, departures[0].0);
                }
            }
        }
        let next = self.sections.sections[section].next_wakeup(&self.gates);
        self.events.wake(self.sections.wakes_at[section], next);
    }

    /// The event of a gate: a service ends (step by step), or a departure is to be told.
    pub(super) fn serve_gate(&mut self, at: Time, source: Source) -> Option<Step> {
        if let Some(section) = self.sections.waking_at(source) {
            self.feed_back(at, section);
            self.sections.sections[section].advance(at, &mut self.gates);
            self.collect(section);
        }
        self.complete_until(at, source as usize);
        self.wake_gate(source as usize);
        let departures = &mut self.departures[source as usize];
        let (first, flow) = *departures.front()?;
        if first > at {
            self.events.wake(source, first);
            return None;
        }
        departures.pop_front();
        if let Some((next, _)) = departures.front() {
            self.events.wake(source, *next);
        }
        Some(Step::Departed { at: first, flow: flow as usize })
    }

    /// Step by step: a unit comes to a gate.
    pub(super) fn enter_gate(&mut self, at: Time, unit: Unit, chain: Chain) {
        let gate = self.chain_gates[chain.first as usize];
        let index = gate as usize;
        self.complete_until(at, index);
        if self.is_circuit(index) {
            return self.enter_circuit(at, unit, gate);
        }
        let taken = self.gates[index].handle_unit(at, unit);
        if self.channels.group_of(index).is_some() {
            let wire = self.gates[index].wire_bytes(unit.bytes);
            self.channels.note(index, chain.route, wire, taken.is_err());
        }
        if let Err(drop) = taken {
            self.drop(gate, drop, unit);
        }
        self.wake_gate(index);
    }

    /// Ends the measuring intervals of a group of channels that are over by `at`.
    pub(super) fn measure_until(&mut self, at: Time, group: usize) {
        loop {
            let next = self.channels.next(group);
            if next > at {
                self.events.wake(self.channel_sources + group as Source, next);
                return;
            }
            self.channels.measure(group, next, &mut self.gates);
            // The end of a service may have moved.
            for gate in self.channels.gates(group) {
                if let Some(end) = self.gates[gate].next_wakeup() {
                    self.events.wake(gate as Source, end);
                }
            }
        }
    }

    /// Takes what is fed back to a follower by `at`.
    pub(super) fn follow_until(&mut self, at: Time, follower: usize) {
        let gate = self.followers.gate(follower);
        let section = self.sections.section_of(gate);
        if let Some(section) = section {
            self.sections.sections[section].advance_before(at, &mut self.gates);
        }
        self.followers.advance(follower, at, &mut self.gates);
        let next = self.followers.next(follower);
        self.events.wake(self.follower_sources + follower as Source, next);
        // The end of a service may have moved, or one begun.
        match section {
            Some(section) => self.collect(section),
            None => self.wake_gate(gate),
        }
    }

    /// Takes what happens between a switch and its sources by `at`.
    pub(super) fn allow_until(&mut self, at: Time, group: usize) {
        // Sources and the link are as they are just before this instant.
        for place in 0..=self.abr.sources(group) {
            if let Some(section) = self.sections.section_of(self.abr.gate(group, place)) {
                self.sections.sections[section].advance_before(at, &mut self.gates);
                self.collect(section);
            }
        }
        self.abr.advance(group, at, &mut self.gates);
        self.events.wake(self.abr_sources + group as Source, self.abr.next(group));
        // Services may have begun or moved.
        for source in 0..self.abr.sources(group) {
            let gate = self.abr.gate(group, source);
            match self.sections.section_of(gate) {
                Some(section) => self.collect(section),
                None => self.wake_gate(gate),
            }
        }
    }

    /// A unit of so many bytes on the wire has left an ABR source.
    pub(super) fn note_abr(&mut self, gate: usize, group: usize, at: Time, wire: u32) {
        self.abr.note(gate, at, wire);
        self.events.wake(self.abr_sources + group as Source, self.abr.next(group));
    }

    /// Takes what is fed back to the gates of a section by `at`.
    pub(super) fn feed_back(&mut self, at: Time, section: usize) {
        for place in 0..self.sections.fed_back[section].len() {
            let gate = self.sections.fed_back[section][place];
            if let Some(follower) = self.followers.of_gate(gate)
                && self.followers.next(follower) <= at
            {
                self.follow_until(at, follower);
            }
            if let Some(group) = self.abr.group_of(gate)
                && self.abr.next(group) <= at
            {
                self.allow_until(at, group);
            }
        }
    }

    /// Ends every service that is over by `at`. A channel's update or a rate fed back at that
    /// instant comes first: what starts then has the new rate.
    pub(super) fn complete_until(&mut self, at: Time, index: usize) {
        if let Some(group) = self.channels.group_of(index) {
            self.measure_until(at, group);
        }
        if let Some(follower) = self.followers.of_gate(index)
            && self.followers.next(follower) <= at
        {
            self.follow_until(at, follower);
        }
        let group = self.abr.group_of(index);
        if let Some(group) = group
            && self.abr.next(group) <= at
        {
            self.allow_until(at, group);
        }
        let mut last = None;
        while let Some(end) = self.gates[index].next_wakeup().filter(|end| *end <= at) {
            last = Some(end);
            self.gates[index].handle_service_end();
            while let Some(Departure { unit, fate }) = self.gates[index].poll_departure() {
                if let Some(group) = group {
                    let wire = self.gates[index].wire_bytes(unit.bytes);
                    self.note_abr(index, group, end, wire);
                }
                let chain = self.chains[unit.chain as usize];
                match fate {
                    Ok(out) => {
                        if chain.notify {
                            self.note_departure(index as u32, chain, out);
                        }
                        self.send(out, unit, chain.line);
                    }
                    Err(drop) => self.drop(index as u32, drop, unit),
                }
            }
        }
        if let (Some(end), true) = (last, self.is_circuit(index)) {
            self.look_at_circuit(end, index);
        }
    }

    pub(super) fn wake_gate(&mut self, index: usize) {
        if let Some(end) = self.gates[index].next_wakeup() {
            self.events.wake(index as Source, end);
        }
    }
}
