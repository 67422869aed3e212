"""A link as Mahimahi's shells: mm-delay, mm-loss, mm-link (Netravali et al., USENIX ATC 2015; manual pages).

A flow's way to the receiver is the downlink, its way back the uplink.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._programs.unsaid import unsaid
from tidegate._programs.way import MILLISECOND, extra_bytes, shaper_bps
from tidegate.traces._files import convert

if TYPE_CHECKING:
    from tidegate._ask.plan_objects import Gate
    from tidegate._programs.way import Way

#: Bits of one delivery opportunity, a packet of 1500 bytes.
OPPORTUNITY = 12_000
#: The longest period of a constant rate's trace, milliseconds.
LONGEST = 60_000
#: The rate of a direction that has none, bit/s.
FAST = 1_000_000_000
#: Packets of a queue without limit, where a discipline asks for one.
MANY = 1_000_000
#: Keys of a gate that the command says, or of which a sentence says what becomes of them.
EXPRESSED = frozenset({
    "rate", "on_change", "framing", "delay", "jitter", "loss", "police", "per", "duplex", "slotted",
    "reassembly", "classes", "scheduler", "tas", "queue.limit", "queue.epd", "queue.ppd",
    "queue.aqm.step", "queue.aqm.red", "queue.aqm.fq_codel", "queue.aqm.dualpi2", "queue.aqm.cake",
    "queue.aqm.codel.target", "queue.aqm.codel.interval", "queue.aqm.pie.target", "queue.aqm.pie.max_burst",
})  # fmt: skip
#: What Mahimahi has where it has no word for a key.
DEFAULTS = {"queue.counts": "waiting"}


def commands(
    down: Way, up: Way, traces: dict[str, dict[str, Any]], gates: dict[str, dict[str, Any]]
) -> tuple[list[str], dict[str, str], list[str], list[str]]:
    """Return the command, the files that it reads, what differs, and what is missing.

    ``traces``: what :func:`tidegate.traces.convert` needs of each gate whose rate is a trace.
    ``gates``: the gates of the scenario's file, by name.
    """
    differences: list[str] = []
    missing = down.unlike("Mahimahi has no jitter") + up.unlike("Mahimahi has no jitter")
    words = []
    half = (down.delay_ps + up.delay_ps) / 2 / MILLISECOND
    if half:
        words.append(f"mm-delay {round(half)}")
        if down.delay_ps != up.delay_ps:
            differences.append(
                f"mm-delay is the same in both directions; {down.delay_ps / MILLISECOND:g} ms there and "
                f"{up.delay_ps / MILLISECOND:g} ms back come to the same round trip"
            )
        if half != round(half):
            differences.append(f"mm-delay takes whole milliseconds: {round(half)}, not {half:g}, each way")
    for side, way in (("downlink", down), ("uplink", up)):
        shares = [gate["loss"] or 0 for gate in way.gates]
        lost = 1 - math.prod(1 - share for share in shares)
        if lost:
            words.append(f"mm-loss {side} {lost:.6g}")
        missing += [
            f"gate {gate['name']} loses packets in bursts; mm-loss loses each alone"
            for gate in way.gates
            if gate["gilbert_elliott"] is not None
        ]
    files: dict[str, str] = {}
    options: list[str] = []
    for side, way in (("uplink", up), ("downlink", down)):
        text = _link(side, way, traces, options, differences, missing)
        if text is not None:
            files[f"{side}.mahi"] = text
    if files:
        for side in ("uplink", "downlink"):
            if f"{side}.mahi" not in files:
                files[f"{side}.mahi"] = constant(FAST)[0]
                differences.append(f"the {side} has a rate in mm-link: {FAST // 10**9} Gbit/s stand for none")
        words.append(" ".join(["mm-link uplink.mahi downlink.mahi", *options]))
        differences.append(
            "mm-link charges 1504 bytes for a packet of 1500 and delivers at whole milliseconds: packets "
            "wait up to 1 ms longer"
        )
    for way in (down, up):
        for gate in way.gates:
            differences += unsaid(gate, way.in_file(gate, gates), "Mahimahi", EXPRESSED, DEFAULTS)
    return ([" ".join(words)] if words else []), files, differences, missing


def _link(
    side: str,
    way: Way,
    traces: dict[str, dict[str, Any]],
    options: list[str],
    differences: list[str],
    missing: list[str],
) -> str | None:
    """Return the trace of a direction, and add its queue to the options; None: it has no rate."""
    rated = [gate for gate in way.gates if gate["rate"]["kind"] != "unlimited"]
    missing += [
        f"gate {gate['name']} has a policer, which Mahimahi does not have"
        for gate in way.gates
        if gate["contract"]
    ]
    missing += [
        f"the shaper of cake at gate {gate['name']} is not here, {bps / 1e6:g} Mbit/s"
        for gate in way.gates
        if (bps := shaper_bps(gate)) is not None
    ]
    if not rated:
        return None
    if len(rated) > 1:
        missing.append(f"the {side} has several gates with a rate; {rated[0]['name']} is here")
    gate = rated[0]
    text = _trace(gate, traces, differences, missing)
    if text is not None:
        options.append(_queue(side, gate, missing, differences))
    return text


def _trace(
    gate: Gate, traces: dict[str, dict[str, Any]], differences: list[str], missing: list[str]
) -> str | None:
    name, kind = gate["name"], gate["rate"]["kind"]
    if extra_bytes(gate) not in (0, 4):
        differences.append(
            f"gate {name} counts {extra_bytes(gate)} bytes of overhead; mm-link counts 4, and one "
            "opportunity carries one full packet"
        )
    if kind == "constant":
        text, exact = constant(gate["rate"]["bps"])
        if not exact:
            differences.append(f"the rate of gate {name} is rounded to whole packets in {LONGEST // 1000} s")
        return text
    if kind == "trace" and name in traces:
        with tempfile.TemporaryDirectory() as folder:
            target = convert(target=Path(folder) / "link.mahi", to="mahimahi", **traces[name])
            return target.read_text(encoding="utf-8")
    words = {"token_bucket": "a token bucket", "packets": "in packets", "markov": "a Markov chain"}
    missing.append(f"the rate of gate {name} is {words.get(kind, kind)}; mm-link plays traces")
    return None


def constant(bps: int) -> tuple[str, bool]:
    """Return a trace with a constant rate, and whether it is exact.

    In T ms there are n opportunities, the k-th at ⌈k T / n⌉ ms; T is the least
    that makes n whole, or a minute.
    """
    thousand = OPPORTUNITY * 1000
    period = thousand // math.gcd(bps, thousand)
    exact = period <= LONGEST
    period = period if exact else LONGEST
    count = max(1, round(bps * period / thousand))
    return "".join(f"{-(-k * period // count)}\n" for k in range(1, count + 1)), exact


def _queue(side: str, gate: Gate, missing: list[str], differences: list[str]) -> str:
    limit, discipline, aqm = gate["queue_limit"], gate["discipline"], gate["aqm"]
    size = None if limit is None or limit["unit"] == "cells" else f"{limit['unit']}={limit['count']}"
    kind, words = "infinite", [] if size is None else [size]
    if discipline in ("codel", "pie") and aqm is not None:
        kind, words = discipline, words or [f"packets={MANY}"]
        keys = {"target": "target_ps", "interval": "interval_ps"}
        if discipline == "pie":
            keys = {"qdelay_ref": "target_ps", "max_burst": "max_burst_ps"}
        for word, key in keys.items():
            words.append(f"{word}={max(1, round(aqm[key] / MILLISECOND))}")
            if aqm[key] % MILLISECOND:
                differences.append(f"{word} of gate {gate['name']} is rounded to whole milliseconds")
        differences.append(f"{discipline} drops in Mahimahi where gate {gate['name']} would mark")
    else:
        kind = "infinite" if size is None else "droptail"
        if discipline != "drop-tail":
            missing.append(
                f"the queue of gate {gate['name']} is {discipline}, not one of Mahimahi; here is {kind}"
            )
    arguments = f' --{side}-queue-args="{", ".join(words)}"' if words else ""
    return f"--{side}-queue={kind}{arguments}"
