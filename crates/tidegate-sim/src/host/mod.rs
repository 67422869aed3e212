//! Transports of others in a run: what one end of a flow has to answer, so that it runs in virtual time between the gates.
//!
//! A [`Host`] is one end with its application: a stack without sockets and without a clock (sans-IO), such as quinn-proto, smoltcp, or
//! one of your own. [`crate::run_hosted`] runs flows of hosts beside flows of our TCP; they share gates, queues, policers and
//! background traffic, and what is measured in the network is measured of both in one way. `docs/design/hosted.md` says why it is as it is.
//!
//! The order of calls. [`Host::open`] comes first, once, when the flow starts: to the receiver's end, then to the sender's. Then
//! [`Host::handle_packet`] and [`Host::handle_wakeup`] come as things happen, at instants that never go back. After each of these three
//! [`Host::poll_message`] and [`Host::poll_transmit`] are asked until they have nothing more, then [`Host::next_wakeup`] and
//! [`Host::report`].

mod tcp;
mod ticks;

pub use tcp::Tcp;
pub use ticks::{tick_at, time_of_tick};

pub use tidegate_core::gate::DropReason;
pub use tidegate_core::tcp::{Phase, Segment};
pub use tidegate_core::unit::{Ecn, HeldBy};
pub use tidegate_core::units::{Span, Time};
pub use tidegate_result::Side;

/// One end of a flow with its application.
///
/// A host that panics, that never sleeps, or that sends without end, ends the run with a sentence that names it. One that does not
/// return from a call cannot be stopped.
pub trait Host: Send {
    /// The flow begins. Whoever begins the connection does so now; the other end listens.
    fn open(&mut self, now: Time);

    /// A packet comes from the other end. `ecn` is its codepoint as it arrived.
    fn handle_packet(&mut self, now: Time, ecn: Ecn, packet: Packet);

    /// The instant of [`Host::next_wakeup`] has come.
    fn handle_wakeup(&mut self, now: Time);

    /// The next packet that leaves; `None`: no more for now. While a packet waits for its instant ([`Outgoing::at`]) it is not asked for
    /// another one.
    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing>;

    /// When it wants to be woken, if nothing comes before; [`Time::NEVER`]: it waits for packets alone.
    fn next_wakeup(&mut self) -> Time;

    /// What it says of itself now. It is asked after everything that happens: it should cost little.
    fn report(&self) -> Report;

    /// A round trip that it has measured since it was asked last, if it measured one: for the quantiles of the summary and the column `rtt`.
    fn take_rtt_sample(&mut self) -> Option<Span> {
        None
    }

    /// What it is, with its congestion control, in a few words: `smoltcp 0.12, cubic`.
    fn name(&self) -> String {
        "hosted".to_owned()
    }

    /// Why its connection ended before its application was done, if it did. The summary warns of it, and the end is not called again.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Whether it carries the messages of a flow with requests: [`Host::write_message`], [`Host::poll_message`].
    fn carries_messages(&self) -> bool {
        false
    }

    /// Its application writes a message. At the receiver's end this is request `number`, from 0 on, one after the other; at the sender's
    /// end it is the response to request `number`.
    fn write_message(&mut self, _now: Time, _number: u64, _bytes: u64) {}

    /// The number of a message that has come whole since it was asked last.
    fn poll_message(&mut self) -> Option<u64> {
        None
    }

    /// A gate dropped a packet that this end had sent. No stack can know; it is for those who look on. It may be told some time before it
    /// happens ([`Lost::at`]), where it is certain.
    fn handle_loss(&mut self, _lost: Lost) {}
}

/// The two ends of a flow: who sends its data, and who receives them.
pub type Ends = [Box<dyn Host>; 2];

/// Who makes the hosts of flows, by number, anew whenever the run begins.
pub type Makes<'a> = &'a mut dyn FnMut(usize) -> Option<Ends>;

/// What travels between two hosts. The network looks at its length and its codepoints only ([`Outgoing`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet {
    /// The bytes of a stack.
    Bytes(Vec<u8>),
    /// A segment of our own TCP.
    Segment(Box<Segment>),
}

impl Packet {
    /// The bytes of a stack; none of a segment of our own.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Packet::Bytes(bytes) => bytes,
            Packet::Segment(_) => Vec::new(),
        }
    }
}

/// A packet that leaves an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// What travels.
    pub packet: Packet,
    /// Its length with the IP header: from 1 to 65,535. A datagram of UDP has 28 bytes beside its payload, over IPv4.
    pub ip_bytes: u32,
    /// The codepoint that it is sent with.
    pub ecn: Ecn,
    /// Why it was not sent earlier.
    pub held_by: HeldBy,
    /// Whether it counts as a data packet: one that brings user bytes. A stack that cannot tell says `true`.
    pub data: bool,
    /// When it leaves. Up to now: at once. A later instant: it is held until then, which is pacing, and no other leaves before it.
    pub at: Time,
}

impl Outgoing {
    /// A whole IP packet that leaves at once, with data; its sender could not have sent it earlier because of its window.
    #[must_use]
    pub fn packet(bytes: Vec<u8>) -> Outgoing {
        Outgoing {
            ip_bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            packet: Packet::Bytes(bytes),
            ecn: Ecn::NotEct,
            held_by: HeldBy::CongestionWindow,
            data: true,
            at: Time::ZERO,
        }
    }

    /// A datagram of UDP over IPv4 with this payload; else as [`Outgoing::packet`].
    #[must_use]
    pub fn datagram(payload: Vec<u8>) -> Outgoing {
        let out = Outgoing::packet(payload);
        Outgoing { ip_bytes: out.ip_bytes.saturating_add(UDP_HEADERS), ..out }
    }
}

/// Bytes of the headers of UDP and IPv4.
const UDP_HEADERS: u32 = 28;

/// A packet that will not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// When it is dropped.
    pub at: Time,
    /// Index of the gate in the plan.
    pub gate: usize,
    /// Why.
    pub reason: DropReason,
    /// The packet.
    pub packet: Packet,
}

/// What an end says of itself; totals count from its beginning. What it does not know it leaves out: columns are empty there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// User bytes that came to this end, each counted when it first arrives, in order or not.
    pub delivered_bytes: u64,
    /// User bytes that its application could read in order.
    pub in_order_bytes: u64,
    /// Data packets that came to this end and brought nothing new.
    pub duplicates: u64,
    /// Congestion window in bytes.
    pub window: Option<f64>,
    /// Slow-start threshold in bytes.
    pub ssthresh: Option<u64>,
    /// Bytes sent and neither acknowledged nor deemed lost.
    pub in_flight: Option<u64>,
    /// Smoothed round trip.
    pub srtt: Option<Span>,
    /// Retransmission or probe time-out.
    pub rto: Option<Span>,
    /// What its sender is doing.
    pub phase: Option<Phase>,
    /// What holds its sender back now.
    pub held_by: HeldBy,
    /// Data packets sent again; of a stack that sends bytes anew in other packets: packets with no byte that had not been sent before.
    pub retransmitted: u64,
    /// Retransmission or probe time-outs.
    pub timeouts: u64,
    /// Times that a loss, found without a time-out, began a repair or a smaller window.
    pub recoveries: u64,
    /// Reductions of the window because of marks; of a transport that uses ECN.
    pub ecn_reductions: Option<u64>,
}
