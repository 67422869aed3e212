"""A link as commands of ``tc`` (iproute2), for a device with Ethernet headers.

By tc(8), tc-tbf(8), tc-netem(8), tc-stab(8), tc-codel(8), tc-fq_codel(8), tc-pie(8), tc-red(8), tc-cake(8)
and tc-police(8).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tidegate._programs.way import extra_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate._ask.plan_objects import Gate
    from tidegate._programs.way import Way

#: Bytes of an Ethernet header, which tc counts with each packet.
ETHERNET = 14
#: Bytes of the largest IP packet on Ethernet.
MTU = 1500
#: Packets that a queue without a limit, or a delay, may hold: more than any link keeps in flight.
MANY = 1_000_000
#: Bytes, likewise.
MANY_BYTES = 1_000_000_000


def commands(way: Way, device: str, cake: dict[str, str]) -> tuple[list[str], list[str], list[str]]:
    """Return commands for one direction, what differs, and what is missing.

    ``cake``: the words of the discipline ``cake``, by gate.
    """
    differences: list[str] = []
    missing = way.unlike()
    limiting = way.limiting()
    if len(limiting) > 1:
        names = ", ".join(gate["name"] for gate in limiting)
        missing.append(
            f"gates {names} each have a rate, and a device has one shaper: {limiting[0]['name']} is here, "
            "the others need a router each"
        )
        limiting = limiting[:1]
    lines = [f"ethtool -K {device} tso off gso off gro off"] if limiting else []
    lines.append(f"tc qdisc del dev {device} root 2>/dev/null || true")
    parent = "root"
    netem = _netem(way, differences)
    if netem:
        lines.append(f"tc qdisc add dev {device} root handle 1: netem {netem}")
        parent = "parent 1:1"
    for gate in limiting:
        if gate["contract"] is not None:
            lines += _police(gate, way, device, differences)
        shaper = _shaper(gate, way, parent, differences, missing, cake)
        lines += [f"tc qdisc add dev {device} {each}" for each in shaper]
    return lines, differences, missing


def _netem(way: Way, differences: list[str]) -> str:
    """Return netem's words for delay and loss; empty: there is neither."""
    words = []
    if way.delay_ps:
        words.append(f"delay {time(way.delay_ps)}")
    lossy = [gate for gate in way.gates if gate["loss"] or gate["gilbert_elliott"]]
    if lossy:
        gilbert = lossy[0]["gilbert_elliott"]
        if len(lossy) == 1 and gilbert is not None:
            p, r = gilbert["good_to_bad"], gilbert["bad_to_good"]
            states = (p, r, gilbert["loss_bad"], gilbert["loss_good"])
            words.append("loss gemodel " + " ".join(percent(share) for share in states))
        else:
            kept = math.prod(1 - (gate["loss"] or 0) for gate in lossy)
            words.append(f"loss random {percent(1 - kept)}")
            if any(gate["gilbert_elliott"] for gate in lossy):
                differences.append("of several gates with losses, only the independent losses are here")
        differences.append("packets are lost before the rate, not after it, and take no time of the link")
    if not words:
        return ""
    return " ".join([*words, f"limit {MANY}"])


def _police(gate: Gate, way: Way, device: str, differences: list[str]) -> list[str]:
    contract = gate["contract"]
    assert contract is not None
    wire = way.packet + extra_bytes(gate)
    larger = (way.packet + ETHERNET) / wire
    rate, burst = round(contract["bps"] * larger), round(contract["burst_bytes"] * larger)
    differences.append(
        f"the policer counts {ETHERNET} bytes of Ethernet more of each packet; rate and burst are "
        f"{larger:.4f} times those of gate {gate['name']}, which is right for packets of {way.packet} bytes"
    )
    return [
        f"tc qdisc replace dev {device} clsact",
        (
            f"tc filter replace dev {device} egress protocol all prio 1 matchall "
            f"action police rate {rate}bit burst {burst} conform-exceed drop/pipe"
        ),
    ]


def _shaper(
    gate: Gate,
    way: Way,
    parent: str,
    differences: list[str],
    missing: list[str],
    cake: dict[str, str],
) -> list[str]:
    """Return the parts of ``tc qdisc add dev X`` for rate and queue."""
    rate = gate["rate"]
    name = gate["name"]
    if rate["kind"] == "unlimited":
        return []
    if rate["kind"] not in ("constant", "token_bucket"):
        missing.append(
            f"the rate of gate {name} is {_WORDS.get(rate['kind'], rate['kind'])}; tc has constant rates and "
            "token buckets"
        )
        return []
    if gate["discipline"] == "cake":
        return [f"{parent} handle 10: cake bandwidth {rate['bps']}bit {cake[name]}".strip()]
    # A packet that is larger than the bucket would never leave.
    wire = max(way.packet, MTU) + extra_bytes(gate)
    stab = f"stab overhead {extra_bytes(gate) - ETHERNET}"
    least = gate["framing"].get("minimum", 0)
    if least:
        stab += f" mpu {least} linklayer ethernet"
        differences.append(
            f"with a least size (mpu), tc rounds sizes up at gate {name}, to steps of its table"
        )
    words = f"{parent} handle 10: {stab} tbf rate {rate['bps']}bit"
    if rate["kind"] == "constant":
        words += f" burst {wire}"
        differences.append(
            f"a packet leaves gate {name} whole when its tokens are there, and then takes the device's own "
            "time; the bucket holds a full packet, so a packet after a pause is up to one packet's time early"
        )
    else:
        words += f" burst {rate['burst_bytes']}"
        if rate.get("initial_bytes") is not None:
            differences.append(
                f"the bucket of gate {name} holds {rate['initial_bytes']} bytes at the start; tbf's is full"
            )
        peak = rate.get("peak_bps")
        if peak is not None:
            words += f" peakrate {peak}bit mtu {rate.get('peak_burst_bytes') or wire}"
    limit = gate["queue_limit"]
    in_service = 0 if gate["queue_counts_all"] or rate["kind"] == "token_bucket" else 1
    if limit is not None and limit["unit"] == "bytes" and gate["discipline"] == "drop-tail":
        size = limit["count"] + in_service * way.packet
        return [f"{words} limit {size}"]
    packets = MANY if limit is None else limit["count"] + in_service
    if limit is not None and limit["unit"] == "bytes":
        packets = max(1, limit["count"] // way.packet) + in_service
        differences.append(
            f"the queue of gate {name} is limited in packets of {way.packet} bytes, not in bytes"
        )
    leaf = _leaf(gate, way, packets, differences, missing)
    return [f"{words} limit {MANY_BYTES}", f"parent 10:1 handle 20: {leaf}"]


def _leaf(gate: Gate, way: Way, packets: int, differences: list[str], missing: list[str]) -> str:
    """Return the queue below the shaper."""
    discipline = gate["discipline"]
    if discipline == "drop-tail":
        return f"pfifo limit {packets}"
    write = _LEAVES.get(discipline)
    if write is None or gate["aqm"] is None:
        missing.append(
            f"the queue of gate {gate['name']} is {discipline}, for which there is no export; here is pfifo"
        )
        return f"pfifo limit {packets}"
    return write(gate["aqm"], gate, way, packets, differences)


def _times(aqm: dict[str, Any]) -> str:
    return f"target {time(aqm['target_ps'])} interval {time(aqm['interval_ps'])}"


def _codel(aqm: dict[str, Any], _gate: Gate, _way: Way, packets: int, _differences: list[str]) -> str:
    threshold = _threshold(aqm)
    return f"codel limit {packets} {_times(aqm)} ecn{threshold}"


def _threshold(aqm: dict[str, Any]) -> str:
    found = aqm["ce_threshold_ps"]
    return "" if found is None else f" ce_threshold {time(found)}"


def _fq_codel(aqm: dict[str, Any], _gate: Gate, _way: Way, packets: int, _differences: list[str]) -> str:
    return (
        f"fq_codel limit {min(aqm['limit'], packets)} flows {aqm['queues']} quantum {aqm['quantum']} "
        f"memory_limit {aqm['memory']} {_times(aqm)} ecn{_threshold(aqm)}"
    )


def _pie(aqm: dict[str, Any], gate: Gate, _way: Way, packets: int, differences: list[str]) -> str:
    alpha, beta = (max(1, round(16 * aqm[key])) for key in ("alpha", "beta"))
    if (alpha / 16, beta / 16) != (aqm["alpha"], aqm["beta"]):
        differences.append(
            f"pie's gains of gate {gate['name']} are {aqm['alpha']:g} and {aqm['beta']:g} Hz; "
            f"tc counts in sixteenths of a hertz: {alpha / 16:g} and {beta / 16:g}"
        )
    return (
        f"pie limit {packets} target {time(aqm['target_ps'])} tupdate {time(aqm['update_ps'])} "
        f"alpha {alpha} beta {beta} ecn"
    )


def _red(aqm: dict[str, Any], gate: Gate, way: Way, packets: int, differences: list[str]) -> str:
    red = f"red of gate {gate['name']}"
    unit = way.packet if aqm["unit"] == "packets" else 1
    least, most = aqm["min"] * unit, aqm["max"] * unit
    if aqm["unit"] == "packets":
        differences.append(f"{red} counts bytes: thresholds are packets of {way.packet} bytes")
    if aqm["gentle"]:
        differences.append(f"{red} is not gentle in Linux: above max every packet is dropped")
    if aqm["by_colour"]:
        differences.append(f"{red} has one pair of thresholds here, not one for each colour")
    burst, power = _red_burst(aqm["weight"], least, most, way.packet)
    if not math.isclose(2.0**-power, aqm["weight"], rel_tol=1e-3):
        differences.append(f"the weight of {red} is {aqm['weight']:g}; tc has powers of two, here 2^-{power}")
    bandwidth = gate["rate"]["bps"]
    adaptive = " adaptive" if aqm["adaptive"] else ""
    return (
        f"red limit {max(packets * way.packet, 2 * most)} min {least} max {most} avpkt {way.packet} "
        f"burst {burst} probability {aqm['max_p']:g} bandwidth {bandwidth}bit ecn{adaptive}"
    )


def _red_burst(weight: float, least: int, most: int, packet: int) -> tuple[int, int]:
    """Return the word ``burst`` for which tc chooses the weight next to this one, and its power of two.

    tc takes the largest weight W = 2⁻ⁿ for which a burst of so many packets passes: burst + 1 − min/avpkt ≤
    (1 − (1 − W)^burst) / W (tc-red(8), Floyd and Jacobson 1993, section 6).
    """
    wanted = round(-math.log2(weight))
    fewest = (2 * least + most) // (3 * packet) + 1

    def power(burst: int) -> int:
        need = burst + 1 - least / packet
        if need < 1:
            return 0
        for n in range(1, 32):
            share = 2.0**-n
            if need <= (1 - (1 - share) ** burst) / share:
                return n
        return 32

    best = min(range(fewest, fewest + 20_000), key=lambda burst: (abs(power(burst) - wanted), burst))
    return best, power(best)


def _dualpi2(aqm: dict[str, Any], gate: Gate, _way: Way, packets: int, differences: list[str]) -> str:
    differences.append(f"dualpi2 of gate {gate['name']} needs Linux 6.17 and an iproute2 of its time")
    in_packets = aqm["step_packets"]
    step = f"{in_packets}p" if in_packets else time(aqm["step_ps"])
    return (
        f"dualpi2 limit {packets} target {time(aqm['target_ps'])} tupdate {time(aqm['update_ps'])} "
        f"alpha {aqm['alpha']:g} beta {aqm['beta']:g} coupling_factor {aqm['coupling']:g} "
        f"step_thresh {step} min_qlen_step {aqm['min_qlen_step']} "
        f"classic_protection {100 * aqm['classic_share']:g}%"
    )


_LEAVES: dict[str, Callable[[dict[str, Any], Gate, Way, int, list[str]], str]] = {
    "codel": _codel,
    "fq_codel": _fq_codel,
    "pie": _pie,
    "red": _red,
    "dualpi2": _dualpi2,
}
_WORDS = {"packets": "in packets", "steps": "steps", "trace": "a trace", "markov": "a Markov chain"}


def time(picos: int) -> str:
    """Return a time as tc reads it, rounded to nanoseconds."""
    for size, unit in ((1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us")):
        if picos % size == 0:
            return f"{picos // size}{unit}"
    return f"{round(picos / 1000)}ns"


def percent(share: float) -> str:
    """Return a share as tc reads it."""
    return f"{100 * share:.6f}".rstrip("0").rstrip(".") + "%"
