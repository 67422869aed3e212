//! What travels through gates.

use crate::advice::RateSignal;
use crate::units::Span;

/// A packet on its way: a small plain value. The TCP header (simulator) or the bytes (live
/// engine) stay with the engine under `handle`.
///
/// In the order in which they stand: copies of the first four fields are loads of sixteen bytes, and of the last one eight, which so
/// find what the copy before has stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Unit {
    /// Where it is on its route: index of the stretch it is on, see [`crate::net`].
    pub stretch: u32,
    /// IP bytes.
    pub bytes: u32,
    /// The engine's own name for it.
    pub handle: u32,
    /// [`TAGGED`], [`CODED`], [`SIGNALLED`], [`ADVISES`], [`WITHOUT_DATA`], the bits of [`Handle`], and fields from [`ECN`], [`COLOUR`], [`CODEPOINT`],
    /// [`SIGNAL`] and [`ADVICE`] on.
    flags: u32,
    /// What made it come when it did.
    pub(crate) blame: Blame,
}

/// A policer set the loss priority of the unit: a gate that sheds tagged units drops it first.
const TAGGED: u32 = 1;
/// The lowest bit of the ECN codepoint: AQM marks a unit without looking at its header.
const ECN: u32 = 2;
/// The lowest bit of the colour: markers colour it, queues ask for it.
const COLOUR: u32 = 4;
/// The lowest of six bits: the codepoint of DiffServ that a marker gave this unit.
const CODEPOINT: u32 = 6;
/// A marker gave it one: codepoint 0 is a codepoint too.
const CODED: u32 = 1 << 12;

/// What the handle of a unit is to the engine, which so needs neither a header for most segments nor a look at one to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Handle {
    /// The place of a whole segment, of bytes, or whatever else the engine stores.
    Place = 0,
    /// The sequence or ACK number of a segment that says nothing else: nothing is stored.
    Number = 1 << 1,
    /// The place of a header without options but timestamps ([`crate::tcp::Header`]), which takes a fifth of a segment's memory.
    Header = 1 << 13,
}

/// The lowest of seven bits: the rate signal of a packet that carries one (SCONE).
const SIGNAL: u32 = 14;
/// It carries one.
const SIGNALLED: u32 = 1 << 21;
/// The lowest of seven bits: the advice in force, on its way from a receiver to its sender.
const ADVICE: u32 = 22;
/// It carries that.
const ADVISES: u32 = 1 << 29;

/// It carries no user data, although it comes from the end whose data the route is for: a SYN or an ACK.
const WITHOUT_DATA: u32 = 1 << 30;

/// The bits of [`Handle`].
const HANDLE: u32 = Handle::Number as u32 | Handle::Header as u32;

/// The colour of a packet (RFC 2697, RFC 2698): how well it conforms. What no marker has coloured is green.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(u8)]
pub enum Colour {
    /// It conforms.
    #[default]
    Green = 0,
    /// It exceeds the committed burst or rate.
    Yellow = 1,
    /// It exceeds the excess burst or the peak rate.
    Red = 2,
}

/// The two bits of ECN in an IP header (RFC 3168 §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Ecn {
    /// Its transport does not use ECN.
    #[default]
    NotEct = 0,
    /// ECN-capable transport, ECT(1): L4S (RFC 9331).
    Ect1 = 1,
    /// ECN-capable transport, ECT(0).
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

impl Ecn {
    /// Of the low two bits.
    #[inline]
    #[must_use]
    pub fn from_bits(bits: u8) -> Ecn {
        match bits & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }
}

/// Resolution of the wait in a [`Blame`]; shorter waits are stored as zero.
pub(crate) const LEAST_WAIT: Span = Span::from_picos(1 << 20);

/// A packet's longest wait so far and the cause of its arrival time in one word, which passes
/// through gates in a register: the wait in 2²⁰ picoseconds above, the cause below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blame(u64);

/// What a packet's arrival time is owed to: the gate that it waited longest at, or, where
/// it never waited, what had held the sender back. A policer holds a sender back when the
/// congestion window is small because the policer dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cause(u32);

/// A [`Cause`] taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limiter {
    /// The packet waited at this gate.
    Gate(usize),
    /// The sender's window was small because this gate's policer had dropped a packet.
    Policer(usize),
    /// Something else held the sender back.
    Sender(HeldBy),
}

/// What held a sender back before it sent a segment: the reason this segment was not sent earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum HeldBy {
    /// Nothing to send.
    #[default]
    Application = 0,
    /// The congestion window (and loss recovery).
    CongestionWindow = 1,
    /// The receiver's window or the window limit.
    ReceiverWindow = 2,
    /// The pace at which data leave.
    Pacing = 3,
}

impl Cause {
    const GATES: u32 = 4;
    /// Policers have the numbers of their gates from here on.
    const POLICERS: u32 = 1 << 31;

    /// Held back at the sender.
    #[must_use]
    pub fn sender(held_by: HeldBy) -> Cause {
        Cause(held_by as u32)
    }

    /// Waited at a gate.
    #[must_use]
    pub fn gate(gate: usize) -> Cause {
        Cause(Self::GATES + gate as u32)
    }

    /// Held back at the sender, whose window is small because a gate's policer dropped a packet.
    #[must_use]
    pub fn policer(gate: usize) -> Cause {
        Cause(Self::POLICERS + gate as u32)
    }

    /// Which of them it is.
    #[must_use]
    pub fn limiter(self) -> Limiter {
        match self.0 {
            0 => Limiter::Sender(HeldBy::Application),
            1 => Limiter::Sender(HeldBy::CongestionWindow),
            2 => Limiter::Sender(HeldBy::ReceiverWindow),
            3 => Limiter::Sender(HeldBy::Pacing),
            gate if gate < Self::POLICERS => Limiter::Gate((gate - Self::GATES) as usize),
            policer => Limiter::Policer((policer - Self::POLICERS) as usize),
        }
    }
}

impl Unit {
    /// A unit about to enter its route, of which the engine stores more under `handle`; [`Unit::named_by`]: what the handle is instead.
    #[inline]
    #[must_use]
    pub fn new(bytes: u32, handle: u32, held_by: HeldBy) -> Unit {
        let blame = Blame(u64::from(Cause::sender(held_by).0));
        Unit { stretch: 0, bytes, handle, flags: 0, blame }
    }

    /// This unit, with a handle that is `what`.
    #[inline]
    #[must_use]
    pub fn named_by(self, what: Handle) -> Unit {
        Unit { flags: self.flags & !HANDLE | what as u32, ..self }
    }

    /// This unit, on the stretch behind.
    #[inline(always)]
    pub(crate) fn on_next_stretch(self) -> Unit {
        Unit { stretch: self.stretch + 1, ..self }
    }

    /// Whether its handle is `what`.
    #[inline]
    #[must_use]
    pub fn is_named_by(&self, what: Handle) -> bool {
        self.flags & HANDLE == what as u32
    }

    /// Whether a policer set its loss priority: it is among the first to be dropped.
    #[inline]
    #[must_use]
    pub fn tagged(&self) -> bool {
        self.flags & TAGGED != 0
    }

    /// Sets or clears that.
    #[inline]
    pub fn set_tagged(&mut self, tagged: bool) {
        self.flags = if tagged { self.flags | TAGGED } else { self.flags & !TAGGED };
    }

    /// Its codepoint of ECN.
    #[inline]
    #[must_use]
    pub fn ecn(&self) -> Ecn {
        Ecn::from_bits((self.flags >> ECN) as u8)
    }

    /// Sets that.
    #[inline]
    pub fn set_ecn(&mut self, ecn: Ecn) {
        self.flags = self.flags & !(3 << ECN) | u32::from(ecn as u8) << ECN;
    }

    /// Whether it is a SYN or an ACK of the end whose data its route is for.
    pub(crate) fn is_without_data(&self) -> bool {
        self.flags & WITHOUT_DATA != 0
    }

    /// Sets that: it does not count among the lost data segments of its flow.
    #[must_use]
    pub fn without_data(self) -> Unit {
        Unit { flags: self.flags | WITHOUT_DATA, ..self }
    }

    /// Its colour.
    #[inline]
    #[must_use]
    pub fn colour(&self) -> Colour {
        match (self.flags >> COLOUR) & 3 {
            0 => Colour::Green,
            1 => Colour::Yellow,
            _ => Colour::Red,
        }
    }

    /// Sets that.
    #[inline]
    pub fn set_colour(&mut self, colour: Colour) {
        self.flags = self.flags & !(3 << COLOUR) | u32::from(colour as u8) << COLOUR;
    }

    /// The codepoint of DiffServ (RFC 2474 §3) that this packet itself carries; `None`: that of its flow.
    #[inline]
    #[must_use]
    pub fn codepoint(&self) -> Option<u8> {
        (self.flags & CODED != 0).then_some((self.flags >> CODEPOINT) as u8 & 63)
    }

    /// Sets that, to the low six bits.
    #[inline]
    pub fn set_codepoint(&mut self, codepoint: u8) {
        self.flags = self.flags & !(63 << CODEPOINT) | u32::from(codepoint & 63) << CODEPOINT | CODED;
    }

    /// Its rate signal, where it carries one: what gates on the way have advised.
    #[inline]
    #[must_use]
    pub fn rate_signal(&self) -> Option<RateSignal> {
        (self.flags & SIGNALLED != 0).then_some(RateSignal::from_bits((self.flags >> SIGNAL) as u8))
    }

    /// Sets that: from then on it carries one.
    pub fn set_rate_signal(&mut self, signal: RateSignal) {
        self.flags = self.flags & !(127 << SIGNAL) | u32::from(signal.bits()) << SIGNAL | SIGNALLED;
    }

    /// The advice in force that a receiver sends back with this packet, where it does.
    #[inline]
    #[must_use]
    pub fn advice(&self) -> Option<RateSignal> {
        (self.flags & ADVISES != 0).then_some(RateSignal::from_bits((self.flags >> ADVICE) as u8))
    }

    /// Sets that.
    pub fn set_advice(&mut self, advice: RateSignal) {
        self.flags = self.flags & !(127 << ADVICE) | u32::from(advice.bits()) << ADVICE | ADVISES;
    }

    /// The sender was held back by the congestion window, and that is owed to a gate's policer.
    /// Call before the unit enters the network.
    pub fn blame_policer(&mut self, gate: usize) {
        self.blame = Blame(u64::from(Cause::policer(gate).0));
    }

    /// What made it come when it did.
    #[inline]
    #[must_use]
    pub fn cause(&self) -> Cause {
        Cause(self.blame.0 as u32)
    }

    /// Notes a wait at a gate.
    #[inline]
    pub fn note_wait(&mut self, wait: Span, gate: usize) {
        self.blame = self.blame.or_wait(wait, gate);
    }
}

impl Blame {
    /// With a wait at a gate, which is to blame from now on if none was longer.
    #[inline]
    pub(crate) fn or_wait(self, wait: Span, gate: usize) -> Blame {
        let wait = (wait.picos() >> 20).min(u64::from(u32::MAX));
        if wait >= self.0 >> 32 { Blame(wait << 32 | u64::from(Cause::gate(gate).0)) } else { self }
    }
}
