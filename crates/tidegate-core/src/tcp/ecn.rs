//! Explicit Congestion Notification at one end of a connection: what its segments say, what it echoes of the marks that
//! arrive, and what it does when the other end reports some (RFC 3168, RFC 8257, RFC 9768). How the two ends agree on it is in
//! [`super::ecn_handshake`].
//!
//! Pure ACKs and SYNs are Not-ECT. DEVIATION: Linux sends them with ECT in Accurate ECN; the AccECN Option of RFC 9768 §3.2.3
//! is not there: the three bits of the counter say all that a path without reordering needs.

use super::accounts::Accounts;
use super::endpoint::Endpoint;
use super::outgoing::Outgoing;
use super::segment::{Segment, flags};
use super::sender::{Mode, Sender};
use crate::cc::{EcnNeed, LossKind, Recovery};
use crate::plan::EcnPlan;
use crate::unit::Ecn;
use crate::units::Time;

/// RFC 9768 §3.2.1: what the counters of CE packets begin with.
pub(super) const FIRST_COUNT: u32 = 5;

/// How marks are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feedback {
    /// Not at all.
    Off,
    /// Every ACK says so until the sender says that it has reduced its window (RFC 3168 §6.1.3).
    Classic,
    /// Every ACK says of the data that it acknowledges whether they were marked (RFC 8257 §3.2).
    Changes,
    /// Every ACK has the low bits of a counter (RFC 9768 §3.2.2).
    Counted,
}

/// What a segment that leaves says, until the next one leaves.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    flags: u16,
    ecn: Ecn,
    /// It acknowledges less than what has arrived.
    ack: Option<u64>,
}

/// What one end remembers.
#[derive(Debug)]
pub(super) struct Marks {
    /// What this end asks for.
    pub(super) asks: EcnPlan,
    /// What its controller needs.
    pub(super) need: EcnNeed,
    pub(super) feedback: Feedback,
    /// The next ACK is the last segment of the handshake.
    pub(super) first_ack: bool,
    /// Linux's receivers acknowledge at once after a mark.
    at_once: bool,
    // The receiving half.
    /// Classic: ACKs echo a mark. Otherwise: the last packet was marked.
    echo: bool,
    /// An ACK of what came before the state changed, and that state.
    early: Option<(u64, bool)>,
    /// Marked packets that arrived (r.cep), and as many as the last ACK reported.
    count: u32,
    told: u32,
    leaving: Leaving,
    // The sending half.
    /// Marked packets that the other end has reported (s.cep).
    heard: u32,
    /// Of these, those of the last ACK.
    pub(super) marked: u32,
    /// SND.NXT when the window was reduced last, for whatever reason, and for a mark.
    reduced_until: u64,
    marked_until: u64,
    /// CWR is to be set (RFC 3168 §6.1.2).
    cwr_due: bool,
    /// ACKs that moved nothing since one did: each reported a segment out of order (RFC 5681 §4.2).
    repeats: u64,
    /// Flags of the ACK that is being read.
    reading: Option<u16>,
}

impl Marks {
    /// `None` without ECN.
    pub(super) fn new(plan: EcnPlan, need: EcnNeed, handshake: bool, at_once: bool) -> Option<Box<Marks>> {
        let asks = match need {
            EcnNeed::Plan => plan,
            EcnNeed::Extent if plan == EcnPlan::Off => EcnPlan::Classic,
            EcnNeed::Extent => plan,
            EcnNeed::L4s => EcnPlan::Accurate,
        };
        if asks == EcnPlan::Off {
            return None;
        }
        let mut marks = Marks {
            asks,
            need,
            feedback: Feedback::Off,
            first_ack: false,
            at_once,
            echo: false,
            early: None,
            count: FIRST_COUNT,
            told: FIRST_COUNT,
            leaving: Leaving { flags: 0, ecn: Ecn::NotEct, ack: None },
            heard: FIRST_COUNT,
            marked: 0,
            reduced_until: 0,
            marked_until: 0,
            cwr_due: false,
            repeats: 0,
            reading: None,
        };
        if !handshake {
            marks.agree(asks);
        }
        Some(Box::new(marks))
    }

    /// The two ends agree on it.
    pub(super) fn agree(&mut self, on: EcnPlan) {
        self.feedback = match on {
            EcnPlan::Off => Feedback::Off,
            EcnPlan::Classic if self.need == EcnNeed::Plan => Feedback::Classic,
            EcnPlan::Classic => Feedback::Changes,
            EcnPlan::Accurate => Feedback::Counted,
        };
    }

    /// What data segments have in their IP header.
    fn codepoint(&self, again: bool) -> Ecn {
        match self.feedback {
            Feedback::Off => Ecn::NotEct,
            // RFC 3168 §6.1.5: not on what is sent again. Linux and RFC 9768 §2.5 allow it otherwise.
            Feedback::Classic if again => Ecn::NotEct,
            // RFC 9331 §4.1 and §4.2: ECT(1) needs accurate feedback.
            Feedback::Counted if self.need == EcnNeed::L4s => Ecn::Ect1,
            Feedback::Classic | Feedback::Changes | Feedback::Counted => Ecn::Ect0,
        }
    }

    /// What `flags` report, of an ACK that newly reported so many segments: whether there is congestion. [`Marks::marked`] has
    /// the number of segments.
    fn read(&mut self, read: u16, newly: u64) -> bool {
        self.marked = 0;
        match self.feedback {
            Feedback::Off => false,
            Feedback::Classic | Feedback::Changes => {
                let echoed = read & flags::ECE != 0;
                self.marked = if echoed { u32::try_from(newly).unwrap_or(u32::MAX) } else { 0 };
                echoed
            }
            // An ACK that reports nothing may be an old one (RFC 9768 §3.2.2.5.2, `tcp_accecn_process`).
            Feedback::Counted if newly == 0 => false,
            Feedback::Counted => {
                let least = flags::ace(read).wrapping_sub(self.heard) & 7;
                // RFC 9768 §3.2.2.5.2: the counter may have wrapped where more than seven packets are reported, and is
                // taken to have done so as often as it can.
                let newly = u32::try_from(newly).unwrap_or(u32::MAX);
                self.marked = if newly > 7 { newly - (newly.wrapping_sub(least) & 7) } else { least };
                self.heard = self.heard.wrapping_add(self.marked);
                self.marked > 0
            }
        }
    }

    /// Whether `flags` report congestion; the same without taking note.
    fn reports(&self, read: u16) -> bool {
        match self.feedback {
            Feedback::Off => false,
            Feedback::Classic | Feedback::Changes => read & flags::ECE != 0,
            Feedback::Counted => flags::ace(read).wrapping_sub(self.heard) & 7 != 0,
        }
    }
}

impl Endpoint {
    /// A segment leaves; what it says is written by [`Endpoint::write_marks`].
    #[inline(never)]
    pub(super) fn leave_with_marks(&mut self, sent: Outgoing) -> Outgoing {
        let Some(marks) = &mut self.sender.marks else { return sent };
        let (data, again) = (!sent.is_empty(), sent.is_retransmission());
        let early = marks.early.take();
        if let Some((ack, echo)) = early
            && !data
            && !sent.is_syn()
        {
            // The ACK proper follows.
            let flags = if echo { flags::ECE } else { 0 };
            marks.leaving = Leaving { flags, ecn: Ecn::NotEct, ack: Some(ack) };
            return sent.options_if(true);
        }
        self.receiver.acknowledged();
        let flags = match marks.feedback {
            _ if sent.is_syn() => 0,
            Feedback::Off => 0,
            Feedback::Classic | Feedback::Changes => {
                // RFC 3168 §6.1.2: on the first new data after a reduction.
                let cwr = data && !again && std::mem::take(&mut marks.cwr_due);
                (if cwr { flags::CWR } else { 0 }) | (if marks.echo { flags::ECE } else { 0 })
            }
            Feedback::Counted => {
                marks.told = marks.count;
                // RFC 9768 §3.2.2.1: the last segment of the handshake says how the SYN-ACK arrived: Not-ECT.
                if std::mem::take(&mut marks.first_ack) { flags::CWR } else { flags::of_ace(marks.count) }
            }
        };
        let ecn = if data { marks.codepoint(again) } else { Ecn::NotEct };
        marks.leaving = Leaving { flags, ecn, ack: None };
        sent.options_if(true)
    }

    /// Writes what the segment that left last says of ECN.
    #[inline(never)]
    pub(super) fn write_marks(&self, segment: &mut Segment) {
        let Some(marks) = &self.sender.marks else { return };
        let Leaving { flags, ecn, ack } = marks.leaving;
        segment.flags |= flags;
        segment.ecn = ecn;
        if let Some(ack) = ack {
            segment.ack = self.theirs.wire(ack);
        }
    }

    /// A data segment arrived, which begins at `start`: what it says of ECN.
    #[inline(never)]
    pub(super) fn note_mark(&mut self, start: u64, segment: &Segment) {
        let Sender { marks: Some(marks), config, counters, .. } = &mut self.sender else { return };
        // RFC 3168 §6.1.5: not of data outside the window.
        if start + u64::from(segment.len) > self.receiver.next().saturating_add(config.window) {
            return;
        }
        let marked = segment.ecn == Ecn::Ce;
        counters.ce_received += u64::from(marked);
        match marks.feedback {
            Feedback::Off => {}
            Feedback::Classic => {
                // RFC 3168 §6.1.3: until the sender says that it has reduced its window.
                if segment.flags & flags::CWR != 0 {
                    marks.echo = false;
                    if marks.at_once {
                        // `tcp_ecn_accept_cwr` of Linux 6.18: its window may be very small.
                        self.receiver.demand_ack();
                    }
                }
                if marked {
                    if marks.at_once && !marks.echo {
                        // `__tcp_ecn_check_ce`: two quick ACKs.
                        self.receiver.hasten(2);
                    }
                    marks.echo = true;
                }
            }
            Feedback::Changes if marked == marks.echo => {}
            Feedback::Changes => {
                // RFC 8257 §3.2: an ACK at once when CE changes. As `dctcp_ece_ack_update` of Linux 6.18 does it: one of what
                // came before, if any is owed, and one with the new state.
                if self.receiver.owes() {
                    marks.early = Some((self.receiver.next(), marks.echo));
                }
                marks.echo = marked;
                self.receiver.demand_ack();
            }
            Feedback::Counted => {
                marks.count = marks.count.wrapping_add(u32::from(marked));
                // RFC 9768 §3.2.2.5.1: at once for the first mark, and for every second one.
                let change = marked && !std::mem::replace(&mut marks.echo, marked);
                if change || marks.count.wrapping_sub(marks.told) >= 2 {
                    self.receiver.demand_ack();
                }
            }
        }
    }

    /// [`Sender::handle_ack`] of a connection with ECN.
    #[inline(never)]
    pub(super) fn handle_ack_with_marks(&mut self, now: Time, segment: &Segment) {
        let sender = &mut self.sender;
        let ahead = segment.ack.wrapping_sub(sender.numbering.wire(sender.una)).cast_signed();
        let known = ahead >= 0 && u64::from(ahead.unsigned_abs()) <= sender.outstanding();
        let reads = known && segment.flags & flags::SYN == 0;
        let (first, flight, limited_end) = (sender.board.first, sender.outstanding(), sender.limited_end);
        let Some(marks) = &mut sender.marks else { return };
        marks.marked = 0;
        marks.reading = reads.then_some(segment.flags);
        if sender.accounts.is_some() || !reads {
            return self.handle_pure_ack(now, segment.ack, segment.window, Some(segment));
        }
        if marks.reports(segment.flags) {
            // RFC 3168 §6.1.2: the window does not grow on such an ACK.
            sender.limited_end = 0;
        }
        self.handle_pure_ack(now, segment.ack, segment.window, Some(segment));
        let sender = &mut self.sender;
        sender.limited_end = limited_end;
        let newly = sender.board.first - first;
        let repeats = &mut sender.marks.as_mut().expect("as above").repeats;
        let newly = if newly > 0 {
            newly.saturating_sub(std::mem::take(repeats)).max(1)
        } else if segment.len == 0 && flight > 0 {
            *repeats += 1;
            1
        } else {
            0
        };
        if sender.reports_marks(newly) && sender.may_reduce_for_marks() {
            sender.report_loss(now, flight, LossKind::Ecn);
        }
    }
}

impl Sender {
    /// Whether the ACK that is being read reports congestion; it newly reported so many segments.
    pub(super) fn reports_marks(&mut self, newly: u64) -> bool {
        self.marks.as_mut().is_some_and(|marks| {
            let reading = marks.reading.take();
            reading.is_some_and(|flags| marks.read(flags, newly))
        })
    }

    /// RFC 3168 §6.1.2: once for each window of data, and not while losses are repaired, for which the window has been reduced.
    fn may_reduce_for_marks(&self) -> bool {
        self.mode == Mode::Open && self.marks.as_ref().is_some_and(|marks| self.una > marks.reduced_until)
    }

    /// A sender that accounts for ACKs has read one: `tcp_enter_cwr` of Linux 6.18, and the end of that state.
    pub(super) fn account_marks(&mut self, accounts: &mut Accounts, now: Time, newly: u64, flight: u64) {
        let congested = self.reports_marks(newly);
        // `tcp_fastretrans_alert`: beyond `high_seq`, for CWR to have arrived.
        if accounts.yields && self.una > self.recover {
            accounts.yields = false;
        }
        if congested && !accounts.yields && self.may_reduce_for_marks() {
            let before = self.segments(self.controller.window());
            self.report_loss(now, flight, LossKind::Ecn);
            if accounts.governed {
                return;
            }
            accounts.yields = true;
            self.recover = self.max;
            accounts.prr.begin(before, self.segments(self.controller.window()));
        }
    }

    /// A loss is found while the window is being reduced because of a mark: the recovery goes on with that reduction
    /// (`tcp_enter_recovery`), unless marks mean less than losses to the controller.
    pub(super) fn takes_over(&self, accounts: &mut Accounts) -> bool {
        let plain = self.marks.as_ref().is_some_and(|marks| marks.need == EcnNeed::Plan);
        std::mem::take(&mut accounts.yields) && plain
    }

    /// Takes note of a reduction; what is to be told of it, if anything. A loss in a window of data for which the window has
    /// been reduced because of a mark takes nothing more (RFC 3168 §6.1.2), unless marks mean less than losses to the
    /// controller (RFC 8257 §3.5).
    pub(super) fn note_reduction(&mut self, kind: LossKind) -> Option<LossKind> {
        let Some(marks) = &mut self.marks else { return Some(kind) };
        let reduced = marks.need == EcnNeed::Plan && self.una < marks.marked_until;
        if kind != (LossKind::Timeout { again: true }) {
            marks.reduced_until = self.max;
            marks.cwr_due = true;
        }
        match kind {
            LossKind::Ecn => {
                marks.marked_until = self.max;
                self.counters.ecn_reductions += 1;
                Some(kind)
            }
            LossKind::Timeout { again } => Some(LossKind::Timeout { again: again || reduced }),
            LossKind::DupAck if reduced && self.controller.recovery() != Recovery::SlowStart => None,
            LossKind::DupAck => Some(kind),
        }
    }
}
