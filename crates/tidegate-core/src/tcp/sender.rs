//! The sending half: what it remembers. What may leave now is in [`super::leaving`], what ACKs do in [`super::ack`], what
//! losses do in [`super::recovery`].

use super::accounts::{Accounts, UNBOUNDED};
use super::config::Config;
use super::marks::Marks;
use super::persist::Persist;
use super::report::Counters;
use super::rtt::Estimator;
use super::scoreboard::Scoreboard;
use super::seq::Numbering;
use super::timers::Timers;
use crate::cc::Controller;
use crate::plan::{LeastRto, TcpPlan};
use crate::random::Stream;
use crate::unit::HeldBy;
use crate::units::{Rate, Span, Time};

/// Which rules say what is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Nothing is being repaired.
    Open,
    /// Fast recovery without SACK (RFC 5681 §3.2, RFC 6582).
    Fast,
    /// Loss recovery with SACK (RFC 6675 §5).
    Sack,
    /// What was outstanding at a time-out (in Tahoe also: at a fast retransmit) is sent again
    /// as far as the window allows.
    Loss,
}

/// What is known of the next segments, as long as nothing else happens at this end: which of them take the fast paths of
/// [`super::endpoint::Endpoint::handle_row`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Undisturbed {
    /// So many ACKs of the oldest segment, to which the window alone says what leaves ([`Sender::acks_of_window_alone`]).
    pub(super) acks: u32,
    /// Data in order from this length on, each acknowledged at once ([`super::receiver::Receiver::acknowledged_singly`]),
    pub(super) shortest: u32,
    /// up to this length.
    pub(super) longest: u32,
}

impl Undisturbed {
    /// Nothing is known.
    pub(super) const NOTHING: Undisturbed = Undisturbed { acks: 0, shortest: 1, longest: 0 };

    /// Something else happens.
    #[inline(always)]
    pub(super) fn forget(&mut self) {
        *self = Undisturbed::NOTHING;
    }
}

/// No stream is longer: offsets are added up as signed numbers.
const LONGEST_STREAM: u64 = 1 << 62;

/// Everything the sending half remembers.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Sender {
    // What nearly every segment and ACK touches comes first.
    pub(super) board: Scoreboard,
    /// Everything below is acknowledged (SND.UNA).
    pub(super) una: u64,
    /// Everything below was sent (SND.NXT, RFC 6675's HighData).
    pub(super) max: u64,
    /// The congestion window stopped the sender when this was sent last.
    pub(super) limited_end: u64,
    /// When data were sent last.
    pub(super) last_sent: Time,
    /// One segment timed at a time: it ends here (0: none) and was sent at `timed_at`.
    pub(super) timed_end: u64,
    pub(super) timers: Timers,
    pub(super) mode: Mode,
    /// There may be something to send.
    pub(super) ready: bool,
    /// What stopped the sender last.
    pub(super) held: HeldBy,
    /// The oldest segment is to be sent again whatever the window says.
    pub(super) resend_oldest: bool,
    /// The next partial ACK is the first of this recovery.
    pub(super) first_partial: bool,
    /// The application writes no more: the last of `written` stands for the FIN.
    pub(super) finished: bool,
    /// The FIN left with data: it has a number, and takes no room beside them.
    pub(super) fin_rides: bool,
    pub(super) timed_at: Time,
    pub(super) counters: Counters,
    pub(super) undisturbed: Undisturbed,
    /// Our half of the wire's numbers.
    pub(super) numbering: Numbering,
    /// Everything below was written by the application.
    pub(super) written: u64,
    /// What duplicate ACKs add to the window (RFC 5681 §3.2 steps 1 to 4) less what partial
    /// ones take away (RFC 6582 §3.2 step 3).
    pub(super) inflation: i64,
    /// What the other side takes: bytes beyond `una`.
    pub(super) peer_window: u64,
    pub(super) dupacks: u32,
    /// The other side's window as last read from the wire.
    pub(super) raw_window: u32,
    /// For [`super::Endpoint::take_rtt_sample`].
    pub(super) measured: Option<Span>,
    pub(super) estimator: Estimator,
    // Where something is lost.
    /// Bytes outstanding after the last ACK that was not in order.
    pub(super) out_after_ack: u64,
    /// The repair ends when this is acknowledged (RFC 6675's RecoveryPoint).
    pub(super) recover: u64,
    /// No fast retransmit until more than this is acknowledged (RFC 6582's `recover`); 0: none.
    pub(super) guard: u64,
    /// RFC 6675's RescueRxt.
    pub(super) rescue: u64,
    /// `max` when the first duplicate ACK came: Limited Transmit adds to `max`.
    pub(super) before_dupacks: u64,
    /// `una` at the last time-out; `u64::MAX`: there was none.
    pub(super) timed_out_at: u64,
    /// Where the receiver's window lets nothing go.
    pub(super) persist: Persist,
    /// Where every ACK is accounted for (RACK, PRR, Linux's windows).
    pub(super) accounts: Option<Box<Accounts>>,
    /// Where ECN is used.
    pub(super) marks: Option<Box<Marks>>,
    pub(super) config: Config,
    pub(super) controller: Controller,
}

impl Sender {
    pub(super) fn new(plan: &TcpPlan, isn: u32, rng: Option<Stream>) -> Sender {
        let config = Config::new(plan);
        let controller = Controller::new(plan, rng);
        let mut sender = Sender {
            accounts: config.account.then(|| Box::new(Accounts::new(&plan.rules, &controller))),
            controller,
            counters: Counters::default(),
            numbering: Numbering::after_syn(isn),
            una: 0,
            max: 0,
            written: 0,
            inflation: 0,
            peer_window: config.window,
            raw_window: config.advertised,
            dupacks: 0,
            limited_end: 0,
            out_after_ack: 0,
            board: Scoreboard::default(),
            estimator: Estimator::new(
                &plan.rto,
                config.account && plan.rules.least_rto == LeastRto::Variance,
            ),
            timers: Timers::new(),
            mode: Mode::Open,
            ready: false,
            held: HeldBy::Application,
            resend_oldest: false,
            first_partial: false,
            finished: false,
            fin_rides: false,
            undisturbed: Undisturbed::NOTHING,
            recover: 0,
            guard: 0,
            rescue: 0,
            before_dupacks: 0,
            timed_out_at: u64::MAX,
            persist: Persist::NONE,
            last_sent: Time::ZERO,
            timed_end: 0,
            timed_at: Time::ZERO,
            measured: None,
            marks: None,
            config,
        };
        sender.prepare_marks();
        sender.prepare_board();
        sender
    }

    /// Linux counts packets in flight, whatever their lengths.
    fn prepare_board(&mut self) {
        if self.accounts.as_ref().is_some_and(|accounts| accounts.linux_windows) {
            self.board.count_segments(self.config.mss);
        }
    }

    /// What the controller needs of ECN is known.
    pub(super) fn prepare_marks(&mut self) {
        let Config { ecn, handshake, linux_acks, timestamps, .. } = self.config;
        self.marks = Marks::new(ecn, self.controller.ecn(), handshake, linux_acks);
        self.config.special = timestamps || self.marks.is_some();
    }

    /// Another controller, before the connection begins.
    pub(super) fn set_controller(&mut self, controller: Controller) {
        if self.config.sack && (self.config.account || controller.hears_acks()) {
            self.config.account = true;
            self.accounts = Some(Box::new(Accounts::new(&self.config.rules, &controller)));
            self.prepare_board();
        }
        self.controller = controller;
    }

    /// Data leave no faster than this from now on (`SO_MAX_PACING_RATE`); `None`: as fast as the controller lets them.
    pub(super) fn set_most_rate(&mut self, rate: Option<Rate>) {
        let rate = rate.unwrap_or(UNBOUNDED);
        if let Some(accounts) = &mut self.accounts
            && accounts.most_rate != rate
        {
            accounts.most_rate = rate;
            accounts.cached.forget();
        }
    }

    /// `bytes` more are acknowledged: SND.UNA moves.
    #[inline(always)]
    pub(super) fn move_una(&mut self, bytes: u64) {
        self.una += bytes;
        self.counters.acked_bytes += bytes;
    }

    /// Puts back the accounts that were taken: nothing has their place.
    #[inline(always)]
    pub(super) fn put_back(&mut self, accounts: Box<Accounts>) {
        debug_assert!(self.accounts.is_none(), "they were not taken");
        // So that no code is made that would drop something.
        std::mem::forget(self.accounts.replace(accounts));
    }

    /// The application writes no more: a FIN goes behind the last byte (`tcp_send_fin`).
    pub(super) fn finish(&mut self) {
        self.undisturbed.forget();
        self.written += 1;
        (self.finished, self.ready) = (true, true);
    }

    /// Whether nothing but a FIN is left to send. It is no data: no window ends its rest for it (`tcp_event_data_sent`).
    pub(super) fn fin_is_next(&self) -> bool {
        self.finished && self.written - self.max == 1
    }

    /// Whether a FIN has been sent and not acknowledged.
    pub(super) fn fin_is_out(&self) -> bool {
        self.finished && self.max == self.written && self.una < self.max
    }

    /// Nothing is outstanding any more: the connection is over.
    pub(super) fn forget_outstanding(&mut self) {
        self.board = Scoreboard::default();
        self.max = self.una;
        self.inflation = 0;
    }

    /// Whether the FIN has been sent and acknowledged.
    pub(super) fn fin_is_acknowledged(&self) -> bool {
        self.finished && self.una == self.written
    }

    /// The application adds bytes; `u64::MAX` is more than will ever be sent.
    pub(super) fn write(&mut self, bytes: u64) {
        if self.config.account {
            self.note_write();
        }
        self.undisturbed.forget();
        self.written = self.written.saturating_add(bytes).min(LONGEST_STREAM);
        self.ready = true;
    }
}
