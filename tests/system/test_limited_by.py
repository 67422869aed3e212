"""What limited a flow, where it is known beforehand."""

from __future__ import annotations

import pytest
from common import summary

GATE = """
duration = "40 s"
warmup = "5 s"
[gate.link]
rate = "10 Mbit/s"
queue = "{queue}"
delay = "20 ms"
loss = {loss}
[flow.x]
path = ["link"]
rtt = "60 ms"
"""

#: name: (queue, loss, lines of the flow, what limits it, its least share)
CASES = {
    # An ACK for each segment: pairs of segments would wait for each other at the gate.
    "receiver window": (
        "unlimited", 0, 'tcp.window = "10 segments"\ntcp.delayed_ack = false', "receiver window", 0.99
    ),
    "fixed window": (
        "unlimited",
        0,
        'tcp.cc = "fixed"\ntcp.window = "10 segments"\ntcp.delayed_ack = false',
        "congestion window",
        0.99,
    ),
    "application, writes": ("unlimited", 0, 'app.constant.rate = "2 Mbit/s"', "application", 0.97),
    "application, on and off": (
        "unlimited", 0, 'app.on_off = { rate = "3 Mbit/s", on = "1 s", off = "1 s" }', "application", 0.9
    ),
    "application, nothing left": ("unlimited", 0, 'app.transfer = "1 MB"', "application", 0.99),
    "gate, standing queue": ("unlimited", 0, 'tcp.window = "200 segments"', "gate.link", 0.99),
    "gate, cubic": ("100 packets", 0, 'tcp.cc = "cubic"', "gate.link", 0.95),
    "congestion window, loss": ("unlimited", 0.02, 'tcp.cc = "reno"', "congestion window", 0.9),
    "congestion window, no queue": ("1 packets", 0, 'tcp.cc = "reno"', "congestion window", 0.6),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_expected_limit_dominates(name: str) -> None:
    queue, loss, lines, limit, least = CASES[name]
    flow = summary(GATE.format(queue=queue, loss=loss) + lines + "\n")["flows"][0]
    shares = flow["limited_by"]
    assert sum(shares.values()) == pytest.approx(1, abs=1e-9)
    assert max(shares, key=shares.get) == limit, shares
    assert shares[limit] >= least, shares


def test_the_gate_that_holds_a_flow_back_is_named() -> None:
    """Of three gates in a row, the slowest; of two flows, each its own."""
    text = """
        duration = "40 s"
        warmup = "5 s"
        [gate.wide]
        rate = "100 Mbit/s"
        [gate.narrow]
        rate = "5 Mbit/s"
        queue = "60 packets"
        delay = "10 ms"
        [gate.middle]
        rate = "20 Mbit/s"
        queue = "60 packets"
        [flow.through]
        path = ["wide", "narrow", "middle"]
        rtt = "50 ms"
        [flow.beside]
        path = ["wide", "middle"]
        rtt = "50 ms"
        """
    through, beside = (flow["limited_by"] for flow in summary(text)["flows"])
    assert max(through, key=through.get) == "gate.narrow"
    assert through["gate.narrow"] > 0.6, through
    assert max(beside, key=beside.get) == "gate.middle"
    assert beside["gate.middle"] > 0.6, beside
    assert "gate.narrow" not in beside or beside["gate.narrow"] == 0


def test_limits_follow_each_other_in_time() -> None:
    """A third of the time each: the application writes slowly, then the gate is narrow, then wide."""
    text = """
        duration = "60 s"
        [gate.link]
        rate.steps = [["0 s", "100 Mbit/s"], ["20 s", "1 Mbit/s"], ["40 s", "100 Mbit/s"]]
        queue = "40 packets"
        delay = "10 ms"
        [flow.x]
        path = ["link"]
        rtt = "40 ms"
        app.constant.rate = "2 Mbit/s"
        tcp.window = "12 segments"
        """
    shares = summary(text)["flows"][0]["limited_by"]
    # 1 Mbit/s for 20 s leaves 20 Mbit behind: at 12 segments in 40 ms it takes 13 s.
    assert shares["gate.link"] == pytest.approx(20 / 60, abs=0.03), shares
    assert shares["receiver window"] == pytest.approx(20 / (12 * 11.68e-3 / 0.04 - 2) / 60, abs=0.06), shares
    assert shares["application"] > 0.3, shares
