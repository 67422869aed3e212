//! The steps of an ACK at a sender that accounts for ACKs, in the order of `tcp_ack`. They stand once, and are compiled for what is
//! known of an ACK beforehand ([`Known`]).

use super::Delivery;
use crate::cc::MeasuredTrip;
use crate::tcp::accounts::{Accounts, BurstAt, Owed, Repeats};
use crate::tcp::ack::{AnyAck, Known};
use crate::tcp::controller_ack::AckFacts;
use crate::tcp::rack::Found;
use crate::tcp::segment::Segment;
use crate::tcp::sender::{Mode, Sender};
use crate::units::{Span, Time};

/// What an ACK that is in order took off the scoreboard.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Left {
    pub(in crate::tcp) segments: u64,
    pub(in crate::tcp) bytes: u64,
    /// When the first and the last of them were sent, and the offset behind the last.
    pub(in crate::tcp) oldest: Time,
    pub(in crate::tcp) newest: Time,
    pub(in crate::tcp) end: u64,
}

impl Sender {
    /// An ACK that moves SND.UNA by `bytes`. One that is in order comes with what it took off the scoreboard, `left`, and has no SACK
    /// blocks; of any other `delivery` collects what it reports.
    #[inline(always)]
    pub(in crate::tcp) fn account<K: Known>(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        bytes: u64,
        segment: Option<&Segment>,
        left: Left,
        mut delivery: Delivery,
    ) {
        let in_flight = if K::IN_ORDER { self.outstanding() } else { self.pipe() };
        let lost_before = self.board.lost_total;
        let newest_in_order = self.take_reported::<K>(accounts, (now, bytes), segment, &left, &mut delivery);
        let rtt = self.take_round_trips::<K>(accounts, now, segment, &left, &delivery);
        // After every ACK the kernel looks whether something may leave (`tcp_data_snd_check`).
        self.ready = true;
        let mut found = Found::default();
        if !K::IN_ORDER {
            found = self.account_disorder(accounts, (now, bytes), in_flight, &mut delivery);
        }
        let facts = AckFacts {
            at: now,
            acked: bytes,
            segments: if K::IN_ORDER { left.segments } else { delivery.segments },
            delivered: if K::IN_ORDER { left.bytes } else { delivery.bytes },
            copied: if K::IN_ORDER { 0 } else { delivery.copied },
            rtt,
            in_flight,
            lost_before,
        };
        if K::IN_ORDER {
            accounts.repeats = Repeats::Lost;
            accounts.undo.forget_first_copy();
            if !newest_in_order && accounts.by_time && !(K::SELF_CLOCKED || accounts.linux_windows) {
                accounts.sample_left(self.board.first, left.newest, left.bytes);
                return self.account_overtaken(accounts, &facts);
            }
        }
        self.answer::<K>(accounts, &facts, found);
        self.tell_delivered::<K>(accounts, &facts, &left);
        if !K::IN_ORDER {
            self.out_after_ack = self.outstanding();
            accounts.cached.undisturbed = !self.config.exact && self.is_undisturbed(accounts);
            accounts.cached.probes = self.probes(accounts);
        } else if !K::SELF_CLOCKED && accounts.paced && self.still_waits(accounts, now) {
            self.ready = false;
            self.restart_timer(accounts, now);
        } else {
            accounts.owed = Owed::Restart;
        }
    }

    /// Takes off the scoreboard what SACK blocks report and the number acknowledges, and moves SND.UNA. Whether the newest segment of
    /// an ACK that is in order was sent last of all that have arrived (RFC 8985 §6.2 step 2).
    #[inline(always)]
    fn take_reported<K: Known>(
        &mut self,
        accounts: &mut Accounts,
        (now, bytes): (Time, u64),
        segment: Option<&Segment>,
        left: &Left,
        delivery: &mut Delivery,
    ) -> bool {
        let mut newest_in_order = false;
        if K::IN_ORDER {
            newest_in_order = accounts.rack.handle_next(now, left.newest, left.end, &self.board);
        } else {
            delivery.highest = self.board.sacked_end;
            if let Some(segment) = segment
                && segment.sack_count > 0
            {
                self.account_sacks(accounts, now, segment, self.una + bytes, delivery);
            }
            if bytes > 0 {
                self.account_each(accounts, now, bytes, delivery);
            }
        }
        if K::IN_ORDER || bytes > 0 {
            accounts.timeouts = 0;
            self.move_una(bytes);
            self.dupacks = 0;
        }
        newest_in_order
    }

    /// Feeds the estimator, the controller and the window for reordering with the round trips that the ACK shows. The newest of them.
    #[inline(always)]
    fn take_round_trips<K: Known>(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        segment: Option<&Segment>,
        left: &Left,
        delivery: &Delivery,
    ) -> Option<Span> {
        let rtt = if K::IN_ORDER {
            Some(self.account_round_trip(accounts, now, left.oldest, left.newest))
        } else {
            self.account_rtt(accounts, now, delivery, segment)
        };
        if let Some(rtt) = rtt
            && (!K::IN_ORDER || K::SELF_CLOCKED || self.controller.hears_measured())
        {
            let smoothed_rtt = self.estimator.smoothed();
            let (una, max) = (self.una, self.max);
            let reduced = (!K::IN_ORDER && self.reduces_with(accounts)).then(|| self.window_with(accounts));
            self.controller.handle_measured(&MeasuredTrip { at: now, rtt, smoothed_rtt, una, max, reduced });
            if !K::IN_ORDER && reduced.is_some() && accounts.linux_windows {
                // One threshold is both the controller's and the reduction's (`snd_ssthresh`).
                let threshold = self.controller.snapshot().ssthresh;
                accounts.prr.lower_threshold(threshold.map_or(u64::MAX, |bytes| self.segments(bytes)));
            }
        }
        let newest = if K::IN_ORDER { Some(left.newest) } else { delivery.newest };
        if let Some(newest) = newest {
            accounts.rack.widening.handle_ack(now, newest);
        }
        rtt
    }

    /// The round trips of the oldest and of the newest segment that was newly reported.
    #[inline(always)]
    pub(super) fn account_round_trip(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        oldest: Time,
        newest: Time,
    ) -> Span {
        let rtt = now.saturating_since(newest);
        if accounts.rack.handle_rtt(rtt) {
            // On short round trips more leaves at once.
            accounts.cached.burst = BurstAt::default();
        }
        let round_over = self.una > accounts.round_end;
        if round_over {
            accounts.round_end = self.max;
        }
        self.estimator.sample_of_round(oldest, now, round_over);
        self.measured = Some(rtt);
        rtt
    }

    /// What an ACK that may be out of order does besides: it ends a probe, finds losses and marks, and restarts the timer.
    #[inline(always)]
    fn account_disorder(
        &mut self,
        accounts: &mut Accounts,
        (now, bytes): (Time, u64),
        in_flight: u64,
        delivery: &mut Delivery,
    ) -> Found {
        let duplicate = bytes == 0 && delivery.newly_sacked == 0 && delivery.plain;
        self.account_probe(accounts, now, delivery.again, duplicate);
        let within = self.mode == Mode::Sack && self.una < self.recover;
        let found = self.account_losses(accounts, now, bytes, duplicate, delivery);
        // A copy that was superfluous is a delivery too (`tcp_dsack_seen`).
        delivery.segments += delivery.again.segments;
        if accounts.linux_windows
            && delivery.again.segments > 0
            && let Some(sampler) = &mut accounts.sampler
        {
            delivery.copied = delivery.again.segments * u64::from(self.config.mss);
            sampler.handle_again(delivery.copied);
        }
        if self.marks.is_some() {
            self.account_marks(accounts, now, delivery.segments, in_flight, within);
        }
        // RFC 6298 §5.3. DEVIATION: as in Linux not for an ACK that ends within a segment (`FLAG_DATA_ACKED`).
        let restarts = if accounts.linux_windows { delivery.takes_off() } else { bytes > 0 };
        if found.again_after.is_none()
            && (restarts || delivery.sacked.is_some_and(|(first, _)| self.sent_before_oldest(first)))
        {
            self.set_timer(accounts, now);
        }
        found
    }

    /// A controller that samples the delivery rate is told what was delivered.
    #[inline(always)]
    fn tell_delivered<K: Known>(&mut self, accounts: &mut Accounts, facts: &AckFacts, left: &Left) {
        if K::SELF_CLOCKED
            || accounts.sampler.is_none()
            || (K::IN_ORDER && self.tell_in_order(accounts, facts, left.newest))
        {
            return;
        }
        if K::IN_ORDER {
            accounts.sample_left(self.board.first, left.newest, left.bytes);
        }
        self.tell_controller(accounts, facts);
    }

    /// The ACK was in order, but a segment that was sent later has arrived before: what is missing between may be lost.
    #[cold]
    fn account_overtaken(&mut self, accounts: &mut Accounts, facts: &AckFacts) {
        accounts.cached.forget();
        let found = self.find_lost_by_time(accounts, facts.at);
        if self.board.holds_lost() {
            self.begin_reduction(accounts, facts.at);
        }
        if found.again_after.is_none() {
            self.set_timer(accounts, facts.at);
        }
        self.answer::<AnyAck>(accounts, facts, found);
        if accounts.sampler.is_some() {
            self.tell_controller(accounts, facts);
        }
    }
}
