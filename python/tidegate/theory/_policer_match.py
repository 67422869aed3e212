"""The policer's theory for a plan: one Reno connection, one policer of one rate, nothing else in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate.theory import _tcp_match as tcp_match
from tidegate.theory._match_rules import DoesNotApplyError, need
from tidegate.theory._policer import policer

if TYPE_CHECKING:
    from tidegate._ask.plan_objects import Plan, Tcp

#: With a largest window below this many segments a halved one has fewer than three segments behind a loss.
LEAST_WINDOW = 8


def _most(tcp: Tcp, share: float) -> str:
    """Return how much simulations give beside the theory with a bucket that is a share of a round trip's."""
    if not tcp_match.repairs_as_linux(tcp):
        return "one and a half times" if tcp["sack"] else "twice"
    return "four times" if share < 0.25 else "three times" if share < 0.5 else "twice"


def read(plan: Plan) -> dict[str, Any]:
    """Return the parts of a fit.

    Raises:
        DoesNotApplyError: the plan has another shape.
    """
    flow = tcp_match.long_flow(plan)
    gates = tcp_match.path_of(plan, flow)
    tcp_match.halves(flow)
    policing = [gate for gate in gates if gate["polices"]]
    need(
        len(policing) == 1,
        f"the model has one policer, and the path of flow {flow['name']} has {len(policing)}",
    )
    gate, tcp = policing[0], flow["tcp"]
    contract = gate["contract"]
    if contract is None:
        raise DoesNotApplyError(f"the policer of gate {gate['name']} does not drop what is above one rate")
    for each in gates:
        need(not each["loses"], f"gate {each['name']} loses packets at random")
    for each in gates[: gates.index(gate)]:
        need(each["rate"]["kind"] == "unlimited", f"gate {each['name']} before the policer has a rate")
    segment = tcp_match.wire_bytes(gate, tcp)
    rate, rtt = contract["bps"] / (8 * segment), tcp_match.seconds(plan, flow)
    need(rate > 0, f"the contract of gate {gate['name']} has a rate of 0")
    need(contract["burst_bytes"] >= segment, f"the bucket of gate {gate['name']} does not hold one segment")
    bdp, bucket = rate * rtt, contract["burst_bytes"] / segment
    found = policer(bucket, bdp, growth=tcp_match.growth(tcp), paced=tcp["paces"])
    least = tcp_match.slowest(gates, tcp)
    need(
        least is None or least * rtt > 1.2 * found.window_max,
        f"a gate on the path is hardly faster than the contract of gate {gate['name']}",
    )
    need(
        tcp["window"] is None or tcp["window"] >= tcp["mss"] * found.window_max,
        f"the window of flow {flow['name']} is below the {found.window_max:.4g} segments that the "
        "policer lets pass",
    )
    unmet: list[str] = []
    tcp_match.windows(flow, unmet)
    tcp_match.acknowledged(plan, flow, unmet)
    tcp_match.bursts_fit(gates, flow, unmet)
    if bucket < bdp and not tcp["paces"]:
        unmet.append(
            f"the bucket of {bucket:.3g} segments is below a round trip's {bdp:.3g}: a window that leaves in "
            f"several bursts gets up to {_most(tcp, bucket / bdp)} this"
        )
    if not tcp["sack"]:
        unmet.append(
            f"flow {flow['name']} has no SACK: a repair takes many round trips, and costs up to three fifths"
        )
    if found.window_max < LEAST_WINDOW:
        unmet.append(
            f"the window is at most {found.window_max:.3g} segments, so losses may end in time-outs, "
            "which are not counted"
        )
    tcp_match.constant_delay(plan, flow, unmet)
    tcp_match.settled(plan, unmet, 4 * found.cycle * rtt, f"after some cycles of {found.cycle * rtt:.3g} s")
    parameters = {
        "bucket": bucket,
        "bdp": bdp,
        "growth": tcp_match.growth(tcp),
        "paced": int(tcp["paces"]),
        "segment_bytes": segment,
        "rate_bps": contract["bps"],
        "rtt_s": rtt,
    }
    row = tcp_match.flow_row(flow, rate * found.share, 0.0, cwnd_mean_segments=found.window_mean)
    return tcp_match.parts(parameters, unmet, found, row)
