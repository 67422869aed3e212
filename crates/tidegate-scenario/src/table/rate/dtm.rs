//! Keys of `gate.x.rate.dtm`: a channel whose slots follow the traffic.

use crate::table::{
    Kind, Literal, RATE, SLOTS, SLOTS_0, Section, TIME, WhenAbsent, key, section, text, word,
};

pub(super) const DTM: Section = section(
    "DTM channel",
    "A number of slots that follows the traffic. The gate estimates the rate of arriving traffic and changes its \
     allocation when the estimate leaves its bounds. The defaults are those of the paper that describes the method.",
    &[
        key("slot", RATE, text("512 kbit/s"), "Bit rate of one slot."),
        key("initial", RATE, text("10 Mbit/s"), "Rate before the first update."),
        key(
            "measure",
            TIME,
            text("100 ms"),
            "Interval over which the arrival rate is measured. Every arriving byte counts, in bytes on the wire, \
             even if its packet is dropped.",
        ),
        key(
            "update",
            TIME,
            text("1 s"),
            "The allocation changes only at multiples of this time, which must be a multiple of `measure`.",
        ),
        key(
            "shift_inc",
            SHIFT,
            WhenAbsent::Is(Literal::Whole(3)),
            "Smoothing when the estimate rises: each measurement adds 1/2^shift_inc of the difference. With 3, that \
             is one eighth.",
        ),
        key(
            "shift_dec",
            SHIFT,
            WhenAbsent::Is(Literal::Whole(3)),
            "Smoothing when the estimate falls, as `shift_inc`.",
        ),
        key(
            "margin",
            SLOTS_0,
            text("0.75 slots"),
            "The allocation is the estimate + `margin` + half of `corridor`.",
        ),
        key(
            "corridor",
            SLOTS_0,
            text("2 slots"),
            "Range within which the estimate may move before the allocation changes: from allocation - margin - \
             corridor to allocation - margin.",
        ),
        key(
            "rounding",
            Kind::Choice(&[
                word("exact", "the allocation is not rounded to slots"),
                word("up", "the allocation is rounded up to whole slots"),
            ]),
            text("exact"),
            "How an allocation is rounded to slots.",
        ),
        key(
            "on_loss",
            Kind::Choice(&[
                word("nothing", "drops have no effect"),
                word("hold tick", "a measurement interval with a drop does not lower the estimate"),
                word("hold second", "after a drop, no measurement lowers the estimate until the next update"),
                word(
                    "hold link",
                    "the estimate moves, but an update after a drop does not lower the allocation",
                ),
            ]),
            text("nothing"),
            "What a drop at the queue of the gate does to the estimate.",
        ),
        key("min", SLOTS, text("1 slot"), "Smallest allocation, in whole slots."),
        key("max", SLOTS, WhenAbsent::Words("no limit"), "Largest allocation, in whole slots."),
        key(
            "estimator",
            Kind::Choice(&[
                word("channel", "one estimate of all arriving traffic"),
                word(
                    "flow",
                    "one estimate for each flow, direction and background source; the channel follows their sum",
                ),
            ]),
            text("channel"),
            "Whose rate is estimated.",
        ),
        key(
            "pool",
            Kind::Text,
            WhenAbsent::Words("slots are unlimited"),
            "Name of the [pool] that the slots come from. The gate gets the slots that the other gates leave.",
        ),
    ],
);

const SHIFT: Kind = Kind::Whole { min: 0, max: tidegate_core::dtm::LARGEST_SHIFT as u64 };
