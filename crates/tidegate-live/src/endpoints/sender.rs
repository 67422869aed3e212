//! The sending ends.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use nix::errno::Errno;
use nix::sys::epoll::EpollFlags;
use tidegate_core::app::Application;
use tidegate_core::net::{seed, start_time};
use tidegate_core::plan::Plan;
use tidegate_core::units::Time;

use super::dial::dial;
use super::dialogue::{Arrived, begins_anew, has_requests};
use super::ending::{Ending, say_goodbye};
use super::sockopt;
use super::stack::{FlowStack, Stack};
use super::watch::Watch;
use super::{Addresses, Shared, TcpInfo, sockets};
use crate::{Clock, LiveError};

/// Bytes of one write.
const WRITE: usize = 256 << 10;
/// "Always more": a bulk application's bytes never run out.
const ALWAYS: u64 = u64::MAX;

/// Doors are numbered from here, flows from 0.
const LISTENERS: u64 = 1 << 32;

/// Connects and writes, all flows on one thread.
pub(super) struct Sender {
    shared: Arc<Shared>,
    listeners: Vec<Option<OwnedFd>>,
    flows: Vec<Flow>,
    clock: Clock,
    watch: Watch,
    due: BinaryHeap<Reverse<(Time, usize)>>,
    zeros: Vec<u8>,
    controls: Vec<(&'static str, String)>,
}

struct Flow {
    stack: FlowStack,
    addresses: Addresses,
    app: Application,
    socket: Option<Arc<OwnedFd>>,
    connected: bool,
    /// Bytes that the application brought and the socket has not taken.
    pending: u64,
    /// Bytes of requests that have come over this connection.
    delivered: u64,
    /// Each request comes over a connection of its own,
    anew: bool,
    /// whose request has come whole,
    asked: bool,
    /// and which ends with what is pending.
    last: bool,
    ending: Ending,
}

impl Sender {
    pub(super) fn new(
        shared: Arc<Shared>,
        plan: &Plan,
        listeners: Vec<Option<OwnedFd>>,
        stack: &Stack,
        addresses: Vec<Addresses>,
        clock: Clock,
    ) -> Result<Sender, LiveError> {
        let root = seed(plan);
        let mut due = BinaryHeap::new();
        let mut flows = Vec::new();
        for (number, (row, ends)) in plan.flows.iter().zip(addresses).enumerate() {
            let start = start_time(root, &format!("flow.{}/start", row.name), row.start);
            if !has_requests(row) {
                due.push(Reverse((start, number)));
            }
            flows.push(Flow {
                stack: stack.flows[number].clone(),
                addresses: ends,
                app: Application::new(&row.app, start, root.stream(&format!("flow.{}/app", row.name))),
                socket: None,
                connected: false,
                pending: 0,
                delivered: 0,
                anew: begins_anew(row),
                asked: false,
                last: false,
                ending: Ending::default(),
            });
        }
        let watch = Watch::new(&shared.wake[0])?;
        for (listener, number) in listeners.iter().zip(LISTENERS..) {
            if let Some(listener) = listener {
                watch.add(listener, EpollFlags::EPOLLIN, number)?;
            }
        }
        Ok(Sender {
            shared,
            listeners,
            flows,
            clock,
            watch,
            due,
            zeros: vec![0; WRITE],
            controls: Vec::new(),
        })
    }

    /// Works until the run is over, then resets every connection.
    pub(super) fn work(mut self) -> Result<(), LiveError> {
        let mut ready = Vec::new();
        while !self.shared.is_over() {
            self.wake_due()?;
            let next = self.due.peek().map_or(Time::NEVER, |Reverse((at, _))| *at);
            self.watch.ring(self.clock, next)?;
            self.watch.wait(&mut ready)?;
            for number in &ready {
                match number.checked_sub(LISTENERS) {
                    Some(listener) => self.welcome(listener as usize)?,
                    None => self.writable(*number as usize),
                }
            }
        }
        for socket in self.flows.iter().filter_map(|flow| flow.socket.as_ref()) {
            // Where it fails the socket closes in its own time: nothing depends on it.
            sockopt::close_at_once(socket.as_fd()).ok();
        }
        self.flows.iter_mut().for_each(|flow| flow.ending.reset());
        Ok(())
    }

    fn wake_due(&mut self) -> Result<(), LiveError> {
        if !self.clock.has_begun() {
            return Ok(());
        }
        let now = self.clock.now();
        while let Some(Reverse((at, number))) = self.due.peek().copied() {
            if at > now || at == Time::NEVER {
                break;
            }
            self.due.pop();
            if let Some(server) = number.checked_sub(self.flows.len()) {
                self.serve(server);
                continue;
            }
            let brought = self.flows[number].app.handle_wakeup(now);
            self.shared.owed.raise(number, brought);
            if self.flows[number].socket.is_none() {
                self.open(number)?;
            }
            let flow = &mut self.flows[number];
            flow.pending = flow.pending.saturating_add(brought);
            self.due.push(Reverse((self.flows[number].app.next_wakeup(), number)));
            self.fill(number);
        }
        Ok(())
    }

    fn open(&mut self, number: usize) -> Result<(), LiveError> {
        let flow = &self.flows[number];
        let own = std::net::SocketAddrV4::new(flow.addresses.sender, 0);
        let socket = dial(own, flow.addresses.receiver, &flow.stack, &mut self.controls)?;
        self.hold(number, socket)
    }

    /// Clients have come.
    fn welcome(&mut self, number: usize) -> Result<(), LiveError> {
        while let Some(listener) = &self.listeners[number] {
            let taken = sockets::take(listener.as_fd());
            match taken.map_err(|error| LiveError::kernel("take a connection", error))? {
                Some(socket) => self.hold(number, socket)?,
                None => break,
            }
        }
        Ok(())
    }

    /// Takes a connection in the place of the one before, which is over.
    fn hold(&mut self, number: usize, socket: OwnedFd) -> Result<(), LiveError> {
        self.watch.add(&socket, EpollFlags::EPOLLOUT | EpollFlags::EPOLLIN, number as u64)?;
        let flow = &mut self.flows[number];
        let socket = Arc::new(socket);
        if let Some(old) = flow.socket.replace(Arc::clone(&socket)) {
            flow.ending.put(old);
        }
        (flow.connected, flow.delivered, flow.asked, flow.last) = (false, 0, false, false);
        let before = flow.ending.review();
        let mut sending = self.shared.sending();
        (sending[number].socket, sending[number].before) = (Some(socket), before);
        Ok(())
    }

    /// Takes what requests brought, and answers those that are whole.
    fn take_requests(&mut self, number: usize) {
        let count = self.flows.len();
        let flow = &mut self.flows[number];
        let Some(socket) = flow.socket.as_ref().filter(|_| self.listeners[number].is_some()) else { return };
        while let Ok(bytes) = sockopt::discard(socket.as_fd(), WRITE) {
            if bytes == 0 {
                break;
            }
            flow.delivered += bytes as u64;
        }
        let mut dialogues = self.shared.dialogues.lock();
        let now = self.clock.now();
        // The next request may have begun already, but not over this connection.
        while !(flow.anew && flow.asked)
            && let Some(arrived) = dialogues.arrived(number, now, flow.delivered)
        {
            flow.asked = true;
            match arrived {
                Arrived::Answer(bytes) => flow.answer(bytes),
                Arrived::Queued(server) => {
                    let next = dialogues.servers[server].next_wakeup();
                    self.due.push(Reverse((next, count + server)));
                }
            }
        }
    }

    /// Writes what a server has ready.
    fn serve(&mut self, server: usize) {
        let count = self.flows.len();
        loop {
            let mut dialogues = self.shared.dialogues.lock();
            let Some((number, bytes)) = dialogues.ready(server, self.clock.now()) else {
                let next = dialogues.servers[server].next_wakeup();
                if next != Time::NEVER {
                    self.due.push(Reverse((next, count + server)));
                }
                return;
            };
            drop(dialogues);
            self.flows[number].answer(bytes);
            self.fill(number);
        }
    }

    fn writable(&mut self, number: usize) {
        let flow = &mut self.flows[number];
        let Some(socket) = &flow.socket else { return };
        if let Some(error) = sockets::failure(socket.as_ref()) {
            let text = format!("its connection ended: {error}");
            self.shared.note(number, |facts| facts.failure = Some(text));
            return;
        }
        if !flow.connected {
            let info = TcpInfo::read(socket.as_fd()).ok().filter(|info| info.established);
            flow.connected = info.is_some();
            let congestion = sockopt::congestion(socket.as_fd()).unwrap_or_default();
            self.shared.note(number, |facts| {
                if facts.first.is_none() {
                    (facts.first, facts.congestion) = (info, congestion);
                }
            });
        }
        self.take_requests(number);
        self.fill(number);
    }

    /// Writes until the socket takes no more or the application has nothing left.
    fn fill(&mut self, number: usize) {
        let flow = &mut self.flows[number];
        let Some(socket) = flow.socket.as_ref().filter(|_| flow.connected) else { return };
        while flow.pending > 0 {
            let most = self.zeros.len().min(usize::try_from(flow.pending).unwrap_or(usize::MAX));
            match nix::unistd::write(socket.as_ref(), &self.zeros[..most]) {
                Ok(taken) if flow.pending != ALWAYS => flow.pending -= taken as u64,
                Ok(_) | Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return,
                Err(error) => {
                    let text = format!("writing failed: {error}");
                    self.shared.note(number, |facts| facts.failure = Some(text));
                    flow.pending = 0;
                }
            }
        }
        if std::mem::take(&mut flow.last) {
            say_goodbye(socket);
        }
    }
}

impl Flow {
    /// A response of `bytes` bytes is to be written; a connection for one request ends after it.
    fn answer(&mut self, bytes: u64) {
        self.pending += bytes;
        self.last = self.anew;
    }
}
