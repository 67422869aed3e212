//! `gate.x.police.srtcm` and `gate.x.police.trtcm`: three-colour markers.

use super::codepoints::DSCP;
use super::{
    BURST, Key, Kind, RATE, Section, WhenAbsent, Word, flag, key, quantity_or_zero, section, text, word,
};
use crate::units::Dim;

pub(super) const SRTCM: Section = section(
    "Single-rate three-colour marker",
    "A packet is green within the committed burst, yellow within the excess burst, and red beyond it (RFC 2697). Both \
     buckets are full at the start; tokens arrive at `cir`, and fill the committed bucket first. Bytes of IP packets \
     count, whatever the framing.",
    &[
        CIR,
        CBS,
        key(
            "ebs",
            SIZE_0,
            WhenAbsent::Required("\"100 kB\""),
            "Excess burst size: the depth of the second bucket, or a time or BDP at `cir`; with \"0 B\" no packet is yellow.",
        ),
        AWARE,
        GREEN,
        YELLOW,
        RED_KEY,
        CODEPOINTS_KEY,
    ],
);

pub(super) const TRTCM: Section = section(
    "Two-rate three-colour marker",
    "A packet above the peak rate is red, one above the committed rate yellow, any other green (RFC 2698). Both buckets \
     are full at the start. Bytes of IP packets count, whatever the framing.",
    &[
        CIR,
        CBS,
        key("pir", RATE, WhenAbsent::Required("\"30 Mbit/s\""), "Peak information rate, at least `cir`."),
        key(
            "pbs",
            BURST,
            WhenAbsent::Required("\"100 kB\""),
            "Peak burst size: the depth of the bucket of `pir`; or a time or BDP at `pir`.",
        ),
        AWARE,
        GREEN,
        YELLOW,
        RED_KEY,
        CODEPOINTS_KEY,
    ],
);

/// What becomes of packets of a colour.
const ACTIONS: &[Word] = &[
    word(
        "remark",
        "the packet goes on and carries the colour to later gates, with the codepoint that `dscp` says",
    ),
    word("pass", "the packet goes on with the colour that it came with"),
    word("drop", "the packet is dropped"),
];

const SIZE_0: Kind = quantity_or_zero(Dim::Burst);

const CIR: Key = key("cir", RATE, WhenAbsent::Required("\"10 Mbit/s\""), "Committed information rate.");

const CBS: Key = key(
    "cbs",
    BURST,
    WhenAbsent::Required("\"50 kB\""),
    "Committed burst size: the depth of the bucket of `cir`; or a time or BDP at `cir`.",
);

const AWARE: Key = key(
    "colour_aware",
    Kind::Flag,
    flag(false),
    "The colour that a packet got at an earlier gate counts: it may become worse, never better. What no gate has coloured \
     is green.",
);

const GREEN: Key = key("green", Kind::Choice(ACTIONS), text("remark"), "What becomes of green packets.");

const YELLOW: Key = key("yellow", Kind::Choice(ACTIONS), text("remark"), "What becomes of yellow packets.");

const RED_KEY: Key = key("red", Kind::Choice(ACTIONS), text("drop"), "What becomes of red packets.");

const CODEPOINTS_KEY: Key = key(
    "dscp",
    Kind::Form(&CODEPOINTS),
    WhenAbsent::Words("packets keep their codepoints"),
    CODEPOINTS.about,
);

const CODEPOINTS: Section = section(
    "Codepoints by colour",
    "The codepoint that a packet of a colour gets where it is remarked, by name or number, such as AF11, AF12 and AF13 \
     (RFC 2597 §2). Classes behind the marker tell packets apart by it; captures and, in live runs, the kernel's packets \
     carry it.",
    &[
        key("green", DSCP, KEPT, "Codepoint of green packets."),
        key("yellow", DSCP, KEPT, "Codepoint of yellow packets."),
        key("red", DSCP, KEPT, "Codepoint of red packets; they need `red = \"remark\"`."),
    ],
);

const KEPT: WhenAbsent = WhenAbsent::Words("they keep theirs");
