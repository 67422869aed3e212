"""A link as commands of ``tc`` (iproute2), for a device with Ethernet headers.

By tc(8), tc-tbf(8), tc-netem(8), tc-stab(8), tc-codel(8), tc-fq_codel(8), tc-pie(8), tc-red(8), tc-cake(8)
and tc-police(8).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tidegate._programs import tc_queues
from tidegate._programs.tc_words import ETHERNET, percent, time
from tidegate._programs.unsaid import unsaid
from tidegate._programs.way import extra_bytes, shaper_bps

if TYPE_CHECKING:
    from tidegate._ask.plan_objects import Gate
    from tidegate._programs.way import Way

#: Bytes of the largest IP packet on Ethernet.
MTU = 1500
#: Packets that a queue without a limit, or a delay, may hold: more than any link keeps in flight.
MANY = 1_000_000
#: Bytes, likewise.
MANY_BYTES = 1_000_000_000
#: Keys of a gate that the commands say, or of which a sentence says what becomes of them.
EXPRESSED = frozenset({
    "rate", "on_change", "framing", "delay", "jitter", "loss", "police", "per", "duplex", "slotted",
    "reassembly", "classes", "scheduler", "tas", "queue.limit", "queue.counts", "queue.epd",
    "queue.ppd", "queue.aqm.step", "queue.aqm.codel", "queue.aqm.fq_codel",
    *(f"queue.aqm.pie.{key}" for key in ("target", "update", "alpha", "beta")),
    *(
        f"queue.aqm.dualpi2.{key}"
        for key in (
            "target", "update", "alpha", "beta", "coupling", "step", "step_packets", "min_qlen_step",
            "classic_share",
        )
    ),
    *(
        f"queue.aqm.red.{key}"
        for key in (
            "min", "max", "max_p", "wq", "mean_packet", "bandwidth", "gentle", "hard_drop", "adaptive",
            "green", "yellow", "red",
        )
    ),
    *(
        f"queue.aqm.cake.{key}"
        for key in (
            "bandwidth", "overhead", "mpu", "compensation", "diffserv", "isolation", "rtt", "memory", "wash",
            "ack_filter",
        )
    ),
})  # fmt: skip
#: What tc has where it has no word for a key.
DEFAULTS: dict[str, Any] = {
    "queue.aqm.pie.max_burst": "150 ms",
    "queue.aqm.pie.mark_below": "10%",
    "queue.aqm.pie.derandomize": True,
    "queue.aqm.pie.cap": True,
    "queue.aqm.dualpi2.range": "0 s",
    "queue.aqm.red.update": "500 ms",
    "queue.aqm.red.increase": "1%",
    "queue.aqm.red.decrease": "90%",
    "queue.aqm.red.max_p_least": "1%",
    "queue.aqm.red.max_p_most": "50%",
    "queue.aqm.red.target_low": "40%",
    "queue.aqm.red.target_high": "60%",
    "queue.aqm.cake.target": "a twentieth of rtt",
    "queue.aqm.cake.mtu": "1514 B",
    "queue.aqm.cake.queues": 1024,
    "queue.aqm.cake.blue_increment": "1/256",
    "queue.aqm.cake.blue_decrement": "1/4096",
}

_WORDS = {"packets": "in packets", "steps": "steps", "trace": "a trace", "markov": "a Markov chain"}


def commands(
    way: Way, device: str, gates: dict[str, dict[str, Any]]
) -> tuple[list[str], list[str], list[str]]:
    """Return commands for one direction, what differs, and what is missing.

    ``gates``: the gates of the scenario's file, by name.
    """
    differences: list[str] = []
    missing = way.unlike("netem's jitter changes the order")
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
        file = way.in_file(gate, gates)
        shaper = _shaper(gate, way, parent, differences, missing, file)
        lines += [f"tc qdisc add dev {device} {each}" for each in shaper]
    for gate in way.gates:
        differences += unsaid(gate, way.in_file(gate, gates), "tc", EXPRESSED, DEFAULTS)
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
            # Without an mtu, packets above 2040 bytes never conform.
            f"action police rate {rate}bit burst {burst} mtu {max(2040, way.packet + ETHERNET)} "
            "conform-exceed drop/pipe"
        ),
    ]


def _shaper(
    gate: Gate,
    way: Way,
    parent: str,
    differences: list[str],
    missing: list[str],
    file: dict[str, Any],
) -> list[str]:
    """Return the parts of ``tc qdisc add dev X`` for rate and queue."""
    rate = gate["rate"]
    name = gate["name"]
    if rate["kind"] == "unlimited":
        if shaper_bps(gate) is not None:
            return [f"{parent} handle 10: {tc_queues.cake(gate, way, file, 0, differences)}"]
        return []
    if rate["kind"] not in ("constant", "token_bucket"):
        missing.append(
            f"the rate of gate {name} is {_WORDS.get(rate['kind'], rate['kind'])}; tc has constant rates and "
            "token buckets"
        )
        return []
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
    if gate["discipline"] == "cake":
        leaf = tc_queues.cake(gate, way, file, extra_bytes(gate) - ETHERNET, differences)
        return [f"{words} limit {MANY_BYTES}", f"parent 10:1 handle 20: {leaf}"]
    packets = MANY if limit is None else limit["count"] + in_service
    if limit is not None and limit["unit"] == "bytes":
        packets = max(1, limit["count"] // way.packet) + in_service
        differences.append(
            f"the queue of gate {name} is limited in packets of {way.packet} bytes, not in bytes"
        )
    leaf = tc_queues.leaf(gate, way, packets, differences, missing)
    return [f"{words} limit {MANY_BYTES}", f"parent 10:1 handle 20: {leaf}"]
