//! The tins of CAKE and its shaper (Høiland-Jørgensen, Täht and Morton 2018; Linux `sch_cake`,
//! `cake_dequeue`).
//!
//! With a shaper, a packet begins no earlier than all before it have been sent at its rate, overhead included; a shaper that was
//! kept waiting while packets were there makes up for it. Each tin has such a clock at a rate of its own: of the tins whose
//! clocks have come, the one with the highest number goes, else the one whose clock comes first.
//!
//! Without a shaper, tins take turns by bytes.
//!
//! The shaper counts 10⁻¹² bit, so that a packet begins at the first whole picosecond at which it may; the clocks of tins are
//! whole picoseconds.

use crate::plan::{TinsPlan, time_of};
use crate::units::{PICOS_PER_SECOND, Rate, Time};

/// Shaper and tins.
#[derive(Clone, Debug)]
pub(super) struct Tins {
    shaper: Option<Shaper>,
    tins: Vec<Tin>,
    /// Whose turn it is, without a shaper.
    current: usize,
    /// Units in all tins.
    units: u64,
}

#[derive(Clone, Debug)]
struct Shaper {
    rate: Rate,
    /// When the next packet may begin, times the rate: in 10⁻¹² bit.
    next: u128,
}

#[derive(Clone, Debug)]
struct Tin {
    rate: Rate,
    /// Up to here the tin has had its rate.
    next: Time,
    quantum: i64,
    /// Bytes that it may still send in its turn, without a shaper.
    deficit: i64,
    /// Units that wait.
    units: u64,
}

impl Tins {
    pub(super) fn new(plan: &TinsPlan) -> Tins {
        let tin = |(rate, quantum): (&Rate, &u32)| Tin {
            rate: *rate,
            next: Time::ZERO,
            quantum: i64::from(*quantum),
            deficit: 0,
            units: 0,
        };
        Tins {
            shaper: plan.bandwidth.map(|rate| Shaper { rate, next: 0 }),
            tins: plan.rates.iter().zip(&plan.quanta).map(tin).collect(),
            current: 0,
            units: 0,
        }
    }

    /// A unit has joined a tin: nothing is made up for of the time in which none was there.
    pub(super) fn arrive(&mut self, now: Time, tin: usize) {
        if self.units == 0
            && let Some(shaper) = &mut self.shaper
        {
            shaper.next = shaper.next.max(shaper.at(now));
        }
        let tin = &mut self.tins[tin];
        if tin.units == 0 {
            tin.next = tin.next.max(now);
        }
        tin.units += 1;
        self.units += 1;
    }

    /// A unit of a tin waits no more.
    pub(super) fn leave(&mut self, tin: usize) {
        self.tins[tin].units -= 1;
        self.units -= 1;
    }

    /// The tin that is served at `now`, or when one may be.
    pub(super) fn choose(&mut self, now: Time) -> Result<usize, Time> {
        if self.units == 0 {
            return Err(Time::NEVER);
        }
        let Some(shaper) = &self.shaper else { return Ok(self.next_turn()) };
        let begins = shaper.begins();
        if begins > now {
            return Err(begins);
        }
        let mut best: Option<(Time, usize)> = None;
        for (number, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.units > 0) {
            if tin.next <= now || best.is_none_or(|(next, _)| tin.next <= next) {
                best = Some((tin.next, number));
            }
        }
        best.map_or(Err(Time::NEVER), |(_, number)| Ok(number))
    }

    /// Without a shaper: the tin whose turn it is.
    fn next_turn(&mut self) -> usize {
        loop {
            let tin = &mut self.tins[self.current];
            if tin.deficit >= 0 && tin.units > 0 {
                return self.current;
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.quantum;
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }

    /// When a unit could be sent, from `now` on, if none waited.
    pub(super) fn may_send(&self, now: Time) -> Time {
        self.shaper.as_ref().map_or(now, |shaper| shaper.begins().max(now))
    }

    /// A packet of so many bytes of the tin that was chosen at `now` is sent (`cake_advance_shaper`).
    pub(super) fn charge(&mut self, now: Time, tin: usize, bytes: u32) {
        let tin = &mut self.tins[tin];
        tin.deficit -= i64::from(bytes);
        let Some(shaper) = &mut self.shaper else { return };
        shaper.next += u128::from(bytes) * 8 * u128::from(PICOS_PER_SECOND);
        let time = time_of(bytes, tin.rate);
        tin.next = if tin.next < now {
            tin.next.saturating_add(time)
        } else {
            tin.next.max(now.saturating_add(time))
        };
    }
}

impl Shaper {
    fn at(&self, now: Time) -> u128 {
        u128::from(now.picos()) * u128::from(self.rate.bps())
    }

    /// When the next packet may begin.
    fn begins(&self) -> Time {
        let picos = self.next.div_ceil(u128::from(self.rate.bps().max(1)));
        Time::from_picos(u64::try_from(picos).unwrap_or(u64::MAX))
    }
}
