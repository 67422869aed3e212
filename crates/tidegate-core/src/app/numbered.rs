//! Requests whose messages have numbers, and may overtake each other: each on a stream of its own.

use super::{Client, Exchange};
use crate::units::Time;

impl Client {
    /// Request `number` has come whole to the server: the bytes that the server works through, those of the response included. 0: it is
    /// no request that has begun, or it came before.
    pub fn handle_arrived(&mut self, now: Time, number: u64) -> u64 {
        let Some(exchange) = self.numbered(number).filter(|exchange| exchange.arrived == Time::NEVER) else {
            return 0;
        };
        exchange.arrived = now;
        let bytes = exchange.request + exchange.response;
        self.unanswered.push_back(number);
        bytes
    }

    /// The server answers the request that arrived first of those that it has not answered: its number, and the response's user bytes.
    pub fn answer_arrived(&mut self, now: Time) -> Option<(u64, u64)> {
        let number = self.unanswered.pop_front()?;
        let exchange = self.numbered(number)?;
        exchange.answered = now;
        Some((number, exchange.response))
    }

    /// Response `number` has come whole to the client: the exchange; `None`: it had not been answered, or it has ended before.
    pub fn handle_ended(&mut self, now: Time, number: u64) -> Option<Exchange> {
        let exchange = self
            .numbered(number)
            .filter(|exchange| exchange.answered != Time::NEVER && exchange.ended == Time::NEVER)?;
        exchange.ended = now;
        let ended = *exchange;
        self.ended_early += 1;
        while self.open.pop_front_if(|first| first.ended != Time::NEVER).is_some() {
            self.first += 1;
            self.ended_early -= 1;
            // (A closed loop has one at a time; a player shows segments in order.)
            self.note_ended(now);
        }
        Some(ended)
    }

    fn numbered(&mut self, number: u64) -> Option<&mut Exchange> {
        let place = number.checked_sub(self.first)?;
        self.open.get_mut(usize::try_from(place).ok()?)
    }
}
