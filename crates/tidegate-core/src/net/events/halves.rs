//! Calendars that take turns. What happens at one half of all connections (data come to gates
//! and receivers, receivers' timers) changes nothing at the other (ACKs come, senders' timers)
//! before a while has passed, and the other way round: so each half may go on alone for that
//! while. The processor then does one kind of work at a time, with what it needs near.
//! Where nothing is known of halves all sources are of one, and its turn never ends.

use super::Source;
use super::calendar::Calendar;
use crate::units::{Span, Time};

/// A half of all connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Half {
    /// What comes from senders.
    Receivers = 0,
    /// What comes from receivers.
    Senders = 1,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Halves {
    /// Each source's half.
    of: Vec<Half>,
    calendars: [Calendar; 2],
    turn: Half,
    /// When the turn ends.
    limit: Time,
    /// Nothing that happens at a half has an effect at the other earlier than so much later.
    leads: [Span; 2],
}

impl Halves {
    /// One half for all.
    pub(super) fn one(sources: usize) -> Halves {
        Halves {
            of: vec![Half::Receivers; sources],
            calendars: [Calendar::new(sources), Calendar::new(0)],
            turn: Half::Receivers,
            limit: Time::NEVER,
            leads: [Span::ZERO; 2],
        }
    }

    /// `of`: each source's half; `leads`: see there, not both zero.
    pub(super) fn two(of: Vec<Half>, leads: [Span; 2]) -> Halves {
        let calendars = [of.len(); 2].map(Calendar::new);
        Halves { of, calendars, turn: Half::Receivers, limit: Time::ZERO, leads }
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, source: Source, at: Time) {
        self.calendars[self.of[source as usize] as usize].insert(source, at);
    }

    pub(super) fn remove(&mut self, source: Source, at: Time) {
        self.calendars[self.of[source as usize] as usize].remove(source, at);
    }

    #[inline(always)]
    pub(super) fn pop_before(&mut self, until: Time, due: &[Time]) -> Option<(Time, Source)> {
        loop {
            let popped = self.calendars[self.turn as usize].pop_before(until.min(self.limit), due);
            if popped.is_some() || !self.change(until, due) {
                return popped;
            }
        }
    }

    /// The half with the first event has the turn; `false` if there is none before `until`.
    #[inline(never)]
    fn change(&mut self, until: Time, due: &[Time]) -> bool {
        let [receivers, senders] = self.firsts(due);
        // At one instant data come first.
        let (first, other, lead) = if receivers <= senders {
            self.turn = Half::Receivers;
            (receivers, senders, self.leads[Half::Senders as usize])
        } else {
            self.turn = Half::Senders;
            (senders, receivers, self.leads[Half::Receivers as usize])
        };
        if first >= until {
            return false;
        }
        let back_again = first.saturating_add(self.leads[0] + self.leads[1]);
        self.limit = other.saturating_add(lead).min(back_again).max(first + Span::from_picos(1));
        true
    }

    fn firsts(&self, due: &[Time]) -> [Time; 2] {
        [0, 1].map(|half: usize| self.calendars[half].next(due))
    }

    pub(super) fn next(&self, due: &[Time]) -> Time {
        let [receivers, senders] = self.firsts(due);
        receivers.min(senders)
    }
}
