//! The receiving ends.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use nix::sys::epoll::EpollFlags;
use tidegate_core::app::Pace;
use tidegate_core::plan::{FlowPlan, Plan, ReadPlan};
use tidegate_core::units::{Span, Time};

use super::client::Clients;
use super::ending::say_goodbye;
use super::sockopt::{self, TcpOption};
use super::stack::Stack;
use super::watch::Watch;
use super::{Addresses, Shared, sockets};
use crate::{Clock, LiveError};

/// Bytes taken by one call.
const TAKE: usize = 4 << 20;
/// Readings after which the window's limit is set, every time.
const CLAMP_OFTEN: u32 = 400;
/// Later it is set once in this many.
const CLAMP_SELDOM: u32 = 64;

/// A reading of a slow program that comes late by no more than this is made up for.
const LATE: Span = Span::from_millis(10);

/// Takes connections and what comes over them, all flows on one thread.
pub(super) struct Receiver {
    shared: Arc<Shared>,
    listeners: Vec<Option<OwnedFd>>,
    guests: Vec<Guest>,
    /// The guests that do not read at once.
    slow: Vec<usize>,
    watch: Watch,
    clients: Clients,
}

#[derive(Default)]
struct Guest {
    socket: Option<Arc<OwnedFd>>,
    window: Option<u32>,
    /// A program that does not read at once.
    pace: Option<Pace>,
    /// It reads on at its pace's time.
    waits: bool,
    delayed_ack_most_us: Option<u32>,
    readings: u32,
    delivered: u64,
    /// The other end has nothing more to say.
    ended: bool,
}

impl Receiver {
    pub(super) fn new(
        shared: Arc<Shared>,
        plan: &Plan,
        listeners: Vec<Option<OwnedFd>>,
        stack: &Stack,
        addresses: &[Addresses],
        clock: Clock,
    ) -> Result<Receiver, LiveError> {
        let watch = Watch::new(&shared.wake[1])?;
        for (listener, number) in listeners.iter().zip(0_u64..) {
            if let Some(listener) = listener {
                watch.add(listener, EpollFlags::EPOLLIN, number * 2)?;
            }
        }
        let guest = |(flow, of): (&super::FlowStack, &FlowPlan)| Guest {
            socket: None,
            pace: match of.tcp.read {
                ReadPlan::AtRate(rate) => Some(Pace::new(rate, of.tcp.mss)),
                ReadPlan::AtOnce | ReadPlan::ByHand => None,
            },
            waits: false,
            window: flow.window.map(|window| u32::try_from(window).unwrap_or(u32::MAX)),
            delayed_ack_most_us: flow.delayed_ack_most_us,
            readings: 0,
            delivered: 0,
            ended: false,
        };
        let guests: Vec<Guest> = stack.flows.iter().zip(&plan.flows).map(guest).collect();
        let slow = (0..guests.len()).filter(|flow| guests[*flow].pace.is_some()).collect();
        let clients = Clients::new(plan, stack, addresses, clock);
        Ok(Receiver { shared, listeners, guests, slow, watch, clients })
    }

    /// Works until the run is over, then resets every connection.
    pub(super) fn work(mut self) -> Result<(), LiveError> {
        let mut ready = Vec::new();
        while !self.shared.is_over() {
            self.ask()?;
            self.watch.ring(self.clients.clock, self.clients.next().min(self.next_reading()))?;
            self.watch.wait(&mut ready)?;
            for number in &ready {
                let flow = (*number / 2) as usize;
                if number.is_multiple_of(2) { self.welcome(flow)? } else { self.take(flow)? }
            }
            self.read_on()?;
        }
        self.clients.finish(|flow| self.guests[flow].socket.as_ref(), &self.shared);
        for socket in self.guests.iter().filter_map(|guest| guest.socket.as_ref()) {
            // Where it fails the socket closes in its own time: nothing depends on it.
            sockopt::close_at_once(socket.as_fd()).ok();
        }
        Ok(())
    }

    fn welcome(&mut self, flow: usize) -> Result<(), LiveError> {
        let Some(listener) = &self.listeners[flow] else { return Ok(()) };
        let taken = sockets::take(listener.as_fd());
        let Some(socket) = taken.map_err(|error| LiveError::kernel("take a connection", error))? else {
            return Ok(());
        };
        self.hold(flow, socket)?;
        self.take(flow)
    }

    fn hold(&mut self, flow: usize, socket: OwnedFd) -> Result<(), LiveError> {
        let guest = &mut self.guests[flow];
        if let Some(most) = guest.delayed_ack_most_us {
            // A kernel that lacks the option keeps its own delay.
            sockopt::set(socket.as_fd(), TcpOption::DelayedAckMost, most).ok();
        }
        self.watch.add(&socket, EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT, flow as u64 * 2 + 1)?;
        guest.socket = Some(Arc::new(socket));
        (guest.readings, guest.delivered, guest.ended) = (0, 0, false);
        Ok(())
    }

    /// Clients whose time has come connect, and ask for what is due.
    fn ask(&mut self) -> Result<(), LiveError> {
        while let Some(flow) = self.clients.take_due() {
            self.clients.ask(flow, &self.shared);
            self.speak(flow)?;
        }
        self.clients.count_from_the_warmup(|flow| self.guests[flow].socket.as_ref());
        Ok(())
    }

    /// A client's wishes go out, over a new connection where it wants one.
    fn speak(&mut self, flow: usize) -> Result<(), LiveError> {
        if let Some(socket) = self.clients.dial(flow, &mut self.guests[flow].socket)? {
            self.hold(flow, socket)?;
        }
        if let Some(socket) = &self.guests[flow].socket {
            self.clients.write(flow, socket, &self.shared);
        }
        Ok(())
    }

    /// When the first of the programs reads on that do not read at once.
    fn next_reading(&self) -> Time {
        let waiting = self.slow.iter().map(|flow| &self.guests[*flow]).filter(|guest| guest.waits);
        waiting.filter_map(|guest| guest.pace).map(|pace| pace.ready_at()).min().unwrap_or(Time::NEVER)
    }

    /// Programs whose time has come read on.
    fn read_on(&mut self) -> Result<(), LiveError> {
        for place in 0..self.slow.len() {
            let flow = self.slow[place];
            if self.guests[flow].waits {
                self.take(flow)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, flow: usize) -> Result<(), LiveError> {
        let clock = self.clients.clock;
        let guest = &mut self.guests[flow];
        let Some(socket) = &guest.socket else { return Ok(()) };
        guest.waits = false;
        loop {
            let now = if guest.pace.is_some() { clock.now() } else { Time::ZERO };
            guest.waits = guest.pace.is_some_and(|pace| pace.ready_at() > now);
            if guest.waits {
                break;
            }
            let most = guest.pace.map_or(TAKE, |pace| pace.most() as usize);
            match sockopt::discard(socket.as_fd(), most) {
                Ok(0) => {
                    // Once: it is an event by itself.
                    if !std::mem::replace(&mut guest.ended, true) {
                        say_goodbye(socket);
                    }
                    break;
                }
                Ok(bytes) => {
                    guest.delivered += bytes as u64;
                    if let Some(pace) = &mut guest.pace {
                        let since = Time::from_picos(now.picos().saturating_sub(LATE.picos()));
                        pace.handle_read(pace.ready_at().max(since), bytes as u64);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    if error.kind() != io::ErrorKind::WouldBlock {
                        let text = format!("reading failed: {error}");
                        self.shared.note(flow, |facts| facts.failure = Some(text));
                    }
                    break;
                }
            }
            guest.readings = guest.readings.saturating_add(1);
            // The kernel forgets a limit that is set before data comes, and while its buffer grows.
            let often = guest.readings < CLAMP_OFTEN || guest.readings.is_multiple_of(CLAMP_SELDOM);
            if let Some(window) = guest.window.filter(|_| often) {
                // Whether it is in force is checked by what the sender hears.
                sockopt::set(socket.as_fd(), TcpOption::WindowClamp, window).ok();
            }
        }
        self.shared.delivered[flow].store(guest.delivered, Ordering::Relaxed);
        self.clients.came(flow, guest.delivered, &self.shared);
        self.speak(flow)
    }
}
