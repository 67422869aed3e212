//! What an acknowledgement does to the sender.

use super::accounts::Accounts;
use super::persist::PersistRule;
use super::scoreboard::{REPEATED, Removed};
use super::segment::Segment;
use super::sender::{Mode, Sender};
use super::timestamp;
use crate::cc::Acked;
use crate::units::{Span, Time};

/// What is known of an ACK before its steps are taken. The steps stand once and are compiled for each of these facts; what cannot
/// happen is then left out.
pub(super) trait Known {
    /// It acknowledges the oldest segments, whole and as they were sent: nothing is SACKed, lost, retransmitted, marked, being repaired
    /// or probed for.
    const IN_ORDER: bool;
    /// ACKs alone clock the sender as well ([`Accounts::self_clocked`]).
    const SELF_CLOCKED: bool = false;
}

/// Nothing is known.
pub(super) struct AnyAck;

/// See [`Known::IN_ORDER`].
pub(super) struct InOrder;

/// See [`Known::IN_ORDER`] and [`Known::SELF_CLOCKED`].
pub(super) struct SelfClocked;

impl Known for AnyAck {
    const IN_ORDER: bool = false;
}

impl Known for InOrder {
    const IN_ORDER: bool = true;
}

impl Known for SelfClocked {
    const IN_ORDER: bool = true;
    const SELF_CLOCKED: bool = true;
}

/// The time since `then`, which is not after `now`.
#[inline(always)]
fn since(now: Time, then: Time) -> Span {
    debug_assert!(now >= then, "ACKs come after what they acknowledge");
    Span::from_picos(now.picos().wrapping_sub(then.picos()))
}

impl Sender {
    /// Whether the acknowledgement in `segment` can change nothing here.
    #[inline]
    pub(super) fn has_no_use_for(&self, segment: &Segment) -> bool {
        self.una == self.max
            && segment.ack == self.numbering.wire(self.una)
            && segment.window == self.raw_window
    }

    /// By how many bytes an acknowledgement is ahead of SND.UNA.
    #[inline]
    fn ahead(&self, number: u32) -> i32 {
        number.wrapping_sub(self.numbering.wire(self.una)).cast_signed()
    }

    /// [`Sender::handle_ack`] of a sender that accounts for ACKs.
    #[inline]
    pub(super) fn handle_ack_by_accounts(
        &mut self,
        now: Time,
        number: u32,
        window: u32,
        segment: Option<&Segment>,
    ) -> bool {
        let Some(mut accounts) = self.accounts.take() else { return true };
        let known = self.handle_ack_with(&mut accounts, now, number, window, segment);
        self.settle_timer(&mut accounts, now);
        self.accounts = Some(accounts);
        known
    }

    /// Takes the steps of an ACK, where `accounts` were taken out of the sender. The timer may be owed until what may leave now has left.
    #[inline(always)]
    pub(super) fn handle_ack_with(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        number: u32,
        window: u32,
        segment: Option<&Segment>,
    ) -> bool {
        let in_order = segment.is_none_or(|segment| segment.sack_count == 0)
            && self.handle_next_number::<InOrder>(accounts, now, number, window);
        in_order || self.handle_ack_accounted(accounts, now, self.ahead(number), window, segment)
    }

    /// Takes the steps of an ACK without SACK blocks that moves SND.UNA in order ([`Known`]); `false`: it is another one, and nothing
    /// has been done.
    #[inline(always)]
    pub(super) fn handle_next_number<K: Known>(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        number: u32,
        window: u32,
    ) -> bool {
        let ahead = self.ahead(number);
        ahead > 0 && self.handle_next_ack::<K>(accounts, now, u64::from(ahead.unsigned_abs()), window)
    }

    /// The acknowledgement and window fields of a segment, which is there if it has data or
    /// options; `false` if it acknowledges what was never sent.
    #[inline(always)]
    pub(super) fn handle_ack(
        &mut self,
        now: Time,
        number: u32,
        window: u32,
        segment: Option<&Segment>,
    ) -> bool {
        let ahead = self.ahead(number);
        crate::work::step();
        self.undisturbed.forget();
        if ahead > 0 {
            let bytes = u64::from(ahead.unsigned_abs());
            if bytes > self.outstanding() && !self.adopt_octet(bytes) {
                return false;
            }
            self.read_window(window);
            self.handle_new_ack::<AnyAck>(now, bytes, segment);
        } else if ahead == 0 {
            let known = self.raw_window;
            self.read_window_again(window, segment);
            // A window that is not believed changes nothing.
            let same_window = self.raw_window == known;
            if self.outstanding() > 0 {
                self.handle_same_ack(now, same_window, segment);
            } else if segment.is_none_or(|segment| segment.numbers() == 0) {
                self.handle_probe_answer(now);
            }
        }
        // An ACK below SND.UNA is old news (RFC 9293 §3.10.7.4).
        true
    }

    #[inline]
    pub(super) fn read_window(&mut self, window: u32) {
        if window != self.raw_window {
            self.raw_window = window;
            self.persist.largest_said = self.persist.largest_said.max(window);
            let window = if window == u32::MAX { u64::MAX } else { u64::from(window) };
            self.peer_window = window.min(self.config.window);
            self.ready = true;
            if self.persists() {
                self.end_persist();
            }
        }
    }

    /// [`Sender::read_window`] of an ACK that acknowledges nothing new.
    #[inline]
    pub(super) fn read_window_again(&mut self, window: u32, segment: Option<&Segment>) {
        // Without a handshake the other end has not said any so far.
        let narrower = window < self.raw_window && window > 0 && self.raw_window != u32::MAX;
        let data = segment.is_some_and(|segment| segment.numbers() > 0);
        if !(narrower && self.config.persist == PersistRule::Linux) || data {
            self.read_window(window);
        }
    }

    /// An ACK that moves SND.UNA by `bytes`, at a sender that does not account for ACKs. Answers with the exact round trip, if there is
    /// one. The steps of an ACK in the order of the RFCs stand here alone; in the kernel's order they are [`Sender::account`].
    #[inline(always)]
    pub(super) fn handle_new_ack<K: Known>(
        &mut self,
        now: Time,
        bytes: u64,
        segment: Option<&Segment>,
    ) -> Option<Span> {
        // What adds and halves does not ask.
        let in_flight = if K::IN_ORDER || self.controller.is_aimd() { 0 } else { self.pipe() };
        let old = self.una;
        let ack = old + bytes;
        let removed = if K::IN_ORDER { self.board.take_first(ack) } else { self.board.acknowledge(ack) };
        self.move_una(bytes);
        let rtt = self.measure::<K>(now, &removed, segment);
        let timer_before = self.timers.expires();
        // RFC 6298 §5.2 and §5.3.
        let all = !K::IN_ORDER && ack == self.max;
        self.timers.move_to(if all { Time::NEVER } else { self.estimator.expiry(now) });
        if !K::IN_ORDER {
            self.ready = true;
            if let Some(segment) = segment
                && segment.sack_count > 0
                && self.config.sack
            {
                self.read_sacks(now, segment);
            }
            if self.mode == Mode::Open {
                self.dupacks = 0;
                self.inflation = 0;
            } else if !self.mending_grows(bytes, timer_before) {
                return rtt;
            }
        }
        let limited = old < self.limited_end;
        if let Some(aimd) = self.controller.aimd_mut() {
            if limited {
                aimd.grow(bytes);
            }
        } else if !K::IN_ORDER {
            self.tell_acked(now, (bytes, removed.count), in_flight, rtt, limited);
        }
        rtt
    }

    #[inline(never)]
    fn tell_acked(
        &mut self,
        at: Time,
        (bytes, segments): (u64, u32),
        in_flight: u64,
        rtt: Option<Span>,
        window_limited: bool,
    ) {
        let smoothed_rtt = self.estimator.smoothed();
        self.controller.handle_acked(&Acked {
            at,
            bytes,
            segments,
            in_flight,
            rtt,
            smoothed_rtt,
            window_limited,
        });
    }

    /// The segment that is timed, where one is at a time, may have been acknowledged.
    #[inline(always)]
    pub(super) fn end_timed(&mut self, now: Time) {
        if self.config.time_one && self.timed_end != 0 && self.una >= self.timed_end {
            self.timed_end = 0;
            self.estimator.sample(self.timed_at, now);
        }
    }

    /// Feeds the estimator; returns the exact round trip if there is one.
    #[inline(always)]
    fn measure<K: Known>(&mut self, now: Time, removed: &Removed, segment: Option<&Segment>) -> Option<Span> {
        self.end_timed(now);
        if K::IN_ORDER || removed.measurable() {
            let rtt =
                if K::IN_ORDER { since(now, removed.sent_at) } else { now.saturating_since(removed.sent_at) };
            if !K::IN_ORDER {
                self.measured = removed.reported().map(|sent| now.saturating_since(sent));
            }
            if !self.config.time_one {
                self.estimator.sample(removed.sent_at, now);
            }
            return Some(rtt);
        }
        // RFC 7323 §4.1: a timestamp tells which copy was acknowledged, so Karn's rule falls
        // away. DEVIATION: as in Linux the exact time of a segment sent once is preferred to the
        // timestamp, whose clock counts milliseconds.
        if self.config.timestamps
            && let Some(segment) = segment
            && segment.ts_ecr != 0
        {
            self.estimator.sample(timestamp::sent_at(segment.ts_ecr, now), now);
        }
        None
    }

    /// Marks what `segment` says has arrived beyond a gap; `true` if any of it was not known.
    #[cold]
    fn read_sacks(&mut self, now: Time, segment: &Segment) -> bool {
        crate::work::step();
        let mut any_new = false;
        let mut newest = None;
        let count = usize::from(segment.sack_count).min(segment.sack.len());
        for (rank, (left, right)) in segment.sack[..count].iter().enumerate() {
            let left = self.numbering.offset(*left, self.una);
            let right = self.numbering.offset(*right, self.una);
            if let (Some(left), Some(right)) = (left, right)
                && right <= self.max
            {
                any_new |= self.board.sack_each(rank, left, right, |_, sent| {
                    if !sent.marked(REPEATED) {
                        newest = newest.max(Some(sent.at()));
                    }
                });
            }
        }
        if let Some(sent) = newest {
            self.measured = Some(now.saturating_since(sent));
        }
        self.board.find_lost(self.config.dupthresh, self.config.mss);
        any_new
    }

    /// The acknowledgement field did not move, and data are outstanding.
    #[inline(always)]
    fn handle_same_ack(&mut self, now: Time, same_window: bool, segment: Option<&Segment>) {
        let duplicate = if self.config.sack {
            // RFC 6675 §2: it says that something arrived which we did not know of.
            segment.is_some_and(|segment| segment.sack_count > 0 && self.read_sacks(now, segment))
        } else {
            // RFC 5681 §2: data are outstanding, it carries none, no SYN and no FIN, and the window is the same.
            segment.is_none_or(|segment| segment.numbers() == 0) && same_window
        };
        if duplicate {
            self.ready = true;
            if self.mode == Mode::Fast {
                // RFC 5681 §3.2 step 4.
                self.inflation += i64::from(self.config.mss);
            } else {
                self.handle_duplicate(now);
            }
        }
    }

    /// A duplicate ACK comes, not in fast recovery.
    #[cold]
    fn handle_duplicate(&mut self, now: Time) {
        let mss = i64::from(self.config.mss);
        // Without a guard (4.4BSD) duplicates count after a time-out as at any other time.
        let counts = self.mode == Mode::Loss && !self.config.guard && !self.config.sack;
        match self.mode {
            _ if counts || self.mode == Mode::Open => {
                self.dupacks = self.dupacks.saturating_add(1);
                if self.dupacks == 1 {
                    self.before_dupacks = self.max;
                }
                if self.proves_loss() {
                    self.enter_recovery(now);
                } else if self.config.sack {
                    // RFC 6675 §5 step 3: the pipe has become smaller, which lets new data go;
                    // without Limited Transmit it must not.
                    self.inflation -= if self.config.limited_transmit { 0 } else { mss };
                } else if self.config.limited_transmit
                    && self.dupacks <= 2
                    && self.dupacks < self.config.dupthresh
                {
                    // RFC 3042 §2: one new segment for each of the first two.
                    self.inflation += mss;
                }
            }
            // RFC 3042 §2 does not except the time after a time-out.
            Mode::Loss if self.config.go_back_n && self.config.limited_transmit && !self.config.sack => {
                self.dupacks = self.dupacks.saturating_add(1);
                self.inflation = if self.dupacks <= 2 { self.inflation + mss } else { 0 };
            }
            Mode::Open | Mode::Fast | Mode::Sack | Mode::Loss => {}
        }
    }

    /// Whether a duplicate ACK starts a recovery.
    fn proves_loss(&self) -> bool {
        if self.config.sack {
            // RFC 6675 §5 steps 1 and 2.
            self.dupacks >= self.config.dupthresh || self.board.oldest_is_lost()
        } else {
            // RFC 6582 §3.2 step 2: copies that the receiver did not need also cause duplicates.
            self.dupacks == self.config.dupthresh && (self.guard == 0 || self.una > self.guard)
        }
    }
}
