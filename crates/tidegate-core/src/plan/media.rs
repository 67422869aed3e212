//! What a media source sends: frames of a video or of sound, each in packets.

use super::SizePlan;
use crate::units::{PICOS_PER_SECOND, Span};

/// Media frames at a constant rate, each sent as packets of RTP over UDP.
#[derive(Clone, Debug, PartialEq)]
pub struct MediaPlan {
    /// Frames in 1000 seconds, so that 29.97 frames a second are a whole number; above zero.
    pub frames_per_1000_s: u64,
    /// Media bytes of a frame; larger draws are cut to [`LARGEST_MEDIA_FRAME`].
    pub frame: SizePlan,
    /// Frames of another size that come regularly, such as I-frames.
    pub key_frames: Option<KeyFramesPlan>,
    /// The largest IP packet in bytes, headers included.
    pub packet: u32,
    /// Bytes of headers in each packet, less than `packet`.
    pub headers: u32,
    /// Packets of a frame are sent evenly within this time: of n packets the j-th leaves j/n of it after the first,
    /// with j from 0. Not longer than the time between frames.
    pub spread: Span,
    /// A frame that is whole later than this after its first packet was sent is late; `None`: none is.
    pub deadline: Option<Span>,
}

/// Key frames: the first frame, and each `every`-th after it.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyFramesPlan {
    /// Frames from one key frame to the next, at least 1.
    pub every: u64,
    /// Media bytes of a key frame; larger draws are cut to [`LARGEST_MEDIA_FRAME`].
    pub size: SizePlan,
}

/// The most media bytes of a frame: 16 MB, an uncompressed image of five million pixels.
pub const LARGEST_MEDIA_FRAME: u64 = 16_000_000;

impl MediaPlan {
    /// Media bytes that a packet carries at most.
    #[must_use]
    pub fn payload(&self) -> u32 {
        self.packet.saturating_sub(self.headers).max(1)
    }

    /// IP bytes of the largest packet.
    #[must_use]
    pub fn largest_packet(&self) -> u32 {
        let key = self.key_frames.as_ref().map_or(0, |key| key.size.most());
        let most = self.frame.most().max(key).min(u64::from(self.payload()));
        self.headers + most as u32
    }

    /// Time between frames, to the picosecond below.
    #[must_use]
    pub fn interval(&self) -> Span {
        let picos = 1000 * u128::from(PICOS_PER_SECOND) / u128::from(self.frames_per_1000_s.max(1));
        Span::from_picos(u64::try_from(picos).unwrap_or(u64::MAX))
    }

    /// Mean media bytes of a frame before cuts, key frames included.
    #[must_use]
    pub fn mean_frame(&self) -> f64 {
        let mean = |law: &SizePlan| law.mean().unwrap_or(0.0).min(LARGEST_MEDIA_FRAME as f64);
        let frame = mean(&self.frame);
        let Some(key) = &self.key_frames else { return frame };
        frame + (mean(&key.size) - frame) / key.every as f64
    }

    /// Mean packets in a second, as if each frame had the mean size.
    #[must_use]
    pub fn packets_per_second(&self) -> f64 {
        let packets = libm::ceil(self.mean_frame() / f64::from(self.payload())).max(1.0);
        packets * self.frames_per_1000_s as f64 / 1000.0
    }

    /// Mean IP bytes in a second, headers included, as if each frame had the mean size.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        let media = self.mean_frame() * self.frames_per_1000_s as f64 / 1000.0;
        media + self.packets_per_second() * f64::from(self.headers)
    }
}
