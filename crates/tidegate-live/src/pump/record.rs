//! What a run keeps: enough to tell every flow's story, and to run it again in virtual time.

use tidegate_core::net::Dropped;
use tidegate_core::units::Time;

use super::report::{Arrival, Departure};
use super::transfers::Word;

/// Arrivals, departures and drops of a run.
#[derive(Debug, Default)]
pub(super) struct Recording {
    pub(super) arrivals: Vec<Arrival>,
    pub(super) departures: Vec<Departure>,
    pub(super) drops: Vec<Dropped>,
    pub(super) words: Vec<Word>,
    pub(super) capture: Vec<u8>,
    pub(super) capture_bytes: u32,
}

impl Recording {
    pub(super) fn new(capture_bytes: u32) -> Recording {
        Recording { capture_bytes, ..Recording::default() }
    }

    /// Records what is reported to the network now, with the number of packets that have left it and wait to be
    /// written.
    pub(super) fn tell(&mut self, at: Time, flow: u32, begins: bool, leaving: usize) {
        let (arrivals, departures) = (self.arrivals.len() as u32, (self.departures.len() + leaving) as u32);
        self.words.push(Word { at, flow, begins, arrivals, departures });
    }

    /// Keeps an arrival and says its place.
    #[inline]
    pub(super) fn arrive(&mut self, arrival: Arrival, packet: &[u8]) -> u32 {
        let number = self.arrivals.len() as u32;
        self.arrivals.push(arrival);
        if self.capture_bytes > 0 {
            let end = self.capture.len() + self.capture_bytes as usize;
            let kept = packet.len().min(self.capture_bytes as usize);
            self.capture.extend_from_slice(&packet[..kept]);
            self.capture.resize(end, 0);
        }
        number
    }
}
