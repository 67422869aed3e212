//! The network drives its controls: it wakes them, informs them of arrivals and departures at their gates,
//! and goes on with the gates that they have set.

use crate::net::Network;
use crate::net::control::{Arrival, Control, Controlled, Effect};
use crate::net::fast::Walk;
use crate::net::sources::SourceKind;
use crate::unit::Unit;
use crate::units::Time;

impl Network {
    /// A group of a control wakes at `at`.
    pub(in crate::net) fn wake_control(&mut self, at: Time, by: SourceKind, group: usize) {
        let counts_departures = self.controls.get(by).is_some_and(Control::counts_departures);
        let (mut place, mut forward) = (0, None);
        while let Some(gate) = self.controls.needs(by, group, place) {
            // Cells are brought forward by the section, with all of its gates; packet gates are where they are.
            if let Some(section) = self.sections.section_of(gate).filter(|section| forward != Some(*section))
            {
                forward = Some(section);
                self.sections.sections[section].advance_before(at, &mut self.gates);
                if counts_departures {
                    self.collect(section);
                }
            }
            place += 1;
        }
        place = 0;
        while let Some(gate) = self.controls.sets(by, group, place) {
            self.take_late(gate, at);
            place += 1;
        }
        if let Some(control) = self.controls.get_mut(by) {
            control.handle_wakeup(at, group, &mut self.gates);
        }
        self.follow_up(Effect::Gates, by, group);
    }

    /// Wakes the control of a gate if it is due by `at` and comes before services at the same instant: what
    /// starts then has the new rate.
    #[inline]
    pub(in crate::net) fn set_rate_until(&mut self, at: Time, gate: usize) {
        if let Some(Controlled { by, group, sets_rates: true, .. }) = self.controls.of_gate(gate)
            // Its event is never later than it wants.
            && self.schedule.due(by, group) <= at
            && self.controls.get(by).is_some_and(|control| control.next_wakeup(group) <= at)
        {
            self.wake_control(at, by, group);
        }
    }

    /// A packet comes to a gate that is controlled: the control may refuse it, and is informed of it.
    pub(in crate::net) fn enter_controlled(
        &mut self,
        at: Time,
        mut unit: Unit,
        gate: usize,
        Controlled { by, group, sets_rates, .. }: Controlled,
    ) {
        if !sets_rates {
            self.wake_control(at, by, group);
        }
        let Some(control) = self.controls.get_mut(by) else { return };
        let (gates, route) = (&mut self.gates, self.map.stretches[unit.stretch as usize].route);
        // What the policer drops asks for nothing.
        let taken = gates[gate].handle_ingress(at, &mut unit).and_then(|_| {
            if control.admits(at, gate, gates) {
                gates[gate].handle_after_ingress(at, unit)
            } else {
                Err(gates[gate].refuse_call(at, &unit))
            }
        });
        let (wire, dropped) = (gates[gate].wire_bytes(unit.bytes), taken.is_err());
        if let Err(drop) = taken {
            self.drop(gate as u32, drop, unit);
        }
        if let Some(informed) = self.controls.get_mut(by) {
            let effect = informed.handle_arrival(at, Arrival { gate, route, wire, dropped }, &mut self.gates);
            self.follow_up(effect, by, group);
        }
    }

    /// A unit with `wire` bytes on the wire has left a gate that is controlled.
    pub(in crate::net) fn note_departure_to(
        &mut self,
        Controlled { by, group, .. }: Controlled,
        at: Time,
        gate: usize,
        wire: u32,
    ) {
        if let Some(control) = self.controls.get_mut(by) {
            let effect = control.handle_departure(at, gate, wire, &mut self.gates);
            self.follow_up(effect, by, group);
        }
    }

    #[inline]
    fn follow_up(&mut self, effect: Effect, by: SourceKind, group: usize) {
        if effect != Effect::Nothing {
            self.follow_up_effect(effect, by, group);
        }
    }

    fn follow_up_effect(&mut self, effect: Effect, by: SourceKind, group: usize) {
        let Some(control) = self.controls.get(by) else { return };
        self.schedule.wake(by, group, control.next_wakeup(group));
        let late = control.next_late_event();
        if late < Time::NEVER {
            self.schedule.wake(SourceKind::LateEvent, 0, late);
        }
        if effect == Effect::Wakeup {
            return;
        }
        let (mut place, mut collected) = (0, None);
        while let Some(gate) = self.controls.sets(by, group, place) {
            match self.sections.section_of(gate) {
                Some(section) if collected == Some(section) => {}
                Some(section) => {
                    collected = Some(section);
                    self.collect(section);
                }
                None => {
                    self.collect_departures(gate, self.schedule.now);
                    self.wake_gate(gate);
                }
            }
            place += 1;
        }
    }

    /// Late events of `at`: they come after everything else at that instant.
    pub(in crate::net) fn handle_late_events(&mut self, at: Time) {
        if let Some(circuits) = &mut self.controls.circuits {
            circuits.handle_late_events(at, &mut self.gates);
            self.follow_up(Effect::Gates, SourceKind::Circuits, 0);
        }
    }

    /// The application of a flow begins a transfer at `at`: from then on its circuits, once
    /// open, stay open until [`Network::handle_transfer_end`]. It opens nothing by itself: the
    /// transfer's first packet asks. `at` is the application's own time, never before the
    /// last event, and may be ahead of it where endpoints run ahead; it takes effect after
    /// everything else at its instant. Both endpoints of a flow count as one: transfers of a
    /// flow do not nest, a second beginning changes nothing. Does nothing where the flow
    /// passes no circuit.
    pub fn handle_transfer_begin(&mut self, at: Time, flow: usize) {
        self.note_transfer(at, flow, true);
    }

    /// The transfer of a flow is over at `at`, nothing of it is still to be sent by either
    /// side: its circuits are held on for `hold` from the instant that they are idle (no
    /// transfer of any flow, no packet in them), and then given back. A packet that comes
    /// later opens them again, or asks for them anew. Ends without a beginning change
    /// nothing. While its circuits are still asked for, an end changes something only if no
    /// packet waits for them: then they are not asked for any more.
    pub fn handle_transfer_end(&mut self, at: Time, flow: usize) {
        self.note_transfer(at, flow, false);
    }

    /// Whether a flow passes a circuit, so that it matters when its transfers begin and end.
    #[must_use]
    pub fn uses_circuit(&self, flow: usize) -> bool {
        self.controls.circuits().is_some_and(|circuits| circuits.is_used_by(flow))
    }

    fn note_transfer(&mut self, at: Time, flow: usize, begins: bool) {
        if let Some(circuits) = &mut self.controls.circuits {
            let late = circuits.note_transfer(at, flow, begins);
            self.schedule.wake(SourceKind::LateEvent, 0, late);
        }
    }
}
