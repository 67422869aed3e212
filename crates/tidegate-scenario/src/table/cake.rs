//! `gate.x.queue.aqm.cake`.

use super::{
    Kind, Literal, RATE, SIZE, Section, TIME, WhenAbsent, flag, key, later, quantity_or_zero, section, text,
    word,
};
use crate::units::Dim;

pub(super) const CAKE: Section = section(
    "CAKE",
    "Flow queues with a shaper, fairness among hosts and tins for codepoints (Høiland-Jørgensen, Täht and Morton 2018; \
     `tc-cake`). Each flow has a queue of its own under COBALT (CoDel, and BLUE for flows that do not react); the queues of a \
     tin take turns by bytes, and one that has just begun goes first. A flow is what takes one path in one direction, and a \
     background source. Tins are classes of the gate in the summary and in tables.",
    &[
        key(
            "bandwidth",
            RATE,
            WhenAbsent::Words("no shaper: the gate's own rate serves, and tins take turns"),
            "Rate of the shaper, which counts what `overhead`, `mpu` and `compensation` say. A little less than the rate of \
             the link further on keeps the queue here.",
        ),
        key(
            "overhead",
            Kind::Signed { min: -64, max: 256 },
            WhenAbsent::Words(
                "0; without `overhead`, `mpu` and `compensation`, bytes on the gate's own wire count",
            ),
            "Bytes that the link further on adds to each IP packet; below zero it takes some away.",
        ),
        key(
            "mpu",
            quantity_or_zero(Dim::Size),
            WhenAbsent::Words("0 B"),
            "The least that a packet counts, `overhead` included and `compensation` not; 256 B at most.",
        ),
        key(
            "compensation",
            Kind::Choice(&[
                word("none", "bytes are bytes"),
                word("atm", "cells of 53 B that carry 48 B each"),
                word("ptm", "a byte more for each 64 B, or part of them"),
            ]),
            text("none"),
            "What the link further on does to the bytes.",
        ),
        key(
            "diffserv",
            Kind::Choice(&[
                word("besteffort", "one tin"),
                word("diffserv3", "three: bulk (LE, CS1), voice (VA, EF, CS6, CS7) and the rest"),
                word(
                    "diffserv4",
                    "four: as before, with CS4 and CS5 in voice, and video (CS2, CS3, AF2x, AF3x, AF4x)",
                ),
                word("diffserv8", "eight"),
            ]),
            text("diffserv3"),
            "Tins by the codepoints of flows (`flow.x.dscp`). Under a shaper the tin for bulk goes first up to 1/16 of \
             `bandwidth`, that for voice up to 1/4, that for video up to 1/2; beyond it, what is left is for everybody.",
        ),
        key(
            "isolation",
            Kind::Choice(&[
                word("flows", "flows share alike"),
                word("srchost", "hosts that packets come from; those of one wait in one queue"),
                word("dsthost", "hosts that packets go to, likewise"),
                word("hosts", "pairs of hosts, likewise"),
                word("dual-srchost", "hosts that packets come from, and flows within each"),
                word("dual-dsthost", "hosts that packets go to, and flows within each"),
                word("triple-isolate", "hosts on the side where they have more flows, and flows within each"),
            ]),
            text("triple-isolate"),
            "Among whom a tin is shared. Hosts are what flows name in `from` and `to`.",
        ),
        key(
            "rtt",
            TIME,
            text("100 ms"),
            "A usual round trip: CoDel's interval, longer in a tin whose `target` is.",
        ),
        key(
            "target",
            TIME,
            WhenAbsent::Words("a twentieth of `rtt`"),
            "The wait that may stay; in a tin never less than one and a half packets of `mtu` take at its rate.",
        ),
        key("mtu", SIZE, text("1514 B"), "The largest packet, for `target` and `memory`."),
        key(
            "queues",
            Kind::Whole { min: 1, max: 65_536 },
            WhenAbsent::Is(Literal::Whole(1024)),
            "The most queues of a tin; with more flows than that, several share one.",
        ),
        key(
            "quantum",
            SIZE,
            WhenAbsent::Words("1514 B; under a shaper what the tin sends in 1/4096 s, from 300 B to 1514 B"),
            "Bytes that a queue may send in its turn, divided among the busy queues of its host.",
        ),
        key(
            "blue_increment",
            Kind::Probability,
            WhenAbsent::Words("1/256"),
            "What BLUE adds to the probability of drops of a queue that overflows, once in `target` at most.",
        ),
        key(
            "blue_decrement",
            Kind::Probability,
            WhenAbsent::Words("1/4096"),
            "What BLUE takes from it when the queue is found empty, once in `target` at most.",
        ),
        key(
            "memory",
            SIZE,
            WhenAbsent::Words(
                "four times what the shaper sends in `rtt`, from 4 MiB to 10240 packets of `mtu`; without a shaper the latter",
            ),
            "Bytes of IP packets in all queues; beyond it packets are dropped from the head of the longest. `queue.limit` \
             acts in the same way, if it is less.",
        ),
        key("wash", Kind::Flag, flag(false), "Gates further on see its packets with the codepoint DF."),
        key(
            "ack_filter",
            Kind::Choice(&[
                word("off", "no ACK is dropped for that"),
                word("conservative", "the last two needless ACKs of a flow stay"),
                word(
                    "aggressive",
                    "the last needless one stays only where another packet, or a change of ECN flags, is behind it",
                ),
            ]),
            text("off"),
            "Drops an ACK of TCP that waits when a later packet of its connection joins its queue and says all that the ACK says. \
             Data, SACK blocks that the later packet lacks, repeated ACKs, changes of ECE and CWR, and every other flag and \
             option stay. For an upload that is much slower than the download.",
        ),
        later("ingress", "Counts packets that it drops in the shaper: for a shaper behind the slow link."),
    ],
);
