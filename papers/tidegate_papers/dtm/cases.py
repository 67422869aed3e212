"""The systems of the DTM paper as studies: what claims and figures share.

Numbers are means over 16 replications with shifted starts; differences and ratios are taken run
by run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate_papers.api import Estimate, Points, estimate, ratio

if TYPE_CHECKING:
    from tidegate_papers.api import Lab, Study

MBPS = 1e6
#: Payload that 5 Mbit/s carry: 1000 of 1040 bytes.
BOTTLENECK_MBPS = 5 * 1000 / 1040
DTM = "gate.channel.rate.dtm"
CC = "flow.bulk.tcp.cc"
QUEUE = "gate.channel.queue"
RATE = "gate.channel.rate"
SHIFT_DEC = f"{DTM}.shift_dec"
ON_LOSS = f"{DTM}.on_loss"
#: A "considerable" saving is at least this share of the static channel.
CONSIDERABLE = 0.1
#: "As good as a static channel": at least this share of its goodput.
AS_GOOD = 0.95
#: Round trips of the remedies' figure: (words, delay of each of the four hops, of the way back).
TRIPS = (
    ("20 ms", "2.5 ms", "10 ms"),
    ("40 ms", "5 ms", "20 ms"),
    ("80 ms", "10 ms", "40 ms"),
    ("160 ms", "20 ms", "80 ms"),
)
#: (words, changes) of the congestion controls.
VARIANTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Tahoe", {CC: "tahoe"}),
    ("Reno", {CC: "reno"}),
    ("NewReno", {CC: "newreno"}),
    ("SACK", {CC: "newreno", "flow.bulk.tcp.sack": True}),
    ("CUBIC", {CC: "cubic"}),
    ("CUBIC + SACK", {CC: "cubic", "flow.bulk.tcp.sack": True}),
)
#: Rates of static channels, Mbit/s, between which is interpolated.
STATIC_MBPS: dict[str, Points[float]] = {
    "two-flows": Points((2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 10), quick=(2, 3, 4, 5, 7, 10)),
    "one-flow": Points((3, 4, 4.5, 4.8, 5, 5.2, 5.5, 6), quick=(3, 4.5, 5, 5.5)),
    "backup": Points.always(1, 2, 3, 4, 4.5, 5, 5.5, 6),
}
#: Queues at the channel, packets, and values of shift_dec.
CHANNEL_QUEUES = Points((10, 20, 30, 50, 100), quick=(10, 50))
SHIFTS = Points((3, 4, 5, 6, 7, 8, 10), quick=(3, 7))
#: The map: remedies by (words, changes), round trips, queues.
REMEDIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("none", {}),
    ("hold second", {ON_LOSS: "hold second"}),
    ("shift_dec 5", {SHIFT_DEC: 5}),
    ("shift_dec 7", {SHIFT_DEC: 7}),
    ("both (7)", {SHIFT_DEC: 7, ON_LOSS: "hold second"}),
)
#: Round trips of the remedies and of the map; the paper's own is always one of them.
SOME_TRIPS = Points(TRIPS, quick=TRIPS[2:3])
MAP_CELLS = SOME_TRIPS.times(Points((10, 20, 40, 80), quick=(10, 40)))
MAP_CCS = (("newreno", "NewReno"), ("reno", "Reno"))


def times(lab: Lab) -> dict[str, str]:
    """Return how long runs of two flows are: as in the paper's figures, or shorter."""
    return {"duration": "35 s"} if lab.quick else {}


def as_good(found: Estimate) -> bool:
    """Tell whether a ratio to the static channel is that of one as good, with its whole interval."""
    return found.low is not None and found.low >= AS_GOOD


def static_two(lab: Lab, *, whole: bool = False, **changes: Any) -> Study:
    """Return two flows over the static channel of Fig. 8; ``whole``: as long as the paper's, also quickly."""
    length = {} if whole else times(lab)
    return lab.study("two-flows-static", changes={**length, **changes}, gate="channel")


def dynamic_two(
    lab: Lab, vary: dict[str, list[Any]] | None = None, *, whole: bool = False, **changes: Any
) -> Study:
    """Return two flows over the dynamic channel of Fig. 9; ``whole`` as with :func:`static_two`."""
    length = {} if whole else times(lab)
    return lab.study("two-flows", vary=vary, changes={**length, **changes}, gate="channel")


def gap_closed(study: Study, point: int, lab: Lab, *, whole: bool = False) -> Estimate:
    """Return the share of the static channel's lead that a point makes good, run by run."""
    static = static_two(lab, whole=whole).values("goodput_bps")
    plain = dynamic_two(lab, whole=whole).values("goodput_bps")
    here = study.values("goodput_bps", point)
    return estimate(
        (g or 0) / lead - (p or 0) / lead
        for g, p, s in zip(here, plain, static, strict=False)
        for lead in [(s or 0) - (p or 0)]
    )


def channel_queues(lab: Lab) -> list[str]:
    """Return the queues at the channel that are tried."""
    return [f"{packets} packets" for packets in lab.points(CHANNEL_QUEUES)]


def delays(hop: str, back: str) -> dict[str, str]:
    """Return the delays of two flows with another round trip."""
    return {
        **{f"gate.{gate}.delay": hop for gate in ("own", "trunk", "channel", "sink")},
        "gate.return.delay": back,
    }


def slower(lab: Lab, trip: tuple[str, str, str]) -> tuple[Study, Study]:
    """Return the second remedy at one round trip, and the static channel there.

    Quick runs are as long as the others: a slower decrease takes longer to show what it does, so that a
    shorter run measures something else.
    """
    changes = delays(trip[1], trip[2])
    vary = {SHIFT_DEC: list(lab.points(SHIFTS))}
    return dynamic_two(lab, vary, whole=True, **changes), static_two(lab, whole=True, **changes)


def static_rates(lab: Lab, name: str) -> tuple[float, ...]:
    """Return the rates of static channels that are tried, Mbit/s."""
    return lab.points(STATIC_MBPS[name])


def static_curve(lab: Lab, name: str, changes: dict[str, str]) -> Study:
    """Return a scenario over static channels of several rates."""
    vary = {RATE: [f"{rate} Mbit/s" for rate in static_rates(lab, name)]}
    return lab.study(name, vary=vary, changes=changes, gate="channel")


def map_of(lab: Lab, cc: str, static_rate: str = "10 Mbit/s") -> dict[tuple[str, str, int], Estimate]:
    """Return goodput over the static channel's by (remedy, round trip, queue)."""
    cells = lab.points(MAP_CELLS)
    queues = list(dict.fromkeys(queue for _, queue in cells))
    length = {"duration": "35 s" if lab.quick else "60 s", "warmup": "15 s"}
    vary = {QUEUE: [f"{queue} packets" for queue in queues]}
    found = {}
    for words, hop, back in dict.fromkeys(trip for trip, _ in cells):
        base = {**length, **delays(hop, back), CC: cc}
        static = lab.study("two-flows-static", vary=vary, changes={**base, RATE: static_rate}, gate="channel")
        for remedy, changes in REMEDIES:
            dynamic = lab.study("two-flows", vary=vary, changes={**base, **changes}, gate="channel")
            for n, queue in enumerate(queues):
                found[remedy, words, queue] = ratio(
                    dynamic.values("goodput_bps", n), static.values("goodput_bps", n)
                )
    return found
