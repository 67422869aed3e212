//! Where the caller of a run and the hosts that it answers leave things for each other.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidegate_core::units::{Span, Time};
use tidegate_result::Side;

use crate::host::{Ecn, Host, Lost, Outgoing, Packet, Report};

/// Something that happens to a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// When.
    pub at: Time,
    /// The flow's number.
    pub flow: usize,
    /// Which of its ends. The loss of a packet happens to the end that had sent it.
    pub side: Side,
    /// What.
    pub what: Happened,
}

/// What happens to a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// The flow begins. It happens to the sender only.
    Begins,
    /// A packet comes, with its codepoint as it arrived.
    Packet(Packet, Ecn),
    /// The instant of its wake-up has come.
    Wakeup,
    /// A gate drops a packet that it had sent.
    Lost(Lost),
}

/// What the caller and the hosts of the run leave for each other.
#[derive(Default)]
pub(crate) struct Desk {
    pub(crate) turns: VecDeque<Turn>,
    /// Losses that are known ahead of their time, in the order of times, and at one instant in the order in which they became known.
    pub(crate) losses: BTreeMap<(Time, u64), Turn>,
    /// How many losses have become known so far.
    losses_known: u64,
    ends: BTreeMap<(usize, bool), Drawer>,
}

/// What the caller has left for one end.
#[derive(Default)]
pub(crate) struct Drawer {
    pub(crate) leaving: VecDeque<Outgoing>,
    pub(crate) wakeup: Option<Time>,
    pub(crate) report: Report,
    pub(crate) rtt: Option<Span>,
}

/// The host at one end: it answers with what the caller has left at the desk.
pub(crate) struct Outsider {
    pub(crate) desk: Arc<Mutex<Desk>>,
    pub(crate) flow: usize,
    pub(crate) side: Side,
}

pub(crate) fn locked(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Desk {
    pub(crate) fn drawer(&mut self, flow: usize, side: Side) -> &mut Drawer {
        self.ends.entry((flow, side == Side::Receiver)).or_default()
    }
}

impl Outsider {
    fn happens(&self, at: Time, what: Happened) {
        let Outsider { flow, side, .. } = *self;
        locked(&self.desk).turns.push_back(Turn { at, flow, side, what });
    }

    fn drawer<T>(&self, what: impl FnOnce(&mut Drawer) -> T) -> T {
        what(locked(&self.desk).drawer(self.flow, self.side))
    }
}

impl Host for Outsider {
    fn open(&mut self, now: Time) {
        if self.side == Side::Sender {
            self.happens(now, Happened::Begins);
        }
    }

    fn handle_packet(&mut self, now: Time, ecn: Ecn, packet: Packet) {
        self.happens(now, Happened::Packet(packet, ecn));
    }

    fn handle_wakeup(&mut self, now: Time) {
        if self.drawer(|drawer| drawer.wakeup.take_if(|at| *at <= now)).is_some() {
            self.happens(now, Happened::Wakeup);
        }
    }

    fn poll_transmit(&mut self, _now: Time) -> Option<Outgoing> {
        self.drawer(|drawer| drawer.leaving.pop_front())
    }

    fn next_wakeup(&mut self) -> Time {
        self.drawer(|drawer| drawer.wakeup.unwrap_or(Time::NEVER))
    }

    fn report(&self) -> Report {
        self.drawer(|drawer| drawer.report)
    }

    fn take_rtt_sample(&mut self) -> Option<Span> {
        self.drawer(|drawer| drawer.rtt.take())
    }

    fn handle_loss(&mut self, lost: Lost) {
        let (flow, side, at) = (self.flow, self.side, lost.at);
        let mut desk = locked(&self.desk);
        let number = desk.losses_known;
        desk.losses_known += 1;
        desk.losses.insert((at, number), Turn { at, flow, side, what: Happened::Lost(lost) });
    }
}
