//! The loop of the live engine: take packets, advance the network's time, write packets, sleep.

use std::time::Duration;

use tidegate_core::net::{Dropped, Network, Owner, Step};
use tidegate_core::plan::Plan;
use tidegate_core::unit::{Ecn, HeldBy, Unit};
use tidegate_core::units::{Span, Time};

use super::classify::Classifier;
use super::lateness::Lateness;
use super::options::PumpOptions;
use super::pace::{Ahead, Pace};
use super::record::Recording;
use super::report::{Arrival, Departure};
use super::slab::Slab;
use super::stalls::Stalls;
use super::transfers::{Place, Transfers};
use super::waiter::{Waiter, Woken};
use crate::clock::{PICOS_PER_NANO, after};
use crate::lab::{Edge, Side};
use crate::progress::TellingGates;
use crate::segment::{codepoint, ecn, mark, set_codepoint};
use crate::{Clock, LiveError, limits};

/// Packets taken from one edge before what is due is written.
const BATCH: u32 = 32;
/// Closer to a departure than this, the thread polls the clock instead of sleeping.
const FINAL: Span = Span::from_micros(3);
/// Packets of each size that there is room for at the start.
const READY_PACKETS: usize = 512;

/// The state of the thread.
pub(super) struct Engine {
    pub(super) clock: Clock,
    pub(super) network: Network,
    pub(super) edges: [Edge; 2],
    pub(super) strays: [u64; 2],
    pub(super) lateness: Lateness,
    pub(super) stalls: Stalls,
    pub(super) recording: Recording,
    pub(super) transfers: Transfers,
    telling: TellingGates,
    waiter: Waiter,
    classifier: Classifier,
    slab: Slab,
    room: Vec<u8>,
    until: Time,
    /// When the last packet entered.
    entered: Time,
    pub(super) ahead: Ahead,
    /// The lateness of a packet at which the run is aborted.
    fail_behind: Span,
    /// When each edge was first found not empty, until it is empty again.
    backlog: [Option<Time>; 2],
    /// What has left the network and is to be written.
    leaving: Vec<Leaving>,
    /// Which edges were written to since they were last looked at.
    written: [bool; 2],
    pace: Pace,
}

/// A packet whose time has come: when it was due, its route and itself.
#[derive(Debug)]
struct Leaving {
    due: Time,
    route: u32,
    unit: Unit,
}

impl Engine {
    pub(super) fn new(
        plan: &Plan,
        edges: [Edge; 2],
        mtu: u32,
        (clock, waiter): (Clock, Waiter),
        classifier: Classifier,
        options: &PumpOptions,
    ) -> Engine {
        let network = Network::new(plan, 0);
        Engine {
            clock,
            transfers: Transfers::new(plan, &network),
            network,
            edges,
            strays: [0; 2],
            lateness: Lateness::default(),
            stalls: Stalls::longer_than(limits::harmless_stall(plan).span),
            recording: Recording::new(options.capture_bytes),
            telling: TellingGates::new(options.progress.clone(), plan.gates.len()),
            waiter,
            classifier,
            slab: Slab::new(mtu as usize, READY_PACKETS),
            room: vec![0; usize::from(u16::MAX) + 1],
            until: plan.duration,
            entered: Time::ZERO,
            ahead: if options.spin.is_zero() {
                Ahead::lead(span(options.lead_most))
            } else {
                Ahead::tail(span(options.spin), span(options.spin_most))
            },
            fail_behind: options.fail_behind.map_or(Span::MAX, span),
            backlog: [None; 2],
            leaving: Vec::with_capacity(READY_PACKETS),
            written: [false; 2],
            pace: Pace::new(),
        }
    }

    /// Runs to the end of the plan, or until it is stopped. Returns the time reached.
    pub(super) fn run(&mut self) -> Result<Time, LiveError> {
        let mut woken = Woken { readable: [true; 2], stop: false };
        loop {
            for side in [Side::Sender, Side::Receiver] {
                if woken.readable[side as usize] {
                    self.take_packets(side)?;
                }
            }
            let now = self.clock.now();
            if now >= self.until {
                self.release(self.until);
                self.write_all()?;
                return Ok(self.until);
            }
            self.release(after(now));
            self.write_all()?;
            self.telling.tell(now, &self.network);
            if woken.stop {
                return Ok(now);
            }
            woken = match std::mem::take(&mut self.written) {
                [false, false] => self.wait()?,
                // The kernel answers within the write: an answer is there already, if any is.
                readable => Woken { readable, stop: false },
            };
        }
    }

    /// Waits until there is something to do, or nearly.
    fn wait(&mut self) -> Result<Woken, LiveError> {
        let poll = Woken { readable: [true; 2], stop: false };
        if self.backlog.iter().any(Option::is_some) {
            // Looks now and then for the wish to stop.
            return if self.pace.is_time_to_look() {
                let woken = self.waiter.look()?;
                Ok(Woken { readable: [true; 2], ..woken })
            } else {
                Ok(poll)
            };
        }
        let next = self.network.next_wakeup();
        // What happens inside may be handled a little late: it has its time already.
        let exit = self.network.next_delivery().max(next).min(self.until);
        let now = self.clock.now();
        let left = exit.saturating_since(now);
        let ahead = if self.pace.may_spin(now) { self.ahead.now() } else { Span::ZERO };
        // Before the run its clock stands at zero, so the time that is left says nothing.
        let early = now == Time::ZERO && exit > now;
        if early || left > ahead {
            let wake = next.min(Time::from_picos(exit.picos().saturating_sub(ahead.picos())));
            self.pace.sleeps(now);
            let woken = self.waiter.sleep_until(self.clock.monotonic(wake))?;
            let awake = self.clock.now();
            self.pace.wakes(awake);
            if woken == Woken::default() {
                let late = awake.saturating_since(wake);
                self.ahead.note(late);
                // Packets that came meanwhile are stamped late, even if none was due.
                self.stalls.note(wake, late);
            }
            return Ok(woken);
        }
        if left > FINAL {
            return Ok(poll);
        }
        while self.clock.now() < exit {
            std::hint::spin_loop();
        }
        Ok(Woken::default())
    }

    /// Takes what has come to one edge into the network.
    fn take_packets(&mut self, side: Side) -> Result<(), LiveError> {
        for _ in 0..BATCH {
            let read = self.edges[side as usize].read(&mut self.room);
            let Some((length, age)) = read.map_err(|error| LiveError::kernel("read a packet", error))? else {
                self.backlog[side as usize] = None;
                return Ok(());
            };
            let now = self.clock.now();
            if now >= self.until {
                return Ok(());
            }
            let at = self.stamp(now, age);
            self.release(after(at));
            self.enter(at, side, length);
        }
        let now = self.clock.now();
        let since = *self.backlog[side as usize].get_or_insert(now);
        if now.saturating_since(since) > self.fail_behind {
            return Err(self.fell_behind(format!(
                "packets of the {} have been waiting for the engine for {}",
                side.word(),
                now.saturating_since(since)
            )));
        }
        Ok(())
    }

    /// When a packet that the kernel had some time ago enters: as early as that, but before
    /// nothing that has happened in the network.
    fn stamp(&mut self, now: Time, age: Span) -> Time {
        let had = Time::from_picos(now.picos().saturating_sub(age.picos()));
        self.entered = had.max(self.entered).max(self.network.now());
        self.entered
    }

    /// A packet, stamped, enters its route.
    fn enter(&mut self, at: Time, side: Side, length: usize) {
        let packet = &self.room[..length];
        let Some(flow) = self.classifier.flow(side, packet) else {
            self.strays[side as usize] += 1;
            return;
        };
        let route = flow * 2 + side as u32;
        let bytes = length as u32;
        if let Some(begins) = self.transfers.see(route, packet, Place::Enters) {
            self.recording.tell(at, flow, begins, self.leaving.len());
            tell(&mut self.network, at, flow, begins);
        }
        let number = self
            .recording
            .arrive(Arrival { at, route, bytes, ecn: ecn(packet), codepoint: codepoint(packet) }, packet);
        let place = self.slab.put(packet, number);
        let mut unit = Unit::new(bytes, place, HeldBy::CongestionWindow);
        unit.set_ecn(ecn(packet));
        unit.set_codepoint(codepoint(packet));
        let told = self.network.handle_unit(at, route as usize, &mut unit);
        debug_assert!(told.is_none(), "nothing is told ahead here");
    }

    /// Logical time goes on; what is due before `until` leaves.
    fn release(&mut self, until: Time) {
        while let Some(step) = self.network.poll_step(until) {
            match step {
                Step::Deliver { at, route, unit } => {
                    self.leaving.push(Leaving { due: at, route: route as u32, unit });
                    // Here and not where it is written, which may be late.
                    self.tell(at, route as u32, unit.handle, Place::Leaves);
                }
                Step::Drop(dropped) => self.forget(dropped),
                // The kernel's TCP does not listen to gates.
                Step::Departed { .. } | Step::Signal { .. } | Step::Alarm { .. } => {}
            }
        }
    }

    /// A packet was dropped.
    fn forget(&mut self, mut dropped: Dropped) {
        let route = match dropped.owner {
            Owner::Data(flow) => flow * 2,
            Owner::Back(flow) => flow * 2 + 1,
            Owner::Traffic(_) => return,
        } as u32;
        self.tell(dropped.at.max(self.network.now()), route, dropped.unit.handle, Place::Vanishes);
        dropped.unit.handle = self.slab.free(dropped.unit.handle);
        self.recording.drops.push(dropped);
    }

    /// Circuits hear what a packet changes that leaves its route or is dropped.
    fn tell(&mut self, at: Time, route: u32, handle: u32, place: Place) {
        if let Some(begins) = self.transfers.see(route, self.slab.bytes(handle), place) {
            self.recording.tell(at, route / 2, begins, self.leaving.len());
            tell(&mut self.network, at, route / 2, begins);
        }
    }

    /// Writes what has left. Where packets come one upon another they are written so as well: a
    /// processor that receives them has to be called once, not for each.
    fn write_all(&mut self) -> Result<(), LiveError> {
        let mut leaving = std::mem::take(&mut self.leaving);
        let done = leaving.drain(..).try_for_each(|packet| self.write(packet));
        self.leaving = leaving;
        done
    }

    fn write(&mut self, Leaving { due, route, unit }: Leaving) -> Result<(), LiveError> {
        // What enters at one side leaves at the other.
        let exit = usize::from(route.is_multiple_of(2));
        let late = self.clock.now().saturating_since(due);
        let marked = unit.ecn() == Ecn::Ce;
        if marked {
            mark(self.slab.bytes_mut(unit.handle));
        }
        if let Some(left_with) =
            unit.codepoint().filter(|left| *left != codepoint(self.slab.bytes(unit.handle)))
        {
            set_codepoint(self.slab.bytes_mut(unit.handle), left_with);
        }
        let packet = self.slab.bytes(unit.handle);
        let written = self.edges[exit].write(packet);
        written.map_err(|error| LiveError::kernel("write a packet", error))?;
        let arrival = self.slab.free(unit.handle);
        self.written[exit] = true;
        self.lateness.note(late);
        self.stalls.note(due, late);
        self.recording.departures.push(Departure {
            due,
            arrival,
            route,
            cause: unit.cause(),
            marked,
            codepoint: unit.codepoint().unwrap_or_default(),
        });
        if late > self.fail_behind {
            return Err(self.fell_behind(format!("a packet due at {due} was written {late} later")));
        }
        Ok(())
    }

    fn fell_behind(&self, what: String) -> LiveError {
        LiveError::FellBehind(format!(
            "the live engine fell behind real time at {} of the run: {what} ({} is the most); \
             the machine is too busy or the scenario too fast, so the run has no result",
            self.clock.now(),
            self.fail_behind
        ))
    }
}

/// Reports the begin or the end of a transfer to the circuits.
pub(crate) fn tell(network: &mut Network, at: Time, flow: u32, begins: bool) {
    if begins {
        network.handle_transfer_begin(at, flow as usize);
    } else {
        network.handle_transfer_end(at, flow as usize);
    }
}

fn span(duration: Duration) -> Span {
    let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    Span::from_picos(nanos.saturating_mul(PICOS_PER_NANO))
}
