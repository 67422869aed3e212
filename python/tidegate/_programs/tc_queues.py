"""The queue of a gate as a discipline of tc.

By tc-codel(8), tc-fq_codel(8), tc-pie(8), tc-red(8) and tc-cake(8).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tidegate._programs.tc_words import time

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidegate._ask.plan_objects import Gate
    from tidegate._programs.way import Way


def cake(gate: Gate, way: Way, file: dict[str, Any], counted: int, differences: list[str]) -> str:
    """Return CAKE.

    ``file``: the gate in the scenario's file. ``counted``: what the shaper above, if there is one, makes of a
    packet's bytes in tc, its header of Ethernet included.
    """
    aqm, name = gate["aqm"], gate["name"]
    assert aqm is not None
    bandwidth = aqm["bandwidth_bps"]
    words = ["unlimited" if bandwidth is None else f"bandwidth {bandwidth}bit"]
    queue = file.get("queue")
    chosen = queue.get("aqm") if isinstance(queue, dict) else None
    keys: dict[str, Any] = chosen.get("cake", {}) if isinstance(chosen, dict) else {}
    words.append(str(keys.get("diffserv", "diffserv3")))
    words.append(str(keys.get("isolation", "triple-isolate")))
    if "rtt" in keys:
        words.append(f"rtt {str(keys['rtt']).replace(' ', '')}")
    if bandwidth is not None:
        # Cake takes Ethernet's header from the bytes that it is told, and then adds this.
        words.append(f"overhead {aqm['overhead'] - counted}")
        if aqm["mpu"]:
            words.append(f"mpu {aqm['mpu']}")
        least = gate["framing"].get("minimum", 0)
        if (
            least
            and gate["rate"]["kind"] != "unlimited"
            and aqm["overhead"] != gate["framing"].get("overhead")
        ):
            differences.append(
                f"cake of gate {name} counts small packets from the {least} bytes that the rate makes of them"
            )
        words.append({"none": "noatm"}.get(aqm["compensation"], aqm["compensation"]))
    room = aqm["memory"]
    limit = gate["queue_limit"]
    if limit is not None:
        unit = way.packet if limit["unit"] == "packets" else 1
        room = min(room, limit["count"] * unit)
    if limit is not None or "memory" in keys:
        words.append(f"memlimit {room}")
        differences.append(
            f"the queue of gate {name} is limited in bytes, {room} of them (memlimit), and cake counts the "
            "memory that a packet takes in Linux, which is more than its bytes"
        )
    words += [word for word in ("wash",) if keys.get(word) is True]
    # By tc-cake(8), ``ack-filter`` alone is conservative.
    filters = {"conservative": "ack-filter", "aggressive": "ack-filter-aggressive"}
    words += [filters[word] for word in (keys.get("ack_filter"),) if word in filters]
    return " ".join(["cake", *words])


def leaf(gate: Gate, way: Way, packets: int, differences: list[str], missing: list[str]) -> str:
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
        fate = "dropped" if aqm["hard_drop"] else "marked or dropped"
        differences.append(f"{red} is not gentle in Linux: above max every packet is {fate}")
    if aqm["by_colour"]:
        differences.append(f"{red} has one pair of thresholds here, not one for each colour")
    burst, power = _red_burst(aqm["weight"], least, most, way.packet)
    if not math.isclose(2.0**-power, aqm["weight"], rel_tol=1e-3):
        differences.append(f"the weight of {red} is {aqm['weight']:g}; tc has powers of two, here 2^-{power}")
    # While nothing is sent, tc takes the average down by a packet of avpkt at this rate (tc-red(8)).
    bandwidth = round(8 * way.packet * 10**12 / aqm["packet_time_ps"])
    hard = " harddrop" if aqm["hard_drop"] else ""
    adaptive = " adaptive" if aqm["adaptive"] else ""
    return (
        f"red limit {max(packets * way.packet, 2 * most)} min {least} max {most} avpkt {way.packet} "
        f"burst {burst} probability {aqm['max_p']:g} bandwidth {bandwidth}bit ecn{hard}{adaptive}"
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
