//! What of the sender may leave now.
//!
//! There is no Nagle algorithm (RFC 9293 §3.7.4 lets applications switch it off: here it always is),
//! and a segment shorter than the MSS is sent only when it holds all there is to send
//! (RFC 9293 §3.8.6.2.1).

use super::accounts::{Accounts, BurstAt, Owed};
use super::outgoing::Outgoing;
use super::scoreboard::GOES_ON;
use super::sender::{Mode, Sender};
use crate::unit::HeldBy;
use crate::units::Time;

/// What is known of a sender before new data leave it. What a departure does stands once and is compiled for each of these facts; what
/// cannot be is then left out.
pub(super) trait Leaving {
    /// Nothing is repaired, reported, probed for, marked or to be taken back, more is outstanding, and the application has written a
    /// full segment at least that has not left.
    const UNDISTURBED: bool = true;
    /// The receiver's window has no say.
    const WINDOW_ALONE: bool = false;
    /// Data are paced, and sampled for the controller; or they are neither. `None`: look.
    const PACED: Option<bool> = None;
}

/// Nothing is known.
pub(super) struct AnyData;

/// The congestion window alone says what leaves a sender in the order of the RFCs ([`Sender::acks_of_window_alone`]).
pub(super) struct WindowAlone;

/// ACKs alone clock a sender in the kernel's order ([`Sender::fills_window`]).
pub(super) struct FillsWindow;

/// Data leave in bursts at the controller's rate ([`Sender::is_in_burst`]).
pub(super) struct InBurst;

impl Leaving for AnyData {
    const UNDISTURBED: bool = false;
}

impl Leaving for WindowAlone {
    const WINDOW_ALONE: bool = true;
}

impl Leaving for FillsWindow {
    const PACED: Option<bool> = Some(false);
}

impl Leaving for InBurst {
    const PACED: Option<bool> = Some(true);
}

/// What leaves after an ACK that made room in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fills {
    /// A full segment after which nothing more may leave.
    One,
    /// A packet of two of them.
    Two,
}

impl Fills {
    /// Segments of the packet that the next one begins.
    pub(super) fn segments(self) -> u64 {
        if self == Fills::Two { 2 } else { 1 }
    }

    /// Whether another segment follows the next one.
    pub(super) fn goes_on(self) -> bool {
        self == Fills::Two
    }
}

impl Sender {
    /// Sent and not acknowledged: FlightSize (RFC 5681 §2).
    #[inline]
    pub(super) fn outstanding(&self) -> u64 {
        self.max - self.una
    }

    /// What is taken to be in the network: RFC 6675's pipe. Equal to [`Sender::outstanding`] as long
    /// as nothing is SACKed or lost.
    #[inline]
    pub(super) fn pipe(&self) -> u64 {
        (self.outstanding().cast_signed() - self.board.holes()).max(0).unsigned_abs()
    }

    /// Segments of it: a FIN with data has a number, and is none (`tcp_packets_in_flight`).
    #[inline]
    pub(super) fn segments_in_flight(&self) -> u64 {
        self.segments(self.pipe().saturating_sub(u64::from(self.fin_rides)))
    }

    /// What is taken to be in the network, where it is known that nothing is SACKed or lost, or not.
    #[inline(always)]
    pub(super) fn pipe_of<K: Leaving>(&self) -> u64 {
        if K::UNDISTURBED { self.outstanding() } else { self.pipe() }
    }

    /// Where the congestion window ends: new data may fill the stream up to here.
    #[inline(always)]
    fn window_end<K: Leaving>(&self, window: u64) -> i64 {
        let end = (self.una + window).cast_signed();
        if K::UNDISTURBED { end } else { end + self.inflation + self.board.holes() }
    }

    /// Whether the congestion window lets a segment of `len` bytes go.
    #[inline]
    pub(super) fn window_allows(&self, len: u32, window: u64) -> bool {
        let fin = i64::from(self.fin_rides);
        let end = self.max.cast_signed() + i64::from(len.max(self.board.full()));
        end <= self.window_end::<AnyData>(window) + fin
    }

    /// What leaves now; `None`: nothing until the next ACK, write or time-out.
    #[inline(always)]
    pub(super) fn poll(&mut self, now: Time) -> Option<Outgoing> {
        let sent = if self.mode == Mode::Open {
            self.poll_new::<AnyData>(now, self.controller.window())
        } else {
            self.poll_mending(now)
        };
        let Some(sent) = sent else {
            self.ready = false;
            if self.held == HeldBy::ReceiverWindow {
                return self.poll_closed(now);
            }
            return None;
        };
        if self.timers.is_off() {
            // RFC 6298 §5.1.
            self.timers.move_to(self.estimator.expiry(now));
        }
        Some(sent)
    }

    /// A segment of `len` bytes leaves.
    #[inline(always)]
    pub(super) fn note_sent(&mut self, now: Time, len: u32) {
        self.counters.segments_sent += 1;
        self.counters.bytes_sent += u64::from(len);
        self.last_sent = now;
    }

    /// New data, if both windows allow.
    #[inline(always)]
    pub(super) fn poll_new<K: Leaving>(&mut self, now: Time, window: u64) -> Option<Outgoing> {
        if !K::UNDISTURBED && self.config.idle_restart && self.outstanding() == 0 && !self.config.account {
            self.restart_after_idle(now);
        }
        let Some(len) = self.allowed::<K>(window) else {
            self.ready = false;
            return None;
        };
        let sent = self.push_new(now, len, false);
        if !K::UNDISTURBED {
            if len < self.config.mss {
                self.board.note_short();
            }
            // Whether this was the last for now is known already.
            self.ready = self.mode != Mode::Open || self.allowed::<K>(window).is_some();
        }
        Some(sent)
    }

    /// The next `len` bytes leave; `goes_on`: another segment follows them in the same packet.
    #[inline(always)]
    pub(super) fn push_new(&mut self, now: Time, len: u32, goes_on: bool) -> Outgoing {
        let start = self.max;
        self.max += u64::from(len);
        self.board.push(self.max, if goes_on { len | GOES_ON } else { len }, now);
        self.note_sent(now, len);
        if self.config.time_one && self.timed_end == 0 {
            self.timed_end = self.max;
            self.timed_at = now;
        }
        Outgoing::new(start, len)
    }

    /// The next new segment's length if it may go; notes what stops it if it may not.
    #[inline(always)]
    pub(super) fn allowed<K: Leaving>(&mut self, window: u64) -> Option<u32> {
        let unsent = self.written - self.max;
        let mss = u64::from(self.config.mss);
        if !K::UNDISTURBED && self.finished && unsent <= mss + 1 {
            return self.allowed_last(window, unsent);
        }
        let len = if K::UNDISTURBED { mss } else { unsent.min(mss) };
        let end = self.max + len;
        // What a segment takes of the congestion window.
        let counts = if K::UNDISTURBED { mss } else { len.max(u64::from(self.board.full())) };
        if !K::UNDISTURBED && unsent == 0 {
            self.held = HeldBy::Application;
        } else if (self.max + counts).cast_signed() > self.window_end::<K>(window) {
            self.stopped_by_window();
        } else if !K::WINDOW_ALONE && end - self.una > self.peer_window {
            self.held = HeldBy::ReceiverWindow;
        } else {
            return Some(len as u32);
        }
        None
    }

    /// [`Sender::allowed`] of the last segment, of `unsent` bytes of which the last stands for the FIN: FIN goes with data, and alone it takes the
    /// room of a segment (`tcp_cwnd_test`).
    #[cold]
    fn allowed_last(&mut self, window: u64, unsent: u64) -> Option<u32> {
        let room = unsent.saturating_sub(1).max(1).max(u64::from(self.board.full()));
        if unsent == 0 {
            self.held = HeldBy::Application;
        } else if (self.max + room).cast_signed() > self.window_end::<AnyData>(window) {
            self.stopped_by_window();
        } else if self.max + unsent - self.una <= self.peer_window {
            return Some(unsent as u32);
        } else if unsent > 1 && self.max + unsent - 1 - self.una <= self.peer_window {
            // FIN has to wait for room.
            return Some(unsent as u32 - 1);
        } else {
            self.held = HeldBy::ReceiverWindow;
        }
        None
    }

    /// The congestion window stops the sender.
    #[inline]
    pub(super) fn stopped_by_window(&mut self) {
        self.held = HeldBy::CongestionWindow;
        self.limited_end = self.max;
    }

    /// RFC 5681 §4.1: nothing was sent for more than a time-out, so the window falls to
    /// min(IW, cwnd).
    #[cold]
    fn restart_after_idle(&mut self, now: Time) {
        if self.max > 0 && !self.fin_is_next() && now.saturating_since(self.last_sent) > self.estimator.rto()
        {
            self.controller.handle_restart(self.config.initial_window);
        }
    }

    /// A segment left the machine: the model of the ABR paper starts its timer again.
    #[inline]
    pub(super) fn handle_departure(&mut self, now: Time) {
        // Until then the segment waited, and the sender was not idle (RFC 5681 §4.1).
        self.last_sent = now;
        if self.outstanding() > 0 {
            self.timers.move_to(self.estimator.expiry(now));
        }
    }
}

/// Which departures take the fast path ([`Sender::send_full`]): a full segment of new data leaves a sender that is not disturbed, whose
/// application has written more. Whether the steps of [`super::departure`] would send it is seen here without asking all that they ask.
impl Sender {
    /// What leaves next, and the congestion window, of a sender that ACKs alone clock ([`Accounts::self_clocked`]): after an ACK, or
    /// after the first of two.
    #[inline(always)]
    pub(super) fn fills_window_next(&mut self, accounts: &mut Accounts, now: Time) -> Option<(u64, Fills)> {
        let begins = accounts.owed == Owed::Restart;
        let goes_on = accounts.owed == Owed::Probe && accounts.offload.left == 1;
        if !(accounts.self_clocked && accounts.cached.is_known() && (begins || goes_on)) {
            return None;
        }
        // Nothing is repaired, which would put another window in its place.
        let window = self.controller.window();
        self.fills_window(accounts, now, window, begins).map(|fills| (window, fills))
    }

    /// How full segments fill a congestion window of `window` bytes, where one or two do; `begins`: nothing has left since the ACK.
    #[inline(always)]
    pub(super) fn fills_window(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        window: u64,
        begins: bool,
    ) -> Option<Fills> {
        let (mss, out) = (u64::from(self.config.mss), self.outstanding());
        let room = window.min(self.peer_window).saturating_sub(out);
        if room < mss || room >= 3 * mss || out == 0 {
            return None;
        }
        if self.peer_window < window && room > mss {
            // A packet may end with a piece of a segment (`tcp_mss_split_point`).
            return None;
        }
        let fills = if room < 2 * mss {
            Fills::One
        } else if begins && accounts.offload.at_work && window >= 4 * mss {
            // A packet has two segments at least, and at most half the window.
            Fills::Two
        } else {
            return None;
        };
        // A full segment would follow: a shorter one might have room.
        let more = self.written - self.max >= (fills.segments() + 1) * mss;
        (more && !self.defers(accounts, now, window)).then_some(fills)
    }

    /// Whether the next departure is one of a burst at the controller's rate: the pacer does not hold it back, and both windows and what
    /// was written leave room for two bursts. Then the congestion window.
    #[inline(always)]
    pub(super) fn is_in_burst(&self, accounts: &Accounts, now: Time) -> Option<u64> {
        if !accounts.in_bursts || !accounts.cached.is_known() || accounts.pacer.holds(now) {
            return None;
        }
        let (window, rate) = self.controller.window_and_rate()?;
        let BurstAt { rate: last, bytes, segments } = accounts.cached.burst;
        let (out, room) = (self.outstanding(), 2 * bytes);
        // With so much room nothing waits to leave as part of a larger packet, and a burst is a packet.
        let is_one = rate == last
            && segments > 0
            && out > 0
            && out + room <= window
            && out + room <= self.peer_window
            && self.max + room <= self.written;
        is_one.then_some(window)
    }
}
