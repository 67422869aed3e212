"""The theories of random loss for a plan: a long connection, independent losses, no gate that limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.arguments import PICOS
from tidegate.theory import _tcp_match as tcp_match
from tidegate.theory._match_rules import DoesNotApplyError, need
from tidegate.theory._random_loss import cubic, mathis, pftk

if TYPE_CHECKING:
    from tidegate._ask.plan_objects import Flow, Gate, Plan

#: Above this probability time-outs are so frequent that a formula without them is far off.
MATHIS_MOST = 0.01


def read_mathis(plan: Plan) -> dict[str, Any]:
    """Return the parts of a fit of Mathis et al.

    Raises:
        DoesNotApplyError: the plan has another shape.
    """
    flow, gates, loss, rtt = _losing(plan)
    tcp_match.halves(flow)
    need(
        loss <= MATHIS_MOST * (1 + 1e-9),
        f"{100 * loss:g}% of packets are lost; above {100 * MATHIS_MOST:g}% time-outs count, not in it",
    )
    every = round(1 / tcp_match.growth(flow["tcp"]))
    rate = mathis(loss, rtt, segments_per_ack=every)
    _unlimited(flow, rate * rtt)
    tcp_match.fits_below(rate, gates, flow, "the rate under this loss")
    parameters = {"loss": loss, "rtt_s": rtt, "segments_per_ack": every}
    return _parts(plan, flow, gates, parameters, rate)


def read_pftk(plan: Plan) -> dict[str, Any]:
    """Return the parts of a fit of Padhye et al.

    Raises:
        DoesNotApplyError: the plan has another shape.
    """
    flow, gates, loss, rtt = _losing(plan)
    tcp_match.halves(flow)
    tcp = flow["tcp"]
    every = round(1 / tcp_match.growth(tcp))
    window = tcp_match.window_segments(flow)
    timeout = (tcp["fixed_rto_ps"] or max(tcp["least_timeout_ps"], rtt * PICOS)) / PICOS
    rate = pftk(loss, rtt, timeout, segments_per_ack=every, window=window)
    tcp_match.fits_below(rate, gates, flow, "the rate under this loss")
    parameters = {"loss": loss, "rtt_s": rtt, "timeout_s": timeout, "segments_per_ack": every}
    found = _parts(plan, flow, gates, parameters, rate)
    unmet: list[str] = []
    if rate < pftk(loss, rtt, timeout, segments_per_ack=every):
        tcp_match.whole_acks(flow, window, unmet)
    found["unmet"] = (
        "losses are independent; in the model all segments behind a loss in its round trip are lost, too",
        *unmet,
        *found["unmet"],
    )
    return found


def read_cubic(plan: Plan) -> dict[str, Any]:
    """Return the parts of a fit of RFC 9438's response function.

    Raises:
        DoesNotApplyError: the plan has another shape.
    """
    flow, gates, loss, rtt = _losing(plan)
    need(
        flow["tcp"]["cc"] == "cubic",
        f'flow {flow["name"]} has tcp.cc = "{flow["tcp"]["cc"]}"; the theory is about cubic',
    )
    need(
        loss <= MATHIS_MOST * (1 + 1e-9),
        f"{100 * loss:g}% of packets are lost; above {100 * MATHIS_MOST:g}% time-outs count",
    )
    tcp_match.retransmits(flow)
    rate = cubic(loss, rtt)
    _unlimited(flow, rate * rtt)
    tcp_match.fits_below(rate, gates, flow, "the rate under this loss")
    found = _parts(plan, flow, gates, {"loss": loss, "rtt_s": rtt}, rate)
    found["unmet"] = ("losses are random; in the response function they come regularly", *found["unmet"])
    return found


def _losing(plan: Plan) -> tuple[Flow, list[Gate], float, float]:
    """Return the flow, its path, the share of its packets that is lost, and its round trip in seconds."""
    flow = tcp_match.long_flow(plan)
    gates = tcp_match.path_of(plan, flow)
    passed = 1.0
    for gate in gates:
        need(not gate["polices"], f"gate {gate['name']} has a policer")
        if gate["loss"] is None:
            raise DoesNotApplyError(f"the losses of gate {gate['name']} are not independent")
        passed *= 1 - gate["loss"]
    need(0 < 1 - passed < 1, "nothing is lost at random, or everything")
    return flow, gates, 1 - passed, tcp_match.seconds(plan, flow)


def _unlimited(flow: Flow, mean: float) -> None:
    """Refuse a window that would often limit."""
    tcp = flow["tcp"]
    need(
        tcp["window"] is None or tcp["window"] >= 2 * mean * tcp["mss"],
        f"the window of flow {flow['name']} is below twice the mean of {mean:.4g} segments, so it limits",
    )


def _parts(
    plan: Plan, flow: Flow, gates: list[Gate], parameters: dict[str, Any], rate: float
) -> dict[str, Any]:
    loss, rtt = parameters["loss"], parameters["rtt_s"]
    unmet: list[str] = []
    tcp_match.windows(flow, unmet)
    tcp_match.acknowledged(plan, flow, unmet)
    tcp_match.bursts_fit(gates, flow, unmet)
    tcp_match.constant_delay(plan, flow, unmet)
    tcp_match.settled(plan, unmet, 10 * rtt, "after slow start")
    return tcp_match.parts(parameters, unmet, rate, tcp_match.flow_row(flow, rate, loss))
