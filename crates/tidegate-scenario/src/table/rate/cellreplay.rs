//! Keys of `gate.x.rate.cellreplay`: a cellular link in two stages.

use crate::table::{Kind, SIZE, Section, TIME_0, WhenAbsent, key, section, text};

pub(super) const CELLREPLAY: Section = section(
    "CellReplay",
    "A cellular link as CellReplay records and plays it. A trace of a saturated link flatters short flows: after a pause a link \
     first has a base delay and a few opportunities. The light file holds these, and a packet takes the trace of the saturated \
     link, the heavy file, once its train has used them up. Both files begin with the run and repeat. The base delay adds to \
     the gate's delay.",
    &[
        key(
            "light",
            Kind::Text,
            WhenAbsent::Required("\"down-light\""),
            "Path of the light file, relative to the scenario file. On each line, in whole milliseconds: the time of a train of \
             packets, the delay of its first packet, and its opportunities, counted from that packet.",
        ),
        key(
            "heavy",
            Kind::Text,
            WhenAbsent::Required("\"down-heavy\""),
            "Path of the heavy file, relative to the scenario file: the time of one delivery opportunity on each line, in ms.",
        ),
        key("timer", TIME_0, text("0 s"), "The gap timer: a train goes on through a pause of this length."),
        key(
            "opportunity",
            SIZE,
            text("1400 B"),
            "Bytes of one delivery opportunity in both files. A larger packet spans several.",
        ),
    ],
);
