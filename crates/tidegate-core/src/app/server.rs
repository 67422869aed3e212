//! A server: whole messages, first in, first out, at a rate of its own.

use std::collections::VecDeque;

use crate::plan::ServerPlan;
use crate::units::{PICOS_PER_SECOND, Rate, Time};

/// A server that several flows may share.
///
/// The n-th message of a busy period ends ⌊bits so far · 10¹² / rate⌋ ps after the
/// period began, as at a gate: 1 000 010 B at 10 MB/s take 100.001 ms.
#[derive(Debug)]
pub struct Server {
    rate: Option<Rate>,
    /// When the busy period began, and the bits that came in it.
    began: Time,
    bits: u128,
    /// When it has worked through all there is.
    free: Time,
    /// Ends of service and whose they are, in order.
    jobs: VecDeque<(Time, usize)>,
}

impl Server {
    /// A server with nothing to do.
    #[must_use]
    pub fn new(plan: &ServerPlan) -> Server {
        Server { rate: plan.rate, began: Time::ZERO, bits: 0, free: Time::ZERO, jobs: VecDeque::new() }
    }

    /// A request of `client` has come whole at `now`, which never goes back; it and its
    /// response are `bytes` long.
    pub fn handle_request(&mut self, now: Time, client: usize, bytes: u64) {
        let end = match self.rate.map(Rate::bps) {
            None => now,
            Some(bps) => {
                if now > self.free || self.bits == 0 {
                    (self.began, self.bits) = (now, 0);
                }
                self.bits += u128::from(bytes) * 8;
                let picos = (self.bits * u128::from(PICOS_PER_SECOND)).checked_div(u128::from(bps));
                let picos = picos.and_then(|picos| u64::try_from(picos).ok()).unwrap_or(u64::MAX);
                Time::from_picos(self.began.picos().saturating_add(picos))
            }
        };
        self.free = end;
        self.jobs.push_back((end, client));
    }

    /// When the next response is ready; [`Time::NEVER`]: there is nothing to do.
    #[must_use]
    pub fn next_wakeup(&self) -> Time {
        self.jobs.front().map_or(Time::NEVER, |(end, _)| *end)
    }

    /// Whose response is ready by `now`, one at a time.
    pub fn poll_response(&mut self, now: Time) -> Option<usize> {
        self.jobs.pop_front_if(|(end, _)| *end <= now).map(|(_, client)| client)
    }
}
