"""The spacer's theory for a plan: one flow, a faster gate before a slower one, nothing lost."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tidegate._ask.plan import packet_bytes, packet_cells, round_trip_ps
from tidegate._base.arguments import PICOS
from tidegate.theory import _tcp_match as tcp_match
from tidegate.theory._match_rules import DoesNotApplyError, need, need_endless, only_flow
from tidegate.theory._spacer import spacer
from tidegate.theory._with_units import CELL_BITS

if TYPE_CHECKING:
    from tidegate._ask.plan_objects import Flow, Gate, Plan, Tcp
    from tidegate.theory._spacer_results import Spacer


def read(plan: Plan) -> dict[str, Any]:
    """Return the parts of a fit.

    Raises:
        DoesNotApplyError: the plan has another shape.
    """
    flow = only_flow(plan)
    host, slow = _gates(plan, flow)
    tcp = flow["tcp"]
    unmet: list[str] = []
    per_ack = _source(flow, tcp, unmet)
    segment_cells, cell_bits, unit = _framing(host, slow, tcp)
    h, c = host["rate"]["bps"], slow["rate"]["bps"]
    need(
        c < h,
        f"gate {slow['name']} is not slower than gate {host['name']} before it, so no packet ever waits",
    )
    rtt = Fraction(round_trip_ps(plan, flow), PICOS)
    window, initial, threshold = _windows(tcp, per_ack)
    cell_s = Fraction(cell_bits, h)
    parameters: dict[str, Any] = {
        "h": Fraction(1),
        "c": Fraction(c, h),
        # A cell received at t is fluid that arrives until one cell time later.
        "delta": rtt / cell_s + 1,
        "segment_cells": segment_cells,
        "threshold": threshold,
        "window": window,
        "initial_window": initial,
        "segments_per_ack": per_ack,
    }
    found = spacer(**parameters)
    _queues(host, slow, found, unit, tcp)
    if found.window > found.threshold and tcp["increase"] != "per window":
        unmet.append(f'the window grows "{tcp["increase"]}", not by one with each window acknowledged')
    trip = (Fraction(found.delta) + Fraction(found.V_w_plus) / Fraction(found.c)) * cell_s
    if trip * PICOS >= tcp["least_timeout_ps"]:
        unmet.append(f"the round trip of up to {float(1000 * trip):.4g} ms may exceed the time-out")
    settled = _settled(found) * cell_s + Fraction(flow["start_ps"] or 0, PICOS)
    if settled * PICOS > plan["warmup_ps"]:
        unmet.append(
            f"the numbers hold once the window stops growing, at about {float(settled):.4g} s, "
            f"but the summary starts at {plan['warmup_ps'] / PICOS:g} s"
        )
    return {
        "parameters": {**parameters, "cell_time_s": cell_s},
        "unmet": tuple(unmet),
        "result": found,
        "flows": [_flow_row(flow, tcp, found, cell_s)],
        "gates": [_gate_row(slow, found, unit)],
    }


def _gates(plan: Plan, flow: Flow) -> tuple[Gate, Gate]:
    path, back = tcp_match.ways(plan, flow)
    for gate in (*path, *back):
        tcp_match.plain(gate)
        need(not gate["slotted"], f"gate {gate['name']} is slotted: it does not send a cell when it arrives")
        need(gate["epd"] is None, f"gate {gate['name']} has early packet discard")
    for gate in back:
        tcp_match.unlimited(gate)
    rated = [gate for gate in path if gate["rate"]["kind"] != "unlimited"]
    for gate in rated:
        tcp_match.constant(gate)
        need(gate["rate"]["bps"], f"gate {gate['name']} has a rate of 0")
    need(
        len(rated) == 2 and rated[0] is not rated[1],
        "the model has two gates with a rate, that of the sending host and a slower one after it; "
        f"the path of flow {flow['name']} has {len(rated)}",
    )
    return rated[0], rated[1]


def _source(flow: Flow, tcp: Tcp, unmet: list[str]) -> int:
    """Return the segments of an acknowledgement."""
    name = flow["name"]
    need_endless(flow)
    need(flow["start_ps"] is not None, f"flow {name} starts at a random time")
    tcp_match.grows_as_reno(flow)
    if tcp["handshake"]:
        unmet.append("the handshake comes first; times count from its end")
    delayed = tcp["delayed_ack"]
    every = 1 if delayed is None else delayed["every"]
    need(every in (1, 2), f"flow {name} acknowledges every {every} segments; in the model it is 1 or 2")
    if every == 2:
        need(
            not tcp["quick_acks"],
            f"the receiver of flow {name} acknowledges the first {tcp['quick_acks']} segments one by one",
        )
        if delayed is not None and delayed["timeout_ps"] is not None:
            unmet.append(
                f"a segment that waits alone is acknowledged after {delayed['timeout_ps'] / 1e9:g} ms, "
                "not only with the next one"
            )
    return every


def _framing(host: Gate, slow: Gate, tcp: Tcp) -> tuple[int, int, str]:
    """Return units of a segment, bits of a unit, and what a unit is."""
    framing = slow["framing"]
    need(
        framing == host["framing"],
        f"gates {host['name']} and {slow['name']} have different framing",
    )
    if framing["kind"] == "aal5":
        return packet_cells(tcp, framing), CELL_BITS, "cells"
    return 1, 8 * tcp_match.wire_bytes(slow, tcp), "packets"


def _windows(tcp: Tcp, per_ack: int) -> tuple[int, int, int]:
    """Return window, initial window and threshold in segments."""
    if tcp["window"] is None:
        raise DoesNotApplyError("the window is unlimited (tcp.window), so the queue would grow without end")
    mss = tcp["mss"]
    window, initial = tcp["window"] // mss, max(1, tcp["initial_window"] // mss)
    need(
        initial * mss == max(mss, tcp["initial_window"]),
        "the initial window is not a whole number of segments",
    )
    need(
        min(window, initial) >= per_ack,
        "with an acknowledgement for every second segment a window of one is never acknowledged",
    )
    ssthresh = tcp["initial_ssthresh"]
    return window, initial, window if ssthresh is None else max(1, -(-ssthresh // mss))


def _queues(host: Gate, slow: Gate, found: Spacer, unit: str, tcp: Tcp) -> None:
    # All of a window may wait in the host.
    for gate, most in ((host, found.window * found.segment_cells), (slow, found.buffer_cells)):
        limit = gate["queue_limit"]
        if limit is None:
            continue
        packet = packet_bytes(tcp)
        segments = -(-most // found.segment_cells)
        needed = {"packets": segments, "bytes": segments * packet, "cells": most}[limit["unit"]]
        if gate is slow and limit["unit"] == unit and not gate["queue_counts_all"]:
            needed -= 1
        need(
            limit["count"] >= needed,
            f"the queue of gate {gate['name']} holds {limit['count']} {limit['unit']}; without loss it may "
            f"need {needed}",
        )


def _settled(found: Spacer) -> Fraction:
    """Return about when the window stops growing."""
    if found.first_increment is None:
        return Fraction(found.t_b)
    trip = Fraction(found.Delta_prime or found.Delta)
    service = Fraction(found.segment_cells) / Fraction(found.c)
    rounds = sum(max(trip, window * service) for window in range(found.threshold + 1, found.window + 1))
    return Fraction(found.first_increment) + rounds


def _flow_row(flow: Flow, tcp: Tcp, found: Spacer, cell_s: Fraction) -> dict[str, Any]:
    segments = Fraction(found.rate) / found.segment_cells / cell_s
    ip = packet_bytes(tcp)
    row: dict[str, Any] = {
        "name": flow["name"],
        "cc": tcp["cc"],
        "tcp": tcp["label"],
        "goodput_bps": float(8 * tcp["mss"] * segments),
        # Nothing is lost, so nothing waits behind a gap.
        "in_order_bps": float(8 * tcp["mss"] * segments),
        "throughput_bps": float(8 * ip * segments),
        "efficiency": 1.0,
        "segments_retransmitted": 0,
        "timeouts": 0,
        "fast_retransmits": 0,
    }
    if found.segments_per_ack == 1:
        # A window is acknowledged in each round trip.
        row["rtt_mean_ms"] = float(1000 * found.window / segments)
    return row


def _gate_row(gate: Gate, found: Spacer, unit: str) -> dict[str, Any]:
    in_service = 0 if gate["queue_counts_all"] else 1
    row: dict[str, Any] = {
        "name": gate["name"],
        "utilisation": float(Fraction(found.rate) / Fraction(found.c)),
        "dropped_packets": 0,
        "loss": 0.0,
        "rate_mean_bps": float(gate["rate"]["bps"]),
    }
    row[f"queue_max_{unit}"] = max(found.V_w_plus_cells - in_service, 0)
    if unit == "cells":
        row["queue_fluid_min_cells"] = float(found.V_w_minus)
        row["queue_fluid_max_cells"] = float(found.V_w_plus)
    return row
