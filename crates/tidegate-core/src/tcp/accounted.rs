//! What an acknowledgement does to a sender that accounts for each: what it newly delivered, what it proved lost, what
//! it measured. Loss recovery is RACK's and PRR's here (RFC 8985, RFC 9937), or RFC 6675's, as the plan has it;
//! the order of things is that of `tcp_ack` in Linux 6.18.

use super::probe::{Probe, Timer};
use super::prr::{Progress, Prr};
use super::rack::{Found, Rack};
use super::scoreboard::{REPEATED, SACKED, Sent};
use super::segment::Segment;
use super::sender::{Mode, Sender};
use super::timestamp;
use super::window_use::{Burst, WindowUse};
use crate::cc::{Ack, Acked, LossKind, Lost};
use crate::plan::{Arithmetic, LossDetection, Reduction, TcpPlan};
use crate::unit::HeldBy;
use crate::units::{Span, Time};

/// What a sender remembers to account for ACKs.
#[derive(Debug)]
pub(super) struct Accounts {
    pub(super) rack: Rack,
    pub(super) prr: Prr,
    pub(super) probe: Probe,
    pub(super) timer: Timer,
    usage: WindowUse,
    /// SACKed segments outstanding (`sacked_out`).
    pub(super) sacked: u64,
    /// Time-outs since the acknowledgement last moved (`icsk_retransmits`).
    timeouts: u32,
    /// New data have left since the use of the window was noted.
    sent: bool,
    /// The retransmission timer's round is over when more than this is acknowledged (`rtt_seq`).
    round_end: u64,
    pub(super) by_time: bool,
    proportional: bool,
    /// Windows are used up and restarted as in Linux.
    linux_windows: bool,
}

/// What one ACK newly reported as arrived.
#[derive(Clone, Copy, Debug, Default)]
struct News {
    segments: u64,
    bytes: u64,
    /// When the first and the last were sent of those that were acknowledged, and SACKed: each sent once.
    acked: Option<(Time, Time)>,
    sacked: Option<(Time, Time)>,
    newly_sacked: u64,
    /// A segment that was sent twice was acknowledged (Karn's rule).
    repeated: bool,
    /// SACKed segments that left the scoreboard.
    sacked_left: u64,
}

impl News {
    fn add(&mut self, sent: Sent) {
        self.segments += 1;
        self.bytes += u64::from(sent.len());
    }
}

impl Accounts {
    pub(super) fn new(plan: &TcpPlan) -> Accounts {
        Accounts {
            rack: Rack::default(),
            prr: Prr::default(),
            probe: Probe::default(),
            timer: Timer::TimeOut,
            usage: WindowUse::default(),
            sacked: 0,
            timeouts: 0,
            sent: false,
            round_end: 0,
            by_time: plan.rules.loss == LossDetection::Rack,
            proportional: plan.rules.reduction == Reduction::Prr,
            linux_windows: plan.rules.arithmetic == Arithmetic::Linux,
        }
    }
}

impl Sender {
    /// Whether a proportional reduction says what may leave.
    pub(super) fn reduces(&self) -> bool {
        self.mode == Mode::Sack && self.accounts.as_ref().is_some_and(|accounts| accounts.proportional)
    }

    /// The congestion window in force: during a proportional reduction what that lets go.
    #[inline]
    pub(super) fn window(&self) -> u64 {
        match &self.accounts {
            Some(accounts) => self.window_with(accounts),
            None => self.controller.window(),
        }
    }

    pub(super) fn window_with(&self, accounts: &Accounts) -> u64 {
        if accounts.proportional && self.mode == Mode::Sack {
            accounts.prr.window() * u64::from(self.config.mss)
        } else {
            self.controller.window()
        }
    }

    /// Whole segments that so many bytes take.
    pub(super) fn segments(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.config.mss))
    }

    /// See [`Sender::handle_ack`].
    #[inline(never)]
    pub(super) fn handle_ack_accounted(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        number: u32,
        window: u32,
        segment: Option<&Segment>,
    ) -> bool {
        crate::work::step();
        let ahead = number.wrapping_sub(self.numbering.wire(self.una)).cast_signed();
        if ahead < 0 {
            return true;
        }
        let bytes = u64::from(ahead.unsigned_abs());
        if bytes > self.outstanding() {
            return false;
        }
        self.read_window(window);
        if self.outstanding() == 0 {
            return true;
        }
        let in_flight = self.pipe();
        let mut news = News::default();
        if let Some(segment) = segment
            && segment.sack_count > 0
        {
            self.account_sacks(accounts, now, segment, &mut news);
        }
        if bytes > 0 {
            self.account_acknowledged(accounts, now, bytes, &mut news);
        }
        let rtt = self.account_rtt(accounts, now, &news, bytes > 0, segment);
        self.ready |= news.segments > 0;
        self.controller.handle_ack(&Ack {
            at: now,
            delivered: news.bytes,
            in_flight: self.pipe(),
            rtt,
            smoothed_rtt: self.estimator.smoothed(),
            una: self.una,
            max: self.max,
        });
        let duplicate = bytes == 0 && news.segments == 0 && segment.is_none_or(|segment| segment.len == 0);
        self.account_probe(accounts, now, bytes > 0, duplicate);
        let found = self.account_losses(accounts, now, bytes, &news);
        if found.again_after.is_none()
            && (bytes > 0 || news.sacked.is_some_and(|(_, last)| self.sent_before_oldest(last)))
        {
            self.set_timer(accounts, now);
        }
        self.answer(accounts, now, bytes, in_flight, rtt, &news, found);
        true
    }

    /// Whether a time is not after the last transmission of the oldest segment: the timer is that segment's.
    fn sent_before_oldest(&self, at: Time) -> bool {
        self.board.first != self.board.next && at < self.board.slot(self.board.first).at()
    }

    fn account_sacks(&mut self, accounts: &mut Accounts, now: Time, segment: &Segment, news: &mut News) {
        let highest = self.board.sacked_end;
        let Accounts { rack, .. } = accounts;
        let base_before = self.board.base;
        let count = usize::from(segment.sack_count).min(segment.sack.len());
        for (left, right) in &segment.sack[..count] {
            let left = self.numbering.offset(*left, self.una);
            let right = self.numbering.offset(*right, self.una);
            if let (Some(left), Some(right)) = (left, right)
                && right <= self.max
            {
                self.board.sack_each(left, right, |number, sent| {
                    news.add(sent);
                    news.newly_sacked += 1;
                    let repeated = sent.marked(REPEATED);
                    rack.handle_delivered(now, sent.at(), offset_behind(base_before, sent), repeated);
                    if !repeated {
                        if number + 1 < highest {
                            rack.handle_reordering();
                        }
                        news.sacked = Some((news.sacked.map_or(sent.at(), |(first, _)| first), sent.at()));
                    }
                });
            }
        }
        accounts.sacked += news.newly_sacked;
    }

    fn account_acknowledged(&mut self, accounts: &mut Accounts, now: Time, bytes: u64, news: &mut News) {
        let highest = self.board.sacked_end;
        let base_before = self.board.base;
        let ack = self.una + bytes;
        let Accounts { rack, .. } = accounts;
        self.board.acknowledge_each(ack, |number, sent| {
            let repeated = sent.marked(REPEATED);
            news.repeated |= repeated;
            if sent.marked(SACKED) {
                news.sacked_left += 1;
                return;
            }
            news.add(sent);
            rack.handle_delivered(now, sent.at(), offset_behind(base_before, sent), repeated);
            if !repeated {
                if number + 1 < highest {
                    rack.handle_reordering();
                }
                news.acked = Some((news.acked.map_or(sent.at(), |(first, _)| first), sent.at()));
            }
        });
        accounts.sacked = accounts.sacked.saturating_sub(news.sacked_left);
        accounts.timeouts = 0;
        self.una = ack;
        self.dupacks = 0;
        self.counters.acked_bytes += bytes;
    }

    /// Feeds the estimator with the oldest segment newly acknowledged, as `tcp_ack_update_rtt` does; the round trip of the
    /// newest.
    fn account_rtt(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        news: &News,
        moved: bool,
        segment: Option<&Segment>,
    ) -> Option<Span> {
        let acked = news.acked.filter(|_| !news.repeated);
        let (oldest, newest) = match (acked, news.sacked) {
            (Some((first, _)), Some((_, last))) => (first, last),
            (Some(times), None) | (None, Some(times)) => times,
            (None, None) => {
                let echo =
                    segment.filter(|_| self.config.timestamps && moved).map_or(0, |segment| segment.ts_ecr);
                if echo == 0 {
                    return None;
                }
                let sent = timestamp::sent_at(echo, now);
                (sent, sent)
            }
        };
        let rtt = now.saturating_since(newest);
        accounts.rack.handle_rtt(rtt);
        let round_over = self.una > accounts.round_end;
        if round_over {
            accounts.round_end = self.max;
        }
        self.estimator.sample_of_round(oldest, now, round_over);
        if acked.is_some() {
            self.measured = Some(rtt);
        }
        Some(rtt)
    }

    /// `tcp_fastretrans_alert`: the end of a recovery, what is lost, the beginning of one.
    fn account_losses(&mut self, accounts: &mut Accounts, now: Time, bytes: u64, news: &News) -> Found {
        if self.mode != Mode::Open && self.una >= self.recover {
            self.mode = Mode::Open;
        }
        let found = if accounts.by_time {
            let srtt = self.estimator.smoothed();
            let recovering = self.mode != Mode::Open;
            let found = accounts.rack.detect(now, &mut self.board, recovering, accounts.sacked, srtt);
            if let Some(after) = found.again_after {
                accounts.timer = Timer::Reorder;
                self.rto_at = now.saturating_add(after + super::probe::LEAST);
            }
            found
        } else {
            self.find_lost_by_sack(bytes, news)
        };
        let again = self.mode == Mode::Loss && found.lost_retransmission;
        if again || (self.mode == Mode::Open && self.board.next_lost().is_some()) {
            self.begin_reduction(accounts, now);
        }
        found
    }

    /// RFC 6675 §5 steps 1 and 2.
    fn find_lost_by_sack(&mut self, bytes: u64, news: &News) -> Found {
        let before = self.pipe();
        if news.newly_sacked > 0 && bytes == 0 {
            self.dupacks = self.dupacks.saturating_add(1);
        }
        self.board.find_lost(self.config.dupthresh, self.config.mss);
        if self.mode == Mode::Open && self.dupacks >= self.config.dupthresh && !self.board.oldest_is_lost() {
            self.board.lose_first();
        }
        Found { lost: self.segments(before.saturating_sub(self.pipe())), ..Found::default() }
    }

    /// `tcp_enter_recovery`.
    #[cold]
    pub(super) fn begin_reduction(&mut self, accounts: &mut Accounts, now: Time) {
        self.counters.fast_retransmits += 1;
        let before = self.segments(self.controller.window());
        self.tell_lost(now, LossKind::DupAck);
        accounts.prr.begin(before, self.segments(self.controller.window()));
        accounts.probe.forget();
        self.timed_end = 0;
        self.mode = Mode::Sack;
        self.recover = self.max;
        self.inflation = 0;
        self.resend_oldest = false;
        if !accounts.by_time {
            self.rescue = self.board.oldest().map_or(self.una, |oldest| oldest.start + u64::from(oldest.len));
        }
    }

    pub(super) fn tell_lost(&mut self, now: Time, kind: LossKind) {
        let window = self.controller.window().min(self.peer_window);
        let (in_flight, remaining, max) = (self.outstanding(), self.pipe(), self.max);
        self.controller.handle_lost(&Lost { at: now, in_flight, window, kind, remaining, max });
    }

    /// `tcp_cong_control`: the window after the ACK.
    #[expect(clippy::too_many_arguments, reason = "each is one fact of the ACK")]
    fn answer(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        bytes: u64,
        in_flight: u64,
        rtt: Option<Span>,
        news: &News,
        found: Found,
    ) {
        if self.mode == Mode::Sack {
            accounts.prr.handle_ack(Progress {
                delivered: news.segments,
                safe: bytes > 0 && found.lost == 0,
                in_flight: self.segments(self.pipe()),
            });
        } else if bytes > 0 && news.segments > 0 {
            let window_limited = if accounts.linux_windows {
                let slow_start = self.controller.snapshot().slow_start;
                accounts.usage.is_limited(self.segments(self.controller.window()), slow_start)
            } else {
                self.una - bytes < self.limited_end
            };
            let smoothed_rtt = self.estimator.smoothed();
            let segments = u32::try_from(news.segments).unwrap_or(u32::MAX);
            self.controller.handle_acked(&Acked {
                at: now,
                bytes,
                segments,
                in_flight,
                rtt,
                smoothed_rtt,
                window_limited,
            });
        }
    }

    /// What may leave now has left: was it the window that stopped the sender?
    pub(super) fn note_window_use(&mut self, accounts: &mut Accounts, now: Time) {
        // Data that are not sent yet, and a window that is full, are as much news as data that were sent.
        let stopped = self.written > self.max && self.held == HeldBy::CongestionWindow;
        if !(std::mem::take(&mut accounts.sent) || stopped) || !accounts.linux_windows {
            return;
        }
        let window = self.window_with(accounts);
        let burst = Burst {
            at: now,
            limited: self.segments(self.pipe()) >= self.segments(window),
            out: self.board.next - self.board.first,
            una: self.una,
            max: self.max,
            window: self.segments(window),
            slow_start: self.controller.snapshot().slow_start,
            rto: self.estimator.rto(),
        };
        let least = self.segments(self.config.initial_window);
        if let Some(smaller) = accounts.usage.handle_burst(burst, least)
            && self.config.idle_restart
            && self.mode == Mode::Open
        {
            self.controller.handle_restart(smaller * u64::from(self.config.mss));
        }
    }

    /// A segment of data leaves.
    pub(super) fn note_sent(&mut self, accounts: &mut Accounts, now: Time, number: u64) {
        accounts.rack.handle_sent(number, now);
        accounts.sent |= number + 1 == self.board.next;
        if self.mode == Mode::Sack {
            accounts.prr.handle_sent();
        }
    }

    /// `tcp_cwnd_restart`: one halving for each time-out that passed since the last segment was sent.
    pub(super) fn restart_by_halves(&mut self, accounts: &mut Accounts, now: Time, idle: Span) {
        let rto = self.estimator.rto().picos().max(1);
        // The kernel halves while the idle time less the time-outs taken off is above zero, from the first on.
        let halvings = (idle.picos().saturating_sub(1) / rto).min(63);
        let segments = self.segments(self.controller.window()) >> halvings;
        let window = (segments * u64::from(self.config.mss)).max(self.config.initial_window);
        self.controller.handle_restart(window);
        accounts.usage.handle_restart(now);
    }

    /// The timer expired without an ACK since (RFC 6298 §5.4 to §5.6, `tcp_enter_loss`).
    #[cold]
    pub(super) fn handle_timeout_accounted(&mut self, accounts: &mut Accounts, now: Time) {
        self.counters.timeouts += 1;
        self.ready = true;
        let reduced = match self.mode {
            Mode::Open => false,
            Mode::Loss => accounts.timeouts > 0 && self.una < self.recover,
            Mode::Sack | Mode::Fast => self.una < self.recover,
        };
        accounts.timeouts += 1;
        if accounts.by_time {
            let rack = &accounts.rack;
            self.board.lose_overdue(|sent| rack.is_overdue(sent, now));
        } else {
            self.board.lose_all(false);
        }
        self.tell_lost(now, LossKind::Timeout { again: reduced });
        self.estimator.back_off();
        self.mode = Mode::Loss;
        self.recover = self.max;
        self.dupacks = 0;
        self.inflation = 0;
        self.timed_end = 0;
        self.resend_oldest = false;
        accounts.probe.forget();
        accounts.timer = Timer::TimeOut;
        self.rto_at = self.estimator.expiry(now);
    }
}

/// Offset behind a record, near `base`.
fn offset_behind(base: u64, sent: Sent) -> u64 {
    base + u64::from(sent.end.wrapping_sub(base as u32))
}
