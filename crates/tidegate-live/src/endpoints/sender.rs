//! The sending ends.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, PoisonError};

use nix::errno::Errno;
use nix::sys::epoll::EpollFlags;
use nix::sys::socket::{SockaddrIn, bind};
use tidegate_core::app::Application;
use tidegate_core::net::{seed, start_time};
use tidegate_core::plan::Plan;
use tidegate_core::units::Time;

use super::sockopt::{self, TcpOption};
use super::stack::{FlowStack, Stack};
use super::watch::Watch;
use super::{Addresses, Shared, TcpInfo, sockets};
use crate::{Clock, LiveError};

/// Bytes of one write.
const WRITE: usize = 256 << 10;
/// "Always more": a bulk application's bytes never run out.
const ALWAYS: u64 = u64::MAX;

/// Connects and writes, all flows on one thread.
pub(super) struct Sender {
    shared: Arc<Shared>,
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
}

impl Sender {
    pub(super) fn new(
        shared: Arc<Shared>,
        plan: &Plan,
        stack: &Stack,
        addresses: Vec<Addresses>,
        clock: Clock,
    ) -> Result<Sender, LiveError> {
        let root = seed(plan);
        let mut due = BinaryHeap::new();
        let mut flows = Vec::new();
        for (number, (row, ends)) in plan.flows.iter().zip(addresses).enumerate() {
            let start = start_time(root, &format!("flow.{}/start", row.name), row.start);
            due.push(Reverse((start, number)));
            flows.push(Flow {
                stack: stack.flows[number].clone(),
                addresses: ends,
                app: Application::new(&row.app, start, root.stream(&format!("flow.{}/app", row.name))),
                socket: None,
                connected: false,
                pending: 0,
            });
        }
        let watch = Watch::new(&shared.wake[0])?;
        Ok(Sender { shared, flows, clock, watch, due, zeros: vec![0; WRITE], controls: Vec::new() })
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
                self.writable(*number as usize);
            }
        }
        for socket in self.flows.iter().filter_map(|flow| flow.socket.as_ref()) {
            // Where it fails the socket closes in its own time: nothing depends on it.
            sockopt::close_at_once(socket.as_fd()).ok();
        }
        Ok(())
    }

    fn wake_due(&mut self) -> Result<(), LiveError> {
        let now = self.clock.now();
        while let Some(Reverse((at, number))) = self.due.peek().copied() {
            if at > now || at == Time::NEVER {
                break;
            }
            self.due.pop();
            if self.flows[number].socket.is_none() {
                self.open(number)?;
            }
            let flow = &mut self.flows[number];
            flow.pending = flow.pending.saturating_add(flow.app.handle_wakeup(now));
            self.due.push(Reverse((self.flows[number].app.next_wakeup(), number)));
            self.fill(number);
        }
        Ok(())
    }

    fn open(&mut self, number: usize) -> Result<(), LiveError> {
        let controls = self.flows[number].stack.controls();
        if controls != self.controls {
            for (name, value) in &controls {
                set_control(name, value)?;
            }
            self.controls = controls;
        }
        let flow = &mut self.flows[number];
        let failed = |error: io::Error| LiveError::kernel("connect a flow", error);
        let socket = sockets::stream().map_err(failed)?;
        sockopt::set_congestion(socket.as_fd(), flow.stack.congestion).map_err(failed)?;
        sockopt::set(socket.as_fd(), TcpOption::MaxSegment, flow.stack.max_segment).map_err(failed)?;
        let here = SockaddrIn::from(std::net::SocketAddrV4::new(flow.addresses.sender, 0));
        bind(std::os::fd::AsRawFd::as_raw_fd(&socket), &here).map_err(|error| failed(error.into()))?;
        sockets::begin(&socket, flow.addresses.receiver).map_err(failed)?;
        self.watch.add(&socket, EpollFlags::EPOLLOUT, number as u64)?;
        let socket = Arc::new(socket);
        flow.socket = Some(Arc::clone(&socket));
        self.shared.senders.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(socket);
        Ok(())
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
                facts.first = info;
                facts.congestion = congestion;
            });
        }
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
    }
}

/// Sets a system control of the namespace of this thread; one that this kernel lacks or refuses
/// is found out when the connection is checked.
fn set_control(name: &str, value: &str) -> Result<(), LiveError> {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    match std::fs::write(&path, value) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(|error| LiveError::kernel(format!("set {name} to \"{value}\""), error)),
    }
}
