//! A player of adaptive video: which segment it asks for when, and what its viewer sees.
//!
//! It never looks at the transport. The engine calls it when a segment may be asked for, and when one has come whole.
//! Media time in the buffer is exact: whole picoseconds.

mod mpc;
mod own;
mod rule;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use super::request::Exchange;
use crate::advice::{AdviceHeard, RateSignal};
use crate::plan::VideoPlan;
use crate::units::{Rate, Span, Time};
pub use own::{Choice, ChoosesBitrate, Maker, can_make, set_maker};
use rule::Seen;

/// A segment that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Download {
    /// Its number; the first is 0.
    pub number: u64,
    /// The place of its bitrate in the ladder.
    pub rung: usize,
    /// Its user bytes.
    pub bytes: u64,
    /// When it was asked for.
    pub asked: Time,
    /// When its last byte came, in order; [`Time::NEVER`]: not yet.
    pub ended: Time,
    /// Its bitrate.
    pub rate: Rate,
    /// Media time in the buffer when it had come, its own included.
    pub buffered: Span,
    /// How long there was no video between the arrival of the segment before and its own, after the first picture.
    pub stalled: Span,
}

/// What the player does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Playback {
    /// Nothing has been shown.
    Joining,
    /// Video is shown.
    Playing,
    /// The buffer has been empty, and is filled again.
    Stalled,
    /// The last segment has been shown.
    Ended,
}

/// A player.
#[derive(Debug)]
pub struct Player {
    plan: VideoPlan,
    begun: Time,
    /// How far buffer and playback have been worked out.
    at: Time,
    /// Media time in the buffer then.
    buffered: Span,
    playback: Playback,
    joined: Option<Time>,
    /// Times without video after the first picture, as begin and end; the last may be open.
    stalls: Vec<(Time, Time)>,
    /// When the last segment had been shown.
    over: Option<Time>,
    /// Segments that were asked for and are not there, in order.
    pending: VecDeque<Download>,
    log: Vec<Download>,
    /// The number of the segment that is asked for next.
    next: u64,
    seen: Seen,
    heard: AdviceHeard,
    /// A user's rule, made when it is first asked.
    own: Option<Box<dyn ChoosesBitrate>>,
}

impl Player {
    /// The player of a flow that starts at `start`.
    #[must_use]
    pub fn new(plan: &VideoPlan, start: Time) -> Player {
        Player {
            plan: plan.clone(),
            begun: start,
            at: start,
            buffered: Span::from_picos(0),
            playback: Playback::Joining,
            joined: None,
            stalls: Vec::new(),
            over: None,
            pending: VecDeque::new(),
            log: Vec::new(),
            next: 0,
            seen: Seen::default(),
            heard: AdviceHeard::default(),
            own: None,
        }
    }

    /// The first instant, `now` or later, at which the next segment may be asked for if nothing else happens;
    /// [`Time::NEVER`]: not before another one has come, or there is none.
    #[must_use]
    pub fn next_ask(&self, now: Time) -> Time {
        let outstanding = self.pending.len() as u64;
        if self.next >= self.plan.segments || outstanding >= self.plan.outstanding {
            return Time::NEVER;
        }
        let wanted = self.plan.segment.saturating_mul(outstanding + 1);
        let over = (self.level(now) + wanted.picos()).saturating_sub(self.plan.buffer.picos());
        match (over, self.playback) {
            (0, _) => now,
            (over, Playback::Playing) => now.saturating_add(Span::from_picos(over)),
            // The buffer is full and nothing is shown: a plan whose `join` fits into the buffer has no such instant.
            _ => Time::NEVER,
        }
    }

    /// Asks for the next segment at `now`, an instant of [`Self::next_ask`].
    pub fn ask(&mut self, now: Time) -> Download {
        self.advance(now);
        let rung = self.choose();
        let rung = self.most(now).map_or(rung, |most| rung.min(most));
        self.note_asked(now, rung)
    }

    /// Throughput advice came with a packet of the flow.
    pub fn handle_advice(&mut self, now: Time, signal: RateSignal) {
        self.heard.note(now, signal);
    }

    /// The highest bitrate that the advice in force lets it choose, by its place in the ladder.
    fn most(&mut self, now: Time) -> Option<usize> {
        let advised = self.heard.in_force(now).rate()?;
        let most = self.plan.advice?.of(u128::from(advised.bps()), 1);
        Some(self.plan.ladder.iter().rposition(|rate| *rate <= most).unwrap_or(0))
    }

    fn note_asked(&mut self, now: Time, rung: usize) -> Download {
        let asked = Download {
            number: self.next,
            rung,
            bytes: self.plan.bytes(self.next, rung),
            asked: now,
            ended: Time::NEVER,
            rate: self.plan.ladder[rung],
            buffered: Span::from_picos(0),
            stalled: Span::from_picos(0),
        };
        self.pending.push_back(asked);
        self.next += 1;
        asked
    }

    /// The oldest segment that was asked for has come whole, as have those before it.
    pub fn handle_segment(&mut self, now: Time) {
        let Some(mut segment) = self.pending.pop_front() else { return };
        self.advance(now);
        segment.ended = now;
        // What was asked for while another came had the link only from then on.
        let from = self.log.last().map_or(segment.asked, |before| before.ended.max(segment.asked));
        self.seen.note(segment.bytes, now.saturating_since(from), self.plan.rule.samples());
        if let (Playback::Stalled, Some((begun, _))) = (self.playback, self.stalls.last()) {
            let before = self.log.last().map_or(*begun, |before| before.ended.max(*begun));
            segment.stalled = now.saturating_since(before);
        }
        self.buffered = Span::from_picos(self.buffered.picos() + self.plan.segment.picos());
        segment.buffered = self.buffered;
        self.log.push(segment);
        let last = segment.number + 1 == self.plan.segments;
        match self.playback {
            Playback::Joining if last || self.buffered >= self.plan.join => {
                self.playback = Playback::Playing;
                self.joined = Some(now);
            }
            Playback::Stalled if last || self.buffered >= self.plan.resume => {
                self.playback = Playback::Playing;
                if let Some(stall) = self.stalls.last_mut() {
                    stall.1 = now;
                }
            }
            _ => {}
        }
    }

    /// The player of a flow that starts at `start` as it was at `until`, from its segments: when each was asked for,
    /// how large it was, and when it had come.
    #[must_use]
    pub fn replayed(plan: &VideoPlan, start: Time, exchanges: &[Exchange], until: Time) -> Player {
        let mut player = Player::new(plan, start);
        let mut asked: Vec<&Exchange> = exchanges.iter().collect();
        asked.sort_by_key(|each| each.asked);
        // A segment that came before an older one waits for it.
        let mut latest = start;
        let in_order = asked.iter().map_while(|each| {
            latest = latest.max(each.ended);
            (latest != Time::NEVER).then_some(latest)
        });
        let mut ends = in_order.collect::<Vec<Time>>().into_iter().peekable();
        for each in asked {
            while let Some(end) = ends.next_if(|end| *end <= each.asked) {
                player.handle_segment(end);
            }
            player.advance(each.asked);
            let number = player.next;
            let rung = (0..plan.ladder.len()).find(|rung| plan.bytes(number, *rung) == each.response);
            player.note_asked(each.asked, rung.unwrap_or(0));
        }
        ends.for_each(|end| player.handle_segment(end));
        player.advance(until);
        player
    }

    /// Works playback out until `now`, at the end of a run.
    pub fn finish(&mut self, now: Time) {
        self.advance(now);
    }

    /// What is in the buffer at `now`, not before it was last worked out: media time in picoseconds.
    fn level(&self, now: Time) -> u64 {
        let shown =
            if self.playback == Playback::Playing { now.saturating_since(self.at).picos() } else { 0 };
        self.buffered.picos().saturating_sub(shown)
    }

    /// Media time in the buffer at `now`.
    #[must_use]
    pub fn buffered(&self, now: Time) -> Span {
        Span::from_picos(self.level(now))
    }

    /// What the player does at `now`.
    #[must_use]
    pub fn playback(&self, now: Time) -> Playback {
        if self.playback == Playback::Playing && now.saturating_since(self.at) >= self.buffered {
            self.emptied()
        } else {
            self.playback
        }
    }

    /// What becomes of playback when the buffer is empty.
    fn emptied(&self) -> Playback {
        if self.log.len() as u64 == self.plan.segments { Playback::Ended } else { Playback::Stalled }
    }

    fn advance(&mut self, now: Time) {
        if self.playback == Playback::Playing && now.saturating_since(self.at) >= self.buffered {
            let empty = self.at.saturating_add(self.buffered);
            self.playback = self.emptied();
            match self.playback {
                Playback::Ended => self.over = Some(empty),
                _ => self.stalls.push((empty, Time::NEVER)),
            }
            self.buffered = Span::from_picos(0);
        } else {
            self.buffered = Span::from_picos(self.level(now));
        }
        self.at = now;
    }

    /// Segments that have come, in order.
    #[must_use]
    pub fn downloads(&self) -> &[Download] {
        &self.log
    }

    /// All segments that were asked for, in order, those that have not come included.
    pub fn asked(&self) -> impl Iterator<Item = &Download> {
        self.log.iter().chain(&self.pending)
    }

    /// When playback began.
    #[must_use]
    pub fn joined(&self) -> Option<Time> {
        self.joined
    }

    /// Times without video after the first picture, as begin and end; [`Time::NEVER`]: it has not ended.
    #[must_use]
    pub fn stalls(&self) -> &[(Time, Time)] {
        &self.stalls
    }

    /// When the last segment had been shown.
    #[must_use]
    pub fn over(&self) -> Option<Time> {
        self.over
    }

    /// Bytes held, about.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.log.capacity() * size_of::<Download>() + self.stalls.capacity() * size_of::<(Time, Time)>())
            as u64
    }

    /// When the flow began.
    #[must_use]
    pub fn begun(&self) -> Time {
        self.begun
    }
}
