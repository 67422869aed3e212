//! Media frames, one packet after the other.

use super::instants::Instants;
use super::size::draw_size;
use crate::plan::{LARGEST_MEDIA_FRAME, MediaPlan};
use crate::random::Stream;
use crate::units::{PICOS_PER_SECOND, Span, Time};

/// The packets of a media source. Frame n begins ⌊n · 10¹⁵ / frames in 1000 s⌋ ps after the first one.
#[derive(Debug)]
pub(super) struct Media {
    plan: MediaPlan,
    frames: Instants,
    /// When the present frame began.
    began: Time,
    /// Its number.
    number: u64,
    /// Its packets.
    packets: u32,
    /// Those of them that have been sent.
    sent: u32,
    /// Its media bytes that have not been sent.
    left: u32,
}

impl Media {
    pub(super) fn new(plan: &MediaPlan, start: Time, rng: &mut Stream) -> Media {
        let work = 1000 * u128::from(PICOS_PER_SECOND);
        let mut media = Media {
            frames: Instants::of(work, plan.frames_per_1000_s),
            plan: plan.clone(),
            began: start,
            number: 0,
            packets: 0,
            sent: 0,
            left: 0,
        };
        media.begin_frame(rng);
        media
    }

    /// IP bytes of the next packet and, where it is the first of a frame, how many packets that has.
    pub(super) fn take(&mut self) -> (u32, Option<u32>) {
        let begun = (self.sent == 0).then_some(self.packets);
        let payload = self.left.min(self.plan.payload());
        self.left -= payload;
        self.sent += 1;
        (payload + self.plan.headers, begun)
    }

    /// When the packet after the one that was taken last is sent.
    pub(super) fn next_at(&mut self, rng: &mut Stream) -> Time {
        if self.sent == self.packets {
            self.began = self.began.saturating_add(self.frames.step());
            self.number += 1;
            self.begin_frame(rng);
        }
        let share = u128::from(self.plan.spread.picos()) * u128::from(self.sent) / u128::from(self.packets);
        self.began.saturating_add(Span::from_picos(share as u64))
    }

    fn begin_frame(&mut self, rng: &mut Stream) {
        let law = match &self.plan.key_frames {
            Some(key) if self.number.is_multiple_of(key.every.max(1)) => &key.size,
            _ => &self.plan.frame,
        };
        self.left = draw_size(law, rng).min(LARGEST_MEDIA_FRAME) as u32;
        self.packets = self.left.div_ceil(self.plan.payload());
        self.sent = 0;
    }
}
