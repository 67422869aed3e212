//! Explicit Congestion Notification at one end of a connection: what its segments say, what it echoes of the marks that
//! arrive, and what it does when the other end reports some (RFC 3168, RFC 8257, RFC 9768). How the two ends agree on it is in
//! [`super::ecn_handshake`].
//!
//! Pure ACKs and SYNs are Not-ECT. DEVIATION: Linux sends them with ECT in Accurate ECN.
//!
//! ACKs have the AccECN Option where it tells something new (RFC 9768 §3.2.3.3). DEVIATION: segments are not made shorter for
//! it, so a full segment of data has no room for one, and the first segment of a client's data has none (RFC 9768 §3.2.3.2.1 has it
//! to test the path; no path here takes options away). Linux's receivers send fewer: where the codepoint changes, and some in each round
//! trip (`tcp_accecn_opt_demand_min`).

use super::accounts::Accounts;
use super::endpoint::{Endpoint, Role};
use super::marks::{Feedback, MarksToSend};
use super::outgoing::Outgoing;
use super::segment::{Segment, flags};
use super::sender::{Mode, Sender};
use crate::cc::{EcnNeed, LossKind, Recovery};
use crate::plan::Arithmetic;
use crate::unit::Ecn;
use crate::units::Time;

impl Endpoint {
    /// A segment leaves; what it says is written by [`Endpoint::write_marks`].
    #[inline(never)]
    pub(super) fn leave_with_marks(&mut self, sent: Outgoing) -> Outgoing {
        let Sender { marks: Some(marks), config, .. } = &mut self.sender else { return sent };
        let (data, again) = (!sent.is_empty(), sent.is_retransmission());
        let early = marks.early.take();
        if let Some((ack, echo)) = early
            && !data
            && !sent.is_syn()
        {
            // The ACK proper follows.
            let flags = if echo { flags::ECE } else { 0 };
            marks.leaving = MarksToSend { flags, ecn: Ecn::NotEct, ack: Some(ack), option: None };
            return sent.whole_if(true);
        }
        self.receiver.acknowledged();
        let option = match marks.feedback {
            Feedback::Counted if !config.rules.accecn_option => None,
            // RFC 9768 §3.2.3.2.1 and §3.2.3.2.2: on the first SYN-ACK, and on the last segment of the handshake.
            Feedback::Counted if sent.is_syn() => (!again).then(|| marks.whole_option()),
            Feedback::Counted if marks.first_ack && !data => Some(marks.whole_option()),
            Feedback::Counted if data => marks.option(config.mss.saturating_sub(sent.len())),
            Feedback::Counted => marks.option(u32::MAX),
            Feedback::Off | Feedback::Classic | Feedback::Changes => None,
        };
        let flags = match marks.feedback {
            _ if sent.is_syn() => 0,
            Feedback::Off => 0,
            Feedback::Classic | Feedback::Changes => {
                // RFC 3168 §6.1.2: on the first new data after a reduction.
                let cwr = data && !again && std::mem::take(&mut marks.cwr_due);
                (if cwr { flags::CWR } else { 0 }) | (if marks.echo { flags::ECE } else { 0 })
            }
            Feedback::Counted => {
                marks.reported = marks.count;
                // RFC 9768 §3.2.2.1: the last segment of the handshake says how the SYN-ACK arrived.
                let last = std::mem::take(&mut marks.first_ack);
                if last { flags::of_codepoint(marks.syn_came) } else { flags::of_ace(marks.count) }
            }
        };
        let ecn = if data { marks.codepoint(again) } else { Ecn::NotEct };
        marks.leaving = MarksToSend { flags, ecn, ack: None, option };
        sent.whole_if(true)
    }

    /// Writes what the segment that left last says of ECN.
    #[inline(never)]
    pub(super) fn write_marks(&self, segment: &mut Segment) {
        let Some(marks) = &self.sender.marks else { return };
        let MarksToSend { flags, ecn, ack, option } = marks.leaving;
        segment.flags |= flags;
        segment.ecn = ecn;
        if let Some(ack) = ack {
            segment.ack = self.theirs.wire(ack);
        }
        if let Some(option) = option {
            segment.add_accecn(option);
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
                marks.count_bytes(segment.ecn, segment.len);
                // RFC 9768 §3.2.2.5.1: at once for the first mark, and for every second one.
                let change = marked && !std::mem::replace(&mut marks.echo, marked);
                if change || marks.count.wrapping_sub(marks.reported) >= 2 {
                    self.receiver.demand_ack();
                }
            }
        }
    }

    /// [`Sender::handle_ack`] of a connection with ECN.
    #[inline(never)]
    pub(super) fn handle_ack_with_marks(&mut self, now: Time, segment: &Segment) {
        let passive = self.role() == Role::Passive;
        let sender = &mut self.sender;
        let ahead = segment.ack.wrapping_sub(sender.numbering.wire(sender.una)).cast_signed();
        let known = ahead >= 0 && u64::from(ahead.unsigned_abs()) <= sender.outstanding();
        let reads = known && segment.flags & flags::SYN == 0;
        let (first, flight, limited_end) = (sender.board.first, sender.outstanding(), sender.limited_end);
        let Some(marks) = &mut sender.marks else { return };
        if segment.flags & flags::SYN == 0 {
            marks.read_first(segment.flags, passive);
        }
        marks.marked = 0;
        marks.marked_bytes = None;
        marks.reading = reads.then_some((segment.flags, segment.accecn));
        if sender.accounts.is_some() || !reads {
            return self.handle_pure_ack(now, segment.ack, segment.window, Some(segment));
        }
        if marks.reports(segment.flags) {
            // RFC 3168 §6.1.2: the window does not grow on such an ACK.
            sender.limited_end = 0;
        }
        self.handle_pure_ack(now, segment.ack, segment.window, Some(segment));
        self.sender.limited_end = limited_end;
        self.sender.answer_marks(now, first, flight, segment.len == 0);
    }
}

impl Sender {
    /// A sender without accounts has read an ACK, before which its oldest segment was number `first`.
    fn answer_marks(&mut self, now: Time, first: u64, flight: u64, pure: bool) {
        let Some(marks) = &mut self.marks else { return };
        let newly = match self.board.first - first {
            0 if pure && flight > 0 => {
                marks.repeats += 1;
                1
            }
            0 => 0,
            // What repeated ACKs have reported already is not new.
            newly => newly.saturating_sub(std::mem::take(&mut marks.repeats)).max(1),
        };
        if self.reports_marks(newly) && self.may_reduce_for_marks() {
            self.report_loss(now, flight, LossKind::Ecn);
        }
    }

    /// Whether the ACK that is being read reports congestion; it newly reported so many segments.
    pub(super) fn reports_marks(&mut self, newly: u64) -> bool {
        let mss = self.config.mss;
        self.marks.as_mut().is_some_and(|marks| {
            let reading = marks.reading.take();
            let congested = reading.is_some_and(|(flags, option)| marks.read(flags, option, newly, mss));
            marks.delivered_ce += u64::from(marks.marked);
            congested
        })
    }

    /// RFC 3168 §6.1.2: once for each window of data, and not while losses are repaired, for which the window has been reduced.
    fn may_reduce_for_marks(&self) -> bool {
        self.mode == Mode::Open && self.marks.as_ref().is_some_and(|marks| self.una > marks.reduced_until)
    }

    /// Whether a sender that accounts for ACKs reduces its window for marks. DEVIATION: as in Linux (`tcp_try_to_open`) also on the ACK
    /// that ends the repair of a loss in the same window of data, where RFC 3168 §6.1.2 has one reduction.
    fn may_enter_reduction(&self, accounts: &Accounts) -> bool {
        if accounts.linux_windows && !accounts.governed {
            return self.mode == Mode::Open && !accounts.yields;
        }
        !accounts.yields && self.may_reduce_for_marks()
    }

    /// A sender that accounts for ACKs has read one: `tcp_enter_cwr` of Linux 6.18, and the end of that state. `within`: it came while a
    /// recovery was not over, and causes no reduction even where that has been taken back (`tcp_try_to_open` is not asked).
    pub(super) fn account_marks(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        newly: u64,
        flight: u64,
        within: bool,
    ) {
        let congested = self.reports_marks(newly) && !within;
        // `tcp_fastretrans_alert`: beyond `high_seq`, for CWR to have arrived.
        if accounts.yields && self.una > self.recover {
            accounts.yields = false;
        }
        if congested && self.may_enter_reduction(accounts) {
            let before = self.segments(self.controller.window());
            accounts.undo.forget();
            if accounts.linux_windows {
                // `tcp_init_cwnd_reduction`.
                accounts.probe.forget();
            }
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
        // Linux goes by its state alone, which a time-out ends ([`Sender::takes_over`]; `tcp_enter_recovery`, `tcp_enter_loss`).
        let by_state = self.config.account && self.config.rules.arithmetic == Arithmetic::Linux;
        let reduced = !by_state && marks.need == EcnNeed::Plan && self.una < marks.marked_until;
        if kind != (LossKind::Timeout { again: true }) {
            marks.reduced_until = self.max;
            marks.cwr_due = true;
        } else if self.config.rules.arithmetic == Arithmetic::Linux {
            // `tcp_enter_loss`: each time-out is told of.
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
