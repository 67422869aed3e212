//! `traffic.x.source.media`.

use super::request::SIZES;
use super::{Key, Kind, NUMBER, SIZE, Section, TIME, TIME_0, WhenAbsent, key, section, text};

pub(crate) const MEDIA: Section = section(
    "Media frames",
    "Frames of a video or of sound at a constant rate. Each frame is sent in packets of RTP over UDP. Sound of \
     telephones is frame_rate = 50 and frame = \"160 B\": 64 kbit/s of media, one packet each 20 ms (RFC 3551 §4.2, \
     §4.5.14).",
    &[
        FRAME_RATE,
        key(
            "frame",
            SIZES,
            WhenAbsent::Required("\"5 kB\""),
            "Media bytes of a frame, without headers: a size, or one of the distributions below. At most 16 MB; \
             larger random sizes are cut to this.",
        ),
        key(
            "key_frames",
            Kind::Form(&KEY_FRAMES),
            WhenAbsent::Words("all frames are of one kind"),
            "Frames of another size that come regularly, such as I-frames.",
        ),
        key("packet", SIZE, text("1200 B"), "The largest IP packet, headers included."),
        key(
            "headers",
            SIZE,
            text("40 B"),
            "Headers of each packet: 20 B of IPv4 (RFC 791 §3.1), 8 B of UDP (RFC 768), 12 B of RTP (RFC 3550 §5.1).",
        ),
        key(
            "spread",
            TIME_0,
            text("0 s"),
            "Time over which the packets of a frame are sent evenly, at most the time between frames. With \"0 s\" \
             they are sent back to back.",
        ),
        key(
            "deadline",
            TIME,
            WhenAbsent::Words("no frame is late"),
            "A frame whose last packet arrives later than this after its first packet was sent counts as late.",
        ),
    ],
);

const FRAME_RATE: Key = key(
    "frame_rate",
    NUMBER,
    WhenAbsent::Required("30"),
    "Frames per second, with up to three decimals: 29.97.",
);

const KEY_FRAMES: Section = section(
    "Key frames",
    "The first frame and each `every`-th after it have a size of their own.",
    &[
        key(
            "every",
            Kind::Whole { min: 1, max: 1_000_000 },
            WhenAbsent::Required("300"),
            "Frames from one key frame to the next.",
        ),
        key(
            "size",
            SIZES,
            WhenAbsent::Required("\"40 kB\""),
            "Media bytes of a key frame, in the same way as `frame`.",
        ),
    ],
);
