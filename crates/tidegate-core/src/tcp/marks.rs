//! What one end of a connection with ECN remembers: how marks are reported, those that arrived, those that the other end has
//! reported.

use super::accecn::{AccEcn, CE, ECT0, ECT1, FIRST_BYTES};
use super::segment::flags;
use crate::cc::EcnNeed;
use crate::plan::EcnPlan;
use crate::unit::Ecn;

/// RFC 9768 §3.2.1: what the counters of CE packets begin with.
const FIRST_COUNT: u32 = 5;

/// How marks are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feedback {
    /// Not at all.
    Off,
    /// Every ACK says so until the sender says that it has reduced its window (RFC 3168 §6.1.3).
    Classic,
    /// Every ACK says of the data that it acknowledges whether they were marked (RFC 8257 §3.2).
    Changes,
    /// Every ACK has the low bits of a counter (RFC 9768 §3.2.2).
    Counted,
}

/// What a segment that leaves says, until the next one leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarksToSend {
    pub(super) flags: u16,
    pub(super) ecn: Ecn,
    /// It acknowledges less than what has arrived.
    pub(super) ack: Option<u64>,
    pub(super) option: Option<AccEcn>,
}

/// What one end remembers.
#[derive(Debug)]
pub(super) struct Marks {
    /// What this end asks for.
    pub(super) asks: EcnPlan,
    /// What its controller needs.
    pub(super) need: EcnNeed,
    pub(super) feedback: Feedback,
    /// The next ACK is the last segment of the handshake.
    pub(super) first_ack: bool,
    /// How the other end's SYN or SYN-ACK arrived.
    pub(super) syn_came: Ecn,
    /// The first ACK after the handshake is still to come.
    pub(super) first_to_come: bool,
    /// What is sent may be marked: the path lets ECN through.
    pub(super) capable: bool,
    /// Linux's receivers acknowledge at once after a mark.
    pub(super) at_once: bool,
    // The receiving half.
    /// Classic: ACKs echo a mark. Otherwise: the last packet was marked.
    pub(super) echo: bool,
    /// An ACK of what came before the state changed, and that state.
    pub(super) early: Option<(u64, bool)>,
    /// Marked packets that arrived (r.cep), and as many as the last ACK reported.
    pub(super) count: u32,
    pub(super) reported: u32,
    /// User bytes that arrived with ECT(0), CE and ECT(1) (r.e0b, r.ceb, r.e1b), and which of the counters ever moved.
    bytes: [u32; 3],
    moved: [bool; 3],
    /// One of them has moved since an option told them.
    has_changed: bool,
    pub(super) leaving: MarksToSend,
    // The sending half.
    /// Marked packets that the other end has reported (s.cep).
    pub(super) heard: u32,
    /// Segments delivered that ACKs say were marked, of the whole connection (`delivered_ce`, `tcp_newly_delivered`).
    pub(super) delivered_ce: u64,
    /// Of these, those of the last ACK; and their bytes, if it had an option.
    pub(super) marked: u32,
    pub(super) marked_bytes: Option<u64>,
    /// Bytes that the other end's options have reported (s.e0b, s.ceb, s.e1b).
    heard_bytes: [u32; 3],
    /// Marked packets that ACKs without an option have reported since the last one with one.
    unreported: u32,
    /// SND.NXT when the window was reduced last, for whatever reason, and for a mark.
    pub(super) reduced_until: u64,
    pub(super) marked_until: u64,
    /// CWR is to be set (RFC 3168 §6.1.2).
    pub(super) cwr_due: bool,
    /// ACKs that moved nothing since one did: each reported a segment out of order (RFC 5681 §4.2).
    pub(super) repeats: u64,
    /// Flags and option of the ACK that is being read.
    pub(super) reading: Option<(u16, Option<AccEcn>)>,
}

impl Marks {
    /// `None` without ECN.
    pub(super) fn new(plan: EcnPlan, need: EcnNeed, handshake: bool, at_once: bool) -> Option<Box<Marks>> {
        let asks = match need {
            EcnNeed::Plan => plan,
            EcnNeed::Extent if plan == EcnPlan::Off => EcnPlan::Classic,
            EcnNeed::Extent => plan,
            EcnNeed::L4s => EcnPlan::Accurate,
        };
        if asks == EcnPlan::Off {
            return None;
        }
        let mut marks = Marks {
            asks,
            need,
            feedback: Feedback::Off,
            first_ack: false,
            syn_came: Ecn::NotEct,
            first_to_come: handshake,
            capable: true,
            at_once,
            echo: false,
            early: None,
            count: FIRST_COUNT,
            reported: FIRST_COUNT,
            bytes: FIRST_BYTES,
            moved: [false; 3],
            has_changed: false,
            leaving: MarksToSend { flags: 0, ecn: Ecn::NotEct, ack: None, option: None },
            heard: FIRST_COUNT,
            delivered_ce: 0,
            marked: 0,
            marked_bytes: None,
            heard_bytes: FIRST_BYTES,
            unreported: 0,
            reduced_until: 0,
            marked_until: 0,
            cwr_due: false,
            repeats: 0,
            reading: None,
        };
        if !handshake {
            marks.agree(asks);
        }
        Some(Box::new(marks))
    }

    /// The two ends agree on it.
    pub(super) fn agree(&mut self, on: EcnPlan) {
        self.feedback = match on {
            EcnPlan::Off => Feedback::Off,
            EcnPlan::Classic if self.need == EcnNeed::Plan => Feedback::Classic,
            EcnPlan::Classic => Feedback::Changes,
            EcnPlan::Accurate => Feedback::Counted,
        };
    }

    /// What data segments have in their IP header.
    pub(super) fn codepoint(&self, again: bool) -> Ecn {
        match self.feedback {
            Feedback::Off => Ecn::NotEct,
            _ if !self.capable => Ecn::NotEct,
            // RFC 3168 §6.1.5: not on what is sent again. Linux and RFC 9768 §2.5 allow it otherwise.
            Feedback::Classic if again => Ecn::NotEct,
            // RFC 9331 §4.1 and §4.2: ECT(1) needs accurate feedback.
            Feedback::Counted if self.need == EcnNeed::L4s => Ecn::Ect1,
            Feedback::Classic | Feedback::Changes | Feedback::Counted => Ecn::Ect0,
        }
    }

    /// RFC 9768 §3.2.1: user bytes arrived with this codepoint.
    pub(super) fn count_bytes(&mut self, ecn: Ecn, bytes: u32) {
        let which = match ecn {
            Ecn::NotEct => return,
            Ecn::Ect0 => ECT0,
            Ecn::Ce => CE,
            Ecn::Ect1 => ECT1,
        };
        self.bytes[which] = self.bytes[which].wrapping_add(bytes);
        self.moved[which] = true;
        self.has_changed = true;
    }

    /// All counters, which test whether the option comes through (RFC 9768 §3.2.3.2.1).
    pub(super) fn whole_option(&self) -> AccEcn {
        AccEcn::new(self.bytes, 3, 0)
    }

    /// RFC 9768 §3.2.3.3, the recommended simple scheme: an option on every ACK if any counter has moved since the last, with
    /// every counter that ever has, if it takes no more than `room` bytes.
    pub(super) fn option(&mut self, room: u32) -> Option<AccEcn> {
        if !self.has_changed {
            return None;
        }
        let order = u8::from(self.moved[ECT1] && !self.moved[ECT0]);
        let count = match self.moved {
            [true, _, true] => 3,
            [_, true, _] => 2,
            _ => 1,
        };
        let option = AccEcn::new(self.bytes, count, order);
        if option.len().next_multiple_of(4) > room {
            return None;
        }
        self.has_changed = false;
        Some(option)
    }

    /// RFC 9768 §3.2.2.1 and §3.2.2.4, with Accurate ECN: the first segment without SYN arrives, of a client (`passive`: the ACK of the
    /// SYN-ACK, which says how that arrived) or of a server. One without any of the flags has lost them on its way: nothing is sent as
    /// ECN-capable from then on.
    pub(super) fn read_first(&mut self, read: u16, passive: bool) {
        if self.feedback == Feedback::Counted && std::mem::take(&mut self.first_to_come) {
            self.capable = flags::ace(read) != 0;
            if passive && flags::of_ace(flags::ace(read)) == flags::of_codepoint(Ecn::Ce) {
                self.heard = self.heard.wrapping_add(1);
            }
        }
    }

    /// What `flags` and the option report, of an ACK that newly reported so many segments, none of them longer than `mss`:
    /// whether there is congestion. [`Marks::marked`] has the number of segments.
    pub(super) fn read(&mut self, read: u16, option: Option<AccEcn>, newly: u64, mss: u32) -> bool {
        self.marked = 0;
        self.marked_bytes = None;
        match self.feedback {
            Feedback::Off => false,
            Feedback::Classic | Feedback::Changes => {
                let echoed = read & flags::ECE != 0;
                self.marked = if echoed { u32::try_from(newly).unwrap_or(u32::MAX) } else { 0 };
                echoed
            }
            // An ACK that reports nothing may be an old one (RFC 9768 §3.2.2.5.2, `tcp_accecn_process`).
            Feedback::Counted if newly == 0 => false,
            Feedback::Counted => {
                let least = flags::ace(read).wrapping_sub(self.heard) & 7;
                // RFC 9768 §3.2.2.5.2: the counter may have wrapped where more than seven packets are reported, and is
                // taken to have done so as often as it can.
                let newly = u32::try_from(newly).unwrap_or(u32::MAX);
                let most = if newly > 7 { newly - (newly.wrapping_sub(least) & 7) } else { least };
                self.marked = match option.filter(|option| !option.is_empty()) {
                    Some(option) => self.reconcile(option, least, most, mss),
                    None => {
                        self.unreported = self.unreported.saturating_add(most);
                        most
                    }
                };
                self.heard = self.heard.wrapping_add(self.marked);
                self.marked > 0
            }
        }
    }

    /// RFC 9768 §3.2.3.2.5: the packets that the counter of an ACK says, with the bytes that its option says: the fewest that
    /// the bytes fit in. `least` are what the counter says if it has not gone round, `most` if it has as often as it can.
    /// (Appendix A.2.2 has an example for one round, which takes the mean size of a packet for a test.)
    fn reconcile(&mut self, option: AccEcn, least: u32, most: u32, mss: u32) -> u32 {
        let mut newly_marked = 0;
        for (which, field) in option.counters().into_iter().enumerate() {
            // What is left out has not moved (RFC 9768 §3.2.3).
            let Some(field) = field else { continue };
            let moved = AccEcn::increment(field, self.heard_bytes[which]);
            self.heard_bytes[which] = field;
            if which == CE {
                newly_marked = moved;
            }
        }
        let unreported = std::mem::take(&mut self.unreported);
        let packets = newly_marked.div_ceil(mss.max(1)).saturating_sub(unreported);
        let rounds = packets.saturating_sub(least).div_ceil(8);
        // What ACKs without an option have reported counts as full segments (appendix A.3).
        let estimated = u64::from(unreported) * u64::from(mss);
        self.marked_bytes = Some(u64::from(newly_marked).saturating_sub(estimated));
        least.saturating_add(8 * rounds).min(most.max(least))
    }

    /// Whether the ACK that is being read reports congestion.
    pub(super) fn is_reading_mark(&self) -> bool {
        self.reading.is_some_and(|(read, _)| self.reports(read))
    }

    /// Whether `flags` report congestion; the same without taking note.
    pub(super) fn reports(&self, read: u16) -> bool {
        match self.feedback {
            Feedback::Off => false,
            Feedback::Classic | Feedback::Changes => read & flags::ECE != 0,
            Feedback::Counted => flags::ace(read).wrapping_sub(self.heard) & 7 != 0,
        }
    }
}
