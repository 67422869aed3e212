//! Keys of `gate.x.rate.abr`: a source that RM cells tell its rate.

use crate::table::{
    Kind, Literal, RATE, Section, TIME, TIME_0, WhenAbsent, key, quantity_or_zero, section, text,
};
use crate::units::Dim;

pub(super) const ABR: Section = section(
    "ABR source",
    "A source of ATM's available bit rate service (Traffic Management 4.0). It sends an RM cell for every `nrm` \
     cells. A switch writes feedback into the RM cell, and the source adapts its rate when the cell returns. \
     Without `framing = \"aal5\"`, every 424 bits of packets count as a cell.",
    &[
        key(
            "gate",
            Kind::Text,
            WhenAbsent::Required("\"link\""),
            "Name of a gate with `abr`, on the path of each flow that passes here.",
        ),
        key(
            "pcr",
            RATE,
            WhenAbsent::Required("\"10 Mbit/s\""),
            "Peak cell rate: the highest rate, in bits on the wire.",
        ),
        key("mcr", quantity_or_zero(Dim::Rate), text("0 bit/s"), "Minimum cell rate: the lowest rate."),
        key(
            "icr",
            RATE,
            WhenAbsent::Words("pcr"),
            "Initial cell rate: the rate before the first RM cell returns.",
        ),
        key(
            "rif",
            Kind::Share,
            text("6.25%"),
            "Rate increase factor: the part of `pcr` that is added when an RM cell returns without congestion.",
        ),
        key(
            "rdf",
            Kind::Share,
            text("6.25%"),
            "Rate decrease factor: the part of the rate that is subtracted when an RM cell returns with congestion.",
        ),
        key(
            "nrm",
            Kind::Whole { min: 2, max: 256 },
            WhenAbsent::Is(Literal::Whole(32)),
            "Number of cells for each RM cell; for packets, as many bits as those cells have.",
        ),
        key(
            "trm",
            TIME,
            text("100 ms"),
            "Longest time between RM cells, even if fewer than `nrm` cells were sent.",
        ),
        key(
            "lag",
            TIME_0,
            WhenAbsent::Words("the round trip of the flow here: the delays of its gates and of its way back"),
            "Time from the departure of an RM cell to its return.",
        ),
    ],
);
