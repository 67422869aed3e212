"""The systems of the paper on TCP over ABR as studies: what claims and figures share.

Efficiency is as in the paper: packets delivered once, headers included, over the link's mean
capacity in the same runs, less the cells' headers (48/53) where the rate is fed back.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

from tidegate.theory import abr
from tidegate_papers.api import Points, normalised_throughput, ratio_of_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate_papers.api import Estimate, Lab, Study

HOLDING = "gate.link.rate.markov.mean_holding"
QUEUE = "gate.link.queue.limit"
EFFCAP = "gate.abr.rate.follow.effcap"
TCP = "flow.bulk.tcp"
#: What cells leave of a packet; and a packet's bytes over its user bytes.
CELLS = normalised_throughput(1.0, 1.0, under_abr=True)
WHOLE = 500 / 460
#: The link in packets a second, the feedback's interval.
FAST_PPS, EVERY_MS = 200, 30
DELTA_MS, DELTA_PACKETS = 200, 40
BUFFERS = (8, 10, 12)
#: M and N of Figs. 10 to 13: a round trip, and memory of eight.
FIG_10 = {"m": 7, "n": 49}
SCHEMES = ("INSTCAP", "EFFCAP", "TCP alone")
_PSIS = (0.16, 0.3, 0.5, 0.8, 1, 1.5, 2, 3, 5, 10, 20, 50, 100, 200)
#: Rates of change, which are mean times at a rate in round trips: with the model's TCP, and with others.
PSIS = Points(_PSIS, quick=(0.16, 0.3, 1, 2, 5, 20, 50, 100))
OTHER_PSIS = Points(_PSIS, quick=(0.3, 1, 5, 50))
#: What other TCPs change of the model's: one thing at a time, the timer stays.
TCPS: dict[str, dict[str, Any]] = {
    "model": {},
    "Reno": {f"{TCP}.dupthresh": 3},
    "SACK": {f"{TCP}.dupthresh": 3, f"{TCP}.sack": True, f"{TCP}.limited_transmit": True},
    "CUBIC": {
        f"{TCP}.cc": "cubic",
        f"{TCP}.dupthresh": 3,
        f"{TCP}.sack": True,
        f"{TCP}.limited_transmit": True,
    },
}


def psis(lab: Lab, tcp: str = "model") -> tuple[float, ...]:
    """Return the rates of change that are tried."""
    return lab.points(PSIS if tcp == "model" else OTHER_PSIS)


def chosen(lab: Lab, wanted: Sequence[float] = _PSIS, tcp: str = "model") -> tuple[float, ...]:
    """Return those of some rates of change that are tried, for a claim that is judged on all of them."""
    return lab.judged((PSIS if tcp == "model" else OTHER_PSIS).only(lambda psi: psi in wanted))


def length(lab: Lab) -> dict[str, Any]:
    """Return how long runs are."""
    return {"duration": "110 s", "warmup": "10 s"} if lab.quick else {}


def runs(lab: Lab) -> int:
    """Return how many runs a point has."""
    return 16 if lab.quick else 20


def holdings(times_ms: Sequence[float]) -> list[list[str]]:
    """Return mean times in both states as values of the key."""
    return [[f"{time:g} ms"] * 2 for time in times_ms]


def blocks(delta_ms: float, k: int) -> dict[str, int]:
    """Return M: Δ and N: kΔ as the paper counts: (k - 1)⌈Δ/s⌉."""
    m = math.ceil(delta_ms / EVERY_MS)
    return {"m": m, "n": (k - 1) * m}


def windows(delta_packets: float, buffer: int) -> dict[str, Any]:
    """Return the largest window and the first threshold: 2 (Δ + buffer)."""
    text = f"{2 * (math.ceil(delta_packets) + buffer)} segments"
    return {f"{TCP}.window": text, f"{TCP}.initial_ssthresh": text}


def curve(lab: Lab, scheme: str, buffer: int = 10, tcp: str = "model", n_round_trips: int = 8) -> Study:
    """Return one session of Figs. 8 to 14: a point for each rate of change."""
    changes = {QUEUE: f"{buffer} packets", **windows(DELTA_PACKETS, buffer), **TCPS[tcp], **length(lab)}
    if scheme == "EFFCAP":
        changes[EFFCAP] = blocks(DELTA_MS, n_round_trips)
    return lab.study(
        "alone" if scheme == "TCP alone" else "abr",
        vary={HOLDING: holdings([DELTA_MS * psi for psi in psis(lab, tcp)])},
        changes=changes,
        runs=runs(lab),
        gate="link",
    )


def share(scheme: str) -> float:
    """Return what cells leave of the capacity."""
    return 1.0 if scheme == "TCP alone" else CELLS


def packets(study: Study, point: int, flow: str | None = None) -> list[float]:
    """Return bits of packets delivered once per second, headers included, by run."""
    metric = "goodput_bps" if flow is None else f"flow.{flow}.goodput_bps"
    return [WHOLE * (value or 0.0) for value in study.values(metric, point)]


def efficiency(study: Study, point: int, of: float, flow: str | None = None) -> Estimate:
    """Return efficiency with its interval; ``of`` is what cells leave."""
    these = [of * value for value in packets(study, point, flow)]
    return ratio_of_means(these, study.values("gate.link.rate_mean_bps", point))


def at(lab: Lab, scheme: str, psi: float, buffer: int = 10, tcp: str = "model") -> Estimate:
    """Return efficiency at one rate of change."""
    study = curve(lab, scheme, buffer, tcp)
    return efficiency(study, psis(lab, tcp).index(psi), share(scheme))


def over(lab: Lab, scheme: str, other: str, psi: float, buffer: int = 10, tcp: str = "model") -> Estimate:
    """Return one scheme's efficiency over another's on the same networks."""
    point = psis(lab, tcp).index(psi)
    these = [share(scheme) * value for value in packets(curve(lab, scheme, buffer, tcp), point)]
    those = [share(other) * value for value in packets(curve(lab, other, buffer, tcp), point)]
    return ratio_of_means(these, those)


@functools.cache
def model(psi: float, buffer: int, scheme: str = "INSTCAP") -> tuple[float, float]:
    """Return the renewal model's conservative and optimistic efficiency."""
    return abr(
        psi=psi,
        delta_packets=DELTA_PACKETS,
        buffer=buffer,
        scheme="tcp" if scheme == "TCP alone" else "abr",
    ).bounds


def session(
    lab: Lab,
    delta_ms: float,
    holding_ms: Sequence[float],
    effcap: Sequence[dict[str, int]],
    floor_ms: float = 0,
) -> Study:
    """Return one session of another round trip, a point for each holding time and each M and N.

    The time-out is twice the round trip, but not below ``floor_ms``.
    """
    delta = delta_ms / 1000 * FAST_PPS
    changes: dict[str, Any] = {
        "flow.bulk.rtt": f"{delta_ms:g} ms",
        "gate.abr.rate.follow.lag": f"{delta_ms:g} ms",
        f"{TCP}.rto.fixed": f"{max(2 * delta_ms, floor_ms):g} ms",
        **windows(delta, 10),
        **length(lab),
    }
    return lab.study(
        "abr",
        vary={HOLDING: holdings(holding_ms), EFFCAP: list(effcap)},
        changes=changes,
        runs=runs(lab),
        gate="link",
    )


#: Floors of the time-out, ms: none, so that it is twice the round trip as in the paper's simulations;
#: 4.4BSD's two ticks or RFC 6298's second.
FLOORS_MS = (0, 1000)


def floors(lab: Lab) -> tuple[int, ...]:
    """Return the floors of the time-out that are drawn, ms."""
    return FLOORS_MS if lab.quick else (0, 200, 500, 1000)


# --- Figs. 15 and 16: N; Figs. 17 and 18: M ------------------------------------------------------


#: Round trips of Figs. 15 and 16, ms, and k of N: kΔ there.
DELTAS = Points((50, 75, 100, 150, 200, 300, 400, 500), quick=(50, 200, 500))
MEMORIES = Points((2, 4, 6, 8, 10, 12), quick=(2, 8, 12))
#: Round trips of Figs. 17 and 18, ms, and M there.
M_DELTAS = Points((50, 100, 200), quick=(50, 200))
MEANS = Points(tuple(range(1, 11)), quick=(1, 2, 4, 7, 10))


def by_memory(lab: Lab, holding_ms: float, delta_ms: float) -> list[Estimate]:
    """Return efficiency for each N: kΔ."""
    ks = lab.points(MEMORIES)
    study = session(lab, delta_ms, [holding_ms], [blocks(delta_ms, k) for k in ks])
    return [efficiency(study, n, CELLS) for n in range(len(ks))]


def by_mean(lab: Lab, holding_ms: float, delta_ms: float, k: int) -> list[Estimate]:
    """Return efficiency for each M with N: kΔ."""
    n = blocks(delta_ms, k)["n"]
    study = session(lab, delta_ms, [holding_ms], [{"m": m, "n": n} for m in lab.points(MEANS)])
    return [efficiency(study, point, CELLS) for point in range(len(lab.points(MEANS)))]


def mean_change(
    lab: Lab, holding_ms: float, delta_ms: float, k: int, m: int, floor_ms: float = 0
) -> Estimate:
    """Return efficiency with so large an M over that with M = 1, run by run."""
    n = blocks(delta_ms, k)["n"]
    tried = [{"m": each, "n": n} for each in (lab.points(MEANS) if floor_ms == 0 else (1, m))]
    study = session(lab, delta_ms, [holding_ms], tried, floor_ms)
    if floor_ms:
        return ratio_of_means(packets(study, 1), packets(study, 0))
    return ratio_of_means(packets(study, lab.points(MEANS).index(m)), packets(study, 0))


def memory_change(
    lab: Lab, holding_ms: float, delta_ms: float, k: int, base: int = 2, floor_ms: float = 0
) -> Estimate:
    """Return efficiency with N: kΔ over that with N: 2Δ, run by run."""
    ks = lab.points(MEMORIES) if floor_ms == 0 else (base, k)
    study = session(lab, delta_ms, [holding_ms], [blocks(delta_ms, each) for each in ks], floor_ms)
    return ratio_of_means(packets(study, ks.index(k)), packets(study, ks.index(base)))
