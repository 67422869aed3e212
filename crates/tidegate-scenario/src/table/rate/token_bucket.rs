//! Keys of `gate.x.rate.token_bucket`.

use crate::table::{BURST, RATE, Section, WhenAbsent, alias, aliases, hints, key, quantity_or_zero, section};
use crate::units::Dim;

pub(super) const TOKEN_BUCKET: Section = aliases(
    &[
        alias("cir", "rate", "Another name of `rate`: the committed information rate (RFC 2697)."),
        alias("cbs", "burst", "Another name of `burst`: the committed burst size (RFC 2697)."),
        alias("pir", "peak", "Another name of `peak`."),
        alias("pbs", "peak_burst", "Another name of `peak_burst`: the peak burst size (RFC 2698)."),
    ],
    hints(BUCKET_HINTS, TOKEN_BUCKET_KEYS),
);

/// What others call these keys (Cisco, Linux tc-tbf), and what there is not.
const BUCKET_HINTS: &[(&str, &str)] = &[
    ("bc", "write burst, or cbs: the depth of the bucket"),
    ("buffer", "write burst: how much may leave at once"),
    ("peakrate", "write peak"),
    ("ceil", "write peak"),
    ("mtu", "write peak_burst: how much may leave at once at the peak rate"),
    ("minburst", "write peak_burst: how much may leave at once at the peak rate"),
    ("limit", "what waits for tokens is the gate's queue: write queue = \"100 packets\" beside rate"),
    ("latency", "what waits for tokens is the gate's queue: write queue = \"100 packets\" beside rate"),
];

const TOKEN_BUCKET_KEYS: Section = section(
    "Token bucket",
    "A token-bucket shaper. Tokens arrive at `rate` until the bucket holds `burst`; a packet waits in the queue of \
     the gate until the bucket has enough tokens for it.",
    &[
        key("rate", RATE, WhenAbsent::Required("\"10 Mbit/s\""), "Long-term rate, in bits on the wire."),
        key(
            "burst",
            BURST,
            WhenAbsent::Required("\"15 kB\""),
            "Depth of the bucket, in bytes on the wire; or a time or BDP at `rate`.",
        ),
        key(
            "initial",
            quantity_or_zero(Dim::Burst),
            WhenAbsent::Words("the bucket is full"),
            "What the bucket holds at the start, in bytes on the wire or by a time or BDP at `rate`, such as \"0 B\" for a \
             machine without credits.",
        ),
        key(
            "peak",
            RATE,
            WhenAbsent::Words("unlimited: a packet with enough tokens leaves at once"),
            "Rate at which a packet is transmitted; with `peak_burst`, the rate of a second bucket.",
        ),
        key(
            "peak_burst",
            BURST,
            WhenAbsent::Words("no second bucket"),
            "Depth of a second bucket, which `peak` fills, in bytes on the wire or by a time or BDP at `peak`. A packet \
             waits until its tokens are in both buckets, and leaves at once (a dual-rate shaper: sustained and peak \
             rate).",
        ),
    ],
);
