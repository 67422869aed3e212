//! A client that sends requests and waits for responses, and how far each request has come at both ends
//! of its connection.
//!
//! It never looks at the transport. Over TCP the engine calls it with the bytes that have arrived in order at either end:
//! messages have no headers of their own; where one ends is known from the bytes before it. A transport whose messages overtake each
//! other calls it with their numbers ([`Client::handle_arrived`]).

use std::collections::VecDeque;

use rand_distr::{Distribution, Exp1};

use super::size::Sizes;
use super::video::Player;
use crate::advice::RateSignal;
use crate::plan::{ConnectionPlan, RequestLoop, RequestPlan, ThinkPlan};
use crate::random::{Seed, Stream};
use crate::units::{Span, Time};

/// A request and its response; [`Time::NEVER`] stands for what has not happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// User bytes of the request.
    pub request: u64,
    /// User bytes of the response.
    pub response: u64,
    /// The client's user asked for it.
    pub asked: Time,
    /// The request was written into TCP.
    pub begun: Time,
    /// Its last byte had come to the server, in order.
    pub arrived: Time,
    /// The response was written into TCP.
    pub answered: Time,
    /// Its last byte had come to the client, in order.
    pub ended: Time,
}

/// What the client writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    /// User bytes of the request.
    pub bytes: u64,
    /// User bytes of its response.
    pub response: u64,
    /// On a new connection: whatever the old one had is gone.
    pub anew: bool,
    /// The first request has number 0.
    pub number: u64,
}

/// The requests of one flow.
#[derive(Debug)]
pub struct Client {
    pub(super) plan: RequestPlan,
    requests: Sizes,
    responses: Sizes,
    thinks: Stream,
    /// Think times so far.
    thought: usize,
    /// Requests still to be asked.
    left: u64,
    /// When the next is asked.
    next: Time,
    /// What asks in place of a user.
    player: Option<Box<Player>>,
    /// Asked, and not begun.
    waiting: VecDeque<Exchange>,
    /// Begun, and not ended, in order: the first `answered` are answered, the first `arrived` have arrived.
    pub(super) open: VecDeque<Exchange>,
    /// The number of the first of them.
    pub(super) first: u64,
    /// Where messages have numbers: exchanges in `open` that have ended before an older one, and requests that have arrived and are not
    /// answered, in order of arrival.
    pub(super) ended_early: usize,
    pub(super) unanswered: VecDeque<u64>,
    arrived: usize,
    answered: usize,
    /// User bytes on this connection of the requests that have arrived whole, and of the responses that have ended.
    arrived_bytes: u64,
    ended_bytes: u64,
}

impl Client {
    /// The client of a flow that starts at `start`: its first request comes a think time later.
    #[must_use]
    pub fn new(plan: &RequestPlan, start: Time, seed: Seed, flow: &str) -> Client {
        let stream = |what: &str| seed.stream(&format!("flow.{flow}/app/{what}"));
        let mut client = Client {
            requests: Sizes::new(&plan.request, stream("request")),
            responses: Sizes::new(&plan.response, stream("response")),
            thinks: stream("think"),
            thought: 0,
            left: plan.count.unwrap_or(u64::MAX),
            next: Time::NEVER,
            player: plan.video.as_ref().map(|video| Box::new(Player::new(video, start))),
            waiting: VecDeque::new(),
            open: VecDeque::new(),
            first: 0,
            ended_early: 0,
            unanswered: VecDeque::new(),
            arrived: 0,
            answered: 0,
            arrived_bytes: 0,
            ended_bytes: 0,
            plan: plan.clone(),
        };
        match &client.player {
            Some(player) => client.next = player.next_ask(start),
            None => client.think(start),
        }
        client
    }

    /// The next request comes a think time after `from`, if there is one.
    pub(super) fn think(&mut self, from: Time) {
        if self.left == 0 {
            self.next = Time::NEVER;
            return;
        }
        let span = match &self.plan.think {
            ThinkPlan::Constant(span) => *span,
            ThinkPlan::Exponential(mean) => {
                let unit: f64 = Exp1.sample(&mut self.thinks);
                Span::from_picos((unit * mean.picos() as f64) as u64)
            }
            ThinkPlan::List(list) => list.get(self.thought % list.len().max(1)).copied().unwrap_or(Span::MAX),
        };
        self.thought += 1;
        self.next = from.saturating_add(span);
    }

    /// When its user asks next; [`Time::NEVER`]: not before a response, or not at all.
    #[must_use]
    pub fn next_wakeup(&self) -> Time {
        self.next
    }

    /// Asks for everything that is due by `now`.
    pub fn handle_wakeup(&mut self, now: Time) {
        while self.next <= now && self.next != Time::NEVER {
            let asked = self.next;
            let response = match &mut self.player {
                Some(player) => player.ask(asked).bytes,
                None => self.responses.next_size(),
            };
            self.waiting.push_back(Exchange {
                request: self.requests.next_size(),
                response,
                asked,
                begun: Time::NEVER,
                arrived: Time::NEVER,
                answered: Time::NEVER,
                ended: Time::NEVER,
            });
            if let Some(player) = &self.player {
                self.next = player.next_ask(asked);
                continue;
            }
            self.left -= 1;
            match self.plan.request_loop {
                RequestLoop::Open => self.think(asked),
                RequestLoop::Closed => self.next = Time::NEVER,
            }
        }
    }

    /// A response has ended: what comes next.
    pub(super) fn note_ended(&mut self, now: Time) {
        if let Some(player) = &mut self.player {
            player.handle_segment(now);
            self.next = player.next_ask(now);
        } else if self.plan.request_loop == RequestLoop::Closed {
            self.think(now);
        }
    }

    /// What asks for the segments of a video, if that is what the flow is for.
    #[must_use]
    pub fn player(&self) -> Option<&Player> {
        self.player.as_deref()
    }

    /// Throughput advice came to the client's end with a packet of the flow.
    pub fn handle_advice(&mut self, at: Time, signal: RateSignal) {
        if let Some(player) = &mut self.player {
            player.handle_advice(at, signal);
        }
    }

    /// Whether a request waits that may begin.
    #[must_use]
    pub fn may_begin(&self) -> bool {
        !self.waiting.is_empty() && self.plan.outstanding.is_none_or(|most| (self.count_open() as u64) < most)
    }

    /// The next request to write into TCP at `now`; `None`: not now.
    pub fn poll_begin(&mut self, now: Time) -> Option<Begin> {
        if !self.may_begin() {
            return None;
        }
        let mut exchange = self.waiting.pop_front()?;
        exchange.begun = now;
        let number = self.first + self.open.len() as u64;
        self.open.push_back(exchange);
        let anew = self.plan.connection == ConnectionPlan::New;
        if anew {
            (self.arrived_bytes, self.ended_bytes) = (0, 0);
        }
        Some(Begin { bytes: exchange.request, response: exchange.response, anew, number })
    }

    /// Whether a request has begun and not ended.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.count_open() > 0
    }

    fn count_open(&self) -> usize {
        self.open.len() - self.ended_early
    }

    /// So many user bytes of this connection have come to the server in order: the next
    /// request that is whole, as the bytes that the server works through; `None`: no more.
    pub fn poll_arrived(&mut self, now: Time, delivered: u64) -> Option<u64> {
        let next = self.open.get_mut(self.arrived)?;
        if self.arrived_bytes + next.request > delivered {
            return None;
        }
        next.arrived = now;
        self.arrived_bytes += next.request;
        self.arrived += 1;
        Some(next.request + next.response)
    }

    /// The server answers the oldest request that it has not answered: the response's user
    /// bytes, to write into TCP; 0: there is no such request.
    pub fn answer(&mut self, now: Time) -> u64 {
        if self.answered == self.arrived {
            return 0;
        }
        let Some(next) = self.open.get_mut(self.answered) else { return 0 };
        next.answered = now;
        self.answered += 1;
        next.response
    }

    /// So many user bytes of this connection have come to the client in order: the next
    /// exchange that ended with them; `None`: no more.
    pub fn poll_ended(&mut self, now: Time, delivered: u64) -> Option<Exchange> {
        let end = self.ended_bytes + self.open.front()?.response;
        if self.answered == 0 || end > delivered {
            return None;
        }
        let mut exchange = self.open.pop_front()?;
        self.first += 1;
        exchange.ended = now;
        self.ended_bytes = end;
        self.arrived -= 1;
        self.answered -= 1;
        self.note_ended(now);
        Some(exchange)
    }

    /// What was asked and has not ended, in order of asking.
    pub fn unfinished(&self) -> impl Iterator<Item = &Exchange> {
        self.open.iter().filter(|exchange| exchange.ended == Time::NEVER).chain(&self.waiting)
    }

    /// Bytes held, about.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        ((self.open.capacity() + self.waiting.capacity()) * size_of::<Exchange>()) as u64
            + self.player.as_ref().map_or(0, |player| player.memory_bytes())
    }
}
