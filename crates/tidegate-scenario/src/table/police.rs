//! `gate.x.police`.

use super::marker::{SRTCM, TRTCM};
use crate::table::{Kind, Section, TIME_0, WhenAbsent, hints, key, quantity, section, text, word};
use crate::units::Dim;

pub(super) const POLICE: Section = hints(POLICE_HINTS, POLICE_KEYS);

/// What others call these keys (Cisco, Linux tc), and what there is not.
const POLICE_HINTS: &[(&str, &str)] = &[
    ("bc", "write burst, or cbs: how much may arrive at once"),
    (
        "be",
        "beside pir write pbs; the excess burst of one rate is in srtcm = { cir = ..., cbs = ..., ebs = ... }",
    ),
    ("ebs", "the excess burst is in srtcm = { cir = ..., cbs = ..., ebs = ... }"),
    ("peak", "write pir and pbs beside cir and cbs"),
    ("peakrate", "write pir and pbs beside cir and cbs"),
    ("bps", "write rate, such as rate = \"10 Mbit/s\""),
    ("bucket", "write burst: how much may come at once"),
    ("buffer", "write burst: how much may come at once"),
    ("limit", "write rate and burst; a policer has no queue"),
    ("exceed", "write action = \"drop\" or \"tag\""),
    ("violate", "write action = \"drop\" or \"tag\""),
    ("conform", "what conforms always passes; write action for the rest"),
];

const POLICE_KEYS: Section = section(
    "Policer",
    "A token bucket without a queue. A packet that does not conform to the contract is dropped or tagged before the \
     gate does anything else with it. The policer counts bytes on the wire; at a cell gate it counts cells. There \
     are three sets of names; use one of them. For one rate: `rate` and `burst`. The names of RFC 2697 and RFC \
     2698: `cir` and `cbs`, with `pir` and `pbs` for a second rate. The names of ATM (TM 4.0): `pcr` with `burst` \
     or `cdvt`, with `scr` and `mbs` for a second rate. Or, without any other key, a three-colour marker: `srtcm` or \
     `trtcm`.",
    &[
        key(
            "rate",
            quantity(Dim::Rate),
            WhenAbsent::Words("given by cir or pcr"),
            "The rate of a contract with one \
            rate.",
        ),
        key(
            "burst",
            quantity(Dim::Queue),
            WhenAbsent::Words("needed for packets"),
            "Depth of the bucket of `rate` or `pcr`: how much may arrive at once after a pause. In bytes; at a cell \
             gate in cells; or a time or BDP at that rate. A packet larger than this never conforms.",
        ),
        key(
            "cir",
            quantity(Dim::Rate),
            WhenAbsent::Words("not used"),
            "Committed information rate (RFC 2697, RFC 2698): the only rate or, beside `pir`, the lower one.",
        ),
        key(
            "cbs",
            quantity(Dim::Queue),
            WhenAbsent::Words("needed for cir"),
            "Committed burst size: the depth of the bucket of `cir`, in bytes, or in cells at a cell gate; or a time or BDP at \
             `cir`.",
        ),
        key(
            "pir",
            quantity(Dim::Rate),
            WhenAbsent::Words("no second rate"),
            "Peak information rate (RFC 2698), at least `cir`. Traffic above it is dropped.",
        ),
        key(
            "pbs",
            quantity(Dim::Queue),
            WhenAbsent::Words("needed for pir"),
            "Peak burst size: the depth of the bucket of `pir`, in bytes, or in cells at a cell gate; or a time or BDP at `pir`.",
        ),
        key(
            "pcr",
            quantity(Dim::Rate),
            WhenAbsent::Words("not used"),
            "Peak cell rate: the only rate or, beside `scr`, the higher one.",
        ),
        key(
            "cdvt",
            TIME_0,
            text("0 s"),
            "Cell delay variation tolerance, in place of `burst` at a cell gate: how much earlier than at the peak \
             rate a cell may arrive.",
        ),
        key(
            "scr",
            quantity(Dim::Rate),
            WhenAbsent::Words("no second rate"),
            "Sustainable cell rate, below `pcr`.",
        ),
        key(
            "mbs",
            quantity(Dim::Queue),
            WhenAbsent::Words("needed for scr"),
            "Maximum burst size. At a cell gate: how many cells may arrive at the peak rate. Elsewhere: the depth \
             of the bucket of `scr`, in bytes, or a time or BDP at `scr`.",
        ),
        key(
            "cdvt_scr",
            TIME_0,
            WhenAbsent::Words("cdvt"),
            "At a cell gate: a time added to the burst tolerance (MBS - 1)(1/SCR - 1/PCR) of the sustained rate, as \
             in ATM Forum TM 4.0.",
        ),
        key(
            "conformance",
            Kind::Choice(&[
                word("vbr1", "the sustained rate counts all traffic; traffic above it is dropped"),
                word(
                    "vbr2",
                    "the sustained rate counts untagged traffic only; untagged traffic above it is dropped",
                ),
                word(
                    "vbr3",
                    "the sustained rate counts untagged traffic only; untagged traffic above it is tagged",
                ),
            ]),
            text("vbr1"),
            "With two rates: which traffic the sustained rate counts, and what happens to traffic above it.",
        ),
        key(
            "action",
            Kind::Choice(&[
                word("drop", "the packet is dropped"),
                word(
                    "tag",
                    "the packet passes with a mark and is dropped first in a long queue: see queue.clp1",
                ),
            ]),
            text("drop"),
            "With one rate: what happens to a packet that does not conform.",
        ),
        key("per_flow", Kind::Form(&PER_FLOW), WhenAbsent::Words("no limit of each flow"), PER_FLOW.about),
        key("srtcm", Kind::Form(&SRTCM), WhenAbsent::Words("not used"), SRTCM.about),
        key("trtcm", Kind::Form(&TRTCM), WhenAbsent::Words("not used"), TRTCM.about),
    ],
);

const PER_FLOW: Section = section(
    "Policer of each flow",
    "Each flow has a limit of its own inside the contract (hierarchical policing): a packet conforms where both let it, \
     and takes its tokens from both or from none. A flow is what takes one path in one direction, and a background \
     source.",
    &[
        key("rate", quantity(Dim::Rate), WhenAbsent::Required("\"2 Mbit/s\""), "The rate of each flow."),
        key(
            "burst",
            quantity(Dim::Queue),
            WhenAbsent::Required("\"15 kB\""),
            "Depth of the bucket of each flow: in bytes, or in cells at a cell gate; or a time or BDP at its rate.",
        ),
    ],
);
