//! What a sender remembers that accounts for every ACK.

use super::pacer::Pacer;
use super::prr::Prr;
use super::rack::Rack;
use super::rate::Sampler;
use super::undo::Undo;
use super::window_use::WindowUse;
use crate::cc::Controller;
use crate::plan::{Arithmetic, LossDetection, Reduction, Segmentation, TcpRules};
use crate::units::{Rate, Span, Time};

/// What a sender remembers to account for ACKs.
#[derive(Debug)]
pub(super) struct Accounts {
    pub(super) rack: Rack,
    pub(super) prr: Prr,
    pub(super) probe: Probe,
    /// What is still to be done to the timer.
    pub(super) owed: Owed,
    pub(super) usage: WindowUse,
    pub(super) undo: Undo,
    /// What may be sent again until the next ACK.
    pub(super) repeats: Repeats,
    /// The record that was sent again last; `None`: its packet has ended.
    pub(super) copied: Option<u64>,
    /// Whether the last time-out was needless is still open.
    pub(super) frto: bool,
    pub(super) pacer: Pacer,
    /// Data leave no faster (`sk_max_pacing_rate`); [`UNBOUNDED`]: as fast as the controller lets them.
    pub(super) most_rate: Rate,
    pub(super) offload: Offload,
    /// Data may be paced.
    pub(super) paced: bool,
    /// ACKs alone say when data leave, by Linux's rules: nothing is paced, or sampled for a controller, there are probes, and
    /// the window in the repair of a loss is the sender's.
    pub(super) self_clocked: bool,
    /// Data leave in bursts at the controller's rate, by Linux's rules, and are sampled.
    pub(super) in_bursts: bool,
    /// For controllers that hear of every ACK.
    pub(super) sampler: Option<Box<Sampler>>,
    /// What is remembered so that the next ACK or departure may take a fast path.
    pub(super) cached: Cached,
    /// SACKed segments outstanding (`sacked_out`).
    pub(super) sacked: u64,
    /// The last ACK that was not plainly in order left something reported, lost or sent again (`TCP_CA_Disorder`).
    pub(super) disordered: bool,
    /// Time-outs since the acknowledgement last moved (`icsk_retransmits`).
    pub(super) timeouts: u32,
    /// New data have left since the use of the window was noted.
    pub(super) sent: bool,
    /// A timer has expired since, other than the pacer's: what leaves then tells nothing of the use of the window, but for new data.
    pub(super) timer_rang: bool,
    /// The retransmission timer's round is over when more than this is acknowledged (`rtt_seq`).
    pub(super) round_end: u64,
    /// The window is being reduced because of marks (`TCP_CA_CWR`).
    pub(super) yields: bool,
    /// Losses are found by time (RACK).
    pub(super) by_time: bool,
    /// The controller's window holds in the repair of a loss too.
    pub(super) governed: bool,
    /// The window is reduced in proportion to what arrives (PRR).
    pub(super) proportional: bool,
    /// Windows are used up and restarted as in Linux.
    pub(super) linux_windows: bool,
}

/// What a packet's length hangs on beside the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacketBounds {
    /// Of the path, as RACK knows it.
    pub(super) least_rtt: Option<Span>,
    /// [`Accounts::most_rate`].
    pub(super) most_rate: Rate,
}

/// [`Accounts::most_rate`] where there is none.
pub(super) const UNBOUNDED: Rate = Rate::from_bps(u64::MAX);

impl Accounts {
    /// What the length of the next packet hangs on.
    #[inline(always)]
    pub(super) fn packet_bounds(&self) -> PacketBounds {
        PacketBounds { least_rtt: self.rack.least_rtt(), most_rate: self.most_rate }
    }

    pub(super) fn new(rules: &TcpRules, controller: &Controller) -> Accounts {
        let linux = rules.arithmetic == Arithmetic::Linux;
        let governed = controller.governs_repair();
        let by_time = rules.loss == LossDetection::Rack;
        let paced = rules.paces || rules.obeys_advice || controller.may_pace();
        let samples = controller.hears_acks();
        let offload = Offload::new(rules);
        Accounts {
            rack: Rack::default(),
            prr: Prr::default(),
            probe: Probe::default(),
            owed: Owed::Nothing,
            usage: WindowUse::default(),
            undo: Undo::new(rules),
            repeats: Repeats::Lost,
            copied: None,
            frto: false,
            pacer: Pacer::new(if linux { UNPACED } else { 0 }),
            most_rate: UNBOUNDED,
            offload,
            paced,
            self_clocked: linux && by_time && !paced && !samples && !governed,
            in_bursts: offload.at_work && by_time && paced && samples && !rules.obeys_advice,
            sampler: samples.then(Box::default),
            cached: Cached::default(),
            sacked: 0,
            disordered: false,
            timeouts: 0,
            sent: false,
            timer_rang: false,
            round_end: 0,
            yields: false,
            by_time,
            governed,
            proportional: rules.reduction == Reduction::Prr && !governed,
            linux_windows: linux,
        }
    }
}

/// What a sender knows only so that fast paths need not look: without it every answer is the same.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cached {
    /// Nothing is repaired, reported, probed for, marked or to be taken back. It is looked up after each ACK.
    pub(super) undisturbed: bool,
    /// There are probes where nothing is in disorder (RACK, and a round trip was measured); looked up then as well.
    pub(super) probes: bool,
    /// At the last pace.
    pub(super) burst: BurstAt,
}

impl Cached {
    /// Something may disturb the sender: a timer, an ACK that is not in order, what either of them sends.
    pub(super) fn forget(&mut self) {
        (self.undisturbed, self.probes) = (false, false);
    }

    /// Whether the sender is not disturbed and probes: what a fast departure needs.
    #[inline(always)]
    pub(super) fn is_known(&self) -> bool {
        self.undisturbed && self.probes
    }
}

/// A burst: what leaves at once at a rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BurstAt {
    pub(super) rate: Rate,
    /// User bytes; 0: a segment.
    pub(super) bytes: u64,
    /// [`BurstAt::bytes`] in whole segments.
    pub(super) segments: u64,
}

/// Linux paces from the packet on in which the tenth segment leaves (`tcp_update_skb_after_send`).
const UNPACED: u32 = 10;

/// What may be sent again while a loss is repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeats {
    /// What is lost.
    Lost,
    /// What is lost, and nothing new until the next ACK or write: a timer has found the loss (`tcp_rack_reo_timeout`).
    LostAlone,
    /// New data first, and what is lost only if no new data can leave (RFC 5682 §3.1 step 2b).
    AfterNew,
    /// Nothing until the next ACK.
    None,
}

impl Repeats {
    /// An ACK has come, or data were written.
    pub(super) fn after_news(self) -> Repeats {
        if self == Repeats::LostAlone { Repeats::Lost } else { self }
    }
}

/// What is to be done to the timer as soon as all has left that may leave now: once, however many segments that are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Owed {
    /// Nothing.
    #[default]
    Nothing,
    /// An ACK restarts it.
    Restart,
    /// New data that left set a probe.
    Probe,
}

/// The tail loss probe of a flight.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    /// TLP.end_seq: SND.NXT when the probe was sent; 0: none is out.
    pub(super) end: u64,
    /// The probe repeated a segment (TLP.is_retrans).
    pub(super) repeats: bool,
    /// A probe is to be sent: this one, or one of the receiver's window ([`Sender::window_probe_is_due`](super::sender::Sender)).
    pub(super) due: bool,
}

impl Probe {
    /// A recovery begins: what the probe was for is known.
    pub(super) fn forget(&mut self) {
        *self = Probe::default();
    }

    /// Whether a probe of either kind is to be sent.
    pub(super) fn is_due(&self) -> bool {
        self.due
    }
}

/// Linux's segmentation offload: the packet of several segments that is being handed to the device ([`super::packets`]).
#[derive(Clone, Copy, Debug)]
pub(super) struct Offload {
    pub(super) at_work: bool,
    /// Segments of it that have not left.
    pub(super) left: u64,
    /// It has more than one.
    pub(super) many: bool,
    /// The last rest of a window waits.
    pub(super) waits: bool,
    /// Segments of a packet at most by the window before one that was not used fell: the next ACK tells of the new one
    /// (`sk_pacing_rate`).
    pub(super) resumed: u64,
    /// When an ACK alone was sent last while data waited to leave.
    pub(super) acknowledged_at: Time,
}

impl Offload {
    pub(super) fn new(rules: &TcpRules) -> Offload {
        let at_work = rules.segmentation == Segmentation::Kernel && rules.arithmetic == Arithmetic::Linux;
        Offload { at_work, left: 0, many: false, waits: false, resumed: 0, acknowledged_at: Time::ZERO }
    }

    /// A segment has left: whether it is the last of a packet of several. `segments` says of how many, where it is the first.
    #[inline(always)]
    pub(super) fn next_of(&mut self, segments: impl FnOnce() -> u64) -> bool {
        if self.left == 0 {
            self.left = segments();
            self.many = self.left > 1;
        }
        self.left -= 1;
        self.left == 0 && self.many
    }

    /// What may leave has left; whether a rest of the window waits.
    pub(super) fn close(&mut self) -> bool {
        self.left = 0;
        std::mem::take(&mut self.waits)
    }
}
