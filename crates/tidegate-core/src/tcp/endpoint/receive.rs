//! What an endpoint does with segments that arrive, with time that passes, and with its own packets that leave a gate.

use super::heading::Heading;
use super::{Endpoint, State};
use crate::tcp::accounts::Accounts;
use crate::tcp::ack::InOrder;
use crate::tcp::outgoing::Outgoing;
use crate::tcp::segment::{Segment, flags};
use crate::tcp::sender::{Sender, Undisturbed};
use crate::units::Time;

/// How often Linux sends a SYN again without waiting longer (`tcp_syn_linear_timeouts`).
const LINEAR_SYNS: u32 = 4;

impl Endpoint {
    /// A segment arrived.
    #[inline]
    pub fn handle_segment(&mut self, now: Time, segment: &Segment) {
        // Nearly all segments are data in order for an end that has nothing outstanding, or
        // ACKs without data. The rest takes the long way, which would do for these too.
        if self.plain && segment.flags & (flags::SYN | flags::ACK) == flags::ACK {
            if segment.len == 0 {
                return self.handle_pure_ack(now, segment.ack, segment.window, Some(segment));
            }
            if self.sender.has_no_use_for(segment) && segment.seq == self.acknowledgement_number() {
                return self.handle_next(now, segment.len);
            }
        }
        self.handle_any(now, segment);
    }

    /// A segment arrived of which [`Outgoing::is_usual`] was true at the other end, which has no
    /// data: what it acknowledges.
    #[inline]
    pub fn handle_usual_ack(&mut self, now: Time, number: u32) {
        if self.plain {
            self.handle_pure_ack(now, number, self.sender.raw_window, None);
        } else {
            self.handle_any(now, &Segment { ack: number, ..self.nothing_new() });
        }
    }

    /// [`Endpoint::handle_usual_ack`], then [`Endpoint::poll`]: one way from an ACK to what it lets go.
    #[inline(always)]
    pub fn answer_usual_ack(&mut self, now: Time, number: u32) -> Option<Outgoing> {
        if !self.plain {
            self.handle_usual_ack(now, number);
            return self.poll(now);
        }
        self.answer_next(now, number)
    }

    /// An ACK that this end reads the short way ([`Heading::is_read_by`]), then [`Endpoint::poll`].
    #[inline(always)]
    pub(super) fn answer_next(&mut self, now: Time, ack: impl Heading) -> Option<Outgoing> {
        let accounts = self.sender.accounts.is_some();
        let sent = if accounts { self.answer_accounting(now, ack) } else { self.answer_alone(now, ack) };
        sent.get().or_else(|| self.poll_ack())
    }

    /// What such an ACK lets go, of a sender that accounts for none.
    #[inline(always)]
    fn answer_alone(&mut self, now: Time, ack: impl Heading) -> Outgoing {
        ack.answer(self, now)
    }

    /// The same of an ACK without a header, and without a call.
    #[inline(always)]
    pub(super) fn answer_ack_here(&mut self, now: Time, number: u32) -> Outgoing {
        let window = self.sender.raw_window;
        if !self.sender.handle_ack(now, number, window, None) {
            self.receiver.demand_ack();
        }
        self.release_alone(now)
    }

    /// What may leave after an ACK, of a sender that accounts for none.
    #[inline(always)]
    pub(super) fn release_alone(&mut self, now: Time) -> Outgoing {
        if !self.sender.ready {
            return Outgoing::NOTHING;
        }
        let held = self.sender.held;
        let sent = self.sender.poll(now);
        self.release(sent, held)
    }

    /// As [`Endpoint::answer_alone`], of a sender that accounts for ACKs.
    #[inline(never)]
    fn answer_accounting(&mut self, now: Time, ack: impl Heading) -> Outgoing {
        let Some(mut accounts) = self.sender.accounts.take() else { return Outgoing::NOTHING };
        let sent = self.answer_with(&mut accounts, now, ack);
        self.sender.put_back(accounts);
        sent
    }

    /// The same, with `accounts` as those of the sender.
    #[inline(always)]
    pub(super) fn answer_with(&mut self, accounts: &mut Accounts, now: Time, ack: impl Heading) -> Outgoing {
        if !ack.is_next::<InOrder>(self, accounts, now) {
            ack.account(self, accounts, now);
        }
        self.release_with(accounts, now)
    }

    /// What a usual ACK without a header does where it is not the one that moves SND.UNA.
    #[inline(always)]
    pub(super) fn account_usual_ack(&mut self, accounts: &mut Accounts, now: Time, number: u32) {
        let window = self.sender.raw_window;
        if !self.sender.handle_ack_with(accounts, now, number, window, None) {
            self.receiver.demand_ack();
        }
    }

    /// What may leave after an ACK, with `accounts` as those of the sender.
    #[inline(always)]
    pub(super) fn release_with(&mut self, accounts: &mut Accounts, now: Time) -> Outgoing {
        let held = self.sender.held;
        let sent = if self.sender.ready { self.sender.poll_with(accounts, now) } else { None };
        self.release(sent, held)
    }

    /// A segment arrived of which [`Outgoing::is_usual`] was true at the other end, to which this end
    /// sends no data: the number of its first byte and its length.
    #[inline(always)]
    pub fn handle_usual_data(&mut self, now: Time, seq: u32, len: u32) {
        if self.plain && seq == self.acknowledgement_number() {
            return self.handle_next(now, len);
        }
        self.handle_elsewhere(now, seq, len);
    }

    /// The same of data that do not simply continue the stream.
    #[inline(always)]
    fn handle_elsewhere(&mut self, now: Time, seq: u32, len: u32) {
        if !self.plain || self.sender.accounts.is_some() {
            return self.handle_any(now, &Segment { seq, len, ..self.nothing_new() });
        }
        // What comes with data acknowledges nothing new, and is no duplicate ACK (RFC 5681 §2).
        crate::work::step();
        self.sender.undisturbed = Undisturbed::default();
        match self.theirs.offset(seq, self.receiver.next()) {
            Some(start) => {
                let Sender { config, counters, .. } = &mut self.sender;
                self.receiver.handle_disorder(now, start, len, config, counters);
            }
            None => self.receiver.demand_ack(),
        }
    }

    /// The next data of the stream; what they acknowledge is old.
    #[inline(always)]
    pub(super) fn handle_next(&mut self, now: Time, len: u32) {
        self.sender.undisturbed = Undisturbed::default();
        let Sender { config, counters, .. } = &mut self.sender;
        self.receiver.handle_next(now, len, config, counters);
    }

    /// The header of a segment that tells this end nothing new: no data, no options, numbers and
    /// window as they stand here.
    #[must_use]
    pub fn nothing_new(&self) -> Segment {
        Segment {
            seq: self.acknowledgement_number(),
            ack: self.sender.numbering.wire(self.sender.una),
            window: self.sender.raw_window,
            flags: flags::ACK,
            ..Segment::default()
        }
    }

    #[inline]
    pub(in crate::tcp) fn handle_pure_ack(
        &mut self,
        now: Time,
        number: u32,
        window: u32,
        segment: Option<&Segment>,
    ) {
        if self.sender.accounts.is_some() {
            self.handle_ack_by(Sender::handle_ack_by_accounts, now, number, window, segment);
        } else {
            self.handle_ack_by(Sender::handle_ack, now, number, window, segment);
        }
    }

    #[inline(never)]
    fn handle_ack_by(
        &mut self,
        handle: impl FnOnce(&mut Sender, Time, u32, u32, Option<&Segment>) -> bool,
        now: Time,
        number: u32,
        window: u32,
        segment: Option<&Segment>,
    ) {
        if !handle(&mut self.sender, now, number, window, segment) {
            // RFC 9293 §3.10.7.4: an ACK of something not yet sent is answered with an ACK.
            self.receiver.demand_ack();
        }
    }

    #[inline(never)]
    pub(super) fn handle_any(&mut self, now: Time, segment: &Segment) {
        crate::work::step();
        self.sender.undisturbed = Undisturbed::default();
        if (self.state != State::Established || segment.flags & flags::SYN != 0)
            && !self.handle_handshake(now, segment)
        {
            return;
        }
        if self.sender.config.timestamps {
            self.read_timestamp(segment.seq, segment.ts_val);
            if segment.len > 0 {
                self.receiver.handle_echo(now, segment.ts_ecr);
            }
        }
        if segment.flags & flags::ACK != 0 {
            if self.sender.marks.is_some() {
                self.handle_ack_with_marks(now, segment);
            } else {
                self.handle_pure_ack(now, segment.ack, segment.window, Some(segment));
            }
        }
        if segment.len > 0 {
            self.handle_data(now, segment);
        }
    }

    fn handle_data(&mut self, now: Time, segment: &Segment) {
        if let Some(start) = self.theirs.offset(segment.seq, self.receiver.next()) {
            if self.sender.marks.is_some() {
                self.note_mark(start, segment);
            }
            let Sender { config, counters, .. } = &mut self.sender;
            self.receiver.handle_data(now, start, segment, config, counters);
        } else {
            self.receiver.demand_ack();
        }
    }

    /// RFC 7323 §4.3: a timestamp is worth echoing if its segment reaches back to the last ACK
    /// that was sent; here: to the next byte expected.
    #[inline]
    pub(super) fn read_timestamp(&mut self, seq: u32, ts_val: u32) {
        let newer = ts_val.wrapping_sub(self.echo).cast_signed() >= 0;
        let ahead = seq.wrapping_sub(self.theirs.wire(self.receiver.acknowledged_to())).cast_signed();
        if newer && ahead <= 0 {
            self.echo = ts_val;
        }
    }

    /// A data segment of ours left a gate of the sending machine.
    #[inline]
    pub fn handle_departure(&mut self, now: Time) {
        if self.sender.config.restart_at_departure {
            self.sender.handle_departure(now);
        }
    }

    /// Time has come to `now`: timers that are due run.
    pub fn handle_wakeup(&mut self, now: Time) {
        self.sender.undisturbed = Undisturbed::default();
        self.receiver.handle_wakeup(now);
        if self.sender.timers.take_paced(now) {
            self.sender.ready = true;
        }
        if now < self.sender.timers.expires() {
            return;
        }
        if self.state == State::Established {
            self.sender.handle_timer(now);
        } else {
            // RFC 9293 §3.8.1, RFC 6298 §5.5: the SYN again, later each time; in Linux 6.18 a client's from the fifth on
            // (`tcp_retransmit_timer`, `tcp_syn_linear_timeouts`).
            self.sender.counters.timeouts += 1;
            let client = self.state == State::SynSent && !self.sender.config.lost_syn_counts;
            if !client || self.syns > LINEAR_SYNS {
                self.sender.estimator.back_off();
            }
            self.sender.timers.move_to(Time::NEVER);
            self.ask_for_syn();
        }
    }
}
