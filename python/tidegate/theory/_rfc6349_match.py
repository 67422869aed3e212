"""RFC 6349's figures for a plan: one long connection, one gate with a rate, a queue that is long enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._ask.plan import packet_bytes
from tidegate.theory import _tcp_match as tcp_match
from tidegate.theory._match_rules import need
from tidegate.theory._rfc6349 import rfc6349

if TYPE_CHECKING:
    from tidegate._ask.plan_objects import Gate, Plan


def read(plan: Plan) -> dict[str, Any]:
    """Return the parts of a fit.

    Raises:
        DoesNotApplyError: the plan has another shape.
    """
    flow = tcp_match.long_flow(plan)
    gates = tcp_match.path_of(plan, flow)
    for gate in gates:
        need(not gate["loses"], f"gate {gate['name']} loses packets at random")
        need(not gate["polices"], f"gate {gate['name']} has a policer")
    rated = [gate for gate in gates if gate["rate"]["kind"] == "constant"]
    need(
        len(rated) == 1, f"RFC 6349 has one bottleneck, and the path of flow {flow['name']} has {len(rated)}"
    )
    gate, tcp = rated[0], flow["tcp"]
    need(gate["rate"]["bps"] > 0, f"gate {gate['name']} has a rate of 0")
    segment, packet = tcp_match.wire_bytes(gate, tcp), packet_bytes(tcp)
    # The round trip of a packet: delays, its own time at the bottleneck, and that of those its ACK waits for.
    service = 8 * segment / gate["rate"]["bps"]
    rtt = tcp_match.seconds(plan, flow) + tcp_match.segments_per_ack(tcp) * service
    count = tcp_match.window_segments(flow)
    parameters: dict[str, Any] = {
        "rate": float(gate["rate"]["bps"]),
        "rtt": rtt,
        "mss": tcp["mss"],
        "headers": packet - tcp["mss"],
        "overhead": segment - packet,
        # A sender sends whole segments.
        "window": None if count is None else count * tcp["mss"],
    }
    found = rfc6349(**parameters)
    unmet: list[str] = []
    tcp_match.acknowledged(plan, flow, unmet)
    if found.window_limits:
        tcp_match.whole_acks(flow, count, unmet)
    room = _room(gate, segment)
    if not found.window_limits:
        need(
            tcp["cc"] in ("reno", "newreno", "cubic"),
            f'flow {flow["name"]} has tcp.cc = "{tcp["cc"]}", which may keep away from a full queue',
        )
        # Half of product and queue together still fills the link where the queue is a product (RFC 6349 §5).
        if room is not None and room < found.bdp_bytes:
            unmet.append(
                f"the queue of gate {gate['name']} holds {room / 1000:.4g} kB, less than the bandwidth-delay "
                f"product of {found.bdp_bytes / 1000:.4g} kB: after a loss the link is not full"
            )
    tcp_match.constant_delay(plan, flow, unmet)
    tcp_match.settled(plan, unmet, 10 * rtt, "after slow start")
    shown = {name: value for name, value in parameters.items() if value is not None}
    row = tcp_match.flow_row(flow, found.goodput_bps / (8 * tcp["mss"]), 0.0)
    return tcp_match.parts(shown, unmet, found, row)


def _room(gate: Gate, segment: int) -> float | None:
    limit = gate["queue_limit"]
    if limit is None:
        return None
    return float(limit["count"] * (segment if limit["unit"] == "packets" else 1))
