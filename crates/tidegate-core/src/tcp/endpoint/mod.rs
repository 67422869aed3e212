//! One end of a connection: states, handshake, and the order of things.
//!
//! Written to RFC 9293 (states, segments), RFC 5681 and 6582 (congestion control), RFC 6298
//! (timer), RFC 3042 (Limited Transmit), RFC 2018 and 6675 (SACK) and RFC 7323 (timestamps).
//!
//! **Not here**: simultaneous open, urgent data, Nagle (see [`crate::tcp::leaving`]),
//! path MTU discovery, PAWS.

mod acks;
mod close;
mod data;
mod ending;
mod giving_up;
mod look;
mod receive;
mod row;
mod state;
mod transmit;

pub use row::Row;
pub use state::{Role, State};

use super::receiver::Receiver;
use super::sender::Sender;
use super::seq::Numbering;
use crate::cc::Controller;
use crate::plan::TcpPlan;
use crate::random::Stream;
use crate::units::{Rate, Span, Time};
use close::Closing;

/// One end of a TCP connection, without clock, timer or wire.
///
/// Call order: [`Endpoint::open`] once (both ends), then in any order `write` and the
/// `handle_*`, with `now` never going back; after **each** of them [`Endpoint::poll_transmit`] until it
/// says `None`. Come back at [`Endpoint::next_wakeup`] at the latest; coming early changes nothing.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Endpoint {
    pub(in crate::tcp) sender: Sender,
    pub(in crate::tcp) receiver: Receiver,
    pub(in crate::tcp) theirs: Numbering,
    pub(in crate::tcp) state: State,
    /// ESTABLISHED, and neither timestamps nor ECN to look at.
    pub(in crate::tcp) numbers_suffice: bool,
    /// ESTABLISHED, and what comes is a [`Header`](super::Header) as a rule.
    pub(in crate::tcp) headers_suffice: bool,
    role: Role,
    /// A SYN is to be sent.
    pub(in crate::tcp) syn_due: bool,
    /// How often a SYN was sent.
    pub(in crate::tcp) syns: u16,
    /// Highest timestamp to echo (TS.Recent).
    pub(in crate::tcp) echo: u32,
    /// When our SYN was sent first; later, without accounts: when the oldest segment timed out first.
    pub(in crate::tcp) trying_since: Time,
    /// Where an end of the connection has begun.
    closing: Option<Box<Closing>>,
}

impl Endpoint {
    /// An endpoint before [`Endpoint::open`]. `isn` is its initial sequence number; without a
    /// handshake neither end could learn the other's, so both must be given the same. `rng` is
    /// needed for [`crate::plan::Increase::Random`], and for controllers that draw.
    #[must_use]
    pub fn new(plan: &TcpPlan, role: Role, isn: u32, rng: Option<Stream>) -> Endpoint {
        let waits = if plan.handshake { State::Listen } else { State::Established };
        let sender = Sender::new(plan, isn, rng);
        let mut end = Endpoint {
            numbers_suffice: false,
            headers_suffice: false,
            sender,
            receiver: Receiver::new(plan),
            state: if role == Role::Active { State::Closed } else { waits },
            role,
            theirs: Numbering::after_syn(isn),
            echo: 0,
            trying_since: Time::ZERO,
            syns: 0,
            syn_due: false,
            closing: None,
        };
        end.see_what_comes();
        end
    }

    /// Replaces the congestion controller before the connection begins; at both ends, if it needs ECN.
    pub fn set_controller(&mut self, controller: Controller) {
        self.sender.set_controller(controller);
        self.sender.prepare_marks();
        self.see_what_comes();
    }

    /// Its data leave no faster than this from now on, as at a Linux socket with `SO_MAX_PACING_RATE`; `None`: as fast as the controller
    /// lets them. Needs [`crate::plan::TcpRules::obeys_advice`].
    pub fn set_most_rate(&mut self, rate: Option<Rate>) {
        self.sender.set_most_rate(rate);
    }

    /// Its state, or what its segments may say, has changed.
    pub(in crate::tcp) fn see_what_comes(&mut self) {
        let config = &self.sender.config;
        let predicts = !config.exact && self.closing.is_none();
        self.numbers_suffice = predicts && self.state == State::Established && config.is_plain();
        self.headers_suffice = predicts && self.reads_headers();
    }

    /// Switches the fast paths of TCP and of its controller off, before the connection begins: every ACK, every departure and every
    /// data segment takes the general steps. What the connection does is the same; tests compare the fast paths with this.
    pub fn take_general_way(&mut self) {
        self.sender.config.exact = true;
        self.see_what_comes();
    }

    /// The application of this end reads as the plan has it, not at once; before the connection begins.
    pub fn read_as_planned(&mut self, plan: &TcpPlan) {
        self.receiver.read_as_planned(plan);
    }

    /// The application reads `most` bytes at most, where the plan says [`crate::plan::ReadPlan::ByHand`]; how many there were.
    pub fn read(&mut self, now: Time, most: u64) -> u64 {
        self.sender.undisturbed.forget();
        self.receiver.read(now, most, &self.sender.config)
    }

    /// The controller's window or pace was set from outside. Says whether data may leave by it now: poll then.
    pub fn handle_window_set(&mut self) -> bool {
        let open = self.state.is_synchronized();
        self.sender.undisturbed.forget();
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
            self.see_what_comes();
        }
    }

    /// The application adds `bytes`; `u64::MAX`: it always has more. Nothing is added to what has ended ([`Endpoint::may_write`]).
    pub fn write(&mut self, _now: Time, bytes: u64) {
        if self.may_write() {
            self.sender.write(bytes);
        }
    }
}
