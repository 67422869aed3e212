"""Explicit congestion notification through gates with the kernel's TCP."""

from __future__ import annotations

from typing import Any

import pytest
import tidegate as tg

pytestmark = pytest.mark.live


def link(**tcp: Any) -> dict[str, Any]:
    """Return one flow through a gate that marks early and has room for all that it does not mark."""
    return {
        "duration": "5 s",
        "warmup": "1 s",
        "seed": 1,
        "gate": {
            "link": {
                "rate": "10 Mbit/s",
                "queue": {"limit": "400 packets", "aqm": {"step": "20 packets"}},
                "delay": "10 ms",
            }
        },
        "flow": {"one": {"path": ["link"], "rtt": "20 ms", "tcp": {"base": "linux", "cc": "reno", **tcp}}},
    }


def live(scenario: dict[str, Any]) -> tg.Run:
    try:
        return tg.run(scenario, engine="live")
    except tg.errors.EngineError as reason:
        if "namespace" in str(reason) or "does not take net.ipv4.tcp_ecn" in str(reason):
            pytest.skip(str(reason))
        raise


@pytest.mark.parametrize("ecn", ["classic", "accurate"])
def test_marks_replace_drops(ecn: str) -> None:
    scenario = link(ecn=ecn)
    seen, computed = live(scenario), tg.run(scenario, record="summary")
    one, same = seen.flows["one"].summary, computed.flows["one"].summary
    for flow, run in ((one, seen), (same, computed)):
        assert flow["marked_segments"] > 0
        assert flow["segments_retransmitted"] == 0
        assert run.gates["link"]["dropped_packets"] == 0
    assert one["goodput_bps"] == pytest.approx(same["goodput_bps"], rel=0.05)


def test_flows_that_disagree_are_refused() -> None:
    scenario = link(ecn="classic")
    scenario["flow"]["two"] = {**scenario["flow"]["one"], "tcp": {"base": "linux"}}
    with pytest.raises(
        tg.errors.EngineError, match=r'flow\.two\.tcp\.ecn: read "off", and flow\.one has "classic"'
    ):
        tg.run(scenario, engine="live")


def test_pacing_is_the_sockets() -> None:
    """Paced, fewer packets wait at the gate than where they come in bursts."""
    scenario = link(pacing=True, window="20 segments", segmentation="off")
    del scenario["gate"]["link"]["queue"]["aqm"]
    longest = {}
    for pacing in (True, False):
        scenario["flow"]["one"]["tcp"]["pacing"] = pacing
        scenario["gate"]["link"]["rate"] = "50 Mbit/s"
        longest[pacing] = live(scenario).gates["link"]["queue_mean_packets"]
    assert longest[True] < 0.7 * longest[False], longest
