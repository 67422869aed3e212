"""The sizes at a gate that are tried for a goal, how far down they go, and what a share of goodput is of."""

from __future__ import annotations

from typing import Any

import pytest
import tidegate as tg

#: Three flows with small windows and other traffic: even a packet's room is enough for some goals.
MODEST = {
    "duration": "8 s",
    "warmup": "2 s",
    "gate": {"link": {"rate": "20 Mbit/s", "queue": "30 packets", "delay": "10 ms"}},
    "flow": {
        "a": {
            "path": ["link"],
            "count": 3,
            "rtt": "40 ms",
            "start": {"uniform": ["0 s", "1 s"]},
            "tcp": {"cc": "reno", "window": "40 segments"},
        }
    },
    "traffic": {"p": {"path": ["link"], "source": {"poisson": {"rate": "3 Mbit/s", "packet": "500 B"}}}},
}


def sized(scenario: Any, gate: str, goal: str, **more: Any) -> tg.GateSizing:
    return tg.size(scenario, gate, goal=goal, seed=3, runs=2, store=False, **more)


def test_the_search_goes_on_down_while_the_smallest_size_meets_the_goal() -> None:
    found = sized(MODEST, "link", "loss < 50%")
    assert (found.met, found.size) == (True, 1500)
    assert [row.size for row in found.frontier[:1]] == [1500]
    assert "No queue below 1.5 kB (one packet) is tried." in found.notes
    found = sized(MODEST, "link", "goodput > 10%")
    # One bandwidth-delay product is 100 kB, and four factors of two below it are 6.25 kB.
    assert 1500 < found.size < 6250
    smaller = [row for row in found.frontier if row.size < found.size]
    assert smaller
    assert all(row.verdict != "met" for row in smaller)
    assert smaller[-1].size > 0.97 * found.size
    assert not any("tried" in note for note in found.notes)


def test_the_search_goes_on_down_while_no_size_keeps_to_a_delay() -> None:
    found = sized(MODEST, "link", "p99 delay < 2 ms")
    assert (found.best, found.met) == (True, True)
    assert found.size < 6250
    never = sized(MODEST, "link", "p99 delay < 1 us")
    assert not never.met
    assert never.frontier[0].size == 1500
    assert "No queue below 1.5 kB (one packet) is tried." in never.notes


def test_the_search_for_a_rate_goes_on_down() -> None:
    found = sized(MODEST, "link", "loss < 95%", key="rate")
    assert found.met
    assert found.size < 20_000_000 / 2**4
    assert found.frontier[0].verdict != "met"


def test_a_share_of_goodput_is_of_the_rate_to_which_a_bucket_adds() -> None:
    police = {"rate": "100 Mbit/s", "delay": "10 ms", "police": {"pcr": "2 Mbit/s", "burst": "100 kB"}}
    flow = {"path": ["link"], "rtt": "40 ms", "app": {"transfer": "1 MB"}, "start": "3 s"}
    scenario = {"duration": "12 s", "warmup": "2 s", "gate": {"link": police}, "flow": {"a": flow}}
    found = sized(scenario, "link", "goodput > 95%")
    assert found.share_of_bps == pytest.approx(2e6 * 1448 / 1500)
    assert found.to_dict()["goodput_share_of_bps"] == found.share_of_bps
    for row in found.frontier:
        assert row.goodput_share is not None
        assert row.goodput_share.mean == pytest.approx((row.goodput_bps.mean or 0) / found.share_of_bps)
    assert max(row.goodput_share.mean or 0 for row in found.frontier if row.goodput_share) > 1.2
    report = " ".join(found.report().split())
    words = "of rate: of 1.93 Mbit/s, the user data that the rate carries"
    assert f"{words}; a bucket that is full adds its burst to it." in report
    assert f"{words}." not in report
    assert sized(MODEST, "link", "loss < 50%").share_of_bps == pytest.approx(20e6 * 1448 / 1500)
    rates = sized(MODEST, "link", "loss < 50%", key="rate")
    assert rates.share_of_bps is None
    assert "of rate: of" not in rates.report()
