"""The sizes at a gate that are tried for a goal, and how far down they go."""

from __future__ import annotations

from typing import Any

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
