//! What an acknowledgement does to a sender that accounts for each: what it newly delivered, what it proved lost, what
//! it measured. Loss recovery is RACK's and PRR's here (RFC 8985, RFC 9937), or RFC 6675's, as the plan has it;
//! the order of things is that of `tcp_ack` in Linux 6.18.

mod losses;
mod steps;

pub(super) use steps::Left;

use crate::tcp::accounts::Accounts;
use crate::tcp::ack::AnyAck;
use crate::tcp::dsack::Report;
use crate::tcp::scoreboard::{REPEATED, SACKED, Sent};
use crate::tcp::segment::{MOST_BLOCKS, Segment};
use crate::tcp::sender::{Mode, Sender};
use crate::tcp::timestamp;
use crate::units::{Span, Time};

/// What one ACK newly reported as arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivery {
    segments: u64,
    bytes: u64,
    /// When the first and the last of the newly acknowledged segments were sent, of those sent once.
    acked: Option<(Time, Time)>,
    /// When the first and the last of the newly SACKed segments were sent, of those sent once.
    sacked: Option<(Time, Time)>,
    newly_sacked: u64,
    /// A segment that was sent twice was acknowledged (Karn's rule).
    repeated: bool,
    /// SACKed segments that left the scoreboard.
    sacked_left: u64,
    /// Behind the highest record that was SACKed before this acknowledgement came: what arrives below was overtaken
    /// (`tcp_clean_rtx_queue`, `prior_fack`).
    highest: u64,
    /// When the newest of all these was sent last.
    newest: Option<Time>,
    /// Offset of the lowest segment sent once that a segment above it had overtaken.
    overtaken: Option<u64>,
    /// A segment sent once, before the time-out, is among them.
    original: bool,
    /// What came again.
    again: Report,
    /// Bytes of it that count as delivered where rates are sampled (`tp->delivered`).
    copied: u64,
    /// Timestamp that the ACK answers to; 0: none.
    echo: u32,
    /// It has no data, and its window is neither wider than the last one nor closed: a duplicate ACK, if it reports nothing
    /// (`FLAG_NOT_DUP`).
    plain: bool,
}

impl Delivery {
    fn add(&mut self, sent: Sent) {
        self.segments += 1;
        self.bytes += u64::from(sent.len());
        self.newest = self.newest.max(Some(sent.at()));
    }

    /// Whether a segment that was sent is acknowledged to its end (`FLAG_DATA_ACKED`).
    fn takes_off(&self) -> bool {
        self.acked.is_some() || self.repeated || self.sacked_left > 0
    }

    /// A segment sent once, which begins at `start`, arrived after one that lies above it. Segments come in their order.
    fn note_overtaken(&mut self, start: u64) {
        self.overtaken = self.overtaken.or(Some(start));
    }
}

impl Sender {
    /// Whether a proportional reduction says what may leave, with `accounts` as those of the sender.
    #[inline(always)]
    pub(in crate::tcp) fn reduces_with(&self, accounts: &Accounts) -> bool {
        (self.mode == Mode::Sack || accounts.yields) && accounts.proportional
    }

    /// The congestion window in force: during a proportional reduction what that lets go.
    #[inline(always)]
    pub(in crate::tcp) fn window(&self) -> u64 {
        match &self.accounts {
            Some(accounts) => self.window_with(accounts),
            None => self.controller.window(),
        }
    }

    /// The congestion window, where `accounts` were taken out of the sender.
    #[inline(always)]
    pub(in crate::tcp) fn window_with(&self, accounts: &Accounts) -> u64 {
        if self.reduces_with(accounts) {
            return accounts.prr.window() * u64::from(self.config.mss);
        }
        self.controller.window()
    }

    /// Whole segments that so many bytes take.
    #[inline]
    pub(in crate::tcp) fn segments(&self, bytes: u64) -> u64 {
        let mss = u64::from(self.config.mss);
        if bytes == 0 { 0 } else { (bytes - 1) / mss + 1 }
    }

    /// See [`Sender::handle_ack`].
    #[inline(never)]
    pub(in crate::tcp) fn handle_ack_accounted(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        ahead: i32,
        window: u32,
        segment: Option<&Segment>,
    ) -> bool {
        crate::work::step();
        accounts.cached.forget();
        accounts.offload.resumed = 0;
        accounts.repeats = accounts.repeats.after_news();
        let mut delivery = Delivery {
            echo: segment.filter(|_| self.config.timestamps).map_or(0, |segment| segment.ts_ecr),
            plain: segment.is_none_or(|segment| segment.numbers() == 0)
                && 0 < window
                && window <= self.raw_window,
            ..Delivery::default()
        };
        if ahead < 0 {
            let ack = self.una.saturating_sub(u64::from(ahead.unsigned_abs()));
            self.account_late(accounts, now, ack, segment, &mut delivery);
            self.ready = true;
            return true;
        }
        let bytes = u64::from(ahead.unsigned_abs());
        if bytes > self.outstanding() && !self.adopt_octet(bytes) {
            return false;
        }
        if bytes > 0 {
            self.read_window(window);
        } else {
            self.read_window_again(window, segment);
        }
        if self.outstanding() == 0 {
            self.account_late(accounts, now, self.una, segment, &mut delivery);
            self.account_probe(accounts, now, delivery.again, delivery.plain);
            if segment.is_none_or(|segment| segment.numbers() == 0) {
                self.handle_probe_answer(now);
            }
            return true;
        }
        self.account::<AnyAck>(accounts, now, bytes, segment, Left::default(), delivery);
        true
    }

    /// Whether `at` is before the oldest segment was sent last. Only a SACK of what was sent before then restarts the timer.
    fn sent_before_oldest(&self, at: Time) -> bool {
        self.board.first != self.board.next && at < self.board.slot(self.board.first).at()
    }

    /// An ACK below SND.UNA, or where nothing is outstanding: its SACK blocks alone say something (`tcp_ack`: `old_ack`, `no_queue`).
    #[cold]
    fn account_late(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        ack: u64,
        segment: Option<&Segment>,
        delivery: &mut Delivery,
    ) {
        let Some(segment) = segment.filter(|segment| segment.sack_count > 0) else { return };
        if self.outstanding() > 0 {
            delivery.highest = self.board.sacked_end;
            self.account_sacks(accounts, now, segment, ack, delivery);
            self.ready |= delivery.segments > 0;
        } else {
            delivery.again = self.read_duplicates(accounts, segment, ack);
            if delivery.again.segments == 0 {
                return;
            }
        }
        self.account_losses(accounts, now, 0, false, delivery);
        if self.outstanding() == 0 && self.marks.is_some() {
            self.account_marks(accounts, now, delivery.again.segments, 0, false);
        }
    }

    fn account_sacks(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        segment: &Segment,
        ack: u64,
        delivery: &mut Delivery,
    ) {
        delivery.again = self.read_duplicates(accounts, segment, ack);
        let (recover, highest) = (self.recover, delivery.highest);
        let Accounts { rack, sampler, .. } = accounts;
        let base_before = self.board.base;
        for (rank, left, right) in self.news_of_sack(segment, delivery.again.segments > 0, ack) {
            self.board.sack_each(rank, left, right, |number, sent| {
                delivery.add(sent);
                if let Some(sampler) = sampler {
                    sampler.handle_delivered(number, sent.at(), u64::from(sent.len()));
                }
                delivery.newly_sacked += 1;
                let repeated = sent.marked(REPEATED);
                let end = offset_behind(base_before, sent);
                rack.handle_delivered(now, sent.at(), end, repeated);
                if !repeated {
                    delivery.original |= end <= recover;
                    if number + 1 < highest {
                        delivery.note_overtaken(end - u64::from(sent.len()));
                    }
                    delivery.sacked =
                        Some((delivery.sacked.map_or(sent.at(), |(first, _)| first), sent.at()));
                }
            });
        }
        accounts.sacked += delivery.newly_sacked;
        if let Some(start) = delivery.again.overtaken {
            delivery.overtaken = Some(delivery.overtaken.map_or(start, |lowest| lowest.min(start)));
        }
        // `tcp_sacktag_write_queue`: not while a time-out is repaired that cannot be taken back.
        if self.mode != Mode::Loss || accounts.undo.is_possible() {
            self.measure_reordering(accounts, self.una, delivery);
        }
        delivery.overtaken = None;
    }

    fn account_each(&mut self, accounts: &mut Accounts, now: Time, bytes: u64, delivery: &mut Delivery) {
        let highest = delivery.highest;
        let base_before = self.board.base;
        let ack = self.una + bytes;
        let (recover, echo) = (self.recover, delivery.echo);
        // Of a segment that an ACK cut the beginning is older than SND.UNA.
        let (oldest, uncut) = (self.board.first, u64::from(self.board.uncut));
        let Accounts { rack, sampler, .. } = accounts;
        self.board.acknowledge_each(ack, |number, sent| {
            let repeated = sent.marked(REPEATED);
            delivery.repeated |= repeated;
            if sent.marked(SACKED) {
                delivery.sacked_left += 1;
                return;
            }
            delivery.add(sent);
            if let Some(sampler) = sampler {
                sampler.handle_delivered(number, sent.at(), u64::from(sent.len()));
            }
            let end = offset_behind(base_before, sent);
            // RFC 8985 §6.2 step 2, `tcp_skb_spurious_retrans`: the ACK answers to an earlier copy.
            if !(repeated && timestamp::answers_before(echo, sent.at())) {
                rack.handle_delivered(now, sent.at(), end, repeated);
            }
            if !repeated {
                delivery.original |= end <= recover;
                let before = if number == oldest { uncut } else { 0 };
                if number + 1 < highest || before > 0 {
                    delivery.note_overtaken(end - u64::from(sent.len()) - before);
                }
                delivery.acked = Some((delivery.acked.map_or(sent.at(), |(first, _)| first), sent.at()));
            }
        });
        accounts.sacked = accounts.sacked.saturating_sub(delivery.sacked_left);
        self.measure_reordering(accounts, ack, delivery);
    }

    /// How far the lowest segment that was overtaken lies below the highest one reported, with `una` as SND.UNA.
    fn measure_reordering(&self, accounts: &mut Accounts, una: u64, delivery: &Delivery) {
        if let Some(overtaken) = delivery.overtaken {
            self.note_reordering(accounts, una, overtaken);
        }
    }

    /// `tcp_check_sack_reordering`: what begins at `late` came after what is SACKed.
    pub(in crate::tcp) fn note_reordering(&self, accounts: &mut Accounts, una: u64, late: u64) {
        let highest = if accounts.sacked == 0 { una } else { self.board.end_of(self.board.sacked_end - 1) };
        if late < highest {
            accounts.rack.handle_reordering(self.segments(highest - late));
        }
    }

    /// The SACK blocks of an acknowledgement of everything below `ack` that may report something new, as offsets, each with its place in
    /// the option, in the order of their sequence numbers (`tcp_sacktag_write_queue`), which is that of transmission where nothing was
    /// sent twice (RFC 8985 §6.2 step 2). `repeats`: the first one tells of duplicates. A block that does not lie above what is
    /// acknowledged, or reaches beyond what was sent, is passed over (`tcp_is_sackblock_valid`).
    fn news_of_sack(
        &self,
        segment: &Segment,
        repeats: bool,
        ack: u64,
    ) -> impl Iterator<Item = (usize, u64, u64)> + use<> {
        let mut blocks = [(0, u64::MAX, 0); MOST_BLOCKS];
        let count = usize::from(segment.sack_count).min(blocks.len());
        let una = self.una.max(ack);
        for (rank, (left, right)) in segment.sack[usize::from(repeats)..count].iter().enumerate() {
            let left = self.numbering.offset(*left, self.una);
            let right = self.numbering.offset(*right, self.una);
            if let (Some(left), Some(right)) = (left, right)
                && una < left
                && left < right
                && right <= self.max
            {
                blocks[rank] = (rank, left, right);
            }
        }
        blocks.sort_by_key(|block| block.1);
        blocks.into_iter().take_while(|block| block.1 != u64::MAX)
    }

    /// Feeds the estimator with the round trip of the oldest segment that was newly reported, as `tcp_ack_update_rtt` does,
    /// and returns that of the newest.
    fn account_rtt(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        delivery: &Delivery,
        segment: Option<&Segment>,
    ) -> Option<Span> {
        let acked = delivery.acked.filter(|_| !delivery.repeated);
        let (oldest, newest) = match (acked, delivery.sacked) {
            (Some((first, _)), Some((_, last))) => (first, last),
            (Some(times), None) | (None, Some(times)) => times,
            (None, None) => {
                let reads = self.config.timestamps && delivery.takes_off();
                let echo = segment.filter(|_| reads).map_or(0, |segment| segment.ts_ecr);
                if echo == 0 {
                    return None;
                }
                let sent = timestamp::sent_at(echo, now);
                (sent, sent)
            }
        };
        self.persist.kept = 0;
        let measured = self.measured;
        let rtt = self.account_round_trip(accounts, now, oldest, newest);
        if acked.is_none() && delivery.sacked.is_none() {
            // A timestamp alone is no exact round trip.
            self.measured = measured;
        }
        Some(rtt)
    }
}

/// Offset behind a record, near `base`.
fn offset_behind(base: u64, sent: Sent) -> u64 {
    base + u64::from(sent.end.wrapping_sub(base as u32))
}
