//! What leaves an endpoint, and how it is written.

use super::{Endpoint, State};
use crate::tcp::accounts::Accounts;
use crate::tcp::outgoing::Outgoing;
use crate::tcp::segment::{Segment, flags};
use crate::tcp::sender::Sender;
use crate::tcp::timestamp;
use crate::unit::{Ecn, HeldBy};
use crate::units::Time;

impl Endpoint {
    /// The next segment to send and what had held it back; `None`: nothing more now.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<(Segment, HeldBy)> {
        let mut segment = Segment::default();
        let sent = self.poll(now)?;
        self.write_segment(now, sent, &mut segment);
        Some((segment, sent.held_by()))
    }

    /// The next thing that leaves, before it is written as a segment; [`Endpoint::write_segment`] writes it until anything else happens.
    #[inline]
    pub fn poll(&mut self, now: Time) -> Option<Outgoing> {
        if self.sender.ready {
            let accounts = self.sender.accounts.is_some();
            let sent = if accounts { self.poll_accounting(now) } else { self.poll_sender(now) };
            if let Some(sent) = sent.get() {
                return Some(sent);
            }
        }
        self.poll_ack(now)
    }

    /// An ACK that is to leave although no data do.
    #[inline(always)]
    pub(super) fn poll_ack(&mut self, now: Time) -> Option<Outgoing> {
        if !self.receiver.ack_now() {
            return None;
        }
        self.sender.counters.acks_sent += 1;
        if self.sender.written > self.sender.max
            && let Some(accounts) = &mut self.sender.accounts
        {
            accounts.offload.acknowledged_at = now;
        }
        Some(self.leave(Outgoing::new(self.sender.max, 0)))
    }

    /// Whether what leaves says nothing but its data and what it acknowledges, as far as that is not up to what leaves.
    #[inline(always)]
    fn is_plain_spoken(&self) -> bool {
        let config = &self.sender.config;
        !(config.special || self.receiver.tells() || config.sack && self.receiver.has_gaps())
    }

    /// Whether nothing is owed to the other end, and what leaves says so.
    pub(super) fn is_quiet(&self) -> bool {
        self.is_plain_spoken() && self.receiver.is_settled()
    }

    /// Whether nothing is owed to the other end, and what leaves says no more than data, an ACK and timestamps.
    #[inline(always)]
    pub(super) fn is_silent(&self) -> bool {
        !(self.receiver.tells() || self.sender.config.sack && self.receiver.has_gaps())
            && self.receiver.is_settled()
    }

    #[inline(never)]
    fn poll_sender(&mut self, now: Time) -> Outgoing {
        self.poll_by(now, Sender::poll)
    }

    /// What a sender that accounts for ACKs sends next.
    #[inline(never)]
    fn poll_accounting(&mut self, now: Time) -> Outgoing {
        self.poll_by(now, Sender::poll_accounted)
    }

    /// [`Endpoint::poll_accounting`] of an end whose handshake is over, with `accounts` as those of the sender.
    #[inline(always)]
    pub(super) fn poll_with(&mut self, accounts: &mut Accounts, now: Time) -> Outgoing {
        let held = self.sender.held;
        let sent = self.sender.poll_with(accounts, now);
        self.release(now, sent, held)
    }

    #[inline(always)]
    fn poll_by(&mut self, now: Time, poll: impl FnOnce(&mut Sender, Time) -> Option<Outgoing>) -> Outgoing {
        if (self.syn_due || self.state != State::Established)
            && let Some(sent) = self.poll_unusual(now)
        {
            return sent;
        }
        let held = self.sender.held;
        let sent = poll(&mut self.sender, now);
        self.release(now, sent, held)
    }

    /// What the sender lets go at `now`, which `held` had held back.
    #[inline(always)]
    pub(super) fn release(&mut self, now: Time, sent: Option<Outgoing>, held: HeldBy) -> Outgoing {
        let Some(sent) = sent else { return Outgoing::NOTHING };
        if self.receiver.next() > 0 {
            self.receiver.note_answer(now, self.sender.estimator.smoothed());
        }
        let all = !sent.is_empty() && sent.start() + u64::from(sent.len()) == self.sender.written;
        let sent = if all && self.sender.finished { self.end_stream(sent) } else { sent.push_if(all) };
        // A repeat comes when loss recovery lets it, whatever the application has to add.
        let held = if sent.is_retransmission() { HeldBy::CongestionWindow } else { held };
        self.leave(sent.held_back_by(held))
    }

    /// A segment of ours leaves; each acknowledges, so nothing is owed afterwards.
    #[inline]
    pub(in crate::tcp) fn leave(&mut self, sent: Outgoing) -> Outgoing {
        if !self.receiver.tells() && self.sender.marks.is_none() {
            self.receiver.settled();
            return sent.whole_if(self.sender.config.sack && self.receiver.has_gaps());
        }
        self.leave_with_options(sent)
    }

    /// [`Endpoint::leave`] of a segment that may tell of duplicates, marks or a window that has grown.
    #[inline(never)]
    fn leave_with_options(&mut self, sent: Outgoing) -> Outgoing {
        if self.sender.marks.is_some() {
            return self.leave_with_marks(sent);
        }
        let again = self.receiver.has_duplicates();
        self.receiver.acknowledged();
        sent.whole_if((self.sender.config.sack && self.receiver.has_gaps()) || again)
    }

    /// Writes what [`Endpoint::poll`] gave last, whatever was there before. SACK blocks beyond
    /// `sack_count` are left as they were.
    #[inline]
    pub fn write_segment(&self, now: Time, sent: Outgoing, segment: &mut Segment) {
        segment.seq = self.sequence_number(sent);
        segment.ack = self.acknowledgement_number();
        segment.len = sent.len();
        segment.window = self.window_said();
        segment.ts_val = 0;
        segment.ts_ecr = 0;
        segment.flags = if sent.is_pushed() { flags::ACK | flags::PSH } else { flags::ACK };
        segment.ecn = Ecn::NotEct;
        segment.sack_count = 0;
        segment.accecn = None;
        segment.retransmission = sent.is_retransmission();
        if self.sender.config.timestamps || !sent.fits_header() {
            self.write_options(now, segment);
        }
        if sent.is_control() {
            self.write_control(sent, segment);
        }
    }

    /// Makes a segment one that begins or ends a connection or a stream.
    #[cold]
    fn write_control(&self, sent: Outgoing, segment: &mut Segment) {
        if sent.is_syn() {
            self.write_syn(segment);
        } else if sent.is_reset() {
            self.write_reset(segment);
        } else {
            segment.flags |= flags::FIN;
        }
    }

    /// The window that a segment which leaves now offers, as the wire says it.
    #[inline]
    pub(in crate::tcp) fn window_said(&self) -> u32 {
        self.receiver.offered().unwrap_or(self.sender.config.advertised)
    }

    /// The sequence number of a segment that leaves.
    #[inline]
    #[must_use]
    pub fn sequence_number(&self, sent: Outgoing) -> u32 {
        self.sender.numbering.wire(sent.start())
    }

    /// The number of a byte of its stream, by its offset.
    #[must_use]
    pub fn number_of(&self, offset: u64) -> u32 {
        self.sender.numbering.wire(offset)
    }

    /// What a segment that leaves now acknowledges.
    #[inline]
    #[must_use]
    pub fn acknowledgement_number(&self) -> u32 {
        self.theirs.wire(self.receiver.next())
    }

    /// RFC 7323 timestamps and RFC 2018 blocks.
    #[inline(never)]
    fn write_options(&self, now: Time, segment: &mut Segment) {
        if self.sender.config.timestamps {
            segment.ts_val = timestamp::at(now);
            segment.ts_ecr = self.echo;
        }
        if self.sender.config.sack {
            self.receiver.report(segment, self.theirs);
        }
        self.write_marks(segment);
    }
}
