//! The usual ACK of a sender that accounts for each: nothing is SACKed, lost, sent twice or in doubt, and the oldest segments
//! have arrived. What [`super::accounted`] does then, without what can bring nothing.

use super::accounts::{Accounts, Owed, Repeats};
use super::sender::{Mode, Sender};
use super::told::Brought;
use crate::cc::{Acked, Measured, UsualAck};
use crate::units::Time;

/// What a usual ACK took off the scoreboard.
#[derive(Clone, Copy)]
struct Left {
    segments: u32,
    bytes: u64,
    /// When the first and the last of them were sent, and the offset behind the last.
    oldest: Time,
    newest: Time,
    end: u64,
}

impl Sender {
    /// Whether nothing is repaired, reported, probed for, marked or to be taken back.
    pub(super) fn is_undisturbed(&self, accounts: &Accounts) -> bool {
        self.mode == Mode::Open
            && self.board.is_unmarked()
            && accounts.probe.end == 0
            && !accounts.probe.is_due()
            && !accounts.yields
            && self.marks.is_none()
            && !accounts.undo.all_superfluous()
    }

    /// An ACK without SACK blocks that moves SND.UNA by `bytes` > 0. `false`: it is not a usual one, and nothing has been done.
    /// `CLOCKED`: it is known already that ACKs alone clock the sender ([`Accounts::clocked`]).
    #[inline(always)]
    pub(super) fn handle_next_ack<const CLOCKED: bool>(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        bytes: u64,
        window: u32,
    ) -> bool {
        if bytes > self.outstanding() || !accounts.calm {
            return false;
        }
        debug_assert!(self.is_undisturbed(accounts), "something disturbed it unnoticed");
        let ack = self.una + bytes;
        let oldest = *self.board.slot(self.board.first);
        let mut left = Left {
            segments: 1,
            bytes: u64::from(oldest.len()),
            oldest: oldest.at(),
            newest: oldest.at(),
            end: ack,
        };
        if oldest.end == ack as u32 {
            self.board.drop_first(ack);
        } else if let Some(second) = self.board.second_up_to(ack) {
            // A delayed ACK.
            self.board.drop_two(ack);
            (left.segments, left.newest) = (2, second.at());
            left.bytes += u64::from(second.len());
        } else if let Some(several) = self.take_several(ack) {
            left = several;
        } else {
            return false;
        }
        self.read_window(window);
        self.handle_left::<CLOCKED>(accounts, now, bytes, left);
        true
    }

    /// Takes the records below `ack` off; `None`: there is no whole one.
    #[inline(never)]
    fn take_several(&mut self, ack: u64) -> Option<Left> {
        let first = self.board.describe(self.board.first);
        let mut end = first.start + u64::from(first.len);
        if end > ack {
            return None;
        }
        let oldest = self.board.slot(self.board.first).at();
        let mut left = Left { segments: 0, bytes: 0, oldest, newest: oldest, end };
        end = first.start;
        self.board.acknowledge_each(ack, |_, sent| {
            end += u64::from(sent.len());
            left.segments += 1;
            left.bytes += u64::from(sent.len());
            left.newest = sent.at();
        });
        left.end = end;
        Some(left)
    }

    #[inline(always)]
    fn handle_left<const CLOCKED: bool>(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        bytes: u64,
        left: Left,
    ) {
        debug_assert!(!CLOCKED || accounts.clocked);
        let (in_flight, lost_before) = (self.outstanding(), self.board.lost_total);
        accounts.timeouts = 0;
        self.una += bytes;
        self.dupacks = 0;
        self.counters.acked_bytes += bytes;
        self.ready = true;
        let rtt = now.saturating_since(left.newest);
        let newer = accounts.rack.handle_next(now, left.newest, left.end, &self.board);
        accounts.rack.handle_rtt(rtt);
        let round_over = self.una > accounts.round_end;
        if round_over {
            accounts.round_end = self.max;
        }
        self.estimator.sample_of_round(left.oldest, now, round_over);
        self.measured = Some(rtt);
        let smoothed_rtt = self.estimator.smoothed();
        if CLOCKED || self.controller.hears_measured() {
            let (una, max) = (self.una, self.max);
            self.controller.handle_measured(&Measured { at: now, rtt, smoothed_rtt, una, max });
        }
        accounts.rack.widening.handle_ack(now, left.newest);
        accounts.repeats = Repeats::Lost;
        accounts.undo.forget_first_copy();
        if !newer && (CLOCKED || accounts.by_time) {
            let brought = left.brought(now, bytes, in_flight, lost_before);
            accounts.sample_left(self.board.first, left.newest, left.bytes);
            return self.handle_behind(accounts, &brought);
        }
        if CLOCKED || !accounts.governed {
            self.controller.handle_acked(&Acked {
                at: now,
                bytes,
                segments: left.segments,
                in_flight,
                rtt: Some(rtt),
                smoothed_rtt,
                window_limited: self.is_window_limited(accounts, bytes),
            });
        }
        if !CLOCKED && accounts.sampler.is_some() && !self.tell_usual(accounts, now, &left, in_flight) {
            self.tell_next(accounts, (now, left.newest), u64::from(left.segments), left.bytes, bytes);
        }
        if !CLOCKED && accounts.paced && self.still_waits(accounts, now) {
            self.ready = false;
            self.restart_timer(accounts, now);
        } else {
            accounts.owed = Owed::Restart;
        }
    }

    /// Tells the controller all that is known after a usual ACK, which proves nothing lost.
    #[inline(never)]
    fn tell_next(
        &mut self,
        accounts: &mut Accounts,
        (at, newest): (Time, Time),
        segments: u64,
        delivered: u64,
        acked: u64,
    ) {
        accounts.sample_left(self.board.first, newest, delivered);
        let brought = Brought {
            at,
            acked,
            segments,
            delivered,
            rtt: Some(at.saturating_since(newest)),
            in_flight: self.outstanding() + acked,
            lost_before: self.board.lost_total,
        };
        self.tell_ack(accounts, &brought);
    }

    /// Tells a controller that is as it was after the last ACK. `false`: nothing has been done.
    #[inline(always)]
    fn tell_usual(&mut self, accounts: &mut Accounts, at: Time, left: &Left, in_flight_before: u64) -> bool {
        if !self.controller.is_steady() {
            return false;
        }
        let (rtt, least_rtt) = (at.saturating_since(left.newest), accounts.rack.least_rtt());
        let Some(sampler) = &mut accounts.sampler else { return false };
        let Some(sample) = sampler.usual(at, self.board.first, left.newest, left.bytes) else { return false };
        let told = least_rtt.is_some_and(|least| sample.interval >= least)
            && self.controller.handle_usual_ack(&UsualAck {
                at,
                delivered: left.bytes,
                segments: u64::from(left.segments),
                total_lost: self.board.lost_total,
                in_flight_before,
                rtt,
                next_departure: accounts.pacer.next(),
                sampled: sample.delivered,
                interval: sample.interval,
                prior_delivered: sample.prior_delivered,
            });
        if told {
            sampler.note_usual(at, left.newest, left.bytes);
        }
        told
    }

    /// A segment sent twice has arrived before one that was sent in between.
    #[cold]
    fn handle_behind(&mut self, accounts: &mut Accounts, brought: &Brought) {
        accounts.calm = false;
        let found = self.find_lost_by_time(accounts, brought.at);
        if self.board.holds_lost() {
            self.begin_reduction(accounts, brought.at);
        }
        if found.again_after.is_none() {
            self.set_timer(accounts, brought.at);
        }
        self.answer(accounts, brought, found);
        if accounts.sampler.is_some() {
            self.tell_ack(accounts, brought);
        }
    }
}

impl Accounts {
    /// The oldest records have left, those below number `first`.
    fn sample_left(&mut self, first: u64, newest: Time, bytes: u64) {
        if let Some(sampler) = &mut self.sampler {
            sampler.handle_next(first, newest, bytes);
        }
    }
}

impl Left {
    /// The same for those who hear of it.
    fn brought(self, at: Time, acked: u64, in_flight: u64, lost_before: u64) -> Brought {
        Brought {
            at,
            acked,
            segments: u64::from(self.segments),
            delivered: self.bytes,
            rtt: Some(at.saturating_since(self.newest)),
            in_flight,
            lost_before,
        }
    }
}
