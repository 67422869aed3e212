"""The network of the traffic shaping paper as studies: what claims and figures share.

Numbers are means over 16 replications with shifted starts; differences and ratios are taken run
by run. Goodput is user data per connection, Mbit/s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate_papers.api import Points, paired

if TYPE_CHECKING:
    from tidegate_papers.api import Estimate, Lab, Run, Study

MBPS = 1e6
SOURCES = 4
CONNECTIONS = 4
LINK_MBPS = 150
#: User data in 193 cells of 53 bytes.
PAYLOAD = 9180 / (193 * 53)
SHAPINGS = ("none", "35", "20")
BUFFERS = (1000, 5000)
#: β of the background: its shaper's rate over its mean.
BETA = 1.2

CC = "flow.tcp.tcp.cc"
GUARD = {"flow.tcp.tcp.guard": True}
COMMON_CLOCKS = {"flow.tcp.tcp.rto.phase": "common"}
SLOTS = "gate.shaper.rate.gcra.slots"
QUEUE = "gate.L0.queue"
ROUNDED = {SLOTS: "rounded"}

#: Choices that the paper leaves open: (words, changes, background sources, β).
CHOICES: tuple[tuple[str, dict[str, Any], int, float], ...] = (
    ("as chosen", {}, 4, BETA),
    ("Reno", {CC: "reno"}, 4, BETA),
    ("timer of 10 ms", {"flow.tcp.tcp.rto": {"tick": "10 ms", "min": "200 ms", "initial": "3 s"}}, 4, BETA),
    ("all hosts' clocks tick together", COMMON_CLOCKS, 4, BETA),
    ("guard after time-outs, as in ns-2", GUARD, 4, BETA),
    ("guard, and clocks that tick together", {**GUARD, **COMMON_CLOCKS}, 4, BETA),
    ("fast retransmit of one segment", {"flow.tcp.tcp.go_back_n": False}, 4, BETA),
    ("early packet discard", {f"{QUEUE}.epd": "800 cells"}, 4, BETA),
    ("partial packet discard", {f"{QUEUE}.ppd": True}, 4, BETA),
    ("simple reassembly", {"gate.L0.reassembly": "simple"}, 4, BETA),
    ("1 background source", {}, 1, BETA),
    ("16 background sources", {}, 16, BETA),
    ("background shaped to 2.4 of its mean", {}, 4, 2.4),
    ("shapers rounded to slots", ROUNDED, 4, BETA),
)
#: Those of TCP alone, which need no background.
TCP_CHOICES = tuple(
    (words, changes)
    for words, changes, sources, beta in CHOICES
    if (sources, beta) == (SOURCES, BETA) and all(".tcp." in key for key in changes)
)


#: The open choices that are tried.
TRIED = Points(CHOICES, quick=(CHOICES[0], CHOICES[-1]))
TCP_TRIED = Points(TCP_CHOICES, quick=(TCP_CHOICES[0], TCP_CHOICES[-1]))
#: Whether runs in which a lock-out is looked for are eight times as long.
LONGER = Points((False, True), quick=(False,))
#: The background loads of the figures, Mbit/s.
LOADS: Points[float] = Points((0, 25, 50, 75, 100), quick=(0, 75, 100))
#: Those at which the open choices are tried.
SENSITIVE_LOADS: Points[float] = Points((25, 75), quick=(75,))
#: Those among which the knee of 20 Mbit/s is looked for.
KNEE_LOADS: Points[float] = Points((0, 25, 50, 60, 70, 75, 80, 90), quick=(0, 75, 80))
#: Where the knee is said to be.
FLAT_TO_MBPS = 75


def length(lab: Lab) -> dict[str, Any]:
    """Return how long runs are, where it is not as the scenarios say."""
    return {"duration": "5 s", "warmup": "2 s"} if lab.quick else {}


def point(
    lab: Lab,
    shaping: str,
    load: float,
    buffer: int = 1000,
    changes: dict[str, Any] | None = None,
    sources: int = SOURCES,
    beta: float = BETA,
    name: str = "shared",
    *,
    whole: bool = False,
) -> Study:
    """Return 16 runs of one shaping (``"none"``, ``"35"``, ``"20"`` Mbit/s), load and buffer.

    ``name`` is the scenario; in ``one-user-vp`` the one shaper has the rate of four. ``whole``: as long as
    the scenario says, also in a quick run.
    """
    rate = CONNECTIONS * float(shaping) if name == "one-user-vp" else shaping
    settings: dict[str, Any] = {f"{QUEUE}.limit": f"{buffer} cells"}
    settings.update({} if whole else length(lab))
    extra = dict(changes or {})
    if shaping == "none":
        settings["gate.shaper.rate"] = f"{LINK_MBPS} Mbit/s"
        extra.pop(SLOTS, None)
    else:
        settings["gate.shaper.rate.gcra.pcr"] = (
            f"{rate:g} Mbit/s" if isinstance(rate, float) else f"{rate} Mbit/s"
        )
    if load == 0:
        settings["traffic.bg.count"] = 0
    else:
        mean = round(1000 * load / sources)
        settings["traffic.bg.count"] = sources
        settings["traffic.bg.source.messages.load"] = f"{mean} kbit/s"
        settings["gate.bgshaper.rate.gcra.pcr"] = f"{min(round(beta * mean), 1000 * LINK_MBPS)} kbit/s"
    return lab.study(name, changes={**settings, **extra}, gate="L0", measure=numbers)


def numbers(run: Run) -> dict[str, float | None]:
    """Return goodput per connection, efficiency of all together, the least and the most of one.

    ``shaper`` and ``window``: shares of the time in which the shaper, or a window, limited a connection,
    mean. ``mux_p99`` and ``mux_most``: the wait behind other connections' cells at the user's
    multiplexer, p99 in us, and the most cells that ever waited there.
    """
    flows = run.summary["flows"]
    sent = sum(flow["segments_sent"] for flow in flows)
    each = [flow["goodput_bps"] / MBPS for flow in flows]
    gates = {gate["name"]: gate for gate in run.summary["gates"]}
    gate, mux = gates["L0"], gates.get("mux")
    return {
        "goodput": sum(each) / len(each),
        "efficiency": sum(flow["segments_delivered"] for flow in flows) / sent if sent else None,
        "least": min(each),
        "most": max(each),
        "dropped_cells": gate["dropped_cells"],
        "used": gate["utilisation"],
        "shaper": _limited(flows, "gate.shaper"),
        "window": _limited(flows, "congestion window") + _limited(flows, "receiver window"),
        "mux_p99": 1e3 * mux["queue_delay_p99_ms"] if mux else None,
        "mux_most": mux["queue_max_cells"] if mux else None,
    }


def _limited(flows: list[dict[str, Any]], cause: str) -> float:
    """Return the share of time that a cause limited a connection, mean of all."""
    shares = [
        float(share) for flow in flows for key, share in flow["limited_by"].items() if key.startswith(cause)
    ]
    return sum(shares) / len(flows)


def goodput(study: Study) -> Estimate:
    """Return the goodput per connection, Mbit/s."""
    return study.estimate("goodput")


def gain(this: Study, that: Study, metric: str = "goodput") -> Estimate:
    """Return this - that, run by run."""
    return paired(this.values(metric), that.values(metric))
