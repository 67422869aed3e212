//! What leaves a sender that accounts for ACKs, and what it notes of it: transmissions, the timer, whether the window is used.

use super::accounts::{Accounts, BurstAt, Owed, Repeats, UNBOUNDED};
use super::leaving::{AnyData, FillsWindow, InBurst, Leaving};
use super::outgoing::Outgoing;
use super::rate::With;
use super::scoreboard::REPEATED;
use super::sender::{Mode, Sender};
use super::window_use::Burst;
use crate::unit::HeldBy;
use crate::units::{Rate, Span, Time};

impl Sender {
    /// What leaves now; `None`: nothing until the next ACK, write or time-out.
    #[inline]
    pub(super) fn poll_accounted(&mut self, now: Time) -> Option<Outgoing> {
        let mut accounts = self.accounts.take()?;
        let sent = self.poll_with(&mut accounts, now);
        self.accounts = Some(accounts);
        sent
    }

    /// The next segment that leaves, where `accounts` were taken out of the sender.
    #[inline(always)]
    pub(super) fn poll_with(&mut self, accounts: &mut Accounts, now: Time) -> Option<Outgoing> {
        if let Some(window) = self.is_in_burst(accounts, now) {
            let segments = accounts.cached.burst.segments;
            return Some(self.send_full::<InBurst>(accounts, now, window, segments, true));
        }
        if let Some((window, fills)) = self.fills_window_next(accounts, now) {
            return Some(self.send_full::<FillsWindow>(
                accounts,
                now,
                window,
                fills.segments(),
                fills.goes_on(),
            ));
        }
        let mut window = self.window_with(accounts);
        let sent = self.poll_one(accounts, now, &mut window);
        if !self.ready {
            // What leaves while the window is being reduced may change the window in force.
            if self.mode != Mode::Open || accounts.yields {
                window = self.window_with(accounts);
            }
            self.end_departures::<AnyData>(accounts, now, window);
        }
        sent
    }

    #[inline(always)]
    fn poll_one(&mut self, accounts: &mut Accounts, now: Time, window: &mut u64) -> Option<Outgoing> {
        if accounts.pacer.holds(now) && self.is_paced(accounts) {
            self.wait_for_pacer(accounts);
            return None;
        }
        let none_out = self.outstanding() == 0;
        let newest = self.board.next;
        let sent = if self.mode == Mode::Open && !accounts.probe.is_due() {
            if none_out && self.max > 0 && self.written > self.max {
                self.resume(accounts, now);
                *window = self.window_with(accounts);
            }
            if self.defers(accounts, now, *window) {
                None
            } else {
                self.poll_new::<AnyData>(now, *window).or_else(|| self.poll_piece(accounts, now))
            }
        } else if self.window_probe_is_due() {
            return self.poll_persist_accounted(accounts, now);
        } else {
            self.poll_disturbed(accounts, now)
        };
        let Some(sent) = sent else {
            self.ready = false;
            if self.held == HeldBy::ReceiverWindow {
                self.settle_timer(accounts, now);
                return self.poll_closed(now);
            }
            return None;
        };
        let bounds = accounts.packet_bounds();
        let resumed = accounts.offload.resumed;
        let packet = |sender: &Sender| sender.packet(*window, bounds, resumed);
        let sent = self.account_departure::<AnyData>(accounts, now, (sent, newest, none_out), packet);
        // The packet may end with a piece of a segment.
        self.ready |= accounts.offload.left > 0 && self.held == HeldBy::ReceiverWindow;
        Some(sent)
    }

    /// A full segment leaves a sender that is not disturbed ([`Leaving::UNDISTURBED`]), as the first of a packet of so many `segments` or
    /// as one of the packet begun. `goes_on`: the `window` has room for another one.
    #[inline(always)]
    pub(super) fn send_full<K: Leaving>(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        window: u64,
        segments: u64,
        goes_on: bool,
    ) -> Outgoing {
        debug_assert!(self.inflation == 0 && self.is_undisturbed(accounts));
        let newest = self.board.next;
        let left = if accounts.offload.left == 0 { segments } else { accounts.offload.left };
        let sent = self.push_new(now, self.config.mss, left > 1);
        if !goes_on {
            self.ready = false;
            let more = self.allowed::<K>(window);
            debug_assert_eq!(more, None, "the window is full");
        }
        let sent = self.account_departure::<K>(accounts, now, (sent, newest, false), |_| segments);
        if !self.ready {
            self.end_departures::<K>(accounts, now, window);
        }
        sent
    }

    /// What a sender that accounts for ACKs notes of a segment that leaves; `newest`: the number of the next record before it left,
    /// `alone`: nothing was outstanding then, `packet`: segments of the packet that it begins.
    #[inline(always)]
    fn account_departure<K: Leaving>(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        (mut sent, newest, none_out): (Outgoing, u64, bool),
        packet: impl FnOnce(&Sender) -> u64,
    ) -> Outgoing {
        if K::UNDISTURBED || !sent.is_retransmission() {
            if K::PACED != Some(false)
                && let Some(sampler) = &mut accounts.sampler
            {
                let in_flight = if K::UNDISTURBED { self.max - self.una } else { self.pipe() };
                let with = With { none_out, in_flight, lost: self.board.lost_total, repeated: false };
                sampler.handle_sent(now, newest, self.board.first, with);
            }
            accounts.sent = true;
            if !K::UNDISTURBED {
                self.note_reduced(accounts);
            }
            let goes_on = !K::UNDISTURBED && accounts.offload.left > 0;
            if goes_on && !accounts.probe.repeats && accounts.probe.end == sent.start() {
                // A probe with new data is a packet as others are (`tcp_send_loss_probe`).
                accounts.probe.end = self.max;
            }
            // The last segment of a packet of several has PSH (`__tcp_transmit_skb`).
            sent = sent.push_if(accounts.offload.at_work && accounts.offload.next_of(|| packet(self)));
            if !K::UNDISTURBED {
                if accounts.offload.left > 0 {
                    self.board.note_goes_on();
                }
                if !self.board.is_unmarked() {
                    // A short segment counts as a full one.
                    accounts.cached.forget();
                }
            }
        }
        if K::UNDISTURBED {
            accounts.owed = Owed::Probe;
        } else if sent.is_retransmission() || !self.time_next(accounts, now) {
            self.time_sent(now, sent, none_out);
        }
        let paced = K::PACED.unwrap_or(accounts.paced);
        let known = K::PACED == Some(true);
        let rate = |sender: &Sender| sender.pacing_rate(sender.window_with(accounts), accounts.most_rate);
        if paced && let Some(rate) = if known { Some(accounts.cached.burst.rate) } else { rate(self) } {
            if !known && rate != accounts.cached.burst.rate {
                let bytes = self.burst(rate, accounts.rack.least_rtt());
                accounts.cached.burst = BurstAt { rate, bytes, segments: bytes / u64::from(self.config.mss) };
            }
            accounts.pacer.handle_sent(now, sent.len(), rate, accounts.cached.burst.bytes);
            // That the next one is held back is known already.
            if self.ready && accounts.pacer.holds(now) {
                self.wait_for_pacer(accounts);
            }
        }
        sent
    }

    /// What leaves while a loss is repaired, or as a probe.
    #[inline(never)]
    fn poll_disturbed(&mut self, accounts: &mut Accounts, now: Time) -> Option<Outgoing> {
        accounts.cached.forget();
        if accounts.probe.is_due() {
            self.poll_probe(accounts, now)
        } else {
            self.poll_mending_accounted(accounts, now)
        }
    }

    /// The rate at which data leave, if they are paced; `window`: the congestion window in force; `most`: [`Accounts::most_rate`].
    #[inline]
    pub(super) fn pacing_rate(&self, window: u64, most: Rate) -> Option<Rate> {
        let own = match self.controller.pacing_rate() {
            None if self.config.rules.paces => self.rate_of_window(window),
            rate => rate,
        };
        if most == UNBOUNDED { own } else { Some(own.map_or(most, |own| own.min(most))) }
    }

    /// [`Sender::pacing_rate`] between ACKs and departures.
    pub(super) fn pace(&self) -> Option<Rate> {
        let most = self.accounts.as_ref().map_or(UNBOUNDED, |accounts| accounts.most_rate);
        self.pacing_rate(self.window(), most)
    }

    /// Twice the `window` in a round trip, or 1.2 times once slow start nears its end (`tcp_update_pacing_rate`).
    #[inline(never)]
    pub(super) fn rate_of_window(&self, window: u64) -> Option<Rate> {
        let srtt = self.estimator.smoothed().picos();
        if srtt == 0 {
            return None;
        }
        let state = self.controller.snapshot();
        let window = window.max(self.out_after_ack());
        let half = state.ssthresh.map_or(u64::MAX, |threshold| threshold / 2);
        let percent = if window < half { 200 } else { 120 };
        let bps = u128::from(window) * 8 * percent * 10_000_000_000 / u128::from(srtt);
        Some(Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX)))
    }

    /// What leaves next is a packet of its own, whatever was left of the last one. Whether it may leave now; else the pacer wakes the
    /// sender (`tcp_pacing_check`).
    pub(super) fn may_begin_packet(&mut self, accounts: &mut Accounts, now: Time) -> bool {
        accounts.pacer.end_burst();
        let held = accounts.pacer.holds(now) && self.is_paced(accounts);
        if held {
            self.wait_for_pacer(accounts);
        }
        !held
    }

    /// The pacer lets data leave again, what is lost first, whatever the last ACK had said of it (`tcp_tsq_write`).
    pub(super) fn handle_paced(&mut self) {
        self.ready = true;
        if let Some(accounts) = &mut self.accounts {
            accounts.repeats = Repeats::Lost;
        }
    }

    /// What could leave must wait for the pacer, which then wakes the sender.
    fn wait_for_pacer(&mut self, accounts: &Accounts) {
        let some = self.written > self.max || (self.mode != Mode::Open && self.board.next_lost().is_some());
        if some {
            self.held = HeldBy::Pacing;
            self.timers.pace(accounts.pacer.next());
        } else {
            self.held = HeldBy::Application;
        }
        self.ready = false;
    }

    /// Whether all that could be said is that data wait for the pacer, as was said before: nothing need be asked to leave.
    #[inline]
    pub(super) fn still_waits(&self, accounts: &Accounts, now: Time) -> bool {
        self.held == HeldBy::Pacing
            && accounts.pacer.holds(now)
            && self.timers.paces_until(accounts.pacer.next())
            && self.written > self.max
            && self.is_paced(accounts)
    }

    /// Whether [`Sender::pacing_rate`] has one.
    #[inline(always)]
    fn is_paced(&self, accounts: &Accounts) -> bool {
        self.controller.names_rate()
            || (self.config.rules.paces && self.estimator.smoothed() != Span::ZERO)
            || accounts.most_rate != UNBOUNDED
    }

    /// The application is about to write: had it nothing to send (`tcp_rate_check_app_limited`)?
    pub(super) fn note_write(&mut self) {
        let Some(mut accounts) = self.accounts.take() else { return };
        accounts.repeats = accounts.repeats.after_news();
        let in_flight = self.pipe();
        let unsent = self.written - self.max;
        let window = self.window_with(&accounts);
        if let Some(sampler) = &mut accounts.sampler
            && unsent < u64::from(self.config.mss)
            && in_flight < window
            && (self.mode == Mode::Open || self.board.next_lost().is_none())
        {
            sampler.handle_app_limited(in_flight);
        }
        self.accounts = Some(accounts);
    }

    /// Nothing was in flight, and something is about to be.
    #[cold]
    fn resume(&mut self, accounts: &mut Accounts, now: Time) {
        if self.fin_is_next() {
            return;
        }
        let idle = now.saturating_since(self.last_sent);
        self.keep_packets(accounts);
        self.controller.handle_resumed(now, idle);
        if self.config.idle_restart && idle > self.estimator.rto() {
            self.restart_by_halves(accounts, now, idle);
        }
    }

    /// What may leave now has left: the timer, and whether it was the window that stopped the sender.
    #[inline(always)]
    fn end_departures<K: Leaving>(&mut self, accounts: &mut Accounts, now: Time, window: u64) {
        self.settle_timer(accounts, now);
        if !K::UNDISTURBED {
            self.end_copied_packet(accounts);
        }
        // Data that are not sent yet, and a window that is full, are as much news as data that were sent.
        accounts.pacer.end_burst();
        let waits = accounts.offload.close();
        let rang = !K::UNDISTURBED && std::mem::take(&mut accounts.timer_rang);
        if rang && accounts.sent && accounts.probe.end == self.max && self.held == HeldBy::ReceiverWindow {
            // A probe with new data leaves without a look at what the receiver's window holds back (`tcp_chrono_stop`).
            self.held = HeldBy::CongestionWindow;
        }
        let stopped = !rang && self.written > self.max && self.held == HeldBy::CongestionWindow;
        if !(std::mem::take(&mut accounts.sent) || K::UNDISTURBED || stopped)
            || !(K::UNDISTURBED || accounts.linux_windows)
        {
            return;
        }
        let burst = Burst {
            at: now,
            limited: waits || self.fills(self.pipe_of::<K>(), window),
            out: self.board.next - self.board.first,
            una: self.una,
            max: self.max,
            rto: self.estimator.rto(),
        };
        let allows = |most| self.controller.in_slow_start() && self.segments(window) < most;
        if accounts.usage.handle_burst(burst, allows) {
            self.shrink_unused(accounts, now, window);
        }
    }

    /// The window has not been used for a time-out.
    #[cold]
    pub(super) fn shrink_unused(&mut self, accounts: &mut Accounts, now: Time, window: u64) {
        if self.mode != Mode::Open || accounts.disordered || accounts.yields {
            // Only in `TCP_CA_Open`.
            return accounts.usage.handle_window_set(now);
        }
        let least = self.segments(self.config.initial_window);
        let smaller = accounts.usage.handle_unused(now, self.segments(window), least);
        if let Some(smaller) = smaller
            && self.config.idle_restart
        {
            self.keep_packets(accounts);
            self.controller.handle_restart(smaller * u64::from(self.config.mss));
        }
    }

    /// Whether `pipe` bytes in flight are as many segments as `window` bytes hold.
    #[inline(always)]
    pub(super) fn fills(&self, pipe: u64, window: u64) -> bool {
        let mss = u64::from(self.config.mss);
        // In whole segments, both rounded up; most often no division is needed to know.
        pipe >= window || (pipe + mss > window && self.segments(pipe) >= self.segments(window))
    }

    /// A segment of data leaves: the reduction counts it.
    #[inline]
    fn note_reduced(&self, accounts: &mut Accounts) {
        if self.mode == Mode::Sack || accounts.yields {
            accounts.prr.handle_sent();
        }
    }

    /// A lost segment is sent again.
    pub(super) fn note_resent(&mut self, accounts: &mut Accounts, now: Time, number: u64) {
        self.note_copy(accounts, now, number);
        self.stamp(accounts, now, number);
        self.note_reduced(accounts);
        accounts.undo.handle_copies(now, 1);
    }

    /// Record `number` is sent again.
    pub(super) fn note_copy(&self, accounts: &mut Accounts, now: Time, number: u64) {
        if accounts.by_time {
            accounts.rack.handle_copy(number, now, self.board.next);
        }
    }

    /// What is known when a segment is sent again, for the sample that its arrival will be.
    pub(super) fn stamp(&mut self, accounts: &mut Accounts, now: Time, number: u64) {
        if let Some(sampler) = &mut accounts.sampler {
            let with = With {
                none_out: self.board.next - self.board.first == 1,
                in_flight: self.pipe(),
                lost: self.board.lost_total,
                repeated: self.board.slot(number).marked(REPEATED),
            };
            sampler.handle_sent(now, number, self.board.first, with);
        }
    }

    /// `tcp_cwnd_restart`: one halving for each time-out that passed since the last segment was sent.
    pub(super) fn restart_by_halves(&mut self, accounts: &mut Accounts, now: Time, idle: Span) {
        let rto = self.estimator.rto().picos().max(1);
        // The kernel halves while the idle time less the time-outs taken off is above zero, from the first on.
        let halvings = (idle.picos().saturating_sub(1) / rto).min(63);
        let segments = self.segments(self.window_with(accounts)) >> halvings;
        let window = (segments * u64::from(self.config.mss)).max(self.config.initial_window);
        self.controller.handle_restart(window);
        if self.reduces_with(accounts) {
            accounts.prr.handle_restart(self.segments(window));
        }
        accounts.usage.handle_restart(now);
    }
}
