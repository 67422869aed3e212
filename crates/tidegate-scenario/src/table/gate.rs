//! `[gate.x]`.

use super::{
    Default, Key, Kind, Section, TIME_0, Word, flag, hints, key, quantity, quantity_or_zero, rate, section,
    short, text, word,
};
use crate::units::Dim;

pub(crate) const GATE: Section = section(
    "A gate",
    "One server with its queue. A gate with AAL5 framing is a cell gate: its rate, queue, loss and drops are of 53-byte \
     cells. A gate named by several flows, or in both lists of one flow, is one server that \
     they share.",
    &[
        key(
            "queue",
            Kind::Form(&QUEUE),
            text("unlimited"),
            "How much may wait. `queue = X` is short for `queue.limit = X`.",
        ),
        key(
            "rate",
            Kind::AnyOf(&[SPEED, Kind::Form(&rate::LAWS)]),
            text("unlimited"),
            "When a packet of a given size, started at a given time, has left: text for one rate for ever, or one of the laws below.",
        ),
        key(
            "on_change",
            Kind::Choice(&[
                word("keep", "it keeps the rate it started with"),
                word("rescale", "its remaining bits go at the new rate"),
            ]),
            Default::Words("\"keep\" for markov, dtm, follow and abr, \"rescale\" for steps and traces"),
            "What becomes of a packet in transmission when the rate changes.",
        ),
        key(
            "framing",
            Kind::AnyOf(&[
                Kind::Choice(&[
                    word("ip", "the IP packet's own bytes"),
                    word("aal5", "53-byte ATM cells: this is a cell gate"),
                ]),
                Kind::Form(&FRAMING),
            ]),
            text("ip"),
            "What a packet weighs on this gate's wire.",
        ),
        key(
            "loss",
            Kind::AnyOf(&[Kind::Probability, Kind::Form(&LOSS)]),
            Default::Words("no loss"),
            "Random loss after the rate law, drawn once for each packet: a probability such as 0.01 or \"1%\", or a law.",
        ),
        key("delay", TIME_0, text("0 s"), "Constant delay after service."),
        key(
            "jitter",
            JITTER,
            text("0 s"),
            "Random delay after service, on top of `delay`: a time, the longest of a uniform one, or a law. Packets keep \
             their order: none comes out before the one ahead of it. At a cell gate it is drawn for each cell.",
        ),
        key("host", Kind::Flag, flag(false), "Inside the sending machine: TCP hears each departure."),
        key(
            "per",
            Kind::Choice(&[word(
                "flow",
                "a private copy for each flow and background source, named gate/flow",
            )]),
            Default::Words("one server for all"),
            "Whether flows share the gate.",
        ),
        key(
            "duplex",
            Kind::Flag,
            flag(false),
            "One server per direction; a flow that names it in `back` gets the other one, named gate/back.",
        ),
        key("abr", Kind::Form(&SWITCH), Default::Words("tells nobody"), SWITCH.about),
        key("police", Kind::Form(&POLICE), Default::Words("no policer"), POLICE.about),
        key(
            "slotted",
            Kind::Flag,
            flag(false),
            "Cell gates: time is cut into slots of one cell from 0 on, and cells that came in the same slot join the \
             queue at its end in random order. Needs one rate for ever.",
        ),
        key(
            "reassembly",
            Kind::Choice(&[
                word(
                    "aal5",
                    "a lost last cell joins its packet to the circuit's next one, and both are lost",
                ),
                word("simple", "only the packet that lost a cell is lost"),
            ]),
            text("aal5"),
            "Cell gates: how packets are told apart where they are put together again, after the last cell gate in \
             a row on a path.",
        ),
    ],
);

const SWITCH: Section = section(
    "ABR switch",
    "This link measures its load and tells the sources that name it in `rate.abr`.",
    &[
        key("every", quantity(Dim::Time), text("5 ms"), "Averaging interval; the first begins at 0."),
        key(
            "utilisation",
            Kind::Share,
            text("90%"),
            "The part of the capacity that is aimed at, less what comes from elsewhere.",
        ),
        key(
            "tells",
            Kind::Choice(&[
                word("rate", "an explicit rate for each source, by ERICA"),
                word("bit", "congestion, where more comes than is aimed at"),
            ]),
            text("rate"),
            "What it writes into RM cells.",
        ),
    ],
);

pub(super) const SPEED: Kind =
    Kind::Quantity { dim: Dim::Speed, zero: true, words: &[word("unlimited", "everything passes at once")] };

pub(super) const JITTER: Kind = Kind::AnyOf(&[TIME_0, Kind::Form(&RANDOM_DELAY)]);

const RANDOM_DELAY: Section = super::one_of(
    "Random delay",
    "Drawn for each packet, from a random stream of its own.",
    &[
        key(
            "uniform",
            TIME_0,
            Default::Required("\"5 ms\""),
            "Anything from 0 to this, all alike: `jitter = X` is short for it.",
        ),
        key("exponential", TIME_0, Default::Required("\"1 ms\""), "Exponential with this mean."),
    ],
);

const UNLIMITED: &[Word] = &[word("unlimited", "no limit; the run reports how large it got")];

const QUEUE: Section = short(
    "limit",
    section(
        "Queue",
        "First in, first out; a packet, or a cell at a cell gate, that would pass the limit is dropped at the tail.",
        &[
            key(
                "limit",
                Kind::Quantity { dim: Dim::Queue, zero: true, words: UNLIMITED },
                text("unlimited"),
                "In packets, in bytes of IP packets, or \"unlimited\"; at a cell gate in cells. What begins service the \
                 moment it comes needs no place. With 0, all else is dropped: what comes while another is in service or \
                 the rate is 0, what lacks tokens at a token bucket, what does not conform at a GCRA shaper, \
                 what comes to a closed circuit. A trace of opportunities cannot have 0: there every packet waits.",
            ),
            key(
                "counts",
                Kind::Choice(&[
                    word("waiting", "only what waits"),
                    word("all", "the packet or cell in service too"),
                ]),
                text("waiting"),
                "What the limit and the statistics count.",
            ),
            key(
                "epd",
                quantity(Dim::Cells),
                Default::Words("no early packet discard"),
                "Early packet discard, at cell gates: a packet whose first cell finds this many cells in the queue loses \
                 all of them. The first cell is what comes after a last cell.",
            ),
            key(
                "ppd",
                Kind::Flag,
                flag(false),
                "Partial packet discard, at cell gates: of a packet that lost a cell here, by the policer or the queue, only \
                 the last one still enters.",
            ),
            key(
                "clp1",
                quantity_or_zero(Dim::Queue),
                Default::Words("no threshold"),
                "What a policer tagged is dropped when it finds this much in the queue: in packets, at a cell gate in cells. \
                 With 0, all of it is.",
            ),
        ],
    ),
);

const POLICE: Section = hints(POLICE_HINTS, POLICE_KEYS);

/// What others call these keys (Cisco, Linux tc), and what there is not.
const POLICE_HINTS: &[(&str, &str)] = &[
    ("bc", "write burst, or cbs: how much may come at once"),
    ("be", "beside pir write pbs; the excess burst of one rate (RFC 2697's EBS) is not here"),
    ("ebs", "there is no excess burst (RFC 2697's EBS): one rate has one burst; two rates are cir and pir"),
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
    "A token bucket without a queue: what does not conform to a contract is dropped, or tagged, before it meets anything \
     else of the gate (packet discard, thresholds, the queue's limit). It counts bytes on the wire, at a cell gate cells. \
     Three sets of names say the same; use one of them. One rate: `rate` and `burst`. As in RFC 2697 and RFC 2698: `cir` \
     and `cbs`, for a second rate also `pir` and `pbs`. As ATM has it (TM 4.0): `pcr` with `burst` or `cdvt`, for a \
     second rate also `scr` and `mbs`.",
    &[
        key("rate", quantity(Dim::Rate), Default::Words("cir or pcr has it"), "The contract's only rate."),
        key(
            "burst",
            quantity(Dim::Queue),
            Default::Words("needed for packets"),
            "The burst of `rate` or `pcr`: how much may come at once after a rest, in bytes, or in cells at a cell gate; a \
             larger packet never conforms.",
        ),
        key(
            "cir",
            quantity(Dim::Rate),
            Default::Words("no such name"),
            "Committed information rate (RFC 2697, RFC 2698): the only rate or, beside `pir`, the lower one.",
        ),
        key(
            "cbs",
            quantity(Dim::Queue),
            Default::Words("needed for cir"),
            "Committed burst size: the depth of the bucket of `cir`, in bytes, or in cells at a cell gate.",
        ),
        key(
            "pir",
            quantity(Dim::Rate),
            Default::Words("no second rate"),
            "Peak information rate (RFC 2698), not below `cir`: what is above it is dropped.",
        ),
        key(
            "pbs",
            quantity(Dim::Queue),
            Default::Words("needed for pir"),
            "Peak burst size: the depth of the bucket of `pir`, in bytes, or in cells at a cell gate.",
        ),
        key(
            "pcr",
            quantity(Dim::Rate),
            Default::Words("no such name"),
            "Peak cell rate: the only rate or, beside `scr`, the higher one.",
        ),
        key(
            "cdvt",
            TIME_0,
            text("0 s"),
            "At a cell gate, in place of a burst: how much earlier than at the peak rate a cell may come.",
        ),
        key(
            "scr",
            quantity(Dim::Rate),
            Default::Words("no second rate"),
            "Sustainable cell rate, below `pcr`.",
        ),
        key(
            "mbs",
            quantity(Dim::Queue),
            Default::Words("needed for scr"),
            "Maximum burst size: how much may come at the peak rate, in cells at a cell gate; elsewhere the depth of the bucket \
             of `scr`, in bytes.",
        ),
        key(
            "cdvt_scr",
            TIME_0,
            Default::Words("cdvt"),
            "At a cell gate: what is added to the burst tolerance (MBS - 1)(1/SCR - 1/PCR) of the sustained rate, as \
             ATM Forum TM 4.0 adds the cell delay variation tolerance.",
        ),
        key(
            "conformance",
            Kind::Choice(&[
                word("vbr1", "the sustained rate counts everything; what is above it is dropped"),
                word("vbr2", "it counts what is not tagged; what is above it is dropped"),
                word("vbr3", "it counts what is not tagged; what is above it is tagged"),
            ]),
            text("vbr1"),
            "With two rates: what the sustained one counts, and what becomes of what is above it.",
        ),
        key(
            "action",
            Kind::Choice(&[
                word("drop", "it does not go through"),
                word("tag", "it goes through, and is the first to be dropped: see queue.clp1"),
            ]),
            text("drop"),
            "With one rate: what becomes of what does not conform.",
        ),
    ],
);

const FRAMING: Section = section(
    "Framing",
    "A packet weighs max(IP bytes + overhead, minimum); or, with `aal5`, 53 bytes for each of its cells.",
    &[
        key(
            "overhead",
            quantity_or_zero(Dim::Size),
            text("0 B"),
            "Added to each packet: 38 B for Ethernet with preamble and gap.",
        ),
        key(
            "minimum",
            quantity_or_zero(Dim::Size),
            text("0 B"),
            "The least a packet takes, overhead included.",
        ),
        key("aal5", Kind::Form(&AAL5), Default::Words("not used"), AAL5.about),
    ],
);

const AAL5: Section = section(
    "AAL5",
    "Cells: a packet and a trailer of 8 bytes, padded to whole cells of 48 bytes, each 53 on the wire. \
     `framing = \"aal5\"` is the same without LLC/SNAP.",
    &[key("llc", Kind::Flag, flag(false), "Eight bytes of LLC/SNAP before each packet, as RFC 2684 has it.")],
);

const LOSS: Section = super::one_of(
    "Loss laws",
    "Loss with a memory.",
    &[key("gilbert_elliott", Kind::Form(&GILBERT), Default::Words("not used"), GILBERT.about)],
);

const GILBERT: Section = section(
    "Gilbert–Elliott",
    "Two states; the state moves after each packet.",
    &[
        required_probability("good_to_bad", "Probability to leave the good state after a packet."),
        required_probability("bad_to_good", "Probability to leave the bad state after a packet."),
        key("loss_good", Kind::Probability, text("0%"), "Loss probability in the good state."),
        key("loss_bad", Kind::Probability, text("100%"), "Loss probability in the bad state."),
    ],
);

const fn required_probability(name: &'static str, about: &'static str) -> Key {
    key(name, Kind::Probability, Default::Required("0.01"), about)
}
