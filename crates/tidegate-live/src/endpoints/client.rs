//! The ends that ask, in flows with requests: they connect, write requests and read responses.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use nix::errno::Errno;
use tidegate_core::net::{seed, start_time};
use tidegate_core::plan::Plan;
use tidegate_core::units::Time;

use super::dialogue::{begins_anew, has_requests};
use super::ending::{Counts, Ending};
use super::stack::{FlowStack, Stack};
use super::{Addresses, Shared, TcpInfo, dial};
use crate::{Clock, LiveError};

/// Bytes of one write.
const WRITE: usize = 64 << 10;

/// All clients of a run.
pub(super) struct Clients {
    pub(super) clock: Clock,
    /// By flow; `None`: its sender does not answer requests.
    clients: Vec<Option<Asking>>,
    due: BinaryHeap<Reverse<(Time, usize)>>,
    zeros: Vec<u8>,
    controls: Vec<(&'static str, String)>,
    warmup: Time,
    counted: bool,
}

struct Asking {
    stack: FlowStack,
    addresses: Addresses,
    /// When it is due; other instants in the heap are old.
    armed: Time,
    pending: u64,
    /// It has asked for a connection: its first, or one for a request of its own.
    wants: bool,
    /// Each request has a connection of its own.
    anew: bool,
    ending: Ending,
    /// Time-outs when counting began.
    before: u16,
}

impl Clients {
    pub(super) fn new(plan: &Plan, stack: &Stack, addresses: &[Addresses], clock: Clock) -> Clients {
        let root = seed(plan);
        let mut due = BinaryHeap::new();
        let mut clients = Vec::new();
        for (number, flow) in plan.flows.iter().enumerate() {
            let armed = start_time(root, &format!("flow.{}/start", flow.name), flow.start);
            clients.push(has_requests(flow).then(|| {
                due.push(Reverse((armed, number)));
                let stack = stack.flows[number].clone();
                let anew = begins_anew(flow);
                let addresses = addresses[number];
                Asking {
                    stack,
                    addresses,
                    armed,
                    pending: 0,
                    wants: !anew,
                    anew,
                    ending: Ending::default(),
                    before: 0,
                }
            }));
        }
        let zeros = vec![0; WRITE];
        Clients { clock, clients, due, zeros, controls: Vec::new(), warmup: plan.warmup, counted: false }
    }

    /// When the next client has something to do.
    pub(super) fn next(&self) -> Time {
        self.due.peek().map_or(Time::NEVER, |Reverse((at, _))| *at)
    }

    /// Somebody who is due now.
    pub(super) fn take_due(&mut self) -> Option<usize> {
        if !self.clock.has_begun() {
            return None;
        }
        let now = self.clock.now();
        while let Some(Reverse((at, flow))) = self.due.peek().copied() {
            if at > now {
                return None;
            }
            self.due.pop();
            if self.clients[flow].as_ref().is_some_and(|client| client.armed == at) {
                return Some(flow);
            }
        }
        None
    }

    /// Begins to connect to the flow's server if that is wanted: from the port that tells the flow, or,
    /// where connections follow each other, from any (the server's port tells it). `old` is
    /// the connection before.
    pub(super) fn dial(
        &mut self,
        flow: usize,
        old: &mut Option<Arc<OwnedFd>>,
    ) -> Result<Option<OwnedFd>, LiveError> {
        let Some(client) = &mut self.clients[flow] else { return Ok(None) };
        if !std::mem::take(&mut client.wants) {
            return Ok(None);
        }
        if let Some(old) = old.take() {
            client.ending.put(old);
        }
        let mut own = client.addresses.receiver;
        let server = SocketAddrV4::new(client.addresses.sender, own.port());
        if client.anew {
            own.set_port(0);
        }
        dial::dial(own, server, &client.stack, &mut self.controls).map(Some)
    }

    /// Asks for what is due and may begin.
    pub(super) fn ask(&mut self, flow: usize, shared: &Shared) {
        let Some(client) = &mut self.clients[flow] else { return };
        let mut dialogues = shared.dialogues.lock();
        let (begin, next) = dialogues.ask(flow, self.clock.now());
        client.pending += begin.bytes;
        client.wants |= begin.anew;
        shared.owed.raise(flow, begin.response);
        client.armed = next;
        if next != Time::NEVER {
            self.due.push(Reverse((next, flow)));
        }
    }

    /// So many bytes have come to a client.
    pub(super) fn came(&mut self, flow: usize, delivered: u64, shared: &Shared) {
        if self.clients[flow].is_none() {
            return;
        }
        let ended = shared.dialogues.lock().ended(flow, self.clock.now(), delivered);
        if ended {
            self.ask(flow, shared);
        }
    }

    /// Writes until the socket takes no more or nothing is left; before it is connected it takes nothing.
    pub(super) fn write(&mut self, flow: usize, socket: &OwnedFd, shared: &Shared) {
        let Some(client) = &mut self.clients[flow] else { return };
        while client.pending > 0 {
            let most = self.zeros.len().min(usize::try_from(client.pending).unwrap_or(usize::MAX));
            match nix::unistd::write(socket, &self.zeros[..most]) {
                Ok(taken) => client.pending -= taken as u64,
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN | Errno::ENOTCONN) => return,
                Err(error) => {
                    let text = format!("asking failed: {error}");
                    shared.note(flow, |facts| facts.failure = Some(text));
                    client.pending = 0;
                }
            }
        }
    }

    /// Time-outs before the measured time do not count.
    pub(super) fn count_from_the_warmup<'a>(&mut self, socket: impl Fn(usize) -> Option<&'a Arc<OwnedFd>>) {
        if self.counted || self.clock.now() < self.warmup {
            return;
        }
        self.counted = true;
        for (flow, client) in self.clients.iter_mut().enumerate() {
            if let Some(client) = client {
                client.before = client.timeouts(socket(flow));
            }
        }
    }

    /// The run is over: says how many time-outs there were, and ends what is ending.
    pub(super) fn finish<'a>(&mut self, socket: impl Fn(usize) -> Option<&'a Arc<OwnedFd>>, shared: &Shared) {
        for (flow, client) in self.clients.iter_mut().enumerate() {
            if let Some(client) = client {
                let count = client.timeouts(socket(flow)).saturating_sub(client.before);
                shared.note(flow, |facts| facts.client_timeouts = u64::from(count));
                client.ending.reset();
            }
        }
    }
}

impl Asking {
    /// Of all its connections so far.
    fn timeouts(&mut self, socket: Option<&Arc<OwnedFd>>) -> u16 {
        let info = socket.and_then(|socket| TcpInfo::read(socket.as_fd()).ok());
        let now = info.map_or_else(Counts::default, |info| Counts::of(&info));
        self.ending.review().plus(now).timeouts
    }
}
