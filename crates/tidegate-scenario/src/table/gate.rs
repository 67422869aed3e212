//! `[gate.x]`.

use super::advice::ADVICE;
use super::aqm::{AQM, AQM_WORDS};
use super::classes::{CLASSES, LIMIT, SCHEDULER, TAS};
use super::jitter::JITTER;
use super::police::POLICE;
use super::{
    Key, Kind, Section, TIME_0, WhenAbsent, flag, key, quantity, quantity_or_zero, rate, section, short,
    text, word,
};
use crate::units::Dim;

pub(crate) const GATE: Section = section(
    "A gate",
    "One hop between two TCP endpoints: a queue, a rate, framing overhead, random loss and a fixed delay. Flows \
     that list the same gate share it; so do the two directions of one flow. A gate with AAL5 framing is a cell \
     gate: its rate, queue, loss and drops count 53-byte cells.",
    &[
        key(
            "queue",
            Kind::Form(&QUEUE),
            text("unlimited"),
            "The length of the queue. `queue = X` is short for `queue.limit = X`.",
        ),
        key(
            "rate",
            Kind::AnyOf(&[SPEED, Kind::Form(&rate::LAWS)]),
            text("unlimited"),
            "Transmission rate of the gate: a constant such as \"10 Mbit/s\", or one of the rate laws below. A gate \
             without a rate adds no transmission time.",
        ),
        key(
            "on_change",
            Kind::Choice(&[
                word("keep", "the packet keeps the rate at which its transmission began"),
                word("rescale", "its remaining bits are sent at the new rate"),
            ]),
            WhenAbsent::Words("\"keep\" for markov, dtm, follow and abr, \"rescale\" for steps and traces"),
            "What happens to a packet in transmission when the rate changes.",
        ),
        key(
            "framing",
            Kind::AnyOf(&[
                Kind::Choice(&[
                    word("ip", "the bytes of the IP packet, no overhead"),
                    word("aal5", "53-byte ATM cells: this is a cell gate"),
                ]),
                Kind::Form(&FRAMING),
            ]),
            text("ip"),
            "How many bytes a packet takes on the wire of this gate.",
        ),
        key(
            "loss",
            Kind::AnyOf(&[Kind::Probability, Kind::Form(&LOSS)]),
            WhenAbsent::Words("no loss"),
            "Random loss after transmission, drawn for each packet (at a cell gate for each cell): a probability \
             such as 0.01 or \"1%\", or one of the laws below. One of them counts instead.",
        ),
        key("delay", TIME_0, text("0 s"), "Constant propagation delay after transmission."),
        key(
            "jitter",
            JITTER,
            text("0 s"),
            "Random delay after transmission, in addition to `delay`. A time is the longest delay of a uniform \
             distribution; the laws below give others. Packets keep their order: none leaves before the one ahead \
             of it. At a cell gate the delay is drawn for each cell.",
        ),
        key(
            "host",
            Kind::Flag,
            flag(false),
            "true: the gate is inside the sending host, and TCP is told when each \
            segment leaves it.",
        ),
        key(
            "per",
            Kind::Choice(&[word(
                "flow",
                "each flow and each background source has a copy of its own, named gate/flow",
            )]),
            WhenAbsent::Words("all flows share the gate"),
            "Whether flows share the gate or each has a copy of it.",
        ),
        key(
            "duplex",
            Kind::Flag,
            flag(false),
            "true: the gate has a separate queue and rate for each direction. A flow that lists it in `back` uses \
             the second one, named gate/back.",
        ),
        key("abr", Kind::Form(&SWITCH), WhenAbsent::Words("no ABR switch"), SWITCH.about),
        key("police", Kind::Form(&POLICE), WhenAbsent::Words("no policer"), POLICE.about),
        key("advice", Kind::Form(&ADVICE), WhenAbsent::Words("no advice"), ADVICE.about),
        CLASSES,
        SCHEDULER,
        key("tas", Kind::Form(&TAS), WhenAbsent::Words("no time-aware gates"), TAS.about),
        key(
            "slotted",
            Kind::Flag,
            flag(false),
            "Cell gates only. Time is divided into slots of one cell, starting at 0. Cells that arrive during a \
             slot join the queue at its end, in random order. Needs a constant rate.",
        ),
        key(
            "reassembly",
            Kind::Choice(&[
                word(
                    "aal5",
                    "if the last cell of a packet is lost, the packet merges with the next one of its circuit, and \
                     both are lost",
                ),
                word("simple", "a lost cell destroys only its own packet"),
            ]),
            text("aal5"),
            "Cell gates only. Which packets a lost cell destroys. Packets are reassembled after the last of several \
             cell gates in a row on a path.",
        ),
    ],
);

const SWITCH: Section = section(
    "ABR switch",
    "This gate measures its load and signals it to the sources that name it in `rate.abr`.",
    &[
        key(
            "every",
            quantity(Dim::Time),
            text("5 ms"),
            "Interval over which the load is measured; the first begins \
            at 0.",
        ),
        key(
            "utilisation",
            Kind::Share,
            text("90%"),
            "Target utilisation: the sources share this part of the capacity, minus the load of other traffic.",
        ),
        key(
            "tells",
            Kind::Choice(&[
                word("rate", "an explicit rate for each source, computed by ERICA"),
                word("bit", "the congestion bit, set while the load is above the target"),
            ]),
            text("rate"),
            "What the switch writes into RM cells.",
        ),
    ],
);

pub(super) const SPEED: Kind =
    Kind::Quantity { dim: Dim::Speed, zero: true, words: &[word("unlimited", "no transmission time")] };

const QUEUE: Section = short(
    "limit",
    section(
        "Queue",
        "First in, first out, drop-tail: a packet that does not fit is dropped. At a cell gate this holds for cells.",
        &[
            key(
                "limit",
                LIMIT,
                text("unlimited"),
                "In packets, in bytes of IP packets, or \"unlimited\"; at a cell gate in cells. A time such as \
                 \"100 ms\" is what the gate sends in it at its rate; \"1 BDP\" is what it sends in the longest \
                 round trip, without queueing, of the flows that pass it. A rate that varies counts with its mean; \
                 `check --explain` says what it came to. A packet whose \
                 transmission begins when it arrives takes no place in the queue. With a limit of 0, every packet \
                 that would have to wait is dropped. That is one that arrives during a transmission or while the rate is 0, \
                 one for which a token bucket lacks tokens, a cell that a GCRA shaper would delay, one that finds \
                 its circuit closed. With a trace of delivery opportunities every packet waits, so the limit cannot \
                 be 0.",
            ),
            key(
                "counts",
                Kind::Choice(&[
                    word("waiting", "only packets that wait"),
                    word("all", "packets that wait, and the packet or cell in transmission"),
                ]),
                text("waiting"),
                "What the limit and the queue statistics count. The limits of fq_codel, of cake and of classes count only \
                 packets that wait, as in Linux.",
            ),
            key(
                "epd",
                quantity(Dim::Cells),
                WhenAbsent::Words("no early packet discard"),
                "Early packet discard, cell gates only: if this many cells are queued when the first cell of a \
                 packet arrives, the whole packet is dropped. The first cell is the one that follows a last cell.",
            ),
            key(
                "ppd",
                Kind::Flag,
                flag(false),
                "Partial packet discard, cell gates only: once the policer or the queue has dropped a cell of a \
                 packet, its remaining cells are dropped too, except the last, which marks the packet boundary.",
            ),
            key(
                "clp1",
                quantity_or_zero(Dim::Queue),
                WhenAbsent::Words("no threshold"),
                "Threshold for packets that a policer tagged: they are dropped if this much is queued when they \
                 arrive. In packets; at a cell gate in cells. With 0 they are always dropped.",
            ),
            key(
                "colour_limits",
                Kind::Form(&COLOUR_LIMITS),
                WhenAbsent::Words("no limits by colour"),
                COLOUR_LIMITS.about,
            ),
            key(
                "aqm",
                Kind::AnyOf(&[Kind::Choice(AQM_WORDS), Kind::Form(&AQM)]),
                text("none"),
                "Active queue management: which packets are marked CE, or dropped if their transport does not use ECN \
                 (`tcp.ecn`), before the queue is full. Not at cell gates; `cake` not in a class.",
            ),
        ],
    ),
);

const FRAMING: Section = section(
    "Framing",
    "Bytes of a packet on the wire: max(IP bytes + overhead, minimum); with `aal5`, 53 bytes for each of its cells.",
    &[
        key(
            "overhead",
            quantity_or_zero(Dim::Size),
            text("0 B"),
            "Bytes added to each packet; 38 B for Ethernet with preamble and gap.",
        ),
        key(
            "minimum",
            quantity_or_zero(Dim::Size),
            text("0 B"),
            "The smallest size of a packet on the wire, overhead included.",
        ),
        key("aal5", Kind::Form(&AAL5), WhenAbsent::Words("not used"), AAL5.about),
    ],
);

const AAL5: Section = section(
    "AAL5",
    "ATM cells: a packet and a trailer of 8 bytes are padded to whole cells of 48 bytes; each cell is 53 bytes on \
     the wire. `framing = \"aal5\"` is the same without LLC/SNAP.",
    &[key("llc", Kind::Flag, flag(false), "Adds 8 bytes of LLC/SNAP before each packet (RFC 2684).")],
);

const LOSS: Section = super::one_of(
    "Loss laws",
    "Losses that depend on earlier losses.",
    &[
        key("gilbert_elliott", Kind::Form(&GILBERT), WhenAbsent::Words("not used"), GILBERT.about),
        key(
            "every",
            Kind::Whole { min: 1, max: i64::MAX as u64 },
            WhenAbsent::Words("not used"),
            "No chance: with 1000, the 1000th packet is lost, the 2000th, and so on. The gate counts all packets of \
             all flows, SYNs, retransmissions and ACKs included; a cell gate counts cells.",
        ),
    ],
);

const GILBERT: Section = section(
    "Gilbert–Elliott",
    "A loss model with two states, good and bad; the state may change after each packet.",
    &[
        required_probability("good_to_bad", "Probability to leave the good state after a packet."),
        required_probability("bad_to_good", "Probability to leave the bad state after a packet."),
        key("loss_good", Kind::Probability, text("0%"), "Loss probability in the good state."),
        key("loss_bad", Kind::Probability, text("100%"), "Loss probability in the bad state."),
    ],
);

const fn required_probability(name: &'static str, about: &'static str) -> Key {
    key(name, Kind::Probability, WhenAbsent::Required("0.01"), about)
}

const COLOUR_LIMITS: Section = section(
    "Limits by colour",
    "A packet that a three-colour marker (`police.srtcm`, `police.trtcm`) gave this colour is dropped if so much waits \
     when it arrives, in packets or in bytes of IP packets with its own. What no gate has coloured is green.",
    &[
        key(
            "green",
            quantity_or_zero(Dim::Queue),
            WhenAbsent::Words("no limit of its own"),
            "For green packets.",
        ),
        key(
            "yellow",
            quantity_or_zero(Dim::Queue),
            WhenAbsent::Words("no limit of its own"),
            "For yellow packets.",
        ),
        key(
            "red",
            quantity_or_zero(Dim::Queue),
            WhenAbsent::Words("no limit of its own"),
            "For red packets.",
        ),
    ],
);
