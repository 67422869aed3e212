//! One end of a connection: states, handshake, and the order of things.
//!
//! Written to RFC 9293 (states, segments), RFC 5681 and 6582 (congestion control), RFC 6298
//! (timer), RFC 3042 (Limited Transmit), RFC 2018 and 6675 (SACK) and RFC 7323 (timestamps).
//!
//! **Not here**: FIN and RST (a connection lasts as long as its engine keeps it), simultaneous open,
//! urgent data, zero windows (see [`super::receiver`]), Nagle (see [`super::sender`]),
//! path MTU discovery, PAWS.

use super::outgoing::Outgoing;
use super::receiver::Receiver;
use super::report::{Counters, Phase, Snapshot};
use super::segment::{Segment, flags};
use super::sender::{Mode, Sender};
use super::seq::Numbering;
use super::timestamp;
use crate::cc::Controller;
use crate::plan::TcpPlan;
use crate::random::Stream;
use crate::unit::{Ecn, HeldBy};
use crate::units::{Span, Time};

/// How often Linux sends a SYN again without waiting longer (`tcp_syn_linear_timeouts`).
const LINEAR_SYNS: u32 = 4;

/// Which end begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends the SYN.
    Active,
    /// Waits for it.
    Passive,
}

/// States of a connection, by their names in RFC 9293 §3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not opened yet.
    Closed,
    /// Waits for a SYN.
    Listen,
    /// Has sent a SYN.
    SynSent,
    /// Has sent a SYN and an ACK for the other's.
    SynReceived,
    /// Data may flow both ways.
    Established,
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            State::Closed => "CLOSED",
            State::Listen => "LISTEN",
            State::SynSent => "SYN-SENT",
            State::SynReceived => "SYN-RECEIVED",
            State::Established => "ESTABLISHED",
        })
    }
}

/// One end of a TCP connection, without clock, timer or wire.
///
/// Call order: [`Endpoint::open`] once (both ends), then in any order `write` and the
/// `handle_*`, with `now` never going back; after **each** of them [`Endpoint::poll_transmit`] until it
/// says `None`. Come back at [`Endpoint::next_wakeup`] at the latest; coming early changes nothing.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Endpoint {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) theirs: Numbering,
    pub(super) state: State,
    /// ESTABLISHED, and neither timestamps nor ECN to look at.
    pub(super) plain: bool,
    role: Role,
    /// A SYN is to be sent.
    pub(super) syn_due: bool,
    /// Highest timestamp to echo (TS.Recent).
    pub(super) echo: u32,
    /// How often.
    pub(super) syns: u32,
    /// When our SYN was sent first.
    pub(super) syn_at: Time,
}

impl Endpoint {
    /// An endpoint before [`Endpoint::open`]. `isn` is its initial sequence number; without a
    /// handshake neither end could learn the other's, so both must be given the same. `rng` is
    /// needed for [`crate::plan::Increase::Random`], and for controllers that draw.
    #[must_use]
    pub fn new(plan: &TcpPlan, role: Role, isn: u32, rng: Option<Stream>) -> Endpoint {
        let waits = if plan.handshake { State::Listen } else { State::Established };
        let sender = Sender::new(plan, isn, rng);
        Endpoint {
            plain: role == Role::Passive && !plan.handshake && sender.config.is_plain(),
            sender,
            receiver: Receiver::new(plan),
            state: if role == Role::Active { State::Closed } else { waits },
            role,
            theirs: Numbering::after_syn(isn),
            echo: 0,
            syn_at: Time::ZERO,
            syns: 0,
            syn_due: false,
        }
    }

    /// Replaces the congestion controller before the connection begins; at both ends, if it needs ECN.
    pub fn set_controller(&mut self, controller: Controller) {
        self.sender.set_controller(controller);
        self.sender.prepare_marks();
        self.plain &= !self.sender.config.special;
    }

    /// The controller's window or pace was set from outside. Says whether data may leave by it now: poll then.
    pub fn handle_window_set(&mut self) -> bool {
        let open = self.state == State::Established;
        self.sender.ready |= open;
        open
    }

    /// The host had been up for `uptime` at time 0: its coarse clocks, which started when it was switched on,
    /// tick accordingly. Without this call they tick at the multiples of their periods. Before [`Endpoint::open`].
    pub fn start_clock(&mut self, uptime: Span) {
        self.sender.estimator.start_clock(uptime);
        self.sender.config.start_clock(uptime);
    }

    /// The application opens the connection. An active end sends a SYN, or is ESTABLISHED at
    /// once when the plan has no handshake; a passive end does nothing.
    pub fn open(&mut self, _now: Time) {
        if self.state == State::Closed {
            self.sender.ready = true;
            self.syn_due = self.sender.config.handshake;
            self.state = if self.sender.config.handshake { State::SynSent } else { State::Established };
            self.plain = !self.sender.config.handshake && self.sender.config.is_plain();
        }
    }

    /// The application adds `bytes`; `u64::MAX`: it always has more.
    pub fn write(&mut self, _now: Time, bytes: u64) {
        self.sender.write(bytes);
    }

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
        let accounts = self.sender.accounts.is_some();
        let sent = if accounts { self.answer_accounting(now, number) } else { self.answer_ack(now, number) };
        sent.get().or_else(|| self.poll_ack())
    }

    #[inline(never)]
    fn answer_ack(&mut self, now: Time, number: u32) -> Outgoing {
        let window = self.sender.raw_window;
        if !self.sender.handle_ack(now, number, window, None) {
            self.receiver.demand_ack();
        }
        if !self.sender.ready {
            return Outgoing::NOTHING;
        }
        let held = self.sender.held;
        let sent = self.sender.poll(now);
        self.release(sent, held)
    }

    /// The same for a sender that accounts for ACKs.
    #[inline(never)]
    fn answer_accounting(&mut self, now: Time, number: u32) -> Outgoing {
        let Some(mut accounts) = self.sender.accounts.take() else { return Outgoing::NOTHING };
        let window = self.sender.raw_window;
        if !self.sender.handle_ack_with(&mut accounts, now, number, window, None) {
            self.receiver.demand_ack();
        }
        let held = self.sender.held;
        let sent = if self.sender.ready { self.sender.poll_with(&mut accounts, now) } else { None };
        self.sender.accounts = Some(accounts);
        self.release(sent, held)
    }

    /// A segment arrived of which [`Outgoing::is_usual`] was true at the other end, to which this end
    /// sends no data: the number of its first byte and its length.
    #[inline(always)]
    pub fn handle_usual_data(&mut self, now: Time, seq: u32, len: u32) {
        if self.plain && seq == self.acknowledgement_number() {
            return self.handle_next(now, len);
        }
        self.handle_any(now, &Segment { seq, len, ..self.nothing_new() });
    }

    /// The next data of the stream; what they acknowledge is old.
    #[inline(always)]
    fn handle_next(&mut self, now: Time, len: u32) {
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
    pub(super) fn handle_pure_ack(&mut self, now: Time, number: u32, window: u32, segment: Option<&Segment>) {
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
    fn handle_any(&mut self, now: Time, segment: &Segment) {
        crate::work::step();
        if (self.state != State::Established || segment.flags & flags::SYN != 0)
            && !self.handle_handshake(now, segment)
        {
            return;
        }
        if self.sender.config.timestamps {
            self.read_timestamp(segment);
            if segment.len > 0 && segment.ts_ecr != 0 {
                let rtt = now.saturating_since(timestamp::sent_at(segment.ts_ecr, now));
                self.receiver.handle_rtt(segment.ts_ecr, rtt);
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
    fn read_timestamp(&mut self, segment: &Segment) {
        let newer = segment.ts_val.wrapping_sub(self.echo).cast_signed() >= 0;
        let ahead = segment.seq.wrapping_sub(self.theirs.wire(self.receiver.acknowledged_to())).cast_signed();
        if newer && ahead <= 0 {
            self.echo = segment.ts_val;
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
        self.receiver.handle_wakeup(now);
        if now >= self.sender.pace_at {
            self.sender.pace_at = Time::NEVER;
            self.sender.ready = true;
        }
        if now < self.sender.rto_at {
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
            self.sender.rto_at = Time::NEVER;
            self.ask_for_syn();
        }
    }

    /// The next segment to send and what had held it back; `None`: nothing more now.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<(Segment, HeldBy)> {
        let mut segment = Segment::default();
        let sent = self.poll(now)?;
        self.write_segment(now, sent, &mut segment);
        Some((segment, sent.held_by()))
    }

    /// The same before it is written as a segment, which [`Endpoint::write_segment`] does until anything else happens.
    #[inline]
    pub fn poll(&mut self, now: Time) -> Option<Outgoing> {
        if self.sender.ready {
            let accounts = self.sender.accounts.is_some();
            let sent = if accounts { self.poll_accounting(now) } else { self.poll_sender(now) };
            if let Some(sent) = sent.get() {
                return Some(sent);
            }
        }
        self.poll_ack()
    }

    /// An ACK that is to leave although no data do.
    #[inline(always)]
    fn poll_ack(&mut self) -> Option<Outgoing> {
        if !self.receiver.ack_now() {
            return None;
        }
        self.sender.counters.acks_sent += 1;
        Some(self.leave(Outgoing::new(self.sender.max, 0)))
    }

    #[inline(never)]
    fn poll_sender(&mut self, now: Time) -> Outgoing {
        self.poll_by(now, Sender::poll)
    }

    /// The same for a sender that accounts for ACKs.
    #[inline(never)]
    fn poll_accounting(&mut self, now: Time) -> Outgoing {
        self.poll_by(now, Sender::poll_accounted)
    }

    #[inline(always)]
    fn poll_by(&mut self, now: Time, poll: impl FnOnce(&mut Sender, Time) -> Option<Outgoing>) -> Outgoing {
        if self.syn_due || self.state != State::Established {
            return self.poll_syn(now);
        }
        let held = self.sender.held;
        let sent = poll(&mut self.sender, now);
        self.release(sent, held)
    }

    /// What the sender lets go, which `held` had held back.
    #[inline(always)]
    fn release(&mut self, sent: Option<Outgoing>, held: HeldBy) -> Outgoing {
        let Some(sent) = sent else { return Outgoing::NOTHING };
        let all = !sent.is_empty() && sent.start() + u64::from(sent.len()) == self.sender.written;
        // A repeat comes when loss recovery lets it, whatever the application has to add.
        let held = if sent.is_retransmission() { HeldBy::CongestionWindow } else { held };
        self.leave(sent.push_if(all).held_back_by(held))
    }

    /// A segment of ours leaves; each acknowledges, so nothing is owed afterwards.
    #[inline]
    pub(super) fn leave(&mut self, sent: Outgoing) -> Outgoing {
        let config = &self.sender.config;
        if !config.special && !self.receiver.tells() {
            self.receiver.settled();
            let pushes = config.linux_acks && sent.is_pushed();
            return sent.options_if(pushes || (config.sack && self.receiver.has_gaps()));
        }
        self.leave_with_options(sent)
    }

    /// The same where a segment may say more than what it acknowledges.
    #[inline(never)]
    fn leave_with_options(&mut self, sent: Outgoing) -> Outgoing {
        let news = self.receiver.window_is_news() || self.receiver.has_duplicates();
        if self.sender.config.special && self.sender.marks.is_some() {
            return self.leave_with_marks(sent);
        }
        self.receiver.acknowledged();
        let config = &self.sender.config;
        let pushes = config.linux_acks && sent.is_pushed();
        sent.options_if(config.special || pushes || (config.sack && self.receiver.has_gaps()) || news)
    }

    /// Writes what [`Endpoint::poll`] gave last, whatever was there before. SACK blocks beyond
    /// `sack_count` are left as they were.
    #[inline]
    pub fn write_segment(&self, now: Time, sent: Outgoing, segment: &mut Segment) {
        segment.seq = self.sequence_number(sent);
        segment.ack = self.acknowledgement_number();
        segment.len = sent.len();
        segment.window = self.receiver.offered().unwrap_or(self.sender.config.advertised);
        segment.ts_val = 0;
        segment.ts_ecr = 0;
        segment.flags = if sent.is_pushed() { flags::ACK | flags::PSH } else { flags::ACK };
        segment.ecn = Ecn::NotEct;
        segment.sack_count = 0;
        segment.accecn = None;
        segment.retransmission = sent.is_retransmission();
        if sent.has_options() {
            self.write_options(now, segment);
        }
        if sent.is_syn() {
            self.write_syn(segment);
        }
    }

    /// The sequence number of a segment that leaves.
    #[inline]
    #[must_use]
    pub fn sequence_number(&self, sent: Outgoing) -> u32 {
        self.sender.numbering.wire(sent.start())
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

    /// When to come back at the latest. It may move with every call.
    #[inline]
    #[must_use]
    pub fn next_wakeup(&self) -> Time {
        self.sender.rto_at.min(self.sender.pace_at).min(self.receiver.wakeup())
    }

    /// The exact round trip of a segment that was sent once: the newest that the last ACK was the first to report, by its
    /// number or by SACK. Where that number covers a segment that was sent again, only SACK counts, because the others
    /// may have waited for it. Each is handed out once.
    #[inline]
    pub fn take_rtt_sample(&mut self) -> Option<Span> {
        self.sender.measured.take()
    }

    /// Whether it asks for ECN.
    #[must_use]
    pub fn uses_ecn(&self) -> bool {
        self.sender.marks.is_some()
    }

    /// Totals.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.sender.counters
    }

    /// The sequence number of the oldest byte that has not been acknowledged (SND.UNA).
    #[must_use]
    pub fn oldest_unacknowledged(&self) -> u32 {
        self.sender.numbering.wire(self.sender.una)
    }

    /// User bytes received in order since the connection began: what the application could read.
    #[inline]
    #[must_use]
    pub fn in_order_bytes(&self) -> u64 {
        self.receiver.next()
    }

    /// Whether all that was written has been acknowledged.
    #[must_use]
    pub fn all_acknowledged(&self) -> bool {
        self.sender.una >= self.sender.written
    }

    /// The congestion window in whole bytes.
    #[inline]
    #[must_use]
    pub fn congestion_window(&self) -> u64 {
        self.sender.window()
    }

    /// The state of the connection.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Which end began.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The state that plots show.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let controller = self.sender.controller.snapshot();
        let srtt = self.sender.estimator.smoothed();
        Snapshot {
            cwnd: if self.sender.reduces() { self.sender.window() as f64 } else { controller.window },
            ssthresh: controller.ssthresh,
            in_flight: self.sender.pipe(),
            outstanding: self.sender.outstanding(),
            srtt: (srtt != Span::ZERO).then_some(srtt),
            rto: self.sender.estimator.rto(),
            phase: match self.sender.mode {
                Mode::Fast | Mode::Sack => Phase::Recovery,
                Mode::Loss => Phase::Loss,
                Mode::Open if controller.slow_start => Phase::SlowStart,
                Mode::Open => Phase::CongestionAvoidance,
            },
            held_by: self.sender.held,
            pacing_rate: self.sender.pacing_rate(),
            detail: self.sender.controller.detail(),
        }
    }
}
