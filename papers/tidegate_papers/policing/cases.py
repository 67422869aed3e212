"""The laboratory of the policing paper as studies: what claims and figures share.

Goodput is that of five chunks together, Mbit/s: their bytes over the sum of their response times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate_papers.api import Points
from tidegate_papers.policing.measured import JOIN, LABORATORY, REBUFFERING

if TYPE_CHECKING:
    from tidegate_papers.api import Lab, Run, Study

#: Rates, Mbit/s, and buckets and queues of the grid.
RATES = Points((0.5, 1.5, 3, 10), quick=(1.5, 10))
SIZES = Points(("8 kB", "100 kB", "1 MB", "2 MB"), quick=("8 kB", "1 MB"))
#: The measured settings, by device.
ROWS = {
    device: Points(rows, quick=rows[1::2])
    for device in ("policer", "shaper")
    for rows in [tuple(row for row in LABORATORY if row.device == device)]
}
#: Buckets of Table 5, kB.
BUCKETS = Points(tuple(REBUFFERING), quick=(8, 128, 1024))
#: Buckets of Table 5 that let a burst pass, and one beside them that does not, kB.
BURSTS, WITHOUT = (512, 1024, 2048), 128
#: How a player may choose the quality of a chunk.
RULES = Points(("throughput", "bba", "bola", "mpc", "robust_mpc"), quick=("throughput", "bba"))
#: Buckets of Table 6, kB.
JOINS = tuple(JOIN)
CHUNK_MBIT = 16.0

_TCP = "flow.client.tcp"
#: TCPs in words, with what they change; the first is the laboratory's.
_TCPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("CUBIC of 2015", {}),
    ("CUBIC of today", {f"{_TCP}.loss": "rack"}),
    ("Reno of today", {f"{_TCP}.loss": "rack", f"{_TCP}.cc": "reno"}),
    ("BBR", {f"{_TCP}.loss": "rack", f"{_TCP}.cc": "bbr"}),
)
TCPS = Points(_TCPS, quick=(_TCPS[0], _TCPS[1], _TCPS[3]))
#: §5.2: how the sender is tamed. 1.425 Mbit/s are of IP packets, of which 1448 of 1500 bytes are user data.
REMEDIES: dict[str, dict[str, Any]] = {
    "plain": {},
    "paced": {f"{_TCP}.pacing": True},
    "limited": {f"{_TCP}.cc": "fixed_rate", f"{_TCP}.rate": "1375600 bit/s"},
}
#: What the captures do not tell of the laboratory's hosts.
STRETCHED = {f"{_TCP}.delayed_ack": {"every": 8, "timeout": "40 ms"}}
WITHOUT_PRR = {f"{_TCP}.reduction": "pipe"}


def point(lab: Lab, device: str, rate: float, size: str, changes: dict[str, Any] | None = None) -> Study:
    """Return 16 runs of five chunks through a device."""
    settings = {**_device(device, rate, size), **(changes or {})}
    return lab.study(device, changes=settings, measure=numbers, record="1 s")


def lossy(lab: Lab, loss: float) -> Study:
    """Return 16 runs of five chunks with a random loss, in percent, and no limit of the rate."""
    return lab.study("loss", changes={"gate.device.loss": f"{loss:g}%"}, measure=numbers, record="1 s")


def player(lab: Lab, bucket: int, rule: str | None = None) -> Study:
    """Return 16 runs of a player behind a policer of 0.5 Mbit/s with a bucket in kB.

    ``rule``: how it chooses the quality of a chunk; None: 0.5 Mbit/s always.
    """
    changes = {"gate.device.police.burst": f"{bucket} kB"}
    if rule is not None:
        changes["flow.client.app.video.rule"] = rule
    return lab.study("player", changes=changes, measure=playing, record="1 s")


def joining(lab: Lab, device: str, size: int) -> Study:
    """Return 16 runs of a first chunk of 750 kB through a device of 0.5 Mbit/s."""
    first = {"flow.client.app.request.response": "750 kB", "flow.client.app.request.count": 1}
    settings = {**_device(device, 0.5, f"{size} kB"), **first, "duration": "60 s"}
    return lab.study(device, changes=settings, measure=arriving, record="1 s")


def _device(device: str, rate: float, size: str) -> dict[str, Any]:
    if device == "policer":
        return {"gate.device.police.rate": f"{rate:g} Mbit/s", "gate.device.police.burst": size}
    return {"gate.device.rate": f"{rate:g} Mbit/s", "gate.device.queue": size}


def numbers(run: Run) -> dict[str, float | None]:
    """Return goodput of all chunks, of the first and of the others, Mbit/s, and the loss in percent.

    An unfinished chunk leaves the goodputs out.
    """
    found = [float(value) for value in run.table("requests")["response_s"].drop_nulls()]
    whole = len(found) == 5
    gates = {gate["name"]: gate for gate in run.summary["gates"]}
    return {
        "goodput": CHUNK_MBIT * len(found) / sum(found) if whole else None,
        "first": CHUNK_MBIT / found[0] if whole else None,
        "later": CHUNK_MBIT * 4 / sum(found[1:]) if whole else None,
        "lost": 100 * gates["device"]["loss"],
    }


def playing(run: Run) -> dict[str, float | None]:
    """Return for how long a player waits once it has begun, in seconds, and its mean quality in Mbit/s.

    A player that has nothing left waits until the next chunk is there as a whole.
    """
    seen = run.videos["client"]
    return {"waited": seen["stalled_s"], "quality": seen["bitrate_mean_bps"] / 1e6}


def arriving(run: Run) -> dict[str, float | None]:
    """Return when the first chunk is there, in seconds from when it was asked for."""
    return {"join": run.table("requests")["response_s"].to_list()[0]}
