"""The systems of the DTM paper as studies: what claims and figures share.

Numbers are means over 16 replications with shifted starts; differences and ratios are taken run
by run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate.papers.api import Estimate, estimate, ratio

if TYPE_CHECKING:
    from tidegate.papers.api import Lab, Study

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
STATIC_MBPS = {
    "two-flows": (2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 10),
    "one-flow": (3, 4, 4.5, 4.8, 5, 5.2, 5.5, 6),
    "backup": (1, 2, 3, 4, 4.5, 5, 5.5, 6),
}
#: The map: remedies by (words, changes), round trips, queues.
REMEDIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("none", {}),
    ("hold second", {ON_LOSS: "hold second"}),
    ("shift_dec 5", {SHIFT_DEC: 5}),
    ("shift_dec 7", {SHIFT_DEC: 7}),
    ("both (7)", {SHIFT_DEC: 7, ON_LOSS: "hold second"}),
)
MAP_QUEUES = (10, 20, 40, 80)
MAP_CCS = ("reno", "newreno")


def times(lab: Lab) -> dict[str, str]:
    """Return how long runs of two flows are: as in the paper's figures, or shorter."""
    return {"duration": "35 s"} if lab.quick else {}


def as_good(found: Estimate) -> bool:
    """Tell whether a ratio to the static channel is that of one as good, with its whole interval."""
    return found.low is not None and found.low >= AS_GOOD


def static_two(lab: Lab, **changes: Any) -> Study:
    """Return two flows over the static channel of Fig. 8."""
    return lab.study("two-flows-static", set={**times(lab), **changes}, gate="channel")


def dynamic_two(lab: Lab, vary: dict[str, list[Any]] | None = None, **changes: Any) -> Study:
    """Return two flows over the dynamic channel of Fig. 9."""
    return lab.study("two-flows", vary=vary, set={**times(lab), **changes}, gate="channel")


def gap_closed(study: Study, point: int, lab: Lab) -> Estimate:
    """Return the share of the static channel's lead that a point makes good, run by run."""
    static = static_two(lab).values("goodput_bps")
    plain = dynamic_two(lab).values("goodput_bps")
    here = study.values("goodput_bps", point)
    return estimate(
        (g or 0) / lead - (p or 0) / lead
        for g, p, s in zip(here, plain, static, strict=False)
        for lead in [(s or 0) - (p or 0)]
    )


def channel_queues(lab: Lab) -> list[str]:
    """Return the queues at the channel that are tried."""
    return [f"{packets} packets" for packets in ((10, 50) if lab.quick else (10, 20, 30, 50, 100))]


def shifts(lab: Lab) -> list[int]:
    """Return the values of shift_dec that are tried."""
    return [3, 7] if lab.quick else [3, 4, 5, 6, 7, 8, 10]


def trips(lab: Lab) -> tuple[tuple[str, str, str], ...]:
    """Return the round trips that are tried."""
    return TRIPS[1:3] if lab.quick else TRIPS


def map_trips(lab: Lab) -> tuple[tuple[str, str, str], ...]:
    """Return the round trips of the map; the paper's own is always one of them."""
    return TRIPS[2:3] if lab.quick else TRIPS


def delays(hop: str, back: str) -> dict[str, str]:
    """Return the delays of two flows with another round trip."""
    return {
        **{f"gate.{gate}.delay": hop for gate in ("own", "trunk", "channel", "sink")},
        "gate.return.delay": back,
    }


def slower(lab: Lab, trip: tuple[str, str, str]) -> tuple[Study, Study]:
    """Return the second remedy at one round trip, and the static channel there."""
    changes = delays(trip[1], trip[2])
    return dynamic_two(lab, {SHIFT_DEC: shifts(lab)}, **changes), static_two(lab, **changes)


def static_rates(lab: Lab, name: str) -> tuple[float, ...]:
    """Return the rates of static channels that are tried, Mbit/s."""
    return STATIC_MBPS[name][::2] if lab.quick and name != "backup" else STATIC_MBPS[name]


def static_curve(lab: Lab, name: str, changes: dict[str, str]) -> Study:
    """Return a scenario over static channels of several rates."""
    vary = {RATE: [f"{rate} Mbit/s" for rate in static_rates(lab, name)]}
    return lab.study(name, vary=vary, set=changes, gate="channel")


def remedies(lab: Lab) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return the remedies of the map."""
    return REMEDIES[::3] if lab.quick else REMEDIES


def map_of(lab: Lab, cc: str, static_rate: str = "10 Mbit/s") -> dict[tuple[str, str, int], Estimate]:
    """Return goodput over the static channel's by (remedy, round trip, queue)."""
    queues = MAP_QUEUES[::2] if lab.quick else MAP_QUEUES
    length = {"duration": "35 s" if lab.quick else "60 s", "warmup": "15 s"}
    vary = {QUEUE: [f"{queue} packets" for queue in queues]}
    found = {}
    for words, hop, back in map_trips(lab):
        base = {**length, **delays(hop, back), CC: cc}
        static = lab.study("two-flows-static", vary=vary, set={**base, RATE: static_rate}, gate="channel")
        for remedy, changes in remedies(lab):
            dynamic = lab.study("two-flows", vary=vary, set={**base, **changes}, gate="channel")
            for n, queue in enumerate(queues):
                found[remedy, words, queue] = ratio(
                    dynamic.values("goodput_bps", n), static.values("goodput_bps", n)
                )
    return found
