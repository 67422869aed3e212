"""What the theories of one long TCP connection ask of a plan, each in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._ask.plan import RATE_WORDS, packet_bytes, round_trip_ps
from tidegate._base.arguments import PICOS
from tidegate.theory._match_rules import DoesNotApplyError, need, need_endless, only_flow

if TYPE_CHECKING:
    from tidegate._ask.plan_objects import Flow, Gate, Plan, Tcp

#: Segments of an ACK up to which the theories of losses hold (RFC 5681 §4.2).
MOST_PER_ACK = 2
#: Up to this share of the slowest gate's rate it does not limit.
CLEARLY = 0.8
#: A smaller share of the goodput is not told.
LEAST_SHARE = 0.01


def long_flow(plan: Plan) -> Flow:
    """Return the one flow of a plan, which always has data to send.

    Raises:
        DoesNotApplyError: there is another number of flows, or other traffic, or the flow has pauses, does
            not start in the run, or obeys the advice of gates.
    """
    flow = only_flow(plan)
    need_endless(flow)
    return flow


def path_of(plan: Plan, flow: Flow) -> list[Gate]:
    """Return the gates on the way there, of which none does what no theory here describes.

    Raises:
        DoesNotApplyError: one of them, or one on the way back, does.
    """
    there, back = ways(plan, flow)
    for gate in (*there, *back):
        _drop_tail(gate)
        need(gate["framing"]["kind"] != "aal5", f"gate {gate['name']} carries cells")
    for gate in back:
        unlimited(gate)
        need(not gate["loses"] and not gate["polices"], f"gate {gate['name']} on the way back loses packets")
    for gate in there:
        constant(gate)
    return there


def ways(plan: Plan, flow: Flow) -> tuple[list[Gate], list[Gate]]:
    """Return the gates on the way there, and those on the way back."""
    return [plan["gates"][n] for n in flow["path"]], [plan["gates"][n] for n in flow["back"]]


def plain(gate: Gate) -> None:
    """Need a gate whose rate and full queue are all that happens to packets."""
    need(not gate["loses"], f"gate {gate['name']} loses packets")
    _drop_tail(gate)
    need(not gate["polices"], f"gate {gate['name']} has a policer")
    need(not gate["jitters"], f"gate {gate['name']} has jitter")


def _drop_tail(gate: Gate) -> None:
    name, discipline = gate["name"], gate["discipline"]
    need(discipline == "drop-tail", f"gate {name} has the queue discipline {discipline}")


def unlimited(gate: Gate) -> None:
    """Need a gate on the way back that passes ACKs as they come."""
    need(gate["rate"]["kind"] == "unlimited", f"gate {gate['name']} on the way back has a rate")


def constant(gate: Gate) -> None:
    """Need one rate, or none."""
    name, kind = gate["name"], gate["rate"]["kind"]
    need(
        kind in ("unlimited", "constant"),
        f"the rate of gate {name} is not a constant bit rate: it is {RATE_WORDS[kind]}",
    )


def grows_as_reno(flow: Flow) -> None:
    """Need a window that grows by one in a round trip, and that a loss halves."""
    name, tcp = flow["name"], flow["tcp"]
    need(tcp["halves"], f'flow {name} has tcp.cc = "{tcp["cc"]}", whose window does not grow as in the paper')


def halves(flow: Flow) -> None:
    """Refuse a controller that is not Reno or NewReno with fast retransmit."""
    name, tcp = flow["name"], flow["tcp"]
    need(
        tcp["cc"] in ("reno", "newreno"),
        f'flow {name} has tcp.cc = "{tcp["cc"]}"; the theory is about reno and newreno',
    )
    retransmits(flow)


def retransmits(flow: Flow) -> None:
    """Refuse a flow that waits for a time-out after each loss."""
    need(
        flow["tcp"]["fast_retransmit"],
        f"flow {flow['name']} has no fast retransmit (tcp.dupthresh); in the theory repeated ACKs tell of a "
        "loss",
    )


def windows(flow: Flow, unmet: list[str]) -> None:
    """Note where the window or the repair of losses is not that of the RFCs, of which the theories are."""
    if flow["tcp"]["arithmetic"] != "rfc":
        unmet.append(f"flow {flow['name']} has Linux's TCP; the theory is of the window of the RFCs")
    elif repairs_as_linux(flow["tcp"]):
        unmet.append(f"flow {flow['name']} repairs losses as Linux does; the theory is of the RFCs' repair")


def repairs_as_linux(tcp: Tcp) -> bool:
    """Tell whether losses are found and repaired as Linux does: by time, in proportion to what arrives."""
    # The label ends with the base, which gives the defaults of tcp.loss and tcp.reduction.
    return tcp["sack"] and tcp["label"].rpartition(", ")[2].startswith("linux")


def acknowledged(plan: Plan, flow: Flow, unmet: list[str]) -> None:
    """Note where ACKs come too seldom for the theories of losses, or a time-out comes before them."""
    tcp, every = flow["tcp"], segments_per_ack(flow["tcp"])
    if every > MOST_PER_ACK:
        unmet.append(
            f"the receiver of flow {flow['name']} sends an ACK for every {every} segments; in the theory it "
            "sends one for each or for every second"
        )
    fixed = tcp["fixed_rto_ps"]
    trip = round(_answered(plan, flow) * PICOS)
    if fixed is not None and fixed < trip:
        unmet.append(
            f"the time-out of {fixed / 1e9:.4g} ms is over before an ACK comes, after {trip / 1e9:.4g} ms: "
            "segments that were not lost are sent again, and the window begins anew"
        )


def _answered(plan: Plan, flow: Flow) -> float:
    """Return the seconds until the ACK of a segment comes where nothing waits."""
    tcp = flow["tcp"]
    served = sum(
        8 * wire_bytes(gate, tcp) / gate["rate"]["bps"]
        for gate in ways(plan, flow)[0]
        if gate["rate"]["kind"] == "constant" and gate["rate"]["bps"]
    )
    return round_trip_ps(plan, flow) / PICOS + served


def growth(tcp: Tcp) -> float:
    """Return by how many segments the window grows in a round trip: 1, or less where ACKs are counted."""
    return 1 if tcp["increase"] == "per window" else 1 / segments_per_ack(tcp)


def segments_per_ack(tcp: Tcp) -> int:
    """Return the segments that an ACK acknowledges where nothing is lost."""
    return 1 if tcp["delayed_ack"] is None else tcp["delayed_ack"]["every"]


def window_segments(flow: Flow) -> int | None:
    """Return the whole segments that the receiver's window holds; None: it has no limit.

    Raises:
        DoesNotApplyError: an ACK waits for more segments than it holds.
    """
    tcp, every = flow["tcp"], segments_per_ack(flow["tcp"])
    if tcp["window"] is None:
        return None
    count = tcp["window"] // tcp["mss"]
    need(
        count >= every,
        f"the window of flow {flow['name']} holds {count} segment{'s' if count > 1 else ''}, and an ACK "
        f"waits for {every}, so the delay of ACKs limits",
    )
    return count


def whole_acks(flow: Flow, count: int | None, unmet: list[str]) -> None:
    """Note a window whose last segments wait for an ACK until the next ones come."""
    waiting = 0 if count is None else count % segments_per_ack(flow["tcp"])
    if count is not None and waiting > LEAST_SHARE * count:
        unmet.append(
            f"the window of flow {flow['name']} holds {count} segments, and an ACK is for "
            f"{segments_per_ack(flow['tcp'])}: the last ones wait, which costs up to {waiting / count:.2g} "
            "of the goodput"
        )


def seconds(plan: Plan, flow: Flow) -> float:
    """Return the fixed round trip.

    Raises:
        DoesNotApplyError: it is 0.
    """
    trip = round_trip_ps(plan, flow)
    need(trip > 0, "the round trip has no delay")
    return trip / PICOS


def wire_bytes(gate: Gate, tcp: Tcp) -> int:
    """Return the bytes of a full segment on a gate's wire."""
    packet, framing = packet_bytes(tcp), gate["framing"]
    if framing["kind"] == "overhead":
        return max(packet + framing["overhead"], framing["minimum"])
    return packet


def slowest(gates: list[Gate], tcp: Tcp) -> float | None:
    """Return the segments per second of the slowest gate; None: no gate has a rate."""
    rates = [
        gate["rate"]["bps"] / (8 * wire_bytes(gate, tcp))
        for gate in gates
        if gate["rate"]["kind"] == "constant"
    ]
    return min(rates, default=None)


def fits_below(rate: float, gates: list[Gate], flow: Flow, found: str) -> None:
    """Refuse a path of which a gate is not clearly faster than what the theory finds."""
    least = slowest(gates, flow["tcp"])
    if least is not None and rate > CLEARLY * least:
        raise DoesNotApplyError(
            f"{found} would be {rate:.4g} segments/s, and the slowest gate carries {least:.4g}: "
            + ("it limits" if rate > least else f"above {100 * CLEARLY:g}% of that it often limits")
        )


def bursts_fit(gates: list[Gate], flow: Flow, unmet: list[str]) -> None:
    """Note a queue that does not hold what leaves at once: it drops packets whenever the window grows."""
    # An ACK lets as many segments leave as it acknowledges, and one more where the window grows. One does not
    # wait: it is transmitted.
    waiting = segments_per_ack(flow["tcp"])
    for gate in gates:
        limit = gate["queue_limit"]
        if limit is None or gate["rate"]["kind"] == "unlimited":
            continue
        packets = limit["unit"] == "packets"
        room = limit["count"] if packets else limit["count"] // packet_bytes(flow["tcp"])
        if room - gate["queue_counts_all"] < waiting:
            unmet.append(
                f"the queue of gate {gate['name']} holds {limit['count']} {limit['unit']}, and an ACK lets "
                f"{waiting + 1} packets leave at once: it drops some, which the theory does not count"
            )


def constant_delay(plan: Plan, flow: Flow, unmet: list[str]) -> None:
    """Note what the theories leave out of the round trip."""
    unmet += [
        f"gate {gate['name']} has jitter, and the round trip of the theory has the least delay"
        for way in ways(plan, flow)
        for gate in way
        if gate["jitters"]
    ]


def settled(plan: Plan, unmet: list[str], after_s: float, what: str) -> None:
    """Note where the warmup ends before the numbers hold."""
    start_s = only_flow(plan)["latest_start_ps"] / PICOS
    if plan["warmup_ps"] < (start_s + after_s) * PICOS:
        started = f" of the flow's start at {start_s:g} s" if start_s > 0 else ""
        unmet.append(
            f"the numbers hold {what}{started}, and the summary starts at {plan['warmup_ps'] / PICOS:g} s"
        )


def flow_row(flow: Flow, sent: float, lost: float, **more: Any) -> dict[str, Any]:
    """Return a flow's row: ``sent`` segments per second, of which a share is lost."""
    tcp = flow["tcp"]
    arrived = sent * (1 - lost)
    return {
        "name": flow["name"],
        "cc": tcp["cc"],
        "tcp": tcp["label"],
        "goodput_bps": float(8 * tcp["mss"] * arrived),
        "throughput_bps": float(8 * packet_bytes(tcp) * arrived),
        **more,
    }


def parts(parameters: dict[str, Any], unmet: list[str], result: Any, row: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a fit that says something of the flow alone."""
    return {"parameters": parameters, "unmet": tuple(unmet), "result": result, "flows": [row], "gates": []}
