"""What ``check --explain`` promises, beside what runs give."""

from __future__ import annotations

import re
from typing import Any

import pytest
import tidegate as tg


def link(**gate: Any) -> dict[str, Any]:
    """Return a scenario of one flow over one gate."""
    return {
        "duration": "3 s",
        "gate": {"link": {"delay": "10 ms", **gate}},
        "flow": {"bulk": {"path": ["link"], "tcp": {"window": "1 MB"}}},
    }


def explained(scenario: dict[str, Any]) -> str:
    return tg.Scenario.from_dict(scenario).explain()


STEPS = {"steps": [["0 s", "10 Mbit/s"], ["2.9 s", "1 Mbit/s"]]}
SWITCHED = {"steps": {"points": [["0 s", "10 Mbit/s"], ["2 s", "0 bit/s"]], "repeat": "4 s"}}
CHAIN = {"markov": {"rates": ["10 Mbit/s", "100 kbit/s"], "mean_holding": ["2 s", "8 s"]}}


@pytest.mark.parametrize(
    ("rate", "which"),
    [(STEPS, "1 Mbit/s on the wire, its last rate"), (SWITCHED, "its mean rate"), (CHAIN, "its mean rate")],
    ids=["steps", "switched", "chain"],
)
def test_a_rate_that_varies_is_bounded_by_its_fastest(rate: dict[str, Any], which: str) -> None:
    scenario = link(rate=rate, queue="100 ms")
    told = explained(scenario)
    assert which in told
    assert "where it is fastest, at most 9.65 Mbit/s" in told
    # No number is a bound that a run passes.
    bounds = [float(each) * 1e6 for each in re.findall(r"at most ([0-9.]+) Mbit/s", told)]
    assert tg.run(scenario, seed=1).flows["bulk"]["goodput_bps"] <= min(bounds)
    name = "last" if rate is STEPS else "mean"
    assert re.search(rf"takes \S+ m?s to empty at its {name} rate", told)
    assert f"packets at its {name} rate" in told


def test_a_window_is_bounded_by_the_shortest_round_trip() -> None:
    scenario = link(rate=STEPS)
    scenario["flow"]["bulk"]["tcp"] = {"base": "rfc", "window": "5 segments"}
    (told,) = re.findall(r"is 5 segments: at most ([0-9.]+) Mbit/s", explained(scenario))
    goodput = tg.run(scenario, seed=1).flows["bulk"]["goodput_bps"]
    assert 0.7 * float(told) * 1e6 < goodput <= float(told) * 1e6


def test_a_bucket_with_a_peak_lets_nothing_pass_faster() -> None:
    bucket = {"rate": "1 Mbit/s", "burst": "15 kB", "peak": "2 Mbit/s"}
    told = explained(link(rate={"token_bucket": bucket}))
    assert "pass one every 6 ms until the bucket of 10 is empty, then one every 12 ms" in told
    assert "after a pause that much may leave faster than the rate, up to the peak" in told
    assert "at once" not in told
    second = explained(link(rate={"token_bucket": {**bucket, "peak_burst": "3 kB"}}))
    assert "after a pause 2 packets of 1500 B pass at once, then one every 6 ms until the bucket" in second
    plain = explained(link(rate={"token_bucket": {"rate": "1 Mbit/s", "burst": "15 kB"}}))
    assert "after a pause 10 packets of 1500 B pass at once, then one every 12 ms" in plain


@pytest.mark.parametrize(
    ("flow", "expects"),
    [
        ({}, True),
        ({"app": {"transfer": "50 MB"}}, True),
        ({"app": {"transfer": "30 kB"}}, False),
        ({"tcp": {"window": "5 segments"}}, False),
        ({"transport": "quic", "tcp": {}}, False),
    ],
    ids=["bulk", "long", "short", "window", "quic"],
)
def test_what_a_policer_leaves_is_said_of_long_flows_of_tcp(flow: dict[str, Any], expects: bool) -> None:
    scenario = link(police={"rate": "5 Mbit/s", "burst": "30 kB"})
    scenario["flow"]["bulk"] |= flow
    told = explained(scenario)
    assert "policer of link: 30 kB at 5 Mbit/s" in told
    assert ("expect one TCP flow" in told) == expects


@pytest.mark.parametrize("rate", ["10 Mbit/s", "unlimited"])
def test_the_shaper_of_cake_is_the_bottleneck(rate: str) -> None:
    scenario = link(rate=rate, queue={"aqm": {"cake": {"bandwidth": "2 Mbit/s"}}})
    told = explained(scenario)
    bound = "bottleneck: the shaper of gate link; 2 Mbit/s on the wire is at most 1.93 Mbit/s of user data"
    assert bound in told
    assert tg.run(scenario, seed=1).flows["bulk"]["goodput_bps"] < 1.94e6
    # What the shaper counts of a packet is on its wire.
    scenario["gate"]["link"]["queue"]["aqm"]["cake"]["overhead"] = 256
    assert "2 Mbit/s on the wire is at most 1.65 Mbit/s of user data" in explained(scenario)


def test_no_round_trip_is_shorter_than_the_path() -> None:
    """A packet passes two full buckets at once."""
    bucket = {"rate": "5 Mbit/s", "burst": "30 kB", "peak": "6 Mbit/s", "peak_burst": "15 kB"}
    scenario = link(rate={"token_bucket": bucket})
    scenario["flow"]["bulk"]["app"] = {"transfer": "10 kB"}
    flow = tg.run(scenario, seed=1).flows["bulk"]
    assert flow["rtt_mean_ms"] == pytest.approx(20, abs=1e-6)
    assert flow["rtt_path_ms"] == pytest.approx(20, abs=1e-6)
