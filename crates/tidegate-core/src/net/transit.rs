//! One-way delays and losses of a background source's packets, and the media frames that arrive whole, late or not at all.
//!
//! Everything here is of the packets that are sent inside the measured time, and of what becomes of them before its
//! end. The delay of a packet runs from the instant at which its source sends it to the end of its path: waits,
//! transmissions, delays and jitter of every gate there are part of it.

use std::collections::VecDeque;

use crate::gate::{Precision, Quantiles};
use crate::net::interarrival::InterarrivalJitter;
use crate::net::media_frames::MediaFrames;
use crate::units::{Measured, Span, Time};

/// The packets of one background source on their way, and the statistics of the others.
#[derive(Clone, Debug)]
pub struct Transit {
    /// Packets whose fate is not known, by number, and others between them.
    under_way: VecDeque<UnderWay>,
    /// The number of the first of them; numbers wrap.
    first: u32,
    measured: Measured,
    delays: Quantiles,
    jitter: InterarrivalJitter,
    lost: u64,
    frames: Option<MediaFrames>,
}

/// One packet.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    /// When it was sent; [`Time::NEVER`] once its fate is known.
    sent: Time,
    /// The number of its media frame.
    frame: u32,
}

impl Transit {
    /// Nothing sent yet. `media`: its packets are parts of media frames, which are late after so long, if at all.
    pub(super) fn new(measured: Measured, precision: Precision, media: Option<Option<Span>>) -> Transit {
        Transit {
            under_way: VecDeque::new(),
            first: 0,
            measured,
            delays: Quantiles::new(precision),
            jitter: InterarrivalJitter::default(),
            lost: 0,
            frames: media.map(|deadline| MediaFrames::new(measured, precision, deadline)),
        }
    }

    /// A packet is sent at `at`; it `begins` a media frame of so many packets, or is part of the last one. Answers with
    /// the number by which to speak of it later.
    pub(super) fn send(&mut self, at: Time, begins: Option<u32>) -> u32 {
        let frame = match (&mut self.frames, begins) {
            (Some(frames), Some(packets)) => frames.begin(at, packets),
            (Some(frames), None) => frames.last(),
            (None, _) => 0,
        };
        self.under_way.push_back(UnderWay { sent: at, frame });
        self.first.wrapping_add(self.under_way.len() as u32 - 1)
    }

    /// A packet came to the end of its path at `at`; packets come in the order of time.
    pub(super) fn arrive(&mut self, at: Time, number: u32) {
        if at >= self.measured.until {
            return;
        }
        let Some(packet) = self.take(number) else { return };
        if packet.sent >= self.measured.from {
            let delay = at.saturating_since(packet.sent);
            self.delays.record(delay);
            self.jitter.note(delay);
        }
        if let Some(frames) = &mut self.frames {
            frames.packet_arrives(at, packet.frame);
        }
    }

    /// A packet was dropped at `at`.
    pub(super) fn lose(&mut self, at: Time, number: u32) {
        if at >= self.measured.until {
            return;
        }
        let Some(packet) = self.take(number) else { return };
        self.lost += u64::from(packet.sent >= self.measured.from);
        if let Some(frames) = &mut self.frames {
            frames.packet_is_lost(packet.frame);
        }
    }

    /// Forgets a packet, and all at the front whose fate is known.
    fn take(&mut self, number: u32) -> Option<UnderWay> {
        let place = number.wrapping_sub(self.first) as usize;
        let packet = self.under_way.get_mut(place).filter(|packet| packet.sent != Time::NEVER)?;
        let taken = *packet;
        packet.sent = Time::NEVER;
        while self.under_way.front().is_some_and(|first| first.sent == Time::NEVER) {
            self.under_way.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        Some(taken)
    }

    /// One-way delays of the packets that arrived.
    #[must_use]
    pub fn delays(&self) -> &Quantiles {
        &self.delays
    }

    /// How the delays of successive packets differ.
    #[must_use]
    pub fn jitter(&self) -> &InterarrivalJitter {
        &self.jitter
    }

    /// Packets that were dropped.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Packets that neither arrived nor were dropped before the end of the measured time, whenever they were sent.
    #[cfg(test)]
    pub(super) fn unsettled(&self) -> usize {
        self.under_way.iter().filter(|packet| packet.sent != Time::NEVER).count()
    }

    /// The media frames; `None`: this source has none.
    #[must_use]
    pub fn frames(&self) -> Option<&MediaFrames> {
        self.frames.as_ref()
    }
}
