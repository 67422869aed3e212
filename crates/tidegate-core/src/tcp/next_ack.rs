//! Whether an ACK is in order at a sender that accounts for ACKs ([`Known::IN_ORDER`]): nothing is SACKed, lost, sent twice, marked or
//! probed for, and the ACK acknowledges the oldest segments whole. It then takes these off the scoreboard, and [`Sender::account`] takes
//! the steps without those that only disorder needs.

use super::accounted::{Delivery, Left};
use super::accounts::Accounts;
use super::ack::Known;
use super::controller_ack::AckFacts;
use super::sender::{Mode, Sender};
use crate::cc::InOrderAck;
use crate::units::Time;

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
            && self.persist.kept == 0
    }

    /// An ACK without SACK blocks that moves SND.UNA by `bytes` > 0. `false`: it is not in order, and nothing has been done.
    #[inline(always)]
    pub(super) fn handle_next_ack<K: Known>(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        bytes: u64,
        window: u32,
    ) -> bool {
        if bytes > self.outstanding() || !accounts.cached.undisturbed {
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
            if !self.board.is_unmarked() {
                // It has cut the next one.
                accounts.cached.forget();
            }
        } else {
            return false;
        }
        self.read_window(window);
        self.account::<K>(accounts, now, bytes, None, left, Delivery::default());
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

    /// Tells a controller that is as it was after the last ACK. `false`: nothing has been done.
    #[inline(always)]
    pub(super) fn tell_in_order(&mut self, accounts: &mut Accounts, facts: &AckFacts, newest: Time) -> bool {
        if !self.controller.may_take_fast_path() {
            return false;
        }
        let AckFacts { at, delivered, segments, in_flight, .. } = *facts;
        let (rtt, least_rtt) = (at.saturating_since(newest), accounts.rack.least_rtt());
        let Some(sampler) = &mut accounts.sampler else { return false };
        let Some(sample) = sampler.in_order_sample(at, self.board.first, newest, delivered) else {
            return false;
        };
        let taken = least_rtt.is_some_and(|least| sample.interval >= least)
            && self.controller.handle_in_order_ack(&InOrderAck {
                at,
                delivered,
                segments,
                total_lost: self.board.lost_total,
                in_flight_before: in_flight,
                rtt,
                next_departure: accounts.pacer.next(),
                sampled: sample.delivered,
                interval: sample.interval,
                prior_delivered: sample.prior_delivered,
            });
        if taken {
            sampler.note_in_order(at, newest, delivered);
        }
        taken
    }
}

impl Accounts {
    /// The oldest records have left, those below number `first`.
    pub(super) fn sample_left(&mut self, first: u64, newest: Time, bytes: u64) {
        if let Some(sampler) = &mut self.sampler {
            sampler.handle_next(first, newest, bytes);
        }
    }
}
