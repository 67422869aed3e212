//! `gate.x.queue.aqm.red`: random early detection.

use super::{
    Key, Kind, RATE, SIZE, Section, TIME, WhenAbsent, flag, key, quantity_or_zero, section, text, word,
};
use crate::units::Dim;

pub(super) const RED: Section = section(
    "RED",
    "Random early detection (Floyd and Jacobson 1993): a packet that arrives is marked or dropped with a probability \
     that rises with the average length of the queue, from 0 at `min` to `max_p` at `max`. In any case where the queue \
     has been longer than that on average.",
    &[
        key(
            "min",
            THRESHOLD,
            WhenAbsent::Words("a third of max, or \"5 packets\""),
            "Nothing is marked or dropped below this average (min_th). In packets, in bytes of IP packets, or the time \
             that as many bytes take, which needs a constant rate in bit/s.",
        ),
        key(
            "max",
            THRESHOLD,
            WhenAbsent::Words("3 times min"),
            "Everything is marked or dropped above this average or, if `gentle`, above twice as much (max_th). In the \
             unit of `min`.",
        ),
        key("max_p", Kind::Probability, text("10%"), "The probability near `max`."),
        key(
            "wq",
            Kind::AnyOf(&[
                Kind::Choice(&[word(
                    "auto",
                    "1 - exp(-1/C), where C is how many packets of `mean_packet` a second takes (Floyd, Gummadi, \
                     Shenker 2001)",
                )]),
                Kind::Share,
            ]),
            WhenAbsent::Words("0.002"),
            "What one arrival counts in the average, to 9 decimals (w_q).",
        ),
        key(
            "mean_packet",
            SIZE,
            text("500 B"),
            "While nothing is sent, the average falls as if packets of this size had found the queue empty, one after \
             the other (s in the paper).",
        ),
        key(
            "bandwidth",
            RATE,
            WhenAbsent::Words("the gate's mean rate"),
            "How fast such packets would have gone.",
        ),
        key(
            "by_size",
            Kind::Flag,
            flag(false),
            "The probability is in proportion to the size of the packet, and as above for `mean_packet`; RFC 7141 §2.2 \
             advises against it.",
        ),
        key(
            "gentle",
            Kind::Flag,
            flag(true),
            "From `max` to twice as much the probability rises from `max_p` to 1 (Floyd 2000).",
        ),
        key(
            "wait",
            Kind::Flag,
            flag(false),
            "With a probability of p, from 1/p to 2/p packets lie between two that are marked or dropped, as in ns-2, \
             instead of 1 to 1/p.",
        ),
        key(
            "hard_drop",
            Kind::Flag,
            flag(true),
            "Above the highest threshold ECN-capable packets are dropped too (RFC 3168 §7).",
        ),
        key(
            "adaptive",
            Kind::Flag,
            flag(false),
            "`max_p` follows the average: it rises or falls every `update` until the average is in the middle between \
             `min` and `max` (Floyd, Gummadi, Shenker 2001).",
        ),
        key("update", TIME, text("500 ms"), "With `adaptive`: from one step to the next; 100 us at least."),
        key(
            "increase",
            Kind::Probability,
            text("1%"),
            "With `adaptive`: what is added to `max_p` above the target, but never more than a quarter of it.",
        ),
        key(
            "decrease",
            Kind::Share,
            text("90%"),
            "With `adaptive`: what is left of `max_p` below the target.",
        ),
        key(
            "max_p_least",
            Kind::Probability,
            text("1%"),
            "With `adaptive`: below this `max_p` falls no more.",
        ),
        key(
            "max_p_most",
            Kind::Probability,
            text("50%"),
            "With `adaptive`: above this `max_p` rises no more.",
        ),
        TARGET_LOW,
        key(
            "target_high",
            Kind::Probability,
            text("60%"),
            "With `adaptive`: where the target ends on the way from `min` to `max`.",
        ),
        key(
            "green",
            Kind::Form(&COLOUR),
            WhenAbsent::Words("min, max and max_p as above"),
            "Thresholds of green packets (weighted RED): every colour looks at the average of the whole queue.",
        ),
        key(
            "yellow",
            Kind::Form(&COLOUR),
            WhenAbsent::Words("min, max and max_p as above"),
            "Thresholds of packets that a marker made yellow (`police.srtcm`, `police.trtcm`).",
        ),
        key(
            "red",
            Kind::Form(&COLOUR),
            WhenAbsent::Words("min, max and max_p as above"),
            "Thresholds of packets that a marker made red.",
        ),
    ],
);

const COLOUR: Section = section(
    "RED of a colour",
    "Where the probability of packets of one colour rises.",
    &[
        key("min", THRESHOLD, WhenAbsent::Required("\"5 packets\""), "As `min` above, in the same unit."),
        key("max", THRESHOLD, WhenAbsent::Required("\"10 packets\""), "As `max` above, in the same unit."),
        key("max_p", Kind::Probability, WhenAbsent::Words("max_p as above"), "The probability near `max`."),
    ],
);

const TARGET_LOW: Key = key(
    "target_low",
    Kind::Probability,
    text("40%"),
    "With `adaptive`: where the target begins on the way from `min` to `max`.",
);

const THRESHOLD: Kind = quantity_or_zero(Dim::Queue);
