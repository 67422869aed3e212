//! Media frames on their way: whole when the last packet has arrived, lost with the first packet that is.

use std::collections::VecDeque;

use crate::gate::{Precision, Quantiles};
use crate::units::{Measured, Span, Time};

/// The fates of the media frames of one source that begin inside the measured time.
#[derive(Clone, Debug)]
pub struct MediaFrames {
    /// Frames with packets whose fate is not known, and others between them.
    under_way: VecDeque<UnderWay>,
    /// The number of the first of them; numbers wrap.
    first: u32,
    measured: Measured,
    deadline: Option<Span>,
    sent: u64,
    lost: u64,
    late: u64,
    delays: Quantiles,
}

/// One frame.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    began: Time,
    /// Packets whose fate is not known.
    left: u32,
    lost: bool,
}

impl MediaFrames {
    pub(super) fn new(measured: Measured, precision: Precision, deadline: Option<Span>) -> MediaFrames {
        MediaFrames {
            under_way: VecDeque::new(),
            first: 0,
            measured,
            deadline,
            sent: 0,
            lost: 0,
            late: 0,
            delays: Quantiles::new(precision),
        }
    }

    /// A frame of so many packets begins. Answers with its number.
    pub(super) fn begin(&mut self, at: Time, packets: u32) -> u32 {
        self.sent += u64::from(self.measured.holds(at));
        self.under_way.push_back(UnderWay { began: at, left: packets, lost: false });
        self.last()
    }

    /// The number of the frame that began last.
    pub(super) fn last(&self) -> u32 {
        self.first.wrapping_add(self.under_way.len() as u32).wrapping_sub(1)
    }

    /// A packet of a frame arrives at `at`.
    pub(super) fn packet_arrives(&mut self, at: Time, number: u32) {
        let Some(frame) = self.settle_packet(number, false) else { return };
        if frame.left > 0 || frame.lost || !self.measured.holds(frame.began) {
            return;
        }
        let delay = at.saturating_since(frame.began);
        self.delays.record(delay);
        self.late += u64::from(self.deadline.is_some_and(|deadline| delay > deadline));
    }

    /// A packet of a frame was dropped.
    pub(super) fn packet_is_lost(&mut self, number: u32) {
        let before = self.get(number).is_some_and(|frame| frame.lost);
        let Some(frame) = self.settle_packet(number, true) else { return };
        self.lost += u64::from(!before && self.measured.holds(frame.began));
    }

    fn get(&self, number: u32) -> Option<&UnderWay> {
        self.under_way.get(number.wrapping_sub(self.first) as usize)
    }

    /// The fate of one more packet is known. Answers with the frame as it is then.
    fn settle_packet(&mut self, number: u32, lost: bool) -> Option<UnderWay> {
        let frame = self.under_way.get_mut(number.wrapping_sub(self.first) as usize)?;
        frame.left = frame.left.saturating_sub(1);
        frame.lost |= lost;
        let settled = *frame;
        // The last frame stays: its packets may not have been sent.
        while self.under_way.len() > 1 && self.under_way.front().is_some_and(|first| first.left == 0) {
            self.under_way.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        Some(settled)
    }

    /// Frames that began.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Frames that lost a packet.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Frames that were whole, but later than their deadline; `None`: they have none.
    #[must_use]
    pub fn late(&self) -> Option<u64> {
        self.deadline.map(|_| self.late)
    }

    /// From the sending of a frame's first packet to the arrival of its last, of frames that were whole.
    #[must_use]
    pub fn delays(&self) -> &Quantiles {
        &self.delays
    }
}
