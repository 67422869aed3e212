//! Strict priority (IEEE 802.1Q 8.6.8.1): the first class that may be served is. Classes may have credit
//! ([`super::credit`]) and time gates ([`super::openings`]); those that may not send do not keep others from it.

use super::credit::Credit;
use super::openings::Openings;
use crate::plan::StrictPlan;
use crate::units::{Rate, Time};

/// The limits on strict priority: credits and time gates.
#[derive(Clone, Debug)]
pub(super) struct Strict {
    /// Zero where no class has credit or a time gate.
    link: Rate,
    classes: Vec<Limits>,
}

#[derive(Clone, Debug)]
struct Limits {
    credit: Option<Credit>,
    openings: Option<Openings>,
}

impl Strict {
    pub(super) fn new(plan: &StrictPlan) -> Strict {
        let limits = |(credit, open): (&Option<_>, &Option<_>)| Limits {
            credit: credit.as_ref().map(Credit::new),
            openings: open.clone().map(Openings::new),
        };
        Strict {
            link: plan.link.unwrap_or_default(),
            classes: plan.credits.iter().zip(&plan.open).map(limits).collect(),
        }
    }

    /// Whether any class has credit.
    pub(super) fn has_credits(&self) -> bool {
        self.classes.iter().any(|class| class.credit.is_some())
    }

    /// Whether a packet of so many bytes could ever be sent.
    pub(super) fn fits(&self, class: usize, bytes: u32) -> bool {
        let openings = self.classes[class].openings.as_ref();
        openings.is_none_or(|openings| self.link.span_of(bytes) <= openings.longest())
    }

    /// Brings a class' credit to `now`; `waits`: packets of the class wait from now on.
    pub(super) fn advance(&mut self, class: usize, now: Time, waits: bool) {
        let Limits { credit, openings } = &mut self.classes[class];
        if let Some(credit) = credit {
            credit.advance(now, waits, openings.as_ref());
        }
    }

    /// When a packet of so many bytes may begin, from `now` on.
    pub(super) fn may_send(&self, class: usize, now: Time, bytes: u32) -> Time {
        let Limits { credit, openings } = &self.classes[class];
        let ready = credit.as_ref().map_or(now, |credit| credit.ready(now, openings.as_ref()));
        match openings {
            Some(openings) if ready < Time::NEVER => openings.next_fit(ready, self.link.span_of(bytes)),
            _ => ready,
        }
    }

    /// The first class that may send at `now`, or when one may. `head` says how many bytes on the wire the first packet of
    /// a class has.
    pub(super) fn choose(&self, now: Time, head: impl Fn(usize) -> Option<u32>) -> Result<usize, Time> {
        let mut earliest = Time::NEVER;
        for class in 0..self.classes.len() {
            let Some(bytes) = head(class) else { continue };
            let begins = self.may_send(class, now, bytes);
            if begins <= now {
                return Ok(class);
            }
            earliest = earliest.min(begins);
        }
        Err(earliest)
    }

    /// A packet of the class is sent from `now` to `end`.
    pub(super) fn charge(&mut self, class: usize, (now, end): (Time, Time), bytes: u32) {
        if let Some(credit) = &mut self.classes[class].credit {
            credit.sends(now, end, u64::from(bytes) * 8);
        }
    }
}
