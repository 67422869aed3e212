//! Requests: what the clients, at the receivers' ends, and the servers, at the senders', both know.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tidegate_core::app::{Begin, Client, Exchange, Server};
use tidegate_core::net::{seed, start_time};
use tidegate_core::plan::{AppPlan, ConnectionPlan, FlowPlan, Plan};
use tidegate_core::units::Time;

/// The dialogues of a run; both ends' threads take turns.
#[derive(Debug)]
pub(super) struct Dialogues {
    inner: Mutex<Inner>,
}

/// What there is behind the lock.
#[derive(Debug)]
pub(super) struct Inner {
    flows: Vec<Option<Dialogue>>,
    pub(super) servers: Vec<Server>,
}

#[derive(Debug)]
struct Dialogue {
    client: Client,
    server: Option<usize>,
    log: Vec<Exchange>,
}

/// What comes of a request at its server's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// So many bytes are to be written.
    Answer(u64),
    /// This server has it.
    Queued(usize),
}

/// Whether the other end asks and a flow's sender answers.
pub(super) fn has_requests(flow: &FlowPlan) -> bool {
    matches!(flow.app, AppPlan::Request(_))
}

/// Whether each request has a connection of its own.
pub(super) fn begins_anew(flow: &FlowPlan) -> bool {
    matches!(&flow.app, AppPlan::Request(requests) if requests.connection == ConnectionPlan::New)
}

impl Dialogues {
    pub(super) fn new(plan: &Plan) -> Dialogues {
        let root = seed(plan);
        let dialogue = |flow: &FlowPlan| {
            let AppPlan::Request(requests) = &flow.app else { return None };
            let start = start_time(root, &format!("flow.{}/start", flow.name), flow.start);
            let client = Client::new(requests, start, root, &flow.name);
            Some(Dialogue { client, server: requests.server, log: Vec::new() })
        };
        let flows = plan.flows.iter().map(dialogue).collect();
        let servers = plan.servers.iter().map(Server::new).collect();
        Dialogues { inner: Mutex::new(Inner { flows, servers }) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many exchanges of a flow have ended.
    pub(super) fn ended(&self, flow: usize) -> u64 {
        self.lock().flows[flow].as_ref().map_or(0, |dialogue| dialogue.log.len() as u64)
    }

    /// Every exchange of every flow, those last that had not ended.
    pub(super) fn logs(&self) -> Vec<Vec<Exchange>> {
        let all = |dialogue: &Option<Dialogue>| {
            let Some(dialogue) = dialogue else { return Vec::new() };
            dialogue.log.iter().chain(dialogue.client.unfinished()).copied().collect()
        };
        self.lock().flows.iter().map(all).collect()
    }
}

impl Inner {
    /// What a client asks for by `now`, and when to come again.
    pub(super) fn ask(&mut self, flow: usize, now: Time) -> (Begin, Time) {
        let mut all = Begin { bytes: 0, response: 0, anew: false, number: 0 };
        let Some(dialogue) = &mut self.flows[flow] else { return (all, Time::NEVER) };
        dialogue.client.handle_wakeup(now);
        while let Some(Begin { bytes, response, anew, number: _ }) = dialogue.client.poll_begin(now) {
            all.bytes += bytes;
            all.response += response;
            all.anew |= anew;
        }
        (all, dialogue.client.next_wakeup())
    }

    /// So many bytes have come to a flow's server in order.
    pub(super) fn arrived(&mut self, flow: usize, now: Time, delivered: u64) -> Option<Arrived> {
        let dialogue = self.flows[flow].as_mut()?;
        let bytes = dialogue.client.poll_arrived(now, delivered)?;
        Some(match dialogue.server {
            Some(server) => {
                self.servers[server].handle_request(now, flow, bytes);
                Arrived::Queued(server)
            }
            None => Arrived::Answer(dialogue.client.answer(now)),
        })
    }

    /// A response that a server has ready by `now`: whose, and its bytes.
    pub(super) fn ready(&mut self, server: usize, now: Time) -> Option<(usize, u64)> {
        let flow = self.servers[server].poll_response(now)?;
        let dialogue = self.flows[flow].as_mut()?;
        Some((flow, dialogue.client.answer(now)))
    }

    /// So many bytes have come to a flow's client in order: whether a response ended with them.
    pub(super) fn ended(&mut self, flow: usize, now: Time, delivered: u64) -> bool {
        let Some(dialogue) = &mut self.flows[flow] else { return false };
        let before = dialogue.log.len();
        while let Some(exchange) = dialogue.client.poll_ended(now, delivered) {
            dialogue.log.push(exchange);
        }
        dialogue.log.len() > before
    }
}
