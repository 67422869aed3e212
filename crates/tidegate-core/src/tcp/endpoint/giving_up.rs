//! When an end gives up: nothing of what it sends is acknowledged any more (RFC 1122 §4.2.3.5, RFC 9293 §3.8.3; `tcp_write_timeout`,
//! `tcp_probe_timer` of Linux 6.18).

use super::{Endpoint, State};
use crate::tcp::closed::RETRIES;
use crate::tcp::persist::PersistRule;
use crate::tcp::sender::Sender;
use crate::tcp::timers::Purpose;
use crate::units::{Span, Time};

/// How long data are sent again: as long as fifteen time-outs take that begin with 200 ms, double, and are two minutes at most
/// (`tcp_retries2`). RFC 1122 wants 100 s at least (R2).
const PATIENCE: Span = Span::from_millis(924_600);
/// The same in Linux where the application has closed: eight of them (`tcp_orphan_retries`).
const ORPHANED: Span = Span::from_millis(102_200);
/// How often Linux sends a SYN again, those without a longer wait included (`tcp_syn_retries`, `tcp_syn_linear_timeouts`), a SYN-ACK
/// (`tcp_synack_retries`), and a probe of a closed window that is not answered where the application has closed (`tcp_orphan_retries`).
const SYNS: u16 = 6 + 4;
const SYN_ACKS: u16 = 5;
const ORPHANED_PROBES: u16 = 8;
/// RFC 1122 §4.2.3.5: a SYN is sent again for three minutes at least.
const SYN_PATIENCE: Span = Span::from_secs(180);

impl Endpoint {
    /// Whether the connection is over instead of what the timer would do that rings now. DEVIATION: an end of 4.4BSD never gives up,
    /// which would after twelve repetitions (`TCP_MAXRXTSHIFT`): in papers flows starve for longer and go on.
    #[cold]
    pub(super) fn gives_up(&mut self, now: Time) -> bool {
        let rules = self.sender.config.persist;
        let linux = rules == PersistRule::Linux;
        let orphaned = linux && self.closing.as_ref().is_some_and(|closing| closing.orphaned);
        match self.state {
            _ if rules == PersistRule::Bsd44 => false,
            State::SynSent if linux => self.syns > SYNS,
            State::SynReceived if linux => self.syns > SYN_ACKS,
            State::SynSent | State::SynReceived => now.saturating_since(self.trying_since) >= SYN_PATIENCE,
            _ if self.sender.persists() => {
                linux && self.window_probes() >= if orphaned { ORPHANED_PROBES } else { u16::from(RETRIES) }
            }
            _ => self.repeats_for(now) >= if orphaned { ORPHANED } else { PATIENCE },
        }
    }

    /// For how long the oldest segment has been sent again without avail, where its time-out expires now and is not its first
    /// (`retransmits_timed_out`).
    fn repeats_for(&mut self, now: Time) -> Span {
        let Sender { accounts, timers, timed_out_at, una, .. } = &self.sender;
        match accounts {
            _ if timers.purpose() != Purpose::TimeOut => Span::ZERO,
            Some(accounts) if accounts.timeouts > 0 => accounts.undo.copies_for(now),
            None if timed_out_at == una => now.saturating_since(self.trying_since),
            Some(_) => Span::ZERO,
            None => {
                self.trying_since = now;
                Span::ZERO
            }
        }
    }
}
